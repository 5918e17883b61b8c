"""`deliver`: batches to a command, which count when it succeeds; what is kept for readers, and who may read."""

import glob
import json
import os
import shutil
import signal
import time
import unittest

from end_to_end import BINARY, IS_ROOT, can_replace_etc, child_environment, wait_until
from journals import set_times
from radio import Radio
from serial_line import SerialLine
from reader_case import NAME_A, NAME_B, ReaderTest
from session_parts import A, B

from session_parts import position


class DeliverTest(ReaderTest):
    def setUp(self):
        super().setUp()
        self.sink = self.path("sink")
        os.mkdir(self.sink)
        os.chmod(self.sink, 0o777)

    def script(self, text):
        """A command that runs a script of the shell, which may use $SINK."""
        path = self.path("script")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\nSINK={self.sink}\n{text}\n")
        os.chmod(path, 0o755)
        return path

    def deliver(self, *arguments, name="db", **options):
        return self.start([BINARY, "deliver", name, "--state-dir", self.state, *arguments], **options)

    def read(self, name):
        try:
            with open(os.path.join(self.sink, name), encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def delivered(self, name="all"):
        return [(line["collar"], line["seq"]) for line in map(json.loads, self.read(name).splitlines())]

    def stored(self, *arguments):
        """A receiver that has stored 10 fixes of A and 5 of B."""
        receiver, radio = self.begin(*arguments)
        radio.send(A.identity(following=10) + A.batch(range(10)) + B.identity(following=5) + B.batch(range(5)))
        self.wait_for_stored(15)
        return receiver, radio

    ALL = [(NAME_A, seq) for seq in range(10)] + [(NAME_B, seq) for seq in range(5)]

    def test_everything_once_then_what_arrives(self):
        receiver, radio = self.stored()
        program = self.deliver("-v", "--", "sh", "-c", f"cat >> {self.sink}/all")
        wait_until(lambda: len(self.delivered()) == 15, 10, "15 delivered fixes")
        radio.send(A.fix(10))
        wait_until(lambda: len(self.delivered()) == 16, 10, "the next fix")
        self.assertEqual(sorted(self.delivered()), sorted([*self.ALL, (NAME_A, 10)]))
        # The position moves after the command has exited.
        wait_until(lambda: self.readers()["db"]["lag"] == 0, 10, "the position after the next fix")
        self.assertEqual(program.stop(), 0)
        self.assertRegex(program.error_text, r"16 entries delivered in \d batches")
        # The next one goes on there.
        again = self.deliver("--once", "--", "sh", "-c", f"cat >> {self.sink}/more")
        self.assertEqual(again.wait(), 0)
        self.assertEqual(self.read("more"), "")
        receiver.stop()

    def test_a_batch_counts_when_the_command_succeeds(self):
        receiver, _ = self.stored()
        # It fails three times, after it has read all, some and nothing.
        script = self.script("""
            n=$(ls $SINK/try.* 2>/dev/null | wc -l); cat > $SINK/try.$n
            [ $n = 0 ] && exit 7
            [ $n = 1 ] && kill -9 $$
            cat $SINK/try.$n >> $SINK/all""")
        program = self.deliver("--batch", "100", "--", script)
        program.wait_for_error("failed with exit code 7; it is tried again until it succeeds", 10)
        self.assertEqual(self.readers()["db"]["lag"], 15)
        wait_until(lambda: len(self.delivered()) == 15, 15, "delivered fixes")
        self.assertEqual(self.read("try.0"), self.read("try.2"))
        self.assertEqual(self.read("try.1"), self.read("try.2"))
        program.wait_for_error("has succeeded, at attempt 3")
        wait_until(lambda: self.readers()["db"]["lag"] == 0, 5, "the position")
        program.stop()
        # A failure is told once, not for each attempt.
        self.assertEqual(program.error_text.count("tried again"), 1)
        receiver.stop()

    def test_killed_at_any_moment_nothing_is_lost(self):
        receiver, radio = self.stored()
        script = self.script("sleep 0.05; cat >> $SINK/all")
        for number in range(12):
            radio.send(A.fix(10 + number))
            program = self.deliver("--batch", "3", "--", script)
            time.sleep(0.03 * number)
            program.kill_now()
        program = self.deliver("--batch", "3", "--", script)
        wanted = {*self.ALL, *((NAME_A, 10 + number) for number in range(12))}
        wait_until(lambda: self.readers()["db"]["lag"] == 0, 15, "everything is taken")
        self.assertEqual(set(self.delivered()), wanted)
        program.stop()
        receiver.stop()

    def test_batches_are_split_and_counted(self):
        receiver, _ = self.stored()
        script = self.script('cat >> "$SINK/$1"; echo "$1 $2 $(wc -l < "$SINK/$1")" >> $SINK/calls')
        program = self.deliver("--once", "--batch", "100", "--", script, "of-{collar}", "{count}")
        self.assertEqual(program.wait(), 0)
        self.assertEqual(self.delivered(f"of-{NAME_A}"), self.ALL[:10])
        self.assertEqual(self.delivered(f"of-{NAME_B}"), self.ALL[10:])
        self.assertEqual(sorted(self.read("calls").splitlines()),
                         sorted([f"of-{NAME_A} 10 10", f"of-{NAME_B} 5 5"]))
        script = self.script('echo "$1" >> $SINK/sizes; cat > /dev/null')
        self.assertEqual(self.deliver("--once", "--batch", "4", "--", script, "{count}", name="four").wait(), 0)
        self.assertEqual(self.read("sizes").split(), ["4", "4", "4", "3"])
        receiver.stop()

    def test_a_directory_without_journals(self):
        """A mistyped directory is told. A reader that may wait waits for a receiver."""
        program = self.deliver("--once", "--", "cat")
        self.assertEqual(program.wait(), 66)
        self.assertIn("Nothing is stored in", program.error_text)
        self.assertFalse(os.path.exists(os.path.join(self.state, "readers")))
        for arguments in (["deliver", "db", "--state-dir", self.state, "--", "cat"], ["follow", "--state-dir", self.state]):
            waiting = self.start([BINARY, *arguments])
            waiting.wait_for_error("Nothing is stored in")
            waiting.wait_for_error("--state-dir DIR")
            self.assertEqual(waiting.stop(), 0)

    def test_once_ends_while_more_is_stored(self):
        """The command itself causes the next fix, so that more is stored after each batch."""
        receiver, radio = self.stored()
        script = self.script("cat >> $SINK/all; echo >> $SINK/calls; sleep 0.3")
        program = self.deliver("--once", "--", script)
        number = 10
        while program.process.poll() is None and number < 60:
            radio.send(A.fix(number))
            number += 1
            time.sleep(0.1)
        self.assertEqual(program.wait(), 0)
        self.assertLess(number, 40)
        self.assertGreaterEqual(len(self.delivered()), 15)
        rest = self.deliver("--once", "--", "sh", "-c", f"cat >> {self.sink}/rest")
        self.assertEqual(rest.wait(), 0)
        wanted = sorted({*self.ALL, *((NAME_A, seq) for seq in range(10, number))})
        self.assertEqual(sorted(self.delivered() + self.delivered("rest")), wanted)
        receiver.stop()

    def test_once_without_room_for_the_position(self):
        """What is delivered comes again, which the exit code says."""
        receiver, _ = self.stored()
        receiver.stop()
        self.tool("readers")
        folder = os.path.join(self.state, "readers")
        # A directory is where the next position would be written.
        os.makedirs(os.path.join(folder, "db.reader.new/x"), exist_ok=True)
        program = self.deliver("--once", "--", "true")
        self.assertNotEqual(program.wait(), 0)
        self.assertEqual(program.error_text.count("The position of this reader is not stored"), 1, program.error_text)
        shutil.rmtree(os.path.join(folder, "db.reader.new"))
        once = self.deliver("--once", "-v", "--batch", "100", "--", "sh", "-c", f"cat >> {self.sink}/all")
        self.assertEqual(once.wait(), 0)
        self.assertEqual(sorted(self.delivered()), sorted(self.ALL))
        self.assertIn("15 entries delivered in 1 batch\n", once.error_text)

    def test_what_a_format_leaves_out_is_told(self):
        """Once with the first fix, and in number at the end. Readers of a database would miss them."""
        receiver, radio = self.begin()
        unknown = [position(seq, horizontal_accuracy=None) for seq in range(11)]
        radio.send(A.identity(following=10) + A.batch(unknown[:10]) + B.identity(following=5) + B.batch(range(5)))
        self.wait_for_stored(15)
        program = self.deliver("-F", "homeassistant", "--", "sh", "-c", f"cat >> {self.sink}/all")
        program.wait_for_error("homeassistant leaves out fixes of unknown accuracy")
        wait_until(lambda: self.readers()["db"]["lag"] == 0, 10, "the end of what is stored")
        radio.send(A.fix(unknown[10]))
        self.wait_for_stored(16)
        wait_until(lambda: self.readers()["db"]["lag"] == 0, 10, "the next fix")
        self.assertEqual(program.stop(), 0)
        self.assertEqual(program.error_text.count("leaves out"), 1)
        self.assertIn("homeassistant has left out 11 fixes of unknown accuracy", program.error_text)
        self.assertEqual(self.read("all").count("/attributes {"), 5)
        follower = self.follow("-F", "homeassistant", "-T", "0.5")
        self.assertEqual(follower.wait(), 0)
        self.assertEqual(follower.error_text.count("leaves out fixes"), 1)
        self.assertIn("homeassistant has left out", follower.error_text)
        again = self.deliver("--once", "-F", "homeassistant", "--unknown-accuracy", "50", "--", "sh", "-c", f"cat > {self.sink}/more",
                             name="more")
        self.assertEqual(again.wait(), 0)
        self.assertEqual(again.error_text, "")
        self.assertIn('"gps_accuracy":50', self.read("more"))
        receiver.stop()

    def test_formats_are_whole_documents(self):
        receiver, _ = self.stored()
        program = self.deliver("--once", "--batch", "10", "-F", "geojson", "--", self.script("cat > $SINK/$$.json"))
        self.assertEqual(program.wait(), 0)
        documents = [json.loads(self.read(name)) for name in sorted(os.listdir(self.sink)) if name.endswith("json")]
        self.assertEqual(sorted(len(document["features"]) for document in documents), [5, 10])
        receiver.stop()

    def test_batches_keep_their_distance(self):
        receiver, radio = self.stored()
        program = self.deliver("--every", "1.5", "--", self.script("date +%s.%N >> $SINK/times; cat >> $SINK/all"))
        wait_until(lambda: len(self.delivered()) == 15, 10, "the first batch")
        for number in range(10, 20):
            radio.send(A.fix(number))
        wait_until(lambda: len(self.delivered()) == 25, 10, "the second batch")
        program.stop()
        times = [float(line) for line in self.read("times").split()]
        self.assertEqual(len(times), 2)
        self.assertGreater(times[1] - times[0], 1.4)
        receiver.stop()

    def test_failures_of_the_command_line(self):
        receiver, _ = self.stored()
        for arguments, code, text in [
                ([], 64, "`deliver` needs a name and a command."), (["db"], 64, "`deliver` needs a command: `deliver db -- COMMAND`."),
                (["--", "cat", "a b"], 64, "`deliver` needs a name before the command: `deliver NAME -- cat 'a b'`."),
                (["a/b", "--", "cat"], 64, "is not the name of a reader"),
                (["db", "--once", "--", "false"], 69, "'false' failed with exit code 1; its lines are not delivered."),
                (["db", "--", "no-such-program"], 69, "'no-such-program' cannot be started: ")]:

            program = self.start([BINARY, "deliver", *(arguments[:1] if arguments[:1] != ["--"] else []), "--state-dir", self.state,
                                  *arguments[1 if arguments[:1] != ["--"] else 0:]])
            self.assertEqual(program.wait(), code, program.error_text)
            self.assertIn(text, program.error_text)
            self.assertNotIn("tried again", program.error_text)
        receiver.stop()

    def test_a_batch_that_the_end_interrupts_comes_again(self):
        receiver, _ = self.stored()
        # It takes half of its input and ends cleanly when it is told to, as many programs do. So does a program that it started.
        script = self.script("trap 'head -n 3 >> $SINK/all; exit 0' TERM; (trap 'echo x > $SINK/told; exit' TERM; sleep 30 & wait) &"
                             " echo x > $SINK/began; while :; do sleep 0.1; done")
        program = self.deliver("--", script)
        wait_until(lambda: self.read("began"), 5, "the command runs")
        time.sleep(0.2)
        self.assertEqual(program.stop(signal.SIGTERM), 0)
        self.assertEqual(len(self.delivered()), 3)
        wait_until(lambda: self.read("told"), 5, "the whole group was told")
        self.assertEqual(self.readers()["db"]["lag"], 15)
        again = self.deliver("--once", "--", "sh", "-c", f"cat > {self.sink}/again")
        self.assertEqual(again.wait(), 0)
        self.assertEqual(sorted(self.delivered("again")), sorted(self.ALL))
        receiver.stop()

    def test_the_end_of_a_command_is_noticed_whatever_the_parent_ignores(self):
        receiver, _ = self.stored()
        program = self.start(["sh", "-c", 'trap "" CHLD; exec "$@"', "sh", BINARY, "deliver", "db", "--state-dir", self.state, "--once",
                              "--", "sh", "-c", f"cat >> {self.sink}/all"])
        self.assertEqual(program.wait(), 0)
        self.assertEqual(sorted(self.delivered()), sorted(self.ALL))
        receiver.stop()

    def test_placeholders_are_replaced_once(self):
        receiver, _ = self.stored()
        config = self.path("config")
        os.makedirs(os.path.join(config, "collar-link"))
        with open(os.path.join(config, "collar-link/animals"), "w", encoding="utf-8") as file:
            file.write(f"[animal {{count}}]\nwears = {NAME_A}\n")
        program = self.deliver("--once", "--", self.script('echo "$1" >> $SINK/words; cat > /dev/null'), "{x}-{name}-{count}-{",
                               environment=child_environment(XDG_CONFIG_HOME=config))
        self.assertEqual(program.wait(), 0, program.error_text)
        self.assertEqual(sorted(self.read("words").split()), sorted(["{x}-{count}-10-{", f"{{x}}-{NAME_B}-5-{{"]))
        receiver.stop()


    def test_a_name_is_no_formula(self):
        """A spreadsheet calculates what begins with certain characters; a number stays a number."""
        receiver, _ = self.stored()
        config = self.path("config")
        os.makedirs(os.path.join(config, "collar-link"))
        for name, cell in (("=HYPERLINK(1)", '"\'=HYPERLINK(1)"'), ("+1", '"\'+1"'), ("-1", '"\'-1"'), ("@x", '"\'@x"'), ("a=b", "a=b"),
                           ("=a,b", '"\'=a,b"')):
            with open(os.path.join(config, "collar-link/animals"), "w", encoding="utf-8") as file:
                file.write(f"[animal {name}]\nwears = {NAME_A}\nspecies = {name}\n")
            for form in ("csv", "movebank"):
                program = self.start([BINARY, "history", "-F", form, "--collar", NAME_A, "--state-dir", self.state],
                                     environment=child_environment(XDG_CONFIG_HOME=config))
                self.assertEqual(program.wait(), 0, program.error_text)
                self.assertIn(f",{cell}", program.lines[1])
                # Coordinates and the like have no apostrophe.
                self.assertEqual(program.lines[1].count("'"), cell.count("'") * (2 if form == "movebank" else 1))
        receiver.stop()

    def test_a_name_is_no_option_and_no_path(self):
        """What is put in for {name} stays one file name, whatever a person called an animal."""
        receiver, _ = self.stored()
        config = self.path("config")
        os.makedirs(os.path.join(config, "collar-link"))
        for name, word in (("-rf ../x", "%2Drf ..%2Fx"), ("../../etc/passwd", "%2E.%2F..%2Fetc%2Fpasswd"), ("..", "%2E."),
                           ("100 %", "100 %25"), ("a-b.c", "a-b.c")):
            with open(os.path.join(config, "collar-link/animals"), "w", encoding="utf-8") as file:
                file.write(f"[animal {name}]\nwears = {NAME_A}\n")
            reader = f"r{len(word)}"
            program = self.start(
                [BINARY, "deliver", reader, "--once", "--state-dir", self.state, "--", "sh", "-c", 'cat > /dev/null; echo "$1" >&2', "sh",
                 "{name}"], environment=child_environment(XDG_CONFIG_HOME=config))
            self.assertEqual(program.wait(), 0, program.error_text)
            self.assertIn(word, program.error_text.splitlines())
        receiver.stop()


class RetentionTest(ReaderTest):
    def three_old_segments(self):
        """Stores fixes 0 to 29 in three segments, each of which a new receiver begins; the first two are five and three days old."""
        for part in range(3):
            receiver, radio = self.begin()
            radio.send(A.identity(following=30) + A.batch(range(10 * part, 10 * part + 10)))
            self.wait_for_stored(10 * part + 10)
            receiver.stop()
            if part < 2:
                os.remove(f"{self.state}/receiver")
        segments = sorted(glob.glob(f"{self.state}/{NAME_A}/*.journal"))
        for segment, days in zip(segments, (5, 3)):
            set_times(segment, time.time() - days * 86_400)
        return segments

    def kept(self, *arguments):
        """The segments that a receiver with these options keeps, and what it says of removals."""
        receiver, radio = self.begin(*arguments)
        radio.poll(A, 30)
        receiver.stop()
        return sorted(glob.glob(f"{self.state}/{NAME_A}/*.journal")), receiver.error_text

    def test_keep_waits_for_the_readers(self):
        segments = self.three_old_segments()
        # Nobody has asked for lines: no reader, no consumer, so age alone decides. With a reader, its position does too.
        self.assertEqual(self.follow("--as", "db", "-n", "4").wait(), 0)
        self.assertEqual(self.follow("--as", "other", "-n", "30").wait(), 0)
        self.assertEqual(self.kept("--keep", "2")[0], segments)
        self.assertEqual(self.follow("--as", "db", "-n", "6").wait(), 0)
        kept, errors = self.kept("--keep", "2")
        self.assertEqual(kept, segments[1:])
        self.assertNotIn("removed", errors)
        self.tool("readers", "--remove", "db")
        self.assertEqual(self.kept("--keep", "2")[0], segments[2:])

    def test_keep_at_most_does_not_wait_and_tells(self):
        segments = self.three_old_segments()
        self.assertEqual(self.follow("--as", "db", "-n", "4").wait(), 0)
        kept, errors = self.kept("--keep", "2", "--keep-at-most", "4")
        self.assertEqual(kept, segments[1:])
        self.assertIn(f"6 old fixes of collar {NAME_A} were removed that 'db' had not taken", errors)
        events = self.tool("follow", "--events", "error", "-T", "0.5").splitlines()
        self.assertEqual([line["collar"] for line in map(json.loads, events) if line["code"] == "removed_unread"], [NAME_A])
        # The reader goes on with the oldest fix that is left.
        rest = self.follow("--as", "db", "-n", "20")
        self.assertEqual(rest.wait(), 0)
        self.assertEqual(self.sequences(rest), list(range(10, 30)))
        self.assertIn("`--keep-at-most 1` is less than `--keep 2`.",
                      self.tool("run", "--keep", "2", "--keep-at-most", "1", code=64) + self.errors)


class SharedDirectoryTest(ReaderTest):
    @unittest.skipUnless(IS_ROOT and can_replace_etc(), "needs root, and leave to mount")
    def test_the_group_of_a_service_reads_its_journals(self):
        """A service of the group collar-link receives; a member of the group follows and sends, an outsider may not."""
        etc = self.path("etc")
        os.mkdir(etc)
        with open(os.path.join(etc, "group"), "w", encoding="ascii") as file:
            file.write("root:x:0:\ncollar-link:x:990:\nothers:x:991:\n")
        with open(os.path.join(etc, "passwd"), "w", encoding="ascii") as file:
            file.write("root:x:0:0::/:/bin/sh\n")
        with open(os.path.join(etc, "nsswitch.conf"), "w", encoding="ascii") as file:
            file.write("group: files\npasswd: files\n")
        os.chmod(self.folder, 0o755)
        os.chmod(etc, 0o755)
        os.mkdir(self.state, 0o700)
        os.chown(self.state, 4000, 990)
        line = SerialLine()
        self.addCleanup(line.close)
        os.chmod(line.path, 0o666)

        def start(user, group, *arguments):
            return self.start(["unshare", "-m", "sh", "-c", 'mount --bind "$1" /etc && shift && exec "$@"', "sh", etc,
                               "setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups", BINARY, *arguments,
                               "--state-dir", self.state], user="root", group="root")

        receiver = start(4000, 990, "run", "--port", line.path, "--events", "none")
        receiver.wait_for_error("listening on")
        Radio(line).send(A.identity(following=3) + A.batch(range(3)))
        member = start(4001, 990, "follow", "--as", "member", "-n", "3")
        self.assertEqual(member.wait(), 0, member.error_text)
        self.assertEqual(self.sequences(member), [0, 1, 2])
        outsider = start(4002, 991, "follow", "-n", "3")
        self.assertEqual(outsider.wait(), 77, outsider.error_text)

        for user, group, code, wanted in ((4001, 990, 75, '"outcome":"queued"'), (4002, 991, 77, "")):
            sent = start(user, group, "send", "locate", "--timeout", "0", "-F", "json")
            self.assertEqual(sent.wait(), code, sent.error_text)
            self.assertIn(wanted, "".join(sent.lines))

        def mode(path):
            return oct(os.stat(os.path.join(self.state, path)).st_mode & 0o7777)

        self.assertEqual(mode("control.sock"), "0o660")
        self.assertEqual([mode(path) for path in (".", NAME_A, f"{NAME_A}/00000001.journal", "events", "events/00000001.jsonl",
                                                  "readers", "readers/member.reader", "receiver")],
                         ["0o750", "0o750", "0o640", "0o750", "0o640", "0o3770", "0o640", "0o600"])
        # The service sees the member's position.
        listed = start(4000, 990, "readers", "-F", "json")
        self.assertEqual(listed.wait(), 0, listed.error_text)
        self.assertEqual([json.loads(each)["lag"] for each in listed.lines], [0])
        receiver.stop()

    def test_the_journal_of_a_user_stays_private(self):
        receiver, radio = self.begin()
        radio.send(A.identity(following=1) + A.fix(0))
        self.assertEqual(self.follow("--as", "own", "-n", "1").wait(), 0)
        for folder, folders, files in os.walk(self.state):
            for path, wanted in [(folder, 0o700)] + [(os.path.join(folder, name), 0o600) for name in files]:
                self.assertEqual(oct(os.stat(path).st_mode & 0o777), oct(wanted), path)
        receiver.stop()


if __name__ == "__main__":
    unittest.main()
