"""The generator of a GNSS receiver's bytes: gpsd, an independent reader, finds the fixes of the track in them again."""

import json
import math
import os
import shutil
import subprocess
import time
import unittest

import gnss_bytes
from end_to_end import ROOT, wait_until
from gnss_bytes import FakeReceiver, NAV_PVT, ReceiverAtLine, ubx
from readers import ENVIRONMENT, milliseconds
from serial_line import SerialLine

TRACKS = sorted((ROOT / "Tests/Tracks/gpsd_rx").glob("*.gz"))
# gpsd moves dates that lie too far in the past by 1024 weeks.
ROLLOVER_MS = 1024 * 7 * 86_400_000
KEY_OF_INTERVAL = bytes.fromhex("01002130")


def with_gpsdecode(data):
    """The positions that gpsd's decoder finds, by their times."""
    result = subprocess.run(["gpsdecode"], input=data, capture_output=True, timeout=60, env=ENVIRONMENT, check=True)
    reports = map(json.loads, result.stdout.splitlines())
    return {milliseconds(report["time"]): report for report in reports if report["class"] == "TPV" and "lat" in report}


@unittest.skipUnless(shutil.which("gpsdecode"), "needs gpsdecode, from gpsd-clients")
class WithGPSD(unittest.TestCase):
    def compare(self, make, accuracies):
        compared = 0
        for path in TRACKS:
            fixes = gnss_bytes.track(path)[:300]
            found = with_gpsdecode(b"".join(map(make, fixes)))
            for fix in fixes:
                moment = round(fix["ts_unix_ms"])
                report = found.get(moment) or found.get(moment + ROLLOVER_MS)
                if report is None and fix is fixes[0]:
                    # gpsd reports no position of NMEA before it has seen a whole moment.
                    continue
                for key, expected in (("lat", fix["coordinate"]["latitude"]), ("lon", fix["coordinate"]["longitude"])):
                    self.assertAlmostEqual(report[key], expected, delta=6e-8, msg=(path.name, fix))
                if fix["alt_m"] is not None:
                    self.assertAlmostEqual(report["altMSL"], fix["alt_m"], 2)
                if fix["speed_mps"] >= 0:
                    self.assertAlmostEqual(report["speed"], fix["speed_mps"], 2)
                if fix["course_deg"] >= 0:
                    self.assertAlmostEqual(report["track"], fix["course_deg"], 1)
                for key, name in (("eph", "h_accuracy_m"), ("epv", "v_accuracy_m")):
                    if accuracies and fix[name] > 0 and fix["alt_m"] is not None:
                        self.assertAlmostEqual(report[key], fix[name], 2)
                compared += 1
        self.assertGreater(compared, 850)

    def test_ubx(self):
        self.compare(gnss_bytes.nav_pvt, accuracies=True)

    def test_nmea(self):
        # gpsd takes the accuracies of a position from its own estimates instead of GST.
        self.compare(gnss_bytes.nmea, accuracies=False)

    def test_accuracies_of_nmea(self):
        fix = gnss_bytes.track(ROOT / "Tests/Tracks/gpsd_rx/sirf2.ndjson.gz")[0]
        result = subprocess.run(["gpsdecode"], input=gnss_bytes.nmea(fix), capture_output=True, timeout=60, env=ENVIRONMENT, check=True)
        report = next(one for one in map(json.loads, result.stdout.splitlines()) if one["class"] == "GST")
        self.assertAlmostEqual(math.hypot(report["lat"], report["lon"]), fix["h_accuracy_m"], 2)
        self.assertAlmostEqual(report["alt"], fix["v_accuracy_m"], 3)


class FakeReceiverTest(unittest.TestCase):
    """It accepts and refuses as the receivers of its generation."""

    fix = {"ts_unix_ms": 1_700_000_000_000, "coordinate": {"latitude": -1.5, "longitude": 2.5}, "alt_m": 3}

    def setUp(self):
        self.values = bytes((0, 1, 0, 0)) + KEY_OF_INTERVAL + bytes((0x88, 0x13)) + bytes.fromhex("0700912001 0200741000")

    def test_values_by_keys(self):
        for generation in (9, 10):
            receiver = FakeReceiver(generation)
            self.assertTrue(receiver.bytes_of(self.fix).startswith(b"$GNRMC,221320.000,A,0130.0000000,S,00230.0000000,E,"))
            message = ubx((6, 0x8A), self.values)
            # Byte for byte, with noise before it.
            self.assertEqual(receiver.receive(b"\xb5" + message[:7]), b"")
            self.assertEqual(receiver.receive(message[7:]), bytes.fromhex("b5620501 0200 068a 98c1"))
            self.assertEqual((receiver.interval_ms, receiver.pvt, receiver.nmea), (5000, 1, 0))
            self.assertEqual(receiver.bytes_of(self.fix | {"ts_unix_ms": self.fix["ts_unix_ms"] + 1000}), b"")
            self.assertEqual(receiver.bytes_of(self.fix | {"ts_unix_ms": self.fix["ts_unix_ms"] + 5000})[2:4], bytes(NAV_PVT))

    def test_old_messages(self):
        receiver = FakeReceiver(8)
        self.assertEqual(receiver.receive(ubx((6, 0x8A), self.values)), bytes.fromhex("b5620500 0200 068a 97bc"))
        self.assertEqual(receiver.receive(ubx((6, 8), bytes.fromhex("e80301000000"))), bytes.fromhex("b5620501 0200 0608 163f"))
        self.assertEqual(FakeReceiver(10).receive(ubx((6, 8), bytes.fromhex("e80301000000"))), bytes.fromhex("b5620500 0200 0608 153a"))

    def test_a_wrong_checksum_and_an_unknown_key(self):
        receiver = FakeReceiver()
        message = ubx((6, 0x8A), self.values)
        self.assertEqual(receiver.receive(message[:-1] + b"\0"), b"")
        unknown = ubx((6, 0x8A), self.values + bytes.fromhex("9999991001"))
        self.assertEqual(receiver.receive(unknown), bytes.fromhex("b5620500 0200 068a 97bc"))
        self.assertEqual(receiver.interval_ms, 1000)

    def test_the_state_of_the_antenna(self):
        """It is said once for as many positions as it was asked for, by the message of the generation."""
        for generation, request, message in (
                (10, ubx((6, 0x8A), bytes.fromhex("00010000 5a03912002")), "b5620a38 1c00"),
                (8, ubx((6, 1), bytes.fromhex("0a0902")), "b5620a09 3c00")):
            receiver = FakeReceiver(generation)
            receiver.antenna = 4
            receiver.receive(request)
            said = [receiver.bytes_of(self.fix | {"ts_unix_ms": self.fix["ts_unix_ms"] + 1000 * number}) for number in range(4)]
            self.assertEqual([bytes.fromhex(message) in each for each in said], [True, False, True, False])
            payload = said[0].partition(bytes.fromhex(message))[2]
            self.assertEqual(payload[6 if generation > 8 else 20], 4)
            self.assertEqual(len(payload) - 2, 28 if generation > 8 else 60)

    def test_the_satellites(self):
        """They are told once for as many positions as it was asked for, by a message that all generations have."""
        for generation, request in ((10, ubx((6, 0x8A), bytes.fromhex("00010000 1600912002"))), (8, ubx((6, 1), bytes.fromhex("013502")))):
            receiver = FakeReceiver(generation)
            receiver.densities = [40, 0, 7]
            receiver.receive(request)
            said = [receiver.bytes_of(self.fix | {"ts_unix_ms": self.fix["ts_unix_ms"] + 1000 * number}) for number in range(4)]
            message = bytes.fromhex("b5620135 2c00")
            self.assertEqual([message in each for each in said], [True, False, True, False])
            payload = said[0].partition(message)[2][:-2]
            self.assertEqual((len(payload), payload[4], payload[5], payload[10::12]), (44, 1, 3, bytes((40, 0, 7))))

    def test_off_and_on(self):
        receiver = FakeReceiver()
        receiver.receive(ubx((6, 0x8A), self.values))
        receiver.receive(ubx((2, 0x41), bytes(16)))
        self.assertEqual(receiver.bytes_of(self.fix), b"")
        self.assertEqual(receiver.receive(ubx((6, 0x8A), self.values)), b"")
        self.assertEqual((receiver.is_off, receiver.restarts, receiver.interval_ms), (False, 1, 1000))

    def test_at_a_line(self):
        """It answers between the fixes, and sends them at the pace of the track."""
        line = SerialLine(ordinary=False)
        self.addCleanup(line.close)
        fixes = [self.fix | {"ts_unix_ms": self.fix["ts_unix_ms"] + 1000 * number} for number in range(4)]
        player = ReceiverAtLine(line.master, fixes, speed=10)
        player.start()
        self.addCleanup(player.close)
        received = b""
        begin = time.monotonic()
        while received.count(ubx(NAV_PVT)[:4]) < 1 and time.monotonic() < begin + 10:
            received += os.read(line.slave, 4096)
            if player.receiver.interval_ms == 1000:
                os.write(line.slave, ubx((6, 0x8A), self.values.replace(b"\x88\x13", b"\xd0\x07")))
        self.assertTrue(received.startswith(b"$GNRMC,221320.000,A,"))
        self.assertIn(ubx((5, 1), b"\x06\x8a"), received)
        wait_until(lambda: len(player.sent) == 2, 5, "two of four fixes at an interval of two seconds")


if __name__ == "__main__":
    unittest.main()
