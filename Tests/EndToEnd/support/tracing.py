"""Programs under strace, which counts their system calls, makes some of them fail, or delays them."""

import os
import pathlib
import shutil
import signal
import subprocess
import time

from end_to_end import ORDINARY_USER


def can_trace():
    """Whether strace may trace the programs of an ordinary user."""
    return bool(shutil.which("strace")) and subprocess.run(
        ["strace", "-f", "-o", "/dev/null", "true"], capture_output=True, check=False, **ORDINARY_USER).returncode == 0


class Traced:
    """A program that strace runs. Signals are for the program itself; strace ends with it."""

    def __init__(self, test, options, command, **how):
        self.program = test.start(["strace", "-f", *options, *command], **how)
        self.pid = self._child(command[0])
        # Killing only strace would leave the traced program running.
        test.addCleanup(self.send, signal.SIGKILL)

    def _child(self, path):
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            try:
                children = pathlib.Path(f"/proc/{self.program.pid}/task/{self.program.pid}/children").read_text("ascii")
                for child in children.split():
                    if os.readlink(f"/proc/{child}/exe") == path:
                        return int(child)
            except OSError:
                pass
            time.sleep(0.0005)
        self.program.kill_now()
        raise AssertionError(f"strace starts nothing: {self.program.error_text}")

    def send(self, number):
        """Sends a signal."""
        try:
            os.kill(self.pid, number)
        except ProcessLookupError:
            pass

    def stop(self, number=signal.SIGTERM):
        """Ends the program, and waits until strace has written everything that it recorded."""
        self.send(number)
        return self.program.wait()


def slowness():
    """How many times slower this machine is than the one on which limits of processor time were measured; 1 if it is faster."""
    start = time.process_time()
    for _ in range(1_000_000):
        pass
    return max(1, (time.process_time() - start) / 0.01)
