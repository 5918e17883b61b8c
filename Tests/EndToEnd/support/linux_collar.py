"""A collar on a Linux machine: `collar-link collar` with a stick of a simulated pair and a u-blox receiver that plays a track; and a
receiver at the other stick."""

import os
import re
import signal
import subprocess
import time

from end_to_end import BINARY, ROOT, TRACKS, EndToEndTest, give_to_ordinary_user, wait_until
from gnss_bytes import ReceiverAtLine, track
from serial_line import SerialLine

STICK_PAIR = os.path.join(os.environ.get("COLLAR_LINK_BUILT", ROOT / ".build/release"), "collar-link-stick-pair")
RADIO = ("--region", "EU868", "--spreading-factor", "7")


def fixes_from_now(count):
    """Fixes of a cat's walk, again and again, a second apart; the first is made in two seconds."""
    start = int(time.time() + 2) * 1000
    walk = track(TRACKS / "cats_uk/Maxwell-Tag.ndjson.gz")
    return [{**walk[number % len(walk)], "ts_unix_ms": start + 1000 * number} for number in range(count)]


class LinuxCollarTest(EndToEndTest):
    loss = 0.2

    def setUp(self):
        super().setUp()
        self.flash = self.path("cat.flash")
        self.key = self.path("cat.key")

    def join_sticks(self, dialect, seed=1):
        """Starts two sticks: the collar's at `self.link`, the host's at `self.base`."""
        self.base = self.path("base")
        self.sticks = self.start([STICK_PAIR, dialect, str(self.loss), str(seed), self.link, self.base])
        wait_until(lambda: os.path.exists(self.base), 5, "two sticks")

    def play(self, count, receiver=None):
        """A u-blox receiver at `self.gnss` that makes a fix each second from now on."""
        line = SerialLine()
        self.addCleanup(line.close)
        self.gnss = line.path
        player = ReceiverAtLine(line.master, fixes_from_now(count), receiver)
        self.addCleanup(player.close)
        player.start()
        return player

    def collar(self, *arguments, **options):
        program = self.start(
            [BINARY, "collar", "--flash", self.flash, "--radio", self.link, "--gnss", self.gnss, *RADIO, *arguments],
            reads_output=True, **options)
        program.wait_for_error("This is collar")
        return program

    def new_collar(self, *arguments, **options):
        """Makes a collar, gives its key to the receiver, and returns the program."""
        program = self.collar("--key-file", self.key, *arguments, **options)
        self.identity = re.search("This is collar ([0-9a-f]{16})", program.error_text)[1]
        self.add_key(self.key)
        return program

    def add_key(self, path):
        """Gives a key to the receiver, and the state directory to the user who runs the receiver."""
        subprocess.run([BINARY, "key", "add", self.identity, path, "--state-dir", self.state], check=True, capture_output=True)
        give_to_ordinary_user(self.state)
        for folder, _, names in os.walk(self.state):
            for each in [folder, *(os.path.join(folder, name) for name in names)]:
                give_to_ordinary_user(each)

    def base_radio(self, events="fix,gap"):
        return self.start([BINARY, "--port", self.base, "--state-dir", self.state, *RADIO, "--events", events])

    @staticmethod
    def fixes_of(receiver):
        return [line for line in receiver.fixes if line["type"] == "fix"]

    def pull(self, collar=False):
        """Pulls out a stick for three seconds."""
        self.sticks.process.send_signal(signal.SIGUSR1 if collar else signal.SIGUSR2)
