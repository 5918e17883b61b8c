"""A word that is mistyped: the nearest one is named."""

import os
import pty
import subprocess
import unittest

from end_to_end import BINARY, EndToEndTest, child_environment


class SuggestionTest(EndToEndTest):
    def test_the_nearest_word_is_named(self):
        for arguments, word in (
                (["histroy"], "`history`"), (["--evnts", "fix"], "`--events`"), (["--events", "fix,lnik"], "link"),
                (["history", "-F", "geojsn"], "geojson"), (["--region", "EU86"], "EU868"), (["--dialect", "rnod"], "rnode"),
                (["send", "loacte"], "`locate`"), (["send", "settings", "set", "heartbeet_s=3"], "heartbeat_s"),
                (["send", "message", "1", "--reply-to", "1", "--outcome", "falied"], "failed"),
                (["key", "exchang"], "`exchange`"), (["receiver", "exprot"], "`export`"),
                (["simulate", "--track", "x", "--modem", "lora:SF"], "lora:SF7"),
                (["simulate", "--track", "x", "--modem", "lora:SF7", "--dialect", "kiss", "--stick-fault", "rest@1"], "reset"),
                (["history", "--sort", "sequenec"], "sequence")):
            with self.subTest(arguments=arguments):
                program = self.start([BINARY, *arguments], environment=child_environment(HOME=self.folder))
                self.assertEqual(program.wait(5), 64, program.error_text)
                self.assertIn(f"Did you mean {word}?", program.error_text)

    def test_nothing_is_near(self):
        for arguments in (["frobnicate"], ["--frobnicate"], ["--events", "walk"], ["--region", "Mars"], ["-x"]):
            with self.subTest(arguments=arguments):
                program = self.start([BINARY, *arguments], environment=child_environment(HOME=self.folder))
                self.assertEqual(program.wait(5), 64, program.error_text)
                self.assertNotIn("Did you mean", program.error_text)


class ColourTest(EndToEndTest):
    def at_terminal(self, *arguments, **variables):
        """What a command writes to a terminal that is its stdout and stderr."""
        master, slave = pty.openpty()
        try:
            done = subprocess.run(
                [BINARY, *arguments], stdin=subprocess.DEVNULL, stdout=slave, stderr=slave, timeout=20, check=False,
                env=child_environment(HOME=self.folder, **{"TERM": "xterm", "NO_COLOR": "", **variables}))
            self.assertIn(done.returncode, (0, 64))
            return os.read(master, 65536).decode()
        finally:
            os.close(slave)
            os.close(master)

    def test_colours_at_a_terminal(self):
        self.assertIn("\x1b[1;31mcollar-link:\x1b[0m There is no command", self.at_terminal("frobnicate"))
        self.assertIn("\x1b[1musage:\x1b[0m collar-link", self.at_terminal("decode", "--help"))

    def test_no_colours_where_they_are_not_wanted(self):
        for variables in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": ""}):
            for arguments in (["frobnicate"], ["decode", "--help"]):
                with self.subTest(variables=variables, arguments=arguments):
                    text = self.at_terminal(*arguments, **variables)
                    self.assertIn("collar-link", text)
                    self.assertNotIn("\x1b[1", text)

    def test_no_colours_in_a_pipe(self):
        for arguments in (["frobnicate"], ["decode", "--help"]):
            program = self.start([BINARY, *arguments], environment=child_environment(TERM="xterm"))
            program.wait(5)
            self.assertNotIn("\x1b", program.error_text + "".join(program.lines))


if __name__ == "__main__":
    unittest.main()
