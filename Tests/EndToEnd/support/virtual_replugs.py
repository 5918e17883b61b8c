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
import random
import shutil
import sys
import time

from end_to_end import wait_until
from delivered import write_long_track
from virtual_case import VirtualCase

KEY = "000102030405060708090a0b0c0d0e0f"
INTERVAL = 0.25
SECONDS_A_REPLUG = 3.3


class Replugs(VirtualCase):
    """A receiver, two radios and two strangers."""

    count = 100

    def setUp(self):
        super().setUp()
        self.chance = random.Random(self.count)

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

    @property
    def errors(self):
        return self.receiver.error_text

    @property
    def link_events(self):
        """The port and the event of each link line of a port."""
        lines = (json.loads(line) for line in list(self.receiver.lines) if '"type":"link"' in line)
        return [(line["port"], line["event"]) for line in lines if "collar" not in line]

    @property
    def reported_open(self):
        """How many ports are open by their last link line. After many replugs, some lines are left out, but not the last one."""
        return collections.Counter(dict(self.link_events).values())["opened"]

    def test(self):
        key = self.share / "key"
        key.write_text(KEY + "\n")
        key.chmod(0o644)
        adding = self.run_in_guest(f"collar-link key add {self.device_id()} /share/key --state-dir /tmp/state")
        self.assertEqual(adding.wait(), 0, adding.error_text)
        shutil.copy(key, self.path("key"))
        self.machine.adapters[2].plug("STRANGER1")
        self.receiver = self.run_in_guest("collar-link --state-dir /tmp/state --events fix,link")
        try:
            self.play()
        except BaseException:
            sys.stderr.write(self.errors)
            raise

    def play(self):
        fixes = int(self.count * 2 * SECONDS_A_REPLUG / INTERVAL)
        options = ("--interval", str(INTERVAL), "--until-delivered")
        collars = [self.collar("clear", "--seed", "11", *options, fixes=fixes),
                   self.collar("sealed", "--seed", "7", "--key-file", self.path("key"), *options, fixes=fixes)]
        radios = self.machine.adapters[:2]
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
        wait_until(lambda: self.reported_open == 2, 15, "the last state of both ports")
        self.assertEqual(self.receiver.stop(), 0)
        self.check(fixes)

    def replug(self, radio, serial, terminal):
        """Pulls a radio out and plugs it in again, and waits until it is open if the kernel had time to see that."""
        kind = self.chance.choices(("patient", "hasty", "stalled", "replaced"), (80, 10, 5, 5))[0]
        time.sleep(self.chance.choice((0.05, 0.2, 0.5)))
        # Messages about a port come late, or not at all, after many replugs. An answer shows that a radio is open.
        before = len(radio.received)
        if kind in ("stalled", "replaced"):
            self.receiver.signal("STOP")
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
            self.machine.run("udevadm settle")
            self.receiver.signal("CONT")
        if kind == "replaced":
            time.sleep(0.5)
            radio.plug(serial, terminal)
        if kind == "hasty":
            return time.sleep(1)
        wait_until(lambda: len(radio.received) > before, 15, f"the radio after a {kind} replug")
        if kind == "replaced":
            self.machine.adapters[3].unplug()

    def check(self, fixes):
        lines = self.receiver.fixes
        by_collar = collections.defaultdict(list)
        for line in lines:
            if line["type"] == "fix":
                by_collar[line["collar"]].append(line)
        self.assertEqual(len(by_collar), 2)
        for each in by_collar.values():
            self.assert_each_once(each, fixes)
        events = collections.Counter(event for _, event in self.link_events)
        self.assertEqual(events["opened"], self.errors.count("listening on"))
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
    Replugs.count = int((*sys.argv[3:], 100)[0])
    Replugs.main()
