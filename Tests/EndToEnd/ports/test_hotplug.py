"""Radios that udev announces. umockdev simulates them; run these tests under umockdev-wrapper, as Tools/test does."""

import fcntl
import time
import unittest

from end_to_end import BINARY
from hotplug import MARKED, SimulatedMachineTest, can_replace_run
from radio import IDENTITY_REQUEST
from serial_line import Bridge, drain


class HotplugTest(SimulatedMachineTest):
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
        receiver.wait_for_error("No collar radio is plugged in")
        self.assertIn("There is no other serial device.", receiver.error_text)
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
        receiver.wait_for_error("waiting for one")
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
        opened = receiver.open_files
        for stranger in (node, other, late):
            self.assertNotIn(self.line_of(stranger), opened)
            self.assertEqual(drain(self.testbed.master_fd(stranger)), b"", f"something was written to {stranger}")
        # For comparison: a port that is opened and written to does show.
        self.assertIn(self.line_of(radio), opened)
        self.assertNotEqual(drain(self.testbed.master_fd(radio)), b"")

    @unittest.skipUnless(can_replace_run(), "needs user namespaces")
    def test_says_what_it_waits_for_and_sees(self):
        node = self.plug("ttyUSB0", serial="A1", manufacturer="Espressif", model="GPS puck")
        receiver = self.discover(udevd="here")
        receiver.wait_for_error("--port")
        for text in ("COLLAR_LINK=1", f"collar-link mark {node}", node, "10c4:ea60", "Espressif", "A1"):
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
