"""Help: every command explains itself, at 80 columns, and a mistyped name leads to the right one."""

import os
import re
import subprocess
import unittest

from end_to_end import BINARY, ROOT, EndToEndTest

import frames

WIDTH = 80
# A command in the list of commands.
COMMAND = re.compile(r"^  ([a-z]+)  +\S", re.M)
# An option: its names and its value, then its description, which begins on this line or the next.
OPTION = re.compile(r"^  (-\S.*?)(?:  +(\S.*))?$")
EXIT_CODE = re.compile(r"^  (\d{1,2}) {2,3}\S")
# A form of the synopsis. The name of `run` is optional.
SYNOPSIS = re.compile(r"^(?:usage:|      ) collar-link (\[run\]|[a-z]+)", re.M)


class HelpTest(EndToEndTest):
    def printed(self, *arguments, code=0):
        program = self.start([BINARY, *arguments])
        self.assertEqual(program.wait(5), code, program.error_text)
        return "".join(program.lines), program.error_text

    def commands(self):
        text, errors = self.printed("help")
        self.assertEqual(errors, "")
        found = COMMAND.findall(text)
        self.assertGreaterEqual(len(found), 18)
        return found

    def sections(self, text):
        """The indented lines under each heading."""
        sections, lines = {}, []
        for line in text.splitlines():
            if line and not line.startswith(" "):
                lines = sections.setdefault(line.rstrip(":"), []) if line.endswith(":") else []
            elif line:
                lines.append(line)
        return sections

    def assert_fits(self, text):
        for line in text.splitlines():
            self.assertLessEqual(len(line), WIDTH, line)
            self.assertEqual(line, line.rstrip(), "spaces at the end of a line")

    def test_both_ways_to_ask_give_the_same(self):
        for command in self.commands():
            with self.subTest(command=command):
                text = self.printed(command, "--help")
                self.assertEqual(text, self.printed("help", command))
                self.assertEqual(text, self.printed(command, "-h"))
                self.assertEqual(text[1], "")

    def test_it_fits_a_terminal(self):
        self.assert_fits(self.printed("help")[0])
        for command in self.commands():
            with self.subTest(command=command):
                self.assert_fits(self.printed(command, "--help")[0])

    def test_each_has_a_synopsis_of_its_own(self):
        for command in self.commands():
            with self.subTest(command=command):
                names = SYNOPSIS.findall(self.printed(command, "--help")[0])
                self.assertEqual({name.strip("[]") for name in names}, {command})

    def test_exit_codes_are_a_table(self):
        for command in self.commands():
            with self.subTest(command=command):
                text, _ = self.printed(command, "--help")
                self.assertIn("\nexit codes:\n", text)
                codes = [int(match[1]) for match in map(EXIT_CODE.match, text.split("\nexit codes:\n")[1].splitlines()) if match]
                self.assertEqual(codes, sorted(set(codes)))
                self.assertEqual(codes[0], 0)
                self.assertIn(64, codes)

    def test_each_option_is_described(self):
        for command in self.commands():
            with self.subTest(command=command):
                lines = self.sections(self.printed(command, "--help")[0])["options"]
                options = [(index, OPTION.match(line)) for index, line in enumerate(lines) if line.startswith("  -")]
                self.assertGreaterEqual(len(options), 1)
                for index, match in options:
                    description = match[2] or lines[index + 1].strip()
                    self.assertFalse(description.startswith("-"), match[0])
                    self.assertGreaterEqual(len(description.split()), 3, match[0])
                named = {name for _, match in options for name in re.findall(r"-{1,2}[a-zA-Z][a-z-]*", match[1])}
                self.assertIn("--help", named)
                self.assertEqual(self.printed(command, "--help")[0].count("\noptions:\n"), 1)

    def test_commands_have_examples(self):
        for command in set(self.commands()) - {"version"}:
            with self.subTest(command=command):
                text, _ = self.printed(command, "--help")
                self.assertRegex(text, r"\nexamples:\n  (sudo )?collar-link ")

    def test_help_of_nothing(self):
        text, errors = self.printed("help", "nonsense", code=64)
        self.assertEqual(text, "")
        self.assertIn("There is no command 'nonsense'.", errors)
        self.assertNotIn("Did you mean", errors)
        for mistyped, word in (("histroy", "history"), ("devcies", "devices"), ("simulat", "simulate"), ("recevier", "receiver")):
            with self.subTest(mistyped=mistyped):
                text, errors = self.printed("help", mistyped, code=64)
                self.assertEqual(text, "")
                self.assertIn(f"Did you mean `{word}`?", errors)


class VersionTest(EndToEndTest):
    def printed(self, *arguments, code=0):
        program = self.start([BINARY, *arguments])
        self.assertEqual(program.wait(5), code, program.error_text)
        return "".join(program.lines)

    def test_three_ways_to_ask_give_the_same(self):
        text = self.printed("version")
        self.assertEqual(self.printed("--version"), text)
        self.assertEqual(self.printed("-V"), text)

    def test_what_it_says(self):
        program, protocol, dialects = self.printed("version").splitlines()
        self.assertRegex(program, r"^collar-link \d+\.\d+\.\d+( \(commit [0-9a-f]{9,40}\+?\))?$")
        self.assertEqual(protocol, f"protocol version {frames.VERSION}")
        self.assertEqual(dialects, "dialects: serial, kiss, rnode, rui3")

    @unittest.skipUnless(os.path.exists(ROOT / ".git"), "not a checkout")
    def test_the_commit_is_one_of_this_checkout(self):
        """A build of `Tools/lib/build.sh` in a checkout. A plus sign says that files were changed."""
        commit = re.search(r"\(commit ([0-9a-f]+)\+?\)$", self.printed("version").splitlines()[0])
        self.assertTrue(commit, "no commit")
        # The checkout may belong to another user than the one who runs the tests.
        found = subprocess.run(["git", "-c", f"safe.directory={ROOT}", "-C", str(ROOT), "cat-file", "-t", commit[1]], capture_output=True,
                               text=True, timeout=20, check=False)
        self.assertEqual(found.stdout, "commit\n", found.stderr)

    def test_the_tool_is_asked_and_no_command(self):
        self.assertEqual(self.printed("version", "more", code=64), "")
        self.assertEqual(self.printed("history", "--version", code=64), "")


if __name__ == "__main__":
    unittest.main()
