"""A long capture: a fix each second for ten minutes through the image of a collar, with an outage of the receiver in the middle.

The collar seals what it sends. The receiver is stopped for the middle third of the time and then started again. In the end each fix
that the collar logged is a line of the first or the second receiver, once, with the position that the GNSS receiver gave; nothing
is lost; and the log has every fix that the GNSS receiver gave from the first logged one on.
"""

import statistics
import sys
import time
import unittest

from firmware_case import CollarTest
from flash_log import read_log

from frames import SEALED_FLAG
from wire import SerialDecoder


class LongCapture(CollarTest):
    """Runs for as many seconds as the command line names."""

    seconds = 600

    def receiver(self, path):
        return self.receive("--events", "fix,gap", port=path)

    def listen(self, port):
        """The frames that the board sends at a port from now on, as a list that grows."""
        decoder, forward, sent = SerialDecoder(), port.receive, []

        def receive(data):
            sent.extend(decoder.feed(data))
            forward(data)
        port.receive = receive
        return sent

    def runTest(self):
        board, gnss = self.collar()
        path = self.line(board.ports[0])
        sent = self.listen(board.ports[0])
        first = self.receiver(path)
        board.start()
        gnss.start()
        time.sleep(self.seconds / 3)
        self.assertEqual(first.stop(), 0, first.error_text)
        stopped = time.time()
        time.sleep(self.seconds / 3)
        logged_before = len(read_log(board.flash)[0])
        returned = time.time()
        second = self.receiver(path)
        time.sleep(self.seconds / 3)
        gnss.close()
        # The board may still be writing the last fix.
        time.sleep(3)
        fixes = self.check(second, board, gnss, first.fixes)
        self.report(fixes, len(first.lines), logged_before, stopped, returned)
        self.assertEqual(read_log(board.flash)[1], set(), "a record is torn, and no power was cut")
        times = {fix["ts_unix_ms"] for fix in fixes}
        self.assertEqual(times, {each for each in gnss.sent if each >= min(times)}, "the collar did not log each fix")
        self.assertEqual([bytes(frame).hex() for frame in sent if not frame[1] & SEALED_FLAG], [], "a frame is not sealed")
        self.assertGreater(len(first.lines), self.seconds / 4)
        self.assertGreater(len(fixes), 0.95 * self.seconds)

    def report(self, fixes, before, logged_before, stopped, returned):
        """Prints what was measured, as text for people."""
        late = [fix["rx_unix_ms"] / 1000 - returned for fix in fixes if stopped < fix["ts_unix_ms"] / 1000 < returned]
        live = [fix["rx_unix_ms"] - fix["ts_unix_ms"] for fix in fixes if fix["rx_unix_ms"] / 1000 < stopped]
        print(f"{len(fixes)} fixes logged, each a line once: {before} before the outage of {returned - stopped:.0f} s\n"
              f"{logged_before - before} fixes waited; the last of them came {max(late):.1f} s after the receiver was started again\n"
              f"before the outage, a fix came {statistics.median(live):.0f} ms after its time (median), at most {max(live):.0f} ms")


if __name__ == "__main__":
    LongCapture.seconds = float(sys.argv[1]) if len(sys.argv) > 1 else LongCapture.seconds
    sys.exit(not unittest.TextTestRunner().run(LongCapture()).wasSuccessful())
