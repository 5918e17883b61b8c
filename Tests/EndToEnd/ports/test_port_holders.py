"""A port that another program holds: the message names that program, if it can be found."""

import os
import pathlib
import shutil
import subprocess
import sys
import time
import unittest

from end_to_end import IS_ROOT, EndToEndTest, wait_until
from private_terminals import SCRIPT, load_privately
from serial_line import SerialLine

# Opens and locks a port, as programs do that use a port, and then becomes another program.
HOLD = 'exec 9<>"$1" && flock -n 9 && echo ready && exec "$2" 1000'

# Terminals up to a number, and a reader of the last one that does not have the other end open.
CONTAINER = """
import os, subprocess, sys
paths = [os.ttyname(os.openpty()[1]) for _ in range(int(sys.argv[1]) + 1)]
assert paths[-1] == f"/dev/pts/{sys.argv[1]}", paths
# The receiver, which is an ordinary user's, must see the reader.
os.chown(paths[-1], 65534, 65534)
reader = subprocess.Popen(["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "cat", paths[-1]])
print("ready", flush=True)
reader.wait()
"""


class PortHolderTest(EndToEndTest):
    def line(self):
        line = SerialLine()
        self.addCleanup(line.close)
        return line

    @staticmethod
    def readers_of(path):
        """The processes of the ordinary user that have a file of this name open."""
        found = subprocess.run(
            ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "sh", "-c", f'ls -l /proc/[0-9]*/fd 2>/dev/null | grep -- "-> {path}$"'],
            capture_output=True, check=False)
        return found.stdout

    def refuse(self, line):
        """Checks that the receiver ends at once with one message. Returns the message."""
        # The test itself must not appear as a holder of the port.
        line.leave()
        receiver = self.receive(port=line.path, state=self.path("refused"))
        self.assertEqual(receiver.wait(5), 75, receiver.error_text)
        self.assertEqual(receiver.lines, [])
        self.assert_one_message(receiver)
        return receiver.error_text

    def hold(self, line, program="sleep", **options):
        holder = self.start(["sh", "-c", HOLD, "sh", line.path, program], **options)
        holder.wait_for_lines(1)
        name = os.path.basename(program) + "\n"
        wait_until(lambda: pathlib.Path(f"/proc/{holder.pid}/comm").read_text("ascii") == name, 5, "the holder")
        return holder

    def test_named(self):
        line = self.line()
        holder = self.receive(port=line.path)
        holder.wait_for_error("listening")
        text = self.refuse(line)
        self.assertIn(f"{line.path} is in use by collar-link (process {holder.pid})", text)
        self.assertIn(f"kill {holder.pid}", text)

    def test_another_program(self):
        """Proves the tests below: the same holder is found if the receiver may look at it."""
        line = self.line()
        holder = self.hold(line)
        self.assertIn(f"in use by sleep (process {holder.pid})", self.refuse(line))

    def test_hidden(self):
        """Only root may look at the open files of an unreadable program, not even the user who runs it."""
        program = self.path("hidden")
        shutil.copyfile(shutil.which("sleep"), program)
        os.chmod(program, 0o111)
        line = self.line()
        self.hold(line, program)
        self.assert_unnamed(line)

    @unittest.skipUnless(IS_ROOT, "needs another user")
    def test_of_another_user(self):
        line = self.line()
        self.hold(line, user="root", group="root")
        self.assert_unnamed(line)

    def test_a_reader_without_a_lock(self):
        """A program that reads the port takes bytes away. It is named when the port is opened, once."""
        line = self.line()
        reader = self.start(["cat", line.path])
        wait_until(lambda: line.path in reader.open_files, 5, "the reader")
        line.leave()
        receiver = self.receive("--events", "error", port=line.path)
        receiver.wait_for_error(f"{line.path} is also open in cat (process {reader.pid})")
        receiver.wait_for_error(f"kill {reader.pid}")
        # The search for one that takes bytes, as no collar is heard, finds the same one.
        receiver.wait_for_error("has identified itself for 1 s")
        self.assertEqual(receiver.stop(), 0)
        self.assertEqual(receiver.error_text.count("is also open in"), 1)
        codes = [(error["code"], error["port"]) for error in receiver.fixes]
        self.assertIn(("device_in_use", line.path), codes)

    @unittest.skipUnless(IS_ROOT, "needs another user")
    def test_a_terminal_of_a_container_with_the_same_name(self):
        """Its reader is innocent: the file of that name is another one."""
        line = self.line()
        number = int(os.path.basename(line.path))
        container = self.start([SCRIPT, sys.executable, "-c", CONTAINER, str(number)], user="root", group="root")
        container.wait_for_lines(1)
        wait_until(lambda: self.readers_of(line.path), 5, "a reader of that name")
        line.leave()
        receiver = self.receive("--events", "error", port=line.path)
        receiver.wait_for_error("has identified itself for 1 s")
        self.assertEqual(receiver.stop(), 0)
        self.assertNotIn("also open", receiver.error_text)

    def test_a_reader_that_comes_later(self):
        """It is named at once, and once, though no bytes are missing yet."""
        line = self.line()
        receiver = self.receive(port=line.path)
        receiver.wait_for_error("listening")
        # A program that closes the port again at once takes nothing.
        os.close(os.open(line.path, os.O_RDWR | os.O_NOCTTY))
        time.sleep(0.6)
        self.assertNotIn("is also open in", receiver.error_text)
        reader = self.start(["cat", line.path])
        receiver.wait_for_error(f"is also open in cat (process {reader.pid})", 3)
        os.write(line.master, b"\0\x05half\0")
        receiver.wait_for_error("has identified itself for 5 s")
        self.assertEqual(receiver.error_text.count("is also open in"), 1)

    @unittest.skipUnless(IS_ROOT, "needs another user")
    def test_a_reader_of_another_user_that_comes_later(self):
        """Programs of root, such as ModemManager, open the port in spite of the lock, and only root sees them."""
        line = self.line()
        line.leave()
        receiver = self.receive("--events", "error", port=line.path)
        receiver.wait_for_error("listening")
        for _ in range(2):
            reader = self.start(["cat", line.path], user="root", group="root")
            receiver.wait_for_error(f"{line.path} is also open in another program", 3)
            receiver.wait_for_error(f"sudo fuser -v {line.path}")
            reader.kill_now()
            time.sleep(1.5)
        self.assertEqual(receiver.stop(), 0)
        self.assertEqual(receiver.error_text.count("is also open in"), 1)

    @unittest.skipUnless(IS_ROOT, "needs another user")
    def test_a_reader_of_another_user_that_had_the_port_open_before(self):
        """Nobody but root sees it when the port is opened. It is reported when it reads, once, and not when the receiver reads."""
        line = self.line()
        script = 'exec 9<>"$1" && echo open && read -r _ && echo reads && exec cat <&9 >/dev/null'
        reader = self.start(["sh", "-c", script, "sh", line.path], user="root", group="root", stdin=subprocess.PIPE)
        reader.wait_for_lines(1)
        line.leave()
        receiver = self.receive(port=line.path)
        receiver.wait_for_error("listening")

        def send(count):
            for _ in range(count):
                os.write(line.master, b"\0\x05half\0")
                time.sleep(0.02)

        send(50)
        time.sleep(0.5)
        self.assertNotIn("is also open in", receiver.error_text)
        reader.process.stdin.write(b"\n")
        reader.process.stdin.flush()
        reader.wait_for_lines(2)
        wait_until(lambda: send(1) or "is also open in" in receiver.error_text, 10, "a report")
        receiver.wait_for_error(f"{line.path} is also open in another program")
        send(100)
        self.assertEqual(receiver.stop(), 0)
        self.assertEqual(receiver.error_text.count("is also open in"), 1)

    def assert_unnamed(self, line):
        """Checks that the message says that the port is busy, and how root finds the holder."""
        text = self.refuse(line)
        self.assertIn(f"{line.path} is in use by another program.", text)
        self.assertIn(f"sudo fuser -v {line.path}", text)
        self.assertNotIn("process", text)


def load_tests(loader, _, __):
    return load_privately(loader, "test_port_holders", PortHolderTest)


if __name__ == "__main__":
    unittest.main()
