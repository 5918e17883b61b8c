"""The independent decoder opens every frame of a capture that begins before the collar starts, and says what another one lacks."""

import fnmatch
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from end_to_end import BINARY, ROOT, EndToEndTest, child_environment, wait_until
import recordings
from recordings import FOUND, READ, WROTE
from serial_line import SerialLine
from session_parts import A  # of Protocol/reference, which recordings adds to the path

REFERENCE = ROOT / "Protocol/reference/collarlink.py"
PAGE = (REFERENCE.parent / "README.md").read_text(encoding="utf-8")
KEY = "000102030405060708090a0b0c0d0e0f"
DEVICE = "910a2dec89025cc1"  # the first collar of seed 1
FIX_TYPES = ("absolute_fix", "live_fix", "batch")


def run_reference(*arguments, data=""):
    return subprocess.run([sys.executable, str(REFERENCE), *arguments], input=data, capture_output=True, text=True, check=False,
                          timeout=60, env=child_environment(PYTHONDONTWRITEBYTECODE="1"))


def fixes_of(lines):
    """What fix lines must say of the fixes in frames."""
    found = {}
    for line in lines:
        if line["name"] in FIX_TYPES and "fields" in line:
            for fix in line["fields"].get("fixes", [line["fields"]]):
                found[line["device_id"], line["log_id"], fix["sequence"]] = recordings.values(fix)
    return found


class CaptureTest(EndToEndTest):
    def setUp(self):
        super().setUp()
        self.capture, self.key = self.path("session.pcapng"), self.path("key")
        pathlib.Path(self.key).write_text(KEY + "\n")
        pathlib.Path(self.key).chmod(0o644)
        self.assertEqual(self.start([BINARY, "key", "add", DEVICE, self.key, "--state-dir", self.state]).wait(), 0)

    def start_receiver(self, *arguments):
        """Starts the receiver before its port exists, so that it records the collar from its start."""
        receiver = self.start([BINARY, "--port", self.link, "--state-dir", self.state, "--write", self.capture, *arguments])
        receiver.wait_for_error("waiting for")
        return receiver

    def start_collar(self, count, *arguments):
        track, _ = self.track("cats_uk/Athena", count)
        return self.simulate(track, "--key-file", self.key, "--seed", "1", *arguments)

    def decode(self, *arguments, capture=None, code=0):
        """What the reference prints for the capture, and what it says on stderr."""
        done = run_reference("decode-capture", capture or self.capture, *arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        return list(map(json.loads, done.stdout.splitlines())), done.stderr

    def check_whole(self):
        """Checks that every frame is opened, and that the fixes are those of the program. Returns the lines."""
        lines, said = self.decode("--device", DEVICE, "--key-file", self.key)
        # A collar may have sent its identity before the stick was set up.
        first = next(index for index, line in enumerate(lines) if line["name"] == "identity")
        unopened = [line for line in lines if "fields" not in line]
        self.assertEqual(unopened, [line for line in lines[:first] if line.get("needs") == "an identity of the collar"])
        self.assertIn(f"{len(lines) - len(unopened)} of {len(lines)} frames: decoded\n", said)
        lines = [line for line in lines if "fields" in line]
        decoded = subprocess.run(
            [BINARY, "decode", "--device", DEVICE, "--key-file", self.key, self.capture], capture_output=True, check=True).stdout
        expected = recordings.values_of_lines(map(json.loads, decoded.splitlines()))
        self.assertEqual(fixes_of(lines), expected)
        self.assertGreater(len(expected), 0)
        self.assertLessEqual({"identity", "live_fix", "acknowledgement"}, {line["name"] for line in lines if "sealed" in line["flags"]})
        for line in lines:
            self.assertEqual(line["port"], self.link)
            if "sealed" in line["flags"]:
                self.assertEqual(line["direction"], "out" if line["type"] >= 16 else "in")
        times = {record.unix_ms for record in recordings.records(pathlib.Path(self.capture).read_bytes()) if record.event in (READ, WROTE)}
        self.assertLessEqual({line["unix_ms"] for line in lines}, times)
        return lines

    def test_a_serial_line_with_requests(self):
        receiver = self.start_receiver()
        self.start_collar(40, "--interval", "0.3")
        receiver.wait_for_lines(3)
        for words in (("locate",), ("settings", "set", "heartbeat_s=30"), ("settings", "get"), ("message", "7", "hello")):
            sent = self.start([BINARY, "send", *words, "--state-dir", self.state, "--timeout", "15"])
            self.assertEqual(sent.wait(20), 0, sent.error_text)
        self.assertEqual(receiver.stop(), 0, receiver.error_text)
        requests = {line["type"]: line for line in self.check_whole() if line["type"] > 16 and "sealed" in line["flags"]}
        self.assertEqual({number: line["name"] for number, line in requests.items()}, {
            18: "settings_request", 19: "settings_update", 20: "command", 29: "application_message"})
        self.assertEqual(requests[19]["fields"]["entries"], [[8, 30]])
        self.assertEqual(bytes.fromhex(requests[29]["fields"]["data"]), b"hello")

    def test_a_kiss_stick(self):
        receiver = self.start_receiver("--region", "EU868", "--spreading-factor", "7")
        self.start_collar(20, "--modem", "lora:SF7", "--dialect", "kiss", "--interval", "1")
        receiver.wait_for_lines(20, 60)
        self.assertEqual(receiver.stop(), 0, receiver.error_text)
        self.check_questions()
        self.check_whole()

    def events(self):
        return [record.event for record in recordings.records(pathlib.Path(self.capture).read_bytes())]

    def check_questions(self):
        """Checks that questions to a stick of another dialect went out."""
        events = self.events()
        self.assertIn(WROTE, events[:events.index(FOUND)])

    def test_bytes_before_the_dialect_is_found_are_no_errors(self):
        line = SerialLine()
        self.addCleanup(line.close)
        receiver = self.start([BINARY, "--port", line.path, "--state-dir", self.state, "--write", self.capture])
        wait_until(lambda: pathlib.Path(self.capture).exists() and WROTE in self.events(), 20, "a question")
        os.write(line.master, b"\xffnoise\0" + A.identity() + A.fix(0))
        receiver.wait_for_lines(1)
        self.assertEqual(receiver.stop(), 0, receiver.error_text)
        self.check_questions()
        lines, _ = self.decode()
        self.assertEqual([line for line in lines if "fields" not in line], [])
        self.assertEqual([line["name"] for line in lines if line["direction"] == "in"], ["identity", "absolute_fix"])

    def cut(self, drops):
        """The capture without the bytes that came in for which `drops` holds, given the number of their record."""
        data = pathlib.Path(self.capture).read_bytes()
        ends = [offset for _, _, _, offset in recordings.blocks(data)][1:] + [len(data)]
        dropped = [record.offset for record in recordings.records(data) if record.event == READ]
        dropped = {offset for number, offset in enumerate(dropped) if drops(number)}
        path = self.path("cut.pcapng")
        pathlib.Path(path).write_bytes(b"".join(
            data[start:end] for start, end in zip([0, *ends], ends) if start not in dropped))
        return path

    def test_a_capture_that_begins_in_the_middle(self):
        receiver = self.start_receiver()
        self.start_collar(40, "--interval", "0.6")
        receiver.wait_for_lines(8)
        self.assertEqual(receiver.stop(), 0, receiver.error_text)
        # Frames that the collar sent before its first identity, while no program had its port open, are left out.
        identity = next(line["unix_ms"] for line in self.check_whole() if line["name"] == "identity")
        early = sum(record.unix_ms < identity for record in recordings.records(pathlib.Path(self.capture).read_bytes()) if record.event == READ)
        os.replace(self.cut(lambda number: number < early), self.capture)
        whole = self.check_whole()
        opened = ("--device", DEVICE, "--key-file", self.key)
        # The identity is there, and the fixes after it are not, up to the last live fix.
        reads = [record.unix_ms for record in recordings.records(pathlib.Path(self.capture).read_bytes()) if record.event == READ]
        live = max(number for number, line in enumerate(whole) if line["name"] == "live_fix")
        first = next(reads.index(line["unix_ms"]) for line in whole if line["name"] in FIX_TYPES)
        end = reads.index(whole[live]["unix_ms"])
        lines, said = self.decode(*opened, capture=self.cut(lambda number: first <= number < end))
        (missing,) = [line for line in lines if "fields" not in line]
        anchor = max(sequence for _, _, sequence in fixes_of(whole[:live]))
        self.assertEqual(missing, {**{key: whole[live][key] for key in missing if key in whole[live]},
                                   "needs": "an earlier fix", "anchor": anchor})
        self.assertIn(f"1 of {len(lines)} frames: need an earlier fix, which is not in the capture; start recording before the "
                      "collar starts\n", said)
        # Without the identity nothing that is sealed is opened.
        lines, _ = self.decode(*opened, capture=self.cut(lambda number: number < end))
        self.assertEqual({line.get("needs") for line in lines if "sealed" in line["flags"]}, {"an identity of the collar"})
        # Without the key neither.
        lines, said = self.decode()
        self.assertEqual({line.get("needs") for line in lines if "sealed" in line["flags"]}, {"the key of the collar"})
        self.assertIn("sealed; give --device and --key-file\n", said)
        wrong = self.path("wrong")
        pathlib.Path(wrong).write_text("ff" + KEY[2:])
        lines, _ = self.decode("--device", DEVICE, "--key-file", wrong)
        self.assertEqual([line for line in lines if "sealed" in line["flags"] and "fields" in line], [])
        # What a power cut leaves is read as far as it goes; damage is an error.
        data = pathlib.Path(self.capture).read_bytes()
        damaged = self.path("damaged.pcapng")
        pathlib.Path(damaged).write_bytes(data[:-5])
        lines, said = self.decode(*opened, capture=damaged)
        self.assertEqual(lines, whole[:len(lines)])
        self.assertIn("the capture ends inside a block", said)
        pathlib.Path(damaged).write_bytes(data[:-1] + b"\x01")
        lines, said = self.decode(*opened, capture=damaged, code=1)
        self.assertEqual(lines, whole[:len(lines)])
        self.assertIn("the two lengths of a block differ", said)


class CommandTest(unittest.TestCase):
    def test_help_explains_every_command(self):
        commands = ("verify", "ascon", "decode", "decode-lines", "decode-serial", "decode-capture", "encode")
        text = run_reference("--help").stdout
        self.assertLessEqual(len(PAGE.splitlines()), 50)
        for command in commands:
            with self.subTest(command=command):
                self.assertRegex(text, rf"(?m)^    {command}\s+[a-z]\w+ ")
                self.assertRegex(PAGE, rf"(?m)^# collarlink.py (\w+, )?{command}\b|reference {command} ")
        self.assertEqual(sorted(re.findall(r"(?m)^    ([a-z-]+)(?: |$)", text)), sorted(commands))
        named = re.findall(r"`([\w*]+)`", PAGE.split("## Modules")[1])
        for module in REFERENCE.parent.glob("*.py"):
            self.assertTrue(any(fnmatch.fnmatch(module.stem, name) for name in named), f"{module.stem} is not in the map")

    @unittest.skipUnless(shutil.which("jq"), "needs jq")
    def test_the_commands_of_the_readme(self):
        (script,) = re.findall(r"(?ms)^```sh\n(.*?)^```", PAGE)
        script = script.replace("alias reference='", "reference() { ").replace("collarlink.py'", 'collarlink.py "$@"; }')
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=ROOT, capture_output=True, text=True, check=False,
                              env=child_environment(PYTHONDONTWRITEBYTECODE="1"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn('"error"', done.stdout)
        self.assertTrue(done.stdout.endswith("\n22001134020932a9f88034bb7812ba3da124d0a90721a3d39b291e\n"))

    def test_every_decoding_command_names_the_type(self):
        vector = json.loads((ROOT / "Protocol/vectors/valid/absolute-fix-plain.json").read_text(encoding="utf-8"))
        log = ("--device", vector["device_id"], "--log", str(vector["log_id"]), "--reference", str(vector.get("reference", 0)))
        decoded = {"name": "absolute_fix", **vector["decoded"]}
        self.assertEqual(json.loads(run_reference("decode", *log, vector["bare"]).stdout), decoded)
        self.assertEqual(json.loads(run_reference("decode-lines", *log, data=vector["bare"] + "\n").stdout), decoded)
        serial = subprocess.run([sys.executable, str(REFERENCE), "decode-serial", *log], input=bytes.fromhex(vector["serial"]),
                                capture_output=True, check=True).stdout
        self.assertEqual(json.loads(serial), decoded)
        self.assertEqual(json.loads(run_reference("decode", vector["bare"]).stdout), {"name": "absolute_fix", "error": "check_failed"})


if __name__ == "__main__":
    unittest.main()
