"""`follow`: any number of readers print what `run` stores, each from its own position."""

import json
import os
import signal
import subprocess
import time
import unittest


from reader_case import NAME_B, ReaderTest
from end_to_end import BINARY, ORDINARY_USER, child_environment, wait_until
from system_calls import SystemCalls

from session_parts import A, B


class FollowTest(ReaderTest):
    def test_what_is_stored_then_what_arrives(self):
        receiver, radio = self.begin()
        radio.send(A.identity(following=5) + A.batch(range(5)))
        reader = self.follow()
        reader.wait_for_lines(5)
        self.assertEqual(self.sequences(reader), list(range(5)))
        # A second collar, and more of the first, while three others begin.
        others = [self.follow() for _ in range(3)]
        radio.send(A.fix(5) + B.identity(following=2) + B.batch(range(2)))
        for program in [reader, *others]:
            program.wait_for_lines(8)
            self.assertEqual(self.sequences(program), list(range(6)))
            self.assertEqual(self.sequences(program, NAME_B), [0, 1])
            self.assertEqual(program.stop(), 0)
            self.assertEqual(program.error_text, "")
        self.assertEqual(sorted(reader.lines), sorted(self.tool("history", "--events", "fix").splitlines(keepends=True)))
        self.assertEqual(receiver.stop(), 0)
        self.assertEqual(receiver.lines, [])

    def test_a_name_keeps_the_position(self):
        receiver, radio = self.begin()
        radio.send(A.identity(following=8) + A.batch(range(8)))
        first = self.follow("--as", "db", "-n", "3")
        self.assertEqual(first.wait(), 0)
        self.assertEqual(self.sequences(first), [0, 1, 2])
        wait_until(lambda: self.readers()["db"]["lag"] == 5, 5, "five fixes behind")
        second = self.follow("--as", "db")
        second.wait_for_lines(5)
        self.assertEqual(self.sequences(second), [3, 4, 5, 6, 7])
        # The position is stored a second after the lines were read.
        wait_until(lambda: self.readers()["db"]["lag"] == 0, 5, "everything is taken")
        second.kill_now()
        radio.send(A.fix(8))
        third = self.follow("--as", "db")
        third.wait_for_lines(1)
        self.assertEqual(self.sequences(third), [8])
        self.assertIn("reads as 'db' already.", self.tool("follow", "--as", "db", code=75) + self.errors)
        self.assertEqual(third.stop(), 0)
        # A service is started with the same arguments again.
        self.assertEqual(self.tool("follow", "--as", "db", "--since", "1h", "-T", "0.3"), "")
        self.assertIn("'db' goes on where it stopped; `--since` is for its first start.", self.errors)
        receiver.stop()

    def test_lines_that_nobody_read_are_repeated(self):
        receiver, radio = self.begin()
        radio.send(A.identity(following=9) + A.batch(range(9)))
        self.wait_for_stored(9)
        read, write = os.pipe()
        stuck = self.follow("--as", "slow", stdout=write, reads_output=False)
        os.close(write)
        first = os.read(read, 600)
        self.assertIn(b'"seq":0', first)
        time.sleep(2.5)
        stuck.kill_now()
        os.close(read)
        again = self.follow("--as", "slow")
        again.wait_for_lines(8)
        self.assertEqual(self.sequences(again)[-1], 8)
        # What the pipe still held was not taken.
        self.assertLessEqual(self.sequences(again)[0], 2)
        again.stop()
        receiver.stop()

    def test_acknowledged_lines(self):
        receiver, radio = self.begin()
        radio.send(A.identity(following=6) + A.batch(range(6)))
        sink = subprocess.Popen(
            [BINARY, "follow", "--as", "sink", "--acknowledge", "--state-dir", self.state], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=child_environment(), **ORDINARY_USER)
        self.addCleanup(sink.wait)
        self.addCleanup(sink.kill)
        lines = [json.loads(sink.stdout.readline()) for _ in range(6)]
        # Out of order: 1 and 2 count only when 0 does; 4 does not count without 3.
        for number in (2, 1, 4):
            sink.stdin.write(lines[number]["id"] + "\n")
        sink.stdin.flush()
        time.sleep(2.5)
        self.assertEqual(self.readers()["sink"]["lag"], 6)
        sink.stdin.write(lines[0]["id"] + "\nno id\n")
        sink.stdin.flush()
        wait_until(lambda: self.readers()["sink"]["lag"] == 3, 5, "three fixes are acknowledged")
        sink.kill()
        self.assertIn("'no id' is not the id of a line", sink.stderr.read())
        for stream in (sink.stdin, sink.stdout, sink.stderr):
            stream.close()
        again = self.follow("--as", "sink")
        again.wait_for_lines(3)
        self.assertEqual(self.sequences(again), [3, 4, 5])
        again.stop()
        receiver.stop()

    def test_gaps_need_no_acknowledgement(self):
        receiver, radio = self.begin()
        radio.send(A.identity(following=9) + A.batch([0, 1, 5]))
        sink = subprocess.Popen(
            [BINARY, "follow", "--as", "sink", "--acknowledge", "--events", "fix,gap", "--state-dir", self.state],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=child_environment(),
            **ORDINARY_USER)
        self.addCleanup(sink.wait)
        self.addCleanup(sink.kill)
        for number in range(4):
            line = json.loads(sink.stdout.readline())
            self.assertEqual(line["type"], "gap" if number == 2 else "fix")
            if line["type"] == "fix":
                sink.stdin.write(line["id"] + "\n")
        sink.stdin.flush()
        wait_until(lambda: self.readers()["sink"]["lag"] == 0, 5, "everything is taken")
        sink.stdin.close()
        self.assertEqual(sink.wait(5), 0)
        sink.stdout.close()
        receiver.stop()

    def test_since_an_id_that_is_not_there(self):
        receiver, radio = self.begin()
        radio.send(A.identity(following=3) + A.batch(range(3)))
        self.wait_for_stored(3)
        fix = json.loads(self.tool("history").splitlines()[0])["id"]
        self.tool("follow", "--since", fix[:-1] + "f", code=66)
        self.assertIn("There is no fix 15 of log", self.errors)
        self.assertIn("leave out `--since` to begin with the oldest entry.", self.errors)
        receiver.stop()

    def test_since_survives_a_restart(self):
        receiver, radio = self.begin()
        radio.send(A.identity(following=9) + A.batch(range(3)))
        self.wait_for_stored(3)
        time.sleep(1.1)
        since = f"@{int(time.time())}"
        radio.send(A.batch(range(3, 6)))
        self.wait_for_stored(6)
        self.assertEqual(self.tool("follow", "--as", "db", "--since", since, "-T", "0.5").count("\n"), 3)
        self.tool("readers", "--remove", "db")
        # The first start ends before anything is taken.
        broken = self.start([BINARY, "follow", "--as", "db", "--since", since, "--acknowledge", "--state-dir", self.state])
        broken.wait()
        self.assertEqual(self.readers()["db"]["lag"], 3)
        receiver.stop()

    def test_events_reach_every_reader(self):
        receiver, radio = self.begin()
        late = self.follow("--events", "link,error,status,result")
        radio.send(A.identity(following=1) + A.fix(0))
        late.wait_for_lines(2)
        events = [json.loads(line) for line in late.lines]
        self.assertEqual([(line["type"], line["event"]) for line in events], [("link", "opened"), ("link", "heard")])
        mixed = self.follow("--as", "all", "--events", "all")
        mixed.wait_for_lines(3)
        self.assertEqual([json.loads(line)["type"] for line in mixed.lines], ["fix", "link", "link"])
        wait_until(lambda: "events 1 " in self.position("all") and self.readers()["all"]["lag"] == 0, 5, "all is taken")
        mixed.stop()
        again = self.follow("--as", "all", "--events", "all")
        receiver.stop()
        time.sleep(0.5)
        again.stop()
        self.assertNotIn("opened", [json.loads(line).get("event") for line in again.lines])
        late.stop()

    def test_formats_and_places(self):
        receiver, radio = self.begin()
        radio.send(A.identity(following=3) + A.batch(range(3)))
        self.wait_for_stored(3)
        self.assertEqual(self.tool("follow", "-n", "3", "-F", "csv").count("\n"), 4)
        self.assertEqual(self.tool("follow", "-T", "0.5", "--since", "2100-01-01"), "")
        fix = json.loads(self.tool("history").splitlines()[0])["id"]
        self.assertEqual(self.tool("follow", "-n", "2", "--since", fix).count("\n"), 2)
        gpx = self.tool("follow", "-T", "0.5", "-F", "gpx")
        self.assertEqual((gpx.count("<trkpt"), gpx.count("</gpx>")), (3, 1))
        self.assertIn("lines of events are JSON only", self.tool("follow", "-F", "csv", "--events", "link", code=64) + self.errors)
        self.assertIn("`--acknowledge` goes with `--as`.", self.tool("follow", "--acknowledge", code=64) + self.errors)
        self.assertIn("is not the name of a reader: a name is 1 to 64 letters", self.tool("follow", "--as", "../x", code=64) + self.errors)
        receiver.stop()

    def test_there_must_be_a_state_directory(self):
        self.assertIn("There is no directory", self.tool("follow", code=66) + self.errors)

    def test_readers_are_listed_and_removed(self):
        receiver, radio = self.begin()
        radio.send(A.identity(following=4) + A.batch(range(4)))
        self.assertEqual(self.tool("readers"), "")
        for name, count in (("b", 4), ("a", 1)):
            self.assertEqual(self.follow("--as", name, "-n", str(count)).wait(), 0)
        first, second = self.tool("readers").splitlines()
        self.assertRegex(first, r"^a  3 entries behind, the oldest received \d+ s ago  ")
        self.assertRegex(second, r"^b  has everything  ")
        # A reader lags only behind what it takes.
        self.assertEqual(self.follow("--as", "c", "--events", "message", "-T", "0.3").wait(), 0)
        self.assertEqual(self.readers()["c"]["lag"], 0)
        self.assertEqual(self.follow("--as", "a", "-n", "2").wait(), 0)
        radio.send(A.message(4))
        wait_until(lambda: "1 entry behind" in self.tool("readers"), 10, "the message, which only c takes")
        self.assertEqual({name: line["lag"] for name, line in self.readers().items()}, {"a": 1, "b": 0, "c": 1})
        self.tool("readers", "--remove", "c")
        runs = self.follow("--as", "b")
        wait_until(lambda: os.path.exists(os.path.join(self.state, "readers/b.lock")), 5, "the reader runs")
        time.sleep(0.3)
        self.tool("readers", "--remove", "b", code=75)
        runs.stop()
        self.tool("readers", "--remove", "b")
        self.assertEqual(list(self.readers()), ["a"])
        self.assertIn("There is no reader 'b'", self.tool("readers", "--remove", "b", code=66) + self.errors)
        # A damaged file hides none of the readers after it.
        for name in ("d", "e"):
            self.assertEqual(self.follow("--as", name, "-n", "1").wait(), 0)
        for name in ("a", "d"):
            with open(os.path.join(self.state, f"readers/{name}.reader"), "w", encoding="ascii") as file:
                file.write("?")
        self.assertEqual(list(self.readers()), ["e"])
        self.assertEqual(self.errors.count("does not hold the position of a reader"), 2, self.errors)
        receiver.stop()


class StoppedReaderTest(ReaderTest):
    def test_a_stopped_reader_delays_nobody(self):
        receiver, radio = self.begin()
        radio.send(A.identity(following=1))
        stopped = self.follow()
        time.sleep(0.3)
        os.kill(stopped.pid, signal.SIGSTOP)
        reader = self.follow()
        for number in range(0, 400, 20):
            radio.send(A.batch(range(number, number + 20)))
        reader.wait_for_lines(400)
        self.assertEqual(self.sequences(reader), list(range(400)))
        os.kill(stopped.pid, signal.SIGCONT)
        stopped.wait_for_lines(400)
        self.assertEqual(self.sequences(stopped), list(range(400)))
        reader.stop()
        stopped.stop()
        receiver.stop()


class IdleReaderTest(ReaderTest, SystemCalls):
    def test_an_idle_reader_makes_no_system_call(self):
        receiver, radio = self.begin()
        radio.send(A.identity(following=3) + A.batch(range(3)))
        reader = self.follow("--as", "idle", "--events", "all")
        reader.wait_for_lines(3)
        wait_until(lambda: self.readers()["idle"]["lag"] == 0, 5, "everything is taken")
        time.sleep(1)
        # `run` asks the silent collar from time to time; the reader has nothing to do with that.
        receiver.stop()
        time.sleep(2.5)
        self.assert_idle(reader)
        reader.stop()


if __name__ == "__main__":
    unittest.main()
