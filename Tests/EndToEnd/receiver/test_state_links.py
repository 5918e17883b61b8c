"""Files that another user has put into a state directory: symbolic links, files of another kind, and readers that nobody can read."""

import ctypes
import multiprocessing
import os
import shutil
import subprocess
import unittest

from end_to_end import BINARY, IS_ROOT, EndToEndTest, give_to_ordinary_user
from ordinary_user import ORDINARY_USER
from radio import Radio
from serial_line import SerialLine

from session_parts import A, B

NAME_A = f"{A.log.device_id:016x}"
KEY = "000102030405060708090a0b0c0d0e0f"
OWNER = 4242  # the user to whom the state directory belongs
ROUNDS = 50


def exchange(keys, link):
    """Exchanges a directory and a link to a directory of root, without a pause."""
    rename = ctypes.CDLL(None, use_errno=True).renameat2
    at_path, exchanging = -100, 2
    os.setgroups([])
    os.setresgid(OWNER, OWNER, OWNER)
    os.setresuid(OWNER, OWNER, OWNER)
    while True:
        if rename(at_path, os.fsencode(keys), at_path, os.fsencode(link), exchanging) != 0:
            raise OSError(ctypes.get_errno(), "renameat2")


class StateLinkTest(EndToEndTest):
    def run_tool(self, *arguments, stdin="", **options):
        return subprocess.run([BINARY, *arguments, "--state-dir", self.state], input=stdin, text=True, capture_output=True,
                              timeout=30, **options)

    def as_root_and_user(self):
        """The options with which a tool runs as root, if the tests do, and as an ordinary user."""
        return [{}, ORDINARY_USER] if IS_ROOT else [{}]

    def fill(self):
        """A state directory with a collar, a key, a reader and events."""
        line = SerialLine()
        self.addCleanup(line.close)
        receiver = self.receive(port=line.path)
        receiver.wait_for_error("listening on")
        Radio(line).send(A.identity() + A.fix(0))
        receiver.wait_for_lines(1)
        reader = self.start([BINARY, "follow", "--as", "map", "-n", "1", "--state-dir", self.state])
        self.assertEqual(reader.wait(), 0, reader.error_text)
        self.assertEqual(receiver.stop(), 0, receiver.error_text)
        added = self.run_tool("key", "add", f"{B.log.device_id:016x}", "-", stdin=KEY)
        self.assertEqual(added.returncode, 0, added.stderr)

    def swap_for_link(self, name):
        """Puts a link to a copy in the place of a directory."""
        copy = self.path(f"copy-{name}")
        os.rename(f"{self.state}/{name}", copy)
        os.symlink(copy, f"{self.state}/{name}")
        return copy

    def put_back(self, name, copy):
        os.unlink(f"{self.state}/{name}")
        os.rename(copy, f"{self.state}/{name}")


class DirectoryTest(StateLinkTest):
    @unittest.skipUnless(IS_ROOT, "needs root")
    def test_the_owner_exchanges_keys_while_root_stores_one(self):
        os.chmod(self.folder, 0o755)
        os.mkdir(self.state, 0o700)
        os.mkdir(f"{self.state}/keys", 0o700)
        roots = self.path("roots")
        os.mkdir(roots, 0o755)
        os.symlink(roots, f"{self.state}/link")
        for path in (self.state, f"{self.state}/keys"):
            os.chown(path, OWNER, OWNER)
        swapper = multiprocessing.get_context("fork").Process(
            target=exchange, args=(f"{self.state}/keys", f"{self.state}/link"), daemon=True)
        swapper.start()
        codes = []
        try:
            for number in range(1, ROUNDS + 1):
                codes.append(self.run_tool("key", "add", f"{number:016x}", "-", stdin=KEY).returncode)
                self.assertEqual(os.listdir(roots), [], f"after {number} commands")
            self.assertTrue(swapper.is_alive(), "the exchanges have ended")
        finally:
            swapper.kill()
            swapper.join()
        self.assertEqual(os.stat(roots).st_uid, 0)
        self.assertLessEqual(set(codes), {0, 66, 73, 74, 75}, codes)

    @unittest.skipUnless(IS_ROOT, "needs root")
    def test_root_uses_no_directory_of_a_third_user(self):
        os.mkdir(self.state, 0o700)
        os.chown(self.state, OWNER, OWNER)
        os.mkdir(f"{self.state}/keys", 0o755)
        os.chown(f"{self.state}/keys", OWNER + 1, OWNER + 1)
        refused = self.run_tool("key", "add", "0123456789abcdef", "-", stdin=KEY)
        self.assertEqual(refused.returncode, 77, refused.stderr)
        self.assertIn(f"{self.state}/keys: it belongs to user {OWNER + 1}, and the state directory does not", refused.stderr)
        self.assertIn("Give it to the owner of the state directory", refused.stderr)
        self.assertEqual(os.listdir(f"{self.state}/keys"), [])

    def test_no_link_below_the_state_directory_is_followed(self):
        self.fill()
        os.chmod(self.folder, 0o755)
        uses = {
            "keys": (("key", "add", "00000000000000aa", "-"), ("key", "list")),
            "readers": (("readers",), ("readers", "--remove", "map"), ("follow", "--as", "map", "-n", "1")),
            "events": (("status",),),
            NAME_A: (("history",), ("metrics",), ("status",)),
        }
        for name, commands in uses.items():
            copy = self.swap_for_link(name)
            before = sorted(os.listdir(copy))
            for options in self.as_root_and_user():
                if options:
                    self.hand_over()
                for command in commands:
                    with self.subTest(command=command, options=options):
                        done = self.run_tool(*command, stdin=KEY, **options)
                        self.assertIn(done.returncode, (73, 74), done.stderr)
                        self.assertIn(f"{self.state}/{name}: it is a symbolic link", done.stderr)
                        self.assertIn(f"Remove what is in the way at {self.state}/{name}", done.stderr)
            self.assertEqual(sorted(os.listdir(copy)), before)
            self.put_back(name, copy)

    def hand_over(self):
        for folder, _, files in os.walk(self.state):
            for path in (folder, *(os.path.join(folder, each) for each in files)):
                give_to_ordinary_user(path)

    def test_a_receiver_serves_the_other_collars(self):
        self.fill()
        self.hand_over()
        shutil.rmtree(f"{self.state}/keys")
        copy = self.swap_for_link(NAME_A)
        before = {name: os.stat(f"{copy}/{name}").st_mtime_ns for name in os.listdir(copy)}
        line = SerialLine()
        self.addCleanup(line.close)
        receiver = self.receive(port=line.path)
        receiver.wait_for_error(f"{self.state}/{NAME_A}: it is a symbolic link")
        radio = Radio(line)
        radio.send(B.identity() + B.fix(0))
        self.assertEqual(radio.poll(B, 1)[0]["first_missing"], 1)
        receiver.stop()
        self.assertEqual({name: os.stat(f"{copy}/{name}").st_mtime_ns for name in os.listdir(copy)}, before)

    def test_the_state_directory_itself_may_be_a_link(self):
        other = self.path("disk")
        os.mkdir(other, 0o700)
        give_to_ordinary_user(other)
        os.symlink(other, self.state)
        self.fill()
        self.assertLess({"keys", "readers", "events", NAME_A}, set(os.listdir(other)))
        self.assertEqual(self.run_tool("key", "list").stdout, f"{B.log.device_id:016x}\n")

    def test_animals_file(self):
        """Its owner and mode stay, and nothing is given away by name."""
        folder = self.path("config")
        os.makedirs(f"{folder}/collar-link")
        animals = f"{folder}/collar-link/animals"
        with open(animals, "w", encoding="ascii") as file:
            file.write("")
        os.chmod(animals, 0o640)
        if IS_ROOT:
            os.chown(animals, OWNER, OWNER)
        done = subprocess.run([BINARY, "name", NAME_A, "Findus"], capture_output=True, text=True, timeout=30,
                              env={**os.environ, "XDG_CONFIG_HOME": folder})
        self.assertEqual(done.returncode, 0, done.stderr)
        status = os.stat(animals)
        self.assertGreater(status.st_size, 0)
        self.assertEqual((oct(status.st_mode & 0o7777), status.st_uid), ("0o640", OWNER if IS_ROOT else os.getuid()))


class ReaderFileTest(StateLinkTest):
    def odd_files(self):
        """Files that any member of the group may make in `readers`, and what is said of each."""
        readers = f"{self.state}/readers"
        with open(self.path("secret"), "w", encoding="ascii") as file:
            file.write("collar-link reader 1\nseen 1\ncollars all\n")
        os.symlink(self.path("secret"), f"{readers}/link.reader")
        os.mkfifo(f"{readers}/fifo.reader")
        os.mkdir(f"{readers}/folder.reader")
        texts = {"garbage": "x", "early": "seen -9223372036854775808", "late": "seen 9223372036854775807",
                 "began": f"seen 1\njournal {NAME_A} 1 0 -9223372036854775808 0", "segment": f"seen 1\njournal {NAME_A} 4294967295 0 0 0",
                 "events": "seen 1\nevents 4294967295 0"}
        for name, text in texts.items():
            with open(f"{readers}/{name}.reader", "w", encoding="ascii") as file:
                file.write(text if name == "garbage" else f"collar-link reader 1\n{text}\n")
        said = {"link": "it is a symbolic link", "fifo": "it is no file", "folder": "Is a directory"}
        return said | {name: "does not hold the position of a reader" for name in texts}

    def test_an_unreadable_reader_hides_nothing_and_fails_nothing(self):
        self.fill()
        said = self.odd_files()
        for command in (("metrics",), ("readers",), ("readers", "-F", "json"), ("status",), ("status", "-F", "json")):
            done = self.run_tool(*command)
            self.assertEqual(done.returncode, 0, (command, done.stderr))
            self.assertIn("map", done.stdout)
            for name, text in said.items():
                self.assertRegex(done.stderr, f"readers/{name}.reader:? .*{text}|readers/{name}.reader: {text}")
            self.assertEqual(done.stderr.count("Remove"), len(said), done.stderr)
            if command == ("metrics",):
                for name in said:
                    self.assertIn(f'collar_link_reader_unreadable{{reader="{name}"}} 1\n', done.stdout)
                self.assertIn('collar_link_reader_unreadable{reader="map"} 0\n', done.stdout)
                self.assertIn('collar_link_reader_lag_entries{reader="map"} 0\n', done.stdout)

    def test_a_lock_is_a_regular_file(self):
        self.fill()
        lock = f"{self.state}/readers/map.lock"
        for make, said in ((lambda: os.symlink(self.path("elsewhere"), lock), "it is a symbolic link"),
                           (lambda: os.mkfifo(lock), "it is no file"), (lambda: os.mkdir(lock), "Is a directory")):
            os.unlink(lock) if not os.path.isdir(lock) else os.rmdir(lock)
            make()
            for command in (("readers", "--remove", "map"), ("follow", "--as", "map", "-n", "1")):
                done = self.run_tool(*command)
                self.assertIn(done.returncode, (73, 74), (command, done.stderr))
                self.assertIn(f"{lock}: {said}", done.stderr)
                self.assertIn(f"Remove what is in the way at {lock}", done.stderr)
            self.assertFalse(os.path.exists(self.path("elsewhere")))
        os.rmdir(lock)
        self.assertEqual(self.run_tool("readers", "--remove", "map").returncode, 0)

    @unittest.skipUnless(IS_ROOT, "needs another user")
    def test_a_lock_of_another_user_is_named(self):
        self.fill()
        os.chmod(self.folder, 0o755)
        readers = f"{self.state}/readers"
        for name in ("web.lock", "web.reader"):
            with open(f"{readers}/{name}", "w", encoding="ascii"):
                pass
            os.chmod(f"{readers}/{name}", 0o600)
            os.chown(f"{readers}/{name}", OWNER, OWNER)
        for command, name in ((("deliver", "web", "--", "true"), "web.lock"), (("readers", "--remove", "web"), "web.lock"),
                              (("readers",), "web.reader")):
            done = subprocess.run([BINARY, command[0], "--state-dir", self.state, *command[1:]], capture_output=True, text=True,
                                  timeout=30, **ORDINARY_USER)
            self.assertEqual(done.returncode, 0 if command == ("readers",) else 77, done.stderr)
            self.assertIn(f"{readers}/{name} belongs to user {OWNER}", done.stderr)
            self.assertIn(f"remove the file: `sudo rm {readers}/{name}`.", done.stderr)


if __name__ == "__main__":
    unittest.main()
