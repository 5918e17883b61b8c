"""A simulated machine into which radios are plugged, by umockdev. Run its tests under umockdev-wrapper, as Tools/test does."""

import fcntl
import os
import subprocess
import types
import unittest

import umockdev_testbed
from end_to_end import BINARY, IS_ROOT, EndToEndTest, give_to_ordinary_user
from radio import Radio
from serial_line import Bridge

from session_parts import A

# The start of a command whose first argument is the folder that it sees in the place of /run.
WITH_OWN_RUN = [
    "unshare", "--user", "--map-current-user", "--keep-caps", "--mount", "sh", "-c",
    # The command must not keep the privilege to mount, with which it could also open what is refused.
    'mount --bind "$1" /run && shift && exec setpriv --inh-caps=-all --ambient-caps=-all "$@"', "sh"]
MARKED = {"COLLAR_LINK": "1"}


def can_replace_run():
    """Whether an ordinary user may replace /run for a program: some containers forbid it."""
    command = [*WITH_OWN_RUN, "/tmp", "true"]
    if IS_ROOT:
        command = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", *command]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@unittest.skipUnless(umockdev_testbed.is_available(), "needs umockdev-wrapper")
class SimulatedMachineTest(EndToEndTest):
    def setUp(self):
        super().setUp()
        self.testbed = umockdev_testbed.Testbed()
        self.addCleanup(self.testbed.close)
        self.machine = os.path.dirname(self.testbed._dev)
        # A program that listens to udev makes its socket in this directory.
        self.testbed.open_to_ordinary_user()
        # The library has set this variable in the environment of the process, but Python does not read that again.
        self.environment = {**os.environ, "UMOCKDEV_DIR": self.machine}

    def plug(self, name, is_busy=False, mode=0o600, **options):
        """Plugs in an adapter whose node an ordinary user may open. If `is_busy`, another program has locked it first.
        `mode` is the line's mode. Returns the node."""
        def prepare(line):
            give_to_ordinary_user(line)
            os.chmod(line, mode)
            # Kept open: the radio's end reports a hang-up while nobody has the node open.
            self.kept = os.open(line, os.O_RDWR | os.O_NOCTTY)
            self.addCleanup(os.close, self.kept)
            if is_busy:
                fcntl.flock(self.kept, fcntl.LOCK_EX)
        node = self.testbed.add_usb_tty(name, prepare=prepare, **options)
        self.testbed.open_to_ordinary_user()
        return node

    def line_of(self, node):
        """The pseudo-terminal to which a node leads."""
        return os.path.realpath(os.path.join(self.testbed._dev, os.path.basename(node)))

    def discover(self, *arguments, udevd=None):
        """Starts a receiver that looks for radios. `udevd` is what it sees of udevd: `here`, `elsewhere` (its files, in another
        network namespace) or `nowhere`; by default, what the machine has."""
        command = [BINARY, "--state-dir", self.state, *arguments]
        if udevd:
            command = [*self.with_udevd(udevd), *command]
        return self.start(command, environment=self.environment)

    def with_udevd(self, place):
        """The start of a command that sees so much of udevd. Its /run is the folder `run` of the test."""
        os.makedirs(self.path("run"), exist_ok=True)
        if place != "nowhere":
            os.makedirs(self.path("run/udev/data"), exist_ok=True)
            with open(self.path("run/udev/control"), "w", encoding="ascii"):
                pass
        for folder, _, _ in os.walk(self.path("run")):
            give_to_ordinary_user(folder)
        # The third column from the right of the kernel's listener is the set of groups.
        groups = "00000001" if place == "here" else "00000000"
        os.makedirs(os.path.join(self.machine, "proc/net"), exist_ok=True)
        with open(os.path.join(self.machine, "proc/net/netlink"), "w", encoding="ascii") as file:
            file.write(f"sk               Eth Pid        Groups   Rmem\n0000000000000001 15  90         {groups} 0\n")
        return [*WITH_OWN_RUN, self.path("run")]

    def play_at(self, node, *arguments):
        """Starts a simulated collar at a simulated adapter. Returns the fixes of the collar."""
        track, sent = self.track("cats_uk/Felix-Tag")
        self.simulate(track, "--speed", "max", *arguments)
        bridge = Bridge(self.testbed.master_fd(node), self.pty())
        self.addCleanup(bridge.close)
        return sent

    def pty(self):
        return os.readlink(self.link)

    def radio_of(self, node):
        return Radio(types.SimpleNamespace(master=self.testbed.master_fd(node)))

    def assert_served(self, radio, count):
        """Checks that the radio is served: fix number `count` is stored and acknowledged."""
        radio.send(A.identity() + A.fix(count - 1))
        self.assertEqual(radio.poll(A, count)[0]["first_missing"], count)
