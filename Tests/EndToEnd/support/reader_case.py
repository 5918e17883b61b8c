"""A receiver with a radio, and readers of what it stores."""

import json
import os
import subprocess

import jsonschema

from end_to_end import BINARY, ORDINARY_USER, ROOT, EndToEndTest, child_environment, wait_until
from radio import Radio
from serial_line import SerialLine

from session_parts import A, B

SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "Protocol/schema/reader.schema.json").read_text()))
NAME_A, NAME_B = (f"{each.log.device_id:016x}" for each in (A, B))


class ReaderTest(EndToEndTest):
    """A receiver with a radio, and readers of what it stores."""

    def begin(self, *arguments):
        line = SerialLine()
        self.addCleanup(line.close)
        receiver = self.receive("--events", "none", *arguments, port=line.path)
        receiver.wait_for_error("listening on")
        return receiver, Radio(line)

    def tool(self, *arguments, code=0):
        """The output of a command that ends."""
        result = subprocess.run([BINARY, *arguments, "--state-dir", self.state], capture_output=True, text=True, timeout=60,
                                env=child_environment(), check=False, **ORDINARY_USER)
        self.assertEqual(result.returncode, code, result.stderr)
        self.errors = result.stderr
        return result.stdout

    def wait_for_stored(self, count):
        """Waits until `count` fixes are in the journals, which may not exist yet."""
        def stored():
            result = subprocess.run([BINARY, "history", "--events", "fix", "--state-dir", self.state], capture_output=True, text=True,
                                    timeout=60, env=child_environment(), check=False, **ORDINARY_USER)
            return result.stdout.count("\n")
        wait_until(lambda: stored() == count, 10, f"{count} stored fixes")

    def follow(self, *arguments, **options):
        return self.start([BINARY, "follow", "--state-dir", self.state, *arguments], **options)

    def readers(self):
        """The readers by their names."""
        lines = [json.loads(line) for line in self.tool("readers", "-F", "json").splitlines()]
        for line in lines:
            SCHEMA.validate(line)
        return {line["name"]: line for line in lines}

    def sequences(self, program, collar=NAME_A):
        return [line["seq"] for line in program.fixes if line["collar"] == collar]

    def position(self, name):
        with open(os.path.join(self.state, "readers", name + ".reader"), encoding="ascii") as file:
            return file.read()
