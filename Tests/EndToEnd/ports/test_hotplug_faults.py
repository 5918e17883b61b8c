"""Faults around radios that come and go: stalls, strangers, refused and busy ports, udevd that is late or cannot be heard."""

import os
import signal
import time
import unittest

from end_to_end import BINARY, wait_until
from hotplug import MARKED, SimulatedMachineTest, can_replace_run
from serial_line import drain


class SerialLineTest(SimulatedMachineTest):
    def discover(self, *arguments, **options):
        """Starts a receiver of the serial line: the test need not answer the questions with which a stick's dialect is found
        out."""
        return super().discover("--dialect", "serial", *arguments, **options)


class HotplugFaultsTest(SerialLineTest):
    def assert_never_opened(self, receiver, node):
        """Checks that a stranger was not opened. A radio that is plugged in later proves that the receiver has seen it all."""
        radio = self.plug("ttyUSB9", serial="proof", properties=MARKED)
        receiver.wait_for_error(f"listening on {radio}")
        self.assertNotIn(self.line_of(node), receiver.open_files)
        self.assertNotIn(f"listening on {node}", receiver.error_text)
        self.assertEqual(drain(self.testbed.master_fd(node)), b"", "something was written to a stranger")
        self.testbed.unplug("ttyUSB9")

    # Without reconnection

    def test_busy_without_reconnection(self):
        node = self.plug("ttyUSB0", is_busy=True, properties=MARKED)
        receiver = self.discover("--no-reconnect")
        self.assertEqual(receiver.wait(5), 75, receiver.error_text)
        self.assertIn(f"{node} is in use by", receiver.error_text)
        self.assert_one_message(receiver)

    def test_refused_without_reconnection(self):
        node = self.plug("ttyUSB0", mode=0, properties=MARKED)
        receiver = self.discover("--no-reconnect")
        self.assertEqual(receiver.wait(5), 77, receiver.error_text)
        self.assertIn(node, receiver.error_text)
        self.assert_one_message(receiver)

    def test_one_of_two_is_enough_without_reconnection(self):
        self.plug("ttyUSB0", serial="A1", is_busy=True, properties=MARKED)
        node = self.plug("ttyUSB1", serial="A2", properties=MARKED)
        receiver = self.discover("--no-reconnect")
        receiver.wait_for_error(f"listening on {node}")
        receiver.wait_for_error("/dev/ttyUSB0 is in use by")
        self.testbed.unplug("ttyUSB1")
        self.assertEqual(receiver.wait(5), 69, receiver.error_text)

    # Stalls

    def test_a_stranger_after_a_stall(self):
        """The event of a radio that is gone must not open the stranger that has taken its node."""
        receiver = self.discover()
        receiver.wait_for_error("waiting for one")
        receiver.process.send_signal(signal.SIGSTOP)
        self.plug("ttyUSB0", serial="A1", properties=MARKED)
        self.testbed.unplug("ttyUSB0")
        stranger = self.plug("ttyUSB0", serial="A2", is_in_last_socket=True)
        receiver.process.send_signal(signal.SIGCONT)
        self.assert_never_opened(receiver, stranger)

    def test_a_stranger_in_place_of_an_open_radio_after_a_stall(self):
        receiver = self.discover()
        node = self.plug("ttyUSB0", serial="A1", properties=MARKED)
        receiver.wait_for_error(f"listening on {node}")
        receiver.process.send_signal(signal.SIGSTOP)
        self.testbed.unplug("ttyUSB0")
        stranger = self.plug("ttyUSB0", serial="A2", is_in_last_socket=True)
        receiver.process.send_signal(signal.SIGCONT)
        self.assert_said(receiver, 1, f"{node} was unplugged")
        receiver.errors.clear()
        self.assert_never_opened(receiver, stranger)

    def test_a_radio_that_was_replugged_during_a_stall(self):
        receiver = self.discover()
        node = self.plug("ttyUSB0", properties=MARKED)
        self.assert_said(receiver, 1, f"listening on {node}")
        receiver.process.send_signal(signal.SIGSTOP)
        self.testbed.unplug("ttyUSB0")
        self.plug("ttyUSB0", properties=MARKED)
        receiver.process.send_signal(signal.SIGCONT)
        self.assert_said(receiver, 2, f"listening on {node}")
        self.assert_said(receiver, 1, f"{node} was unplugged")
        self.assert_served(self.radio_of(node), 1)

    def test_a_stranger_in_place_of_a_busy_radio(self):
        """A busy port is tried again, and is not opened if a stranger has taken its node."""
        receiver = self.discover()
        node = self.plug("ttyUSB0", serial="A1", is_busy=True, properties=MARKED)
        receiver.wait_for_error(f"{node} is in use by")
        receiver.process.send_signal(signal.SIGSTOP)
        self.testbed.unplug("ttyUSB0")
        stranger = self.plug("ttyUSB0", serial="A2", is_in_last_socket=True)
        time.sleep(1)  # The next attempt is due.
        receiver.process.send_signal(signal.SIGCONT)
        self.assert_never_opened(receiver, stranger)

    # Marks, names and numbers

    def test_the_mark_is_removed(self):
        receiver = self.discover("--events", "link")
        node = self.plug("ttyUSB0", properties=MARKED)
        receiver.wait_for_error(f"listening on {node}")
        line = self.line_of(node)
        self.testbed.set_property("ttyUSB0", "COLLAR_LINK", "0")
        self.assert_said(receiver, 1, f"{node} is not marked as a collar radio any more")
        self.assertNotIn(line, receiver.open_files)
        self.testbed.set_property("ttyUSB0", "COLLAR_LINK", "1")
        self.assert_said(receiver, 2, f"listening on {node}")
        self.assertNotIn("was unplugged", receiver.error_text)
        self.assertEqual(receiver.stop(), 0)
        self.assertEqual([line["event"] for line in receiver.fixes], ["opened", "closed", "opened"])

    def test_two_radios_of_one_serial_number(self):
        receiver = self.discover()
        nodes = [self.plug(name, serial="0001", properties=MARKED) for name in ("ttyUSB0", "ttyUSB1")]
        for node in nodes:
            receiver.wait_for_error(f"listening on {node}")
        self.assert_served(self.radio_of(nodes[0]), 1)
        self.testbed.unplug("ttyUSB0")
        self.assert_said(receiver, 1, f"{nodes[0]} was unplugged")
        self.assert_served(self.radio_of(nodes[1]), 2)
        self.assertNotIn(f"{nodes[1]} was unplugged", receiver.error_text)
        self.assertEqual(receiver.stop(), 0)
        self.assert_each_once(receiver.fixes, 2)

    def test_twenty_replugs(self):
        """Nothing is lost or said twice, whatever node the radio gets."""
        receiver = self.discover("--events", "fix,link")
        for count in range(1, 21):
            name = f"ttyUSB{count % 3}"
            node = self.plug(name, properties=MARKED)
            wait_until(lambda: receiver.error_text.count("listening on") == count, 10, f"opening {count}")
            self.assert_served(self.radio_of(node), count)
            self.testbed.unplug(name)
            self.assert_said(receiver, count, "was unplugged")
        self.assertEqual(receiver.stop(), 0)
        self.assert_each_once([line for line in receiver.fixes if line["type"] == "fix"], 20)
        ports = [line["event"] for line in receiver.fixes if line["type"] == "link" and "collar" not in line]
        self.assertEqual(ports, 20 * ["opened", "unplugged"])

    def test_a_named_port_whose_radio_returns_at_another_node(self):
        node = self.plug("ttyUSB0", serial="A1")
        receiver = self.discover("--port", node)
        receiver.wait_for_error(f"listening on {node}")
        self.assert_served(self.radio_of(node), 1)
        self.testbed.unplug("ttyUSB0")
        receiver.wait_for_error(f"{node} was unplugged")
        stranger = self.plug("ttyUSB2", serial="A2")
        other = self.plug("ttyUSB1", serial="A1")
        receiver.wait_for_error(f"listening on {other}, where the radio of {node} is now")
        self.assert_served(self.radio_of(other), 2)
        self.assertEqual(drain(self.testbed.master_fd(stranger)), b"")
        # And back to its own node.
        self.testbed.unplug("ttyUSB1")
        self.assert_said(receiver, 2, f"{node} was unplugged")
        self.plug("ttyUSB0", serial="A1")
        self.assert_said(receiver, 2, f"listening on {node}.\n")
        self.assert_served(self.radio_of(node), 3)
        self.assertEqual(receiver.stop(), 0)
        self.assert_each_once(receiver.fixes, 3)

    def test_a_stranger_at_the_node_of_a_named_port(self):
        """The user named the radio that was there. A stranger that takes its node is not opened, and the radio is followed."""
        node = self.plug("ttyUSB0", serial="A1")
        receiver = self.discover("--port", node)
        receiver.wait_for_error(f"listening on {node}")
        self.testbed.unplug("ttyUSB0")
        receiver.wait_for_error(f"{node} was unplugged")
        stranger = self.plug("ttyUSB0", serial="A2", model="Puck", is_in_last_socket=True)
        receiver.wait_for_error(f"{node} is another device now, which is not opened")
        for count in range(1, 3):
            other = self.plug("ttyUSB1", serial="A1")
            self.assert_said(receiver, count, f"listening on {other}, where the radio of {node} is now")
            self.assert_served(self.radio_of(other), count)
            self.assertNotIn(self.line_of(stranger), receiver.open_files)
            self.testbed.unplug("ttyUSB1")
            self.assert_said(receiver, count + 1, f"{node} was unplugged")
        self.assertEqual(drain(self.testbed.master_fd(stranger)), b"", "something was written to a stranger")
        self.assert_said(receiver, 1, "is another device now")

    def test_another_radio_at_the_node_of_a_named_port(self):
        """A marked radio in the place of the one that was there is opened."""
        node = self.plug("ttyUSB0", serial="A1")
        receiver = self.discover("--port", node)
        receiver.wait_for_error(f"listening on {node}")
        self.testbed.unplug("ttyUSB0")
        receiver.wait_for_error(f"{node} was unplugged")
        self.plug("ttyUSB0", serial="A2", properties=MARKED)
        self.assert_said(receiver, 2, f"listening on {node}.\n")
        self.assert_served(self.radio_of(node), 1)


@unittest.skipUnless(can_replace_run(), "needs user namespaces")
class UdevdTest(SerialLineTest):
    """Receivers that see more or less of udevd."""

    def store(self, number, *properties, since=None):
        """Writes what udevd knows of a device, as udevd does: into a file that it renames. `since` is when it examined the device, in
        seconds after the start of the machine."""
        path = self.path(f"run/udev/data/c{number}")
        with open(f"{path}.new", "w", encoding="ascii") as file:
            if since is not None:
                file.write(f"I:{int(since * 1e6)}\n")
            file.write("".join(f"E:{each}\n" for each in properties))
        os.chmod(f"{path}.new", 0o644)
        os.rename(f"{path}.new", path)

    def forget(self, number):
        os.remove(self.path(f"run/udev/data/c{number}"))

    def test_in_another_network_namespace(self):
        """Without udevd's events, its files show that radios come and go."""
        receiver = self.discover(udevd="elsewhere")
        receiver.wait_for_error("do not reach this network namespace")
        for count in range(1, 4):
            node = self.plug("ttyUSB0")
            time.sleep(0.2)
            self.assert_said(receiver, count - 1, f"listening on {node}")
            self.store("188:0", "ID_BUS=usb", "COLLAR_LINK=1")
            self.assert_said(receiver, count, f"listening on {node}")
            self.assert_served(self.radio_of(node), count)
            self.testbed.unplug("ttyUSB0")
            self.forget("188:0")
            self.assert_said(receiver, count, f"{node} was unplugged")
        self.assertEqual(receiver.stop(), 0)
        self.assert_said(receiver, 1, "do not reach this network namespace")
        self.assert_each_once(receiver.fixes, 3)

    def test_in_a_container_that_does_not_see_udevd(self):
        """The advice is one that can be followed: no mark would be seen."""
        node = self.plug("ttyUSB0", model="Puck")
        receiver = self.discover(udevd="nowhere")
        receiver.wait_for_error("waiting for one")
        receiver.wait_for_error("-v /run/udev:/run/udev:ro")
        for text in (node, "--network host", "--port"):
            self.assertIn(text, receiver.error_text)
        for text in ("COLLAR_LINK=1", "collar-link mark"):
            self.assertNotIn(text, receiver.error_text)

    def start_at_a_refused_port(self, is_known_since=None):
        """Starts a receiver at a port that nobody may open yet, while udevd is busy with it: it handles events, or it knows only a
        device since `is_known_since`, in seconds after the start of the machine. Returns the node and the receiver."""
        node = self.plug("ttyUSB0", mode=0)
        command = self.with_udevd("here")
        if is_known_since is None:
            self.store("188:0", "ID_BUS=usb")
            with open(self.path("run/udev/queue"), "w", encoding="ascii"):
                pass
        else:
            self.store("188:0", "ID_BUS=usb", since=is_known_since)
            self.testbed.set_attribute(self.testbed.usb_device("ttyUSB0"), "power/connected_duration", "500")
        receiver = self.start(
            [*command, BINARY, "--state-dir", self.state, "--port", node], environment=self.environment)
        time.sleep(1.5)
        self.assertEqual(receiver.error_text, "")
        self.assertIsNone(receiver.process.poll())
        return node, receiver

    def test_udevd_is_late_with_the_permissions(self):
        """While udevd handles events, a refused port is no fault."""
        node, receiver = self.start_at_a_refused_port()
        os.chmod(self.line_of(node), 0o600)
        receiver.wait_for_error(f"listening on {node}")
        self.assertNotIn("may", receiver.error_text)

    def test_udevd_knows_only_an_earlier_device(self):
        """What udevd has set for an earlier device with the same number says nothing about this one."""
        now = time.clock_gettime(time.CLOCK_MONOTONIC)
        node, receiver = self.start_at_a_refused_port(is_known_since=now - 60)
        self.store("188:0", "ID_BUS=usb", since=time.clock_gettime(time.CLOCK_MONOTONIC))
        self.assertEqual(receiver.wait(5), 77, receiver.error_text)
        self.assertIn(node, receiver.error_text)

    def test_udevd_has_finished_without_permissions(self):
        """When udevd has finished, the refusal is reported, and ends the receiver."""
        node, receiver = self.start_at_a_refused_port()
        os.remove(self.path("run/udev/queue"))
        self.assertEqual(receiver.wait(5), 77, receiver.error_text)
        self.assertIn(node, receiver.error_text)


if __name__ == "__main__":
    unittest.main()
