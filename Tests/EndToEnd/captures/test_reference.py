"""The Swift codec and the independent decoder agree on random frames, in both directions."""

import json
import os
import random
import subprocess
import sys
import unittest

from end_to_end import BINARY, ROOT, child_environment

REFERENCE = ROOT / "Protocol/reference/collarlink.py"
COUNT = int(os.environ.get("COLLAR_LINK_CROSS_CHECK", "2000"))
DEVICE, LOG = "c0114a0000000001", 1
# The names of a fix's codes in the reference.
FIELDS = ("sequence", "time", "source", "position_step", "latitude", "longitude", "altitude", "horizontal_accuracy",
          "vertical_accuracy", "speed", "course", "heading", "battery")


def reference(*arguments, data=""):
    return subprocess.run([sys.executable, str(REFERENCE), *arguments], input=data, capture_output=True, text=True,
                          env=child_environment(), timeout=600, check=True).stdout.splitlines()


def tool(*arguments, data=b""):
    return subprocess.run([BINARY, *arguments], input=data, capture_output=True, env=child_environment(), timeout=600)


def random_tracks(seed, count, accuracies=(3, 12, 0.5, 0.05, 5000)):
    """Fixes with the keys of JSON lines: a walk with jumps, unknown values, and values at the ends of their ranges."""
    chance = random.Random(seed)
    time, latitude, longitude, altitude = 1_700_000_000_000, 0.0, 0.0, 0.0
    for sequence in range(count):
        time += chance.choice((1000, 1000, 5000, 60_000, 180_000, 0, -1000, 250, 1, chance.randrange(-10**10, 10**10)))
        if chance.random() < 0.02:
            latitude, longitude = chance.choice(((90, 180), (-90, -180), (0, 0), (89.99999, 179.99999)))
        latitude = min(90, max(-90, latitude + chance.gauss(0, 0.0003)))
        longitude = min(180, max(-180, longitude + chance.gauss(0, 0.0003)))
        altitude = chance.choice((altitude, altitude + chance.gauss(0, 5), 8_000_000, -8_000_000, 0))
        maybe = lambda value, unknown: unknown if chance.random() < 0.1 else value
        yield {
            "ts_unix_ms": time, "source": chance.choice(("collar", "collar", "collar", "watchOS", "iOS")),
            "coordinate": {"latitude": round(latitude, 7), "longitude": round(longitude, 7)},
            "alt_m": maybe(round(altitude), None), "h_accuracy_m": maybe(chance.choice(accuracies), -1),
            "v_accuracy_m": maybe(round(chance.uniform(0, 40), 2), -1),
            "speed_mps": maybe(chance.choice((0, 0.4, 1.3, 60, 100_000)), -1),
            "course_deg": maybe(round(chance.uniform(0, 359.9), 1), -1),
            "heading_deg": maybe(round(chance.uniform(0, 359.9), 1), None),
            "battery_pct": maybe(chance.randrange(101), -1), "seq": sequence}


def bare_frames(data):
    frames = []
    while data:
        count = int.from_bytes(data[:2], "big")
        frames.append(data[2:2 + count])
        data = data[2 + count:]
    return frames


@unittest.skipUnless(REFERENCE.exists(), "needs the independent decoder")
class CrossCheckTest(unittest.TestCase):
    def check(self, mode):
        lines = [json.dumps(fix) for fix in random_tracks(7, COUNT)]
        encoded = tool("encode", "--mode", mode, "--bare", data="\n".join(lines).encode())
        self.assertEqual((encoded.returncode, encoded.stderr), (0, b""))
        frames = bare_frames(encoded.stdout)[1:]
        self.assertEqual(len(frames), COUNT)
        known = {}
        reference_fixes = []
        # The absolute form of every fix gives the anchors.
        absolute = bare_frames(tool("encode", "--bare", data="\n".join(lines).encode()).stdout)[1:]
        asked = [json.dumps({"bare": frame.hex(), "reference": index}) for index, frame in enumerate(absolute)]
        for line in reference("decode-lines", "--device", DEVICE, "--log", str(LOG), data="\n".join(asked)):
            fix = json.loads(line)
            fix = fix.get("decoded", fix)
            known[fix["sequence"]] = {key: fix[key] for key in fix}
        asked = [json.dumps({"bare": frame.hex(), "anchor": known.get(index - 1), "reference": max(0, index - 1)})
                 for index, frame in enumerate(frames)]
        for line in reference("decode-lines", "--device", DEVICE, "--log", str(LOG), data="\n".join(asked)):
            fix = json.loads(line)
            reference_fixes.append(fix.get("decoded", fix))
        for index, fix in enumerate(reference_fixes):
            self.assertEqual([fix.get(field) for field in FIELDS], [known[index][field] for field in FIELDS], index)
        # The other direction: the reference encodes these codes to the same bytes as the tool.
        asked = []
        for index, (frame, fix) in enumerate(zip(frames, reference_fixes)):
            wanted = dict(fix, reference=max(0, index - 1))
            if frame[0] & 0x1F == 3:
                wanted["anchor"] = known[index - 1]
            else:
                wanted["type"] = 2
            asked.append(json.dumps(wanted))
        written = reference(
            "encode", "--device", DEVICE, "--log", str(LOG), "--address", "1", data="\n".join(asked))
        self.assertEqual(written, [frame.hex() for frame in frames])
        # The tool decodes the frames of the reference.
        bare = b"".join(len(frame).to_bytes(2, "big") + frame for frame in map(bytes.fromhex, written))
        decoded = tool("decode", "--bare", "--device", DEVICE, "--log-id", str(LOG), data=bare)
        self.assertEqual(decoded.stderr, b"")
        self.assertEqual([json.loads(line)["seq"] for line in decoded.stdout.splitlines()], list(range(COUNT)))
        print(f"{COUNT} {mode} frames in both directions ", end="", flush=True)

    def check_batches(self, most, limit, count):
        # A fix with a finer position step ends a batch, so such fixes are rare.
        track = random_tracks(11, count, 30 * (3, 12, 5000) + (0.5, 0.05))
        lines = "\n".join(map(json.dumps, track)).encode()
        known = [json.loads(line) for line in self.decoded(bare_frames(tool("encode", "--bare", data=lines).stdout)[1:])]
        encoded = tool("encode", "--mode", "batch", "--batch", str(most), "--max-frame", str(limit), "--bare", data=lines)
        self.assertEqual((encoded.returncode, encoded.stderr), (0, b""))
        frames = bare_frames(encoded.stdout)[1:]
        self.assertEqual({frame[0] for frame in frames}, {0x24})
        fixes = [fix for line in self.decoded(frames) for fix in json.loads(line)["fixes"]]
        self.assertEqual(fixes, [{key: value for key, value in fix.items() if key not in ("name", "type")} for fix in known])
        # The other direction: the reference packs the same fixes into the same frames.
        asked = json.dumps({"type": 4, "fixes": fixes, "most": most, "limit": limit})
        written = reference("encode", "--device", DEVICE, "--log", str(LOG), "--address", "1", data=asked)
        self.assertEqual(written, [frame.hex() for frame in frames])
        # The tool decodes the batches of the reference to the same lines as absolute fixes.
        self.assertEqual(self.read_by_tool(written), self.read_by_tool(self.written_absolute(known)))
        print(f"{count} fixes in {len(frames)} batches of {most}, {limit} bytes ", end="", flush=True)

    def decoded(self, frames):
        """The output of the reference for frames of a log. The sequence of each frame is completed around its index."""
        asked = (json.dumps({"bare": frame.hex(), "reference": index}) for index, frame in enumerate(frames))
        return reference("decode-lines", "--device", DEVICE, "--log", str(LOG), data="\n".join(asked))

    def written_absolute(self, fixes):
        asked = (json.dumps({**fix, "wide": True}) for fix in fixes)
        return reference("encode", "--device", DEVICE, "--log", str(LOG), "--address", "1", data="\n".join(asked))

    def read_by_tool(self, written):
        bare = b"".join(len(frame).to_bytes(2, "big") + frame for frame in map(bytes.fromhex, written))
        decoded = tool("decode", "--bare", "--device", DEVICE, "--log-id", str(LOG), data=bare)
        self.assertEqual(decoded.stderr, b"")
        fixes = [json.loads(line) for line in decoded.stdout.splitlines()]
        for fix in fixes:
            fix.pop("rx_unix_ms", None)
        return fixes

    @unittest.skipUnless(b"--batch" in tool("encode", "--help").stdout, "the program writes no batches")
    def test_batches(self):
        self.check_batches(64, 253, COUNT)
        self.check_batches(64, 51, COUNT // 5)
        self.check_batches(7, 253, COUNT // 5)

    def test_absolute(self):
        self.check("absolute")

    def test_live(self):
        self.check("live")


if __name__ == "__main__":
    unittest.main()
