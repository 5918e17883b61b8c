"""The bytes in Protocol/MINIMAL.md are those of a fix with the values that the page names."""

import json
import re
import subprocess
import unittest

from end_to_end import BINARY, ROOT, EndToEndTest

PAGE = (ROOT / "Protocol/MINIMAL.md").read_text(encoding="utf-8")
LOG = ["--device", "0123456789abcdef", "--log-id", str(0x2ABCDEF)]
KEY = "5d1f7a42c09be8362af5914dd37c06b8"


def frame(after):
    """The bytes of the first table after a text."""
    table = PAGE[PAGE.index(after):].split("\n\n")[1]
    return bytes.fromhex("".join(re.findall(r"(?m)^\| `([0-9a-f ]+)`", table)))


class MinimalPageTest(EndToEndTest):
    def decoded(self, bare, *options):
        path = self.path("frame")
        with open(path, "wb") as file:
            file.write(len(bare).to_bytes(2, "big") + bare)
        shown = subprocess.run(
            [BINARY, "decode", path, "--bare", *LOG, *options], capture_output=True, text=True, check=True)
        return json.loads(shown.stdout)

    def assert_is_the_fix(self, line):
        self.assertEqual(
            [line[key] for key in ("seq", "ts_unix_ms", "coordinate", "alt_m", "h_accuracy_m", "v_accuracy_m", "speed_mps", "course_deg",
                                   "heading_deg", "battery_pct", "source")],
            [4660, 1700000000000, {"latitude": 48.23456, "longitude": 16.3721}, 171, 0.726, 1.446, 1.4, 134, 142, 83, "collar"])

    def test_the_frame_in_clear(self):
        bare = frame("It has 27 bytes:")
        self.assertEqual(len(bare), 27)
        self.assert_is_the_fix(self.decoded(bare))
        self.assertNotIn(0, bare)

    def test_the_sealed_frame(self):
        bare = frame("**The same fix, sealed**")
        self.assertEqual(len(bare), 31)
        vector = json.loads((ROOT / "Protocol/vectors/sealed/absolute-fix-poll.json").read_text(encoding="utf-8"))
        self.assertEqual((vector["bare"], vector["clear"], vector["key"]), (bare.hex(), frame("It has 27 bytes:").hex(), KEY))
        self.assertEqual((vector["boot_count"], vector["counter"]), (12, 1337))


if __name__ == "__main__":
    unittest.main()
