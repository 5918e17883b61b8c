"""Remedies can be carried out: every command and option that a message names exists."""

import re
import subprocess
import unittest

from collarlink import BINARY, ROOT, EndToEndTest

MESSAGES = ROOT / "Sources/CollarReceiver/Messages/English"
# English words that follow the name of the program in messages and are no commands.
WORDS = {"that", "until", "with", "as", "where"}
# Options of other programs.
OF_OTHER_PROGRAMS = {
    "--reload", "--subsystem-match", "--action", "--device", "--device-cgroup-rule", "--network", "--net", "--wsl", "--busid", "--now",
    "--auto-tune",
}


class RemedyTest(EndToEndTest):
    def help_of(self, command):
        result = subprocess.run([BINARY, command, "--help"], capture_output=True, text=True, check=False)
        return result.stdout if result.returncode == 0 else None

    def test_commands_and_options_exist(self):
        text = "".join(path.read_text() for path in sorted(MESSAGES.glob("*.swift")))
        text = re.sub(r'"\s*\n\s*\+ "', "", text)
        named = re.findall(r"collar-link ((?:[a-z]+ ?)+)", text)
        used = 0
        for words in named:
            command, *verbs = words.split()
            if command in WORDS:
                continue
            help_text = self.help_of(command)
            self.assertIsNotNone(help_text, f"'collar-link {words}' is recommended")
            if verbs and command in ("send", "receiver"):
                self.assertRegex(help_text, rf"\b{verbs[0]}\b", words)
            used += 1
        self.assertGreaterEqual(used, 8)
        helps = "".join(self.help_of(command) or "" for command in (
            "run", "send", "history", "receiver", "readers", "follow", "name", "devices"))
        options = set(re.findall(r"(?<![\w/-])--[a-z][a-z-]+", text)) - OF_OTHER_PROGRAMS
        self.assertGreaterEqual(len(options), 8)
        for option in options:
            self.assertRegex(helps, rf"{option}\b", option)


if __name__ == "__main__":
    unittest.main()
