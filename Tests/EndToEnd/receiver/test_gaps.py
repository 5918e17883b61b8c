"""A consumer can prove that it has everything: gap lines, lines in order of sequence, and the first line of a run."""

import glob
import json
import os
import random
import subprocess


from end_to_end import BINARY, EndToEndTest
from radio import Radio
from serial_line import SerialLine

from session_parts import A, Collar, position
from schemas import SCHEMAS



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

    def sequences(self, receiver):
        return [line["seq"] for line in receiver.fixes if line["type"] == "fix"]

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

    def test_order_by_sequence(self):
        """With --sort sequence no fix is written before an earlier fix of its log, also after a restart."""
        receiver, radio = self.begin("--sort", "sequence", "--events", "fix,gap")
        radio.send(A.identity() + A.fix(position(3)) + A.fix(0) + A.fix(position(2)))
        receiver.wait_for_lines(3)
        radio.poll(A, 4)
        self.assertEqual(self.sequences(receiver), [0])
        receiver.stop()
        self.assertEqual(self.sequences(receiver), [0])
        again, radio = self.begin("--sort", "sequence")
        radio.send(A.identity() + A.fix(position(4)) + A.fix(position(7)) + A.tombstone([(5, 6)]))
        radio.poll(A, 8)
        # A line that was written while others were held back is written again.
        self.assertEqual(self.sequences(again), [0])
        radio.send(A.fix(position(1)))
        again.wait_for_lines(6)
        again.stop()
        self.assertEqual(self.sequences(again), [0, 1, 2, 3, 4, 7])

    def test_an_erased_log_is_given_up(self):
        """The missing fixes of a collar's former log will never come, so they hold nothing back."""
        receiver, radio = self.begin("--sort", "sequence", "--events", "fix,gap")
        radio.send(A.identity() + A.fix(position(2)) + A.fix(position(5)))
        radio.poll(A, 6)
        self.assertEqual(self.sequences(receiver), [])
        erased = Collar(A.log.device_id, A.log.log_id ^ 1, A.address)
        radio.send(erased.identity() + erased.fix(0))
        receiver.wait_for_lines(7)
        receiver.stop()
        self.assertEqual(sorted(self.sequences(receiver)), [0, 2, 5])
        self.assertEqual([gap for gap in self.gaps(receiver) if gap[0] == "lost"], [("lost", 0, 1), ("lost", 3, 4)])

    def test_any_order_of_arrival(self):
        """The lines alone prove that everything is there, in any order of arrival and over kills."""
        for seed in range(3):
            for order in ("arrival", "sequence"):
                with self.subTest(seed=seed, order=order):
                    self.any_order(random.Random(seed), order, self.path(f"state-{seed}-{order}"))

    def any_order(self, chance, order, state):
        ledger = Ledger(order == "sequence")
        lost = {50, 51, 52, 120}
        waiting = [sequence for sequence in range(200) if sequence not in lost]
        chance.shuffle(waiting)
        while waiting:
            line = SerialLine()
            receiver = self.receive("--events", "fix,gap", "--sort", order, port=line.path, state=state)
            receiver.wait_for_error("listening on")
            radio = Radio(line)
            some, waiting = waiting[:70], waiting[70:]
            radio.send(A.identity() + b"".join(A.fix(position(sequence)) for sequence in some))
            if not waiting:
                radio.send(A.tombstone([(50, 52)]) + A.tombstone([(120, 120)]))
            radio.poll(A, 200)
            if waiting:
                receiver.kill_now()
            else:
                receiver.stop()
            line.close()
            told = [each for each in receiver.fixes if each["type"] == "fix"]
            if order == "sequence":
                self.assertEqual([each["seq"] for each in told], sorted({each["seq"] for each in told}))
            for each in receiver.fixes:
                ledger.take(each)
        log = (f"{A.log.device_id:016x}", A.log.log_id)
        self.assertTrue(ledger.proves(log, 200), (ledger.open, ledger.gone))
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
                again = self.receive("-T", "1", *arguments, port=line.path)
                self.assertEqual(again.wait(10), 0, again.error_text)
                self.assertEqual([each["id"] for each in again.fixes], expected)
        for arguments, code in ((["--since", ids[0] + "0"], 64), (["--since", "soon"], 64), (["--sort", "time"], 64),
                                (["--since", "1h", "--from-start"], 64), (["--since", ids[0][:-8] + "000000ff"], 66)):
            with self.subTest(arguments=arguments):
                refused = subprocess.run([BINARY, "--state-dir", self.state, "--port", self.path("none"), *arguments],
                                         capture_output=True, text=True, timeout=10)
                self.assertEqual(refused.returncode, code, refused.stderr)
                self.assertTrue(refused.stderr.startswith("collar-link: "), refused.stderr)

    def test_damage_that_reading_back_meets(self):
        """Fixes that damage took from an earlier segment are named in `resend`, and written when they come again."""
        count = 30_000
        receiver, radio = self.begin()
        radio.send(A.identity())
        for start in range(0, count, 1000):
            radio.send(b"".join(A.fix(position(sequence), wide=True) for sequence in range(start, start + 1000)))
        radio.poll(A, count)
        receiver.wait_for_lines(count, 30)
        receiver.stop()
        segments = sorted(glob.glob(f"{self.state}/*/*.journal"))
        self.assertLess(1, len(segments))
        first = segments[0]
        with open(first, "r+b") as segment:
            segment.seek(os.path.getsize(first) // 2)
            segment.write(b"\xA5" * 700)
        again, radio = self.begin("--from-start", "--events", "fix,error")
        again.wait_for_error("is asked again for fixes")
        again.wait_for_lines(count - 100, 30)
        radio.send(A.identity())
        answer, _ = radio.poll(A, count)
        asked = [tuple(range_) for range_ in answer["resend"]]
        self.assertEqual(len(asked), 1, answer)
        sequences = range(asked[0][0], asked[0][1] + 1)
        self.assertLess(10, len(sequences))
        radio.send(b"".join(A.fix(position(sequence), wide=True) for sequence in sequences))
        answer, _ = radio.poll(A, count)
        self.assertEqual((answer["resend"], answer["first_missing"]), ([], count))
        again.wait_for_lines(count + 1, 30)
        again.stop()
        self.assertEqual(sorted(line["seq"] for line in again.fixes if line["type"] == "fix"), list(range(count)))
        self.assertIn("journal_damaged", [line["code"] for line in again.fixes if line["type"] == "error"])
        verified = subprocess.run([BINARY, "history", "--verify", "--state-dir", self.state], capture_output=True, text=True)
        self.assertEqual(verified.returncode, 0, verified)
        self.assertEqual(json.loads(verified.stdout)["stored"], [[0, count - 1]])

    def test_a_segment_that_cannot_be_read(self):
        """The lines of an unreadable segment wait until it can be read. New fixes are still stored and acknowledged."""
        count = 30_000
        receiver, radio = self.begin()
        radio.send(A.identity())
        for start in range(0, count, 1000):
            radio.send(b"".join(A.fix(position(sequence), wide=True) for sequence in range(start, start + 1000)))
        radio.poll(A, count)
        receiver.wait_for_lines(count, 30)
        receiver.stop()
        first = sorted(glob.glob(f"{self.state}/*/*.journal"))[0]
        os.rename(first, first + ".aside")
        os.mkdir(first)
        again, radio = self.begin("--from-start", "--events", "fix,error")
        again.wait_for_error("are held back, because this program cannot")
        radio.send(A.identity() + A.fix(position(count), wide=True))
        answer, _ = radio.poll(A, count + 1)
        self.assertEqual(answer["first_missing"], count + 1)
        self.assertEqual(self.sequences(again), [])
        os.rmdir(first)
        os.rename(first + ".aside", first)
        again.wait_for_lines(count + 2, 40)
        again.stop()
        self.assertEqual(self.sequences(again), list(range(count + 1)))
        self.assertEqual(again.error_text.count("are held back, because this program cannot"), 1)
