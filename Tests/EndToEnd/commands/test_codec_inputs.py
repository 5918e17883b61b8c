"""Inputs of `encode` and `decode`: lines without sequences, several logs, live fixes, and captures."""

import json
import os
import pathlib
import re
import subprocess
import unittest

from end_to_end import BINARY, IS_ROOT, ORDINARY_USER, ROOT, EndToEndTest, child_environment, give_to_ordinary_user

from session_parts import A, B, B_BESIDE_A, Collar

ID_A, ID_B = (f"{each.log.device_id:016x}" for each in (A, B))
CAPTURE = ROOT / "Tests/Captures/rnode-stick.pcapng"
FRAME = re.compile(r"^@\d+ \d+ bytes: ([a-z ]+), address (\d+)$", re.MULTILINE)


def fix(sequence, **more):
    return {"ts_unix_ms": 1_699_401_234_000 + 1000 * sequence, "lat": 37.7749, "lon": -122.4194, "seq": sequence, **more}


class CodecCase(EndToEndTest):
    def call(self, command, *arguments, data=b"", code=0):
        """The output of a command; `self.errors` is what it writes on stderr."""
        done = subprocess.run([BINARY, command, *arguments], input=data, capture_output=True, timeout=20, check=False,
                              env=child_environment(), cwd=self.folder, **ORDINARY_USER)
        self.errors = done.stderr.decode()
        self.assertEqual(done.returncode, code, self.errors)
        return done.stdout

    def encode(self, *lines, arguments=()):
        return self.call("encode", *arguments, data="".join(json.dumps(line) + "\n" for line in lines).encode())

    def decoded(self, data, *arguments, **options):
        """Collar, log and sequence of each line."""
        lines = [json.loads(line) for line in self.call("decode", *arguments, data=data, **options).splitlines()]
        return [(line["collar"], line["log"], line["seq"]) for line in lines]


class LineTest(CodecCase):
    def test_lines_without_a_sequence_are_numbered(self):
        """Blank lines are no fixes, and they count as lines."""
        lines = [b'{"ts_unix_ms":1,"lat":1,"lon":2}\r\n', b"\r\n", b" \t\n", b'{"ts_unix_ms":2,"lat":1,"lon":2}\r\n', b"\n",
                 b'{"ts_unix_ms":3,"lat":1,"lon":2}\n']
        for mode in ("absolute", "live", "batch"):
            frames = self.call("encode", "--mode", mode, data=b"".join(lines))
            self.assertEqual([number for _, _, number in self.decoded(frames)], [0, 1, 2], mode)
        self.call("encode", data=b"".join([*lines, b'{"ts_unix_ms":3,"lat":91,"lon":2}\n']), code=65)
        self.assertIn("stdin: the field lat in line 7 is wrong: 91", self.errors)

    def test_a_line_has_a_limit(self):
        line = json.dumps(fix(5))[:-1].encode() + b',"more":"%s"}'
        self.assertEqual(len(self.decoded(self.call("encode", data=line % (b"x" * 1_000_000)))), 1)
        self.assertEqual(self.call("encode", data=line % (b"x" * 1_100_000), code=65), b"")

    @unittest.skipUnless(IS_ROOT, "only root can close a file to the ordinary user")
    def test_files_that_cannot_be_read(self):
        pathlib.Path(self.path("closed")).touch(0o600)
        os.mkdir(self.path("folder"))
        give_to_ordinary_user(self.path("folder"))
        for command in ("encode", "decode"):
            for name, code in (("missing", 66), ("closed", 77), ("folder", 66)):
                with self.subTest(command=command, name=name):
                    self.assertEqual(self.call(command, name, code=code), b"")
                    self.assertIn(f"{name} cannot be ", self.errors)


class FrameTest(CodecCase):
    def kinds(self, frames):
        return [kind for kind, _ in FRAME.findall(self.call("decode", "-F", "text", data=frames).decode())]

    def test_how_far_back_a_live_fix_can_refer(self):
        """Where it cannot, or where sequences fall, the fix is written whole. Nothing is lost either way."""
        whole, live = "absolute fix", "live fix"
        for lag, sequences, kinds in (
                (1, (0, 127, 254), [whole, live, live]), (1, (0, 128, 129), [whole, whole, live]), (1, (5, 4, 6), [whole, whole, live]),
                (1, (7, 7), [whole, whole]), (2, (0, 1, 2, 3), [whole, whole, live, live]), (2, (0, 100, 128), [whole, whole, whole]),
                (127, (*range(0, 127), 127), [whole] * 127 + [live]), (1, (70_000, 5, 70_001), [whole] * 3)):
            with self.subTest(lag=lag, sequences=sequences[:4]):
                frames = self.encode(*map(fix, sequences), arguments=("--mode", "live", "--anchor-lag", str(lag)))
                self.assertEqual(self.kinds(frames), ["identity", *kinds])
                self.assertEqual([number for _, _, number in self.decoded(frames)], list(sequences))

    def test_names_of_the_collar_are_in_every_frame(self):
        names = ("--device", ID_A.upper(), "--log-id", "67108863", "--address", "254")
        for mode in ("absolute", "live", "batch"):
            with self.subTest(mode=mode):
                frames = self.encode(fix(3), fix(4), arguments=("--mode", mode, *names))
                text = self.call("decode", "-F", "text", data=frames).decode()
                self.assertEqual({address for _, address in FRAME.findall(text)}, {"254"})
                self.assertEqual(self.decoded(frames), [(ID_A, 67_108_863, 3), (ID_A, 67_108_863, 4)])

    def test_counts_are_of_the_fixes(self):
        """The identity is no part of them."""
        for arguments, frames, wire, serial in (((), 2, 42, 48), (("--mode", "live"), 2, 29, 35),
                                                 (("--mode", "live", "--bare"), 2, 29, 35)):
            with self.subTest(arguments=arguments):
                self.encode(fix(0), fix(1), arguments=("--stats", *arguments))
                self.assertEqual(json.loads(self.errors), {"fixes": 2, "frames": frames, "wire_bytes": wire, "serial_bytes": serial})


class LogTest(CodecCase):
    def test_collars_at_one_address(self):
        """Each frame belongs to the log that its check is for, in whatever order the collars send."""
        serial = A.identity(following=3) + B_BESIDE_A.identity(following=9)
        for sequence in (3, 4):
            serial += A.fix(sequence) + B_BESIDE_A.fix(sequence + 6)
        serial += A.live(5, 4) + B_BESIDE_A.batch([11, 12]) + B_BESIDE_A.live(13, 12) + A.batch([6, 7])
        self.assertEqual([(collar, sequence) for collar, _, sequence in self.decoded(serial)], [
            (ID_A, 3), (ID_B, 9), (ID_A, 4), (ID_B, 10), (ID_A, 5), (ID_B, 11), (ID_B, 12), (ID_B, 13), (ID_A, 6), (ID_A, 7)])
        self.assertEqual(self.errors, "")

    def test_the_sixteen_logs_that_were_named_last_are_kept_at_an_address(self):
        collars = [Collar(0x2000 + number, 7 + number, 17) for number in range(17)]
        serial = b"".join(each.identity() for each in collars) + b"".join(each.fix(0) for each in collars)
        self.assertEqual(self.decoded(serial), [(f"{0x2000 + number:016x}", 7 + number, 0) for number in range(1, 17)])
        self.assertEqual(self.errors, "collar-link: skipped: 1 with a wrong CRC\n")
        # A log that is named again is the newest.
        serial = b"".join(each.identity() for each in (*collars[:16], collars[0], collars[16])) + b"".join(each.fix(0) for each in collars)
        self.assertEqual([log for _, log, _ in self.decoded(serial)], [7, *range(9, 24)])
        # Another address has places of its own.
        elsewhere = collars[:16] + [B]
        serial = b"".join(each.identity() for each in elsewhere) + b"".join(each.fix(0) for each in elsewhere)
        self.assertEqual(len(self.decoded(serial)), 17)

    def test_a_named_log_is_looked_for_at_every_address(self):
        names = ("--device", ID_A, "--log-id", str(A.log.log_id))
        moved = Collar(*A.log, 201)
        serial = A.fix(5) + moved.fix(6) + B.identity(following=8) + B.fix(8) + moved.live(7, 6)
        # Also where another log has its name at the address.
        beside = B_BESIDE_A.identity(following=9) + B_BESIDE_A.fix(9) + A.fix(8)
        of_a, of_b = ((name, each.log.log_id) for name, each in ((ID_A, A), (ID_B, B)))
        self.assertEqual(self.decoded(serial + beside, *names), [(*of_a, 5), (*of_a, 6), (*of_b, 8), (*of_a, 7), (*of_b, 9), (*of_a, 8)])
        self.assertEqual(self.decoded(serial), [(*of_b, 8)])
        self.assertIn("skipped: 3 without an identity before it", self.errors)

    def test_one_of_the_two_names_of_a_log_is_enough(self):
        """The other one is that of `encode`."""
        for name, value in (("--device", ID_A), ("--log-id", "77")):
            frames = self.encode(fix(42), arguments=(name, value))
            bare = frames[frames.index(b"\0", 1) + 1:]
            with self.subTest(name=name):
                collar, log = (ID_A, 1) if name == "--device" else ("c0114a0000000001", 77)
                self.assertEqual(self.decoded(bare, name, value), [(collar, log, 42)])
        self.assertEqual(self.decoded(bare, "--log-id", "78", code=65), [])

    def test_a_probe_tells_how_far_a_log_is(self):
        """A short sequence is completed near the end that the last identity or probe has named."""
        serial = A.identity(following=1) + A.fix(0) + A.probe(200_000) + A.fix(199_999)
        self.assertEqual([sequence for _, _, sequence in self.decoded(serial)], [0, 199_999])
        self.assertEqual(self.errors, "")


class CaptureTest(CodecCase):
    def setUp(self):
        super().setUp()
        self.capture = CAPTURE.read_bytes()

    def test_a_capture_needs_no_form(self):
        self.assertEqual(self.call("decode", "--bare", data=self.capture), self.call("decode", data=self.capture))

    def test_an_end_inside_a_record(self):
        """The part that a power cut has left is decoded; damage is an error."""
        whole = self.decoded(self.capture)
        self.assertEqual(self.decoded(self.capture[:-3]), whole)
        self.assertIn("the capture ends inside a block", self.errors)
        place = len(self.capture) - 44
        damaged = self.capture[:place + 4] + (7).to_bytes(4, "little") + self.capture[place + 8:]
        self.assertEqual(self.decoded(damaged, code=65), whole)
        self.assertIn(f"damaged, byte {place}", self.errors.replace("stdin,", "damaged,"))

    def test_captures_without_a_frame(self):
        self.call("decode", data=self.capture[:220])
        self.assertIn("There is nothing to decode in stdin: nothing came in at a port.", self.errors)
        # Here the stick has answered, and no collar was heard.
        self.call("decode", data=self.capture[:2628], code=65)
        self.assertIn("There is no valid frame in the 96 bytes.", self.errors)
        self.assertNotIn("--bare", self.errors)


if __name__ == "__main__":
    unittest.main()
