"""The firmware of the emulated board under QEMU, with resets and power cuts, in front of the real tool."""

import time
import unittest

import debugger
from air import Air
from end_to_end import wait_until
from firmware_case import CollarTest, FirmwareTest
from module_at_line import ModuleAtLine

SIGNAL = (-97, -35)


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
        receiver.wait_for_error("is fedcba9876543210, with firmware 1.0.0")
        receiver.wait_for_lines(5)
        self.trouble([base], 10, 10, 1.5)
        receiver.wait_for_lines(len(sent), 60)
        self.assertEqual(receiver.stop(), 0)
        self.assert_each_once(receiver.fixes, len(sent))
        reported = [fix for fix in receiver.fixes if (fix.get("rssi_dbm"), fix.get("snr_db")) == (-97, -3.5)]
        # A restart in the middle of a packet loses the report that comes after it.
        self.assertGreater(len(reported), len(sent) // 2)


class CollarImageTest(CollarTest):
    """The image of a collar: a track goes from its GNSS receiver through its flash and its radio to lines."""

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

    def test_crashes(self):
        """The program meets a trap, loses its stack, and hangs: each time it starts again, says why, and loses nothing."""
        board, gnss = self.collar()
        receiver = self.receive("--events", "fix,gap,status", port=self.line(board.ports[0]))
        board.start()
        gnss.start()

        def lines(kind):
            return [line for line in receiver.fixes if line["type"] == kind]
        expected = [None]
        for crash, name in ((debugger.trap, "firmware_reset"), (debugger.lose_stack, "firmware_reset"),
                            (debugger.hang, "watchdog_reset"), (None, None)):
            count = len(lines("fix"))
            wait_until(lambda: len(lines("status")) == len(expected) and len(lines("fix")) > count, 20, f"life {len(expected)}")
            self.assertEqual([line["last_error_name"] for line in lines("status")], expected)
            if crash:
                crash(board)
                expected.append(name)
        self.assertIn("restarted after a fault of its firmware", receiver.error_text)
        gnss.close()
        self.check(receiver, board, gnss, least=3)

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
