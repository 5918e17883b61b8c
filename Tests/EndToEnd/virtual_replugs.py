"""Replugs in a virtual machine: an ordinary user's receiver loses nothing, whatever happens to its radios.

Two collars, one of them with a key, make a fix every quarter of a second. Their radios are marked and pulled out and plugged in
again, at random; some are back before the kernel has seen the end of the last visit, and some come and go while the receiver is
stopped by SIGSTOP. An adapter of the same product without a mark is there all the time, and one more is plugged into the place of
a radio during a stall. In the end every fix has been written once, each opened radio has been reported, and no program has raised
the DTR of a stranger. It is started by Tools/virtual-machine.
"""

import collections
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import time
import unittest

from collarlink import BINARY, ROOT, EndToEndTest, wait_until
from delivered import write_long_track
from virtual_machine import VirtualMachine

KEY = "000102030405060708090a0b0c0d0e0f"
INTERVAL = 0.25
SECONDS_A_REPLUG = 3.3
PREPARE = """
cp /share/collar-link /bin && cp /share/*.rules /etc/udev/rules.d/ && udevadm control --reload
mkdir /tmp/state && chown owner /tmp/state
"""
RULE = 'SUBSYSTEM=="tty|usb", ATTRS{idVendor}=="0403", ATTRS{idProduct}=="6001", ATTRS{serial}=="RADIO*", ENV{COLLAR_LINK}="1"\n'
RECEIVER = """
touch /share/lines /share/errors && chmod 666 /share/lines /share/errors
su owner -s /bin/sh -c 'exec collar-link --state-dir /tmp/state --events fix,link >/share/lines 2>/share/errors' \
    >/dev/null 2>&1 </dev/null &
echo $!
"""


class Replugs(EndToEndTest):
    """A machine with a receiver, two radios and two strangers."""

    emulator = packages = ""
    count = 100

    def setUp(self):
        super().setUp()
        kernel = next(pathlib.Path(self.packages, "boot").glob("vmlinuz-*"))
        self.machine = VirtualMachine(self.emulator, kernel, f"{self.packages}/image", adapters=4)
        self.addCleanup(self.machine.close)
        self.machine.wait_for_start()
        self.share = self.machine.share
        shutil.copy(BINARY, self.share / "collar-link")
        shutil.copy(ROOT / "hardware/udev/70-collar-link.rules", self.share)
        (self.share / "69-my-collar-link.rules").write_text(RULE)
        (self.share / "key").write_text(KEY + "\n")
        self.machine.run(PREPARE)
        self.chance = random.Random(self.count)

    @property
    def errors(self):
        return (self.share / "errors").read_text()

    def collar(self, name, *arguments, fixes):
        """Starts a collar. Returns it and its terminal."""
        track = self.path("track")
        write_long_track(track, self.track("cats_uk/Felix-Tag")[1], fixes)
        collar = self.simulate(track, "--battery", "100", *arguments, link=self.path(name))
        return collar, os.readlink(self.path(name))

    def device_id(self):
        """The id of the collar with the key, which depends on the seed alone: its twin without a key tells it."""
        twin, terminal = self.collar("twin", "--seed", "7", "--speed", "20", fixes=3)
        receiver = self.receive("-n", "1", port=terminal, state=self.path("twin-state"))
        receiver.wait(20)
        twin.kill_now()
        os.remove(self.path("track"))
        return receiver.fixes[0]["collar"]

    def test(self):
        try:
            self.play()
        except BaseException:
            sys.stderr.write(self.errors)
            raise

    def play(self):
        machine = self.machine
        device = self.device_id()
        fixes = int(self.count * 2 * SECONDS_A_REPLUG / INTERVAL)
        (self.share / "key").chmod(0o644)
        machine.run(f"su owner -s /bin/sh -c 'collar-link key add {device} /share/key --state-dir /tmp/state'")
        key_file = self.path("key")
        shutil.copy(self.share / "key", key_file)
        options = ("--interval", str(INTERVAL), "--until-delivered")
        collars = [self.collar("clear", "--seed", "11", *options, fixes=fixes),
                   self.collar("sealed", "--seed", "7", "--key-file", key_file, *options, fixes=fixes)]
        machine.adapters[2].plug("STRANGER1")
        self.receiver = machine.run(RECEIVER).strip()
        radios = machine.adapters[:2]
        for number in range(2):
            radios[number].plug(f"RADIO{number}", collars[number][1])
        wait_until(lambda: self.errors.count("listening on") == 2, 30, "both radios")
        for replug in range(self.count):
            for number, radio in enumerate(radios):
                self.replug(radio, f"RADIO{number}", collars[number][1])
            if replug % 10 == 9:
                print(f"{replug + 1} replugs of each radio, {self.errors.count('was unplugged')} reported", flush=True)
        if any(collar.process.poll() is not None for collar, _ in collars):
            print("note: a collar has delivered its track before the last replug")
        for collar, _ in collars:
            self.assertEqual(collar.wait(fixes * INTERVAL + 120), 0)
        machine.run(f"kill {self.receiver}; while kill -0 {self.receiver} 2>/dev/null; do sleep 0.1; done")
        self.check(fixes)

    def replug(self, radio, serial, terminal):
        """Pulls a radio out and plugs it in again, and waits until it is open if the kernel had time to see that."""
        kind = self.chance.choices(("patient", "hasty", "stalled", "replaced"), (80, 10, 5, 5))[0]
        time.sleep(self.chance.choice((0.05, 0.2, 0.5)))
        before = self.errors.count("listening on")
        if kind in ("stalled", "replaced"):
            self.machine.run(f"kill -STOP {self.receiver}")
        radio.unplug()
        if kind == "replaced":
            self.machine.adapters[3].plug("STRANGER2")
            time.sleep(0.5)
            self.machine.run("udevadm settle")
        time.sleep(0.02 if kind == "hasty" else self.chance.choice((0.3, 0.5, 1)))
        if kind != "replaced":
            radio.plug(serial, terminal)
        if kind in ("stalled", "replaced"):
            time.sleep(0.5)
            self.machine.run(f"udevadm settle; kill -CONT {self.receiver}")
        if kind == "replaced":
            time.sleep(0.5)
            radio.plug(serial, terminal)
        if kind == "hasty":
            return time.sleep(1)
        wait_until(lambda: self.errors.count("listening on") > before, 15, f"the radio after a {kind} replug")
        if kind == "replaced":
            self.machine.adapters[3].unplug()

    def check(self, fixes):
        lines = [json.loads(line) for line in (self.share / "lines").read_text().splitlines()]
        by_collar = collections.defaultdict(list)
        for line in lines:
            if line["type"] == "fix":
                by_collar[line["collar"]].append(line)
        self.assertEqual(len(by_collar), 2)
        for each in by_collar.values():
            self.assert_each_once(each, fixes)
        events = collections.Counter(line["event"] for line in lines if line["type"] == "link" and "collar" not in line)
        self.assertEqual(events["opened"], self.errors.count("listening on"))
        self.assertEqual(events["opened"] - events["unplugged"], 2)
        self.assertNotIn("firmware answers neither", self.errors)
        for radio in self.machine.adapters[:3]:
            radio.unplug()
        for stranger in self.machine.adapters[2:]:
            self.assertEqual(stranger.received, b"", "something was written to a stranger")
            self.assertEqual(stranger.raised_count, 0, "DTR or RTS of a stranger was raised")
        # For comparison: an opening shows.
        self.assertGreaterEqual(sum(radio.raised_count for radio in self.machine.adapters[:2]), events["opened"])
        print(f"{2 * fixes} fixes of two collars came once each; {events['opened']} times a radio was opened, and no stranger")


if __name__ == "__main__":
    Replugs.emulator, Replugs.packages, Replugs.count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    unittest.main(argv=sys.argv[:1])
