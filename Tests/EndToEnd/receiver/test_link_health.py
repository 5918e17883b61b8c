"""The messages about a collar that falls silent and comes back."""

import os
import time
import unittest

from heartbeats import HEARTBEAT, LATE, UNREACHABLE, identity
from end_to_end import EndToEndTest, wait_until
from radio import IDENTITY_REQUEST, Radio
from serial_line import SerialLine

from session_parts import A, B


class LinkHealthTest(EndToEndTest):
    def begin(self):
        line = SerialLine()
        receiver = self.receive(port=line.path)
        receiver.wait_for_error("listening on")
        return receiver, Radio(line)

    def test_silence(self):
        """A collar is reported as late, unreachable and heard again: each once, in time, and no other collar."""
        receiver, radio = self.begin()
        self.addCleanup(radio.line.close)
        start = time.monotonic()
        radio.send(identity(A) + identity(B, 600))
        receiver.wait_for_error(f"{A.log.device_id:016x} is late", LATE + 5)
        self.assertGreaterEqual(time.monotonic() - start, LATE - 0.1)
        receiver.wait_for_error(f"{A.log.device_id:016x} is not reachable", UNREACHABLE + 5)
        self.assertGreaterEqual(time.monotonic() - start, UNREACHABLE - 0.1)
        receiver.wait_for_error("degraded link", 1)
        radio.send(A.probe(0))
        receiver.wait_for_error("is heard again, after 1")
        receiver.wait_for_error("healthy link again", 1)
        receiver.stop()
        told = [line for line in receiver.errors if "ollar " in line and "is heard at" not in line]
        self.assertEqual([f"{A.log.device_id:016x}" in line for line in told], [True] * 5, told)

    def test_an_unhealthy_link_is_opened_again_once(self):
        """After ten missed heartbeats the radio is set up again and asked for collars once more, but not while another collar
        is heard at it."""
        receiver, radio = self.begin()
        self.addCleanup(radio.line.close)
        other, other_radio = self.begin_other()
        radio.send(identity(A))
        other_radio.send(identity(A) + identity(B, 600))
        receiver.wait_for_error("is late", LATE + 5)
        asked = radio.count(IDENTITY_REQUEST)
        receiver.wait_for_error("is opened again", 12 * HEARTBEAT)
        wait_until(lambda: radio.count(IDENTITY_REQUEST) > asked, 5, "another identity request")
        receiver.wait_for_error("unhealthy", 1)
        time.sleep(3 * HEARTBEAT)
        self.assertEqual(receiver.error_text.count("is opened again"), 1)
        other.wait_for_error("unhealthy", 5)
        self.assertNotIn("is opened again", other.error_text)
        radio.send(A.probe(0))
        receiver.wait_for_error("is heard again")
        receiver.stop()
        other.stop()

    def begin_other(self):
        line = SerialLine()
        self.addCleanup(line.close)
        receiver = self.receive(port=line.path, state=self.path("other-state"))
        receiver.wait_for_error("listening on")
        return receiver, Radio(line)

    def test_unplugged_radio(self):
        """While the radio is unplugged, no collar is reported as late."""
        receiver, radio = self.begin()
        radio.send(identity(A))
        receiver.wait_for_error("is heard at")
        radio.line.close()
        receiver.wait_for_error("was unplugged")
        time.sleep(LATE + 1)
        self.assertNotIn("is late", receiver.error_text)
        receiver.stop()

    def test_radio_comes_back_without_its_collar(self):
        """When the radio is back, the identity request and two heartbeats fail: the link is degraded before the third
        missed heartbeat makes the collar unreachable."""
        first = SerialLine()
        os.symlink(first.path, self.link)
        receiver = self.receive()
        receiver.wait_for_error("listening on")
        Radio(first).send(identity(A))
        receiver.wait_for_error("is heard at")
        os.unlink(self.link)
        first.close()
        receiver.wait_for_error("was unplugged")
        second = SerialLine()
        self.addCleanup(second.close)
        os.symlink(second.path, self.link)
        receiver.wait_for_error("not reachable", UNREACHABLE + 5)
        receiver.stop()
        told = [what for line in receiver.errors for what in ("late", "degraded", "not reachable") if f" {what}" in line]
        self.assertEqual(told, ["late", "degraded", "not reachable"])


if __name__ == "__main__":
    unittest.main()
