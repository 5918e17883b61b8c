"""The pages of the manual and the completions of shells: they know every command and option, and their readers find no fault."""

import os
import pathlib
import re
import select
import shutil
import subprocess
import unittest

from end_to_end import BINARY, EndToEndTest, wait_until
from readers import ENVIRONMENT

# The names of an option in the help.
OPTION = re.compile(r"^  (-[\w-]+(?:, -[\w-]+)*)", re.M)
COMMAND = re.compile(r"^  ([a-z]+)  +\S", re.M)


def printed(*arguments):
    return subprocess.run([BINARY, *arguments], capture_output=True, text=True, check=True).stdout


def options(command):
    """All names of all options of a command."""
    return [name for names in OPTION.findall(printed(command, "--help")) for name in names.split(", ")]


class ManualTest(EndToEndTest):
    commands = COMMAND.findall(printed("help"))

    def checked(self, source):
        """The text of a page at a terminal that is wide enough for each of its lines."""
        shown = subprocess.run(
            ["groff", "-K", "utf8", "-man", "-ww", "-T", "utf8", "-P-cbou", "-rLL=400n"], input=source, capture_output=True, text=True, check=True)
        self.assertEqual(shown.stderr, "")
        lint = subprocess.run(
            ["mandoc", "-T", "lint", "-W", "warning"], input=source, capture_output=True, text=True, check=False, env=ENVIRONMENT)
        self.assertEqual(lint.stdout, "")
        return shown.stdout

    def test_every_command_and_option_has_its_place(self):
        self.assertEqual(
            printed("help", "--man", "all").split(), ["collar-link", "collar-link.conf"] + [f"collar-link-{name}" for name in self.commands])
        overview = self.checked(printed("help", "--man", "collar-link"))
        for command in self.commands:
            with self.subTest(command=command):
                self.assertIn(f"collar-link-{command}(1)", overview)
                text = self.checked(printed("help", "--man", f"collar-link-{command}"))
                self.assertTrue(text.startswith(f"COLLAR-LINK-{command.upper()}(1)"), text[:80])
                names = options(command)
                self.assertIn("--help", names)
                for name in names:
                    self.assertRegex(text, rf"(?m)^ {{7}}(?:-.*, )?{re.escape(name)}(?:,|  | [^-]|$)")
                self.assertIn("\nEXIT STATUS\n", text)

    def test_the_configuration_has_every_key(self):
        text = self.checked(printed("help", "--man", "collar-link.conf"))
        for name in ("dialect", "region", "frequency", "bandwidth", "spreading-factor", "coding-rate", "tx-power"):
            self.assertRegex(text, rf"(?m)^ {{7}}{name} = ")

    def test_a_page_that_does_not_exist(self):
        program = self.start([BINARY, "help", "--man", "collar-link-sned"])
        self.assertEqual(program.wait(5), 64)
        self.assertIn("collar-link-send", program.error_text)


class CompletionsTest(EndToEndTest):
    def bash(self, *words):
        script = f"""
            source <({BINARY} help --completions bash)
            COMP_WORDS=("$@")
            COMP_CWORD=$(($# - 1))
            compopt() {{ :; }}
            _collar_link
            printf '%s\\n' "${{COMPREPLY[@]}}"
            """
        return subprocess.run(
            ["bash", "-euc", script, "bash", "collar-link", *words], capture_output=True, text=True, check=True, cwd=self.folder).stdout.split()

    def test_bash(self):
        self.assertEqual(self.bash("sta"), ["status"])
        self.assertEqual(sorted(self.bash("")), sorted(COMMAND.findall(printed("help"))))
        for command in COMMAND.findall(printed("help")):
            self.assertEqual(sorted(self.bash(command, "--")), sorted(name for name in options(command) if name.startswith("--")))
        self.assertEqual(self.bash("send", "lo"), ["locate"])
        self.assertEqual(self.bash("run", "--region", "EU"), ["EU868", "EU433"])
        self.assertEqual(self.bash("--format", "ge"), ["geojson", "geojson-track"])
        open(self.path("walk.ndjson"), "w").close()
        self.assertEqual(self.bash("simulate", "--track", "wa"), ["walk.ndjson"])

    def test_fish(self):
        # A fish that is unpacked privately finds its own functions only by this.
        functions = pathlib.Path(shutil.which("fish")).resolve().parents[1] / "share/fish/functions"
        script = f"set -p fish_function_path {functions}; {BINARY} help --completions fish | source; complete -C 'collar-link %s'"

        def fish(words):
            shown = subprocess.run(
                ["fish", "--no-config", "-c", script % words], capture_output=True, text=True, check=True, env={**ENVIRONMENT, "HOME": self.folder})
            self.assertEqual(shown.stderr, "")
            return [line.split("\t")[0] for line in shown.stdout.splitlines()]
        self.assertEqual(fish("sta"), ["status"])
        self.assertEqual(sorted(fish("")), sorted(COMMAND.findall(printed("help"))))
        self.assertEqual(fish("run --region EU"), ["EU433", "EU868"])
        self.assertEqual(fish("send lo"), ["locate"])
        self.assertLessEqual({name for name in options("follow") if name.startswith("--")}, set(fish("follow --")))

    def test_zsh(self):
        (control, terminal), output = os.openpty(), b""
        self.addCleanup(os.close, control)
        shell = subprocess.Popen(
            ["zsh", "-f", "-i"], stdin=terminal, stdout=terminal, stderr=terminal, cwd=self.folder, start_new_session=True,
            env={**ENVIRONMENT, "HOME": self.folder, "TERM": "dumb"})
        os.close(terminal)
        self.addCleanup(shell.wait)
        self.addCleanup(shell.kill)

        def types(text, wanted):
            nonlocal output
            os.write(control, text.encode())
            output = b""

            def has_come():
                nonlocal output
                while select.select([control], [], [], 0)[0]:
                    output += os.read(control, 65536)
                return wanted in output.replace(b"\r", b"").decode(errors="replace")
            wait_until(has_come, 10, f"{wanted!r} after {text!r}")
        # A zsh that is unpacked privately finds its own files only by these.
        files = pathlib.Path(shutil.which("zsh")).resolve().parents[1 if shutil.which("zsh").startswith("/usr/bin") else 2]
        modules = next(files.glob("**/zsh/zle.so")).parents[1]
        functions = " ".join(str(path) for path in files.glob("**/share/zsh/functions/**/") if path.is_dir())
        types(f"module_path=({modules}) fpath=($PWD {functions}); zmodload zsh/zle; setopt zle; print loa''ded\n", "loaded\n")
        types(f"{BINARY} help --completions zsh > _collar-link; autoload -U compinit; compinit -u -D; print rea''dy\n", "ready\n")
        types("collar-link sta\t", "collar-link status ")
        types("--ut\t", "--utc")
        types("\x15collar-link run --region EU8\t", "EU868")
        types("\x15collar-link send loc\t", "locate")


if __name__ == "__main__":
    unittest.main()
