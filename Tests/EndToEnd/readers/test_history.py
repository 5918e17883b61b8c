"""`history` reads the journals back: it writes the same lines as `run`, from any place on, also while `run` works."""

import glob
import json
import os
import pathlib
import subprocess
import time
import unittest


from end_to_end import BINARY, ORDINARY_USER, EndToEndTest, child_environment, wait_until
from journals import set_times
from radio import Radio
from serial_line import SerialLine
from schemas import SCHEMAS
from tracing import Traced, can_trace

from session_parts import A, B

NAME_A, NAME_B = (f"{each.log.device_id:016x}" for each in (A, B))


class HistoryTest(EndToEndTest):
    def history(self, *arguments, code=0, state=None):
        """The output of the command on stdout."""
        result = subprocess.run(
            [BINARY, "history", "--state-dir", state or self.state, *arguments], capture_output=True, text=True, timeout=60,
            env=child_environment(), check=False, **ORDINARY_USER)
        self.assertEqual(result.returncode, code, result.stderr)
        self.errors = result.stderr
        return result.stdout

    def objects(self, *arguments, **options):
        lines = [json.loads(line) for line in self.history(*arguments, **options).splitlines()]
        for line in lines:
            SCHEMAS[line["type"]].validate(line)
        return lines

    def begin(self, *arguments):
        line = SerialLine()
        self.addCleanup(line.close)
        receiver = self.receive(*arguments, port=line.path)
        receiver.wait_for_error("listening on")
        return receiver, Radio(line)

    def two_collars(self):
        """Stores 0 to 4 and 10 to 19 of A, and 0 to 4 of B. A reports 5 to 7 as lost, 8 and 9 as delivered elsewhere."""
        receiver, radio = self.begin()
        radio.send(A.identity(following=20) + A.batch(range(5)) + A.tombstone([(5, 7)]) + A.tombstone([(8, 9)], elsewhere=True)
                   + A.batch(range(10, 20)) + B.identity(following=5) + B.batch(range(5)))
        receiver.wait_for_lines(20)
        self.wait_for_stored(22)
        return receiver, radio

    def wait_for_stored(self, count):
        """Waits until `history` prints `count` lines. `run` writes a line a moment before the fix is in a file."""
        wait_until(lambda: self.history().count("\n") == count, 5, f"{count} stored lines")

    def test_the_same_lines_as_run(self):
        receiver, radio = self.two_collars()
        # The receiver still runs and holds the lock.
        lines = self.objects()
        self.assertEqual([line for line in lines if line["type"] == "fix"],
                         sorted(receiver.fixes, key=lambda line: line["collar"]))
        for each in (lines, self.objects("--sort", "sequence")):
            self.assertEqual([(line["event"], line["collar"], line["log"], line["first_seq"], line["last_seq"])
                              for line in each if line["type"] == "gap"],
                             [("lost", NAME_A, A.log.log_id, 5, 7), ("elsewhere", NAME_A, A.log.log_id, 8, 9)])
        texts = "".join(self.history("--collar", NAME_B, "--flavour", "full").splitlines(keepends=True))
        self.assertEqual(texts, "".join(line for line in receiver.lines if NAME_B in line))
        # A later `history` also writes a fix that came in after the first one.
        radio.send(B.fix(5))
        receiver.wait_for_lines(21)
        self.wait_for_stored(23)
        self.assertEqual([line["seq"] for line in self.objects("--collar", NAME_B.upper())], list(range(6)))
        self.assertEqual(receiver.stop(), 0)
        self.assertEqual(len(self.objects()), 23)
        compact = [json.loads(line) for line in self.history("--collar", NAME_B, "--flavour", "compact",
                                                             "--source-as", "iOS").splitlines()]
        self.assertEqual([(line["seq"], line["source"], "lat" in line) for line in compact],
                         [(seq, "iOS", True) for seq in range(6)])

    def test_text(self):
        receiver, _ = self.two_collars()
        receiver.stop()
        lines = self.history("-F", "text", "--utc", "--collar", NAME_A).splitlines()
        self.assertEqual(len(lines), 17)
        fix = receiver.fixes[0]
        place = fix["coordinate"]
        self.assertRegex(lines[0], r"^\d{4}-\d\d-\d\dT[\d:.]+Z  "
                         rf"{place['latitude']}\d*, {place['longitude']}\d*  ±[\d.]+ m  [\d.]+ m/s  "
                         rf"battery \d+ %  collar {NAME_A}  fix 0$")
        self.assertTrue(lines[5].endswith(f"collar {NAME_A}  fixes 5 to 7 lost: the collar does not have them any more"))
        self.assertTrue(lines[6].endswith(f"collar {NAME_A}  fixes 8 to 9 delivered to another receiver"))

    def test_since(self):
        receiver, radio = self.two_collars()
        for fix in receiver.fixes:
            name, seq = fix["collar"], fix["seq"]
            rest = [line["seq"] for line in self.objects("--since", fix["id"]) if line["type"] == "fix"]
            self.assertEqual(rest, [line["seq"] for line in receiver.fixes if line["collar"] == name and line["seq"] > seq])
        time.sleep(1.1)
        later = int(time.time())
        radio.send(A.fix(20) + B.fix(5))
        receiver.wait_for_lines(22)
        self.wait_for_stored(24)
        for since in (f"@{later}", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(later)),
                      time.strftime("%Y-%m-%d %H:%M:%S.000+00:00", time.gmtime(later)),
                      time.strftime("%Y-%m-%dT%H:%M:%S-05:30", time.gmtime(later - 19_800))):
            self.assertEqual([(line["collar"], line["seq"]) for line in self.objects("--since", since)],
                             [(NAME_A, 20), (NAME_B, 5)], since)
        for since in ("2h", "90s", "30m", "3d", "1w", "1970-01-01", "@0", "0001-01-01T00:00:00z",
                      time.strftime("%Y-%m-%d", time.gmtime(later - 86_400))):
            self.assertEqual(len(self.objects("--since", since)), 24, since)
        for since in ("2100-01-01", "2100-02-28T23:59:59Z", "@4102444800"):
            self.assertEqual(self.history("--since", since), "", since)
        receiver.stop()

    def test_an_odd_journal_hides_no_other(self):
        """The readable journals are printed; the exit code is that of the first journal that cannot be read."""
        receiver, _ = self.two_collars()
        receiver.stop()
        lines = self.history().count("\n")
        name = f"{self.state}/00000000000000b0"
        pathlib.Path(name).write_text("notes", "ascii")
        for arguments, count in (((), lines), (("--verify",), 2), (("--verify", "--repair"), 2)):
            self.assertEqual(self.history(*arguments, code=66).count("\n"), count, arguments)
            self.assertIn("00000000000000b0", self.errors)
        os.remove(name)
        self.assertEqual(self.history().count("\n"), lines)

    def test_a_destroyed_journal_is_told(self):
        """A newest segment without a readable record is damage, not a new segment that a crash left incomplete."""
        receiver, radio = self.begin()
        radio.send(A.identity(following=60) + A.batch(range(60)))
        receiver.wait_for_lines(60)
        self.wait_for_stored(60)
        receiver.stop()
        segment, = glob.glob(f"{self.state}/{NAME_A}/*.journal")
        size = os.path.getsize(segment)
        pathlib.Path(segment).write_bytes(bytes(size))
        self.assertEqual(self.history("--verify", code=65), "")
        self.assertIn(f"In segment 1 of the journal of collar {NAME_A}, {size} bytes at offset 0 are no record.", self.errors)
        receiver, radio = self.begin("--events", "all")
        radio.send(A.identity(following=60) + A.fix(59, 1))
        wait_until(lambda: "journal_damaged" in "".join(receiver.lines), 10, "the line about the damage")
        self.wait_for_stored(1)
        receiver.stop()
        self.assertEqual(os.path.getsize(segment), size, "what is left for a person to look at")
        self.assertEqual(self.history("--verify").count("\n"), 1)

    def test_what_since_does_not_take(self):
        receiver, _ = self.two_collars()
        receiver.stop()
        self.history("--since", "", code=64)
        self.assert_usage_error("`--since` needs a value: `--since ID|TIME`.")
        for since in ("x", "2026-02-29", "2026-13-01", "2026-04-31", "2026-01-01T24:00:00Z", "2026-01-01T10:00:00",
                      "2026-01-01T10:00:00.Z", "2026-01-01T10:00:00Z1", "@", "@1x", "@9223372036854775807", "h", "-2h", "2y", "1.5h",
                      "00000000-0000-0000-0000-000000000000", "2026-1-1", "2026-01-01T10:00:00+24:00"):
            self.assertEqual(self.history("--since", since, code=64), "", since)
            self.assert_usage_error("`--since` takes a time or an id, not ")
        unknown = receiver.fixes[-1]["id"][:-1] + "f"
        self.assertEqual(self.history("--since", unknown, code=66), "")
        self.assertIn("Fix 15 of collar", self.errors)

    def assert_usage_error(self, word):
        message, remedy = self.errors.splitlines()
        self.assertTrue(message.startswith(f"collar-link: {word}"), message)
        self.assertTrue(remedy.startswith("collar-link:   "), remedy)

    def test_what_cannot_be_read(self):
        self.assertEqual(self.history(code=66), "")
        self.assert_usage_error("Nothing is stored")
        receiver, _ = self.two_collars()
        receiver.stop()
        self.assertEqual(self.history("--collar", "00000000000000aa", code=66), "")
        self.assert_usage_error("Nothing of collar 00000000000000aa is stored")
        self.assertIn(NAME_A, self.errors)
        self.assertEqual(self.history("--collar", "aa", code=64), "")
        self.assertEqual(self.history("-F", "xml", code=64), "")
        segment, = glob.glob(f"{self.state}/{NAME_A}/*.journal")
        os.chmod(segment, 0)
        self.assertEqual(self.history("--collar", NAME_A, code=77), "")
        self.assert_usage_error("This program cannot open")
        self.assertNotIn(NAME_A, self.history(code=77))
        self.assert_usage_error("This program cannot open")

    def test_a_reader_that_goes_away(self):
        receiver, _ = self.two_collars()
        receiver.stop()
        program = self.start([BINARY, "history", "--state-dir", self.state], reads_output=False)
        program.process.stdout.close()
        self.assertEqual(program.process.wait(10), 0)
        program.process.stdout = None
        self.assertEqual(program.error_text, "")

    def test_nothing_is_written(self):
        receiver, _ = self.two_collars()
        receiver.stop()
        before = contents(self.state)
        expected = self.history()
        self.assertEqual(contents(self.state), before)
        for path in sorted(before, reverse=True):
            os.chmod(path, 0o500 if os.path.isdir(path) else 0o400)
        self.assertEqual(self.history(), expected, "reading needs no more than the right to read")
        for path in before:
            os.chmod(path, 0o700)

    def test_damage_is_named(self):
        receiver, _ = self.two_collars()
        receiver.stop()
        segment, = glob.glob(f"{self.state}/{NAME_A}/*.journal")
        flip(segment, 150)
        lines = self.objects("--collar", NAME_A)
        self.assertEqual(len(lines), 16)
        self.assert_usage_error("The journal of collar")

    def three_segments(self):
        """Stores fixes 0 to 29 of A in three segments, each of which a new receiver begins. 12 is missing, 13 and 14
        are lost."""
        for part in range(3):
            receiver, radio = self.begin()
            fixes = [number for number in range(10 * part, 10 * part + 10) if number not in (12, 13, 14)]
            radio.send(A.identity(following=30) + A.batch(fixes) + (A.tombstone([(13, 14)]) if part == 1 else b""))
            receiver.wait_for_lines(len(fixes))
            receiver.stop()
            if part < 2:
                os.remove(f"{self.state}/receiver")
        return sorted(glob.glob(f"{self.state}/{NAME_A}/*.journal"))

    def verify(self, *arguments, code=0):
        """The one line of `--verify`, about the log of A."""
        line, = self.objects("--verify", *arguments, code=code)
        self.assertEqual((line["collar"], line["log"]), (NAME_A, A.log.log_id))
        return line

    def test_verify(self):
        self.three_segments()
        before = contents(self.state)
        line = self.verify()
        self.assertEqual(contents(self.state), before)
        self.assertEqual(self.errors, "")
        self.assertEqual(line, {**line, "intact": True, "stored": [[0, 11], [15, 29]], "lost": [[13, 14]], "elsewhere": [],
                                "removed": [], "missing": [[12, 12]], "damaged": []})
        self.assertEqual(self.history("--verify", "-F", "text"), f"""\
collar {NAME_A}, log {A.log.log_id}: intact
  stored: 27 (0 to 11, 15 to 29)
  lost, the collar does not have them any more: 2 (13 to 14)
  missing, the collar is asked for them: 1 (12)
""")

    def test_damage_is_found_and_asked_for_again(self):
        segments = self.three_segments()
        flip(segments[0], 200)
        flip(segments[1], 100)
        self.history("--verify", code=65)
        self.assertIn("2 fixes or losses that were stored are gone", self.errors)
        self.assertIn("--repair", self.errors.splitlines()[-1])
        damaged = self.verify(code=65)
        self.assertEqual((damaged["intact"], len(damaged["damaged"]), damaged["missing"]), (False, 2, [[12, 12]]))
        first, second = (each[0] for each in damaged["damaged"])
        self.assertTrue(first < 10 <= second < 20, damaged)
        # --repair is refused while a receiver runs.
        receiver, radio = self.begin()
        self.history("--verify", "--repair", code=75)
        self.assertIn(f"process {receiver.pid}", self.errors)
        receiver.stop()
        line = self.verify("--repair")
        self.assertEqual((line["intact"], line["damaged"], line["missing"]),
                         (True, [], sorted([*damaged["damaged"], [12, 12]])))
        self.assertIn(f"asked for these again when it is heard: fixes {first}, {second}", self.errors)
        # The answer to the collar names both fixes in `resend`. The collar sends them. Then only fix 12 is missing.
        receiver, radio = self.begin()
        answer, _ = radio.poll(A, 30, poll=3)
        self.assertEqual(answer["resend"], [[first, first], [second, second]])
        radio.send(A.batch(sorted([first, second])))
        receiver.wait_for_lines(2)
        receiver.stop()
        self.assertEqual({fix["seq"] for fix in receiver.fixes}, {first, second})
        self.assertEqual(self.verify()["stored"], [[0, 11], [15, 29]])
        self.assertEqual(self.errors, "")

    def test_a_collar_that_cannot_be_repaired_keeps_no_other_from_it(self):
        receiver, radio = self.begin()
        radio.send(A.identity(following=10) + A.batch(range(10)) + B.identity(following=10) + B.batch(range(10)))
        receiver.wait_for_lines(20)
        receiver.stop()
        segments = [glob.glob(f"{self.state}/{name}/*.journal")[0] for name in (NAME_A, NAME_B)]
        for segment in segments:
            flip(segment, 200)
        damaged = {line["collar"]: line for line in self.objects("--verify", code=65)}
        self.assertEqual([damaged[name]["intact"] for name in (NAME_A, NAME_B)], [False, False])
        # That of A, which comes first, may be read, but not written.
        os.chmod(segments[0], 0o400)
        repaired = {line["collar"]: line for line in self.objects("--verify", "--repair", code=65)}
        self.assertEqual([repaired[name]["intact"] for name in (NAME_A, NAME_B)], [False, True])
        self.assertEqual(repaired[NAME_B]["missing"], damaged[NAME_B]["damaged"])
        self.assertIn(segments[0], self.errors)
        self.assertIn(f"ollar {NAME_B} is asked for these again", self.errors)
        os.chmod(segments[0], 0o600)
        repaired = {line["collar"]: line for line in self.objects("--verify", "--repair")}
        self.assertEqual([repaired[name]["intact"] for name in (NAME_A, NAME_B)], [True, True])

    def test_a_missing_segment(self):
        segments = self.three_segments()
        os.remove(segments[1])
        line = self.verify(code=65)
        self.assertEqual((line["stored"], line["damaged"]), ([[0, 9], [20, 29]], [[10, 11], [13, 19]]))
        self.assertIn("There is no segment 2 of the journal", self.errors)
        self.assertEqual(self.verify("--repair")["missing"], [[10, 19]])
        self.assertEqual(self.verify()["intact"], True)
        # The oldest segment may have been removed on purpose.
        os.remove(segments[0])
        self.assertEqual(self.verify()["removed"], [[0, 9]])

    def test_keep(self):
        """Old fixes that were written as lines are removed. This is no damage, and they are not in `resend`."""
        segments = self.three_segments()
        set_times(segments[0], time.time() - 5 * 86_400)
        set_times(segments[1], time.time() - 3 * 86_400)
        self.assertEqual(self.verify()["intact"], True)
        for days, kept in ((6, segments), (4, segments[1:]), (2, segments[2:])):
            receiver, radio = self.begin("--keep", str(days))
            answer, _ = radio.poll(A, 30, poll=days)
            self.assertEqual((answer["first_missing"], answer["resend"]), (12, []))
            receiver.stop()
            self.assertEqual(sorted(glob.glob(f"{self.state}/{NAME_A}/*.journal")), kept)
        line = self.verify()
        self.assertEqual((line["intact"], line["removed"][0], line["stored"]), (True, [0, 11], [[20, 29]]))
        for wrong in ("0", "-1", "x", "1.5"):
            receiver = self.receive("--keep", wrong)
            self.assertEqual(receiver.wait(5), 64)

    def test_keep_where_the_clock_was_wrong(self):
        """A segment from before the clock was set is kept. Segments dated in the future do not prevent the removal of an
        older one."""
        segments = self.three_segments()
        year_2105 = 4_260_000_000
        for times, kept in (((1000, 1000, time.time()), segments),
                            ((time.time() - 10 * 86_400, year_2105, year_2105), segments[1:])):
            for segment, unix_seconds in zip(segments, times):
                set_times(segment, unix_seconds)
            receiver, radio = self.begin("--keep", "4")
            self.assertEqual(radio.poll(A, 30)[0]["first_missing"], 12)
            receiver.stop()
            self.assertEqual(sorted(glob.glob(f"{self.state}/{NAME_A}/*.journal")), kept)
        self.assertEqual(self.verify()["intact"], True)

    @unittest.skipUnless(can_trace(), "needs strace, and leave to trace")
    def test_what_is_old_and_cannot_be_removed(self):
        """An old segment that cannot be removed gives one error line. All else goes on, and the next run removes it."""
        segments = self.three_segments()
        for segment in segments[:2]:
            set_times(segment, time.time() - 5 * 86_400)
        line = SerialLine()
        self.addCleanup(line.close)
        traced = Traced(
            self, ["-o", "/dev/null", "-P", os.path.dirname(segments[0]), "-e", "trace=?unlink,?unlinkat",
                   "-e", "inject=?unlink,?unlinkat:error=EROFS"],
            [BINARY, "--port", line.path, "--dialect", "serial", "--state-dir", self.state, "--keep", "4", "--events", "fix,error"])
        receiver, radio = traced.program, Radio(line)
        receiver.wait_for_error(f"Old fixes of collar {NAME_A} are kept, because this program cannot ")
        radio.send(B.identity() + B.fix(0))
        for sequence in range(30, 33):
            radio.send(A.fix(sequence))
            answer, _ = radio.poll(A, sequence + 1, poll=1 + sequence % 7)
            self.assertEqual(answer["durable"][0], [13, sequence])
        self.assertEqual(radio.poll(B, 1)[0]["first_missing"], 1)
        self.assertEqual(traced.stop(), 0)
        for written in receiver.fixes:
            SCHEMAS[written["type"]].validate(written)
        self.assertEqual(sorted((each["collar"], each["seq"]) for each in receiver.fixes if each["type"] == "fix"),
                         sorted([(NAME_B, 0), *((NAME_A, sequence) for sequence in range(30, 33))]))
        error, = [each for each in receiver.fixes if each["type"] == "error"]
        self.assertEqual((error["code"], error["collar"], error["severity"]), ("old_fixes_kept", NAME_A, "warning"))
        self.assertIn("Read-only file system", error["reason"])
        self.assertEqual(receiver.error_text.count("are kept"), 1)
        remedy = receiver.errors[1 + next(index for index, each in enumerate(receiver.errors) if "are kept" in each)]
        self.assertEqual(remedy, f"collar-link:   {error['remedy']}\n")
        self.assertEqual(sorted(glob.glob(f"{self.state}/{NAME_A}/*.journal")), segments)
        self.assertEqual(self.objects("--verify")[0]["stored"], [[0, 11], [15, 32]])
        receiver, _ = self.begin("--keep", "4")
        receiver.stop()
        self.assertEqual(sorted(glob.glob(f"{self.state}/{NAME_A}/*.journal")), segments[2:])

    def test_damage_of_one_collar_of_several(self):
        """The exit code is 65 and the lines name the damaged collar, whether it is the first or the last."""
        receiver, _ = self.two_collars()
        receiver.stop()
        names = sorted([NAME_A, NAME_B])
        for damaged in names:
            segment, = glob.glob(f"{self.state}/{damaged}/*.journal")
            with self.subTest(damaged=damaged):
                flip(segment, 150)
                lines = self.objects("--verify", code=65)
                self.assertEqual([(line["collar"], line["intact"], line["damaged"] == []) for line in lines],
                                 [(name, name != damaged, name != damaged) for name in names])
                self.assertIn(f"The journal of collar {damaged} is damaged", self.errors)
                (other,) = set(names) - {damaged}
                self.assertNotIn(other, self.errors)
                text = self.history("--verify", "-F", "text", code=65)
                self.assertIn(f"collar {other}, log {self.log_of(other)}: intact\n", text)
                self.assertNotIn(f"collar {damaged}, log {self.log_of(damaged)}: intact", text)
                # With --collar, only the other collar is verified, and it is intact.
                self.assertTrue(self.objects("--verify", "--collar", other)[0]["intact"])
                flip(segment, 150)
                self.assertEqual([line["intact"] for line in self.objects("--verify")], [True, True])

    def test_of_two_failures_the_first_gives_the_exit_code(self):
        receiver, _ = self.two_collars()
        receiver.stop()
        names = sorted([NAME_A, NAME_B])
        for foreign, closed, code in [(*names, 78), (*reversed(names), 77)]:
            with self.subTest(foreign=foreign):
                segment, = (pathlib.Path(path) for path in glob.glob(f"{self.state}/{foreign}/*.journal"))
                content = segment.read_bytes()
                segment.write_bytes(pathlib.Path(segment.as_posix().replace(foreign, closed)).read_bytes())
                os.chmod(f"{self.state}/{closed}", 0)
                self.history(code=code)
                self.assertIn(f"{self.state}/{foreign}", self.errors)
                self.assertIn(f"{self.state}/{closed}", self.errors)
                os.chmod(f"{self.state}/{closed}", 0o700)
                segment.write_bytes(content)

    @staticmethod
    def log_of(name):
        return (A if name == NAME_A else B).log.log_id

    def test_what_verify_does_not_take(self):
        self.three_segments()
        self.history("--repair", code=64)
        self.history("--verify", "--since", "2h", code=64)


def flip(path, offset, count=1):
    """Damages bytes of a file."""
    with open(path, "r+b") as file:
        file.seek(offset)
        data = bytes(byte ^ 0x20 for byte in file.read(count))
        file.seek(offset)
        file.write(data)


def contents(state):
    """Every path in a directory, with its time of modification and its size."""
    return {path: (os.stat(path).st_mtime_ns, os.stat(path).st_size)
            for path in glob.glob(f"{state}/**", recursive=True)}


if __name__ == "__main__":
    unittest.main()
