"""The messages about a collar that falls silent and comes back. When each of them is due: SilentCollarTests and LinkHealthTests."""

import unittest

from end_to_end import EndToEndTest
from playback import OPENED, Playback
from radio import Radio
from serial_line import SerialLine

from session_parts import A, B

HEARTBEAT = 4  # seconds; a shorter heartbeat counts as this long
LATE = 1.25 * HEARTBEAT


class LinkHealthTest(EndToEndTest):
    def test_a_long_silence(self):
        """Everything is told once, and the radio is set up again, because no other collar is heard since."""
        played = Playback().receive(B.identity(heartbeat=6000)).receive(A.identity(heartbeat=60))
        for _ in range(11):
            played.wait(60)
        # The radio is set up again.
        _, told = played.happens(OPENED).receive(A.probe(0)).play()
        name = f"{A.log.device_id:016x}"
        words = ("is late", "is not reachable", "degraded link", "unhealthy link", "is opened again", "is heard again", "healthy link again")
        self.assertEqual([[word for word in words if word in line] for line in told
                          if name in line and "is heard at" not in line and "no fix" not in line],
                         [[word] for word in words], told)

    def test_in_real_time(self):
        """A receiver that nothing else wakes reports that a collar is late."""
        line = SerialLine()
        self.addCleanup(line.close)
        receiver = self.receive(port=line.path)
        receiver.wait_for_error("listening on")
        Radio(line).send(A.identity(heartbeat=1))
        receiver.wait_for_error(f"{A.log.device_id:016x} is late", LATE + 5)
        receiver.stop()


if __name__ == "__main__":
    unittest.main()
