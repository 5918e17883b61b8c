"""Numbers from outside at their extremes: no border of the program ends the process."""

import subprocess
import unittest

from end_to_end import ROOT, child_environment

BORDERS = {
    "rui3", "kiss", "rnode", "captures", "playback", "state", "readers", "journals", "machines", "options", "configuration", "control",
    "tracks"}


def borders(*arguments):
    return subprocess.run(
        [str(ROOT / "Tools/fuzz"), "borders", *arguments], capture_output=True, text=True, check=False, timeout=1200, env=child_environment())


class BordersTest(unittest.TestCase):
    def test_every_number_at_every_extreme(self):
        done = borders("--extremes")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        lines = [line.split() for line in done.stdout.splitlines() if "extremes" in line]
        self.assertEqual({line[0].rstrip(":") for line in lines}, BORDERS)
        for line in lines:
            self.assertGreater(int(line[1]), 500, line)

    def test_random_runs(self):
        done = borders("--runs", "2000", "--seed", "7", "rui3", "captures", "state", "control")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.count("2000 random runs"), 4)

    def test_usage(self):
        self.assertEqual(borders("nothing").returncode, 64)
        self.assertEqual(borders("--nothing").returncode, 64)


if __name__ == "__main__":
    unittest.main()
