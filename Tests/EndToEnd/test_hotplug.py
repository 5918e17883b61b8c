"""Radios that udev announces. umockdev simulates them; run these tests under umockdev-wrapper, as Tools/test does."""

import fcntl
import os
import stat
import sys
import time
import types
import unittest

import umockdev_testbed
from collarlink import BINARY, ROOT, EndToEndTest, give_to_ordinary_user, wait_until
from radio import IDENTITY_REQUEST, Radio
from serial_line import Bridge, drain

# Appended, because the tests' own collarlink.py must be found before the reference's.
sys.path.append(str(ROOT / "Protocol/reference"))
from session_parts import A  # noqa: E402

MARKED = {"COLLAR_LINK": "1"}


@unittest.skipUnless(umockdev_testbed.is_available(), "needs umockdev-wrapper")
class HotplugTest(EndToEndTest):
    def setUp(self):
        super().setUp()
        self.testbed = umockdev_testbed.Testbed()
        self.addCleanup(self.testbed.close)
        self.machine = os.path.dirname(self.testbed._dev)
        # A program that listens to udev makes its socket in this directory.
        self.open_machine()
        # The library has set this variable in the environment of the process, but Python does not read that again.
        self.environment = {**os.environ, "UMOCKDEV_DIR": self.machine}

    def open_machine(self):
        """Lets an ordinary user make and use sockets in the simulated machine: those of udev and of the library."""
        for folder, _, names in os.walk(self.machine):
            for path in (folder, *(os.path.join(folder, name) for name in names)):
                if os.path.isdir(path) or stat.S_ISSOCK(os.lstat(path).st_mode):
                    give_to_ordinary_user(path)

    def plug(self, name, is_busy=False, **options):
        """Plugs in an adapter whose node an ordinary user may open. If `is_busy`, another program has locked it first.
        Returns the node."""
        def prepare(line):
            give_to_ordinary_user(line)
            # Kept open: the radio's end reports a hang-up while nobody has the node open.
            self.kept = os.open(line, os.O_RDWR | os.O_NOCTTY)
            self.addCleanup(os.close, self.kept)
            if is_busy:
                fcntl.flock(self.kept, fcntl.LOCK_EX)
        node = self.testbed.add_usb_tty(name, prepare=prepare, **options)
        self.open_machine()
        return node

    def line_of(self, node):
        """The pseudo-terminal to which a node leads."""
        return os.path.realpath(os.path.join(self.testbed._dev, os.path.basename(node)))

    def discover(self, *arguments):
        return self.start([BINARY, "--state-dir", self.state, *arguments], environment=self.environment)

    def play_at(self, node, *arguments):
        """Starts a simulated collar at a simulated adapter. Returns the fixes of the collar."""
        track, sent = self.track("cats_uk/Felix-Tag")
        self.simulate(track, "--speed", "max", *arguments)
        bridge = Bridge(self.testbed.master_fd(node), self.pty())
        self.addCleanup(bridge.close)
        return sent

    def pty(self):
        return os.readlink(self.link)

    def test_present_at_start(self):
        node = self.plug("ttyUSB0", properties=MARKED)
        sent = self.play_at(node)
        receiver = self.discover()
        receiver.wait_for_lines(len(sent))
        self.assertEqual(receiver.stop(), 0)
        self.assert_each_once(receiver.fixes, len(sent))
        self.assertIn(f"listening on {node}", receiver.error_text)

    def test_plugged_in_later(self):
        receiver = self.discover()
        receiver.wait_for_error("no collar radio is plugged in")
        self.assertIn("there is no other serial device", receiver.error_text)
        sent = self.play_at(self.plug("ttyUSB0", properties=MARKED))
        receiver.wait_for_lines(len(sent))
        self.assertEqual(receiver.stop(), 0)
        self.assert_each_once(receiver.fixes, len(sent))

    def test_names_that_are_orders_to_a_terminal(self):
        """The names of devices are shown without control characters, and shortened if they are long."""
        self.plug("ttyUSB0", manufacturer="\x1b[31mred\x9b2J", model="\u202e" + "x" * 3000)
        for arguments in (("devices",), ("-T", "0.5", "--state-dir", self.state)):
            with self.subTest(arguments=arguments):
                program = self.start([BINARY, *arguments], environment=self.environment)
                self.assertEqual(program.wait(5), 0, program.error_text)
                text = "".join(program.lines) + program.error_text
                self.assertIn("[31mred", text)
                self.assertEqual([each for each in text if each != "\n" and not each.isprintable()], [])
                self.assertLess(len(text), 2000)

    def test_marked_later(self):
        """A radio is opened when a rule that is installed later marks it."""
        node = self.plug("ttyUSB0")
        receiver = self.discover()
        receiver.wait_for_error("not marked as one")
        self.testbed.set_property("ttyUSB0", "COLLAR_LINK", "1")
        receiver.wait_for_error(f"listening on {node}")

    def test_strangers_are_left_alone(self):
        """Devices without the property are named, never opened, and nothing is written to them."""
        node = self.plug("ttyUSB0", serial="A1", manufacturer="Espressif", model="GPS puck")
        other = self.plug("ttyACM0", serial="A2", properties={"COLLAR_LINK": "0"})
        receiver = self.discover()
        receiver.wait_for_error("waiting for one")
        late = self.plug("ttyUSB1", serial="A3")
        radio = self.plug("ttyUSB2", serial="A4", properties=MARKED)
        receiver.wait_for_error(f"listening on {radio}")
        time.sleep(0.3)
        opened = {os.readlink(entry.path) for entry in os.scandir(f"/proc/{receiver.pid}/fd")}
        for stranger in (node, other, late):
            self.assertNotIn(self.line_of(stranger), opened)
            self.assertEqual(drain(self.testbed.master_fd(stranger)), b"", f"something was written to {stranger}")
        # For comparison: a port that is opened and written to does show.
        self.assertIn(self.line_of(radio), opened)
        self.assertNotEqual(drain(self.testbed.master_fd(radio)), b"")

    def test_says_what_it_waits_for_and_sees(self):
        node = self.plug("ttyUSB0", serial="A1", manufacturer="Espressif", model="GPS puck")
        receiver = self.discover()
        receiver.wait_for_error("--port")
        for text in ("COLLAR_LINK=1", node, "10c4:ea60", "Espressif", "A1"):
            self.assertIn(text, receiver.error_text)
        self.assertEqual(receiver.lines, [])

    def test_no_radio_without_reconnect(self):
        receiver = self.discover("--no-reconnect")
        self.assertEqual(receiver.wait(5), 69, receiver.error_text)
        self.assert_one_message(receiver)

    def test_unplugged_and_back(self):
        """The receiver closes a radio that is unplugged, and finds it again under another name."""
        track, sent = self.track("cats_uk/Felix-Tag")
        collar = self.simulate(track, "--interval", "0.05")
        receiver = self.discover()
        first = self.plug("ttyUSB0", properties=MARKED)
        bridge = Bridge(self.testbed.master_fd(first), self.pty())
        receiver.wait_for_lines(10)
        bridge.close()
        self.testbed.unplug("ttyUSB0")
        receiver.wait_for_error("was unplugged")
        # Bytes from the old radio must not be mixed with those from the new radio.
        bridge = Bridge(self.testbed.master_fd(self.plug("ttyUSB1", properties=MARKED)), self.pty())
        self.addCleanup(bridge.close)
        collar.wait_for_error("are acknowledged", 30)
        self.assertEqual(receiver.stop(), 0)
        self.assert_each_once(receiver.fixes, len(sent))

    def radio_of(self, node):
        return Radio(types.SimpleNamespace(master=self.testbed.master_fd(node)))

    def assert_served(self, radio, count):
        """Checks that the radio is served: fix number `count` is stored and acknowledged."""
        radio.send(A.identity() + A.fix(count - 1))
        self.assertEqual(radio.ask(A, count)[0]["first_missing"], count)

    def assert_said(self, receiver, count, text, seconds=5):
        wait_until(lambda: receiver.error_text.count(text) >= count, seconds, f"{text!r} {count} times")
        self.assertEqual(receiver.error_text.count(text), count, receiver.error_text)

    def test_unplugged_twice(self):
        """A radio is unplugged twice under one name. Each time another program has the port first, and once the radio
        is unplugged while that program has it."""
        receiver = self.discover()
        for count in (1, 2):
            node = self.plug("ttyUSB0", is_busy=True, properties=MARKED)
            self.assert_said(receiver, count, f"{node} is in use by")
            if count == 1:
                self.testbed.unplug("ttyUSB0")
                self.plug("ttyUSB0", properties=MARKED)
            else:
                fcntl.flock(self.kept, fcntl.LOCK_UN)
            self.assert_said(receiver, count, f"listening on {node}")
            self.assert_served(self.radio_of(node), count)
            self.testbed.unplug("ttyUSB0")
            self.assert_said(receiver, count, f"{node} was unplugged")
        self.assertEqual(receiver.stop(), 0)
        self.assert_each_once(receiver.fixes, 2)

    def test_events_of_a_radio_that_is_open(self):
        """If rules are reloaded or events are triggered, an open radio stays open and gets no new identity request."""
        receiver = self.discover()
        node = self.plug("ttyUSB0", properties=MARKED)
        radio = self.radio_of(node)
        self.assert_served(radio, 1)
        radio.answers.clear()
        for action in ("add", "change", "bind", "add"):
            self.testbed.announce("ttyUSB0", action)
        self.testbed.set_property("ttyUSB0", "ID_MODEL", "Another_name")
        # When the receiver has processed a later event, it has processed all of these.
        other = self.plug("ttyUSB1", properties=MARKED)
        receiver.wait_for_error(f"listening on {other}")
        self.assertEqual(radio.count(IDENTITY_REQUEST), 0)
        self.assert_said(receiver, 1, f"listening on {node}")
        for text in ("was unplugged", "in use by"):
            self.assertNotIn(text, receiver.error_text)
        self.assert_served(radio, 2)
        self.assertEqual(receiver.stop(), 0)
        self.assert_each_once(receiver.fixes, 2)

    def test_devices(self):
        """`devices` lists radios first and opens nothing."""
        self.plug("ttyUSB0", serial="A1")
        self.plug("ttyUSB1", serial="A2", properties=MARKED)
        listing = self.start([BINARY, "devices", "--json"], environment=self.environment)
        self.assertEqual(listing.wait(5), 0, listing.error_text)
        self.assertEqual([(device["node"], device["collar_radio"]) for device in listing.fixes],
                         [("/dev/ttyUSB1", True), ("/dev/ttyUSB0", False)])
        text = self.start([BINARY, "devices"], environment=self.environment)
        self.assertEqual(text.wait(5), 0)
        self.assertTrue(text.lines[0].startswith("* /dev/ttyUSB1"), text.lines)
