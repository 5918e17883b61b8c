"""`simulate --days`: what a battery lasts, computed in virtual time."""

import pathlib
import subprocess
import unittest

from end_to_end import BINARY, ORDINARY_USER, EndToEndTest, child_environment

ROOT = pathlib.Path(__file__).resolve().parents[3]


class DaysTest(EndToEndTest):
    def call(self, *arguments, code=0):
        done = subprocess.run([BINARY, "simulate", "--days", *arguments], capture_output=True, text=True, timeout=60, check=False,
                              env=child_environment(), cwd=self.folder, **ORDINARY_USER)
        self.assertEqual(done.returncode, code, f"{arguments}: {done.stderr}")
        return done.stdout if code == 0 else done.stderr

    def values(self, *arguments):
        """The first number of each row of the table, by the row's label; the rows of the last part have other labels."""
        rows = {}
        for line in self.call(*arguments).splitlines():
            if len(line) > 18 and not line.endswith(":"):
                rows.setdefault(line[:18].strip(), line[18:].split()[0])
        return rows

    def test_a_table_of_a_day(self):
        rows = self.values("2", "--settings", "fix_interval_ms=900000,heartbeat_s=300", "--stats")
        self.assertEqual((rows["fixes"], rows["probes"], rows["GNSS off"]), ("96", "192", "0"))
        self.assertAlmostEqual(float(rows["GNSS on"]) + float(rows["GNSS backup"]), 86_400, delta=1)
        parts = ("GNSS", "fixes on air", "probes", "reports on air", "processor", "sleep", "self-discharge")
        self.assertTrue(all(part in rows for part in parts), rows)
        self.assertAlmostEqual(float(rows["days"]), 400 / float(rows["sum"]), delta=0.1)

    def test_the_short_form(self):
        rows = self.values("1", "--settings", "fix_interval_ms=3600000,heartbeat_s=300")
        self.assertEqual(sorted(rows), ["days", "find within", "fixes a day", "within 10 min"])
        self.assertLessEqual(float(rows["find within"]), 302)
        double = self.values("1", "--settings", "fix_interval_ms=3600000,heartbeat_s=300", "--capacity", "1000")
        self.assertGreater(float(double["days"]), 1.4 * float(rows["days"]))

    def test_files(self):
        self.write("sky", "00:00 roof rest\n12:00 open\n")
        settings = "fix_interval_ms=180000,rest_fix_interval_ms=3600000"
        self.assertEqual(self.values("1", "--settings", settings, "--sky", "sky")["fixes a day"], "240")
        table = (ROOT / "hardware/power/currents.txt").read_text()
        self.write("currents", table.replace("gnss_search          12.2 ", "gnss_search          122 "))
        usual, high = (self.values("1", "--settings", settings, *more) for more in ((), ("--currents", "currents")))
        self.assertLess(float(high["days"]), float(usual["days"]) / 5)

    def test_the_surroundings_of_a_stored_animal(self):
        # A cat whose fixes came all at once, when the collar was in reach again.
        path, fixes = self.track("cats_uk/Athena")
        self.simulate(path, "--speed", "max", "--until-delivered")
        receiver = self.receive("-n", str(len(fixes)))
        self.assertEqual(receiver.wait(30), 0)
        collar = receiver.fixes[0]["collar"]
        settings = "fix_interval_ms=900000,out_of_reach_s=300"
        rows = self.values("2", "--like", collar, "--state-dir", self.state, "--settings", settings)
        self.assertGreater(float(rows["out of reach"]), 23)
        self.assertEqual(rows["within 10 min"], "0")
        self.assertIn("Nothing of collar", self.call(
            "1", "--like", "0123456789abcdef", "--state-dir", self.state, "--settings", settings, code=66))
        self.assertIn("exclude each other", self.call("1", "--like", collar, "--loss", "0.1", code=64))

    def test_what_is_refused(self):
        self.write("sky", "00:00 roof\nnoon open\n")
        self.assertIn("line 2 begins with 'noon'", self.call("1", "--sky", "sky", code=65))
        self.assertIn("has a wrong line", self.call("1", "--currents", "sky", code=65))
        self.assertIn("cannot be opened", self.call("1", "--sky", "missing", code=66))
        for words, says in (
                (("0",), "`--days` takes "), (("1", "--track", "x"), "`--days` and `--track` exclude each other"),
                (("1", "--battery", "50"), "`--days` and `--battery` exclude each other"), (("1", "--modem", "ble"), "lora:SF7"),
                (("1", "--settings", "heartbeat=3"), "There is no setting"), (("1", "--settings", "heartbeat_s"), "is not KEY=VALUE"),
                (("1", "--settings", "heartbeat_s=1"), "takes a whole number from 5"), (("1", "--time-to-fix", "8"), "takes OPEN/TREES/COLD")):
            self.assertIn(says, self.call(*words, code=64))
        done = subprocess.run([BINARY, "simulate", "--walk", "1/1/1", "--capacity", "3"], capture_output=True, text=True, timeout=20,
                              check=False, env=child_environment(), cwd=self.folder, **ORDINARY_USER)
        self.assertEqual(done.returncode, 64)
        self.assertIn("`--capacity` goes with `--days`", done.stderr)

    def write(self, name, text):
        path = pathlib.Path(self.folder) / name
        path.write_text(text)
        path.chmod(0o644)


if __name__ == "__main__":
    unittest.main()
