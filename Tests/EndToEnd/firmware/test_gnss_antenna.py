"""The firmware of the emulated board under QEMU, with a GNSS receiver whose antenna is faulty."""

import unittest

from end_to_end import wait_until
from firmware_case import CollarTest
from gnss_bytes import ANTENNA_OPEN


class GNSSAntennaTest(CollarTest):
    def test_an_open_antenna(self):
        """The next status tells it, which comes when a minute has passed since the first one. Fixes go on meanwhile."""
        board, gnss = self.collar()
        receiver = self.receive("--events", "fix,gap,status", port=self.line(board.ports[0]))
        board.start()
        gnss.start()

        def errors():
            return [line["last_error_name"] for line in receiver.fixes if line["type"] == "status"]
        # If the antenna were open from the start, a slow first exchange would tell it already.
        wait_until(lambda: len(errors()) == 1, 30, "a first status")
        gnss.set_antenna(ANTENNA_OPEN)
        wait_until(lambda: len(errors()) == 2, 90, "a second status")
        self.assertEqual(errors(), [None, "gnss_fault"])
        receiver.wait_for_error("reported a fault of itself or its antenna")
        gnss.close()
        self.check(receiver, board, gnss)


if __name__ == "__main__":
    unittest.main()
