"""Disks that fail, fill up or may not be written: acknowledgements stop, a person is told what to do, nothing is lost."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import unittest

from collarlink import BINARY, ORDINARY_USER, ROOT, EndToEndTest, wait_until
from journals import JournalTail
from radio import ACKNOWLEDGEMENT, Radio
from serial_line import SerialLine
from test_event_lines import SCHEMAS
from tracing import Traced, can_trace

# Behind the tests' own modules: one of the reference has the same name.
sys.path.append(str(ROOT / "Protocol/reference"))
import frames  # noqa: E402
from session_parts import A, B  # noqa: E402
from wire import SerialDecoder  # noqa: E402

SILENCE = 1.0  # seconds in which an acknowledgement that must not come would come


def can_mount():
    """Whether an ordinary user may have a small disk of their own."""
    command = ["unshare", "-rm", "sh", "-c", "mount -t tmpfs -o size=64k none /mnt"]
    return bool(shutil.which("unshare") and shutil.which("nsenter")) and subprocess.run(
        command, capture_output=True, check=False, **ORDINARY_USER).returncode == 0


class SoundCollar:
    """Sends what is not acknowledged, and asks."""

    def __init__(self, radio, collar=A):
        self.radio = radio
        self.collar = collar
        self.acknowledged = 0
        self._ask = 0

    def send(self, following, seconds=10, unless=lambda: False):
        """Sends the fixes up to `following`, less one, with an ask. Returns whether all were acknowledged in time."""
        self._ask = self._ask % 7 + 1
        self.radio.answers.clear()
        fixes = range(self.acknowledged, following)
        self.radio.send(self.collar.identity(following=following) + b"".join(self.collar.fix(sequence) for sequence in fixes))
        self.radio.send(self.collar.probe(following, self._ask))
        try:
            wait_until(lambda: self._answer() or unless(), seconds, "an acknowledgement")
        except AssertionError:
            return False
        if not self._answer():
            return False
        self.acknowledged = self._answer()["first_missing"]
        return self.acknowledged == following

    def _answer(self):
        """The answer to the last ask. One to an earlier ask may come first, when there is room again."""
        answer = self.radio.acknowledgement(self.collar)
        return answer if answer and answer["ask"] == self._ask else None


class DiskTest(EndToEndTest):
    def begin(self, before=()):
        """Starts a receiver, with words before its name, and a collar at its port."""
        line, command = self.command()
        receiver = self.start([*before, *command])
        receiver.wait_for_error("listening on")
        return receiver, SoundCollar(Radio(line))

    def begin_traced(self, *options):
        """The same, under strace with these options."""
        line, command = self.command()
        traced = Traced(self, options, command)
        traced.program.wait_for_error("listening on")
        return traced, SoundCollar(Radio(line))

    def command(self):
        line = SerialLine()
        self.addCleanup(line.close)
        return line, [BINARY, "--port", line.path, "--state-dir", self.state, "--events", "fix,error"]

    def lines(self, *receivers):
        """The lines of a kind; every line is valid against the schema of its own."""
        kinds = {"fix": [], "error": []}
        for receiver in receivers:
            for line in receiver.fixes:
                SCHEMAS[line["type"]].validate(line)
                kinds[line["type"]].append(line)
        return kinds["fix"], kinds["error"]

    def assert_told(self, receiver, *words):
        """stderr, and an error line, say that nothing is acknowledged, and what to do."""
        receiver.wait_for_error("is acknowledged any more")
        message = receiver.error_text[receiver.error_text.index("is acknowledged any more"):]
        self.assertIn("\ncollar-link:   ", message, "there is no remedy")
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
        """Acknowledgements stop, with one error line; nothing is removed. With a higher limit it goes on."""
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
        """One call fails, once; all later ones succeed, and count for nothing until a restart."""
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
        self.assertFalse(error_line["retryable"])
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
        """How many calls of a kind a receiver makes until the first acknowledgement."""
        trace = self.path(f"count-{call}")
        traced, collar = self.begin_traced("-o", trace, "-e", f"trace={call}")
        self.assertTrue(collar.send(10))
        # At the end it writes how far the lines are out; that does not count.
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
        """What fails while a journal is made or opened ends the start, or leaves its collar unserved, with a word why."""
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
                     BINARY, "--port", line.path, "--state-dir", self.state])
                self.assertEqual(receiver.wait(10), 73, receiver.error_text)
                self.assertIn(word, receiver.error_text)
                self.assertEqual(Radio(line).count(ACKNOWLEDGEMENT), 0)

    def test_acknowledged_only_what_is_on_the_disk(self):
        """When an acknowledgement goes out, an fdatasync has ended behind each record that it names."""
        track, sent = self.all_cats()
        self.simulate(track, "--speed", "max", "--loss", "0.1", "--until-delivered")
        trace = self.path("trace")
        traced = Traced(
            self, ["-y", "-xx", "-s", "2000000", "-o", trace, "-e", "trace=pwrite64,fdatasync,write"],
            [BINARY, "--port", self.link, "--state-dir", self.state])
        traced.program.wait_for_lines(len(sent), 60)
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
        """Everything that acknowledgements name is durable. Returns how many there are."""
        count = 0
        for frame in answers:
            if frame[0] & 0x1F != ACKNOWLEDGEMENT:
                continue
            count += 1
            named = frames.decode(frame, log).decoded
            # Nothing becomes less durable: what was looked at before is not looked at again.
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
        """A disk of so many bytes, seen by those who enter."""
        holder = self.start(
            ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o "size=$1" none "$2" && echo ready && exec sleep 1000', "sh",
             str(size), self.path("disk")])
        holder.wait_for_lines(1)
        self.inside = ["nsenter", "--preserve-credentials", "-U", "-m", "-t", str(holder.pid)]

    def fill(self, receiver, collar):
        """Sends until the disk is full. Returns for how many fixes, in hundreds, there was room."""
        following = 0
        while collar.send(following + 100, unless=lambda: "acknowledged any more" in receiver.error_text):
            following += 100
            self.assertLess(following, 10_000, "the disk does not become full")
        self.assertGreater(following, 100)
        return following

    def remount(self, option):
        subprocess.run([*self.inside, "mount", "-o", f"remount,{option}", "none", self.path("disk")], check=True, **ORDINARY_USER)

    def test_full(self):
        """Nothing is acknowledged that finds no room; with room, it goes on without a restart."""
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
        receiver.wait_for_error("is stored and acknowledged again")
        self.assertTrue(collar.send(following + 1000))
        receiver.wait_for_lines(following + 1000 + 1)
        receiver.stop()
        fixes, errors = self.lines(receiver)
        self.assertEqual(len(errors), 1)
        self.assert_each_once(fixes, following + 1000)

    def test_full_with_two_collars(self):
        """Told once, while the other collar has nothing to store."""
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
        """A collar that finds no room for its journal is told of once, and served when there is room."""
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
        """A receiver that ends on a full disk has acknowledged nothing that the next one does not have."""
        self.mount(32_768)
        receiver, collar = self.begin(before=self.inside)
        following = self.fill(receiver, collar)
        receiver.stop()
        self.remount("size=4m")
        again, healthy = self.begin(before=self.inside)
        healthy.acknowledged = collar.acknowledged
        self.assertTrue(healthy.send(following + 100))
        wait_until(lambda: f'"seq":{following + 99},' in "".join(again.lines[-1:]), 10, "the last line")
        again.stop()
        fixes, _ = self.lines(receiver, again)
        self.assert_union_complete(fixes, following + 100)

    def test_a_simulated_collar_waits_for_room(self):
        """The whole of a track, through a disk that is too small for a while."""
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
        """Told at the start, with what to do; with a journal, and without."""
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
