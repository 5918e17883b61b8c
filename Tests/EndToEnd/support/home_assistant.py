"""Home Assistant 2024.3.3, as a process that shows its devices: see run_home_assistant.py."""

import json
import pathlib
import subprocess

from end_to_end import ROOT, child_environment, wait_until
from servers import free_port

PYTHON = ROOT / ".tools/home-assistant/bin/python"
IS_HERE = (PYTHON.parents[1] / ".complete").exists()
WHY_NOT = "needs Home Assistant 2024.3.3, which Tools/check downloads with pip where it can"


class HomeAssistant:
    """A running Home Assistant. Its folder keeps the devices that it has discovered."""

    def __init__(self, test, broker_port):
        folder = pathlib.Path(test.path("home-assistant"))
        folder.mkdir(exist_ok=True)
        self._program = test.start(
            [str(PYTHON), str(pathlib.Path(__file__).with_name("run_home_assistant.py")), str(folder), str(broker_port),
             str(free_port())],
            # The Python that made the environment may be in the home directory of whoever runs the tests.
            stdin=subprocess.PIPE, environment=child_environment(HOME=str(folder)), user="root", group="root")
        test.addCleanup(self._program.process.stdin.close)
        self._program.wait_for_lines(1, seconds=60)

    def ask(self, command):
        """Gives a command. Returns the answer."""
        count = len(self._program.lines)
        self._program.process.stdin.write(command.encode() + b"\n")
        self._program.process.stdin.flush()
        self._program.wait_for_lines(count + 1)
        return json.loads(self._program.lines[count])

    def states(self, collar):
        """The states of the entities of a collar, by the ends of their unique ids; that of the tracker has none."""
        device = self.ask("show").get(f"collar_{collar}", {"entities": {}})
        return {unique_id.removeprefix(f"collar_{collar}").lstrip("_") or "tracker": entity["state"]
                for unique_id, entity in device["entities"].items()}

    def wait_for(self, collar, seconds=15, **expected):
        """Waits until entities of a collar have these states."""
        def found():
            states = self.states(collar)
            return {key: states.get(key) for key in expected}
        try:
            wait_until(lambda: found() == expected, seconds, "these states")
        except AssertionError:
            raise AssertionError(f"{found()} in place of {expected}; {self._program.error_text[-3000:]}") from None

    def end(self):
        self._program.process.stdin.close()
        self._program.wait(30)
