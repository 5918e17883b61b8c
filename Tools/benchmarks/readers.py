"""Measures whether readers delay the acknowledgements of a receiver: see Tools/bench. Arguments: the binary, seconds of a phase, and
how often the phases without and with readers are repeated in turn."""

import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "Tests/EndToEnd/support"), str(ROOT / "Protocol/reference")]
from fast_collar import FastCollar  # noqa: E402
from processes import processor_seconds  # noqa: E402
from radio import Radio  # noqa: E402
from serial_line import SerialLine  # noqa: E402

BINARY = sys.argv[1]
# Seconds of each phase, and how often both phases are repeated in turn.
SECONDS, ROUNDS = int(sys.argv[2]), int(sys.argv[3])
RATE = 100
READERS = 10
TARGET = 1.2
IDLE_SECONDS = 20


class Readers:
    """Ten named readers, the last of which is stopped as soon as it has begun."""

    def __init__(self, state):
        nowhere = subprocess.DEVNULL
        self.programs = [
            subprocess.Popen([BINARY, "follow", "--as", f"reader-{number}", "--state-dir", state, "-q"], stdout=nowhere, stderr=nowhere)
            for number in range(READERS)]
        time.sleep(2)
        os.kill(self.programs[-1].pid, signal.SIGSTOP)

    def processor_seconds(self):
        return sum(processor_seconds(program.pid) for program in self.programs)

    def stop(self):
        os.kill(self.programs[-1].pid, signal.SIGCONT)
        for program in self.programs:
            program.terminate()
        for program in self.programs:
            program.wait()


class Sender:
    """A collar that sends a hundred fixes a second, each with a poll."""

    def __init__(self, line):
        self.collar = FastCollar(0xAA, 1, 1)
        self.radio = Radio(line)
        self.sequence = 0
        self.radio.send(self.collar.identity(following=0))

    def send(self, seconds):
        """Sends for so long. Returns the milliseconds from each poll to its acknowledgement."""
        latencies = []
        began = time.monotonic()
        for number in range(RATE * seconds):
            due = began + number / RATE
            while (rest := due - time.monotonic()) > 0:
                time.sleep(rest)
            self.radio.answers.clear()
            sent = time.monotonic()
            self.radio.send(self.collar.fast(self.sequence) + self.collar.probe(self.sequence + 1, 1 + number % 3))
            self.sequence += 1
            while True:
                answer = self.radio.acknowledgement(self.collar)
                if answer and answer["first_missing"] >= self.sequence:
                    break
                if time.monotonic() > sent + 5:
                    raise AssertionError(f"fix {self.sequence - 1} is not acknowledged")
            latencies.append(1000 * (time.monotonic() - sent))
        return latencies


def percentile95(values):
    return statistics.quantiles(values, n=100)[94]


def row(name, values):
    print(f"| {name} | {len(values)} | {statistics.median(values):.2f} | {percentile95(values):.2f} | {max(values):.1f} |", flush=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        state = f"{folder}/state"
        line = SerialLine()
        receiver = subprocess.Popen(
            [BINARY, "run", "--events", "none", "--dialect", "serial", "--port", line.path, "--state-dir", state, "-q"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(1)
        sender = Sender(line)
        sender.send(5)
        alone, beside = [], []
        for number in range(ROUNDS):
            alone += sender.send(SECONDS)
            readers = Readers(state)
            beside += sender.send(SECONDS)
            if number < ROUNDS - 1:
                readers.stop()
        print(f"{RATE} fixes a second, {READERS} named readers, one of them stopped; {ROUNDS} times {SECONDS} s each in turn:\n")
        print("| poll to acknowledgement, ms | polls | median | p95 | longest |\n|---|---|---|---|---|")
        row("without readers", alone)
        row("with readers", beside)
        ratio = percentile95(beside) / percentile95(alone)
        print(f"\nratio of p95: {ratio:.2f} (target {TARGET})", flush=True)
        # The readers store their positions a second after the last lines; `run` asks a silent collar for a while.
        time.sleep(5)
        before = readers.processor_seconds()
        time.sleep(IDLE_SECONDS)
        idle = readers.processor_seconds() - before
        print(f"processor time of the readers in {IDLE_SECONDS} s without fixes: {idle:.2f} s")
        readers.stop()
        receiver.terminate()
        receiver.wait()
        line.close()
    return 0 if ratio <= TARGET and idle == 0 else 1


sys.exit(main())
