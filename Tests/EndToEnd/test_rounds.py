"""What comes in while a journal is brought to a slow disk is read at once, and stored and answered next."""

import signal
import sys
import time
import unittest

from collarlink import BINARY, ROOT, EndToEndTest, wait_until
from radio import Radio
from serial_line import SerialLine
from tracing import Traced, can_trace

# Behind the tests' own modules: one of the reference has the same name.
sys.path.append(str(ROOT / "Protocol/reference"))
from session_parts import A, B  # noqa: E402

SLOWNESS = 0.4  # seconds that a disk takes


@unittest.skipUnless(can_trace(), "needs strace, and leave to trace")
class SlowDiskTest(EndToEndTest):
    def setUp(self):
        super().setUp()
        self.receive(port=self.path("nothing")).stop()
        line = SerialLine()
        self.addCleanup(line.close)
        slow = f"inject=fdatasync:delay_enter={int(SLOWNESS * 1e6)}"
        self.receiver = Traced(
            self, ["-o", "/dev/null", "-e", "trace=fdatasync", "-e", slow],
            [BINARY, "--port", line.path, "--state-dir", self.state])
        self.radio = Radio(line)
        self.radio.send(A.identity() + B.identity())
        self.receiver.program.wait_for_error(f"hearing collar {B.log.device_id:016x}", 20)

    def first_missing(self, collar):
        answer = self.radio.acknowledgement(collar)
        return answer and answer["first_missing"]

    def send_while_it_is_slow(self):
        """Two fixes of a collar, the second while the first is on its way to the disk. Nothing comes behind it."""
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

    def test_ended_meanwhile(self):
        """What was read is stored before the end."""
        self.send_while_it_is_slow()
        self.receiver.send(signal.SIGTERM)
        self.assertEqual(self.receiver.program.wait(10), 0)
        fixes = self.receiver.program.fixes
        again = self.receive(port=self.path("nothing"))
        again.stop()
        self.assertEqual([fix["seq"] for fix in fixes + again.fixes], [0, 1])
