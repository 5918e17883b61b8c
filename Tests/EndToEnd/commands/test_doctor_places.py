"""The machine, port and directory that `doctor` examines, and the facts that it saves."""

import json
import os
import pathlib
import unittest

from test_doctor import DoctorCase

from end_to_end import BINARY, ROOT, give_to_ordinary_user


class ExaminedTest(DoctorCase):
    def facts(self, *arguments):
        """The facts about the options that `doctor` saves."""
        copy = self.path("copy")
        program = self.start([BINARY, "doctor", "--record", copy, *arguments], environment=self.environment)
        program.wait()
        lines = (pathlib.Path(copy) / "facts").read_text("utf-8").splitlines()
        facts = dict(line.split(" = ", 1) for line in lines if " = " in line and not line.startswith("access"))
        return {key: facts.get(key, "").replace("%0A", "\n")
                for key in ("named-ports", "state-directory", "radio-options", "configuration-files")}

    def test_places_are_whole_paths_wherever_they_were_typed(self):
        found = self.facts("--port", "radio", "--port", "auto", "--port", "tcp://box:4001", "--port", "/dev/radio", "--state-dir", "state",
                           "--tx-power", "5", "--region", "EU868")
        self.assertEqual(found["named-ports"].split("\n"), [self.path("radio"), "auto", "tcp://box:4001", "/dev/radio"])
        self.assertEqual(found["state-directory"], self.state)
        self.assertEqual(sorted(found["radio-options"].split("\n")), ["region EU868", "tx-power 5"])
        self.assertEqual(found["configuration-files"].split("\n"), [f"{self.folder}/.config/collar-link/config", "/etc/collar-link/config"])

    def test_nothing_is_named(self):
        os.mkdir(self.path("states"))
        give_to_ordinary_user(self.path("states"))
        self.environment["XDG_STATE_HOME"] = self.path("states")
        self.environment["XDG_CONFIG_HOME"] = self.path("own")
        found = self.facts()
        self.assertEqual((found["named-ports"], found["radio-options"]), ("", ""))
        self.assertEqual(found["state-directory"], self.path("states/collar-link"))
        self.assertEqual(found["configuration-files"].split("\n")[0], self.path("own/collar-link/config"))


class SavedMachineTest(DoctorCase):
    def examine(self, folder, code):
        program = self.start([BINARY, "doctor", "--machine", folder], environment=self.environment)
        self.assertEqual(program.wait(), code, program.error_text)
        return program.error_text

    def saved(self, name, text):
        folder = pathlib.Path(self.path(name))
        folder.mkdir()
        (folder / "facts").write_text(text, "ascii")
        return str(folder)

    def test_files_that_are_no_machine(self):
        self.assertIn("line 2: this is not 'KEY = VALUE'.", self.examine(self.saved("line", "version = 0.1.0\nnonsense\n"), 65))
        self.assertIn("line 2: the fact cannot have this value.", self.examine(self.saved("value", "version = 0.1.0\ntime = noon\n"), 65))
        folder = self.saved("endless", "")
        (pathlib.Path(folder) / "facts").write_text("base = endless\n", "ascii")
        self.assertIn("is its own base.", self.examine(folder, 65))
        self.assertIn("cannot be read.", self.examine(self.path("missing"), 66))

    def test_the_first_error_gives_the_exit_code_in_both_formats(self):
        """The findings of a machine come in the order of repair, and a warning before an error is none."""
        seen = set()
        for name in ("sound", "autosuspend", "many-faults", "disk-full", "state-denied", "port-missing"):
            folder = str(ROOT / "Tests/Machines" / name)
            with self.subTest(name=name):
                program = self.start([BINARY, "doctor", "-F", "json", "--machine", folder], environment=self.environment)
                code = program.wait()
                *findings, diagnosis = [json.loads(line) for line in program.lines]
                self.assertEqual((diagnosis["type"], diagnosis["exit"]), ("diagnosis", code))
                self.assertEqual(code == 0, not findings)
                self.examine(folder, code)
                seen.add(code)
        self.assertLessEqual({0, 1, 77}, seen)


if __name__ == "__main__":
    unittest.main()
