"""A radio at a port that the user named is unplugged and plugged in again, more than once and in several ways."""

import fcntl
import os
import time
import unittest

from end_to_end import EndToEndTest, wait_until
from processes import processor_seconds
from radio import Radio
from serial_line import SerialLine

from session_parts import A

FIRST_RETRY = 1.0  # seconds until a busy port is tried again
LATE = 1.0  # seconds that a busy machine may add


class UnpluggingTest(EndToEndTest):
    def setUp(self):
        super().setUp()
        self.line = None
        self.fix_count = 0

    def plug(self, prepare=lambda line: None):
        """Plugs the radio in. `prepare` gets its line before any program can find it."""
        self.line = SerialLine()
        prepare(self.line)
        os.symlink(self.line.path, self.link)

    def unplug(self):
        os.unlink(self.link)
        self.line.close()
        self.line = None

    def begin(self, *arguments):
        self.addCleanup(lambda: self.line and self.line.close())
        self.plug()
        self.receiver = self.receive("--dialect", "serial", *arguments)
        self.assert_said(1, "listening on")

    def assert_said(self, count, text, seconds=5):
        wait_until(lambda: self.receiver.error_text.count(text) >= count, seconds, f"{text!r} {count} times")
        self.assertEqual(self.receiver.error_text.count(text), count, self.receiver.error_text)

    def assert_served(self):
        """Checks that the radio is served: a new fix is stored and acknowledged."""
        radio = Radio(self.line)
        radio.send(A.identity() + A.fix(self.fix_count))
        self.fix_count += 1
        self.assertEqual(radio.poll(A, self.fix_count)[0]["first_missing"], self.fix_count)

    def end(self):
        self.assertEqual(self.receiver.stop(), 0)
        self.assert_each_once([line for line in self.receiver.fixes if line["type"] == "fix"], self.fix_count)

    def test_again_and_again(self):
        self.begin("--events", "fix,link")
        self.assert_served()
        for count in range(1, 4):
            self.unplug()
            self.assert_said(count, "was unplugged")
            self.plug()
            self.assert_said(1 + count, "listening on")
            self.assert_served()
        self.end()
        # The message about the unplugging says that the port is waited for.
        self.assertNotIn("to appear", self.receiver.error_text)
        self.assertEqual([line["event"] for line in self.receiver.fixes if line["type"] == "link" and "collar" not in line],
                         ["opened"] + 3 * ["unplugged", "opened"])

    def test_a_link_that_leads_nowhere(self):
        """The link is there again before the node is, twice in a row."""
        self.begin()
        for count in (1, 2):
            self.unplug()
            self.assert_said(count, "was unplugged")
            os.symlink(self.path("node"), self.link)
            line = SerialLine()
            os.symlink(line.path, self.path("node"))
            self.line = line
            self.assert_said(1 + count, "listening on")
            self.assert_served()
            os.unlink(self.path("node"))
        self.end()

    def test_busy_when_it_comes_back(self):
        """Another program opens the port first. That is reported once, and the port is opened when it is free; twice in a row."""
        self.begin()
        for count in (1, 2):
            self.unplug()
            self.assert_said(count, "was unplugged")
            self.plug(lambda line: fcntl.flock(line.slave, fcntl.LOCK_EX))
            self.assert_said(count, f"{self.link} is in use by")
            busy = time.monotonic()
            if count == 1:
                # The second try fails as well, without a message.
                time.sleep(FIRST_RETRY + 0.3)
            self.assert_said(count, f"{self.link} is in use by")
            fcntl.flock(self.line.slave, fcntl.LOCK_UN)
            self.assert_said(1 + count, "listening on", 8)
            if count == 2:
                self.assertLess(time.monotonic() - busy, FIRST_RETRY + LATE, "the first try after an unplugging comes soon")
            self.assert_served()
        self.end()

    def test_before_anybody_spoke(self):
        """The messages that no collar has identified itself are not written while the port is gone. Each opening restarts their timers."""
        self.begin()
        self.unplug()
        self.assert_quiet(1.5)
        self.assertNotIn("has identified itself", self.receiver.error_text)
        self.plug()
        self.assert_said(1, "has identified itself for 1 s")
        self.unplug()
        self.assert_quiet(4.5)
        self.assert_said(1, "has identified itself")
        before_opening = time.monotonic()
        self.plug()
        self.assert_said(3, "listening on")
        self.assert_said(1, "has identified itself for 5 s", 8)
        self.assertGreaterEqual(time.monotonic() - before_opening, 5)
        self.assert_said(2, "has identified itself for 1 s")
        self.assert_served()
        self.end()

    def assert_quiet(self, seconds):
        """Checks that the receiver does nothing for a time."""
        self.assert_said(self.receiver.error_text.count("listening on"), "was unplugged")
        before = processor_seconds(self.receiver.pid)
        time.sleep(seconds)
        self.assertLess(processor_seconds(self.receiver.pid) - before, 0.1)


if __name__ == "__main__":
    unittest.main()
