"""A radio reads nothing from the host: the frames of its collar are still received, and everything else goes on."""

import os
import select
import time
import unittest

from end_to_end import BINARY, EndToEndTest
from fast_collar import FastCollar
from processes import processor_seconds
from radio import Radio
from serial_line import SerialLine, drain

from session_parts import A, B

POLLS = 300
FIXES_A_POLL = 20
# The most bytes of frames that the host keeps for a line that takes none: 4096, and one more frame.
WAITING_LIMIT = 4096 + 64


class UnreadRadioTest(EndToEndTest):
    def begin(self):
        """Starts a receiver at two lines, and fills the first, so that it takes no more bytes."""
        self.line, other = SerialLine(), SerialLine()
        for each in (self.line, other):
            self.addCleanup(each.close)
        self.receiver = self.start(
            [BINARY, "--port", self.line.path, "--port", other.path, "--dialect", "serial", "--state-dir", self.state])
        self.receiver.wait_for_error(f"listening on {other.path}")
        self.radio, self.healthy = Radio(self.line), Radio(other)
        self.collar = FastCollar(*A.log, A.address)
        self.radio.send(A.identity())
        self.radio.poll(A)
        self.healthy.send(B.identity())
        self.healthy.poll(B)
        self.stuff()

    def stuff(self):
        """Fills the line to the radio with zero bytes, which its decoder skips."""
        os.set_blocking(self.line.slave, False)
        self.stuffed, last = 0, None
        # The kernel passes on the bytes that it has taken, and has room again.
        while last != self.stuffed:
            last = self.stuffed
            for size in (4096, 1):
                try:
                    while True:
                        self.stuffed += os.write(self.line.slave, bytes(size))
                except BlockingIOError:
                    time.sleep(0.05)

    def speak(self, data):
        """Sends bytes of the radio, and reads none."""
        while data:
            self.assertTrue(select.select([], [self.line.master], [], 5)[1], "the receiver does not read any more")
            data = data[os.write(self.line.master, data[:4096]):]

    def poll(self, number):
        """Sends the next fixes of the collar, and a poll."""
        self.speak(self.collar.fixes(number * FIXES_A_POLL, FIXES_A_POLL)
                   + A.probe((number + 1) * FIXES_A_POLL, poll=1 + number % 7))

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
            # Each poll has its own round of the receiver's loop, and an answer.
            self.receiver.wait_for_lines((number + 1) * FIXES_A_POLL + answered, 5)
            if number % 100 == 50:
                memory = memory or self.anonymous_memory()
                self.healthy.send(B.fix(answered))
                answered += 1
                answer, seconds = self.healthy.poll(B, answered)
                self.assertEqual(answer["first_missing"], answered)
                self.assertLess(seconds, 1)
        self.assertLess(self.anonymous_memory() - memory, 128, "KiB more than before")
        before = processor_seconds(self.receiver.pid)
        time.sleep(0.5)
        self.assertLess(processor_seconds(self.receiver.pid) - before, 0.05, "waits for the line by trying")
        # The radio reads again: few bytes waited, and they are sound.
        waiting = self.take_all()
        self.assertEqual(waiting[:self.stuffed], bytes(self.stuffed))
        self.assertGreater(len(waiting), self.stuffed)
        self.assertLessEqual(len(waiting), self.stuffed + WAITING_LIMIT)
        self.assertEqual(self.radio.poll(A, POLLS * FIXES_A_POLL)[0]["first_missing"], POLLS * FIXES_A_POLL)
        self.assertEqual(self.receiver.stop(), 0)
        for collar, count in ((A, POLLS * FIXES_A_POLL), (B, answered)):
            name = f"{collar.log.device_id:016x}"
            self.assert_each_once([line for line in self.receiver.fixes if line["collar"] == name], count)

    def test_dropped_frames_are_said_once(self):
        """With a single radio each poll has its own answer. An answer for which too many bytes wait is dropped."""
        self.line = SerialLine()
        self.addCleanup(self.line.close)
        self.receiver = self.receive("--events", "error", port=self.line.path)
        self.receiver.wait_for_error("listening on")
        self.radio, self.collar = Radio(self.line), FastCollar(*A.log, A.address)
        self.radio.send(A.identity())
        self.radio.poll(A)
        for following in (0, 400):
            self.stuff()
            for number in range(following, following + 400):
                self.speak(self.collar.fixes(number, 1) + A.probe(number + 1, poll=1 + number % 7))
                time.sleep(0.005)
            self.receiver.wait_for_error("takes no bytes")
            waiting = self.take_all()
            self.assertLessEqual(len(waiting), self.stuffed + WAITING_LIMIT)
        self.assertEqual(self.receiver.stop(), 0)
        self.assertEqual([line["code"] for line in self.receiver.fixes], 2 * ["message_send_failed"])
        self.assertEqual(self.receiver.error_text.count("takes no bytes"), 2)

    def take_all(self):
        """Reads until nothing more comes."""
        taken = b""
        while select.select([self.line.master], [], [], 0.3)[0]:
            taken += drain(self.line.master)
        return taken

    def test_it_ends_all_the_same(self):
        """At its end the receiver does not wait for a line that takes no bytes. All stored fixes are there."""
        self.begin()
        self.poll(0)
        self.receiver.wait_for_lines(FIXES_A_POLL)
        self.assertEqual(self.receiver.stop(seconds=3), 0)
        self.assert_each_once(self.receiver.fixes, FIXES_A_POLL)


if __name__ == "__main__":
    unittest.main()
