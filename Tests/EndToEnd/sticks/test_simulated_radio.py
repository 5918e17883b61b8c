"""A simulated collar over each kind of modem, with a duty cycle and with losses in runs, delivers every fix once."""

import json
import os
import unittest

from end_to_end import BINARY, TRACKS, EndToEndTest

TRACK = TRACKS / "cats_uk/Amber-Tag.ndjson.gz"


class SimulatedRadioTest(EndToEndTest):
    def deliver(self, name, *arguments):
        """Runs a simulation until its track is delivered. Returns its counts."""
        track, sent = self.unpack(TRACK)
        receiver = self.receive("-q", state=self.path(f"state-{name}"))
        collar = self.simulate(track, *arguments, "--speed", "max", "--seed", "1", "--until-delivered", "--stats")
        self.assertEqual(collar.wait(120), 0, collar.error_text)
        self.assertEqual(receiver.stop(), 0)
        self.assert_each_once(receiver.fixes, len(sent))
        return json.loads(collar.errors[-1])

    def test_modems(self):
        airtime = {}
        for modem in ("serial", "ble", "lora:SF7", "LORA:sf9"):
            with self.subTest(modem=modem):
                counts = self.deliver(modem.replace(":", "-"), "--modem", modem, "--loss", "0.2")
                self.assertGreater(counts["uplink_frames"], 0)
                self.assertGreater(counts["downlink_airtime_ms"], 0)
                self.assertGreater(counts["over_bound"], 0)
                airtime[modem] = counts["airtime_ms"] / counts["uplink_bytes"]
        self.assertEqual(sorted(airtime, key=airtime.get), ["ble", "serial", "lora:SF7", "LORA:sf9"])

    def test_a_link_in_place_of_a_file(self):
        """--link replaces a link to a terminal or to nothing, but nothing else; simulate removes only its own link."""
        track = self.unpack(TRACK)[0]
        os.mkdir(self.path("folder"))
        for name, make in (("file", lambda path: open(path, "x", encoding="ascii").close()), ("folder", lambda path: None),
                           ("link", lambda path: os.symlink(track, path))):
            with self.subTest(there=name):
                path = self.path(name)
                make(path)
                before = os.lstat(path)
                program = self.start([BINARY, "simulate", "--track", track, "--link", path])
                self.assertEqual(program.wait(5), 73)
                self.assert_one_message(program)
                self.assertEqual(os.lstat(path).st_ino, before.st_ino)
        os.symlink(self.path("nothing"), self.link)
        killed = self.simulate(track)
        killed.kill_now()
        again = self.simulate(track)
        self.assertEqual(os.readlink(self.link) + "\n", again.lines[0])
        os.unlink(self.link)
        os.symlink(track, self.link)
        self.assertEqual(again.stop(), 0)
        self.assertEqual(os.readlink(self.link), track)

    def test_duty_cycle(self):
        free = self.deliver("free", "--modem", "lora:SF7", "--interval", "10")
        bound = self.deliver("bound", "--modem", "lora:SF7", "--interval", "10", "--duty-cycle", "0.1")
        # Fixes that wait for airtime are sent together in batches.
        self.assertLess(bound["airtime_ms"], free["airtime_ms"] / 2)

    def test_losses_in_runs(self):
        self.deliver("burst", "--loss", "0.3", "--burst", "4")

    def test_three_collars(self):
        for modem in ("serial", "lora:SF7"):
            with self.subTest(modem=modem):
                track, sent = self.unpack(TRACK)
                name = modem.replace(":", "-")
                receiver = self.receive("-q", state=self.path(f"state-{name}"))
                collars = self.simulate(
                    track, "--collars", "3", "--modem", modem, "--interval", "10", "--phases", "same", "--loss", "0.2", "--speed", "max",
                    "--seed", "1", "--flash", self.path(f"flash-{name}"), "--until-delivered", "--stats")
                self.assertEqual(collars.wait(120), 0, collars.error_text)
                self.assertEqual(receiver.stop(), 0)
                counts = json.loads(collars.errors[-1])
                by_collar = {one["collar"]: [] for one in counts["collars"]}
                self.assertEqual(len(by_collar), 3)
                for fix in receiver.fixes:
                    by_collar[fix["collar"]].append(fix)
                for fixes in by_collar.values():
                    self.assert_each_once(fixes, len(sent))
                self.assertEqual(len({fix["id"] for fix in receiver.fixes}), 3 * len(sent))
                self.assertEqual(
                    sum(one["uplink_frames"] for one in counts["collars"]), counts["uplink_frames"])
                self.assertEqual(counts["collisions"] > 0, modem != "serial")
                for number in (1, 2, 3):
                    self.assertTrue(os.path.exists(self.path(f"flash-{name}-{number}")))

    def channel(self, count, *arguments):
        """Runs collars that make a fix a minute on a LoRa channel. Returns their counts, and what the frames say."""
        capture = self.path(f"capture-{count}")
        receiver = self.receive("-q", "-w", capture, state=self.path(f"state-{count}"))
        collars = self.start([
            BINARY, "simulate", "--walk", "1/0/6", "--interval", "60", "--link", self.link, "--collars", str(count), "--modem", "lora:SF7",
            "--speed", "max", "--seed", "1", "--until-delivered", "--stats", *arguments])
        self.assertEqual(collars.wait(60), 0, collars.error_text)
        self.assertEqual(receiver.stop(), 0)
        self.assertEqual(len({fix["id"] for fix in receiver.fixes}), 6 * count)
        decoded = self.start([BINARY, "decode", "-F", "text", capture])
        decoded.wait(20)
        return json.loads(collars.errors[-1]), "".join(decoded.lines)

    def test_collars_that_share_a_channel(self):
        counts, frames = self.channel(12, "--hidden", "0.5", "--capture", "--drift", "20")
        self.assertEqual(len({one["collar"] for one in counts["collars"]}), 12)
        self.assertGreater(counts["busy"], 0)
        for each in (counts, counts["second_half"], *counts["collars"]):
            self.assertLessEqual(each["delay_p50_ms"], each["delay_p95_ms"])
            self.assertLessEqual(each["delay_p95_ms"], each["delay_max_ms"])
            self.assertGreater(each["delay_p50_ms"], 0)
            self.assertLess(each["unpolled_frames"], each["uplink_frames"])
            self.assertAlmostEqual(each["collided_pct"], 100 * each["collisions"] / each["uplink_frames"], delta=0.001)
        for key in ("busy", "collisions", "unpolled_frames"):
            self.assertEqual(sum(one[key] for one in counts["collars"]), counts[key])
        self.assertIn("sounder, takes messages, listens before it talks\n", frames)
        deaf, frames = self.channel(4, "--phases", "same", "--no-sensing")
        self.assertIn("sounder, takes messages\n", frames)
        self.assertNotIn("listens before it talks", frames)
        self.assertEqual(deaf["busy"], 0)
        self.assertGreater(deaf["collided_pct"], counts["collided_pct"])

    def test_what_there_is_not(self):
        track, _ = self.unpack(TRACK)
        for arguments in (
            ("--modem", "lora:SF13"), ("--modem", "lora"), ("--duty-cycle", "0"), ("--duty-cycle", "101"),
            ("--collars", "0"), ("--collars", "65"),
            ("--burst", "0.5"), ("--burst", "2", "--loss", "0.9"), ("--burst", "2", "--loss", "1"),
        ):
            with self.subTest(arguments=arguments):
                collar = self.start([BINARY, "simulate", "--track", track, "--link", self.link, *arguments])
                self.assertEqual(collar.wait(), 64, collar.error_text)
                self.assertIn(arguments[0], collar.error_text)


if __name__ == "__main__":
    unittest.main()
