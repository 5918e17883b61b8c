"""The firmware of the emulated board under QEMU, with resets and power cuts, in front of the real tool."""

import os
import random
import shutil
import time
import unittest

from collarlink import TRACKS, EndToEndTest
from emulated_board import EMULATOR, ROOT, EmulatedBoard, Tap, make_flash
from module_at_line import ModuleAtLine
from serial_line import SerialLine

IMAGES = ROOT / ".build-board"
SIGNAL = (-97, -35)


@unittest.skipUnless(shutil.which(EMULATOR), f"{EMULATOR} is missing: Tools/firmware test installs it")
class FirmwareTest(EndToEndTest):
    """A test with emulated boards. Its seed is printed; COLLAR_LINK_SEED repeats it."""

    def setUp(self):
        super().setUp()
        self.seed = int(os.environ.get("COLLAR_LINK_SEED") or random.SystemRandom().randrange(1 << 32))
        self.random = random.Random(self.seed)
        print(f"COLLAR_LINK_SEED={self.seed}", flush=True)

    def board(self, image, port_count, **factory):
        """A board that is off."""
        path = self.path(f"{image}.flash")
        make_flash(path, **factory)
        board = EmulatedBoard(self.image(image), path, port_count)
        self.addCleanup(board.close)
        return board

    def image(self, name):
        path = IMAGES / f"{name}.elf"
        if not path.exists():
            self.skipTest(f"{name} is missing: Tools/firmware build makes it")
        return path

    def line(self, port):
        """A terminal for the receiver, connected with the port of a board. Returns its path."""
        line = SerialLine()
        self.addCleanup(line.close)
        tap = Tap(port, line.master)
        self.addCleanup(tap.close)
        return line.path

    def trouble(self, board, resets, cuts):
        """Resets of the board and cuts of its power, in random order, one at a time."""
        kinds = ["reset"] * resets + ["cut"] * cuts
        self.random.shuffle(kinds)
        for kind in kinds:
            if kind == "reset":
                yield board.reset
            else:
                yield lambda: (board.cut_power(), board.start())


class BaseRadioImageTest(FirmwareTest):
    """The image of a base radio between a simulated collar and the receiver."""

    def test_resets_and_power_cuts(self):
        """Everything arrives once, with its signal; the base radio says again what it is after each start."""
        track, sent = self.track("cats_uk/Maxwell-Tag", 60)
        self.simulate(track, "--modem", "lora:SF7", "--interval", "0.5", "--seed", str(self.seed % 1000))
        base = self.board("Base", 2, device=0xFEDCBA9876543210, address=0, key=bytes(16), spreading_factor=7)
        module = ModuleAtLine(base.ports[1], self.link, SIGNAL)
        self.addCleanup(module.close)
        base.start()
        receiver = self.receive("-v", port=self.line(base.ports[0]))
        receiver.wait_for_error("base radio fedcba9876543210, firmware 1.0.0")
        receiver.wait_for_lines(5)
        for cause in self.trouble(base, 10, 10):
            time.sleep(self.random.uniform(0.2, 1.5))
            cause()
        receiver.wait_for_lines(len(sent), 60)
        self.assertEqual(receiver.stop(), 0)
        self.assert_each_once(receiver.fixes, len(sent))
        reported = [fix for fix in receiver.fixes if (fix.get("rssi_dbm"), fix.get("snr_db")) == (-97, -3.5)]
        # A restart in the middle of a packet loses the report that comes after it.
        self.assertGreater(len(reported), len(sent) // 2)


if __name__ == "__main__":
    unittest.main()
