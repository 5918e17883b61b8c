"""The fuzzing tool: no target finds a bug in the codec, planted bugs are found, and findings can be repeated."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLANTS = os.environ.get("COLLAR_LINK_FUZZ_PLANTED") == "1"
# A manifest with the codec alone, which is all that the fuzzing package needs.
MANIFEST = """\
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "collar-link", products: [.library(name: "CollarWire", targets: ["CollarWire"])],
    targets: [
        .target(
            name: "CollarWire",
            swiftSettings: [.swiftLanguageMode(.v6), .enableExperimentalFeature("Lifetimes")])
    ])
"""


def fuzz(*arguments, root=ROOT, timeout=600):
    environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    return subprocess.run([str(root / "Tools/fuzz"), *arguments], capture_output=True, text=True, timeout=timeout,
                          env=environment)


def rows(output):
    """The table, by target: executions, executions per second, inputs with a correct CRC, decoded inputs, findings."""
    lines = [line.split() for line in output.splitlines()[1:]]
    return {line[0]: [int(number) for number in line[1:]] for line in lines if line[0] not in ("FOUND", "Tools/fuzz")}


class FuzzTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="collar-link-fuzz-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def test_every_target_finds_nothing(self):
        listed = [line.split()[0] for line in fuzz("--list").stdout.splitlines()]
        self.assertGreaterEqual(set(listed), {"stream", "frame", "absolute-fix", "live", "round-trip", "differential"})
        result = fuzz("--executions", "600000", "--findings", str(self.folder / "found"))
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        table = rows(result.stdout)
        total = table.pop("all")
        self.assertEqual(list(table), listed)
        for name, (executions, _, behind_check, decoded, findings) in table.items():
            with self.subTest(target=name):
                self.assertGreater(executions, 500)
                # More than a fifth of the inputs pass the CRC. Some inputs are valid, but not all.
                self.assertGreater(behind_check, executions / 5)
                self.assertTrue(0 < decoded < executions)
                self.assertEqual(findings, 0)
        self.assertEqual(total[0], sum(row[0] for row in table.values()))
        self.assertFalse((self.folder / "found").exists())
        print(f"{total[0]} executions ", end="", flush=True)

    def test_the_same_seed_does_the_same(self):
        counts = []
        for seed in ("7", "7", "8"):
            table = rows(fuzz("--seed", seed, "--executions", "20000", "live", "stream").stdout)
            counts.append([(row[0], row[2:]) for name, row in table.items() if name != "all"])
        self.assertEqual(counts[0], counts[1])
        self.assertNotEqual(counts[0], counts[2])

    def test_a_vector_is_replayed(self):
        result = fuzz("--replay", "Protocol/vectors/valid/absolute-fix-plain.json", "round-trip")
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)

    def test_wrong_command_lines(self):
        for arguments in (["--seconds"], ["--seconds", "x"], ["--seconds", "1", "--executions", "1"], ["nothing"],
                          ["--replay", "Protocol/vectors/valid/absolute-fix-plain.json"], ["--nothing"]):
            with self.subTest(arguments=arguments):
                result = fuzz(*arguments)
                self.assertEqual((result.returncode, result.stdout), (64, ""))
                self.assertNotEqual(result.stderr, "")
        self.assertEqual(fuzz("--replay", "no-such-file").returncode, 70)


@unittest.skipUnless(PLANTS, "compiles the codec with bugs: COLLAR_LINK_FUZZ_PLANTED=1")
class PlantedBugTest(unittest.TestCase):
    """Plants one bug at a time in a copy of the codec; a target that can find it must find it within a minute."""

    @classmethod
    def setUpClass(cls):
        cls.root = pathlib.Path(tempfile.mkdtemp(prefix="collar-link-planted-"))
        cls.addClassCleanup(shutil.rmtree, cls.root, ignore_errors=True)
        for name in ("Sources/CollarWire", "Protocol", "Tools"):
            shutil.copytree(ROOT / name, cls.root / name)
        (cls.root / "Package.swift").write_text(MANIFEST)

    def check(self, target, file, correct, planted, problem):
        path, = (self.root / "Sources/CollarWire").rglob(file)
        source = path.read_text()
        self.assertEqual(source.count(correct), 1, "the place to put the bug into has changed")
        path.write_text(source.replace(correct, planted))
        self.addCleanup(path.write_text, source)
        result = fuzz("--seconds", "60", target, root=self.root)
        self.assertEqual((result.returncode, result.stderr), (1, ""), result.stdout)
        found = [line for line in result.stdout.splitlines() if line.startswith(f"FOUND {target}: ")]
        self.assertRegex(found[0], problem)
        for file in (self.root / ".fuzz-findings").glob(f"{target}-*.json"):
            finding = json.loads(file.read_text())
            self.assertEqual(finding["target"], target)
            self.assertTrue({"meaning", "origin", "input", "seed", "execution"} <= set(finding))
            # After a crash the finding lacks the fields that the crashed process did not report.
            self.assertTrue("crash" in problem or "bare" in finding or "serial" in finding)
            again = subprocess.run(finding["repeat"].split(), capture_output=True, text=True, cwd=self.root)
            self.assertEqual(again.returncode, 1, again.stdout + again.stderr)
            file.unlink()
        path.write_text(source)

    def test_range_decoder_reads_the_check(self):
        self.check("live", "RangeDecoder.swift", "if position < end {", "if position <= end {",
                   "depends on bytes outside")

    def test_range_decoder_reads_out_of_bounds(self):
        self.check("live", "RangeDecoder.swift", "if position < end {", "if true {", "crash")

    def test_stream_decoder_keeps_too_little(self):
        self.check("stream", "StreamDecoder.swift", "if count <= StreamDecoder.longest {",
                   "if count < StreamDecoder.longest {", "events")

    def test_stream_decoder_hangs(self):
        self.check("stream", "StreamDecoder.swift", "codeIndex &+= code\n", "codeIndex &+= code == 77 ? 0 : code\n",
                   "no end after 2 s")

    def test_settings_trap(self):
        check = "reader.require(rest <= UInt32(SettingList.capacity), .entryCount, rest)"
        self.check("settings-order", "Settings.swift", check, f'precondition(rest != 99, "planted")\n        {check}',
                   "crash")

    def test_battery_out_of_range(self):
        self.check("absolute-fix", "FixCodes.swift", "highest = Int64(widening: Fix.maximumBatteryPercent)",
                   "highest = Int64(widening: Fix.maximumBatteryPercent) &+ 1",
                   "out of range")

    def test_acknowledgement_below_the_first_missing(self):
        self.check("round-trip", "RangeCoding.swift", "last > floor ? last &- floor : 0, length",
                   "last, length", "cannot be written")


if __name__ == "__main__":
    unittest.main()
