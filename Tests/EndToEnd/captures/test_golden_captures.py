"""Every capture in Tests/Captures gives the lines that it must give. A capture that a user sends becomes a test by being copied there.

The fixes are compared with those of the independent decoder. A file NAME.lines beside NAME.pcapng has the lines with fix, message
and gap, to the byte. `python3 test_golden_captures.py NAME` prints the present ones, to be read before they are kept.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from end_to_end import BINARY, ROOT, child_environment
import recordings

CAPTURES = sorted((ROOT / "Tests/Captures").glob("*.pcapng"))
EVENTS = "fix,message,gap"


def play(capture, *arguments):
    with tempfile.TemporaryDirectory(prefix="collar-link-home-") as home:
        return subprocess.run(
            [BINARY, "--read", str(capture), *arguments], capture_output=True, check=False, timeout=120,
            env=child_environment(HOME=home))


class GoldenCaptureTest(unittest.TestCase):
    def test_there_are_captures(self):
        self.assertGreaterEqual(len(CAPTURES), 3)

    def test_fixes_of_the_independent_decoder(self):
        for capture in CAPTURES:
            with self.subTest(capture=capture.name):
                expected = recordings.listen(recordings.records(capture.read_bytes()))
                played = play(capture)
                self.assertEqual(played.returncode, 0, played.stderr)
                lines = [json.loads(line) for line in played.stdout.splitlines()]
                self.assertEqual(recordings.values_of_lines(lines), expected)
                self.assertEqual(len(lines), len(expected), "a fix is there twice")
                self.assertGreater(len(expected), 0, "a capture without a fix proves nothing")

    def test_times_are_those_of_the_records(self):
        for capture in CAPTURES:
            with self.subTest(capture=capture.name):
                times = [record.unix_ms for record in recordings.records(capture.read_bytes())]
                received = [json.loads(line)["rx_unix_ms"] for line in play(capture).stdout.splitlines()]
                self.assertGreaterEqual(min(received), times[0])
                self.assertLessEqual(max(received), times[-1])

    def test_lines_to_the_byte(self):
        kept = [capture for capture in CAPTURES if capture.with_suffix(".lines").exists()]
        self.assertGreater(len(kept), 0)
        for capture in kept:
            with self.subTest(capture=capture.name):
                played = play(capture, "--events", EVENTS)
                self.assertEqual(played.stdout.decode(), capture.with_suffix(".lines").read_text())

    def test_decode_shows_the_same_fixes(self):
        for capture in CAPTURES:
            with self.subTest(capture=capture.name):
                done = subprocess.run([BINARY, "decode", str(capture)], capture_output=True, check=False, timeout=120)
                self.assertEqual(done.returncode, 0, done.stderr)
                lines = [json.loads(line) for line in done.stdout.splitlines()]
                expected = recordings.listen(recordings.records(capture.read_bytes()))
                self.assertEqual(recordings.values_of_lines(lines), expected)
                times = {record.unix_ms for record in recordings.records(capture.read_bytes()) if record.event == recordings.READ}
                self.assertLessEqual({line["rx_unix_ms"] for line in lines}, times)


if __name__ == "__main__":
    if len(sys.argv) == 2 and re.fullmatch(r"[\w-]+", sys.argv[1]):
        sys.stdout.buffer.write(play(pathlib.Path(ROOT / f"Tests/Captures/{sys.argv[1]}.pcapng"), "--events", EVENTS).stdout)
    else:
        unittest.main()
