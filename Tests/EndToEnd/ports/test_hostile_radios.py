"""Two radios, one of them hostile: the sound one delivers as if it were alone, and the receiver ends when it is told to."""

import contextlib
import json
import os
import signal
import threading
import time

import hostile_radio
from end_to_end import BINARY, wait_until
from hostile_radio import HostileRadio, SwallowingRelay
from key_case import SEED, KeyTest
from processes import processor_seconds
from tracing import slowness

# Seconds between two fixes of the sound collar, and seconds for which its fixes are counted.
INTERVAL, TIME = 0.2, 5
# The share of the fixes that must come in that time, and the longest time without any, in seconds.
SHARE, SILENCE = 0.95, 3.5
# Seconds that the end may take.
END = 1.0
# The share of a processor that the detection of a stick may take. Alone it takes at most 1.1 %; a core that two programs share is slower.
SHARE_OF_DETECTION = 0.015


class HostileRadioTest(KeyTest):
    def sound_collar(self, *arguments):
        track, _ = self.track("cats_uk/Amber-Tag", 400)
        return self.simulate(track, *SEED, "--interval", str(INTERVAL), *arguments)

    def hostile(self, *arguments, **options):
        radio = HostileRadio(*arguments, **options)
        self.addCleanup(radio.end)
        return radio.port

    def run_beside(self, hostile_port, *arguments, sound_port=None, **options):
        """Counts the fixes of the sound collar."""
        receiver = self.start(
            [BINARY, "--port", sound_port or self.link, "--port", hostile_port, "--state-dir", self.state, *arguments], **options)
        receiver.wait_for_lines(1)
        return self.count(receiver)

    def count(self, receiver):
        """Checks that the fixes come as the collar makes them, and that the receiver ends at once."""
        before, start, silences = len(receiver.lines), time.monotonic(), []
        while time.monotonic() < start + TIME:
            count, since = len(receiver.lines), time.monotonic()
            while len(receiver.lines) == count and time.monotonic() < min(since + 2 * SILENCE, start + TIME):
                time.sleep(0.01)
            silences.append(time.monotonic() - since)
        said = receiver.error_text[-2000:]
        self.assertLess(max(silences), SILENCE, said)
        sequences = [json.loads(line)["seq"] for line in receiver.lines[before:]]
        made = set(range(min(sequences), max(sequences) + 1))
        # A loaded machine may slow the collar down, but what it made comes. A fix that was lost on the way comes after newer ones.
        self.assertGreaterEqual(len(made), 0.7 * TIME / INTERVAL, said)
        wait_until(
            lambda: len(made.intersection(json.loads(line)["seq"] for line in receiver.lines)) >= SHARE * len(made), SILENCE,
            f"{SHARE} of {len(made)} fixes")
        # A flood of messages would be a fault of its own.
        self.assertLess(len(receiver.error_text), 20_000)
        start = time.monotonic()
        receiver.process.send_signal(signal.SIGTERM)
        self.assertEqual(receiver.wait(10), 0, receiver.error_text[-2000:])
        self.assertLess(time.monotonic() - start, END)
        return receiver

    def assert_beside(self, blocks, *arguments, **options):
        self.sound_collar()
        return self.run_beside(self.hostile(blocks, **options), *arguments)

    def test_noise(self):
        self.assert_beside(hostile_radio.noise)

    def test_empty_frames(self):
        self.assert_beside(hostile_radio.delimiters)

    def test_detection_at_the_speed_of_a_line(self):
        """A stick that is not recognised, at 115,200 baud, takes no more than 1.5 % of a processor."""
        receiver = self.start(
            [BINARY, "--port", self.hostile(hostile_radio.noise, rate=11_520), "--state-dir", self.state])
        receiver.wait_for_error("listening")
        time.sleep(1)
        # Other work on the machine only adds to what the same bytes take, so the best of some periods counts.
        shares = []
        while len(shares) < 4 and SHARE_OF_DETECTION < min(shares, default=1):
            shares.append(self.share_of_processor(receiver.pid, seconds=4))
        self.assertLessEqual(min(shares), SHARE_OF_DETECTION, shares)
        self.assertEqual(receiver.stop(), 0)

    @staticmethod
    def share_of_processor(pid, seconds):
        """The share on the machine on which limits were measured: this one may be slower, or be busy with other work."""
        before, samples = processor_seconds(pid), []
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            samples.append(slowness())
            time.sleep(0.2)
        return (processor_seconds(pid) - before) / seconds / (sum(samples) / len(samples))

    def test_text(self):
        self.assert_beside(hostile_radio.text)

    def test_sentences(self):
        self.assert_beside(hostile_radio.sentences)

    def test_statuses(self):
        self.assert_beside(hostile_radio.statuses, "--region", "EU868")

    def test_restarts(self):
        self.assert_beside(hostile_radio.restarts, "--region", "EU868")

    def test_invented_collars(self):
        self.assert_beside(hostile_radio.invented_collars, "--dialect", "serial")

    def test_unknown_probes(self):
        self.assert_beside(hostile_radio.unknown_probes, "--dialect", "serial")

    def test_ten_busy_collars(self):
        """Figures come, and the receiver ends, although some commit is always due."""
        receiver = self.start(
            [BINARY, "--port", self.hostile(hostile_radio.busy_collars), "--dialect", "serial", "--state-dir", self.state,
             "--events", "fix,stats"])
        receiver.wait_for_lines(400)
        lines = len(receiver.lines)
        receiver.process.send_signal(signal.SIGUSR1)
        wait_until(lambda: any('"type":"stats"' in line for line in receiver.lines[lines:]), 3, "figures")
        start = time.monotonic()
        self.assertEqual(receiver.stop(), 0)
        self.assertLess(time.monotonic() - start, END)

    def test_impossible_signals(self):
        self.assert_beside(hostile_radio.impossible_signals, "--dialect", "serial")

    def test_connections_that_end(self):
        self.assert_beside(hostile_radio.noise, closes_after=0.05)

    def test_a_quarter_of_the_processor(self):
        """The receiver is stopped for three quarters of the time."""
        self.sound_collar()
        receiver = self.start([BINARY, "--port", self.link, "--port", self.hostile(hostile_radio.noise), "--state-dir", self.state])
        receiver.wait_for_lines(1)
        ended = threading.Event()

        def brake():
            while not ended.is_set() and receiver.process.returncode is None:
                for sign, seconds in ((signal.SIGSTOP, 0.006), (signal.SIGCONT, 0.002)):
                    # The receiver may have just ended.
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(receiver.pid, sign)
                    time.sleep(seconds)

        thread = threading.Thread(target=brake)
        thread.start()
        try:
            self.count(receiver)
        finally:
            ended.set()
            thread.join()

    def keyed(self, *arguments):
        """A collar with a key, which the receiver has."""
        track, _ = self.track("cats_uk/Amber-Tag", 400)
        device, key = self.device_id(track), self.key_file()
        self.key_command("add", device, key)
        self.hand_over()
        return self.simulate(track, *SEED, "--interval", str(INTERVAL), "--key-file", key, *arguments)

    def test_sealed_junk(self):
        """What one port brings takes no trials of a collar with a key at another one."""
        self.keyed()
        self.run_beside(self.hostile(hostile_radio.sealed_junk), "--dialect", "serial")

    def test_a_radio_that_swallows_answers(self):
        """The answers go out at the radio at which the collar hears them."""
        self.keyed("--stats")
        relay = SwallowingRelay(self.link)
        self.addCleanup(relay.end)
        receiver = self.run_beside(relay.swallowing, "--dialect", "serial", "-v", sound_port=relay.sound)
        self.assertLess(relay.swallowed, 1500, "the host goes on answering where the collar does not hear it")
        self.assertIn("0 damaged", receiver.error_text)
