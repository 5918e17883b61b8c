"""Remedies can be carried out: every command and option that a message names exists, and each command is run as it is printed, in
the situation in which it is printed. `remedies.txt` says where."""

import ast
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import time
import unittest

from end_to_end import BINARY, ORDINARY_USER, ROOT, EndToEndTest, child_environment, wait_until
from radio import IDENTITY_REQUEST, Radio
from serial_line import SerialLine

import sealing
from sealing_keys import Known, derive
from session_parts import A, Collar
from statuses import KNOWN, STATUS, UNKNOWN
from wire import SerialDecoder, stuff

# The sources with messages for people. The tool itself knows its commands.
MESSAGES = [path for path in sorted(ROOT.glob("Sources/**/*.swift"))
            if "collar-link" not in path.parts and re.search(r"UserMessage\(|\bFinding\(", path.read_text("utf-8"))]
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
        text = "".join(path.read_text() for path in MESSAGES)
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
            "run", "send", "history", "receiver", "readers", "follow", "name", "devices", "decode", "simulate"))
        options = set(re.findall(r"(?<![\w/-])--[a-z][a-z-]+", text)) - OF_OTHER_PROGRAMS
        self.assertGreaterEqual(len(options), 8)
        for option in options:
            self.assertRegex(helps, rf"{option}\b", option)

    def test_every_remedy_has_a_test(self):
        """The unit tests check that the codes are all there."""
        for line in (ROOT / "Tests/EndToEnd/commands/remedies.txt").read_text("utf-8").splitlines():
            if line.startswith("#"):
                continue
            module, group, name = line.split(": ")[1].split(".")
            (path,) = (ROOT / "Tests/EndToEnd").glob(f"*/{module}.py")
            tree = ast.parse(path.read_text("utf-8"))
            classes = [each for each in tree.body if isinstance(each, ast.ClassDef) and each.name == group]
            self.assertTrue(any(isinstance(each, ast.FunctionDef) and each.name == name for one in classes for each in one.body), line)


class RemedyCase(EndToEndTest):
    """Everything is in the ordinary user's own places, so that the commands are complete as they are printed."""

    def setUp(self):
        super().setUp()
        tools = self.path("tools")
        os.mkdir(tools)
        os.symlink(BINARY, f"{tools}/collar-link")
        self.tools = tools
        self.own = self.of("state")

    def of(self, place):
        """The environment of a user whose state directories are below a place."""
        return child_environment(
            XDG_STATE_HOME=self.path(place), XDG_RUNTIME_DIR=self.path(place), HOME=self.folder, PATH=f"{self.tools}:{os.environ['PATH']}")

    def run_receiver(self, *arguments, environment=None, port=None):
        receiver = self.start([BINARY, "--port", port or self.link, "--events", "fix,error", *arguments],
                              environment=environment or self.own)
        receiver.wait_for_error("listening on")
        return receiver

    def report(self, receiver, code, seconds=20):
        """The error line with a code."""
        def found():
            return [line for line in receiver.fixes if line.get("code") == code]
        wait_until(found, seconds, code)
        return found()[-1]

    def carry_out(self, report, environment=None):
        """Starts the command in backticks that begins with the program's name."""
        command = re.search("`(collar-link [^`]*)`", report["remedy"])[1]
        self.assertNotRegex(command, "[A-Z]{2}")
        return self.start(["sh", "-c", command], environment=environment or self.own)


class PairingTest(RemedyCase):
    def press_and_pair(self, collar, receiver, code, environment):
        report = self.report(receiver, code)
        self.assertIn("press its button twice", report["remedy"])
        collar.process.send_signal(signal.SIGUSR2)
        self.assertEqual(self.carry_out(report, environment).wait(30), 0)
        found = subprocess.run([BINARY, "receiver", "show"], capture_output=True, text=True, env=environment, check=True, **ORDINARY_USER)
        return report["reason"], found.stdout.strip()

    def paired_collar(self):
        """A collar that belongs to the receiver of the state directory."""
        track, _ = self.track("cats_uk/Felix-Tag")
        collar = self.simulate(track, "--seed", "1", "--interval", "0.5")
        first = self.run_receiver()
        first.wait_for_lines(3)
        self.assertEqual(first.stop(), 0)
        found = subprocess.run([BINARY, "receiver", "show"], capture_output=True, text=True, env=self.own, check=True, **ORDINARY_USER)
        return collar, found.stdout.strip()

    def test_a_collar_of_another_receiver(self):
        collar, first = self.paired_collar()
        other = self.of("other")
        receiver = self.run_receiver(environment=other)
        reason, second = self.press_and_pair(collar, receiver, "paired_elsewhere", other)
        # The id is the one that the command shows, which `send pair --to` takes.
        self.assertIn(f"belongs to receiver {first}:", reason)
        self.assertNotEqual(first, second)
        receiver.stop()
        again = self.run_receiver(environment=other)
        again.wait_for_lines(2)
        self.assertNotIn("paired_elsewhere", [line.get("code") for line in again.fixes])
        again.stop()

    def test_a_copied_receiver(self):
        collar, first = self.paired_collar()
        # The birth time of a file, by which a copy is known, counts in whole seconds.
        time.sleep(1.1)
        subprocess.run(["cp", "-a", self.path("state"), self.path("copy")], check=True, **ORDINARY_USER)
        copy = self.of("copy")
        receiver = self.run_receiver(environment=copy)
        reason, _ = self.press_and_pair(collar, receiver, "receiver_copied", copy)
        self.assertIn(f"was written by receiver {first}:", reason)
        receiver.stop()


class RequestTest(RemedyCase):
    def begin(self):
        line = SerialLine()
        self.addCleanup(line.close)
        receiver = self.run_receiver("--dialect", "serial", port=line.path)
        radio = Radio(line)
        wait_until(lambda: radio.count(IDENTITY_REQUEST), 10, "the identity request of the opening")
        return receiver, radio

    def test_requests_to_a_collar(self):
        """The requests that the remedies of a collar's faults name reach it."""
        states = (({**KNOWN, "gnss": 0, "last_error": 0}, "location_services_disabled", "locate"),
                  ({**KNOWN, "gnss": 3, "last_error": 0}, "location_update_failed", "reboot"),
                  ({**KNOWN, "last_error": 3}, "collar_fault", "reboot"),
                  ({**UNKNOWN, "last_error": 0}, "location_services_disabled", "track on"))
        for status, code, verb in states:
            with self.subTest(f"{code}: {verb}"):
                # Errors of one kind come once a minute.
                self.own = self.of(f"state of {code} {verb}")
                receiver, radio = self.begin()
                radio.send(A.identity(following=40) + A.send(STATUS, status))
                report = self.report(receiver, code)
                self.assertIn(f"collar-link send {verb} --collar {A.log.device_id:016x}", report["remedy"])
                self.carry_out(report)
                sequences = iter(range(40))

                def is_sent():
                    sequence = next(sequences)
                    radio.send(A.fix(sequence, sequence % 7 + 1))
                    time.sleep(0.3)
                    return radio.count(20)
                wait_until(is_sent, 15, "the request")
                receiver.stop()

    def keyed(self):
        """A receiver with the key of a collar, the collar's sealing, and its radio."""
        key = "000102030405060708090a0b0c0d0e0f"
        path = pathlib.Path(self.path("key"))
        path.write_text(key + "\n", "ascii")
        path.chmod(0o644)
        name = f"{A.log.device_id:016x}"
        added = self.start([BINARY, "key", "add", name, str(path)], environment=self.own)
        self.assertEqual(added.wait(), 0, added.error_text)
        keys, decoder = derive(bytes.fromhex(key), A.log.device_id), SerialDecoder()

        def sealed(collar, serial, boot, counter, **more):
            return stuff(sealing.seal(decoder.feed(serial)[0], keys, Known(collar.log, boot, counter, **more)))
        receiver, radio = self.begin()
        return receiver, radio, sealed

    def test_a_collar_that_lost_its_key(self):
        receiver, radio, sealed = self.keyed()
        radio.send(sealed(A, A.identity(1, boot=3), 3, 0))
        radio.send(A.identity(2, following=9, boot=4) + A.fix(5, 3))
        report = self.report(receiver, "forgery_attempted")
        self.assertEqual(self.carry_out(report).wait(), 0)

        def is_taken():
            radio.send(A.identity(2, following=9, boot=4) + A.fix(5, 3))
            return any(line["type"] == "fix" for line in receiver.fixes)
        wait_until(is_taken, 10, "the fixes of the collar in clear")
        receiver.stop()

    def test_a_restart(self):
        receiver, radio, sealed = self.keyed()
        erased = Collar(A.log.device_id, 77, 17)
        radio.send(sealed(A, A.identity(1, boot=9), 9, 0))
        wait_until(lambda: radio.count(16), 10, "an answer")
        radio.send(sealed(erased, erased.identity(1, boot=1), 1, 0))
        report = self.report(receiver, "collar_restarted")
        self.assertEqual(self.carry_out(report).wait(), 0)
        radio.answers.clear()
        counters = iter(range(1, 100))

        def is_answered():
            radio.send(sealed(erased, erased.identity(1, boot=1), 1, next(counters)))
            return radio.count(16)
        wait_until(is_answered, 20, "an answer to the erased collar")
        receiver.stop()


class StandInTest(EndToEndTest):
    """Commands whose effect this machine cannot show: programs in the place of the system's note how they were called."""

    PROGRAMS = ("aa-complain", "chmod", "chown", "collar-link", "cp", "docker", "du", "fuser", "install", "mount", "mv", "namei", "newgrp",
                "nsenter", "raspi-config", "reboot", "sed", "snap", "systemctl", "tee", "timedatectl", "udevadm", "usbipd", "usermod",
                "journalctl", "nano")

    def test_commands_of_machines(self):
        """Each command that doctor gives for a recorded machine is run by a shell: it calls programs with whole words."""
        tools, notes = pathlib.Path(self.path("tools")), self.path("notes")
        tools.mkdir()
        for name in (*self.PROGRAMS, "sudo"):
            end = 'while [ "$1" = -u ]; do shift 2; done; exec "$@"' if name == "sudo" else ""
            (tools / name).write_text(
                f'#!/usr/bin/python3\nimport json, sys\nopen({notes!r}, "a").write(json.dumps([{name!r}] + sys.argv[1:]) + "\\n")\n'
                if not end else f"#!/bin/sh\n{end}\n", "utf-8")
            (tools / name).chmod(0o755)
        seen = set()
        for machine in sorted((ROOT / "Tests/Machines").iterdir()):
            if not (machine / "expected").exists():
                continue
            done = subprocess.run([BINARY, "doctor", "-F", "json", "--machine", machine], capture_output=True, text=True, check=False)
            for finding in map(json.loads, done.stdout.splitlines()):
                command = finding.get("command")
                # Those that write to a file of the user are carried out by other tests. `kill` is a part of the shell: it would reach
                # processes of this machine.
                if not command or ">" in command or command.startswith("kill "):
                    continue
                # Values that the user fills in.
                command = command.replace(" …", "").replace("${EDITOR:-nano}", "nano")
                # Nothing else is started, whatever a machine's file says.
                for part in re.split(r"&&|\|", command):
                    program = next(word for word in shlex.split(part) if word not in ("sudo", "-u", "bob"))
                    self.assertIn(program, (*self.PROGRAMS, "echo"), command)
                pathlib.Path(notes).write_text("", "ascii")
                subprocess.run(["/bin/sh", "-c", command], check=True, env={"PATH": f"{tools}", "HOME": "/home/alice"}, capture_output=True)
                called = [json.loads(line) for line in pathlib.Path(notes).read_text("utf-8").splitlines()]
                self.assertTrue(called, command)
                whole = shlex.split(command.replace(" ~/", " /home/alice/"))
                for word in (word for words in called for word in words):
                    self.assertIn(word, whole, command)
                seen.add(finding["code"])
        for line in (ROOT / "Tests/EndToEnd/commands/remedies.txt").read_text("utf-8").splitlines():
            if line.endswith("StandInTest.test_commands_of_machines"):
                self.assertIn(line.split(":")[0], seen)


if __name__ == "__main__":
    unittest.main()
