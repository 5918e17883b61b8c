"""The surroundings of the program: closed descriptors, a limit of file sizes, and text that controls terminals."""

import os
import subprocess

from end_to_end import BINARY, EndToEndTest, child_environment

ESCAPES = "\x1b]0;owned\x07\x1b[31m\x9b2Jred\n\u202e"


class ClosedDescriptorTest(EndToEndTest):
    def test_closed_at_the_start(self):
        """A file that the program opens does not take the place of a closed stdin, stdout or stderr."""
        track, sent = self.track("cats_uk/Felix-Tag")
        for closed in ("0<&- 1>&- 2>&-", "2>&-", "1>&-", "0<&-"):
            with self.subTest(closed=closed):
                name = "".join(filter(str.isdigit, closed))
                self.state, self.link = self.path(f"state-{name}"), self.path(f"collar-{name}")
                collar = self.simulate(track, "--speed", "max", "--until-delivered")
                receiver = self.start(
                    ["sh", "-c", f'exec "$@" {closed}', "sh", BINARY, "--port", self.link, "--state-dir", self.state])
                self.assertEqual(collar.wait(20), 0, "nothing is received")
                open_files = {number: os.readlink(f"/proc/{receiver.pid}/fd/{number}") for number in closed if number.isdigit()}
                self.assertEqual(set(open_files.values()), {"/dev/null"})
                self.assertEqual(receiver.stop(), 0, receiver.error_text)
                history = self.start([BINARY, "history", "--state-dir", self.state])
                self.assertEqual(history.wait(), 0, history.error_text)
                self.assert_each_once(history.fixes, len(sent))
                for folder, _, files in os.walk(self.state):
                    for file in files:
                        with open(os.path.join(folder, file), "rb") as content:
                            self.assertNotIn(b"listening on", content.read())


class FileSizeTest(EndToEndTest):
    def test_a_limit_of_file_sizes(self):
        """Nothing is acknowledged while files may not grow. Once they may grow, the receiver continues by itself."""
        track, sent = self.track("gpsd_rx/sirf2")
        collar = self.simulate(track, "--speed", "max", "--until-delivered")
        receiver = self.start(
            ["prlimit", "--fsize=8192:unlimited", BINARY, "--port", self.link, "--state-dir", self.state])
        receiver.wait_for_error("Nothing of collar")
        self.assertIsNone(receiver.process.poll())
        self.assertIsNone(collar.process.poll())
        self.assertEqual(self.start(["prlimit", f"--pid={receiver.pid}", "--fsize=unlimited"]).wait(), 0)
        self.assertEqual(collar.wait(60), 0, receiver.error_text)
        self.assertEqual(receiver.stop(), 0, receiver.error_text)
        self.assert_each_once(receiver.fixes, len(sent))

    def test_lines_into_a_limited_file(self):
        track, _ = self.track("gpsd_rx/sirf2")
        self.simulate(track, "--speed", "max")
        with open(self.path("lines"), "wb") as lines:
            receiver = self.start(
                ["sh", "-c", 'ulimit -f 16; exec "$@"', "sh", BINARY, "--port", self.link, "--state-dir", self.state],
                stdout=lines)
            self.assertEqual(receiver.wait(20), 74, receiver.error_text)


class ForeignTextTest(EndToEndTest):
    def assert_tame(self, data):
        text = data.decode()
        wild = [character for character in text if character != "\n" and not character.isprintable()]
        self.assertEqual(wild, [])
        self.assertLess(len(text), 4096)

    def test_arguments_and_lines(self):
        """Text that a message echoes is short, harmless, and on one line."""
        for text in (ESCAPES, "x" * 100_000):
            cases = [([text], b""), (["--" + text], b""), (["--since", text], b""), (["--events", text], b""),
                     (["--port", self.path("no") + "/" + text[:200], "--no-reconnect"], b""), (["send", text], b""),
                     (["send", "settings", "set", text], b""), (["history", "--state-dir", self.path(text[:100])], b""),
                     (["decode", text[:200]], b""), (["encode"], b'{"' + text.encode() + b'":1}\n'),
                     (["encode"], b'{"source":"' + text.encode().replace(b"\n", b"\\n") + b'"}\n')]
            for arguments, data in cases:
                with self.subTest(arguments=[word[:40] for word in arguments], data=data[:40]):
                    result = subprocess.run(
                        [BINARY, *arguments], input=data, capture_output=True, timeout=20, check=False,
                        env=child_environment(HOME=self.folder))
                    self.assertNotEqual(result.returncode, 0)
                    self.assert_tame(result.stderr)
                    self.assertLessEqual(len(result.stderr.splitlines()), 2)
