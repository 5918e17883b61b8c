"""Over a bad radio link every fix arrives once, with its exact time and its other values within half a step."""

import json
import os
import time
import unittest
from decimal import Decimal

import jsonschema

import protocol_steps
from end_to_end import ROOT, TRACKS, EndToEndTest

IS_ACCEPTANCE = os.environ.get("COLLAR_LINK_ACCEPTANCE") == "1"
CORPUS = ROOT.parent / "shared" / "corpus"
SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "Protocol/schema/fix.schema.json").read_text()))
# In the second, every fix has every field but the heading. In the third, times are in quarters of a second.
SHIPPED = ["cats_uk/Amber-Tag", "gpsd_rx/sirf2", "gpsd_rx/ublox-neo-m8p", "gpsd_rx/ublox-zed-f9p-hp"]
ACCEPTANCE = ["suunto1hz", "fit1hz", "fisher"]


class DeliveryTest(EndToEndTest):
    def deliver(self, source, seed):
        track, sent = self.unpack(source)
        receiver = self.receive("-q", state=self.path(f"state-{seed}"))
        collar = self.simulate(
            track, "--loss", "0.2", "--corrupt", "0.01", "--speed", "max", "--seed", str(seed), "--until-delivered")
        self.assertEqual(collar.wait(120), 0, collar.error_text)
        self.assertEqual(receiver.stop(), 0)
        # The batteries of these tracks run low again and again.
        said = [line for line in receiver.error_text.splitlines() if "The battery of collar" not in line and "Charge it" not in line]
        self.assertEqual(said, [])
        fixes = receiver.fixes
        self.assert_each_once(fixes, len(sent))
        self.check_values(track, receiver.lines)
        now = time.time() * 1000
        for fix in fixes:
            SCHEMA.validate(fix)
            self.assertTrue(now - 300_000 < fix["rx_unix_ms"] <= now, "received at another time")

    def check_values(self, track, lines):
        with open(track, encoding="utf-8") as file:
            sent = [json.loads(line, parse_float=Decimal) for line in file]
        for line in lines:
            received = json.loads(line, parse_float=Decimal)
            problems = protocol_steps.problems(sent[received["seq"]], received)
            self.assertEqual(problems, [], f"fix {received['seq']}")

    @unittest.skipIf(IS_ACCEPTANCE, "the acceptance uses longer tracks")
    def test_shipped_tracks(self):
        for name in SHIPPED:
            for seed in (1, 2, 3):
                with self.subTest(track=name, seed=seed):
                    self.deliver(TRACKS / f"{name}.ndjson.gz", seed)

    @unittest.skipUnless(IS_ACCEPTANCE, "ten seeds of three long tracks: Tools/test acceptance")
    def test_acceptance(self):
        if not CORPUS.is_dir():
            self.skipTest(f"there is no corpus beside the checkout: {CORPUS}")
        for folder in ACCEPTANCE:
            source = sorted((CORPUS / folder).glob("*.ndjson.gz"))[0]
            for seed in range(1, 11):
                with self.subTest(track=source.name, seed=seed):
                    self.deliver(source, seed)


class StepTest(unittest.TestCase):
    """Tests `problems` itself: it must find wrong values."""

    SENT = {
        "ts_unix_ms": 1000, "source": "iOS", "alt_m": Decimal("10.4"), "h_accuracy_m": Decimal("5.0"),
        "v_accuracy_m": Decimal(-1), "speed_mps": Decimal("1.04"), "course_deg": Decimal("359.5"), "heading_deg": None,
        "battery_pct": Decimal("85.4"), "coordinate": {"latitude": Decimal("1.000004"), "longitude": Decimal("2")},
    }
    RECEIVED = {
        "ts_unix_ms": 1000, "source": "iOS", "alt_m": 10, "h_accuracy_m": Decimal("4.833"), "v_accuracy_m": -1,
        "speed_mps": Decimal("1.0"), "course_deg": 0, "heading_deg": None, "battery_pct": 85,
        "coordinate": {"latitude": 1, "longitude": 2},
    }

    def test_what_is_right_passes(self):
        self.assertEqual(protocol_steps.problems(self.SENT, self.RECEIVED), [])

    def test_what_is_wrong_is_found(self):
        wrong = {
            "ts_unix_ms": 1001, "source": "watchOS", "alt_m": 11, "h_accuracy_m": Decimal("5.268"), "v_accuracy_m": 0,
            "speed_mps": Decimal("1.1"), "course_deg": 2, "heading_deg": 0, "battery_pct": 86,
            "coordinate": {"latitude": Decimal("1.00001"), "longitude": 2},
        }
        for field, value in wrong.items():
            found = protocol_steps.problems(self.SENT, {**self.RECEIVED, field: value})
            self.assertEqual(len(found), 1, f"{field}: {found}")
