"""The commands encode and decode: sizes, rounding to half a step, forms, and invalid input."""

import fcntl
import gzip
import json
import math
import os
import pty
import re
import struct
import subprocess
import termios
import unittest
from decimal import Decimal

import jsonschema

import protocol_steps
from end_to_end import BINARY, ROOT, TRACKS, child_environment, wait_until

from session_parts import Collar

SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "Protocol/schema/fix.schema.json").read_text()))
IS_ACCEPTANCE = os.environ.get("COLLAR_LINK_ACCEPTANCE") == "1"
CORPUS = ROOT.parent / "shared" / "corpus"
# The most bytes per fix, live and in batches, with header and CRC.
LIVE_LIMITS = {"cats_uk": 12.9, "gpsd_rx": 9.2, "fit1hz": 8.6, "suunto1hz": 9.5, "hadza5s": 8.3, "fisher": 14.4}
BATCH_LIMITS = {"cats_uk": 5.8, "gpsd_rx": 1.65, "fit1hz": 1.2, "suunto1hz": 1.8, "hadza5s": 0.9, "fisher": 7.6}
# The sets of tracks beside the checkout.
OTHER_SETS = ("fit1hz", "suunto1hz", "hadza5s", "fisher")
FULL = {
    "ts_unix_ms": 1699401234000, "source": "collar", "coordinate": {"latitude": 37.7749, "longitude": -122.4194},
    "alt_m": 10, "h_accuracy_m": 5, "v_accuracy_m": 10, "speed_mps": 0.5, "course_deg": 180, "heading_deg": 90,
    "battery_pct": 85, "seq": 42}


def run(command, *arguments, data=b""):
    return subprocess.run(
        [BINARY, command, *arguments], input=data, capture_output=True, env=child_environment(), timeout=300)


def waiting_bytes(pipe):
    """How many bytes are in a pipe."""
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]


def statistics(result):
    return json.loads(result.stderr.splitlines()[-1])


class TrackTest(unittest.TestCase):
    def check_round_trip(self, data, encoded, *decode_arguments):
        decoded = run("decode", *decode_arguments, data=encoded)
        self.assertEqual((decoded.returncode, decoded.stderr), (0, b""))
        sent = [json.loads(line, parse_float=Decimal) for line in data.splitlines()]
        received = [json.loads(line, parse_float=Decimal) for line in decoded.stdout.splitlines()]
        self.assertEqual(len(received), len(sent))
        for before, after in zip(sent, received):
            self.assertEqual(after["seq"], before["seq"])
            self.assertEqual(protocol_steps.problems(before, after), [], f"fix {before['seq']}")
        SCHEMA.validate(json.loads(decoded.stdout.splitlines()[0]))

    def check_set(self, folder):
        sizes = {1: 0, 16: 0}
        fixes = 0
        for path in sorted(folder.glob("*.ndjson.gz")):
            with self.subTest(track=path.name):
                data = gzip.decompress(path.read_bytes())
                for lag in sizes:
                    result = run("encode", "--mode", "live", "--anchor-lag", str(lag), "--stats", data=data)
                    sizes[lag] += statistics(result)["wire_bytes"]
                    if lag == 1:
                        fixes += statistics(result)["fixes"]
                        self.check_round_trip(data, result.stdout)
        print(f"{folder.name}: live {sizes[1] / fixes:.2f} bytes a fix, 16 back {sizes[16] / fixes:.2f} ", end="")
        self.assertLessEqual(sizes[1] / fixes, LIVE_LIMITS[folder.name])

    def check_batches(self, folder):
        size = fixes = 0
        for path in sorted(folder.glob("*.ndjson.gz")):
            with self.subTest(track=path.name):
                data = gzip.decompress(path.read_bytes())
                result = run("encode", "--mode", "batch", "--stats", data=data)
                size += statistics(result)["wire_bytes"]
                fixes += statistics(result)["fixes"]
                self.check_round_trip(data, result.stdout)
        print(f"{folder.name}: batch {size / fixes:.3f} bytes a fix ", end="")
        self.assertLessEqual(size / fixes, BATCH_LIMITS[folder.name])

    def test_live_cats(self):
        self.check_set(TRACKS / "cats_uk")

    def test_live_receivers(self):
        self.check_set(TRACKS / "gpsd_rx")

    def check_generated(self, seconds, speed, limit):
        """A track in a straight line: a fix every `seconds` seconds, at a speed in metres per second on course 60."""
        lines = []
        for index in range(300):
            way = speed * seconds * index / 111_195
            latitude = 47 + way * math.cos(math.radians(60))
            lines.append(json.dumps({**FULL, "ts_unix_ms": 1_700_000_000_000 + round(1000 * seconds * index), "seq": index,
                "coordinate": {"latitude": latitude, "longitude": 8 + way * math.sin(math.radians(60)) / math.cos(math.radians(latitude))},
                "speed_mps": speed, "course_deg": 60 if speed else -1, "heading_deg": None}))
        data = "\n".join(lines).encode() + b"\n"
        result = run("encode", "--mode", "live", "--stats", data=data)
        self.check_round_trip(data, result.stdout)
        # The first fix has no anchor.
        self.assertLessEqual((statistics(result)["wire_bytes"] - 28) / 299, limit, (seconds, speed))

    def test_live_fixes_of_a_straight_flight(self):
        self.check_generated(1, 20, 8.2)
        self.check_generated(10, 20, 9.4)

    def test_live_fixes_of_a_collar_that_lies_still(self):
        """At usual intervals a still collar costs a byte more than an empty frame, or two from two hours on."""
        for seconds in (0.1, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 180, 300, 600, 900, 1800, 3600):
            self.check_generated(seconds, 0, 8)
        for seconds in (7200, 14_400, 21_600, 43_200, 86_400):
            self.check_generated(seconds, 0, 9)

    def test_batches_of_cats(self):
        self.check_batches(TRACKS / "cats_uk")

    def test_batches_of_receivers(self):
        self.check_batches(TRACKS / "gpsd_rx")

    @unittest.skipUnless(IS_ACCEPTANCE and CORPUS.is_dir(), "all sets of the corpus: Tools/test acceptance")
    def test_live_corpus(self):
        for name in OTHER_SETS:
            self.check_set(CORPUS / name)

    @unittest.skipUnless(IS_ACCEPTANCE and CORPUS.is_dir(), "all sets of the corpus: Tools/test acceptance")
    def test_batches_of_the_corpus(self):
        for name in OTHER_SETS:
            self.check_batches(CORPUS / name)

    def test_batches_at_every_limit(self):
        data = gzip.decompress((TRACKS / "cats_uk/Amber-Tag.ndjson.gz").read_bytes())
        cases = [("--max-frame", "51"), ("--max-frame", "120", "--batch", "9"), ("--precision", "7"), ("--bare",),
                 ("--batch", "1")]
        for options in cases:
            with self.subTest(options=options):
                result = run("encode", "--mode", "batch", "--stats", *options, data=data)
                self.check_round_trip(data, result.stdout, *(("--bare",) if "--bare" in options else ()))
                counts = statistics(result)
                self.assertEqual(counts["fixes"], len(data.splitlines()))
                if "51" in options:
                    self.assertLessEqual(counts["wire_bytes"], 51 * counts["frames"])
                if "--batch" in options:
                    most = int(options[options.index("--batch") + 1])
                    self.assertGreaterEqual(counts["frames"] * most, counts["fixes"])

    def test_absolute_forms(self):
        data = gzip.decompress((TRACKS / "gpsd_rx/sirf2.ndjson.gz").read_bytes())
        for options in ((), ("--bare",)):
            with self.subTest(options=options):
                self.check_round_trip(data, run("encode", *options, data=data).stdout, *options)

    def test_own_output_is_input(self):
        data = gzip.decompress((TRACKS / "cats_uk/Amber-Tag.ndjson.gz").read_bytes())
        first = run("decode", data=run("encode", data=data).stdout).stdout
        again = run("decode", data=run("encode", data=first).stdout).stdout
        self.assertEqual(first, again)


class FrameTest(unittest.TestCase):
    def encode(self, *lines, arguments=()):
        data = "".join(json.dumps(line) + "\n" for line in lines).encode()
        return run("encode", "--stats", *arguments, data=data)

    def test_sizes(self):
        later = dict(FULL, ts_unix_ms=1699401234567)
        self.assertEqual(statistics(self.encode(FULL))["wire_bytes"], 27)
        self.assertEqual(statistics(self.encode(later))["wire_bytes"], 29)
        # A delimiter on either side and a byte of stuffing.
        self.assertEqual(statistics(self.encode(FULL))["serial_bytes"], 30)

    def test_precision(self):
        fix = dict(FULL, coordinate={"latitude": 1.23456789, "longitude": -1.23456789})
        for digits, latitude in ((5, 1.23457), (6, 1.234568), (7, 1.2345679)):
            decoded = run("decode", data=self.encode(fix, arguments=("--precision", str(digits))).stdout)
            self.assertEqual(json.loads(decoded.stdout)["coordinate"], {"latitude": latitude, "longitude": -latitude})

    def test_both_flavours(self):
        compact = {key: value for key, value in FULL.items() if key != "coordinate"}
        compact.update(lat=37.7749, lon=-122.4194)
        self.assertEqual(self.encode(compact).stdout, self.encode(FULL).stdout)
        line = json.loads(run("decode", "--flavour", "compact", data=self.encode(FULL).stdout).stdout)
        self.assertEqual((line["lat"], line["lon"], "id" in line), (37.7749, -122.4194, False))

    def test_a_bad_line(self):
        result = self.encode(FULL, dict(FULL, seq=43, battery_pct=101))
        self.assertEqual(result.returncode, 65)
        self.assertIn(b"the field battery_pct in line 2 is wrong: 101", result.stderr)
        self.assertEqual(len(run("decode", data=result.stdout).stdout.splitlines()), 1, "the line before is written")

    def test_a_last_line_without_an_end(self):
        data = "\n".join(json.dumps(dict(FULL, seq=sequence)) for sequence in (42, 43)).encode()
        frames = run("encode", data=data).stdout
        self.assertEqual([json.loads(line)["seq"] for line in run("decode", data=frames).stdout.splitlines()], [42, 43])

    def test_a_byte_order_mark_is_skipped(self):
        line = json.dumps(FULL).encode()
        self.assertEqual(run("encode", data=b"\xef\xbb\xbf" + line).stdout, run("encode", data=line).stdout)
        self.assertEqual(run("encode", data=line + b"\n\xef\xbb\xbf" + line).returncode, 65)

    def test_wrong_kinds_of_files(self):
        """What a file is, and the command that helps."""
        line = json.dumps(FULL)
        pcapng = bytes.fromhex("0a0d0d0a1c0000004d3c2b1a01000000ffffffffffffffff1c000000")
        for data, kind, helps in (
                (gzip.compress(line.encode()), "compressed", "zcat FILE | collar-link encode > frames.bin"),
                (line.encode("utf-16"), "UTF-16", "iconv -f UTF-16 -t UTF-8 FILE | collar-link encode"),
                (line.encode("utf-16-le"), "UTF-16", "iconv"), (line.encode("utf-16-be"), "UTF-16", "iconv"),
                (json.dumps(FULL, indent=2).encode(), "JSON over several lines", "jq -c . FILE | collar-link encode"),
                (json.dumps([FULL]).encode(), "an array of JSON", "jq -c '.[]' FILE | collar-link encode"),
                (b'<?xml version="1.0"?>\n<gpx>', "GPX", '"ts_unix_ms"'),
                (b"$GPGGA,101030.00,5010.0,N,00506.0,W,1,8,1,70,M,47,M,,*69\r\n", "NMEA", '"ts_unix_ms"'),
                (b"time,lat,lon\n2026-01-01,1,2\n", "CSV", '"ts_unix_ms"'), (pcapng, "a capture", "collar-link decode FILE | collar-link encode > frames.bin")):
            with self.subTest(kind=kind):
                result = run("encode", data=data)
                self.assertEqual((result.returncode, result.stderr.count(b"\n")), (65, 2))
                self.assertIn(kind, result.stderr.decode())
                self.assertIn(helps, result.stderr.decode())
        result = run("encode", data=b'{"seq":}\n' + gzip.compress(b""))
        self.assertIn(b"line 1 is not JSON", result.stderr)
        for data, kind, helps in ((gzip.compress(line.encode()), "compressed", "zcat FILE | collar-link decode"),
                                  (line.encode(), "lines of JSON", "collar-link encode FILE")):
            result = run("decode", data=data)
            self.assertEqual(result.returncode, 65)
            self.assertIn(kind, result.stderr.decode())
            self.assertIn(helps, result.stderr.decode())

    def test_binary_is_not_for_a_terminal(self):
        terminal, stdout = pty.openpty()
        self.addCleanup(os.close, terminal)
        result = subprocess.run([BINARY, "encode"], input=b"", stdout=stdout, stderr=subprocess.PIPE, timeout=20, check=False)
        os.close(stdout)
        self.assertEqual(result.returncode, 64)
        self.assertIn(b"The output is a terminal, and frames are binary.", result.stderr)

    def test_a_capture_without_identity(self):
        frames = self.encode(FULL, arguments=("--device", "0123456789abcdef", "--log-id", "77")).stdout
        fix = frames[frames.index(b"\0", 1) + 1:]
        unknown = run("decode", data=fix)
        self.assertEqual(unknown.stdout, b"")
        # Without the log the CRC cannot be verified.
        self.assertIn(b"skipped: 1 without an identity before it\n", unknown.stderr)
        line = json.loads(run("decode", "--device", "0123456789abcdef", "--log-id", "77", data=fix).stdout)
        self.assertEqual((line["collar"], line["log"], line["seq"]), ("0123456789abcdef", 77, 42))

    def test_a_short_sequence_without_identity_is_unverified(self):
        vector = json.loads((ROOT / "Protocol/vectors/valid/absolute-fix-short-far-below-the-end.json").read_text())
        log = ("--device", vector["device_id"], "--log-id", str(vector["log_id"]))
        sequence = vector["decoded"]["sequence"]
        self.assertGreater(sequence, 65535)
        frame = bytes.fromhex(vector["serial"])
        text = run("decode", "-F", "text", *log, data=frame)
        self.assertIn(f"    sequence: {sequence} (unverified)\n", text.stdout.decode())
        self.assertIn(b"1 unverified sequence comes from the CRC alone, ", text.stderr)
        line = run("decode", *log, data=frame)
        self.assertIn(f"{sequence:08x}", json.loads(line.stdout)["id"])
        self.assertIn(b"1 unverified sequence comes from the CRC alone, ", line.stderr)

    def test_noise_is_skipped_and_counted(self):
        frames = self.encode(FULL, dict(FULL, seq=43)).stdout
        noisy = b"\x07noise\0" + frames[:-10] + b"\xff" + frames[-9:] + b"\0\x03\0"
        result = run("decode", data=noisy)
        self.assertEqual([json.loads(line)["seq"] for line in result.stdout.splitlines()], [42])
        self.assertEqual(result.stderr, b"collar-link: skipped: 1 with a wrong CRC, 2 with broken stuffing\n")
        unknown = json.loads((ROOT / "Protocol/vectors/invalid/unknown-type-0.json").read_text())
        text = run("decode", "-F", "text", data=noisy + bytes.fromhex(unknown["serial"]))
        self.assertEqual(re.findall(r"^@\d+ skipped: (.+)$", text.stdout.decode(), re.MULTILINE),
                         ["with broken stuffing", "with a wrong CRC", "with broken stuffing", "of unknown type (0)"])

    def test_many_identities_cost_little(self):
        """Frames that fit none of many logs: the time is not the product of both counts."""
        count = 40_000
        data = b"\0" + b"".join(Collar(0x2000 + number, 7, 17).identity() for number in range(count))
        result = subprocess.run(
            [BINARY, "decode"], input=data + count * Collar(0x1111, 5, 17).fix(3), capture_output=True, check=True,
            env=child_environment(), timeout=15)
        self.assertIn(f"skipped: {count} with a wrong CRC", result.stderr.decode())

    def test_nothing_but_noise(self):
        """decode ends with 65 if its input has no valid frame, in every form. Empty input is no error."""
        fix = self.encode(FULL, arguments=("--device", "0123456789abcdef", "--log-id", "77")).stdout[-30:]
        for arguments, data in (((), b"noise"), ((), b"\x07noise\0" * 99), ((), bytes(9)), ((), fix), (("-F", "text"), b"noise\0"),
                                (("--bare",), b"\0\5noise")):
            with self.subTest(arguments=arguments, data=data[:9]):
                result = run("decode", *arguments, data=data)
                self.assertEqual(result.returncode, 65)
                self.assertIn(f"There is no valid frame in the {len(data)} bytes.", result.stderr.decode())
        self.assertEqual(run("decode").returncode, 0)

    def test_text_shows_every_field_and_where(self):
        text = run("decode", "-F", "text", data=self.encode(FULL).stdout).stdout.decode()
        self.assertRegex(text, r"(?m)^@\d+ 43 bytes: identity, address 1$")
        self.assertRegex(text, r"(?m)^@\d+ 27 bytes: absolute fix, address 1$")
        for line in ("time: 2023-11-07T23:53:54.000Z", "latitude: 37.77490°", "longitude: -122.41940°", "altitude: 10 m",
                     "speed: 0.5 m/s", "course: 180°", "heading: 90°", "battery: 85 %", "sequence: 42"):
            self.assertIn(f"    {line}\n", text)

    def test_places_are_counted_over_all_of_a_large_input(self):
        serial = self.encode(*[dict(FULL, seq=sequence) for sequence in range(4000)]).stdout
        text = run("decode", "-F", "text", data=serial).stdout.decode()
        places = [int(place) for place in re.findall(r"^@(\d+) \d+ bytes: ", text, re.MULTILINE)]
        # There is a zero before each frame and one after it.
        zeros = [index for index, byte in enumerate(serial) if byte == 0]
        self.assertEqual(places, zeros[::2])

    def test_places_of_bare_frames_are_counted_over_all_reads(self):
        """A frame may come in two reads, and its place is that of its first byte all the same."""
        bare = self.encode(*[dict(FULL, seq=sequence) for sequence in range(4)], arguments=("--bare",)).stdout
        places, start = [], 0
        while start < len(bare):
            places.append(start + 2)
            start += 2 + int.from_bytes(bare[start:start + 2], "big")
        self.assertGreater(len(places), 4)
        cuts = [places[1] + 5, places[3] - 1, len(bare) - 3]
        decoder = subprocess.Popen([BINARY, "decode", "--bare", "-F", "text"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=child_environment())
        for begin, end in zip([0, *cuts], [*cuts, len(bare)]):
            decoder.stdin.write(bare[begin:end])
            decoder.stdin.flush()
            # The next bytes come in a read of their own.
            wait_until(lambda: waiting_bytes(decoder.stdin) == 0, 10, "decode reads all that came")
        text = decoder.communicate(timeout=20)[0].decode()
        self.assertEqual([int(place) for place in re.findall(r"^@(\d+) \d+ bytes: ", text, re.MULTILINE)], places)
        cut = run("decode", "--bare", data=bare[:-3])
        self.assertEqual(cut.returncode, 65)
        self.assertIn(f"The input ends inside a frame, at byte {places[-1] - 2}.", cut.stderr.decode())

    def test_a_capture_is_recognised_in_pieces(self):
        capture = (ROOT / "Tests/Captures/rnode-stick.pcapng").read_bytes()
        decoder = subprocess.Popen([BINARY, "decode"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=child_environment())
        decoder.stdin.write(capture[:2])
        decoder.stdin.flush()
        wait_until(lambda: waiting_bytes(decoder.stdin) == 0, 10, "decode reads the first bytes")
        output, _ = decoder.communicate(capture[2:], timeout=20)
        whole = run("decode", data=capture)
        self.assertEqual((output, decoder.returncode), (whole.stdout, whole.returncode))
        self.assertGreater(output.count(b"\n"), 1)

    def test_text_shows_every_fix_of_a_batch(self):
        frames = self.encode(FULL, dict(FULL, seq=43, battery_pct=84), arguments=("--mode", "batch"))
        self.assertEqual(statistics(frames)["frames"], 1)
        text = run("decode", "-F", "text", data=frames.stdout).stdout.decode()
        self.assertRegex(text, r"(?m)^@\d+ \d+ bytes: batch, address 1$")
        for line in ("fixes: 2", "first fix: byte 4, 181 bits", "other fixes: from byte 26, bit 5",
                     "fix 1, sequence: 42", "fix 1, battery: 85 %", "fix 2, sequence: 43", "fix 2, battery: 84 %"):
            self.assertIn(f"    {line}\n", text)

    def test_a_batch_ends(self):
        """A batch ends before a fix whose sequence does not rise, or that has another position step and another source, and at the
        given count."""
        def frames(*lines, batch="64"):
            return statistics(self.encode(*lines, arguments=("--mode", "batch", "--batch", batch)))["frames"]

        later = [dict(FULL, seq=sequence) for sequence in range(42, 52)]
        self.assertEqual(frames(*later), 1)
        self.assertEqual(frames(*later, batch="3"), 4)
        finer = [dict(fix, h_accuracy_m=0.5) for fix in later[3:]]
        self.assertEqual(frames(*later[:3], *finer), 1)
        self.assertEqual(frames(*later[:3], *[dict(fix, source="iOS") for fix in finer]), 2)
        self.assertEqual(frames(*later[:3], *later[2:]), 2)

    def test_a_bad_line_behind_a_batch(self):
        result = self.encode(
            FULL, dict(FULL, seq=43), dict(FULL, seq=44, battery_pct=101), arguments=("--mode", "batch"))
        self.assertEqual(result.returncode, 65)
        self.assertEqual(len(run("decode", data=result.stdout).stdout.splitlines()), 2, "the lines before are written")

    def test_a_cut_bare_capture(self):
        bare = self.encode(FULL, arguments=("--bare",)).stdout
        result = run("decode", "--bare", data=bare[:-1])
        self.assertEqual(result.returncode, 65)
        self.assertIn(b"ends inside a frame", result.stderr)


if __name__ == "__main__":
    unittest.main()
