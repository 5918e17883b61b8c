"""Disks that fail, fill up or are read-only: acknowledgements stop, a message says what to do, nothing is lost."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import unittest

from end_to_end import BINARY, ORDINARY_USER, EndToEndTest, wait_until
from journals import JournalTail
from radio import ACKNOWLEDGEMENT, Radio
from serial_line import SerialLine
from schemas import SCHEMAS
from tracing import Traced, can_trace

import frames
from session_parts import A, B
from wire import SerialDecoder

SILENCE = 1.0  # seconds of waiting for an acknowledgement that must not come


def can_mount():
    """Whether an ordinary user may mount a small private disk."""
    command = ["unshare", "-rm", "sh", "-c", "mount -t tmpfs -o size=64k none /mnt"]
    return bool(shutil.which("unshare") and shutil.which("nsenter")) and subprocess.run(
        command, capture_output=True, check=False, **ORDINARY_USER).returncode == 0


class SoundCollar:
    """Sends the fixes that are not acknowledged, and polls."""

    def __init__(self, radio, collar=A):
        self.radio = radio
        self.collar = collar
        self.acknowledged = 0
        self._poll = 0

    def send(self, following, seconds=10, unless=lambda: False):
        """Sends the fixes below `following`, with a poll. Returns whether all were acknowledged in time."""
        self._poll = self._poll % 7 + 1
        self.radio.answers.clear()
        fixes = range(self.acknowledged, following)
        self.radio.send(self.collar.identity(following=following) + b"".join(self.collar.fix(sequence) for sequence in fixes))
        self.radio.send(self.collar.probe(following, self._poll))
        try:
            wait_until(lambda: self._answer() or unless(), seconds, "an acknowledgement")
        except AssertionError:
            return False
        if not self._answer():
            return False
        self.acknowledged = self._answer()["first_missing"]
        return self.acknowledged == following

    def _answer(self):
        """The answer to the last poll. When there is room again, an answer to an earlier poll may come first."""
        answer = self.radio.acknowledgement(self.collar)
        return answer if answer and answer["poll"] == self._poll else None


class DiskTest(EndToEndTest):
    def begin(self, before=()):
        """Starts a receiver and a collar at the receiver's port. The words of `before` precede the receiver's command."""
        line, command = self.command()
        receiver = self.start([*before, *command])
        receiver.wait_for_error("listening on")
        return receiver, SoundCollar(Radio(line))

    def begin_traced(self, *options):
        """Starts a receiver under strace with these options, and a collar at its port."""
        line, command = self.command()
        traced = Traced(self, options, command)
        traced.program.wait_for_error("listening on")
        return traced, SoundCollar(Radio(line))

    def command(self):
        line = SerialLine()
        self.addCleanup(line.close)
        return line, [BINARY, "--port", line.path, "--dialect", "serial", "--state-dir", self.state, "--events", "fix,error"]

    def lines(self, *receivers):
        """The fix lines and the error lines. Checks that every line is valid against the schema of its type."""
        kinds = {"fix": [], "error": []}
        for receiver in receivers:
            for line in receiver.fixes:
                SCHEMAS[line["type"]].validate(line)
                kinds[line["type"]].append(line)
        return kinds["fix"], kinds["error"]

    def wait_for_fix(self, receiver, sequence):
        """Waits until a fix is the last line. A receiver that is told to end does not wait for a slow reader of its lines."""
        wait_until(lambda: f'"seq":{sequence},' in "".join(receiver.lines[-1:]), 10, "the last line")

    def assert_told(self, receiver, *words):
        """Checks that stderr and an error line say that nothing is acknowledged, and what to do."""
        receiver.wait_for_error("is acknowledged any more")
        # The remedy is the next line, which may be read a moment later.
        wait_until(lambda: "\ncollar-link:   " in receiver.error_text.partition("is acknowledged any more")[2], 5, "a remedy")
        message = receiver.error_text[receiver.error_text.index("is acknowledged any more"):]
        wait_until(lambda: any('"storage_failing"' in line for line in receiver.lines), 5, "an error line")
        error, = [line for line in map(json.loads, receiver.lines) if line.get("code") == "storage_failing"]
        for word in words:
            self.assertIn(word, message)
            self.assertIn(word, error["reason"] + error["remedy"])
        return error


class SizeLimitTest(DiskTest):
    def begin_limited(self, limit):
        line, command = self.command()
        receiver = self.start([*command, "--max-size", limit])
        return receiver, SoundCollar(Radio(line))

    def test_a_journal_of_full_size(self):
        """At the limit, the receiver stops acknowledging, with one error line; nothing is removed. A higher limit allows more."""
        receiver, collar = self.begin_limited("64K")
        receiver.wait_for_error("listening on")
        while collar.send(collar.acknowledged + 100, SILENCE):
            self.assertLess(collar.acknowledged, 3000)
        self.assertGreater(collar.acknowledged, 500)
        self.assertTrue(self.assert_told(receiver, "65536 bytes", "--max-size")["retryable"])
        self.assertFalse(collar.send(collar.acknowledged + 1, SILENCE), "acknowledged beyond the limit")
        receiver.stop()
        self.assertLess(sum(path.stat().st_size for path in pathlib.Path(self.state).rglob("*.journal")), 80_000)
        other, more = self.begin_limited("1M")
        other.wait_for_error("listening on")
        more.acknowledged = collar.acknowledged
        self.assertTrue(more.send(collar.acknowledged + 500))
        self.wait_for_fix(other, more.acknowledged - 1)
        other.stop()
        fixes, errors = self.lines(receiver, other)
        self.assertEqual(len(errors), 1)
        self.assert_union_complete(fixes, more.acknowledged)

    def test_no_size(self):
        for wrong in ("0", "-1M", "x", "K", "1.5M", "10T", "99999999999G", "64"):
            receiver, _ = self.begin_limited(wrong)
            self.assertEqual(receiver.wait(5), 64)
            self.assertIn("--max-size", receiver.error_text)


@unittest.skipUnless(can_trace(), "needs strace, and leave to trace")
class InjectedFailureTest(DiskTest):
    def fail_once(self, call, error, *words):
        """One system call fails. Later calls would succeed, but the receiver stores nothing more until a restart."""
        self.state = self.path(f"state-{call}-{error}")
        nth = self.count_of_calls(call) + 1
        self.state = self.path(f"state-{call}-{error}-failing")
        trace = self.path(f"trace-{call}-{error}")
        traced, collar = self.begin_traced(
            "-y", "-o", trace, "-e", f"trace={call}", "-e", f"inject={call}:error={error}:when={nth}")
        receiver = traced.program
        self.assertTrue(collar.send(10))
        self.assertFalse(collar.send(20, SILENCE), "acknowledged what is not durable")
        self.assertEqual(collar.acknowledged, 10)
        error_line = self.assert_told(receiver, *words, "restart collar-link")
        self.assertTrue(error_line["retryable"])
        for following in (30, 40, 50):
            self.assertFalse(collar.send(following, SILENCE), "acknowledged after a failure")
        self.assertEqual(collar.radio.count(ACKNOWLEDGEMENT), 0)
        traced.stop()
        calls = pathlib.Path(trace).read_text("utf-8").splitlines()
        self.assertEqual(sum("(INJECTED)" in line for line in calls), 1, calls)
        after = calls[1 + next(index for index, line in enumerate(calls) if "(INJECTED)" in line):]
        self.assertEqual([line for line in after if ".journal" in line], [], "the journal was used after a failure")
        again, healthy = self.begin()
        healthy.acknowledged = 10
        self.assertTrue(healthy.send(50))
        again.stop()
        fixes, errors = self.lines(receiver, again)
        self.assertEqual(len(errors), 1)
        self.assert_union_complete(fixes, 50)

    def count_of_calls(self, call):
        """The number of times that a receiver makes a system call until its first acknowledgement."""
        trace = self.path(f"count-{call}")
        traced, collar = self.begin_traced("-o", trace, "-e", f"trace={call}")
        self.assertTrue(collar.send(10))
        # A receiver that ends in order stores how far the lines are written. SIGKILL, as those calls must not count.
        traced.stop(signal.SIGKILL)
        count = sum(f"{call}(" in line for line in pathlib.Path(trace).read_text("utf-8").splitlines())
        self.assertGreater(count, 0)
        return count

    def test_the_disk_fails_while_data_is_brought_to_it(self):
        self.fail_once("fdatasync", "EIO", "Input/output error", "dmesg")

    def test_the_disk_is_full_while_data_is_brought_to_it(self):
        self.fail_once("fdatasync", "ENOSPC", "No space left on device", "Make room")

    def test_the_disk_fails_while_it_is_written(self):
        self.fail_once("pwrite64", "EIO", "Input/output error", "dmesg")

    def test_the_disk_became_read_only(self):
        self.fail_once("pwrite64", "EROFS", "Read-only file system", "writable")

    def test_at_the_start(self):
        """If a disk call fails while a journal is opened, the receiver ends at once with 73 and says what to do."""
        first, collar = self.begin()
        self.assertTrue(collar.send(1))
        first.stop()
        for call, error, word in (("fdatasync", "EIO", "dmesg"), ("pwrite64", "EROFS", "writable"),
                                  ("fsync", "EIO", "dmesg")):
            with self.subTest(call=call):
                line = SerialLine()
                self.addCleanup(line.close)
                receiver = self.start(
                    ["strace", "-f", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:error={error}",
                     BINARY, "--port", line.path, "--dialect", "serial", "--state-dir", self.state])
                self.assertEqual(receiver.wait(10), 73, receiver.error_text)
                self.assertIn(word, receiver.error_text)
                self.assertEqual(Radio(line).count(ACKNOWLEDGEMENT), 0)

    def test_acknowledged_only_what_is_on_the_disk(self):
        """Before an acknowledgement, the receiver writes each fix that it names and then completes an fdatasync."""
        track, sent = self.all_cats()
        self.simulate(track, "--speed", "max", "--loss", "0.1", "--until-delivered")
        trace = self.path("trace")
        traced = Traced(
            self, ["-y", "-xx", "-s", "2000000", "-o", trace, "-e", "trace=pwrite64,fdatasync,write"],
            [BINARY, "--port", self.link, "--state-dir", self.state])
        traced.program.wait_for_lines(len(sent), 120)
        traced.stop()
        fix = traced.program.fixes[0]
        log = frames.Log(int(fix["collar"], 16), fix["log"])
        written, durable, count = [], JournalTail(None), 0
        durable.looked_at = 0
        for line in pathlib.Path(trace).read_text("ascii").splitlines():
            call = re.search(r'(pwrite64|fdatasync|write)\(\d+<([^>]*)>(?:, "((?:\\x..)*)", \d+)?.*\) = (-?\d+)', line)
            if not call:
                continue
            name, path, data, result = call.groups()
            path, data = (bytes.fromhex((text or "").replace("\\x", "")) for text in (path, data))
            if name == "pwrite64" and path.endswith(b".journal"):
                self.assertEqual(len(data), int(result), "strace shows a part of it")
                written.append(data)
            elif name == "fdatasync" and result == "0":
                for data in written:
                    durable.take(data)
                written.clear()
            elif name == "write" and b"/pts/" in path:
                count += self.check_acknowledgements(SerialDecoder().feed(data), log, durable)
        self.assertGreater(count, 20)

    def check_acknowledgements(self, answers, log, durable):
        """Checks that everything that acknowledgements name is durable. Returns the number of acknowledgements."""
        count = 0
        for frame in answers:
            if frame[0] & 0x1F != ACKNOWLEDGEMENT:
                continue
            count += 1
            named = frames.decode(frame, log).decoded
            # What is durable stays durable, so sequences that were checked are not checked again.
            sequences = set(range(durable.looked_at, named["first_missing"])).union(
                *(range(first, last + 1) for first, last in named["durable"]))
            self.assertLessEqual(sequences, durable.fixes.get(log.log_id, set()), "acknowledged before it was durable")
            durable.looked_at = max(durable.looked_at, named["first_missing"])
        return count


@unittest.skipUnless(can_mount(), "needs unshare and nsenter, and leave to make a user namespace")
class SmallDiskTest(DiskTest):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("disk"), 0o755)
        shutil.chown(self.path("disk"), ORDINARY_USER.get("user", os.geteuid()))
        self.state = self.path("disk/state")

    def mount(self, size):
        """Mounts a disk of `size` bytes in a new namespace. Only commands that `self.inside` precedes see the disk."""
        holder = self.start(
            ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o "size=$1" none "$2" && echo ready && exec sleep 1000', "sh",
             str(size), self.path("disk")])
        holder.wait_for_lines(1)
        self.inside = ["nsenter", "--preserve-credentials", "-U", "-m", "-t", str(holder.pid)]

    def fill(self, receiver, collar):
        """Sends until the disk is full. Returns the number of fixes for which there was room, in steps of 100."""
        following = 0
        while collar.send(following + 100, unless=lambda: "acknowledged any more" in receiver.error_text):
            following += 100
            self.assertLess(following, 10_000, "the disk does not become full")
        self.assertGreater(following, 100)
        return following

    def remount(self, option):
        subprocess.run([*self.inside, "mount", "-o", f"remount,{option}", "none", self.path("disk")], check=True, **ORDINARY_USER)

    def test_full(self):
        """A fix for which there is no room is not acknowledged. With room again, storing resumes without a restart."""
        self.mount(32_768)
        receiver, collar = self.begin(before=self.inside)
        following = self.fill(receiver, collar)
        self.assertTrue(self.assert_told(receiver, "No space left on device", "Make room")["retryable"])
        before = collar.acknowledged
        for _ in range(3):
            self.assertFalse(collar.send(following + 100, SILENCE), "acknowledged without room")
        self.assertEqual(collar.acknowledged, before)
        self.remount("size=4m")
        self.assertTrue(collar.send(following + 100))
        receiver.wait_for_error("are stored and acknowledged again")
        self.assertTrue(collar.send(following + 1000))
        receiver.wait_for_lines(following + 1000 + 1)
        receiver.stop()
        fixes, errors = self.lines(receiver)
        self.assertEqual(len(errors), 1)
        self.assert_each_once(fixes, following + 1000)

    def test_full_with_two_collars(self):
        """A full disk is reported once. A collar with nothing to store is answered meanwhile."""
        self.mount(32_768)
        receiver, collar = self.begin(before=self.inside)
        other = SoundCollar(collar.radio, B)
        self.assertTrue(other.send(1))
        following = self.fill(receiver, collar)
        self.assert_told(receiver, "No space left on device", "Make room")
        for _ in range(5):
            self.assertTrue(other.send(1), "there is nothing to store, and no answer")
            self.assertFalse(collar.send(following + 100, 0.2))
        self.remount("size=4m")
        self.assertTrue(collar.send(following + 100))
        self.assertTrue(other.send(2))
        receiver.stop()
        self.assertEqual(receiver.error_text.count("acknowledged any more"), 1, receiver.error_text)
        self.assertEqual(receiver.error_text.count("acknowledged again"), 1, receiver.error_text)
        _, errors = self.lines(receiver)
        self.assertEqual([line["collar"] for line in errors], [f"{A.log.device_id:016x}"])

    def test_first_heard_while_it_is_full(self):
        """A collar for whose journal there is no room is reported once, and is served when there is room."""
        self.mount(32_768)
        receiver, collar = self.begin(before=self.inside)
        self.fill(receiver, collar)
        other = SoundCollar(collar.radio, B)
        self.assertFalse(other.send(1, SILENCE))
        receiver.wait_for_error("is not served")
        self.remount("size=4m")
        wait_until(lambda: other.send(1, SILENCE), 20, "an acknowledgement for the other collar")
        self.assertEqual(receiver.error_text.count("is not served"), 1, receiver.error_text)
        receiver.stop()

    def test_full_and_restarted(self):
        """Everything that a receiver acknowledged before it ended on a full disk is there in the next run."""
        self.mount(32_768)
        receiver, collar = self.begin(before=self.inside)
        following = self.fill(receiver, collar)
        receiver.stop()
        self.remount("size=4m")
        again, healthy = self.begin(before=self.inside)
        healthy.acknowledged = collar.acknowledged
        self.assertTrue(healthy.send(following + 100))
        self.wait_for_fix(again, following + 99)
        again.stop()
        fixes, _ = self.lines(receiver, again)
        self.assert_union_complete(fixes, following + 100)

    def test_a_simulated_collar_waits_for_room(self):
        """A whole track is delivered, although the disk is too small for a while."""
        track, sent = self.all_cats()
        collar = self.simulate(track, "--speed", "max", "--until-delivered")
        self.mount(98_304)
        receiver = self.start([*self.inside, BINARY, "--port", self.link, "--state-dir", self.state])
        receiver.wait_for_error("is acknowledged any more", 30)
        self.assertIsNone(collar.process.poll(), "everything was delivered to a disk without room")
        self.remount("size=10m")
        self.assertEqual(collar.wait(60), 0)
        receiver.wait_for_lines(len(sent))
        self.assertEqual(receiver.stop(), 0)
        self.assert_each_once(receiver.fixes, len(sent))

    def test_read_only(self):
        """A read-only disk is reported at the start, with a remedy, whether there is a journal or not."""
        self.mount(1 << 20)
        for has_journal in (False, True):
            with self.subTest(has_journal=has_journal):
                if has_journal:
                    self.remount("rw")
                    receiver, collar = self.begin(before=self.inside)
                    self.assertTrue(collar.send(1))
                    receiver.stop()
                self.remount("ro")
                receiver = self.start([*self.inside, BINARY, "--port", self.link, "--state-dir", self.state])
                self.assertEqual(receiver.wait(5), 73, receiver.error_text)
                self.assertIn("Read-only file system", receiver.error_text)
                self.assertIn("writable", receiver.error_text)
                self.assertIn("--state-dir", receiver.error_text)
                self.assert_one_message(receiver)
                self.assertEqual(receiver.lines, [])


if __name__ == "__main__":
    unittest.main()
