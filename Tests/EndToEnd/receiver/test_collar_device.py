"""A simulated collar with the firmware's own decisions: it throttles, warns, stops and starts, and nothing of it is lost."""

import json
import math
import unittest

import jsonschema

from end_to_end import BINARY, ROOT, EndToEndTest

STATUS = jsonschema.Draft202012Validator(json.loads((ROOT / "Protocol/schema/status.schema.json").read_text()))


class CollarDeviceTest(EndToEndTest):
    def play(self, seconds, *arguments):
        """Plays a minute of walk and two of rest in alternation, in virtual time. Returns fixes, statuses and stderr."""
        receiver = self.receive("--events", "fix,status")
        # A duty cycle keeps the pauses between fixes, which virtual time would skip.
        collar = self.start(
            [BINARY, "simulate", "--walk", f"60/120/{seconds}", "--link", self.link, "--speed", "max", "--duty-cycle", "100",
             "--until-delivered", "--seed", "3", *arguments])
        self.assertEqual(collar.wait(120), 0, collar.error_text)
        self.assertEqual(receiver.stop(), 0)
        lines = receiver.fixes
        fixes = sorted((line for line in lines if line["type"] == "fix"), key=lambda fix: fix["seq"])
        statuses = [line for line in lines if line["type"] == "status"]
        for status in statuses:
            STATUS.validate(status)
        self.assert_each_once(fixes, len(fixes))
        return fixes, statuses, collar.errors

    def test_a_battery_that_runs_down(self):
        """From 23 % the charge falls by 1 % a minute: the collar makes fewer fixes, warns twice and tells it."""
        fixes, statuses, errors = self.play(1200, "--battery", "23/60", "--noise", "1")
        signals = [line.split(" gives a signal: ")[-1].rstrip(".\n") for line in errors if "gives a signal" in line]
        self.assertEqual(signals, ["warning", "warning"])
        # At first the budget of the duty cycle is empty.
        states = [status["throttle"] for status in statuses if status["throttle"] != "duty_cycle"]
        self.assertEqual([state for place, state in enumerate(states) if place == 0 or states[place - 1] != state],
                         ["none", "low_battery", "critical_battery"])
        # Above 20.5 % a fix a second, below that one every five seconds.
        good = [fix for fix in fixes if fix["battery_pct"] > 20]
        self.assertAlmostEqual(len(good), 150, delta=2)
        self.assertAlmostEqual(len(fixes) - len(good), (1200 - 150) / 5, delta=2)
        intervals = [(after["ts_unix_ms"] - before["ts_unix_ms"]) for before, after in zip(fixes, fixes[1:])]
        self.assertEqual(set(intervals[:140]), {1000})
        self.assertEqual(set(intervals[155:]), {5000})
        self.assertTrue(any("not made" in line for line in errors), errors)
        self.assertTrue(all(3300 <= status["battery_mv"] <= 4200 for status in statuses if status["battery_mv"]), statuses)

    def test_motion(self):
        """The error of the receiver is as large as it is meant to be, and a resting collar is told from a walking one."""
        exact = self.play(400, "--battery", "90")[0]
        self.state = self.path("noisy")
        noisy, _, errors = self.play(400, "--battery", "90", "--noise", "3")
        self.assertEqual(len(exact), 400)
        self.assertEqual(len(noisy), 400)
        self.assertFalse([line for line in errors if "gives a signal" in line])
        squares = [((there["coordinate"]["latitude"] - here["coordinate"]["latitude"]) * 111_195) ** 2
                   for here, there in zip(exact, noisy)]
        self.assertTrue(1 < math.sqrt(sum(squares) / len(squares)) < 6)
        self.assertEqual({fix["speed_mps"] for fix in exact}, {0, 1.4})

    def test_the_button(self):
        """A long press stops the collar, another starts it; a short one makes a fix in between. Their times count, not their order."""
        fixes, statuses, errors = self.play(
            720, "--battery", "90", "--button", "long@600", "--button", "long@300", "--button", "short@420")
        signals = [line.split(" gives a signal: ")[-1].rstrip(".\n") for line in errors if "gives a signal" in line]
        self.assertEqual(signals, ["stop", "success", "start"])
        start = fixes[0]["ts_unix_ms"]
        seconds = [(fix["ts_unix_ms"] - start) / 1000 for fix in fixes]
        between = [second for second in seconds if 302 < second < 599]
        self.assertEqual(len(between), 1, between)
        self.assertAlmostEqual(between[0], 420, delta=2)
        self.assertTrue(any(not status["tracking"] and status["gnss"] == "off" for status in statuses), statuses)
        self.assertTrue(statuses[-1]["tracking"], statuses)

    def test_wrong_options(self):
        for option, value in (("--walk", "60/120"), ("--walk", "-1/2/3"), ("--walk", "1/2/0"), ("--battery", "101"),
                              ("--battery", "50/-1"), ("--battery", "1/2/3"), ("--button", "long"),
                              ("--button", "triple@3"), ("--button", "long@x")):
            with self.subTest(option=option, value=value):
                walk = [] if option == "--walk" else ["--walk", "1/1/1"]
                program = self.start([BINARY, "simulate", *walk, option + "=" + value])
                self.assertEqual(program.wait(5), 64)
                self.assert_one_message(program)


if __name__ == "__main__":
    unittest.main()
