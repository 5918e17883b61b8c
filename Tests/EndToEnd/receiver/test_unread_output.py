"""Nobody reads the output, or only part of it: receiving, storing and acknowledging go on, and no line is lost."""

import fcntl
import json
import os
import signal
import socket
import time

from end_to_end import BINARY, EndToEndTest, wait_until


def fill(descriptor):
    """Writes until there is no more room."""
    os.set_blocking(descriptor, False)
    for size in (4096, 1):
        try:
            while True:
                os.write(descriptor, b"." * size)
        except BlockingIOError:
            pass
    os.set_blocking(descriptor, True)


class UnreadLinesTest(EndToEndTest):
    def setUp(self):
        super().setUp()
        # More lines than a pipe, a socket or a terminal holds.
        with open(self.all_cats()[0], "rb") as file:
            self.track_path, self.sent = self.write_track("cats.ndjson", file.readlines()[:1500])

    def open(self, ends):
        for end in ends:
            self.addCleanup(os.close, end)
        return ends

    def start_collar(self):
        return self.simulate(self.track_path, "--speed", "max", "--until-delivered")

    def assert_stored_and_resumed(self, stdout, read_rest):
        """A collar delivers everything while nobody reads lines. SIGTERM ends the receiver; the lines come later."""
        collar = self.start_collar()
        receiver = self.receive("-F", "json", stdout=stdout)
        self.assertEqual(collar.wait(60), 0, "lines that nobody reads stop the collar")
        start = time.monotonic()
        self.assertEqual(receiver.stop(), 0, receiver.error_text)
        self.assertLess(time.monotonic() - start, 3)
        first = read_rest()
        self.assertLess(first.count(b"\n"), len(self.sent) / 2, "the output held everything: this test shows nothing")
        again = self.receive()
        again.wait_for_lines(len(self.sent) - first.count(b"\n"), 30)
        self.assertEqual(again.stop(), 0)
        again.wait()
        return first, again

    def test_a_terminal(self):
        """The next run writes the lines that the terminal did not take."""
        master, slave = self.open(os.openpty())
        flags = fcntl.fcntl(slave, fcntl.F_GETFL)

        def read_rest():
            os.set_blocking(master, False)
            self.assertEqual(fcntl.fcntl(slave, fcntl.F_GETFL), flags, "the mode of somebody else's terminal is changed")
            data = b""
            try:
                while True:
                    data += os.read(master, 65536)
            except BlockingIOError:
                return data

        first, again = self.assert_stored_and_resumed(slave, read_rest)
        # The last line on the terminal may be incomplete.
        seen = [json.loads(line)["seq"] for line in first.split(b"\r\n")[:-1]]
        self.assertEqual({fix["seq"] for fix in again.fixes}.union(seen), set(range(len(self.sent))))

    def test_a_socket(self):
        ours, theirs = socket.socketpair()
        self.addCleanup(ours.close)
        self.addCleanup(theirs.close)
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4608)

        def read_rest():
            ours.setblocking(False)
            data = b""
            try:
                while True:
                    data += ours.recv(65536)
            except BlockingIOError:
                return data

        first, again = self.assert_stored_and_resumed(theirs, read_rest)
        self.assertGreaterEqual(first.count(b"\n") + len(again.fixes), len(self.sent))

    def test_a_terminal_that_goes_on(self):
        """A terminal stops, as with Ctrl-S, and goes on: -n ends when the terminal has all lines, and not before."""
        master, slave = self.open(os.openpty())
        self.start_collar()
        receiver = self.receive("-n", "200", "-F", "json", stdout=slave)
        time.sleep(1)
        self.assertIsNone(receiver.process.poll(), receiver.error_text)
        data = b""
        while data.count(b"\n") < 200:
            data += os.read(master, 65536)
        self.assertEqual(receiver.wait(5), 0, receiver.error_text)
        self.assertEqual(data.count(b"\n"), 200)

    def test_a_reader_that_dies(self):
        """The next run writes the lines that are in the pipe when its reader dies, and no line that was read."""
        for number, wanted in enumerate((1, 100)):
            with self.subTest(wanted=wanted):
                self.state, self.link = self.path(f"state-{number}"), self.path(f"collar-{number}")
                reader, writer = os.pipe()
                collar = self.start_collar()
                receiver = self.receive(stdout=writer)
                os.close(writer)
                data = b""
                while data.count(b"\n") < wanted:
                    data += os.read(reader, 1)
                self.assertEqual(collar.wait(60), 0)
                os.close(reader)
                self.assertEqual(receiver.wait(10), 0, receiver.error_text)
                again = self.receive()
                again.wait_for_lines(len(self.sent) - wanted, 30)
                self.assertEqual(again.stop(), 0)
                self.assert_each_once([json.loads(line) for line in data.splitlines()] + again.fixes, len(self.sent))

    def test_an_interrupted_pipeline(self):
        """Ctrl-C ends the receiver, and then its reader, with a full pipe: the next run writes all lines."""
        reader, writer = os.pipe()
        collar = self.start_collar()
        receiver = self.receive(stdout=writer)
        os.close(writer)
        self.assertEqual(collar.wait(60), 0)
        receiver.process.send_signal(signal.SIGINT)
        time.sleep(0.05)
        os.close(reader)
        self.assertEqual(receiver.wait(10), 0, receiver.error_text)
        again = self.receive()
        again.wait_for_lines(len(self.sent), 30)
        self.assertEqual(again.stop(), 0)
        self.assert_each_once(again.fixes, len(self.sent))

    def test_a_reader_that_dies_before_a_signal(self):
        """A reader dies, and no later write reveals that the pipe is broken: the next run writes all lines."""
        track, sent = self.track("cats_uk/Felix-Tag", 20)
        reader, writer = os.pipe()
        collar = self.simulate(track, "--speed", "max", "--until-delivered")
        receiver = self.receive(stdout=writer)
        os.close(writer)
        self.assertEqual(collar.wait(30), 0)
        os.close(reader)
        self.assertEqual(receiver.stop(), 0)
        again = self.receive()
        again.wait_for_lines(len(sent))
        self.assertEqual(again.stop(), 0)
        self.assert_each_once(again.fixes, len(sent))


    def test_killed_after_a_backlog(self):
        """After a crash, only the last of the lines that were read come again."""
        collar = self.start_collar()
        silent = self.receive("--events", "stats")
        self.assertEqual(collar.wait(60), 0)
        self.assertEqual(silent.stop(), 0)
        receiver = self.receive()
        receiver.wait_for_lines(len(self.sent))
        time.sleep(0.2)
        receiver.kill_now()
        again = self.receive()
        again.wait_for_error("to appear")
        self.assertEqual(again.stop(), 0)
        self.assertLess(len(again.fixes), 600)


class UnreadMessagesTest(EndToEndTest):
    seen = b""

    def test_messages_that_nobody_reads(self):
        """Such messages are dropped and counted. Lines are still written, and SIGTERM ends the program."""
        for name in ("pipe", "terminal"):
            with self.subTest(stderr=name):
                self.state, self.link = self.path(f"state-{name}"), self.path(f"collar-{name}")
                reader, writer = os.pipe() if name == "pipe" else os.openpty()
                self.addCleanup(os.close, reader)
                self.addCleanup(os.close, writer)
                fill(writer)
                track, sent = self.track("cats_uk/Felix-Tag")
                collar = self.simulate(track, "--speed", "max")
                receiver = self.receive_with(writer)
                receiver.wait_for_lines(len(sent))
                collar.process.send_signal(signal.SIGUSR1)
                time.sleep(2)
                if name == "pipe":
                    os.read(reader, 65536)
                    collar.process.send_signal(signal.SIGUSR1)
                    wait_until(lambda: b"lines are missing here" in self.peek(reader), 5, "the count of what is missing")
                start = time.monotonic()
                self.assertEqual(receiver.stop(), 0)
                self.assertLess(time.monotonic() - start, 3)
                self.assert_each_once(receiver.fixes, len(sent))

    def receive_with(self, stderr):
        return self.start(
            ["sh", "-c", 'exec "$@" 2>&0 0</dev/null', "sh", BINARY, "--port", self.link, "--state-dir", self.state],
            stdin=stderr)

    def peek(self, reader):
        os.set_blocking(reader, False)
        try:
            self.seen += os.read(reader, 65536)
        except BlockingIOError:
            pass
        return self.seen
