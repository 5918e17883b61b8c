"""Captures: what --write records gives the same lines again, by --read and for other programs."""

import datetime
import gzip
import json
import os
import pathlib
import re
import shutil
import signal
import stat
import subprocess
import time
import unittest

from end_to_end import BINARY, EndToEndTest, child_environment, wait_until
from dissector import DissectorTest
import recordings
from recordings import BEGAN, DUE, ENDED, FOUND, OPENED, READ, UNPLUGGED, WROTE
from serial_line import SerialLine

from session_parts import A

# Times between an event and its line depend on the machine.
TIMES = re.compile(rb'"(rx_unix_ms|unix_ms|silent_ms|uptime_s|lag_ms|lag_bytes|journal_bytes|output_blocked_ms)":(-?\d+|null)')
KEY = "000102030405060708090a0b0c0d0e0f"


def without_times(lines):
    return [TIMES.sub(rb'"\1":0', line if isinstance(line, bytes) else line.encode()) for line in lines]


class RecordingTest(EndToEndTest):
    def setUp(self):
        super().setUp()
        self.capture = self.path("session.pcapng")

    def record(self, *arguments, **options):
        return self.receive("--write", self.capture, *arguments, **options)

    def records(self):
        return recordings.records(pathlib.Path(self.capture).read_bytes())

    def play(self, *arguments, capture=None, code=0, **options):
        done = subprocess.run(
            [BINARY, "--read", capture or self.capture, *arguments], capture_output=True, check=False, timeout=60,
            env=child_environment(HOME=self.folder, TMPDIR=self.folder), **options)
        self.assertEqual(done.returncode, code, done.stderr.decode())
        self.errors = done.stderr.decode()
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("collar-link-")], [], "a directory is left")
        return done.stdout.splitlines(keepends=True)

    def record_track(self, *arguments, collar=(), limit=None):
        """Records the reception of a whole track. Returns the receiver's lines."""
        track, _ = self.track("cats_uk/Athena", limit)
        collar = self.simulate(track, "--speed", "max", "--until-delivered", *collar)
        receiver = self.record(*arguments)
        self.assertEqual(collar.wait(30), 0, receiver.error_text)
        self.assertEqual(receiver.stop(), 0, receiver.error_text)
        return receiver.lines

    def test_a_session_with_replugs(self):
        track, sent = self.track("cats_uk/Athena")
        collar = self.simulate(track, "--speed", "max", "--loss", "0.3", "--corrupt", "0.02", "--seed", "3")
        receiver = self.record("--events", "all")
        receiver.wait_for_error("recording in")
        receiver.wait_for_error("which contains positions")
        for count in range(1, 4):
            receiver.wait_for_errors("listening on", count)
            time.sleep(0.2)
            collar.process.send_signal(signal.SIGUSR1)
            receiver.wait_for_errors("was unplugged", count)
        receiver.wait_for_errors("listening on", 4)
        wait_until(lambda: sum('"type":"fix"' in line for line in receiver.lines) == len(sent), 30, "all fixes")
        self.assertEqual(receiver.stop(), 0)
        played = self.play("--events", "all")
        self.assertEqual(without_times(played), without_times(receiver.lines))
        fixes = [line for line in played if b'"type":"fix"' in line]
        self.assertEqual(fixes, [line.encode() for line in receiver.lines if '"type":"fix"' in line], "fixes, with their times")
        self.assertEqual(without_times(self.play("--events", "all")), without_times(played), "every playback is the same")
        self.check_records()
        independent = recordings.listen(self.records())
        self.assertEqual(recordings.values_of_lines(map(json.loads, fixes)), independent)

    def check_records(self):
        found = self.records()
        self.assertEqual(stat.S_IMODE(os.stat(self.capture).st_mode), 0o600)
        self.assertEqual([found[0].event, found[-1].event], [BEGAN, ENDED])
        self.assertEqual([record.event for record in found if record.event in (OPENED, UNPLUGGED)], [OPENED, UNPLUGGED] * 3 + [OPENED])
        self.assertEqual({record.port for record in found if record.event not in (BEGAN, DUE, ENDED)}, {self.link})
        self.assertEqual({record.lines()["dialect"] for record in found if record.event == FOUND}, {"serial"})
        self.assertRegex(found[0].content.decode(), r"^receiver=\d+\n$")
        self.assertTrue(any(record.event == WROTE for record in found))
        for record in found:
            self.assertLess(abs(record.unix_ms - record.microseconds / 1000), 5000)

    def test_what_came_in_before_the_dialect_was_known(self):
        """decode shows each frame, and each piece that it skips, with the place and the time of the record in which it ends."""
        line = SerialLine()
        self.addCleanup(line.close)
        receiver = self.start([BINARY, "--port", line.path, "--state-dir", self.state, "--write", self.capture])
        receiver.wait_for_error("listening on")
        # Nothing shows the dialect before the identity does.
        pieces = (A.fix(0), b"\x07noise\0", A.identity() + A.fix(1))
        for count, piece in enumerate(pieces, 1):
            os.write(line.master, piece)
            wait_until(lambda: sum(record.event == READ for record in self.records()) == count, 5, f"{count} reads")
            time.sleep(0.02)
        receiver.wait_for_lines(1)
        self.assertEqual(receiver.stop(), 0, receiver.error_text)
        found = [record for record in self.records() if record.event in (READ, FOUND)]
        self.assertEqual([record.event for record in found], [READ, READ, READ, FOUND])
        done = subprocess.run([BINARY, "decode", "-F", "text", self.capture], capture_output=True, text=True, check=True)
        places = re.findall(r"(?m)^@(\d+) (\S+)Z \S+ in (?:\d+ bytes: )?(.+)$", done.stdout)
        self.assertEqual([int(offset) for offset, _, _ in places], [found[index].offset for index in (0, 1, 2, 2)])
        times = [datetime.datetime.fromisoformat(text + "+00:00").timestamp() for _, text, _ in places]
        self.assertEqual([round(1000 * seconds) for seconds in times], [found[index].unix_ms for index in (0, 1, 2, 2)])
        self.assertEqual(
            [text for _, _, text in places],
            ["skipped: without an identity before it", "skipped: with broken stuffing", "identity, address 17",
             "absolute fix, address 17"])
        self.assertIn("skipped: 1 with broken stuffing, 1 without an identity before it", done.stderr)

    def test_a_stick(self):
        self.check_stick("kiss")

    def test_a_stick_with_lines_of_text(self):
        self.check_stick("rui3")

    def check_stick(self, dialect):
        """Records a session with a stick, and plays it."""
        track, _ = self.track("cats_uk/Athena", 4)
        self.simulate(track, "--modem", "lora:SF7", "--dialect", dialect, "--interval", "1")
        receiver = self.record("--region", "EU868", "--spreading-factor", "7", "--events", "fix,link,error,status")
        wait_until(lambda: sum('"type":"fix"' in line for line in receiver.lines) == 4, 30, "four fixes")
        self.assertEqual(receiver.stop(), 0)
        # The settings of the radio are those of the capture.
        self.assertEqual(without_times(self.play("--events", "fix,link,error,status")), without_times(receiver.lines))
        self.assertIn("the radio is set to 869.525 MHz, 125 kHz, SF7", self.errors)
        self.assertEqual(
            recordings.values_of_lines(map(json.loads, receiver.lines)), recordings.listen(self.records()))
        text = subprocess.run([BINARY, "decode", "-F", "text", self.capture], capture_output=True, text=True, check=True).stdout
        self.assertRegex(text, r"(?m)^@\d+ \S+Z \S+ out 11 bytes: identity request")
        self.assertRegex(text, r"(?m)^@\d+ \S+Z \S+ in \d+ bytes: identity")

    def test_sealed_frames(self):
        key = self.path("key")
        pathlib.Path(key).write_text(KEY + "\n")
        os.chmod(key, 0o644)
        device = "910a2dec89025cc1"
        self.assertEqual(self.start([BINARY, "key", "add", device, key, "--state-dir", self.state]).wait(), 0)
        lines = self.record_track("--events", "fix", collar=("--key-file", key, "--seed", "1"), limit=20)
        self.assertEqual(len(lines), 20)
        self.assertEqual(self.play(), [])
        self.assertEqual(self.play("--key-file", key, "--collar", device), [line.encode() for line in lines])
        decoded = subprocess.run(
            [BINARY, "decode", "--device", device, "--key-file", key, self.capture], capture_output=True, check=True).stdout
        self.assertEqual(
            recordings.values_of_lines(map(json.loads, decoded.splitlines())),
            recordings.values_of_lines(map(json.loads, lines)))

    def test_a_killed_receiver(self):
        track, sent = self.track("cats_uk/Athena")
        self.simulate(track, "--speed", "20000", "--loss", "0.1", "--seed", "2")
        receiver = self.record()
        receiver.wait_for_lines(10)
        receiver.kill_now()
        self.assertNotEqual(self.records()[-1].event, ENDED)
        played = self.play()
        self.assertEqual([line for line in played if line.decode() in receiver.lines], [line.encode() for line in receiver.lines])
        # What a power cut may leave.
        with open(self.capture, "r+b") as file:
            file.truncate(os.path.getsize(self.capture) - 5)
        self.assertGreaterEqual(len(self.play()), 1)
        decoded = subprocess.run([BINARY, "decode", self.capture], capture_output=True, text=True, check=True)
        self.assertIn("the capture ends inside a block", decoded.stderr)
        # The next receiver goes on with the capture.
        second = self.record()
        wait_until(lambda: len({json.loads(line)["id"] for line in receiver.lines + second.lines}) == len(sent), 40, "all fixes")
        self.assertEqual(second.stop(), 0, second.error_text)
        found = self.records()
        self.assertEqual([record.section for record in found if record.event == BEGAN], [1, 2])
        # The record that was cut may have held fixes.
        self.assertEqual(recordings.values_of_lines(map(json.loads, self.play())), recordings.listen(found))

    def test_no_room(self):
        track, sent = self.track("cats_uk/Athena")
        collar = self.simulate(track, "--speed", "max", "--until-delivered")
        receiver = self.start([
            "sh", "-c", 'exec prlimit --fsize=8192:unlimited "$@"', "sh", BINARY, "--port", self.link, "--state-dir", self.state,
            "--write", self.capture, "--max-size", "65536", "--events", "fix,error"])
        receiver.wait_for_error("cannot be written: write: File too large")
        size = os.path.getsize(self.capture)
        self.assertGreater(size, 4096)
        self.assertEqual(self.start(["prlimit", f"--pid={receiver.pid}", "--fsize=unlimited"]).wait(), 0)
        self.assertEqual(collar.wait(30), 0, receiver.error_text)
        self.assertEqual(receiver.stop(), 0, receiver.error_text)
        self.assertEqual(receiver.error_text.count("cannot be written: write"), 1)
        self.assert_each_once([line for line in receiver.fixes if line["type"] == "fix"], len(sent))
        self.assertEqual(sum(line.get("code") == "capture_failing" for line in receiver.fixes), 1)
        self.assertEqual(os.path.getsize(self.capture), size)
        self.assertGreater(len(self.records()), 10)
        self.assertGreater(len(self.play()), 1)

    def test_files_that_are_not_overwritten(self):
        other = self.path("other")
        pathlib.Path(other).write_bytes(b"precious\n" * 100)
        os.chmod(other, 0o666)
        fifo = self.path("fifo")
        os.mkfifo(fifo, 0o666)
        os.chmod(fifo, 0o666)
        for path, reason in (
                (other, "holds something else than a capture"), (fifo, "is no file"), (self.path("none/x"), "No such file"),
                (self.folder, "Is a directory"), ("/dev/full", "is no file")):
            with self.subTest(path=path):
                receiver = self.receive("--write", path)
                self.assertEqual(receiver.wait(), 73, receiver.error_text)
                self.assertIn(reason, receiver.error_text)
                self.assertNotIn("recording in", receiver.error_text)
                self.assertNotIn("Receiving goes on", receiver.error_text)
        self.assertEqual(pathlib.Path(other).read_bytes(), b"precious\n" * 100)
        first = self.record()
        first.wait_for_error("waiting for")
        second = self.record(state=self.path("second"))
        self.assertEqual(second.wait(), 73, second.error_text)
        self.assertIn("is in use by another process", second.error_text)

    def test_no_room_at_the_start(self):
        """The receiver ends, and does not say that receiving goes on."""
        self.record_track(limit=100)
        size = os.path.getsize(self.capture)
        receiver = self.start(["prlimit", f"--fsize={size}", BINARY, "--port", self.link, "--state-dir", self.state, "--write", self.capture])
        self.assertEqual(receiver.wait(), 73, receiver.error_text)
        self.assertIn("cannot be written: write: File too large", receiver.error_text)
        self.assertIn("Raise the limit", receiver.error_text)
        self.assertNotIn("Receiving goes on", receiver.error_text)
        self.assertNotIn("recording in", receiver.error_text)

    def test_usage(self):
        for arguments, reason in (
                (["--write", "-"], "stdout carries the lines"), (["--read", "x", "--write", "y"], "`--write` and `--read` exclude each other."),
                (["--read", "x", "--port", "y"], "`--port` and `--read` exclude each other."), (["--key-file", "x"], "goes with `--read`."),
                (["--read", "x", "--region", "EU868"], "`--region` and `--read` exclude each other.")):
            with self.subTest(arguments=arguments):
                program = self.start([BINARY, *arguments], environment=child_environment(HOME=self.folder))
                self.assertEqual(program.wait(5), 64, program.error_text)
                self.assertIn(reason, program.error_text)

    def test_captures_that_are_none(self):
        self.play(capture=self.path("missing"), code=66)
        text = self.path("text")
        pathlib.Path(text).write_text('{"type":"fix"}\n')
        self.play(capture=text, code=65)
        self.assertIn("this is lines of JSON, not a capture", self.errors)
        noise = self.path("noise")
        pathlib.Path(noise).write_bytes(bytes(range(200, 256)))
        self.play(capture=noise, code=65)
        self.assertIn("byte 0: this is no capture", self.errors)
        compressed = self.path("capture.pcapng.gz")
        pathlib.Path(compressed).write_bytes(gzip.compress(bytes(100)))
        self.play(capture=compressed, code=65)
        self.assertIn(f"zcat {compressed} | collar-link run ", self.errors)
        empty = self.path("empty")
        pathlib.Path(empty).write_bytes(b"")
        self.play(capture=empty, code=65)

    def test_damage(self):
        lines = self.record_track("--events", "fix")
        data = bytearray(pathlib.Path(self.capture).read_bytes())
        starts = [offset for _, _, _, offset in recordings.blocks(bytes(data))]
        middle = starts[len(starts) // 2]
        data[middle + 4] ^= 1
        damaged = self.path("damaged")
        pathlib.Path(damaged).write_bytes(data)
        played = self.play(capture=damaged, code=65)
        self.assertIn(f"{damaged}, byte {middle}: a block has the impossible length", self.errors)
        self.assertGreater(len(played), 10)
        self.assertEqual(played, [line.encode() for line in lines[:len(played)]])
        decoded = subprocess.run([BINARY, "decode", damaged], capture_output=True, check=False)
        self.assertEqual(decoded.returncode, 65)
        self.assertGreater(len(decoded.stdout.splitlines()), 10)

    def test_from_stdin_and_with_a_limit(self):
        lines = self.record_track("--events", "fix", limit=30)
        with open(self.capture, "rb") as file:
            self.assertEqual(self.play("--count", "7", capture="-", stdin=file), [line.encode() for line in lines[:7]])
        state = self.path("kept")
        self.assertEqual(self.play("--state-dir", state), [line.encode() for line in lines])
        history = subprocess.run([BINARY, "history", "--state-dir", state], capture_output=True, check=True, env=child_environment())
        self.assertEqual(history.stdout.splitlines(keepends=True), [line.encode() for line in lines])


@unittest.skipUnless(shutil.which("capinfos"), "needs capinfos: apt install tshark")
class WiresharkTest(DissectorTest, EndToEndTest):
    def test_wireshark_opens_it(self):
        track, _ = self.track("cats_uk/Athena", 20)
        collar = self.simulate(track, "--speed", "max", "--until-delivered")
        capture = self.path("session.pcapng")
        receiver = self.receive("--write", capture)
        self.assertEqual(collar.wait(20), 0, receiver.error_text)
        self.assertEqual(receiver.stop(), 0)
        data = pathlib.Path(capture).read_bytes()
        found = recordings.records(data)
        fields = ("collarlink_capture.event", "collarlink_capture.time.unix_ms", "frame.interface_name", "collarlink_capture.text",
                  "collarlink.latitude", "collarlink.sequence", "_ws.col.Info", "_ws.malformed")
        text = self.tshark(data, "-T", "fields", *(option for field in fields for option in ("-e", field)))
        rows = [line.split("\t") for line in text.splitlines()]
        self.assertEqual([(int(event), int(time), port) for event, time, port, *_ in rows],
                         [(record.event, record.unix_ms, record.port) for record in found])
        self.assertIn("receiver=", rows[0][3])
        sequences = {int(number) for *_, latitudes, numbers, _, _ in rows if latitudes for number in numbers.split(",")}
        self.assertIn(0, sequences)
        self.assertLessEqual(sequences, {fix["seq"] for fix in receiver.fixes})
        self.assertIn("acknowledgement below", "\n".join(info for event, *_, info, _ in rows if event == "3"))
        # What goes out at first, to find out the dialect of a stick, holds no frames.
        self.assertEqual([row for row in rows if row[0] == "2" and row[-1]], [])
        info = subprocess.run(["capinfos", "-M", capture], capture_output=True, text=True, check=True).stdout
        self.assertRegex(info, rf"Number of packets: +{len(found)}\n")
        self.assertRegex(info, r"Strict time order: +True")
        self.assertRegex(info, r"Capture application: +collar-link")


if __name__ == "__main__":
    unittest.main()
