"""Tests with emulated boards: making boards, and checking that what a collar logged has come as lines."""

import itertools
import os
import pathlib
import random
import shutil
import time
import unittest

from end_to_end import BINARY, EndToEndTest, wait_until
from emulated_board import EMULATOR, ROOT, EmulatedBoard, Tap, make_flash
from emulated_gnss import EmulatedReceiver
from flash_log import read_log
from serial_line import SerialLine

IMAGES = ROOT / ".build-board"


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

    def trouble(self, boards, resets, cuts, longest_pause):
        """Resets boards and cuts their power, in random order, after pauses of random length."""
        kinds = [EmulatedBoard.reset] * resets + [EmulatedBoard.restart] * cuts
        self.random.shuffle(kinds)
        for kind in kinds:
            time.sleep(self.random.uniform(0.5, longest_pause))
            kind(self.random.choice(boards))


class CollarTest(FirmwareTest):
    """A test with the image of a collar, whose GNSS receiver plays a track."""

    def add_key(self, device, key):
        """Gives the receiver the key of a collar."""
        pathlib.Path(self.path("key")).write_text(key.hex(), encoding="ascii")
        os.chmod(self.path("key"), 0o644)
        added = self.start([BINARY, "key", "add", f"{device:016x}", self.path("key"), "--state-dir", self.state])
        self.assertEqual(added.wait(), 0, added.error_text)

    def collar(self, spreading_factor=0):
        """A collar with a key that the receiver has, and its GNSS receiver, which plays a cat's walk again and again."""
        device, key = self.random.getrandbits(64), self.random.randbytes(16)
        board = self.board("Collar", 3, device=device, address=9, key=key, spreading_factor=spreading_factor)
        self.add_key(device, key)
        _, fixes = self.track("cats_uk/Maxwell-Tag")
        receiver = EmulatedReceiver(board, itertools.cycle(fixes))
        board.power_was_cut.append(receiver.power_was_cut)
        self.addCleanup(receiver.close)
        return board, receiver

    def check(self, receiver, board, gnss, earlier=(), least=10):
        """Checks that all that is whole in the flash, more than `least` entries, has come once, that only torn records are lost,
        and that the positions are those of the track. `earlier` has the lines of a receiver that was stopped before. Returns the
        lines of the fixes."""
        whole, torn = read_log(board.flash)
        self.assertGreater(len(whole), least)

        def lines():
            return [*earlier, *receiver.fixes]

        def seen():
            return ({line["seq"] for line in lines() if line["type"] == "fix"},
                    {seq for line in lines() if line.get("event") == "lost"
                     for seq in range(line["first_seq"], line["last_seq"] + 1)})
        wait_until(lambda: seen() == (whole, torn), 60, f"all of {len(whole)} fixes and the loss of {sorted(torn)}; last: {seen()}")
        self.assertEqual(receiver.stop(), 0)
        fixes = [line for line in lines() if line["type"] == "fix"]
        self.assertEqual(len(fixes), len(whole), "a fix was doubled")
        self.assertEqual(len({fix["ts_unix_ms"] for fix in fixes}), len(fixes), "a position was logged twice")
        for fix in fixes:
            original = gnss.sent[fix["ts_unix_ms"]]
            for key in ("latitude", "longitude"):
                self.assertAlmostEqual(fix["coordinate"][key], original["coordinate"][key], delta=1.1e-5)
        return fixes
