"""`deliver`: batches to a command, which count when it succeeds."""

import json
import os
import signal
import time
import unittest

from collarlink import BINARY, wait_until
from test_follow import A, B, NAME_A, NAME_B, ReaderTest


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
        wait_until(lambda: os.path.isdir(self.state) and self.tool("history").count("\n") == 15, 10, "15 stored fixes")
        return receiver, radio

    ALL = [(NAME_A, seq) for seq in range(10)] + [(NAME_B, seq) for seq in range(5)]

    def test_everything_once_then_what_arrives(self):
        receiver, radio = self.stored()
        program = self.deliver("-v", "--", "sh", "-c", f"cat >> {self.sink}/all")
        wait_until(lambda: len(self.delivered()) == 15, 10, "15 delivered fixes")
        radio.send(A.fix(10))
        wait_until(lambda: len(self.delivered()) == 16, 10, "the next fix")
        self.assertEqual(sorted(self.delivered()), sorted([*self.ALL, (NAME_A, 10)]))
        self.assertEqual(self.readers()["db"]["lag"], 0)
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
                ([], 64, "wants a name and a command"), (["db"], 64, "deliver wants a command"),
                (["a/b", "--", "cat"], 64, "is no name of a reader"),
                (["db", "--once", "--", "false"], 69, "'false' failed with exit code 1; its lines are not delivered"),
                (["db", "--", "no-such-program"], 69, "'no-such-program' cannot be started: ")]:

            program = self.start([BINARY, "deliver", *arguments[:1], "--state-dir", self.state, *arguments[1:]])
            self.assertEqual(program.wait(), code, program.error_text)
            self.assertIn(text, program.error_text)
            self.assertNotIn("tried again", program.error_text)
        receiver.stop()

    def test_the_end_waits_for_the_command(self):
        receiver, _ = self.stored()
        script = self.script("trap 'cat >> $SINK/all; exit 0' TERM; echo x > $SINK/began; while :; do sleep 0.1; done")
        program = self.deliver("--", script)
        wait_until(lambda: self.read("began"), 5, "the command runs")
        self.assertEqual(program.stop(signal.SIGTERM), 0)
        self.assertEqual(sorted(self.delivered()), sorted(self.ALL))
        self.assertEqual(self.readers()["db"]["lag"], 0)
        receiver.stop()


class RetentionTest(ReaderTest):
    def test_keep_waits_for_readers_and_keep_at_most_does_not(self):
        """Fixes of 2026-01 are old: they go when the named reader has them, or when they are older than the limit."""
        receiver, radio = self.begin("--keep", "1")
        radio.send(A.identity(following=4) + A.batch(range(4)))
        reader = self.follow("--as", "db", "-n", "2")
        self.assertEqual(reader.wait(), 0)
        self.assertEqual(self.readers()["db"]["lag"], 2)
        receiver.stop()
        self.assertIn("--keep-at-most 1 is less than --keep 2",
                      self.tool("run", "--keep", "2", "--keep-at-most", "1", code=64) + self.errors)


if __name__ == "__main__":
    unittest.main()
