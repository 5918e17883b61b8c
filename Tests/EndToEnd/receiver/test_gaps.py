"""A consumer can prove that it has everything: gap lines, lines in order of sequence, and the first line of a run.

EntryFeedTests, GapTrackerTests and ReadingBackTests have the cases; here is what the whole program makes of them.
"""

import random
import subprocess


from end_to_end import BINARY, EndToEndTest
from schemas import SCHEMAS
from radio import Radio
from serial_line import SerialLine

from session_parts import A, position



class Ledger:
    """The knowledge of a consumer from the lines alone: for each log, the fixes that it has and those that it lacks."""

    def __init__(self, is_ordered):
        self.is_ordered = is_ordered
        self.having, self.open, self.gone, self.ids = {}, {}, {}, {}

    def take(self, line):
        SCHEMAS[line["type"]].validate(line)
        log = (line["collar"], line["log"])
        having, open_, gone = (table.setdefault(log, set()) for table in (self.having, self.open, self.gone))
        if line["type"] == "fix":
            having.add(line["seq"])
            content = {key: line[key] for key in line if key not in ("rx_unix_ms", "rssi_dbm", "snr_db")}
            assert self.ids.setdefault(line["id"], content) == content, line
            return
        assert line["first_seq"] <= line["last_seq"], line
        range_ = set(range(line["first_seq"], line["last_seq"] + 1))
        if line["event"] == "missing":
            open_ |= range_ - having - gone
        elif line["event"] == "filled":
            # In order of sequence, the lines of the filled range may be held back and follow later.
            assert self.is_ordered or range_ <= having, line
            open_ -= range_
        else:
            gone |= range_ - having
            open_ -= range_

    def proves(self, log, count):
        """Whether the first `count` fixes of a log are all accounted for."""
        return not self.open.get(log) and self.having.get(log, set()) | self.gone.get(log, set()) == set(range(count))


class GapTest(EndToEndTest):
    def begin(self, *arguments):
        line = SerialLine()
        self.addCleanup(line.close)
        receiver = self.receive(*arguments, port=line.path)
        receiver.wait_for_error("listening on")
        return receiver, Radio(line)

    def gaps(self, receiver):
        lines = receiver.fixes
        for line in lines:
            SCHEMAS[line["type"]].validate(line)
        return [(line["event"], line["first_seq"], line["last_seq"]) for line in lines if line["type"] == "gap"]

    def test_schema(self):
        gap = {"type": "gap", "unix_ms": 1, "event": "lost", "collar": "0123456789abcdef", "log": 1, "first_seq": 0, "last_seq": 9}
        SCHEMAS["gap"].check_schema(SCHEMAS["gap"].schema)
        self.assertTrue(SCHEMAS["gap"].is_valid(gap))
        for key in gap:
            self.assertFalse(SCHEMAS["gap"].is_valid({each: gap[each] for each in gap if each != key}), key)
        for change in ({"event": "gone"}, {"log": 1 << 26}, {"first_seq": -1}, {"last_seq": 0xFFFFFFFF}, {"more": 1}):
            self.assertFalse(SCHEMAS["gap"].is_valid({**gap, **change}), change)

    def test_what_is_missing_filled_lost_and_elsewhere(self):
        receiver, radio = self.begin("--events", "fix,gap")
        radio.send(A.identity() + A.fix(0) + A.fix(position(10)))
        receiver.wait_for_lines(3)
        self.assertEqual(self.gaps(receiver), [("missing", 1, 9)])
        radio.send(A.fix(position(1)) + A.fix(position(2)))
        receiver.wait_for_lines(6)
        radio.send(A.tombstone([(3, 5)]) + A.tombstone([(6, 7)], elsewhere=True))
        receiver.wait_for_lines(8)
        radio.send(A.fix(position(8)))
        receiver.wait_for_lines(10)
        radio.send(A.fix(position(9)) + A.fix(position(11)))
        receiver.wait_for_lines(13)
        receiver.stop()
        said = self.gaps(receiver)
        self.assertEqual(said[0], ("missing", 1, 9))
        self.assertEqual([each for each in said if each[0] in ("lost", "elsewhere")], [("lost", 3, 5), ("elsewhere", 6, 7)])
        filled = [sequence for event, first, last in said if event == "filled" for sequence in range(first, last + 1)]
        self.assertEqual(filled, [1, 2, 8, 9])

    def test_sorted_over_kills(self):
        """The lines alone prove that everything is there, in any order of arrival and over kills. EntryFeedTests has more orders."""
        chance, ledger = random.Random(0), Ledger(is_ordered=True)
        lost = {50, 51, 52, 70}
        waiting = [sequence for sequence in range(90) if sequence not in lost]
        chance.shuffle(waiting)
        while waiting:
            line = SerialLine()
            receiver = self.receive("--events", "fix,gap", "--sort", "sequence", port=line.path)
            receiver.wait_for_error("listening on")
            radio = Radio(line)
            some, waiting = waiting[:40], waiting[40:]
            radio.send(A.identity() + b"".join(A.fix(position(sequence)) for sequence in some))
            if not waiting:
                radio.send(A.tombstone([(50, 52)]) + A.tombstone([(70, 70)]))
            radio.poll(A, 90)
            if waiting:
                receiver.kill_now()
            else:
                receiver.stop()
            line.close()
            told = [each for each in receiver.fixes if each["type"] == "fix"]
            self.assertEqual([each["seq"] for each in told], sorted({each["seq"] for each in told}))
            for each in receiver.fixes:
                ledger.take(each)
        log = (f"{A.log.device_id:016x}", A.log.log_id)
        self.assertTrue(ledger.proves(log, 90), (ledger.open, ledger.gone))
        self.assertEqual(ledger.gone[log], lost)

    def test_where_lines_begin(self):
        receiver, radio = self.begin()
        radio.send(A.identity() + b"".join(A.fix(position(sequence)) for sequence in range(50)))
        receiver.wait_for_lines(50)
        radio.poll(A, 50)
        receiver.stop()
        ids = [line["id"] for line in receiver.fixes]
        for arguments, expected in ((["--from-start"], ids), (["--since", ids[30]], ids[31:]), (["--since", "1h"], ids),
                                    (["--since", "@4000000000"], []), ([], [])):
            with self.subTest(arguments=arguments):
                line = SerialLine()
                self.addCleanup(line.close)
                limit = ["-n", str(len(expected))] if expected else ["-T", "0.3"]
                again = self.receive(*limit, *arguments, port=line.path)
                self.assertEqual(again.wait(10), 0, again.error_text)
                self.assertEqual([each["id"] for each in again.fixes], expected)
        for arguments, code in ((["--since", ids[0] + "0"], 64), (["--since", "soon"], 64), (["--sort", "time"], 64),
                                (["--since", "1h", "--from-start"], 64), (["--since", ids[0][:-8] + "000000ff"], 66)):
            with self.subTest(arguments=arguments):
                refused = subprocess.run([BINARY, "--state-dir", self.state, "--port", self.path("none"), *arguments],
                                         capture_output=True, text=True, timeout=10)
                self.assertEqual(refused.returncode, code, refused.stderr)
                self.assertTrue(refused.stderr.startswith("collar-link: "), refused.stderr)
