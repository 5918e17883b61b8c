"""Faults of hot-plug in a virtual machine: each was once seen on a machine with the real kernel and udevd.

Radios are silent here: the tests are about ports, and about what is said of them. It is started by Tools/virtual-machine.
"""

import itertools
import time

from virtual_case import MARKS, VirtualCase

TEST_RULES = "60-test.rules"
NODE, NEXT_NODE = "/dev/ttyUSB0", "/dev/ttyUSB1"
# The numbers of the adapters. No program may ever open the stranger's port.
RADIO, OTHER_RADIO, STRANGER = 0, 1, 3
OUTSIDE_NETWORK = "unshare -n"
WITHOUT_UDEV = "unshare -m sh -c 'mount -t tmpfs none /run && exec \"$@\"' sh"

# Visits of a radio, which get shorter after each opening that the receiver has reported in the file ERRORS, and longer after each
# visit without one: so the radio goes about when it is opened. The kernel disconnects a device that it may not use any more, at once.
VISITS = """
device=$(dirname $(grep -l 0403 /sys/bus/usb/devices/*/idVendor))
stay=150000
for visit in $(seq 40); do
    openings=$(grep -c "listening on" ERRORS)
    echo 1 >$device/authorized
    until [ -e /dev/ttyUSB0 ]; do :; done
    usleep $stay
    echo 0 >$device/authorized
    sleep 0.2
    if [ $(grep -c "listening on" ERRORS) -gt $openings ]; then stay=$((stay * 9 / 10)); else stay=$((stay * 11 / 10)); fi
done
"""


class Faults(VirtualCase):
    _directories = itertools.count(1)

    def setUp(self):
        super().setUp()
        # Cleaned up last, when no program runs any more.
        self.addCleanup(self.restore)

    def restore(self):
        """Restores the rules, and pulls out all adapters."""
        self.machine.run(f"cd /etc/udev/rules.d && cp /share/{MARKS} . && rm -f {TEST_RULES} && udevadm control --reload")
        for number, adapter in enumerate(self.machine.adapters):
            if adapter.is_plugged:
                self.pull(number)

    def receive(self, arguments="", **options):
        """Starts a receiver with a state directory of its own."""
        directory = f"/tmp/state{next(Faults._directories)}"
        return self.run_in_guest(f"collar-link --dialect serial --state-dir {directory} {arguments}", **options)

    def plug(self, number, serial, node=NODE):
        """Plugs an adapter in, and waits until udevd has finished with it. `node` is where it is expected."""
        self.machine.adapters[number].plug(serial)
        self.machine.run(f"until [ -e {node} ]; do sleep 0.05; done; udevadm settle")

    def pull(self, number):
        """Pulls an adapter out, and waits until udevd has finished with it."""
        self.machine.adapters[number].unplug()
        self.machine.run("sleep 0.2; udevadm settle")

    def set_rule(self, rule):
        """Adds a rule until the test ends."""
        (self.share / TEST_RULES).write_text(rule)
        self.machine.run(f"cp /share/{TEST_RULES} /etc/udev/rules.d/ && udevadm control --reload")

    def assert_stranger_unopened(self):
        """Pulls the stranger out, and checks that no program has opened it."""
        stranger = self.machine.adapters[STRANGER]
        self.pull(STRANGER)
        self.assertEqual(stranger.received, b"", "something was written to a stranger")
        self.assertEqual(stranger.raised_count, 0, "DTR or RTS of a stranger was raised")

    def port_messages(self, program):
        """What a program has said about ports: all but that no collar is heard."""
        lines = [line.removeprefix("collar-link: ") for line in program.error_text.splitlines()]
        return [line for line in lines if "has identified itself" not in line and "Is it a collar radio, and" not in line]

    # Without reconnection

    def test_refused_and_busy_without_reconnection(self):
        self.plug(RADIO, "RADIO1")
        refused = self.receive("--no-reconnect", user="nobody")
        self.assertEqual(refused.wait(), 77, refused.error_text)
        self.assertIn(f"{NODE}: it belongs to the group dialout, which nobody is not in", refused.error_text)
        self.assert_one_message(refused)
        holder = self.receive()
        holder.wait_for_error(f"listening on {NODE}")
        busy = self.receive("--no-reconnect")
        self.assertEqual(busy.wait(), 75, busy.error_text)
        self.assertIn(f"{NODE} is in use by collar-link (process {holder.pid})", busy.error_text)
        self.assert_one_message(busy)

    # Stalls

    def test_a_stranger_after_a_stall(self):
        """A radio comes and goes while the receiver is stopped, and a stranger takes its node."""
        receiver = self.receive()
        receiver.wait_for_error("waiting for one")
        receiver.signal("STOP")
        self.plug(RADIO, "RADIO1")
        self.pull(RADIO)
        self.plug(STRANGER, "STRANGER")
        receiver.signal("CONT")
        # The next radio proves that the receiver has seen all that happened before.
        self.plug(OTHER_RADIO, "RADIO2", NEXT_NODE)
        receiver.wait_for_error(f"listening on {NEXT_NODE}")
        self.assert_said(receiver, 1, "listening on")
        self.assert_stranger_unopened()

    # Visibility of udevd

    def test_in_another_network_namespace(self):
        receiver = self.receive(prefix=OUTSIDE_NETWORK)
        receiver.wait_for_error("do not reach this network namespace")
        for count in range(1, 4):
            self.plug(RADIO, "RADIO1")
            self.assert_said(receiver, count, f"listening on {NODE}", 20)
            self.pull(RADIO)
            self.assert_said(receiver, count, f"{NODE} was unplugged", 20)
        self.assertEqual(receiver.error_text.count("do not reach this network namespace"), 1)

    def test_without_sight_of_udevd(self):
        self.plug(STRANGER, "STRANGER")
        receiver = self.receive(prefix=WITHOUT_UDEV)
        receiver.wait_for_error("-v /run/udev:/run/udev:ro")
        devices = self.run_in_guest("collar-link devices", prefix=WITHOUT_UDEV)
        self.assertEqual(devices.wait(), 0)
        self.assertIn("--port PATH", receiver.error_text)
        self.assertIn(f"collar-link --port {NODE}", devices.error_text)
        for program in (receiver, devices):
            for advice in ("COLLAR_LINK", "collar-link mark"):
                self.assertNotIn(advice, program.error_text)
        self.assert_stranger_unopened()
        self.plug(RADIO, "RADIO1")
        named = self.receive(f"--port {NODE}", prefix=WITHOUT_UDEV)
        self.assert_said(named, 1, "listening on", 20)
        self.pull(RADIO)
        self.assert_said(named, 1, f"{NODE} was unplugged; the receiver is waiting for it.", 20)
        self.plug(RADIO, "RADIO1")
        self.assert_said(named, 2, "listening on", 20)

    def test_late_permissions(self):
        """A slow rule: for six seconds only root may open the node."""
        self.set_rule('SUBSYSTEM=="tty", ATTRS{serial}=="SLOW", PROGRAM="/bin/sleep 6"\n')
        early = self.receive(f"--port {NODE}")
        early.wait_for_error(f"waiting for {NODE} to appear")
        self.plug_slowly()
        early.wait_for_error("listening on")
        self.assertEqual(early.stop(), 0)
        self.assertEqual(
            self.port_messages(early), [f"The receiver is waiting for {NODE} to appear.", f"The receiver is listening on {NODE}."])
        self.pull(RADIO)
        self.plug_slowly()
        late = self.receive(f"--port {NODE}")
        self.assertEqual(self.access_to_node(), "600 root")
        late.wait_for_error("listening on")
        self.assertEqual(self.port_messages(late), [f"The receiver is listening on {NODE}."])

    def plug_slowly(self):
        self.machine.adapters[RADIO].plug("SLOW")
        self.machine.run(f"until [ -e {NODE} ]; do sleep 0.05; done")
        self.assertEqual(self.access_to_node(), "600 root")

    def access_to_node(self):
        return self.machine.run(f"stat -c '%a %G' {NODE}").strip()

    # Other programs

    def test_a_reader_that_had_the_port_open_before(self):
        self.plug(RADIO, "RADIO1")
        reader = self.run_in_guest(f"cat {NODE}")
        self.machine.run("sleep 0.5")
        receiver = self.receive()
        receiver.wait_for_error(f"{NODE} is also open in cat (process {reader.pid})")
        receiver.wait_for_error("has identified itself for 5 s")
        self.assertEqual(receiver.error_text.count("is also open in"), 1)

    def test_a_reader_of_root_that_had_the_port_open_before(self):
        """The user cannot see the open files of root's programs: it is reported when it reads."""
        self.plug(RADIO, "RADIO1")
        self.run_in_guest(f"cat {NODE}", user="root")
        self.machine.run("sleep 0.5")
        receiver = self.receive()
        receiver.wait_for_error("listening on")
        self.feed_until(receiver, f"{NODE} is also open in another program")

    def test_readers_that_come_later(self):
        """Programs of root open the port in spite of the lock. Only root sees them."""
        self.plug(RADIO, "RADIO1")
        receiver = self.receive()
        receiver.wait_for_error("listening on")
        self.feed(20)
        self.assertNotIn("is also open in", receiver.error_text)
        reader = self.run_in_guest(f"cat {NODE}", user="root")
        receiver.wait_for_error(f"{NODE} is also open in another program")
        self.assertEqual(receiver.stop(), 0)
        reader.kill_now()
        receiver = self.receive(user="root")
        receiver.wait_for_error("listening on")
        reader = self.run_in_guest(f"cat {NODE}", user="root")
        receiver.wait_for_error(f"{NODE} is also open in cat (process {reader.pid})")

    def feed(self, count):
        for _ in range(count):
            self.machine.adapters[RADIO].send(b"\0\x05half\0")
            time.sleep(0.05)

    def feed_until(self, receiver, text):
        for _ in range(20):
            self.feed(10)
            if text in receiver.error_text:
                return
        self.fail(f"no word about {text!r}: {receiver.error_text}")

    # Marks, names and numbers

    def test_a_radio_that_vanishes_while_it_is_opened(self):
        self.visit_shortly(self.receive())

    def test_a_named_radio_that_vanishes_while_it_is_opened(self):
        self.visit_shortly(self.receive(f"--port {NODE}"))

    def test_a_node_that_is_left_for_a_moment(self):
        """The node of a device that is gone: it goes within moments, and no advice is about it."""
        receiver = self.receive("--port /tmp/radio")
        receiver.wait_for_error("waiting for /tmp/radio to appear")
        for _ in range(3):
            self.machine.run("mknod -m 666 /tmp/radio c 188 9; sleep 0.5; rm /tmp/radio; sleep 1")
        self.assertEqual(self.port_messages(receiver), ["The receiver is waiting for /tmp/radio to appear."])
        # For comparison: one that stays.
        self.machine.run("mknod -m 666 /tmp/radio c 188 9")
        receiver.wait_for_error("/tmp/radio exists, but its device does not answer")
        self.machine.run("rm /tmp/radio")

    def visit_shortly(self, receiver):
        """All that is said of a radio that comes and goes is that it is open, and that it is gone."""
        receiver.wait_for_error("waiting for")
        self.plug(RADIO, "RADIO1")
        receiver.wait_for_error("listening on")
        silence = self.port_messages(receiver).index(f"The receiver is listening on {NODE}.")
        self.machine.run(VISITS.replace("ERRORS", receiver.error_path), seconds=120)
        self.machine.run("sleep 2")
        said = self.port_messages(receiver)[silence:]
        openings = said.count(f"The receiver is listening on {NODE}.")
        self.assertEqual(said, [f"The receiver is listening on {NODE}.", f"{NODE} was unplugged; the receiver is waiting for it."] * openings)
        # Some visits were long enough, and some were not.
        self.assertIn(openings, range(5, 36))

    def test_the_mark_is_removed(self):
        self.plug(RADIO, "RADIO1")
        receiver = self.receive()
        receiver.wait_for_error("listening on")
        apply = "udevadm control --reload && udevadm trigger --subsystem-match=tty --subsystem-match=usb && udevadm settle"
        self.machine.run(f"rm /etc/udev/rules.d/{MARKS} && {apply}")
        receiver.wait_for_error(f"{NODE} is not marked as a collar radio any more")
        self.assertNotIn(NODE, self.machine.run(f"ls -l /proc/{receiver.pid}/fd", check=False))
        self.machine.run(f"cp /share/{MARKS} /etc/udev/rules.d/ && {apply}")
        self.assert_said(receiver, 2, f"listening on {NODE}", 20)
        self.assertNotIn("was unplugged", receiver.error_text)

    def test_a_named_port_whose_radio_returns_at_another_node(self):
        self.plug(RADIO, "PUCK1")
        receiver = self.receive(f"--port {NODE}")
        receiver.wait_for_error(f"listening on {NODE}")
        self.pull(RADIO)
        receiver.wait_for_error(f"{NODE} was unplugged; the receiver is waiting for it.")
        self.plug(STRANGER, "STRANGER")
        self.plug(RADIO, "PUCK1", NEXT_NODE)
        receiver.wait_for_error(f"listening on {NEXT_NODE}, where the radio of {NODE} is now")
        self.assert_stranger_unopened()

    # Other commands

    def test_devices_are_watched(self):
        watch = self.run_in_guest("collar-link devices --watch -F json")
        people = self.run_in_guest("collar-link devices --watch")
        people.wait_for_error("Many cables only charge")
        self.plug(RADIO, "RADIO1")
        self.pull(RADIO)
        watch.wait_for_lines(4)
        people.wait_for_lines(4)
        events = [(line["event"], line["node"], line.get("serial")) for line in watch.fixes]
        # The machine has two ports of its own.
        self.assertEqual([event[0] for event in events[:2]], ["present", "present"])
        self.assertEqual(events[2:], [("added", NODE, "RADIO1"), ("removed", NODE, "RADIO1")])
        self.assertRegex(people.lines[2], rf"^plugged in: \* {NODE} ")
        self.assertRegex(people.lines[3], rf"^pulled out: .* {NODE} ")
        self.assertEqual(people.error_text.count("Many cables only charge"), 1)

    def test_doctor(self):
        # A directory of the host stays when the machine ends.
        doctor = "collar-link doctor --state-dir /share/state"
        self.plug(RADIO, "RADIO1")
        sound = self.run_in_guest(doctor)
        self.assertEqual(sound.wait(), 0, sound.lines)
        self.assertEqual(len(sound.lines), 1, sound.lines)
        self.assertIn(f"nothing to do: {NODE} can be used", sound.lines[0])
        refused = self.run_in_guest(doctor, user="nobody")
        self.assertEqual(refused.wait(), 77, refused.lines)
        self.assertIn("usermod -aG dialout nobody", "".join(refused.lines))


if __name__ == "__main__":
    Faults.main()
