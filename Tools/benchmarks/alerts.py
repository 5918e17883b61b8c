"""Measures what the alerts of two hundred collars cost: see Tools/bench. Arguments: the binary, and seconds of tracking."""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

from radios import COLLARS, LineRadio, Receiver, introduce
from many_radios import Field
from processes import processor_seconds
from session_parts import FIX

BINARY, SECONDS = sys.argv[1], int(sys.argv[2])
PLACES = 10
IDLE_SECONDS = 20
# Percent of a core.
TARGET = 5


def write_places(path):
    """Circles around the place at which the collars begin to walk. They are in half of them, and do not leave them."""
    latitude, longitude = FIX["latitude"] / 1e5, FIX["longitude"] / 1e5
    with open(path, "w", encoding="ascii") as file:
        for number in range(PLACES):
            name = "home" if number == 0 else f"place {number}"
            file.write(f"[place {name}]\nat = {latitude + number % 2 * 0.1:.5f} {longitude:.5f}\nradius = {1000 + number}\n")
        file.write("[alerts]\nfarther = 1000\n")


def main():
    with tempfile.TemporaryDirectory() as folder:
        state, configuration = f"{folder}/state", pathlib.Path(folder, "configuration/collar-link")
        configuration.mkdir(parents=True)
        write_places(configuration / "places")
        introduce(BINARY, state, COLLARS)
        field = Field(LineRadio, COLLARS)
        receiver = Receiver(BINARY, field, state)
        field.introduce(range(COLLARS))
        if not field.run(60, lambda: all(collar.acknowledgement_count for collar in field.collars)):
            raise SystemExit("a collar is not answered")
        reader = subprocess.Popen(
            [BINARY, "deliver", "bench", "--events", "alert", "--state-dir", state, "--", "cat"],
            env={**os.environ, "XDG_CONFIG_HOME": str(configuration.parent)})
        field.track(10)
        field.run(10)
        before, began = processor_seconds(reader.pid, with_children=True), time.monotonic()
        field.track(SECONDS)
        field.run(SECONDS)
        used, took = processor_seconds(reader.pid, with_children=True) - before, time.monotonic() - began
        if not field.run(60, lambda: field.is_done):
            raise SystemExit("not every fix is acknowledged")
        # The reader stores its position within ten seconds after the last fix.
        field.run(12)
        before = processor_seconds(reader.pid)
        field.run(IDLE_SECONDS)
        idle = processor_seconds(reader.pid) - before
        receiver.stop()
        reader.terminate()
        reader.wait()
        file = pathlib.Path(state, "readers/bench.reader").stat().st_size
        field.close()
    share = 100 * used / took
    print(f"{COLLARS} collars with one fix a second, {PLACES} places and a limit of the distance, {took:.0f} s; a reader's file of {file} bytes:\n")
    print(f"processor time of the reader: {share:.1f} % of a core (target: below {TARGET} %); in {IDLE_SECONDS} s without fixes: {idle:.2f} s")
    return 0 if share < TARGET and idle == 0 else 1


sys.exit(main())
