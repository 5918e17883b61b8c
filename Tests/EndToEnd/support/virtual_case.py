"""Tests in a virtual machine: they plug adapters in and pull them out, and run programs in the machine as an ordinary user.

An adapter whose serial number begins with RADIO is marked as a collar radio. One machine serves all tests of a class.
"""

import itertools
import json
import pathlib
import shutil
import sys
import unittest

from end_to_end import BINARY, ROOT, EndToEndTest, wait_until
from virtual_machine import VirtualMachine

PREPARE = "cp /share/collar-link /bin && cp /share/*.rules /etc/udev/rules.d/ && udevadm control --reload"
MARKS = "69-my-collar-link.rules"
MARK = 'SUBSYSTEM=="tty|usb", ATTRS{idVendor}=="0403", ATTRS{idProduct}=="6001", ATTRS{serial}=="RADIO*", ENV{COLLAR_LINK}="1"\n'


class GuestProgram:
    """A program that runs in the machine. What it writes goes to files of the shared folder."""

    _numbers = itertools.count(1)

    def __init__(self, machine, command, user="owner", prefix=""):
        """Starts a shell command as a user. `prefix` is the start of a command, of root, that runs the program."""
        self._machine = machine
        name = f"program{next(GuestProgram._numbers)}"
        self._path = machine.share / name
        self._file("command").write_text(f"exec {command}\n")
        self._file("start").write_text(f"exec {prefix} su {user} -s /bin/sh -c 'exec sh /share/{name}.command'\n")
        machine.run(
            f"""cd /share
            touch {name}.lines {name}.errors
            {{ sh -c 'echo $$ >{name}.pid; . /share/{name}.start' >{name}.lines 2>{name}.errors </dev/null; echo $? >{name}.code
            }} >/dev/null 2>&1 &
            while [ ! -s {name}.pid ]; do sleep 0.05; done""")
        self.pid = int(self._file("pid").read_text())

    def _file(self, kind):
        return self._path.with_suffix(f".{kind}")

    @property
    def lines(self):
        return self._file("lines").read_text(errors="replace").splitlines(keepends=True)

    @property
    def error_path(self):
        """The path, in the machine, of the file with the program's messages."""
        return f"/share/{self._file('errors').name}"

    @property
    def error_text(self):
        return self._file("errors").read_text(errors="replace")

    @property
    def fixes(self):
        """The lines of the program as objects."""
        return [json.loads(line) for line in self.lines]

    @property
    def code(self):
        """The exit code; None while the program runs."""
        file = self._file("code")
        text = file.read_text() if file.exists() else ""
        return int(text) if text.endswith("\n") else None

    def wait_for_error(self, text, seconds=20):
        self._wait_until(lambda: text in self.error_text, seconds, f"no word about {text!r}")

    def wait_for_lines(self, count, seconds=20):
        self._wait_until(lambda: len(self.lines) >= count, seconds, f"not {count} lines")

    def wait(self, seconds=30):
        """Waits for the end of the program. Returns its exit code."""
        self._wait_until(lambda: self.code is not None, seconds, "still running")
        return self.code

    def _wait_until(self, condition, seconds, what):
        try:
            wait_until(condition, seconds, what)
        except AssertionError as error:
            raise AssertionError(f"{error}; stderr:\n{self.error_text}") from None

    def signal(self, name):
        self._machine.run(f"kill -{name} {self.pid}")

    def stop(self):
        self.signal("TERM")
        return self.wait()

    def kill_now(self):
        if self.code is None:
            self.signal("KILL")
            self.wait()


class VirtualCase(EndToEndTest):
    """Tests in a machine with four adapters."""

    # The folders with the unpacked packages of the emulator, and of the programs and the kernel in the machine.
    emulator = packages = ""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        kernel = next(pathlib.Path(cls.packages, "boot").glob("vmlinuz-*"))
        cls.machine = VirtualMachine(cls.emulator, kernel, f"{cls.packages}/image", adapters=4)
        cls.addClassCleanup(cls.machine.close)
        cls.machine.wait_for_start()
        cls.share = cls.machine.share
        shutil.copy(BINARY, cls.share / "collar-link")
        shutil.copy(ROOT / "hardware/udev/70-collar-link.rules", cls.share)
        (cls.share / MARKS).write_text(MARK)
        cls.machine.run(PREPARE)

    @classmethod
    def main(cls):
        """Runs the tests of the class. The first arguments of the program are the folders."""
        cls.emulator, cls.packages = sys.argv[1:3]
        unittest.main(argv=sys.argv[:1], verbosity=2)

    def run_in_guest(self, command, **options):
        """Starts a program in the machine."""
        program = GuestProgram(self.machine, command, **options)
        self.addCleanup(program.kill_now)
        return program
