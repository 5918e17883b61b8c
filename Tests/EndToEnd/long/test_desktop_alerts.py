"""The recipe that shows alerts on the desktop, with notify-send and a notification daemon on a bus of its own."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from end_to_end import EndToEndTest, child_environment, wait_until
from servers import RECIPES, ordinary

# python3-dbusmock belongs to Debian's Python.
PYTHON = "/usr/bin/python3"
IS_HERE = all(map(shutil.which, ("dbus-daemon", "notify-send"))) and subprocess.run(
    [PYTHON, "-c", "import dbusmock"], capture_output=True, check=False).returncode == 0


@unittest.skipUnless(IS_HERE, "needs dbus-daemon, notify-send and python3-dbusmock, which Tools/check installs")
class DesktopTest(EndToEndTest):
    def setUp(self):
        super().setUp()
        bus, self.log = self.path("bus"), pathlib.Path(self.path("notifications"))
        self.environment = child_environment(DBUS_SESSION_BUS_ADDRESS=f"unix:path={bus}")
        self.start(["dbus-daemon", "--session", "--nofork", "--nopidfile", f"--address=unix:path={bus}"])
        wait_until(lambda: os.path.exists(bus), 10, "the bus is there")
        self.daemon = self.start([PYTHON, "-m", "dbusmock", "--session", "-t", "notification_daemon", "-l", str(self.log)],
                                 environment=self.environment)

    def show(self, *alerts):
        lines = "".join(json.dumps({"type": "alert", "id": "1", **alert}) + "\n" for alert in alerts)
        return subprocess.run(ordinary([str(RECIPES / "alerts/notify")]), input=lines, text=True, capture_output=True, check=False,
                              env=self.environment, timeout=60)

    def test_alerts_are_shown(self):
        wait_until(lambda: self.show({"alert": "entered", "text": "first"}).returncode == 0, 10, "the daemon shows an alert")
        done = self.show(
            {"alert": "left", "text": "Athena left home"}, {"alert": "near", "text": "-Zeus & <b>Co</b>"},
            {"alert": "left", "text": "at night", "quiet": True})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        shown = re.findall(r'Notify "collar-link" 0 "" "(.*)" "" \[\] {"urgency": (\d)', self.log.read_text("utf-8"))
        self.assertEqual(shown[-3:], [("Athena left home", "2"), ("-Zeus & <b>Co</b>", "1"), ("at night", "0")])
        # Without a daemon the batch is repeated.
        self.daemon.stop()
        done = self.show({"alert": "left", "text": "Athena left home"})
        self.assertEqual(done.returncode, 1)
        self.assertIn("notify: the desktop has not taken the alert", done.stderr)


if __name__ == "__main__":
    unittest.main()
