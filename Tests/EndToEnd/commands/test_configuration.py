"""The options that say how radio sticks are used, and the configuration files that say the same."""

import os
import shutil
import subprocess
import tempfile
import unittest

from end_to_end import BINARY, ROOT, WITH_OWN_ETC, EndToEndTest, can_replace_etc, child_environment, give_to_ordinary_user


class ConfigurationTest(EndToEndTest):
    def setUp(self):
        super().setUp()
        self.home = self.path("home")
        os.makedirs(os.path.join(self.home, ".config/collar-link"))
        for folder, _, _ in os.walk(self.home):
            give_to_ordinary_user(folder)

    def write(self, text, path=None):
        path = path or os.path.join(self.home, ".config/collar-link/config")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def run_briefly(self, *arguments, environment=None):
        """Runs a receiver for a moment at a port that does not exist."""
        program = self.start(
            [BINARY, "-T", "0.1", "--port", self.path("none"), "--state-dir", self.state, *arguments],
            environment=environment or child_environment(HOME=self.home))
        return program.wait(), program

    def assert_accepted(self, *arguments, **options):
        code, program = self.run_briefly(*arguments, **options)
        self.assertEqual(code, 0, program.error_text)

    def assert_refused(self, expected, says, *arguments, **options):
        code, program = self.run_briefly(*arguments, **options)
        self.assertEqual(code, expected, program.error_text)
        self.assertIn(says, program.error_text)

    def test_options(self):
        self.assert_accepted()
        self.assert_accepted(
            "--dialect", "kiss", "--region", "eu868", "--frequency", "868.1", "--bandwidth", "125", "--spreading-factor", "7",
            "--coding-rate", "4/8", "--tx-power", "14")
        self.assert_accepted("--region=US915", "--frequency=910525000", "--bandwidth=62.5", "--spreading-factor=7",
                             "--coding-rate=5")
        self.assert_accepted("--tx-power", "-9", "--region", "EU868")

    def test_wrong_options(self):
        for option, value, wanted in (
                ("--dialect", "lora", "takes serial, kiss, rnode or rui3"),
                ("--region", "Mars", "EU868, EU433, US915"),
                ("--frequency", "868,1", "takes a number of MHz from 137 to 1020, such as 868.1, or a whole number of hertz"),
                ("--frequency", "868.1000001", "takes a number of MHz"),
                ("--bandwidth", "100", "62.5, 125, 250 or 500 kHz"),
                ("--spreading-factor", "13", "takes a whole number from 5 to 12"),
                ("--coding-rate", "4/4", "takes 4/5, 4/6, 4/7 or 4/8"),
                ("--tx-power", "x", "takes a whole number of dBm from -9 to 30")):
            with self.subTest(option=option, value=value):
                self.assert_refused(64, f"`{option}` takes ", option, value)
                self.assert_refused(64, wanted, option, value)
                self.assert_refused(64, f", not '{value}'.", option, value)

    def test_options_that_break_a_rule(self):
        self.assert_refused(64, "`--frequency` breaks a rule of the region: EU868 has no room", "--region", "EU868", "--frequency", "869.3")
        self.assert_refused(64, "`--tx-power` breaks a rule of the region: EU868 allows at most 14 dBm at 868.1 MHz",
                            "--region", "EU868", "--frequency", "868.1", "--tx-power", "15")
        self.assert_refused(64, "`--spreading-factor` breaks a rule of the region: US915 allows 400 ms",
                            "--region", "US915", "--spreading-factor", "12")

    def test_the_users_file(self):
        path = self.write("region = EU868\n\n[stick serial=A1]\nfrequency = 869.3\n")
        self.assert_refused(78, f"{path}, line 4: frequency breaks a rule of the region: EU868 has no room")
        # The command line goes first, and then the stick obeys the rules.
        self.assert_accepted("--frequency", "869.525")
        self.write("region = EU868\nfrequncy = 869.3\n")
        self.assert_refused(78, f"{path}, line 2: there is no key 'frequncy'")
        other = self.path("other")
        self.write("[radio]\n", os.path.join(other, "collar-link/config"))
        self.assert_refused(78, f"{other}/collar-link/config, line 1: '[radio]' is not a section",
                            environment=child_environment(HOME=self.home, XDG_CONFIG_HOME=other))
        # A relative path in the variable does not count.
        self.assert_refused(78, path, environment=child_environment(HOME=self.home, XDG_CONFIG_HOME="other"))

    def test_the_example_of_the_manual(self):
        text = (ROOT / "hardware/README.md").read_text(encoding="utf-8")
        example = text[text.index("# Before the first section"):].split("```")[0]
        self.assertGreater(example.count("="), 10)
        path = self.write(example)
        self.assert_accepted()
        # The example is read to its end.
        self.write(example + "end\n")
        self.assert_refused(78, f"{path}, line {example.count(chr(10)) + 1}: 'end'")

    def test_files_that_cannot_be_read(self):
        path = self.write("region = EU868\n")
        os.chmod(path, 0)
        self.assert_refused(77, f"{path} cannot be opened: Permission denied")
        os.unlink(path)
        self.assert_accepted()
        os.mkdir(path)
        self.assert_refused(78, f"{path} cannot be read: Is a directory")
        os.rmdir(path)
        os.symlink("/dev/zero", path)
        self.assert_refused(78, f"{path}, line 1: the file has more than 65536 bytes")
        os.unlink(path)
        # Somebody else's home.
        os.chmod(os.path.dirname(path), 0)
        self.assert_accepted()
        os.chmod(os.path.dirname(path), 0o755)

    @unittest.skipUnless(can_replace_etc(), "needs user namespaces")
    def test_the_machines_file(self):
        """The machine's file is read, and the user's file overrides it, key by key."""
        script = 'mkdir /etc/collar-link && cat > /etc/collar-link/config && exec "$@"'
        folder = tempfile.mkdtemp(prefix="collar-link-state-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)

        def run(text):
            return subprocess.run(
                [*WITH_OWN_ETC, "sh", "-c", script, "sh", BINARY, "-T", "0.1", "--port", self.path("none"),
                 "--state-dir", os.path.join(folder, "state")],
                input=text.encode(), capture_output=True, timeout=20, check=False, env=child_environment(HOME=self.home))

        self.assertEqual(run("region = EU868\n").returncode, 0)
        result = run("region = EU868\nspreading-factor = 13\n")
        self.assertEqual(result.returncode, 78)
        self.assertIn(b"/etc/collar-link/config, line 2: spreading-factor takes", result.stderr)
        machines = "region = EU868\nfrequency = 869.3\n"
        self.assertIn(b"/etc/collar-link/config, line 2: frequency breaks a rule of the region: EU868", run(machines).stderr)
        self.write("frequency = 868.1\n")
        self.assertEqual(run(machines).returncode, 0)
        path = self.write("tx-power = 20\n")
        self.assertIn(f"{path}, line 1: tx-power breaks a rule of the region: EU868".encode(), run("region = EU868\nfrequency = 868.1\n").stderr)


if __name__ == "__main__":
    unittest.main()
