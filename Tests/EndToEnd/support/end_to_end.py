"""Helpers of all end-to-end tests: folders, processes that never outlive a test, tracks and lines.

Every program runs as an ordinary user: as nobody if the tests run as root.
"""

import atexit
import contextlib
import gzip
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest

from ordinary_user import IS_ROOT, ORDINARY_USER, give_to_ordinary_user

ROOT = pathlib.Path(__file__).resolve().parents[3]
TRACKS = ROOT / "Tests" / "Tracks"


def _copy_binary():
    """Copies the program to a folder that every user may read: a checkout may be in a private home directory."""
    source = pathlib.Path(os.environ.get("COLLAR_LINK_BINARY", ROOT / ".build/release/collar-link"))
    folder = tempfile.mkdtemp(prefix="collar-link-binary-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.chmod(folder, 0o755)
    copy = os.path.join(folder, "collar-link")
    shutil.copyfile(source, copy)
    os.chmod(copy, 0o755)
    return copy


BINARY = _copy_binary()

# The start of a command that sees an empty folder in the place of /etc, as root: of a namespace, if the tests do not run as
# root.
WITH_OWN_ETC = ["unshare", "-m" if IS_ROOT else "-rm", "sh", "-c", 'mount -t tmpfs none /etc && exec "$@"', "sh"]


def can_replace_etc():
    """Whether commands may begin with WITH_OWN_ETC: some containers forbid it."""
    return subprocess.run([*WITH_OWN_ETC, "true"], capture_output=True, check=False).returncode == 0


def child_environment(**more):
    """The environment of the programs that a test starts. It has umockdev's library only if the test asks for it."""
    removed = ("LD_PRELOAD", "XDG_STATE_HOME", "XDG_CONFIG_HOME")
    environment = {key: value for key, value in os.environ.items() if key not in removed}
    return {**environment, **more}


class Program:
    """A running program whose output is collected, line by line. If the tests run as root, it runs as `user`."""

    def __init__(self, command, reads_output=True, stdout=subprocess.PIPE, environment=None, user="nobody", group="nogroup",
                 **options):
        self.errors = []
        self.lines = []
        self._readers = []
        self._grown = threading.Condition()
        # With its option `user`, Popen forks, and the child hangs if a thread of this process holds a lock of
        # umockdev's library. Without `user`, Popen uses vfork.
        if IS_ROOT:
            command = ["setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups", *command]
        self.process = subprocess.Popen(
            command, stdin=options.pop("stdin", subprocess.DEVNULL), stdout=stdout, stderr=subprocess.PIPE,
            env=environment or child_environment(), **options)
        self._collect(self.process.stderr, self.errors)
        if reads_output and stdout is subprocess.PIPE:
            self.start_reading()

    @property
    def pid(self):
        return self.process.pid

    @property
    def open_files(self):
        """The files that are open in the program. It opens and closes others meanwhile: those that vanish do not count."""
        opened = set()
        for entry in os.scandir(f"/proc/{self.pid}/fd"):
            with contextlib.suppress(FileNotFoundError):
                opened.add(os.readlink(entry.path))
        return opened

    def start_reading(self):
        self._collect(self.process.stdout, self.lines)

    def _collect(self, stream, lines):
        def run():
            for line in stream:
                with self._grown:
                    lines.append(line.decode())
                    self._grown.notify_all()
        reader = threading.Thread(target=run, daemon=True)
        reader.start()
        self._readers.append(reader)

    @property
    def error_text(self):
        return "".join(self.errors)

    def _wait_for(self, condition, seconds, what):
        with self._grown:
            if not self._grown.wait_for(condition, PATIENCE * seconds):
                raise AssertionError(f"no {what} within {seconds} s; stderr:\n{''.join(self.errors)}")

    def wait_for_lines(self, count, seconds=15):
        self._wait_for(lambda: len(self.lines) >= count, seconds, f"{count} lines (there are {len(self.lines)})")

    def wait_for_error(self, text, seconds=10):
        self._wait_for(lambda: text in self.error_text, seconds, f"word about {text!r}")

    def wait_for_errors(self, text, count, seconds=10):
        self._wait_for(lambda: self.error_text.count(text) >= count, seconds, f"{count} words about {text!r}")

    def wait(self, seconds=15):
        """Waits for the end of the program. Returns its exit code; all of its output is collected by then."""
        try:
            code = self.process.wait(PATIENCE * seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running after {seconds} s; stderr:\n{self.error_text}") from None
        for reader in self._readers:
            reader.join(5)
        return code

    def stop(self, with_signal=signal.SIGTERM, seconds=10):
        self.process.send_signal(with_signal)
        return self.wait(seconds)

    def kill_now(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for reader in self._readers:
            reader.join(5)
        for stream in (self.process.stdout, self.process.stderr):
            if stream:
                stream.close()

    @property
    def fixes(self):
        """The lines of the program as objects. An incomplete line is an error: each line is written at once."""
        for line in self.lines:
            if not line.endswith("\n"):
                raise AssertionError(f"half a line: {line!r}")
        return [json.loads(line) for line in self.lines]


class EndToEndTest(unittest.TestCase):
    """A test with its own folder. When it ends, all its processes are killed, even if it fails."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="collar-link-test-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        give_to_ordinary_user(self.folder)
        self.link = self.path("collar")
        self.state = self.path("state")

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, command, **options):
        program = Program(command, cwd=self.folder, **options)
        self.addCleanup(program.kill_now)
        return program

    def receive(self, *arguments, state=None, port=None, **options):
        """Starts a receiver, by default at the port of the simulated collar. A port that the test itself serves carries the
        serial line: the test need not answer the questions with which a stick's dialect is found out."""
        command = [BINARY, "--port", port or self.link, "--state-dir", state or self.state, *arguments]
        if port:
            command += ["--dialect", "serial"]
        return self.start(command, **options)

    def simulate(self, track, *arguments, link=None, **options):
        """Starts a simulated collar and waits until its port can be opened."""
        program = self.start(
            [BINARY, "simulate", "--track", track, "--link", link or self.link, *arguments], **options)
        program.wait_for_lines(1)
        return program

    def track(self, name, limit=None):
        """A track of Tests/Tracks as a plain file. Returns its path and its fixes."""
        return self.unpack(TRACKS / f"{name}.ndjson.gz", limit)

    def unpack(self, source, limit=None):
        lines = gzip.decompress(source.read_bytes()).splitlines(keepends=True)[:limit]
        return self.write_track(source.name.replace(".gz", ""), lines)

    def all_cats(self, limit=None):
        """A long track: the walks of all cats, one after the other."""
        lines = []
        for source in sorted((TRACKS / "cats_uk").glob("*.ndjson.gz")):
            for line in gzip.decompress(source.read_bytes()).splitlines():
                if len(lines) == limit:
                    break
                fix = {**json.loads(line), "seq": len(lines)}
                lines.append(json.dumps(fix).encode() + b"\n")
        return self.write_track("all-cats.ndjson", lines)

    def write_track(self, name, lines):
        path = self.path(name)
        pathlib.Path(path).write_bytes(b"".join(lines))
        os.chmod(path, 0o644)
        return path, [json.loads(line) for line in lines]

    def assert_each_once(self, fixes, count):
        """Checks that each of the first `count` sequences is there exactly once."""
        sequences = sorted(fix["seq"] for fix in fixes)
        if sequences != list(range(count)):
            missing = sorted(set(range(count)) - set(sequences))
            doubled = sorted({one for one in sequences if sequences.count(one) > 1})
            self.fail(f"of {count} fixes {len(fixes)} came; missing: {missing}; doubled: {doubled}")
        self.assertEqual(len({fix["id"] for fix in fixes}), count, "two fixes have one id")

    def assert_union_complete(self, fixes, count):
        """Checks that the first `count` sequences are there, and that each id has one sequence and one content."""
        by_id, id_of = {}, {}
        for fix in fixes:
            # A fix that was not yet durable when the receiver was killed is received again, at another time.
            content = {key: value for key, value in fix.items() if key != "rx_unix_ms"}
            self.assertEqual(by_id.setdefault(fix["id"], content), content, "one id, two contents")
            self.assertEqual(id_of.setdefault(fix["seq"], fix["id"]), fix["id"], "one fix, two ids")
        self.assertEqual(sorted(id_of), list(range(count)), "not every fix came")

    def assert_one_message(self, program):
        """Checks that stderr holds one message and, below it, one remedy."""
        lines = program.error_text.splitlines()
        messages = [line for line in lines if not line.startswith("collar-link:   ")]
        self.assertEqual(len(messages), 1, f"not one message: {lines}")
        self.assertEqual(len(lines), 2, f"not one remedy: {lines}")
        self.assertTrue(lines[0].startswith("collar-link: "), lines)

    def assert_said(self, program, count, text, seconds=5):
        """Waits until a program has said a text `count` times on stderr, and checks that it has not said it more often."""
        wait_until(lambda: program.error_text.count(text) >= count, seconds, f"{text!r} {count} times")
        self.assertEqual(program.error_text.count(text), count, program.error_text)


# Limits of time are those of a quiet machine. Beside other programs that keep its processors busy, everything may take this many times
# as long.
PATIENCE = 3


def wait_until(condition, seconds, what):
    """Tests a condition again and again until it holds; fails after the time limit of ``seconds``, see PATIENCE."""
    deadline = time.monotonic() + PATIENCE * seconds
    # Poll quickly at first: most conditions hold soon.
    pause = 0.0005
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {seconds} s")
        time.sleep(pause)
        pause = min(1.5 * pause, 0.01)


def next_second():
    """Waits until a file that is made now has a later birth time than those before: it counts in whole seconds."""
    start = int(time.time())
    wait_until(lambda: time.time() >= start + 1.02, 5, "the next second")
