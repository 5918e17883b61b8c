"""The recipe that sends a collar other settings by the time of day."""

import os
import subprocess
import unittest

from end_to_end import ROOT, EndToEndTest

PLAN = os.path.join(ROOT, "Tools", "recipes", "plan", "plan")
# Stands for collar-link: writes its arguments into a file, and ends with the code in a variable.
STAND_IN = """#!/bin/sh
printf '%s\\n' "$@" > "$SENT"
exit "${CODE:-0}"
"""
# Stands for date: tells the time in a variable.
CLOCK = """#!/bin/sh
echo "$TIME"
"""


class PlanTest(EndToEndTest):
    def setUp(self):
        super().setUp()
        for name, text in [("collar-link", STAND_IN), ("date", CLOCK)]:
            path = self.path(name)
            with open(path, "w") as file:
                file.write(text)
            os.chmod(path, 0o755)
        self.sent = self.path("sent")

    def plan(self, text, time, *arguments, code=0):
        path = self.path("cat.plan")
        with open(path, "w") as file:
            file.write(text)
        environment = dict(
            os.environ, PATH=os.path.dirname(path) + ":" + os.environ["PATH"], TIME=time, SENT=self.sent, CODE=str(code))
        return subprocess.run([PLAN, path, *arguments], env=environment, capture_output=True, text=True, timeout=20)

    def settings(self, text, time, *arguments, code=0):
        ended = self.plan(text, time, *arguments, code=code)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        with open(self.sent) as file:
            return file.read().split()

    DAY = "# by day and at night\n06:00  fix_interval_ms=180000 heartbeat_s=300\n\n22:00 fix_interval_ms=3600000 # asleep\n"

    def test_the_settings_of_the_present_time_are_sent(self):
        day = ["send", "--latest", "settings", "set", "fix_interval_ms=180000", "heartbeat_s=300"]
        night = ["send", "--latest", "settings", "set", "fix_interval_ms=3600000"]
        for time, expected in [
            ("06:00", day), ("12:30", day), ("21:59", day), ("22:00", night), ("23:59", night), ("00:00", night), ("05:59", night),
        ]:
            with self.subTest(time=time):
                self.assertEqual(self.settings(self.DAY, time), expected)

    def test_options_go_to_send_and_a_waiting_request_is_no_failure(self):
        sent = self.settings(self.DAY, "08:00", "--collar", "Athena", code=75)
        self.assertEqual(sent[:4], ["send", "--latest", "--collar", "Athena"])
        self.assertEqual(self.plan(self.DAY, "08:00", code=77).returncode, 77)

    def test_faults_of_the_file_are_named_with_their_line(self):
        for text, words in [
            ("6:00 heartbeat_s=30\n", "line 1: '6:00' is no time"),
            ("# x\n24:00 heartbeat_s=30\n", "line 2: '24:00' is no time"),
            ("06:00\n", "line 1: no settings"),
            ("22:00 heartbeat_s=30\n06:00 heartbeat_s=60\n", "line 2: 06:00 is not after 22:00"),
            ("# nothing\n", "has no line"),
        ]:
            with self.subTest(text=text):
                ended = self.plan(text, "12:00")
                self.assertEqual(ended.returncode, 65)
                self.assertIn(words, ended.stderr)
                self.assertFalse(os.path.exists(self.sent))


if __name__ == "__main__":
    unittest.main()
