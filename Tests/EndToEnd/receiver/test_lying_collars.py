"""Collars that lie or flood: their cost is bounded, others are served, and a message tells of it. LyingCollarTests has the cases."""

import os
import time
import unittest
from typing import NamedTuple

from end_to_end import EndToEndTest, wait_until
from processes import processor_seconds
from radio import Radio
from serial_line import SerialLine

from session_parts import A, B, Collar, position


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

    def test_a_flood(self):
        """A flood of known, unknown and damaged frames, and of invented collars: memory does not grow. Memory and time are printed."""
        receiver, radio = self.begin()
        radio.send(A.identity())
        broken = bytearray(A.fix(5))
        broken[9] ^= 0x10
        invented = [Collar(number, number, 100 + number % 100).identity(1) for number in range(1, 251)]
        block = b"".join(A.fix(n, n % 8) + B.fix(n, n % 8) + bytes(broken) + A.probe(n, n % 8) + invented[n] for n in range(250))
        radio.send(block)
        radio.poll(A)
        before = Memory.of(receiver.pid)
        start, used = time.monotonic(), processor_seconds(receiver.pid)
        for _ in range(100):
            radio.send(block)
        radio.send(A.fix(1000, 1))
        wait_until(lambda: len(receiver.lines) == 251, 10, "the fix after the flood")
        after = Memory.of(receiver.pid)
        print(f"{before}, after 125,000 frames {after}, {processor_seconds(receiver.pid) - used:.2f} s of "
              f"processor time in {time.monotonic() - start:.1f} s ", end="", flush=True)
        self.assertLess(after.own - before.own, 2048)
        receiver.stop()
        self.assert_said_once(receiver, "too many new collars came at once")

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
            wait_until(lambda: sum(f'"collar":"{A.log.device_id:016x}"' in line for line in receiver.lines) > 100, 10, "the flood")
            for number in range(40):
                other.answers.clear()
                start = time.monotonic()
                other.send(B.fix(number, 1 + number % 7))
                wait_until(lambda: other.acknowledgement(B), 5, "an answer at the quiet port")
                waits.append(1000 * (time.monotonic() - start))
        finally:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
        waits.sort()
        print(f"answers beside a flood: median {waits[20]:.1f} ms, worst {waits[-1]:.1f} ms ", end="", flush=True)
        self.assertLess(waits[20], 100)


if __name__ == "__main__":
    unittest.main()
