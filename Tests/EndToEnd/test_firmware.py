"""The firmware of the emulated board under QEMU, with resets and power cuts, in front of the real tool."""

import os
import pathlib
import random
import shutil
import time
import unittest

from air import Air
from collarlink import BINARY, EndToEndTest, wait_until
from emulated_board import EMULATOR, ROOT, EmulatedBoard, Tap, make_flash
from emulated_gnss import EmulatedReceiver
from flash_log import read_log
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

    def trouble(self, boards, resets, cuts, longest_pause):
        """Resets boards and cuts their power, in random order, after pauses of random length."""
        kinds = [EmulatedBoard.reset] * resets + [EmulatedBoard.restart] * cuts
        self.random.shuffle(kinds)
        for kind in kinds:
            time.sleep(self.random.uniform(0.5, longest_pause))
            kind(self.random.choice(boards))


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
        self.trouble([base], 10, 10, 1.5)
        receiver.wait_for_lines(len(sent), 60)
        self.assertEqual(receiver.stop(), 0)
        self.assert_each_once(receiver.fixes, len(sent))
        reported = [fix for fix in receiver.fixes if (fix.get("rssi_dbm"), fix.get("snr_db")) == (-97, -3.5)]
        # A restart in the middle of a packet loses the report that comes after it.
        self.assertGreater(len(reported), len(sent) // 2)


class CollarImageTest(FirmwareTest):
    """The image of a collar: a track goes from its GNSS receiver through its flash and its radio to lines."""

    def collar(self, spreading_factor=0):
        """A collar with a key that the receiver has, and its GNSS receiver."""
        device, key = self.random.getrandbits(64), self.random.randbytes(16)
        board = self.board("Collar", 3, device=device, address=9, key=key, spreading_factor=spreading_factor)
        pathlib.Path(self.path("key")).write_text(key.hex(), encoding="ascii")
        os.chmod(self.path("key"), 0o644)
        added = self.start([BINARY, "key", "add", f"{device:016x}", self.path("key"), "--state-dir", self.state])
        self.assertEqual(added.wait(), 0, added.error_text)
        _, fixes = self.track("cats_uk/Maxwell-Tag")
        receiver = EmulatedReceiver(board.ports[1], fixes)
        board.power_was_cut.append(receiver.power_was_cut)
        self.addCleanup(receiver.close)
        return board, receiver

    def check(self, receiver, board, gnss):
        """Checks that all that is whole in the flash has come once, that only torn records are lost, and that the positions are
        those of the track."""
        whole, torn = read_log(board.flash)
        self.assertGreater(len(whole), 10)

        def seen():
            return ({line["seq"] for line in receiver.fixes if line["type"] == "fix"},
                    {seq for line in receiver.fixes if line.get("event") == "lost"
                     for seq in range(line["first_seq"], line["last_seq"] + 1)})
        wait_until(lambda: seen() == (whole, torn), 60, f"all of {len(whole)} fixes and the loss of {sorted(torn)}; last: {seen()}")
        self.assertEqual(receiver.stop(), 0)
        fixes = [line for line in receiver.fixes if line["type"] == "fix"]
        self.assertEqual(len(fixes), len(whole), "a fix was doubled")
        self.assertEqual(len({fix["ts_unix_ms"] for fix in fixes}), len(fixes), "a position was logged twice")
        for fix in fixes:
            original = gnss.sent[fix["ts_unix_ms"]]
            for key in ("latitude", "longitude"):
                self.assertAlmostEqual(fix["coordinate"][key], original["coordinate"][key], delta=1.1e-5)

    def test_one_image(self):
        """Ten resets and ten power cuts of the collar."""
        board, gnss = self.collar()
        receiver = self.receive("--events", "fix,gap", port=self.line(board.ports[0]))
        board.start()
        gnss.start()
        receiver.wait_for_lines(3, 60)
        self.trouble([board], 10, 10, 4)
        time.sleep(3)
        gnss.close()
        self.check(receiver, board, gnss)

    def test_two_images(self):
        """A collar and a base radio, with a fifth of the packets lost between them; resets and power cuts of both."""
        board, gnss = self.collar(spreading_factor=7)
        base = self.board("Base", 2, device=0xFEDCBA9876543210, address=0, key=bytes(16), spreading_factor=7)
        air = Air(7, 0.2, self.random.random())
        self.addCleanup(air.close)
        air.add(board.ports[0])
        air.add(base.ports[1], SIGNAL)
        for each in (board, base):
            each.power_was_cut.append(lambda ports=each.ports: air.power_was_cut(ports))
        receiver = self.receive("--events", "fix,gap", port=self.line(base.ports[0]))
        base.start()
        board.start()
        gnss.start()
        receiver.wait_for_lines(3, 60)
        self.trouble([board, base], 10, 10, 4)
        time.sleep(3)
        gnss.close()
        self.check(receiver, board, gnss)
        self.assertGreater(air.lost, air.sent // 10)
        for fix in receiver.fixes:
            if fix["type"] == "fix" and "rssi_dbm" in fix:
                self.assertEqual((fix["rssi_dbm"], fix["snr_db"]), (-97, -3.5))


if __name__ == "__main__":
    unittest.main()
