"""A mistake at the command line, or a file of another kind: the message names what is wrong, and what helps. Commands in these messages
are carried out as they are printed."""

import bz2
import gzip
import json
import lzma
import os
import pathlib
import re
import subprocess
import unittest

from end_to_end import BINARY, ROOT, EndToEndTest, child_environment
from serial_line import SerialLine

FIX = {"ts_unix_ms": 1498266133000, "lat": 50.17028, "lon": -5.11399}
LINES = json.dumps(FIX).encode() + b"\n"
CAPTURE = ROOT / "Tests/Captures/replugs.pcapng"
COMMAND = re.compile("`([^`]*)`")
# What a line for a person is: sentences, which may begin with a place such as a file. A summary of `decode` is none.
SENTENCES = re.compile(r"collar-link: (  )?([A-Z0-9`'\"/]|[\w.]+[,:] ).*[.?…]|collar-link: skipped: .*")


class UsageCase(EndToEndTest):
    def setUp(self):
        super().setUp()
        os.symlink(BINARY, self.path("collar-link"))
        self.environment = child_environment(
            HOME=self.folder, XDG_RUNTIME_DIR=self.folder, PATH=f"{self.folder}:{os.environ['PATH']}")

    def failed(self, *arguments, code=64):
        """What the tool says of these arguments."""
        program = self.start([BINARY, *arguments], environment=self.environment)
        self.assertEqual(program.wait(10), code, program.error_text)
        for line in program.errors:
            self.assertTrue(SENTENCES.fullmatch(line.rstrip("\n")), line)
        return program.error_text

    def typed(self, command):
        """A command as a person types it. `timeout` ends all of its programs."""
        return self.start(["timeout", "60", "bash", "-o", "pipefail", "-c", command], environment=self.environment)

    def output(self, command):
        program = self.typed(command)
        self.assertEqual(program.wait(30), 0, f"{command}: {program.error_text}")
        return "".join(program.lines)

    def assert_simulates(self, command):
        program = self.typed(command)
        program.wait_for_lines(1, 30)
        self.assertIn("/dev/pts/", program.lines[0])
        program.stop()


class OptionTest(UsageCase):
    def test_a_missing_value(self):
        """The help page is that of the command."""
        for arguments, name in ((["--read"], "run"), (["run", "--read"], "run"), (["history", "--since"], "history"),
                                (["--frobnicate"], "run"), (["--log", "info", "extra"], "run")):
            with self.subTest(arguments=arguments):
                errors = self.failed(*arguments)
                command, = COMMAND.findall(errors.splitlines()[-1])
                self.assertEqual(command, f"collar-link {name} --help")
                self.assertIn(f" collar-link {'[run]' if name == 'run' else name} ", self.output(command))

    def test_an_option_is_no_value(self):
        for arguments, name, option in (
                (["--port", "--state-dir", "x"], "--port", "--state-dir"), (["run", "--port", "--state-dir"], "--port", "--state-dir"),
                (["-p", "-q"], "--port", "-q"), (["history", "--since", "--utc"], "--since", "--utc"),
                (["deliver", "--collar", "--", "cat"], "--collar", "--"), (["--state-dir", "--unknown"], "--state-dir", "--unknown")):
            with self.subTest(arguments=arguments):
                errors = self.failed(*arguments)
                self.assertRegex(errors, rf"`-\S*` needs a value, \S+, and '{option}' is an option\.")
                self.assertIn(f"`{name}=VALUE`", errors)
        # A value that begins so is given in another form; a hyphen alone and a negative number are values.
        self.assertIn("There is no directory --x.", self.failed("status", "--state-dir=--x", code=66))
        self.assertIn("There is no directory -x.", self.failed("status", "--state-dir", "-x", code=66))
        self.assertIn("There is no fix in stdin.", self.failed("simulate", "--track", "-", code=65))
        self.assertIn("--tx-power", self.failed("--tx-power", "-99", code=64))

    def test_options_that_exclude_each_other(self):
        for arguments, one, other in (
                (["simulate", "--track", "x", "--walk", "1/1/9"], "--track", "--walk"),
                (["simulate", "--walk", "1/1/9", "--cable", "x", "--collars", "2"], "--cable", "--collars"),
                (["send", "locate", "--now", "--latest"], "--now", "--latest"),
                (["send", "message", "1", "x", "--data", "00"], "TEXT", "--data"),
                (["send", "message", "1", "--reply-to", "1", "--wants-reply"], "--reply-to", "--wants-reply"),
                (["doctor", "--machine", "x", "--port", "y"], "--port", "--machine"),
                (["history", "--verify", "--since", "1h"], "--verify", "--since"),
                (["mark", "--yes", "--print"], "--yes", "--print"),
                (["follow", "--as", "x", "--acknowledge", "-F", "gpx"], "--acknowledge", "--format"),
                (["--read", "x", "--port", "y"], "--port", "--read"), (["--since", "1h", "--from-start"], "--since", "--from-start"),
                (["name", "x", "--remove", "--notes", "y"], "--remove", "--notes")):
            with self.subTest(arguments=arguments):
                errors = self.failed(*arguments)
                self.assertRegex(errors, f"`{one}` and `{other}.*` exclude each other\\.\n")
                self.assertIn("Leave out ", errors)


class FileTest(UsageCase):
    def setUp(self):
        super().setUp()
        frames, bare = (subprocess.run([BINARY, "encode", *form], input=LINES, stdout=subprocess.PIPE, check=True).stdout
                        for form in ([], ["--bare"]))
        capture = CAPTURE.read_bytes()
        self.contents = {"lines": LINES, "frames": frames, "bare": bare, "capture": capture}
        files = {
            "le": LINES.decode().encode("utf-16-le"), "be": LINES.decode().encode("utf-16-be"), "utf16": LINES.decode().encode("utf-16"),
            "object": json.dumps(FIX, indent=2).encode(),
            # No line of such a file can be read whole.
            "array": json.dumps([FIX] * 20_000).encode(), "empty": b"", **self.contents}
        for name, content in self.contents.items():
            files.update({f"{name}.gz": gzip.compress(content), f"{name}.xz": lzma.compress(content), f"{name}.bz2": bz2.compress(content)})
        for name, content in files.items():
            pathlib.Path(self.path(name)).write_bytes(content)
            os.chmod(self.path(name), 0o644)

    def remedy(self, *arguments):
        """The commands that help after a file of the wrong kind."""
        errors = self.failed(*arguments, code=65)
        commands = COMMAND.findall(errors.splitlines()[-1])
        self.assertGreater(len(commands), 0, errors)
        return commands

    def assert_fixes(self, command):
        self.assertTrue(self.output(command).startswith('{"type":"fix","id":'), command)

    def test_encode(self):
        packed = ["lines.gz", "lines.xz", "lines.bz2"]
        for name in [*packed, "le", "be", "utf16", "object", "array", "frames", "bare", "capture"]:
            with self.subTest(name=name):
                command, = self.remedy("encode", name, "--precision", "6")
                self.output(command)
                self.assertIn("--precision 6", command)
                self.assert_fixes("collar-link decode frames.bin")

    def test_track(self):
        for name in ("lines.gz", "le", "be", "utf16", "object", "array", "frames", "bare", "capture"):
            with self.subTest(name=name):
                command, = self.remedy("simulate", "--track", name, "--seed", "3")
                self.assertIn("--seed 3", command)
                self.assert_simulates(command)

    def test_decode(self):
        for form in ([], ["--bare"]):
            frames = "bare" if form else "frames"
            for name, place in (("lines", 0), ("lines.gz", 1), (f"{frames}.gz", 0), ("capture.gz", 0)):
                with self.subTest(name=name, form=form):
                    command = self.remedy("decode", *form, "-F", "csv", name)[place]
                    header, *rows = self.output(command).splitlines()
                    self.assertIn("ts_unix_ms", header)
                    self.assertGreater(len(rows), 0)
        self.assertEqual(self.remedy("decode", "bare"), ["--bare"])
        self.assertEqual(self.remedy("decode", "frames", "--bare"), ["--bare"])

    def test_read(self):
        command, _ = self.remedy("--read", "capture.gz", "--state-dir", "of the capture")
        self.assert_fixes(command)
        self.assertTrue(os.path.isdir(self.path("of the capture")))
        self.assert_simulates(self.remedy("--read", "lines.gz")[1])
        self.assert_simulates(self.remedy("--read", "lines")[0])
        for name in ("frames", "bare"):
            self.assert_fixes(self.remedy("--read", name)[0])

    def test_nothing_in_it(self):
        """Nothing is an empty result for a filter, and no track and no capture."""
        for arguments, code in (
                (["decode", "empty"], 0), (["decode", "--bare", "empty"], 0), (["decode", "-F", "text", "empty"], 0),
                (["decode", "/dev/null"], 0), (["decode"], 0), (["encode", "empty"], 0), (["encode"], 0),
                (["simulate", "--track", "empty"], 65), (["--read", "empty"], 65)):
            with self.subTest(arguments=arguments):
                self.assertRegex(self.failed(*arguments, code=code), r"There is no(thing to decode| fix) in (empty|/dev/null|stdin)\.|empty, byte 0: this is no capture\.")


class PlaceTest(UsageCase):
    """The commands in remedies are about the state directory and the port that the person has named."""

    def test_doctor_without_the_directory(self):
        program = self.start([BINARY, "doctor", "--state-dir", "missing"], environment=self.environment)
        self.assertIn(program.wait(10), (0, 1), program.error_text)
        self.assertIn("There is no directory missing.\n", program.error_text)
        self.assertGreater(len(program.lines), 0, "nothing was examined")
        self.assertFalse(os.path.exists(self.path("missing")))
        program = self.start([BINARY, "doctor", "--state-dir", self.folder], environment=self.environment)
        program.wait(10)
        self.assertEqual(program.error_text, "")

    def test_options_are_repeated(self):
        folder = "of my cat's"
        os.mkdir(self.path(folder))
        os.chmod(self.path(folder), 0o777)
        errors = self.failed("readers", "--remove", "sink", "--state-dir", folder, code=66)
        command = COMMAND.search(errors)[1]
        self.assertTrue(command.startswith("collar-link readers --state-dir "), command)
        self.output(command)
        errors = self.failed("deliver", "sink", "--state-dir", folder)
        self.assertIn(r"--state-dir 'of my cat'\''s' -- cat`", errors)
        self.assertIn("--state-dir=-x -- cat`", self.failed("deliver", "sink", "--state-dir=-x"))
        # The other one is the directory of the receiver that runs, which has another name.
        self.assertIn("`collar-link run` uses: `--state-dir DIR`", self.failed("status", "--state-dir", "missing", code=66))

    def test_port_and_directory_of_a_receiver(self):
        line = SerialLine()
        self.addCleanup(line.close)
        program = self.start(
            [BINARY, "doctor", "--port", line.path, "--state-dir", "missing"], environment=self.environment)
        program.wait(10)
        self.assertRegex("".join(program.lines), "run `collar-link doctor --state-dir missing --port [^`]*` again|nothing to do")


if __name__ == "__main__":
    unittest.main()
