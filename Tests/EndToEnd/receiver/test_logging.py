"""Messages: levels and categories, the journal, and what is said after a crash."""

import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import unittest

from end_to_end import BINARY, IS_ROOT, EndToEndTest, child_environment

# In a mount namespace with an empty /run: makes a journal socket there, runs a command with its stderr in a socket whose numbers
# JOURNAL_STREAM has, and prints each datagram in hexadecimal digits.
JOURNAL = r"""
import os, pathlib, socket, subprocess, sys
subprocess.run(["mount", "-t", "tmpfs", "none", "/run"], check=True)
folder = pathlib.Path("/run/systemd/journal")
folder.mkdir(parents=True)
journal = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
if sys.argv[1] == "socket":
    journal.bind(str(folder / "socket"))
mine, theirs = socket.socketpair()
status = os.fstat(theirs.fileno())
device = status.st_dev + (sys.argv[1] == "other")
subprocess.run(sys.argv[2:], stderr=theirs, stdout=subprocess.DEVNULL,
    env={**os.environ, "JOURNAL_STREAM": f"{device}:{status.st_ino}"})
theirs.close()
journal.settimeout(0.5)
try:
    while True:
        print("datagram", journal.recv(65536).hex())
except OSError:
    pass
print("stderr", mine.makefile("rb").read().hex())
"""
NAMESPACE = ["unshare", "-m" if IS_ROOT else "-rm"]


def can_have_a_run_directory():
    return subprocess.run([*NAMESPACE, "mount", "-t", "tmpfs", "none", "/run"], capture_output=True, check=False).returncode == 0


def fields(datagram):
    """The fields of a datagram of the native journal protocol."""
    found = {}
    while datagram:
        name, _, rest = datagram.partition(b"\n")
        if b"=" in name:
            key, _, value = name.partition(b"=")
        else:
            key, length = name, struct.unpack_from("<Q", rest)[0]
            value, rest = rest[8:8 + length], rest[8 + length:]
            if rest[:1] != b"\n":
                raise ValueError("no line feed after a value")
            rest = rest[1:]
        found[key.decode()] = value.decode()
        datagram = rest
    return found


class LevelTest(EndToEndTest):
    def test_levels_and_categories(self):
        track, _ = self.track("cats_uk/Athena", 5)
        texts = {}
        for number, arguments in enumerate((
                [], ["--log", "debug"], ["--log", "warning"], ["-q"], ["--log", "error", "--log", "connectivity:info"],
                ["--log", "power:debug"], ["--log", "performance:debug"], ["-q", "--log", "info"])):
            link = self.path(f"collar-{number}")
            self.simulate(track, "--speed", "max", link=link)
            receiver = self.receive("-n", "5", *arguments, port=link, state=self.path(f"state-{number}"))
            self.assertEqual(receiver.wait(20), 0, receiver.error_text)
            texts[" ".join(arguments)] = receiver.error_text
        self.assertIn("listening on", texts[""])
        self.assertNotIn(" bytes: ", texts[""])
        self.assertRegex(texts["--log debug"], r"collar-1 in \d+ bytes: [0-9a-f]+")
        self.assertRegex(texts["--log debug"], r"collar-1 out \d+ bytes: [0-9a-f]+")
        for quiet in ("--log warning", "-q"):
            self.assertEqual(texts[quiet], "")
        self.assertIn("listening on", texts["--log error --log connectivity:info"])
        self.assertNotIn(" bytes: ", texts["--log power:debug"])
        self.assertRegex(texts["--log performance:debug"], r"\d+ frames, 5 fixes, 5 lines")
        self.assertNotIn(" bytes: ", texts["--log performance:debug"])
        self.assertIn("listening on", texts["-q --log info"])

    def test_usage(self):
        for command in ("run", "follow", "deliver"):
            for text, word in (("debgu", "debug"), ("crahs:info", "crash"), ("crash:eror", "error")):
                operands = ["x", "--", "true"] if command == "deliver" else []
                program = self.start([BINARY, command, "--log", text, *operands], environment=child_environment(HOME=self.folder))
                self.assertEqual(program.wait(5), 64, program.error_text)
                self.assertIn(f"Did you mean {word}?", program.error_text)
                self.assertIn("collar-location", program.error_text)


class CrashTest(EndToEndTest):
    def run_and_end(self, number):
        receiver = self.receive(environment=child_environment(SWIFT_BACKTRACE="enable=no"))
        receiver.wait_for_error("waiting for")
        receiver.process.send_signal(number)
        receiver.wait(10)
        return receiver

    def told(self):
        """What a start says of the run before; the run ends at once."""
        receiver = self.receive("-T", "0.2", "--events", "error")
        self.assertEqual(receiver.wait(10), 0)
        self.codes = [line["code"] for line in receiver.fixes]
        return [line for line in receiver.error_text.splitlines() if "The last run" in line]

    def test_a_killed_run_is_told_once(self):
        killed = self.run_and_end(signal.SIGKILL)
        self.assertEqual(len(self.told()), 1)
        self.assertEqual(self.codes, ["run_crashed"])
        self.assertEqual(self.told(), [])
        self.assertEqual(self.codes, [])
        del killed

    def test_a_crash_is_told_with_its_signal(self):
        for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGILL):
            with self.subTest(signal=number):
                crashed = self.run_and_end(number)
                self.assertEqual(crashed.process.returncode, -number, "the signal ends the program as ever")
                self.assertIn(f"(process {crashed.pid}) crashed by signal {int(number)};", self.told()[0])

    def test_what_is_no_crash(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            self.run_and_end(number)
            self.assertEqual(self.told(), [])
        self.run_and_end(signal.SIGKILL)
        # As after a power cut: the machine was started since.
        marker = pathlib.Path(self.state, "running")
        self.assertIn("boot=" + pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip(), marker.read_text())
        marker.write_text("process=1\nboot=00000000-0000-0000-0000-000000000000\n")
        self.assertEqual(self.told(), [])
        self.assertFalse(marker.exists())


@unittest.skipUnless(can_have_a_run_directory(), "needs leave to mount a /run of its own")
class JournalTest(EndToEndTest):
    def messages(self, kind, *command):
        done = subprocess.run(
            [*NAMESPACE, sys.executable, "-c", JOURNAL, kind, *command], capture_output=True, text=True, check=True, timeout=60,
            env=child_environment(HOME=self.folder))
        lines = [line.split(" ", 1) for line in done.stdout.splitlines()]
        return ([fields(bytes.fromhex(value)) for name, value in lines if name == "datagram"],
                bytes.fromhex(lines[-1][1].strip() if len(lines[-1]) == 2 else "").decode())

    def test_fields(self):
        datagrams, stderr = self.messages("socket", BINARY, "--port", self.path("none"), "-T", "0.2", "--state-dir", self.state)
        self.assertEqual(stderr, "")
        self.assertEqual(datagrams, [{
            "PRIORITY": "6", "SYSLOG_IDENTIFIER": "collar-link", "COLLAR_LINK_CATEGORY": "connectivity", "COLLAR_LINK_LEVEL": "info",
            "MESSAGE": f"The receiver is waiting for {self.path('none')} to appear."}])
        datagrams, _ = self.messages("socket", BINARY, "--read", self.path("none"))
        self.assertEqual(datagrams[0]["PRIORITY"], "3")
        self.assertEqual(datagrams[0]["MESSAGE"].splitlines()[1], "Name a file that `--write` has made.")

    def test_without_the_socket_lines_have_priorities(self):
        datagrams, stderr = self.messages("none", BINARY, "--read", self.path("none"))
        self.assertEqual(datagrams, [])
        self.assertRegex(stderr, r"\A<3>\S+none cannot be read: .*\n\Z")

    def test_another_stream(self):
        """JOURNAL_STREAM may be inherited by a program whose stderr leads elsewhere."""
        datagrams, stderr = self.messages("other", BINARY, "--read", self.path("none"))
        self.assertEqual(datagrams, [])
        self.assertTrue(stderr.startswith("collar-link: "), stderr)



class ServiceManagerTest(EndToEndTest):
    """A service manager learns that the receiver is ready, and that it stops (sd_notify(3))."""

    def states(self, name):
        manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(manager.close)
        manager.bind(name)
        manager.settimeout(30)
        if not name.startswith("\0"):
            os.chmod(name, 0o666)
        receiver = self.start(
            [BINARY, "run", "--events", "none", "--port", self.path("no-port"), "--state-dir", self.state],
            environment=child_environment(NOTIFY_SOCKET=name.replace("\0", "@")))
        ready = manager.recv(100)
        receiver.wait_for_error("no-port")
        self.assertEqual(receiver.stop(), 0, receiver.error_text)
        return [ready, manager.recv(100)]

    def test_a_socket_with_a_path(self):
        os.chmod(self.folder, 0o755)
        self.assertEqual(self.states(self.path("notify")), [b"READY=1", b"STOPPING=1"])

    def test_an_abstract_socket(self):
        self.assertEqual(self.states(f"\0collar-link-test-{os.getpid()}"), [b"READY=1", b"STOPPING=1"])


if __name__ == "__main__":
    unittest.main()
