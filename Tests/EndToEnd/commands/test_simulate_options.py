"""The options of `simulate`: accepted values, and their effect on the simulated collar."""

import json
import os
import pathlib
import subprocess
import unittest

from end_to_end import BINARY, ORDINARY_USER, EndToEndTest, child_environment

LORA = ("--dialect", "kiss", "--modem", "lora:SF7")


class OptionTest(EndToEndTest):
    """With valid options, the error is that of the missing track."""

    def call(self, *arguments, code):
        done = subprocess.run([BINARY, "simulate", *arguments], capture_output=True, text=True, timeout=20, check=False,
                              env=child_environment(), cwd=self.folder, **ORDINARY_USER)
        self.assertEqual(done.returncode, code, f"{arguments}: {done.stderr}")
        return done.stderr

    def assert_taken(self, *arguments):
        with self.subTest(arguments=arguments):
            self.assertIn("missing cannot be opened", self.call("--track", "missing", *arguments, code=66))

    def assert_refused(self, *arguments, says):
        with self.subTest(arguments=arguments):
            self.assertIn(says, self.call("--track", "missing", *arguments, code=64))

    def test_numbers(self):
        for option, good, bad in (
                ("--collars", ("1", "64"), ("0", "65")), ("--seed", ("0", "9223372036854775807"), ("-1", "1.5")),
                ("--loss", ("0", "1"), ("-0.1", "1.1")), ("--corrupt", ("0", "1"), ("1.1",)), ("--noise", ("0", "1000"), ("1000.1", "-1")),
                ("--duty-cycle", ("0.01", "100"), ("0.009", "101", "0")), ("--speed", ("0.001", "1e6", "max"), ("0", "1e7", "Max")),
                ("--interval", ("0.001", "1e6"), ("0", "1e7")), ("--request", ("0.001", "1e6"), ("0", "1e7")),
                ("--battery", ("0", "100", "100/200", "25.5/10"), ("101", "25/", "/10", "1/2/3", "-1")),
                ("--drift", ("0", "1000"), ("-1", "1001", "x")),
                ("--modem", ("serial", "ble", "lora:SF7", "lora:SF12"), ("lora:SF6", "lora:SF13", "lora")),
                ("--button", ("short@0", "double@1.5", "long@1e6"), ("short", "shot@1", "short@", "short@1000001", "@1"))):
            for value in good:
                self.assert_taken(f"{option}={value}")
            for value in bad:
                self.assert_refused(f"{option}={value}", says=f"`{option}` takes ")

    def test_several_collars_on_a_channel(self):
        lora = ("--modem", "lora:SF7")
        for option, good, bad in (("--phases", ("random", "same", "even"), ("odd",)), ("--hidden", ("0", "0.5", "1"), ("-0.1", "1.1"))):
            for value in good:
                self.assert_taken(*lora, "--collars", "2", f"{option}={value}")
            for value in bad:
                self.assert_refused(*lora, "--collars", "2", f"{option}={value}", says=f"`{option}` takes ")
            self.assert_refused(*lora, f"{option}={good[0]}", says=f"`{option}` goes with `--collars`.")
        self.assert_refused(*lora, "--capture", says="`--capture` goes with `--collars`.")
        self.assert_taken(*lora, "--collars", "2", "--capture", "--no-sensing")
        for option in (("--hidden", "0.5"), ("--capture",), ("--no-sensing",)):
            for modem in ("serial", "ble"):
                self.assert_refused("--modem", modem, "--collars", "2", *option, says=f"`{option[0]}` needs a LoRa modem")

    def test_bursts_are_as_long_as_the_loss_demands(self):
        self.assert_taken("--burst", "1", "--loss", "0.5")
        for burst, loss in (("3", "0.75"), ("4", "0.8"), ("9", "0.9"), ("99", "0.99")):
            self.assert_taken("--burst", burst, "--loss", loss)
        self.assert_taken("--burst", "1000")
        for burst, loss in (("1", "0.6"), ("2.9", "0.75"), ("1000", "1")):
            self.assert_refused("--burst", burst, "--loss", loss, says="is too short")
        for burst in ("0.9", "1001"):
            self.assert_refused("--burst", burst, says="`--burst` takes ")

    def test_sticks_and_their_modems(self):
        for dialect in ("kiss", "rnode", "rui3"):
            for modem in ("serial", "ble"):
                self.assert_refused("--dialect", dialect, "--modem", modem, says=f"`--dialect {dialect}` needs a LoRa modem")
            for speed in ("2", "0.5"):
                self.assert_refused("--dialect", dialect, "--modem", "lora:SF9", "--speed", speed, says="keeps its own times")
            for speed in ("1", "max"):
                self.assert_taken("--dialect", dialect, "--modem", "lora:SF9", "--speed", speed)
        self.assert_taken("--dialect", "serial", "--modem", "lora:SF9", "--speed", "2")

    def test_releases_and_faults_of_the_dialect(self):
        for dialect, taken, refused in (("kiss", "1.17.1", "4.0.1"), ("rnode", "1.86", "1.16"),
                                        ("rui3", "3.4.2", "1.86"), ("serial", None, "1.13")):
            options = ("--dialect", dialect, "--modem", "lora:SF7", "--stick-release")
            if taken:
                self.assert_taken(*options, taken)
            self.assert_refused(*options, refused, says=f"`--stick-release` takes no '{refused}'")
        faults = {"serial": {"stall", "garbage"}, "kiss": {"stall", "garbage", "reset", "refuse", "busy", "full", "stuck"}}
        for dialect, own in faults.items():
            for fault in sorted(faults["kiss"]):
                options = ("--dialect", dialect, "--modem", "lora:SF7", "--stick-fault", f"{fault}@1")
                if fault in own:
                    self.assert_taken(*options)
                else:
                    self.assert_refused(*options, says=f"`--stick-fault` takes no '{fault}@1'")
        self.assert_refused(*LORA, "--stick-fault", "stall@1", "--stick-fault", "reset",
                            says="`--stick-fault` takes KIND@SECONDS, not 'reset'.")

    def test_walks(self):
        for text in ("60/120", "1/2/3/4", "0/0/0", "1/1/1000001", "1/-1/9", "1//9", "1/1/x"):
            with self.subTest(text=text):
                self.assertIn(f"not '{text}'.", self.call("--walk", text, code=64))
        self.assertIn("needs a track", self.call("--seed", "1", code=64))

    def test_one_cable_leads_to_one_collar(self):
        self.assert_taken("--cable", "x", "--collars", "1")
        self.assert_refused("--cable", "x", "--collars", "3", says="`--cable` and `--collars 3` exclude each other.")

    def test_a_link_replaces_no_file(self):
        for option in ("--link", "--cable"):
            path = pathlib.Path(self.path("file"))
            path.write_text("mine", "ascii")
            self.assertIn(f"`{option}` cannot be done: ", self.call("--walk", "1/1/9", option, "file", code=73))
            self.assertEqual(path.read_text("ascii"), "mine")


class CollarTest(EndToEndTest):
    def received(self, *arguments, count):
        """The first fixes of a simulation, whose line of counts is `self.counts`."""
        state = self.path(f"state of {len(os.listdir(self.folder))}")
        collar = self.start([BINARY, "simulate", "--link", self.link, "--speed", "max", "--stats", *arguments])
        collar.wait_for_lines(1)
        receiver = self.receive("-n", str(count), state=state)
        self.assertEqual(receiver.wait(), 0, receiver.error_text)
        self.assertEqual(collar.stop(), 0, collar.error_text)
        self.counts = json.loads(collar.errors[-1])
        return receiver.fixes

    def track_file(self, name, *fixes):
        return self.write_track(name, [json.dumps({"seq": number, "ts_unix_ms": milliseconds, "lat": latitude, "lon": 2}).encode() + b"\n"
                                       for number, (milliseconds, latitude) in enumerate(fixes)])[0]

    def test_a_charge_falls_from_where_it_starts(self):
        fixes = self.received("--walk", "1/0/4", "--battery", "90/3600", count=4)
        self.assertEqual([(fix["ts_unix_ms"] % 1000, fix["battery_pct"]) for fix in sorted(fixes, key=lambda fix: fix["seq"])],
                         [(0, 90), (0, 89), (0, 88), (0, 87)])

    def test_every_collar_has_a_flash_and_counts_of_its_own(self):
        fixes = self.received("--walk", "1/0/3", "--collars", "2", "--flash", self.path("flash"), "--seed", "1", count=6)
        self.assertEqual(sorted(name for name in os.listdir(self.folder) if name.startswith("flash")), ["flash-1", "flash-2"])
        ids = [each["collar"] for each in self.counts["collars"]]
        self.assertEqual(ids[0], "910a2dec89025cc1")
        self.assertEqual({fix["collar"] for fix in fixes}, set(ids))
        self.assertEqual(len({fix["log"] for fix in fixes}), 2)
        for key in ("uplink_frames", "uplink_bytes"):
            self.assertEqual(self.counts[key], sum(each[key] for each in self.counts["collars"]), key)
            self.assertGreater(self.counts[key], 0, key)

    def test_another_track_has_another_log(self):
        """Logs with one id must have the same fixes."""
        tracks = {"first": ((1000, 1), (2000, 1)), "same": ((1000, 1), (2000, 1)),
                  "later": ((1000, 1), (3000, 1)), "north": ((1000, 1), (2000, 1.1))}
        logs = {name: self.received("--track", self.track_file(name, *fixes), "--seed", "4", count=2)[0]["log"]
                for name, fixes in tracks.items()}
        self.assertEqual(logs["same"], logs["first"])
        self.assertEqual(len(set(logs.values())), 3, logs)

    def test_buttons_are_pressed_in_the_order_of_their_times(self):
        presses = [word for press in ("long@0.5", "long@0.9", "double@0.1") for word in ("--button", press)]
        collar = self.start([BINARY, "simulate", "--walk", "1/0/9", *presses])
        collar.wait_for_error("a signal: start")
        self.assertEqual([line.split(": ")[-1] for line in collar.errors[1:]], ["success.\n", "stop.\n", "start.\n"])


if __name__ == "__main__":
    unittest.main()
