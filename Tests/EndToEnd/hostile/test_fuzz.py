"""The fuzzing tool: no target finds a bug in the codec, planted bugs are found, and findings can be repeated."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PLANTS = os.environ.get("COLLAR_LINK_FUZZ_PLANTED") == "1"
# A manifest with the core alone, which is all that fuzzing needs.
MANIFEST = """\
// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [.swiftLanguageMode(.v6), .enableExperimentalFeature("Lifetimes")]

func module(_ name: String, _ dependencies: Target.Dependency..., path: String? = nil) -> Target {
    .target(name: name, dependencies: dependencies, path: path, swiftSettings: settings)
}

let package = Package(
    name: "collar-link",
    targets: [
        .systemLibrary(name: "CCarrylessMultiply"), module("CollarWire", "CCarrylessMultiply"),
        module("CollarARQ", "CollarWire"), module("CollarFirmware", "CollarWire", "CollarARQ"),
        module("FuzzCore", "CollarWire", "CollarARQ", "CollarFirmware", path: "Tools/fuzzing/FuzzCore"),
        .executableTarget(
            name: "collar-link-fuzz", dependencies: ["FuzzCore", "CollarWire"], path: "Tools/fuzzing/collar-link-fuzz",
            swiftSettings: settings),
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
        self.assertGreaterEqual(set(listed), {"stream", "frame", "absolute-fix", "live", "round-trip", "sealed", "gnss-ubx",
                                               "gnss-nmea", "gnss-receiver", "differential"})
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

    def test_no_forged_frame_opens(self):
        result = fuzz("--executions", "500000", "--findings", str(self.folder / "found"), "sealed")
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        executions, _, behind_header, opened, _ = rows(result.stdout)["sealed"]
        self.assertEqual(executions, 500_000)
        # Nothing but their tag keeps nearly all frames shut. One in 256 is first opened as it was sealed.
        self.assertGreater(behind_header, 0.9 * executions)
        self.assertTrue(0.9 < opened / (executions / 256) < 1.1)

    def test_the_same_seed_does_the_same(self):
        counts = []
        for seed in ("7", "7", "8"):
            table = rows(fuzz("--seed", seed, "--executions", "20000", "live", "stream", "sealed").stdout)
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


@unittest.skipUnless(PLANTS, "compiles the codec with short tags: COLLAR_LINK_FUZZ_PLANTED=1")
class ShortTagTest(unittest.TestCase):
    def test_as_many_random_tags_open_as_must(self):
        for seed in ("1", "2"):
            result = fuzz("--short-tags", "--seed", seed)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            kinds = [line.rsplit(maxsplit=5) for line in result.stdout.splitlines()[1:]]
            self.assertEqual([row[0] for row in kinds], ["collar, 6 bytes", "identity, 8 bytes", "host, 8 bytes"])
            for (_, tries, opened, *_), bits in zip(kinds, (12, 18, 12)):
                expected = int(tries) / 2 ** bits
                self.assertLess(abs(int(opened) - expected), 3 * expected ** 0.5)

    def test_wrong_command_lines(self):
        for arguments in (["live"], ["--seconds", "1"]):
            self.assertEqual(fuzz("--short-tags", *arguments).returncode, 64)


@unittest.skipUnless(PLANTS, "compiles the codec with bugs: COLLAR_LINK_FUZZ_PLANTED=1")
class PlantedBugTest(unittest.TestCase):
    """Plants one bug at a time in a copy of the codec; a target that can find it must find it within a minute."""

    @classmethod
    def setUpClass(cls):
        cls.root = pathlib.Path(tempfile.mkdtemp(prefix="collar-link-planted-"))
        cls.addClassCleanup(shutil.rmtree, cls.root, ignore_errors=True)
        for name in ("Sources/CollarWire", "Sources/CollarARQ", "Sources/CollarFirmware", "Sources/CCarrylessMultiply", "Protocol",
                     "Tools"):
            shutil.copytree(ROOT / name, cls.root / name)
        (cls.root / "Package.swift").write_text(MANIFEST)

    def check(self, target, file, correct, planted, problem):
        path, = (self.root / "Sources").rglob(file)
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
        self.check("live", "RangeCoder.swift", "if position < end {", "if position <= end {",
                   "depends on bytes outside")

    def test_range_decoder_reads_out_of_bounds(self):
        self.check("live", "RangeCoder.swift", "if position < end {", "if true {", "crash")

    def test_stream_decoder_keeps_too_little(self):
        self.check("stream", "FrameStream.swift", "if count <= StreamDecoder.longest {",
                   "if count < StreamDecoder.longest {", "events")

    def test_stream_decoder_hangs(self):
        self.check("stream", "FrameStream.swift", "stuffed[codeIndex] = 0\n            codeIndex &+= code\n",
                   "stuffed[codeIndex] = 0\n            codeIndex &+= code == 77 ? 0 : code\n",
                   "no end after 2 s")

    def test_damaged_bytes_hide_a_message_of_a_receiver(self):
        self.check("gnss-ubx", "UBXParser.swift", "case .noMessage:\n                start &+= 1",
                   "case .noMessage:\n                start &+= 2", "events are not those of the model")

    def test_a_sentence_of_a_receiver_without_its_checksum(self):
        self.check("gnss-nmea", "NMEAParser.swift", "if high &<< 4 | digit == checksum {", "if high &<< 4 == checksum & 0xF0 {",
                   "events of")

    def test_a_deadline_of_a_receiver_that_does_not_end(self):
        self.check("gnss-receiver", "GNSSReceiver.swift", "configuring.deadline = nil\n        if", "if",
                   "does not end|deadlines in|positions")

    def test_settings_trap(self):
        check = "reader.require(rest <= UInt32(SettingList.capacity), .entryCount, rest)"
        self.check("settings-update", "Settings.swift", check, f'precondition(rest != 99, "planted")\n        {check}',
                   "crash")

    def test_battery_out_of_range(self):
        self.check("differential", "FixCodes.swift", "highest = Int32(Fix.maximumBatteryPercent)",
                   "highest = Int32(Fix.maximumBatteryPercent) &+ 1",
                   "accepted as another message")

    def test_acknowledgement_below_the_first_missing(self):
        self.check("round-trip", "Sequences.swift", "last > floor ? last &- floor : 0, length",
                   "last, length", "cannot be written")

    def test_twelve_bits_of_a_tag_compared(self):
        self.check("sealed", "AsconState.swift", "for _ in byteCount..<8 { difference = difference &<< 8 }",
                   "difference = difference &<< 52", "a forged frame opens")

    def test_part_of_a_tag_compared(self):
        self.check("sealed", "SealedFrame.swift", "byteCount: layout.tagByteCount), byteCount: layout.tagByteCount)",
                   "byteCount: layout.tagByteCount), byteCount: layout.tagByteCount &- 1)", "a forged frame opens")

    def test_header_of_a_collar_not_covered(self):
        self.check("sealed", "SealedFrame.swift", "cipher.absorb(bytes, from: 0, to: FrameHeader.byteCount)\n", "\n",
                   "with another header|with flipped bits")

    def test_header_of_a_host_not_covered(self):
        self.check("sealed", "SealedHostFrame.swift", "cipher.absorb(bytes, from: 0, to: FrameHeader.byteCount)\n",
                   "\n", "with another header|with flipped bits")

    def test_log_of_a_host_not_covered(self):
        self.check("sealed", "SealedHostFrame.swift", "cipher.absorb(log.logID.rawValue, byteCount: 4)\n", "\n",
                   "with another log")

    def test_low_byte_of_a_counter_only(self):
        self.check("sealed", "SealedFrame.swift", "number.bootCount, number.counter, 0)",
                   "number.bootCount, number.counter & 0xFF, 0)", "with another number")

    def test_upper_half_of_a_sequence_not_covered(self):
        self.check("sealed", "SealedFrame.swift", "cipher.absorb(sequence &>> 16, byteCount: 2)",
                   "cipher.absorb(sequence &>> 32, byteCount: 2)", "with another upper half of the sequence")

    def test_content_of_an_anchor_not_covered(self):
        self.check("sealed", "SealedFrame.swift", "cipher.absorb(record.written, from: 0, to: record.written.count)",
                   "cipher.absorb(record.written, from: 0, to: 9)", "with another anchor")

    def test_half_of_a_device_id_in_the_keys(self):
        self.check("sealed", "SealingKeys.swift", "UInt32(truncatingIfNeeded: deviceID.rawValue &>> 32)", "0",
                   "with another device id")

    def test_receiver_not_in_the_nonce(self):
        self.check("sealed", "SealedHostFrame.swift", "Words128(receiverID, ", "Words128(0, ", "with another receiver")

    def test_poll_number_lost_when_opened(self):
        self.check("sealed", "SealedFrame.swift", "&= FrameFlags.pollMask |", "&= 3 |",
                   "a frame that is not forged does not open")

    def test_content_left_behind(self):
        self.check("sealed", "SealedHostFrame.swift", "clear.removeAll()\n", "\n", "leaves its content behind")


if __name__ == "__main__":
    unittest.main()
