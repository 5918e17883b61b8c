"""Rounds of `kill -9`: a receiver under load is killed at all stages, and keeps everything that it acknowledged.

In each campaign three simulated collars send live fixes and, after each kill, their backlog. The radio loses and
damages frames, and the collars reboot now and then. A listener on the line notes every acknowledgement before the
collars receive it. After each kill everything acknowledged must be in the journal. At the end of a campaign every fix
that the collars made must have been written as a line, with one id and one content.
"""

import collections
import ctypes
import hashlib
import json
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import sys
import time
import unittest

from end_to_end import BINARY, EndToEndTest
from delivered import write_long_track
from journals import JournalTail
from tapped_line import TappedLine
from tracing import Traced, can_trace

COLLAR_COUNT = 3
SEGMENT_BYTE_LIMIT = 1 << 20  # Journal.defaultSegmentByteLimit
IN_CREATE = 0x100
ROUNDS_A_CAMPAIGN = 60
# With this many fixes per round, 60 rounds fill one segment of each collar and begin the next.
FIXES_A_ROUND = 650


class NewFiles:
    """Waits until a file is made in one of several folders."""

    def __init__(self, folders):
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._descriptor = self._libc.inotify_init1(os.O_NONBLOCK)
        for folder in folders:
            self._libc.inotify_add_watch(self._descriptor, os.fsencode(folder), IN_CREATE)

    def wait(self, suffix, seconds):
        """Whether a file whose name ends with `suffix` was made in time."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                events = os.read(self._descriptor, 65536)
            except BlockingIOError:
                time.sleep(0.0002)
                continue
            while events:
                length = struct.unpack_from("iIII", events)[3]
                if events[16:16 + length].rstrip(b"\0").endswith(suffix.encode()):
                    return True
                events = events[16 + length:]
        return False

    def close(self):
        os.close(self._descriptor)


class Campaign:
    """One state directory, one set of collars, and many receivers that are killed one after the other."""

    def __init__(self, test, seed, round_count):
        self.test = test
        self.fix_count = FIXES_A_ROUND * round_count
        self.chance = random.Random(seed)
        self.seed = seed
        self.state = test.path(f"state-{seed}")
        self.stages = collections.Counter()
        self.contents = {}
        self.id_of = {}
        self.journals = {}
        self.receiver_pid = None
        self.line_count = 0
        self.tap = TappedLine()
        test.addCleanup(self.tap.close)
        self.track = self._write_track()
        self.collars = None
        self._may_delay = can_trace()
        self.start_collars()

    def _write_track(self):
        path = self.test.path(f"track-{self.fix_count}.ndjson")
        write_long_track(path, self.test.all_cats()[1], self.fix_count)
        return path

    def start_collars(self):
        """Boots the collars, or reboots them if they ran before."""
        link = self.test.path(f"collars-{self.seed}")
        self.collars = self.test.start([
            BINARY, "simulate", "--track", self.track, "--link", link, "--collars", str(COLLAR_COUNT), "--loss", "0.1",
            "--corrupt", "0.001", "--interval", "0.1", "--speed", "200", "--seed", str(self.seed),
            "--flash", self.test.path(f"flash-{self.seed}"), "--until-delivered"])
        # The simulation first fills the flash, and the disk may be busy.
        self.collars.wait_for_lines(1, 30)
        self.tap.attach(link)

    @property
    def is_delivered(self):
        return self.collars.process.poll() == 0

    def round(self):
        """Starts one receiver and kills it."""
        if self.chance.random() < 0.1:
            self.collars.process.kill()
            self.collars.wait()
            self.start_collars()
            self.stages["reboots of the collars"] += 1
        stage = self.choose_stage()
        self.stages[stage] += 1
        receiver = self.start_receiver(slowly=stage.startswith("slow"))
        getattr(self, "kill_" + stage.split()[-1])(receiver)
        self.kill()
        self.end(receiver)

    def choose_stage(self):
        if any(size > 0.92 * SEGMENT_BYTE_LIMIT for size in self.segment_sizes()):
            return "rotation"
        stages = ["opening", "running", "acknowledging", "acknowledging", "closing"]
        if self._may_delay:
            stages += ["slow opening", "slow acknowledging", "slow running"]
        return self.chance.choice(stages)

    def segment_sizes(self):
        """The size of the newest segment of each collar, which is the segment that grows."""
        newest = [sorted(folder.glob("*.journal"))[-1:] for folder in self.folders()]
        return [path.stat().st_size for paths in newest for path in paths]

    def folders(self):
        return [path for path in pathlib.Path(self.state).glob("*") if path.is_dir()]

    def start_receiver(self, slowly=False):
        """Starts a receiver. With `slowly`, its disk calls take milliseconds, so that the kill falls between them."""
        command = [BINARY, "--port", self.tap.path, "--dialect", "serial", "--state-dir", self.state]
        self.tap.open()
        if slowly:
            calls = "pwrite64,fdatasync,fsync,ftruncate"
            delay = self.chance.choice((500, 2000, 8000))
            slow = f"inject={calls}:delay_enter={delay}:delay_exit={delay}"
            traced = Traced(self.test, ["-o", "/dev/null", "-e", f"trace={calls}", "-e", slow], command)
            self.receiver_pid = traced.pid
            return traced.program
        receiver = self.test.start(command)
        self.receiver_pid = receiver.pid
        return receiver

    def kill(self):
        """Sends SIGKILL to the receiver, not to the strace that slows it down."""
        try:
            os.kill(self.receiver_pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def kill_opening(self, receiver):
        time.sleep(self.chance.uniform(0, 0.03))

    def kill_running(self, receiver):
        self.wait_for_acknowledgements(1)
        time.sleep(self.chance.uniform(0, 0.3))

    def kill_closing(self, receiver):
        self.wait_for_acknowledgements(self.chance.randrange(1, 20))
        receiver.process.terminate()
        time.sleep(self.chance.uniform(0, 0.004))

    def kill_acknowledging(self, receiver):
        """Kills the receiver as soon as an acknowledgement is on the line, before the collars receive it."""
        left = [self.chance.randrange(1, 30)]

        def heard():
            left[0] -= 1
            if left[0] == 0:
                self.kill()
        self.tap.on_acknowledgement = heard
        try:
            receiver.process.wait(3)
        except subprocess.TimeoutExpired:
            pass
        self.tap.on_acknowledgement = lambda: None

    def kill_rotation(self, receiver):
        """Waits until the next segment has just got its name."""
        files = NewFiles(self.folders())
        if files.wait(".journal", 3):
            self.stages["a new segment was seen"] += 1
            time.sleep(self.chance.choice((0, 0, self.chance.uniform(0, 0.003))))
        files.close()

    def wait_for_acknowledgements(self, count):
        target = self.tap.acknowledgement_count + count
        deadline = time.monotonic() + 3
        while self.tap.acknowledgement_count < target and time.monotonic() < deadline and not self.is_delivered:
            time.sleep(0.001)

    def end(self, receiver):
        """Checks the output and the journals of a receiver that has ended."""
        receiver.wait(20)
        self.tap.shut()
        if self.tap.failure:
            raise self.tap.failure
        self.test.assertNotIn("rror", receiver.error_text)
        self.take_lines(receiver)
        receiver.kill_now()
        self.check_journals()

    def take_lines(self, receiver):
        texts = receiver.lines[:]
        del receiver.lines[:len(texts)]
        self.line_count += len(texts)
        for text in texts:
            self.test.assertTrue(text.endswith("\n"), f"half a line: {text!r}")
            line = json.loads(text)
            name = (line["collar"], line["log"], line["seq"])
            # A fix whose record was not yet durable at the kill is received again, at another time.
            del line["rx_unix_ms"]
            content = hashlib.blake2b(json.dumps(line, sort_keys=True).encode(), digest_size=8).digest()
            if self.contents.setdefault(line["id"], content) != content:
                raise AssertionError(f"one id, two contents: {line}")
            if self.id_of.setdefault(name, line["id"]) != line["id"]:
                raise AssertionError(f"one fix, two ids: {line}")

    def check_journals(self):
        """Checks that everything acknowledged is in the journal."""
        for log, promise in self.tap.promises.items():
            folder = f"{self.state}/{log.device_id:016x}"
            journal = self.journals.setdefault(log.device_id, JournalTail(folder))
            journal.read_on()
            self.test.assertEqual(journal.losses, [], "collars that keep everything lost something")
            missing = promise.sequences() - journal.fixes.get(log.log_id, set())
            if missing:
                raise AssertionError(f"acknowledged, and not in the journal: {sorted(missing)[:20]} of {log}")

    def finish(self):
        """Runs the last receiver until everything is delivered, and checks that nothing is missing."""
        receiver = self.start_receiver()
        self.test.assertEqual(self.collars.wait(120), 0, self.collars.error_text)
        deadline = time.monotonic() + 60
        while len(self.id_of) < COLLAR_COUNT * self.fix_count and time.monotonic() < deadline:
            time.sleep(0.05)
            self.take_lines(receiver)
        receiver.wait_for_error("listening on")
        self.test.assertEqual(receiver.stop(), 0, receiver.error_text)
        self.end(receiver)
        self.test.assertEqual(len(self.tap.promises), COLLAR_COUNT)
        for log, promise in self.tap.promises.items():
            written = {seq for collar, log_id, seq in self.id_of
                       if (collar, log_id) == (f"{log.device_id:016x}", log.log_id)}
            self.test.assertEqual(written, set(range(self.fix_count)), f"of {log}")
            self.test.assertEqual(promise.first_missing, self.fix_count)
        self.test.assertEqual(len(self.id_of), COLLAR_COUNT * self.fix_count)
        self.test.assertEqual(len(self.contents), len(self.id_of), "two fixes have one id")


def run(test, round_count, first_seed=1, report=lambda text: None):
    """Runs the rounds. Returns the number of kills at each stage."""
    stages = collections.Counter()
    done, seed, lines, began = 0, first_seed, 0, time.monotonic()
    while done < round_count:
        rounds = min(ROUNDS_A_CAMPAIGN, round_count - done)
        campaign = Campaign(test, seed, rounds)
        for _ in range(rounds):
            if campaign.is_delivered:
                break
            campaign.round()
            done += 1
        campaign.finish()
        campaign.tap.close()
        stages += campaign.stages
        lines += campaign.line_count
        shutil.rmtree(campaign.state)
        report(f"{done} kills in {time.monotonic() - began:.0f} s, {lines} lines; {dict(stages)}")
        seed += 1
    return stages


class KillRounds(EndToEndTest):
    """Runs as many rounds as the command line names."""

    round_count = 1000

    def runTest(self):
        run(self, self.round_count, report=lambda text: print(text, flush=True))


if __name__ == "__main__":
    KillRounds.round_count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    sys.exit(not unittest.TextTestRunner().run(KillRounds()).wasSuccessful())
