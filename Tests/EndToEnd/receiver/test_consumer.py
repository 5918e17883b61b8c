"""The reader of the lines may stop reading, close its end, or want only some of the lines."""

import json
import os
import subprocess
import time

import jsonschema

from end_to_end import BINARY, ROOT, EndToEndTest, child_environment

TRACK = "gpsd_rx/sirf2"
SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "Protocol/schema/fix.schema.json").read_text()))


class ConsumerTest(EndToEndTest):
    def start_collar(self, *arguments):
        self.track_path, self.sent = self.track(TRACK)
        return self.simulate(self.track_path, "--speed", "max", "--until-delivered", *arguments)

    def test_head_takes_three_lines(self):
        """`| head -n 3`: the receiver ends with 0 and without an error, and the next run writes further lines."""
        collar = self.start_collar()
        head = subprocess.Popen(["head", "-n", "3"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(head.stdout.close)
        receiver = self.receive(stdout=head.stdin)
        head.stdin.close()
        first = [json.loads(line) for line in head.stdout]
        self.assertEqual(head.wait(10), 0)
        self.assertEqual(len(first), 3)
        self.assertEqual(receiver.wait(10), 0, receiver.error_text)
        self.assertNotIn("rror", receiver.error_text)
        self.assertNotIn("pipe", receiver.error_text.lower())
        again = self.receive()
        self.assertEqual(collar.wait(30), 0)
        self.assertEqual(again.stop(), 0)
        # Lines that head read and did not print are gone, but the journal has them. No line is written twice.
        fixes = first + again.fixes
        self.assertEqual(len({fix["seq"] for fix in fixes}), len(fixes))
        self.assertGreater(len(again.fixes), 0)

    def test_closed_before_the_first_line(self):
        """If the consumer closes its end at once, nothing is lost: the next run writes everything."""
        collar = self.start_collar()
        reader, writer = os.pipe()
        os.close(reader)
        receiver = self.receive(stdout=writer)
        os.close(writer)
        self.assertEqual(receiver.wait(10), 0, receiver.error_text)
        again = self.receive()
        self.assertEqual(collar.wait(30), 0)
        self.assertEqual(again.stop(), 0)
        self.assert_each_once(again.fixes, len(self.sent))

    def test_stopped_consumer(self):
        """While nobody reads the lines, the collar still gets acknowledgements; all lines are written later."""
        track, sent = self.all_cats()
        collar = self.simulate(track, "--speed", "max", "--until-delivered")
        receiver = self.receive(reads_output=False)
        self.assertEqual(collar.wait(60), 0, "a stopped consumer stops the collar")
        receiver.start_reading()
        receiver.wait_for_lines(len(sent), 30)
        self.assertEqual(receiver.stop(), 0)
        self.assert_each_once(receiver.fixes, len(sent))

    def test_stopped_consumer_and_restart(self):
        """The next run writes the lines that did not fit the pipe of a stopped consumer, and no other lines."""
        track, sent = self.all_cats()
        collar = self.simulate(track, "--speed", "max", "--until-delivered")
        receiver = self.receive(reads_output=False)
        self.assertEqual(collar.wait(60), 0)
        receiver.process.terminate()
        self.assertEqual(receiver.process.wait(10), 0)
        receiver.start_reading()
        receiver.wait()
        self.assertLess(len(receiver.fixes), len(sent), "the pipe held everything: this test shows nothing")
        again = self.receive()
        again.wait_for_lines(len(sent) - len(receiver.fixes), 30)
        self.assertEqual(again.stop(), 0)
        self.assert_each_once(receiver.fixes + again.fixes, len(sent))

    def test_into_a_file(self):
        """`> file`: epoll cannot wait for a file, and the receiver does not need to."""
        collar = self.start_collar()
        path = self.path("lines")
        with open(path, "wb") as file:
            receiver = self.receive(stdout=file)
        self.assertEqual(collar.wait(30), 0)
        self.assertEqual(receiver.stop(), 0)
        with open(path, encoding="utf-8") as file:
            self.assert_each_once([json.loads(line) for line in file], len(self.sent))

    def test_a_full_disk_behind_stdout(self):
        self.start_collar()
        with open("/dev/full", "wb") as full:
            receiver = self.receive(stdout=full)
        self.assertEqual(receiver.wait(10), 74, receiver.error_text)


class OptionTest(EndToEndTest):
    def start_collar(self, *arguments):
        self.track_path, self.sent = self.track("cats_uk/Felix-Tag")
        return self.simulate(self.track_path, "--speed", "max", *arguments)

    def test_count(self):
        """-n N: the receiver writes N lines and ends; the next run begins with the line after them."""
        self.start_collar()
        fixes = []
        for option, count in (("-n", 5), ("--count", 7), ("-n", 1)):
            receiver = self.receive(option, str(count))
            self.assertEqual(receiver.wait(10), 0, receiver.error_text)
            self.assertEqual(len(receiver.lines), count)
            fixes += receiver.fixes
        rest = len(self.sent) - len(fixes)
        receiver = self.receive("-n", str(rest))
        self.assertEqual(receiver.wait(10), 0, receiver.error_text)
        self.assert_each_once(fixes + receiver.fixes, len(self.sent))

    def test_duration(self):
        """-T SECONDS: the receiver ends after this time, even if no port is there."""
        for option in ("-T", "--duration"):
            start = time.monotonic()
            receiver = self.receive(option, "0.5", port=self.path("nothing"))
            self.assertEqual(receiver.wait(5), 0, receiver.error_text)
            self.assertGreaterEqual(time.monotonic() - start, 0.5)

    def test_collar(self):
        """--collar ID: only this collar is served."""
        collar = self.start_collar("--until-delivered")
        other = self.receive("--collar", "00000000000000ff", "-T", "1", state=self.path("other"))
        self.assertEqual(other.wait(5), 0)
        self.assertEqual(other.lines, [])
        self.assertIsNone(collar.process.poll(), "another collar was acknowledged")
        first = self.receive("-n", "1")
        self.assertEqual(first.wait(10), 0)
        wanted = self.receive("--collar", first.fixes[0]["collar"])
        self.assertEqual(collar.wait(30), 0)
        self.assertEqual(wanted.stop(), 0)
        self.assert_each_once(first.fixes + wanted.fixes, len(self.sent))

    def test_source_as(self):
        self.start_collar()
        for name in ("watchOS", "iOS"):
            receiver = self.receive("--source-as", name, "-n", "3")
            self.assertEqual(receiver.wait(10), 0, receiver.error_text)
            self.assertEqual({fix["source"] for fix in receiver.fixes}, {name})

    def test_flavours(self):
        self.start_collar()
        shapes = {"full": {"coordinate", "id"}, "compact": {"lat", "lon"}}
        for name, keys in shapes.items():
            receiver = self.receive("--flavour", name, "-n", "3")
            self.assertEqual(receiver.wait(10), 0, receiver.error_text)
            for fix in receiver.fixes:
                SCHEMA.validate(fix)
                self.assertEqual({"coordinate", "id", "lat", "lon"} & fix.keys(), keys)

    def test_quiet_and_verbose(self):
        self.start_collar()
        quiet = self.receive("-q", "-n", "1", state=self.path("quiet"))
        self.assertEqual(quiet.wait(10), 0)
        self.assertEqual(quiet.error_text, "")
        verbose = self.receive("-v", "-n", "1")
        self.assertEqual(verbose.wait(10), 0)
        self.assertIn("1 lines written", verbose.error_text)

    def test_usage(self):
        for arguments in (["--nonsense"], ["-n", "0"], ["-n", "x"], ["-T"], ["--collar", "1"], ["nonsense"],
                          ["--flavour", "dog"], ["--source-as", "dog"], ["simulate"], ["devices", "what"]):
            with self.subTest(arguments=arguments):
                program = self.start([BINARY, *arguments], environment=child_environment(HOME=self.folder))
                self.assertEqual(program.wait(5), 64, program.error_text)
                self.assertEqual(program.lines, [])
                self.assertTrue(program.error_text.startswith("collar-link: "), program.error_text)

    def test_help_and_version(self):
        questions = [[*command, question] for command in ([], ["devices"], ["simulate"], ["run"]) for question in ("--help", "-h")]
        for arguments in (*questions, ["--version"], ["-V"], ["version"]):
            with self.subTest(arguments=arguments):
                program = self.start([BINARY, *arguments])
                self.assertEqual(program.wait(5), 0)
                word = "usage: collar-link" if arguments in questions else "collar-link 0."
                self.assertIn(word, "".join(program.lines))
                self.assertEqual(program.error_text, "")

    def test_state_directory_is_held(self):
        """A second receiver with the same state directory says which process holds it."""
        self.start_collar()
        first = self.receive()
        first.wait_for_lines(1)
        second = self.receive(port=self.path("nothing"))
        self.assertEqual(second.wait(5), 75, second.error_text)
        self.assertIn(str(first.pid), second.error_text)
        self.assert_one_message(second)

    def test_default_state_directory(self):
        """The state directory is in XDG_STATE_HOME, or else in ~/.local/state."""
        self.start_collar()
        for variable, value, place in (("XDG_STATE_HOME", self.path("xdg"), "xdg/collar-link"),
                                       ("HOME", self.path("home"), "home/.local/state/collar-link")):
            program = self.start([BINARY, "--port", self.link, "-n", "1"],
                                 environment=child_environment(**{variable: value}))
            self.assertEqual(program.wait(10), 0, program.error_text)
            self.assertTrue(os.listdir(self.path(place)), place)
