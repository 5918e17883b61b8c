"""What `run` and `follow` write to a terminal, and what they write elsewhere."""

import json
import re
import signal
import unittest

from end_to_end import BINARY, EndToEndTest, child_environment, wait_until
from radio import IDENTITY_REQUEST, Radio
from sending import A, name as id_of
from serial_line import SerialLine
from terminals import Terminal

# A fix of the written collar for people: on one line where there is room. It was made on another day than it was received.
FIX = re.compile(
    r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d  -?\d+\.\d+, -?\d+\.\d+  ±(\d+(\.\d)?|\?) m  (\d+\.\d|\?) m/s  battery (\d+|\?) %  \S+  fix \d+$")
COUNT = 5


class TerminalTest(EndToEndTest):
    """The test writes the frames of a collar, COUNT fixes, into a serial line."""

    def setUp(self):
        super().setUp()
        # Without colours, each byte of a line is a character of it.
        self.environment = child_environment(XDG_CONFIG_HOME=self.path("configuration"), TERM="xterm", NO_COLOR="1")
        line = SerialLine()
        self.addCleanup(line.close)
        self.port = line.path
        self.radio = Radio(line)

    def launch(self, command, *arguments, terminal=None):
        if command == "run":
            words = [BINARY, "run", "--port", self.port, "--dialect", "serial"]
        else:
            words = [BINARY, "follow"]
        self.radio.answers.clear()
        words += ["--state-dir", self.state, *arguments]
        if terminal is None:
            return self.start(words, environment=self.environment)
        program = self.start(words, environment=self.environment, stdout=terminal.descriptor)
        terminal.started()
        return program

    def send_fixes(self, receiver, first=0, is_answered=True):
        wait_until(lambda: self.radio.count(IDENTITY_REQUEST), 10, "an open port")
        self.assertIsNone(receiver.process.poll(), receiver.error_text)
        self.radio.send(A.identity() + b"".join(A.fix(each) for each in range(first, first + COUNT)))
        if is_answered:
            self.radio.poll(A, first + COUNT)

    def store_fixes(self):
        """Fills the state directory."""
        receiver = self.launch("run")
        self.send_fixes(receiver)
        receiver.stop()

    def at_terminal(self, command, *arguments, columns=80, line_count=COUNT, end=signal.SIGINT):
        """The lines that a command writes to a terminal, and what it says on stderr."""
        terminal = Terminal(self, columns=columns)
        program = self.launch(command, *arguments, terminal=terminal)
        if command == "run":
            self.send_fixes(program)
        terminal.wait_for_lines(line_count)
        self.assertEqual(program.stop(end), 0, program.error_text)
        return terminal.whole_text().splitlines(), program.error_text

    def in_pipe(self, command, *arguments, line_count=COUNT):
        program = self.launch(command, *arguments)
        if command == "run":
            self.send_fixes(program)
        program.wait_for_lines(line_count)
        self.assertEqual(program.stop(signal.SIGINT), 0, program.error_text)
        return [line.rstrip("\n") for line in program.lines], program.error_text

    def assert_json(self, lines, count=COUNT):
        self.assertEqual(len(lines), count)
        return [json.loads(line) for line in lines]


class RunAtTerminalTest(TerminalTest):
    def test_lines_for_people(self):
        lines, _ = self.at_terminal("run", columns=100)
        self.assertEqual(len(lines), COUNT)
        for number, line in enumerate(lines):
            self.assertRegex(line, FIX)
            self.assertTrue(line.endswith(f"  {id_of(A)[:8]}  fix {number}"), line)

    def test_a_summary_at_the_end(self):
        _, errors = self.at_terminal("run")
        self.assertRegex(errors.splitlines()[-1], rf"^collar-link: {COUNT} fixes of 1 collar in \d+ s; none missing$")

    def test_a_summary_after_a_limit_of_lines(self):
        terminal = Terminal(self)
        program = self.launch("run", "-n", str(COUNT), terminal=terminal)
        # The receiver ends after the last line, so it need not be there for a poll.
        self.send_fixes(program, is_answered=False)
        self.assertEqual(program.wait(), 0)
        self.assertRegex(program.error_text.splitlines()[-1], r"fixes of 1 collar in \d+ s; none missing$")

    def test_the_summary_is_about_this_run(self):
        """The receiver knows the collar from the run before, and does not hear it."""
        self.store_fixes()
        terminal = Terminal(self)
        program = self.launch("run", terminal=terminal)
        program.wait_for_error("listening on")
        program.stop(signal.SIGINT)
        self.assertRegex(program.error_text.splitlines()[-1], r"^collar-link: 0 fixes of 0 collars in \d+ s; none missing$")

    def test_missing_fixes_are_in_the_summary(self):
        terminal = Terminal(self)
        program = self.launch("run", terminal=terminal)
        program.wait_for_error("listening on")
        self.radio.send(A.identity() + A.fix(0) + A.fix(3))
        terminal.wait_for_lines(2)
        program.stop(signal.SIGINT)
        self.assertRegex(program.error_text.splitlines()[-1], r"^collar-link: 2 fixes of 1 collar in \d+ s; 2 missing, requested again")

    def test_no_summary_where_it_is_not_wanted(self):
        self.assertNotIn("none missing", self.at_terminal("run", "--quiet")[1])
        self.state = self.path("piped")
        self.assertNotIn("none missing", self.in_pipe("run")[1])
        self.state = self.path("lines-of-json")
        self.assertNotIn("none missing", self.at_terminal("run", "-F", "json")[1])

    def test_lines_fit_a_narrow_terminal(self):
        lines, _ = self.at_terminal("run", columns=40, line_count=3 * COUNT)
        self.assertEqual("\n".join(lines).count("fix "), COUNT)
        for line in lines:
            self.assertLessEqual(len(line), 40, line)
            self.assertTrue(line.startswith("  ") or FIX.match(line) or re.match(r"\d{4}-", line), line)

    def test_formats_for_programs_begin_and_end(self):
        """A table has a header once, and a document that has an end is complete after SIGINT."""
        lines, _ = self.at_terminal("run", "-F", "csv", line_count=COUNT + 1)
        self.assertEqual(len(lines), COUNT + 1)
        self.assertIn("latitude", lines[0])
        self.assertNotIn("latitude", "".join(lines[1:]))
        self.state = self.path("geojson")
        lines, _ = self.in_pipe("run", "-F", "geojson")
        self.assertEqual(len(json.loads("\n".join(lines))["features"]), COUNT)

    def test_a_limit_counts_entries_and_no_header(self):
        program = self.launch("run", "-F", "csv", "-n", "3")
        # It may end before it hears a poll.
        self.send_fixes(program, is_answered=False)
        self.assertEqual(program.wait(), 0)
        self.assertEqual(len(program.lines), 1 + 3)


class ChoiceTest(TerminalTest):
    """The same rules for `run` and `follow`."""

    def check(self, command):
        if command == "follow":
            self.store_fixes()
        with self.subTest("a pipe"):
            for number, fix in enumerate(self.assert_json(self.in_pipe(command)[0])):
                self.assertEqual((fix["type"], fix["seq"]), ("fix", number))
        for index, arguments in enumerate((["-F", "json"], ["--flavour", "compact"], ["--source-as", "iOS"])):
            with self.subTest("a terminal", arguments=arguments):
                self.begin_again(command, index)
                self.assert_json(self.at_terminal(command, *arguments)[0])
        with self.subTest("a pipe, for people"):
            self.begin_again(command, 10)
            lines, _ = self.in_pipe(command, "-F", "text", "--utc")
            # As in a file: the whole time and the whole id.
            self.assertRegex(lines[0], rf"^\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{{3}}Z  .*  collar {id_of(A)}  fix 0$")

    def begin_again(self, command, index):
        if command == "run":
            self.state = self.path(f"state-{index}")

    def test_run(self):
        self.check("run")

    def test_follow(self):
        self.check("follow")

    def test_events_of_run_are_json_at_a_terminal(self):
        terminal = Terminal(self)
        program = self.launch("run", "--events", "fix,link", terminal=terminal)
        self.send_fixes(program)
        terminal.wait_for_lines(COUNT + 2)
        program.stop(signal.SIGINT)
        kinds = [json.loads(line)["type"] for line in terminal.whole_text().splitlines()]
        self.assertEqual((kinds.count("fix"), set(kinds)), (COUNT, {"fix", "link"}))

    def test_events_as_text_are_refused(self):
        for command in ("run", "follow"):
            with self.subTest(command=command):
                program = self.launch(command, "-F", "text", "--events", "link")
                self.assertEqual(program.wait(), 64)
                self.assertIn("lines of events are JSON only", program.error_text)


class FollowAtTerminalTest(TerminalTest):
    def setUp(self):
        super().setUp()
        self.store_fixes()

    def test_lines_for_people(self):
        lines, _ = self.at_terminal("follow", columns=100)
        self.assertEqual(len(lines), COUNT)
        for line in lines:
            self.assertRegex(line, FIX)

    def test_lines_fit_a_narrow_terminal(self):
        lines, _ = self.at_terminal("follow", columns=40, line_count=3 * COUNT)
        self.assertEqual("\n".join(lines).count("fix "), COUNT)
        for line in lines:
            self.assertLessEqual(len(line), 40, line)

    def test_a_named_reader(self):
        lines, _ = self.at_terminal("follow", "--as", "map", columns=100)
        self.assertRegex(lines[0], FIX)

    def test_acknowledged_lines_are_json(self):
        terminal = Terminal(self)
        # Its stdin ends at once, and so does it.
        program = self.launch("follow", "--as", "map", "--acknowledge", "-T", "1", terminal=terminal)
        program.wait()
        for line in terminal.whole_text().splitlines():
            self.assertEqual(json.loads(line)["type"], "fix")

    def test_events_are_json(self):
        lines, _ = self.at_terminal("follow", "--events", "fix,link")
        self.assertGreaterEqual({json.loads(line)["type"] for line in lines}, {"fix"})

    def test_a_table_has_a_header(self):
        lines, _ = self.at_terminal("follow", "-F", "csv", line_count=COUNT + 1)
        self.assertEqual(len(lines), COUNT + 1)
        self.assertIn("latitude", lines[0])


if __name__ == "__main__":
    unittest.main()
