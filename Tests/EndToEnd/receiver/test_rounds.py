"""Frames that come in while a journal waits for a slow disk are read right after that, and stored and answered next."""

import json
import signal
import time
import unittest

from end_to_end import BINARY, wait_until
from radio import Radio
from serial_line import SerialLine
from sending import RESULT, SendTest
from tracing import Traced, can_trace

from session_parts import A, B

SLOWNESS = 0.4  # seconds that each fdatasync takes


@unittest.skipUnless(can_trace(), "needs strace, and leave to trace")
class SlowDiskTest(SendTest):
    def setUp(self):
        super().setUp()
        self.receive(port=self.path("nothing")).stop()
        line = SerialLine()
        self.addCleanup(line.close)
        slow = f"inject=fdatasync:delay_enter={int(SLOWNESS * 1e6)}"
        self.receiver = Traced(
            self, ["-o", "/dev/null", "-e", "trace=fdatasync", "-e", slow],
            [BINARY, "--port", line.path, "--dialect", "serial", "--state-dir", self.state])
        self.radio = Radio(line)
        self.radio.send(A.identity() + B.identity())
        self.receiver.program.wait_for_error(f"Collar {B.log.device_id:016x} is heard at", 20)

    def first_missing(self, collar):
        answer = self.radio.acknowledgement(collar)
        return answer and answer["first_missing"]

    def send_while_it_is_slow(self):
        """Sends two fixes of a collar, the second while the first is on its way to the disk, and then nothing more."""
        self.radio.send(A.fix(0) + A.probe(1, 1))
        time.sleep(SLOWNESS / 2)
        self.assertIsNone(self.radio.acknowledgement(A), "the disk is not slow")
        self.radio.send(A.fix(1) + A.probe(2, 2))

    def test_of_the_same_collar(self):
        self.send_while_it_is_slow()
        wait_until(lambda: self.first_missing(A) == 2, 4 * SLOWNESS + 1, "the second acknowledgement")

    def test_of_another_collar(self):
        self.radio.send(B.fix(0) + B.probe(1, 1))
        time.sleep(SLOWNESS / 2)
        self.radio.send(A.fix(0) + A.probe(1, 1))
        for collar in (A, B):
            wait_until(lambda collar=collar: self.first_missing(collar) == 1, 4 * SLOWNESS + 1, "its acknowledgement")

    def test_result_of_a_request(self):
        """A result that comes between the commits of two collars is passed on after them, without a further event."""
        self.radio.send(A.fix(0) + A.probe(1, 1))
        wait_until(lambda: self.first_missing(A) == 1, 4 * SLOWNESS + 1, "its acknowledgement")
        client, lines = self.connect()
        collar = f"{A.log.device_id:016x}"
        queued = self.ask(client, lines, f'{{"do":"locate","collar":"{collar}"}}')
        self.assertEqual(queued["outcome"], "queued")
        # The request is sent with the answer to a poll.
        self.radio.send(A.probe(1, 2))
        time.sleep(2 * SLOWNESS)
        self.radio.send(A.fix(1) + A.probe(2, 3) + B.fix(0) + B.probe(1, 1))
        time.sleep(SLOWNESS / 2)
        self.radio.send(A.send(RESULT, {"request_id": queued["request"], "outcome": 0}))
        began = time.monotonic()
        self.assertEqual(json.loads(lines.readline())["outcome"], "ok")
        self.assertLess(time.monotonic() - began, 4 * SLOWNESS)

    def test_ended_meanwhile(self):
        """Everything that was read is stored before the program ends."""
        self.send_while_it_is_slow()
        self.receiver.send(signal.SIGTERM)
        self.assertEqual(self.receiver.program.wait(10), 0)
        fixes = self.receiver.program.fixes
        again = self.receive(port=self.path("nothing"))
        again.stop()
        self.assertEqual([fix["seq"] for fix in fixes + again.fixes], [0, 1])
