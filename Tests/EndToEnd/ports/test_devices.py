"""`collar-link devices`, with simulated adapters. Run these tests under umockdev-wrapper, as Tools/test does."""

import json
import unittest

import jsonschema

from end_to_end import BINARY, ROOT
from hotplug import MARKED, SimulatedMachineTest, can_replace_run

SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "Protocol/schema/serial_device.schema.json").read_text()))


class DevicesTest(SimulatedMachineTest):
    def devices(self, *arguments):
        return self.start([BINARY, "devices", *arguments], environment=self.environment)

    def test_lists(self):
        """`devices` lists radios first and opens nothing."""
        self.plug("ttyUSB0", serial="A1")
        self.plug("ttyUSB1", serial="A2", properties=MARKED)
        listing = self.devices("-F", "json")
        self.assertEqual(listing.wait(5), 0, listing.error_text)
        self.assertEqual([(device["node"], device["collar_radio"]) for device in listing.fixes],
                         [("/dev/ttyUSB1", True), ("/dev/ttyUSB0", False)])
        for device in listing.fixes:
            SCHEMA.validate(device)
            self.assertNotIn("event", device)
        text = self.devices()
        self.assertEqual(text.wait(5), 0)
        self.assertTrue(text.lines[0].startswith("* /dev/ttyUSB1"), text.lines)
        for other in (["-F", "csv"], ["--json"]):
            self.assertEqual(self.devices(*other).wait(5), 64)

    def test_watches(self):
        """Each change is a line, at once."""
        self.plug("ttyUSB0", serial="A1")
        watch = self.devices("--watch", "-F", "json")
        watch.wait_for_lines(1)
        self.plug("ttyUSB1", serial="A2")
        watch.wait_for_lines(2)
        self.testbed.set_property("ttyUSB1", "COLLAR_LINK", "1")
        watch.wait_for_lines(3)
        self.testbed.unplug("ttyUSB0")
        watch.wait_for_lines(4)
        self.assertEqual(watch.stop(), 0, watch.error_text)
        self.assertEqual(
            [(line["event"], line["node"], line["collar_radio"]) for line in watch.fixes],
            [("present", "/dev/ttyUSB0", False), ("added", "/dev/ttyUSB1", False), ("changed", "/dev/ttyUSB1", True),
             ("removed", "/dev/ttyUSB0", False)])
        times = [line["unix_ms"] for line in watch.fixes]
        self.assertEqual(times, sorted(times))
        for line in watch.fixes:
            SCHEMA.validate(line)
        self.assertEqual(watch.error_text, "")

    def test_watches_for_people(self):
        watch = self.devices("--watch")
        watch.wait_for_error("There is no serial device.")
        node = self.plug("ttyUSB0", serial="A1")
        watch.wait_for_error(f"If {node} is a collar radio")
        self.testbed.unplug("ttyUSB0")
        watch.wait_for_lines(2)
        self.assertEqual(watch.stop(), 0)
        self.assertRegex(watch.lines[0], f"^plugged in: .*{node}.*A1")
        self.assertRegex(watch.lines[1], f"^pulled out: .*{node}")

    def test_a_radio_that_is_pulled_out_has_not_come(self):
        """After ten seconds without a new device, a message says that nothing was plugged in, although one was pulled out."""
        self.plug("ttyUSB0", serial="A1")
        watch = self.devices("--watch")
        watch.wait_for_lines(1)
        self.testbed.unplug("ttyUSB0")
        watch.wait_for_lines(2)
        watch.wait_for_error("Nothing was plugged in for 10 s.", 15)
        self.assertEqual(watch.stop(), 0)

    @unittest.skipUnless(can_replace_run(), "needs user namespaces")
    def test_the_advice_for_an_adapter(self):
        """An adapter that is not marked can be marked. Where udevd's data is not visible, no mark would be seen: its port can be
        named."""
        node = self.plug("ttyUSB0", serial="A1", model="Puck")
        for udevd, advice, other in (
                ("nowhere", f"collar-link --port {node}", "collar-link mark"), ("here", f"collar-link mark {node}", "--port")):
            command = [*self.with_udevd(udevd), BINARY, "devices"]
            for arguments in ([], ["--watch"]):
                with self.subTest(udevd=udevd, arguments=arguments):
                    program = self.start([*command, *arguments], environment=self.environment)
                    program.wait_for_error(advice)
                    self.assertNotIn(other, program.error_text)
            json_lines = self.start([*command, "-F", "json"], environment=self.environment)
            self.assertEqual(json_lines.wait(), 0)
            self.assertEqual(json_lines.error_text, "")
        self.testbed.set_property("ttyUSB0", "COLLAR_LINK", "1")
        marked = self.start(command, environment=self.environment)
        self.assertEqual(marked.wait(), 0)
        self.assertEqual((marked.lines[0][0], marked.error_text), ("*", ""))

    def test_asks_about_the_cable(self):
        """Somebody who plugs in a radio by a cable that only charges sees nothing happen. This takes ten seconds."""
        busy = self.devices("--watch")
        busy.wait_for_error("There is no serial device.")
        self.plug("ttyUSB0", serial="A1")
        busy.wait_for_lines(1)
        self.testbed.unplug("ttyUSB0")
        busy.wait_for_lines(2)
        quiet = self.devices("--watch")
        quiet.wait_for_error("Many cables only charge", 15)
        self.assertEqual(quiet.error_text.count("Many cables only charge"), 1)
        # Where something was plugged in, the cable is a good one.
        self.assertNotIn("charge", busy.error_text)


if __name__ == "__main__":
    unittest.main()
