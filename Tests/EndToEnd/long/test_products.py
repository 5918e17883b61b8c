"""The products as their users get them: the size of the program, and the library in a program of another package."""

import os
import subprocess
import tempfile
import unittest

from end_to_end import BINARY, ROOT, EndToEndTest

STRIPPED_BYTES = 10_450_000


def output(*command, **options):
    done = subprocess.run(command, check=False, capture_output=True, text=True, **options)
    if done.returncode:
        raise AssertionError(f"{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def named(parts, program):
    """The parts that are in the name of a symbol of a program."""
    symbols = output("nm", program)
    return [part for part in parts if part in symbols]


class ProgramTest(EndToEndTest):
    def test_the_stripped_program_is_small(self):
        with tempfile.TemporaryDirectory() as folder:
            stripped = os.path.join(folder, "collar-link")
            output("strip", "-o", stripped, BINARY)
            self.assertLessEqual(os.path.getsize(stripped), STRIPPED_BYTES)

    def test_the_regular_expression_engine_is_not_linked(self):
        self.assertEqual(named(["CollarReceiver", "_StringProcessing", "_RegexParser"], BINARY), ["CollarReceiver"])


class LibraryTest(unittest.TestCase):
    """Builds the package in Tools/example, which uses the product CollarLink."""

    def test_a_program_of_another_package(self):
        scratch = ROOT / ".build-example"
        output("swift", "build", "--package-path", str(ROOT / "Tools/example"), "--scratch-path", str(scratch), "-c", "debug")
        program = str(scratch / "debug/positions")
        lines = output(program, input='{"ts_unix_ms":1699401234567,"lat":37.7749,"lon":-122.4194,"seq":3,"h_accuracy_m":5}\n{"lat":1}\n')
        self.assertEqual(lines, (
            "fix 3: 37.7749 -122.4194, within 5.0 m\n"
            "Fix cannot be decoded: The field ts_unix_ms in line 2 is wrong: it is missing.\n"))
        # The library is a value type and its formats: nothing of the receiver, and no library of the system for devices.
        self.assertNotIn("libudev", output("ldd", program))
        self.assertEqual(
            named(["CollarFormats", "udev_", "SerialDevices", "CollarReceiver", "CollarHost"], program), ["CollarFormats"])


if __name__ == "__main__":
    unittest.main()
