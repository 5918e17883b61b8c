"""The firmware of the emulated board under QEMU with a fix schedule: the supply of its GNSS receiver, its radio and its processor. The
time of the board is in the hands of the test."""

import itertools
import time
import unittest

from end_to_end import BINARY, wait_until
from firmware_case import CollarTest
from held_time import HeldRadio, HeldReceiver, HeldTime
from serial_line import SerialLine

SPREADING_FACTOR = 7
QUARTER, HOUR = 900, 3600
POWER_MODE, SATELLITES = 0x20D00001, 0x20910016


class ScheduleTest(CollarTest):
    """A collar with a fix each quarter of an hour."""

    def setUp(self):
        super().setUp()
        self.device, key = self.random.getrandbits(64), self.random.randbytes(16)
        self.board_ = self.board("Collar", 3, device=self.device, address=9, key=key, spreading_factor=SPREADING_FACTOR)
        self.board_.is_time_held = True
        self.add_key(self.device, key)
        self.line_ = SerialLine()
        self.addCleanup(self.line_.close)
        self.receiver = self.receive("--events", "all", port=self.line_.path)
        self.receiver.wait_for_error("listening")
        self.hours_ago = itertools.count(12, -4)

    def begin(self, **receiver):
        """Switches the board on, with new devices around it."""
        self.board_.restart()
        held = HeldTime(self.board_)
        unix_ms = 1000 * (round(time.time()) - next(self.hours_ago) * HOUR)
        return held, HeldReceiver(held, unix_ms, **receiver), HeldRadio(held, SPREADING_FACTOR, self.line_.master)

    def set_schedule(self, **settings):
        """Gives the collar settings, which are in its flash afterwards."""
        held, *_ = self.begin()
        held.run(30)
        words = [f"{name}={value}" for name, value in settings.items()]
        sent = self.start([BINARY, "send", "--state-dir", self.state, "settings", "set", *words])
        held.run(4 * HOUR, is_over=lambda: sent.process.poll() is not None)
        self.assertEqual(sent.wait(), 0, sent.error_text)

    def lines(self, kind):
        return [line for line in self.receiver.fixes if line["type"] == kind]

    def fixes_of(self, gnss):
        """The fixes of the receiver that have come."""
        return [line for line in self.lines("fix") if line["ts_unix_ms"] in gnss.sent]

    def test_a_quarter_of_an_hour(self):
        """Seconds of supply and of listening are those that the settings and the devices imply; the processor sleeps."""
        self.set_schedule(fix_interval_ms=1000 * QUARTER)
        held, gnss, radio = self.begin()
        held.run(3 * HOUR - 60)
        # The first search is cold, and every two hours the receiver stays on for 35 s, to read the orbits.
        expected = 2 * 35 + 10 * 8
        self.assertEqual(gnss.starts, 12)
        self.assertAlmostEqual(gnss.seconds, expected, delta=0.02 * expected)
        self.assertEqual((radio.missed, radio.polls >= 12), (0, True))
        needed = radio.needed + radio.reading
        self.assertAlmostEqual(radio.listening, needed, delta=0.02 * needed)
        self.assertLess(radio.reading, 0.04 * radio.polls)
        self.assertLess(held.awake, 0.01 * held.now)
        wait_until(lambda: len(self.fixes_of(gnss)) == 12, 10, "twelve fixes")
        self.assertEqual([line["last_error_name"] for line in self.lines("status") if line["last_error_name"]], [])

    def test_no_sky(self):
        """A search ends early if the receiver tells that it hears too few satellites, and the waits between searches double."""
        self.set_schedule(fix_interval_ms=1000 * QUARTER)
        # The first search is cold, and takes up to five times as long. The others begin 15, 45 and 105 minutes after it.
        for refused, expected in ([], 5 * 20 + 3 * 20), ([SATELLITES], 5 * 60 + 3 * 60):
            held, gnss, _ = self.begin(has_sky=False, refused=refused)
            held.run(2 * HOUR)
            self.assertEqual((gnss.starts, gnss.sent), (4, []))
            self.assertAlmostEqual(gnss.seconds, expected, delta=0.02 * expected)

    def test_a_receiver_that_ignores_its_supply(self):
        """The status says so, and the fixes come."""
        self.set_schedule(fix_interval_ms=1000 * QUARTER)
        held, gnss, _ = self.begin(obeys=False)
        held.run(2 * QUARTER)
        wait_until(lambda: len(self.fixes_of(gnss)) == 2, 10, "two fixes")
        self.assertEqual(self.lines("status")[-1]["last_error"], 9)

    def test_a_receiver_that_refuses_to_save_power(self):
        """That is a fault, and the fixes come."""
        self.set_schedule(fix_interval_ms=1000 * QUARTER)
        held, gnss, _ = self.begin(refused=[POWER_MODE])
        held.run(HOUR)
        wait_until(lambda: len(self.fixes_of(gnss)) == 4, 10, "four fixes")
        self.assertEqual(self.lines("status")[-1]["last_error_name"], "gnss_fault")

    def test_a_backup_supply_that_fails(self):
        """Each search takes 35 s, and gives a fix."""
        self.set_schedule(fix_interval_ms=1000 * QUARTER)
        held, gnss, _ = self.begin(keeps_orbits=False, cold=35)
        held.run(HOUR)
        wait_until(lambda: len(self.fixes_of(gnss)) == 4, 10, "four fixes")
        self.assertAlmostEqual(gnss.seconds, 4 * 35, delta=0.02 * 4 * 35)


if __name__ == "__main__":
    unittest.main()
