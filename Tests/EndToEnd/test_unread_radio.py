"""A radio that takes nothing from the host: its collar goes on speaking, and everything else goes on."""

import os
import select
import sys
import time
import unittest

from collarlink import BINARY, ROOT, EndToEndTest
from fast_collar import FastCollar
from radio import Radio
from serial_line import SerialLine, drain
from tracing import processor_seconds

# Behind the tests' own modules: one of the reference has the same name.
sys.path.append(str(ROOT / "Protocol/reference"))
from session_parts import A, B  # noqa: E402

POLLS = 1000
FIXES_A_POLL = 20
# Frames of a host that wait while the line takes none: this many bytes, and one frame more.
WAITING_LIMIT = 4096 + 64


class UnreadRadioTest(EndToEndTest):
    def begin(self):
        """Starts a receiver at two lines. The first takes nothing more."""
        self.line, other = SerialLine(), SerialLine()
        for each in (self.line, other):
            self.addCleanup(each.close)
        self.receiver = self.start(
            [BINARY, "--port", self.line.path, "--port", other.path, "--state-dir", self.state])
        self.receiver.wait_for_error(f"listening on {other.path}")
        self.radio, self.healthy = Radio(self.line), Radio(other)
        self.collar = FastCollar(*A.log, A.address)
        self.radio.send(A.identity())
        self.radio.ask(A)
        self.healthy.send(B.identity())
        self.healthy.ask(B)
        self.stuff()

    def stuff(self):
        """Fills the line to the radio with what its decoder skips."""
        os.set_blocking(self.line.slave, False)
        self.stuffed, last = 0, None
        # The kernel moves on what it has taken, and has room once more.
        while last != self.stuffed:
            last = self.stuffed
            for size in (4096, 1):
                try:
                    while True:
                        self.stuffed += os.write(self.line.slave, bytes(size))
                except BlockingIOError:
                    time.sleep(0.05)

    def speak(self, data):
        """Sends bytes, and takes none."""
        while data:
            self.assertTrue(select.select([], [self.line.master], [], 5)[1], "the receiver does not read any more")
            data = data[os.write(self.line.master, data[:4096]):]

    def poll(self, number):
        """The collar sends its next fixes and asks."""
        self.speak(self.collar.fixes(number * FIXES_A_POLL, FIXES_A_POLL)
                   + A.probe((number + 1) * FIXES_A_POLL, ask=1 + number % 7))

    def fix_count(self, name):
        return sum(f'"collar":"{name.log.device_id:016x}"' in line for line in self.receiver.lines)

    def anonymous_memory(self):
        with open(f"/proc/{self.receiver.pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("RssAnon"))

    def test_everything_else_goes_on(self):
        self.begin()
        memory, answered = 0, 0
        for number in range(POLLS):
            self.poll(number)
            # Each poll has a turn of its own, and an answer.
            self.receiver.wait_for_lines((number + 1) * FIXES_A_POLL + answered, 5)
            if number % 100 == 50:
                memory = memory or self.anonymous_memory()
                self.healthy.send(B.fix(answered))
                answered += 1
                answer, seconds = self.healthy.ask(B, answered)
                self.assertEqual(answer["first_missing"], answered)
                self.assertLess(seconds, 1)
        self.assertLess(self.anonymous_memory() - memory, 128, "KiB more than before")
        before = processor_seconds(self.receiver.pid)
        time.sleep(1)
        self.assertLess(processor_seconds(self.receiver.pid) - before, 0.1, "waits for the line by trying")
        # The radio reads again: what waited is little, and sound.
        waiting = self.take_all()
        self.assertEqual(waiting[:self.stuffed], bytes(self.stuffed))
        self.assertGreater(len(waiting), self.stuffed)
        self.assertLessEqual(len(waiting), self.stuffed + WAITING_LIMIT)
        self.assertEqual(self.radio.ask(A, POLLS * FIXES_A_POLL)[0]["first_missing"], POLLS * FIXES_A_POLL)
        self.assertEqual(self.receiver.stop(), 0)
        for collar, count in ((A, POLLS * FIXES_A_POLL), (B, answered)):
            name = f"{collar.log.device_id:016x}"
            self.assert_each_once([line for line in self.receiver.fixes if line["collar"] == name], count)

    def take_all(self):
        """Reads until nothing more comes."""
        taken = b""
        while select.select([self.line.master], [], [], 0.3)[0]:
            taken += drain(self.line.master)
        return taken

    def test_it_ends_all_the_same(self):
        """What waits for a line that takes nothing is not waited for at the end; what was stored is there."""
        self.begin()
        self.poll(0)
        self.receiver.wait_for_lines(FIXES_A_POLL)
        self.assertEqual(self.receiver.stop(seconds=3), 0)
        self.assert_each_once(self.receiver.fixes, FIXES_A_POLL)


if __name__ == "__main__":
    unittest.main()
