"""A port without a collar: the host sends an identity request at once and after 1 s. HostTests has the one after 5 s."""

import unittest

from end_to_end import BINARY, EndToEndTest, wait_until
from radio import IDENTITY_REQUEST, Radio
from serial_line import SerialLine
from tracing import Traced, can_trace

SLOW = 20_000  # microseconds that the first line for people takes


class SilentPortTest(EndToEndTest):
    @unittest.skipUnless(can_trace(), "needs strace, and leave to trace")
    def test_asked_again_whatever_the_terminal_takes(self):
        """A line for people is written between the opening and the first identity request. The second request comes
        even if that line takes long."""
        line = SerialLine()
        self.addCleanup(line.close)
        traced = Traced(
            self, ["-o", "/dev/null", "-e", "trace=write", "-e", f"inject=write:delay_enter={SLOW}:when=1"],
            [BINARY, "--port", line.path, "--dialect", "serial", "--state-dir", self.state])
        radio = Radio(line)
        wait_until(lambda: radio.count(IDENTITY_REQUEST) == 1, 5, "the first question")
        # On a busy machine it is late, but not as late as the third one.
        wait_until(lambda: radio.count(IDENTITY_REQUEST) == 2, 4, "the second question")
        self.assertEqual(traced.stop(), 0)


if __name__ == "__main__":
    unittest.main()
