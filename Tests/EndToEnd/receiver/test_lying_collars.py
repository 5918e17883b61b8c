"""Collars that lie, flood or poll without end: their cost is bounded, others are served, and a message tells of it."""

import os
import select
import time
import unittest
from typing import NamedTuple

from end_to_end import EndToEndTest, give_to_ordinary_user, wait_until
from radio import ACKNOWLEDGEMENT, IDENTITY_REQUEST, Radio
from serial_line import SerialLine

from session_parts import A, B, Collar, position

RECEIVER_COLLARS = 256  # a new collar is accepted while fewer collars have a journal
NEW_AT_ONCE = 16
IDLE_ANSWERS = 256
UNKNOWN_ANSWERS = 32
LOSSES_NAMED = 16


class Memory(NamedTuple):
    """The resident memory of a process in KiB, and the anonymous part of it. The rest is code."""

    resident: int
    own: int

    @classmethod
    def of(cls, pid):
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            sizes = {key: value.split()[0] for key, _, value in (line.partition(":") for line in file)
                     if key in ("VmRSS", "RssAnon")}
        return cls(int(sizes["VmRSS"]), int(sizes["RssAnon"]))

    def __str__(self):
        return f"VmRSS {self.resident} KiB (RssAnon {self.own} KiB)"


def processor_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class LyingCollarTest(EndToEndTest):
    def line(self):
        line = SerialLine()
        self.addCleanup(line.close)
        return line

    def begin(self, *arguments, **options):
        """Starts a receiver at a line."""
        line = self.line()
        receiver = self.receive("-v", *arguments, port=line.path, **options)
        receiver.wait_for_error("listening on")
        return receiver, Radio(line)

    def assert_said_once(self, receiver, text):
        """Checks that there is one such message, with a remedy below it."""
        found = [number for number, line in enumerate(receiver.errors) if text in line]
        self.assertEqual(len(found), 1, f"{text!r} is not said once:\n{receiver.error_text}")
        self.assertTrue(receiver.errors[found[0] + 1].startswith("collar-link:   "), receiver.error_text)

    def test_other_content(self):
        """A fix is never written with two contents under one id, in whatever form and however often it comes."""
        receiver, radio = self.begin()
        other = position(3, latitude=0)
        radio.send(A.identity(1) + A.fix(2) + A.fix(3) + A.fix(other) + A.batch([2, other]) + A.live(other, 2) + A.fix(3, 2))
        receiver.wait_for_error("sent fix 3 again with another content")
        answer, _ = radio.poll(A, 4)
        self.assertEqual((answer["first_missing"], answer["durable"]), (0, [[2, 3]]))
        receiver.stop()
        self.assertEqual([fix["seq"] for fix in receiver.fixes], [2, 3])
        self.assertNotEqual(receiver.fixes[1]["coordinate"]["latitude"], 0)
        self.assert_said_once(receiver, "another content")

    def test_same_content_is_no_lie(self):
        """The same fix in another form is a duplicate."""
        receiver, radio = self.begin()
        radio.send(A.identity(1) + A.fix(2) + A.fix(3) + A.fix(3) + A.batch([2, 3]) + A.live(3, 2))
        radio.poll(A, 4)
        receiver.stop()
        self.assertEqual(len(receiver.fixes), 2)
        self.assertIn("4 duplicates", receiver.error_text)
        self.assertNotIn("content", receiver.error_text)

    def test_sequence_jumps(self):
        """Sequences jump to the highest one and back many times: each fix is written once, there is only one message."""
        receiver, radio = self.begin()
        last = (1 << 32) - 2
        swing = b"".join(A.fix(last - 2 * n, wide=True) + A.fix(2 * n, wide=True) for n in range(500))
        radio.send(A.identity(1) + A.fix(0) + swing + swing)
        answer, _ = radio.poll(A, 4)
        self.assertEqual(answer["first_missing"], 1)
        self.assertEqual(answer["durable"][0], [last, last])
        # A pipe cannot hold all of these lines, so they are read before the receiver is stopped.
        receiver.wait_for_lines(1000)
        receiver.stop()
        self.assertEqual(len(receiver.fixes), 1000)
        self.assert_said_once(receiver, f"jumped from fix 0 to fix {last}")

    def test_huge_losses(self):
        """A loss of millions of fixes is one record. Many losses are not all reported one by one."""
        receiver, radio = self.begin()
        before = Memory.of(receiver.pid)
        radio.send(A.identity(1, oldest=1 << 24, following=0xF0000000) + A.tombstone([[1 << 24, 1 << 31]]))
        radio.send(b"".join(A.tombstone([[(n << 20) + (1 << 31) + 9, (n << 20) + (1 << 31) + 20]]) for n in range(1000)))
        answer, _ = radio.poll(A)
        self.assertEqual(answer["first_missing"], (1 << 31) + 1)
        newest, oldest = answer["durable"][0], answer["durable"][-1]
        self.assertEqual([newest, oldest], [[first + 9, first + 20] for first in ((1 << 31) + (999 << 20), 1 << 31)])
        self.assertLess(Memory.of(receiver.pid).own - before.own, 4096)
        receiver.stop()
        self.assertEqual(receiver.error_text.count("does not have fixes"), LOSSES_NAMED)
        self.assert_said_once(receiver, "more losses than are shown")
        sizes = [os.path.getsize(os.path.join(folder, file)) for folder, _, files in os.walk(self.state) for file in files]
        self.assertLess(sum(sizes), 100_000)

    def test_too_many_gaps(self):
        """A log has more gaps than the journal keeps track of: not everything is stored, but storage does not fail, and
        another log of the collar goes on."""
        receiver, radio = self.begin()
        before = Memory.of(receiver.pid)
        ranges = [[10 * n, 10 * n + 1] for n in range(70_000)]
        for first in range(0, len(ranges), 320):
            some = ranges[first:first + 320]
            radio.send((A.identity(following=1_000_000) if first == 0 else b"")
                       + b"".join(A.tombstone(some[n:n + 32]) for n in range(0, len(some), 32)))
        receiver.wait_for_error("more gaps")
        # A gap that is filled makes room.
        radio.send(A.tombstone([[2, 9]]))
        answer, _ = radio.poll(A)
        self.assertEqual(answer["first_missing"], 12)
        self.assertLess(Memory.of(receiver.pid).own - before.own, 16_384)
        other = Collar(A.log.device_id, 5, A.address)
        radio.send(other.identity() + other.fix(0) + other.fix(9))
        answer, _ = radio.poll(other, 10)
        self.assertEqual((answer["first_missing"], answer["durable"]), (1, [[9, 9]]))
        receiver.stop()
        self.assert_said_once(receiver, "has more gaps")
        self.assertNotIn("nothing is acknowledged", receiver.error_text)

    def test_many_logs(self):
        """A collar names a thousand logs. Few stay in memory, but a log that is named again has all its fixes."""
        receiver, radio = self.begin()
        before = Memory.of(receiver.pid)
        logs = [Collar(A.log.device_id, number, A.address) for number in range(1, 1001)]
        for log in logs:
            radio.send(log.identity() + log.fix(0))
        answer, _ = radio.poll(logs[-1], 1)
        self.assertEqual(answer["first_missing"], 1)
        self.assertLess(Memory.of(receiver.pid).own - before.own, 4096)
        radio.send(logs[0].identity())
        answer, _ = radio.poll(logs[0], 1)
        self.assertEqual(answer["first_missing"], 1)
        receiver.stop()
        self.assertEqual(len(receiver.fixes), 1000)
        self.assert_said_once(receiver, "names more logs")

    def test_ten_thousand_collars(self):
        """Of 10,000 invented collars few are accepted at once, and a limited number in all. Memory is printed."""
        invented = [Collar(number, number, number % 200) for number in range(1, 10_001)]
        flood = b"".join(collar.identity(1) for collar in invented)
        receiver, radio = self.begin()
        before = Memory.of(receiver.pid)
        radio.send(flood)
        receiver.wait_for_error("too many new collars came at once")
        radio.poll(invented[0])
        after = Memory.of(receiver.pid)
        print(f"{before}, after 10,000 collars {after} ", end="", flush=True)
        self.assertLess(after.own - before.own, 4096)
        receiver.stop()
        self.assertEqual(receiver.error_text.count("is heard at"), NEW_AT_ONCE)
        self.assert_said_once(receiver, "too many new collars came at once")
        for run in range(1, RECEIVER_COLLARS // NEW_AT_ONCE + 1):
            receiver, radio = self.begin()
            start = run * NEW_AT_ONCE
            radio.send(b"".join(collar.identity(1) for collar in invented[start:start + NEW_AT_ONCE]))
            # Collars that have a journal are always served.
            radio.send(invented[0].identity())
            radio.poll(invented[0])
            receiver.stop()
        self.assertEqual(receiver.error_text.count("is heard at"), 1)
        self.assert_said_once(receiver, f"limit of {RECEIVER_COLLARS} journals")
        self.assertIn(f"--collar {invented[RECEIVER_COLLARS].log.device_id:016x}", receiver.error_text)

    def test_refused_collar_can_be_named(self):
        """--collar serves a collar that is refused otherwise."""
        os.makedirs(self.state)
        for number in range(1, 301):
            os.mkdir(os.path.join(self.state, f"{number:016x}"))
        for folder, _, _ in os.walk(self.state):
            give_to_ordinary_user(folder)
        receiver, radio = self.begin()
        radio.send(A.identity(1) + A.fix(0))
        receiver.wait_for_error("is not accepted")
        receiver.stop()
        self.assertEqual(receiver.lines, [])
        receiver, radio = self.begin("--collar", f"{A.log.device_id:016x}")
        radio.send(A.identity(1) + A.fix(0, 1))
        receiver.wait_for_lines(1)
        receiver.stop()

    def test_unknown_collars_that_poll(self):
        """Frames of unknown collars are answered with identity requests, but not without end."""
        receiver, radio = self.begin()
        radio.send(A.identity(1))
        block = b"".join(B.fix(number, 1 + number % 7) for number in range(500))
        start = time.monotonic()
        for _ in range(20):
            radio.send(block)
        receiver.wait_for_error("poll too often")
        radio.poll(A)
        limit = 2 + UNKNOWN_ANSWERS + 4 * (time.monotonic() - start) + 1
        self.assertLessEqual(radio.count(IDENTITY_REQUEST), limit)
        # An unknown collar is accepted when it sends its identity.
        radio.send(B.identity(1) + B.fix(0))
        receiver.wait_for_lines(1)
        receiver.stop()
        self.assert_said_once(receiver, "poll too often")

    def test_damaged_addresses(self):
        """Many polls have a damaged address. No message is written while at least as many frames arrive undamaged."""
        receiver, radio = self.begin()
        radio.send(A.identity(1))
        for number in range(20):
            radio.send(b"".join(A.fix(20 * number + n) + B.fix(n, 1 + n % 7) for n in range(20)))
        radio.poll(A)
        receiver.stop()
        self.assertEqual(len(receiver.fixes), 400)
        self.assertNotIn("poll too often", receiver.error_text)

    def test_never_stops_asking(self):
        """Polls that bring nothing new are answered up to a limit. A poll with a new fix is answered again."""
        receiver, radio = self.begin()
        radio.send(A.identity() + A.fix(0))
        start = time.monotonic()
        for number in range(IDLE_ANSWERS + 200):
            before = radio.count(ACKNOWLEDGEMENT)
            radio.send(A.fix(0, 1 + number % 7))
            deadline = time.monotonic() + 0.02
            while radio.count(ACKNOWLEDGEMENT) == before and time.monotonic() < deadline:
                select.select([radio.line.master], [], [], 0.02)
        limit = IDLE_ANSWERS + 16 + 10 * (time.monotonic() - start) + 1
        self.assertLessEqual(radio.count(ACKNOWLEDGEMENT), limit)
        self.assertGreaterEqual(radio.count(ACKNOWLEDGEMENT), IDLE_ANSWERS)
        self.assert_said_once(receiver, "keeps polling")
        radio.answers.clear()
        radio.send(A.fix(1, 1))
        wait_until(lambda: radio.acknowledgement(A), 1, "the answer to a new fix")
        self.assertEqual(radio.acknowledgement(A)["first_missing"], 2)

    def test_honest_polls_are_answered(self):
        """A thousand fixes come, each with a poll, as fast as the answers: every poll is answered."""
        receiver, radio = self.begin()
        radio.send(A.identity())
        for number in range(1000):
            radio.answers.clear()
            radio.send(A.fix(number, 1 + number % 7))
            wait_until(lambda: radio.acknowledgement(A), 2, f"the answer to fix {number}")
        self.assertEqual(radio.acknowledgement(A)["first_missing"], 1000)
        self.assertNotIn("keeps polling", receiver.error_text)

    def test_a_million_frames(self):
        """A flood of known, unknown and damaged frames: memory does not grow. Memory and time are printed."""
        receiver, radio = self.begin()
        radio.send(A.identity())
        broken = bytearray(A.fix(5))
        broken[9] ^= 0x10
        block = b"".join(A.fix(n, n % 8) + B.fix(n, n % 8) + bytes(broken) + A.probe(n, n % 8) for n in range(250))
        radio.send(block)
        radio.poll(A)
        before = Memory.of(receiver.pid)
        start, used = time.monotonic(), processor_seconds(receiver.pid)
        for _ in range(1000):
            radio.send(block)
        radio.send(A.fix(1000, 1))
        wait_until(lambda: len(receiver.lines) == 251, 10, "the fix behind the flood")
        after = Memory.of(receiver.pid)
        print(f"{before}, after 1,000,000 frames {after}, {processor_seconds(receiver.pid) - used:.2f} s of "
              f"processor time in {time.monotonic() - start:.1f} s ", end="", flush=True)
        self.assertLess(after.own - before.own, 2048)

    def test_more_fixes_than_wait(self):
        """Small frames bring more fixes at once than may wait in memory. All are stored, and no failure is reported."""
        receiver, radio = self.begin()
        still = [position(n, latitude=0, longitude=0, speed=0) for n in range(64)]
        bursts = []
        for start in range(0, 64 * 600, 64):
            fixes = [{**fix, "sequence": start + n, "time": 1_700_000_000_000 + 1000 * (start + n)}
                     for n, fix in enumerate(still)]
            bursts.append(A.batch(fixes))
        data = b"".join(bursts)
        radio.send(A.identity() + data)
        answer, _ = radio.poll(A, 64 * 600)
        self.assertEqual(answer["first_missing"], 64 * 600)
        self.assertNotIn("nothing is acknowledged", receiver.error_text)

    def test_others_are_served(self):
        """While one port is flooded, a collar at another port is answered soon."""
        flooded, quiet = self.line(), self.line()
        receiver = self.receive("--port", quiet.path, port=flooded.path)
        receiver.wait_for_error(f"listening on {quiet.path}")
        radio, other = Radio(flooded), Radio(quiet)
        other.send(B.identity())
        block = b"".join(A.fix(n, n % 8) + Collar(n + 1, n, 99).fix(n, 1) for n in range(2000))
        radio.send(A.identity())
        waits = []
        pid = os.fork()
        if pid == 0:
            # The flood, until this process is killed.
            while True:
                try:
                    radio.send(block)
                except BaseException:  # noqa: B902
                    os._exit(1)
        try:
            time.sleep(0.2)
            for number in range(100):
                other.answers.clear()
                start = time.monotonic()
                other.send(B.fix(number, 1 + number % 7))
                wait_until(lambda: other.acknowledgement(B), 5, "an answer at the quiet port")
                waits.append(1000 * (time.monotonic() - start))
        finally:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
        waits.sort()
        print(f"answers beside a flood: median {waits[50]:.1f} ms, worst {waits[-1]:.1f} ms ", end="", flush=True)
        self.assertLess(waits[50], 100)


if __name__ == "__main__":
    unittest.main()
