"""Measures what many radios over TCP cost, compared with one local port that carries the same collars: see Tools/bench."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "Tests/EndToEnd/support"), str(ROOT / "Protocol/reference")]
from many_radios import Field, LineRadio, NetworkRadio  # noqa: E402
from processes import processor_seconds  # noqa: E402

COLLARS = 200
# The outages of radios per second, among all radios.
OUTAGES = 1.0
# The collars that a receiver takes up at once.
NEW_COLLARS = 16
TARGET = 1.5


class Receiver:
    """A receiver at the radios of a field. Its lines are collected while the field runs."""

    def __init__(self, binary, field, state):
        self._field = field
        command = [binary, "run", "--dialect", "serial", "--state-dir", state, "-q"]
        for radio in field.radios:
            command += ["--port", radio.port]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.output = self.process.stdout.fileno()
        os.set_blocking(self.output, False)
        self._text = bytearray()
        field.watch(self.output, self._read)

    def _read(self):
        self._text += os.read(self.output, 1 << 20)

    def fixes(self):
        """The device id and the sequence of each line so far."""
        return [device_and_sequence(json.loads(line)["id"]) for line in self._text.splitlines()]

    def stop(self):
        self._field.forget(self.output)
        self.process.terminate()
        # What is still in the pipe belongs to the lines.
        os.set_blocking(self.output, True)
        self._text += self.process.stdout.read()
        self.process.stdout.close()
        return self.process.wait()


def device_and_sequence(text):
    """The parts of the id of a fix."""
    number = uuid.UUID(text).int
    return number >> 80 << 16 | (number >> 64 & 0xFFF) << 4 | number >> 58 & 0xF, number & 0xFFFF_FFFF


def introduce(binary, state, collar_count):
    """Makes the collars known to a state directory: a receiver takes up some at once, and the others more slowly."""
    for first in range(0, collar_count, NEW_COLLARS):
        field = Field(LineRadio, collar_count)
        receiver = Receiver(binary, field, state)
        numbers = range(first, min(first + NEW_COLLARS, collar_count))
        field.silence(set(range(collar_count)) - set(numbers))
        field.run(0.3)
        field.introduce(numbers)
        if not field.run(20, lambda: all(field.collars[one].acknowledgement_count for one in numbers)):
            raise SystemExit("a collar is not answered")
        receiver.stop()
        field.close()


def measure(binary, state, kind, collar_count, seconds):
    """Returns the microseconds of processor time per fix, the fixes, the outages and the connections; checks that each fix
    came once."""
    field = Field(kind, collar_count)
    receiver = Receiver(binary, field, state)
    if not field.run(30, lambda: field.is_connected):
        raise SystemExit("a radio is not called")
    field.introduce(range(collar_count))
    if not field.run(60, lambda: all(collar.acknowledgement_count for collar in field.collars)):
        raise SystemExit("a collar is not answered")
    before = processor_seconds(receiver.process.pid)
    field.track(seconds)
    field.drop_out(OUTAGES * collar_count / COLLARS, seconds)
    field.run(seconds)
    if not field.run(60, lambda: field.is_done):
        raise SystemExit("not every fix is acknowledged")
    used = processor_seconds(receiver.process.pid) - before
    field.run(0.3)
    receiver.stop()
    fixes = receiver.fixes()
    expected = {(collar.log.device_id, one) for collar in field.collars for one in range(collar.made)}
    if set(fixes) != expected or len(fixes) != len(expected):
        raise SystemExit(f"of {len(expected)} fixes {len(set(fixes) & expected)} came, in {len(fixes)} lines")
    connections = sum(radio.connection_count for radio in field.radios)
    field.close()
    return 1e6 * used / len(fixes), len(fixes), field.outage_count, connections


def bench_radios(binary, collar_count=COLLARS, seconds=60, rounds=2):
    """Prints the processor time per fix with a radio for each collar, and with one radio for all. Returns their ratio."""
    with tempfile.TemporaryDirectory() as folder:
        print(f"{collar_count} collars with one fix a second, {seconds} s, processor time of the receiver:\n")
        print("| radios | fixes | outages | connections | us a fix |\n|---|---|---|---|---|", flush=True)
        least = {}
        for number in range(rounds):
            for kind, name in ((LineRadio, "1 at a local port"), (NetworkRadio, f"{collar_count} over TCP")):
                state = f"{folder}/{number}-{kind.__name__}"
                introduce(binary, state, collar_count)
                cost, fixes, outages, connections = measure(binary, state, kind, collar_count, seconds)
                least[kind] = min(cost, least.get(kind, cost))
                print(f"| {name} | {fixes} | {outages} | {connections} | {cost:.1f} |", flush=True)
        ratio = least[NetworkRadio] / least[LineRadio]
        print(f"\nratio of the least: {ratio:.2f} (target: at most {TARGET}); each fix came exactly once")
        return ratio


if __name__ == "__main__":
    sys.exit(bench_radios(sys.argv[1], *(int(word) for word in sys.argv[2:])) > TARGET)
