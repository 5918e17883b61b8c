"""Home Assistant 2024.3.3 shows two simulated collars as two devices, knows when it does not know where one is, and has buttons that
the collars obey; what its integration OwnTracks makes of our lines."""

import json
import pathlib
import signal
import time
import unittest

import home_assistant
import servers
from command_case import CommandTest
from end_to_end import BINARY, give_to_ordinary_user, wait_until

HOME = (50.17, -5.11)


def fixes(meters, count=900):
    """Fixes of an animal that rests north of home, a second apart, from now on."""
    started = int(time.time() * 1000)
    for seq in range(count):
        yield {"ts_unix_ms": started + 1000 * seq, "source": "collar", "h_accuracy_m": 4.833, "battery_pct": 80, "seq": seq,
               "coordinate": {"latitude": HOME[0] + meters / 111_230, "longitude": HOME[1]}}


@unittest.skipUnless(home_assistant.IS_HERE, home_assistant.WHY_NOT)
@unittest.skipUnless(servers.ARE_HERE, "needs mosquitto, which Tools/test unpacks")
class HomeAssistantTest(CommandTest):
    def setUp(self):
        super().setUp()
        folder = pathlib.Path(self.configuration, "collar-link")
        folder.mkdir(parents=True)
        (folder / "places").write_text(f"[place garden]\nat = {HOME[0]} {HOME[1]}\nradius = 60\n", encoding="utf-8")
        self.broker = servers.Broker(self)
        self.environment = {**self.broker.environment, **self.environment, "PATH": self.broker.environment["PATH"]}
        self.collars, simulators = [], []
        for name, meters in (("Athena", 0), ("Bella", 1500)):
            track, _ = self.write_track(f"{name}.ndjson", [json.dumps(fix).encode() + b"\n" for fix in fixes(meters)])
            simulators.append(self.simulate(track, "--seed", str(len(simulators) + 1), link=self.path(name)))
        self.athena, self.bella = simulators
        for path in (self.folder, self.configuration, folder, folder / "places"):
            give_to_ordinary_user(path)
        self.receiver = self.receive("--port", self.path("Bella"), port=self.path("Athena"), environment=self.environment)
        wait_until(lambda: len(self.known()) == 2, 15, "two collars")
        self.a, self.b = (self.known()[is_far] for is_far in (False, True))
        for collar in (self.a, self.b):
            # A silence of three heartbeats counts.
            self.call("send", "--state-dir", self.state, "--collar", collar, "settings", "set", "heartbeat_s=5")
        self.call("name", self.a, "Athena")

    def known(self):
        """The collars with fixes, by whether they are far from home."""
        return {line["coordinate"]["latitude"] > HOME[0] + 0.005: line["collar"] for line in self.receiver.fixes}

    def deliver(self):
        return self.start([BINARY, "deliver", "homeassistant", "--every", "0.5", "--state-dir", self.state, "-F", "homeassistant", "--",
                           str(servers.RECIPES / "mqtt/publish-homeassistant")], environment=self.environment)

    def obey(self):
        environment = {**self.environment, "PATH": f"{pathlib.Path(BINARY).parent}:{self.environment['PATH']}"}
        return self.start([str(servers.RECIPES / "mqtt/obey-homeassistant"), "--state-dir", self.state], environment=environment)

    def results(self, verb):
        """The outcomes of requests, as the receiver has told them."""
        follower = self.start([BINARY, "follow", "--events", "result", "-T", "0.2", "--state-dir", self.state], environment=self.environment)
        self.assertEqual(follower.wait(), 0)
        return [(line["collar"], line["outcome"]) for line in follower.fixes if line["do"] == verb and line["outcome"] != "queued"]

    def test_two_animals(self):
        self.deliver()
        shown = home_assistant.HomeAssistant(self, self.broker.port)
        shown.wait_for(self.a, tracker="home", place="garden", reachable="on", battery="80")
        shown.wait_for(self.b, tracker="not_home", place="away", reachable="on", battery="80")
        devices = shown.ask("show")
        self.assertEqual({key: device["name"] for key, device in devices.items()},
                         {f"collar_{self.a}": "Athena", f"collar_{self.b}": f"collar {self.b}"})
        for device in devices.values():
            self.assertEqual(sorted(entity["entity"].split(".")[0] for entity in device["entities"].values()),
                             ["binary_sensor", "button", "button", "device_tracker"] + 6 * ["sensor"])
        self.assertEqual(devices[f"collar_{self.a}"]["entities"][f"collar_{self.a}"]["entity"], "device_tracker.athena")
        last = time.time() - time.mktime(time.strptime(shown.states(self.a)["last_fix"][:19], "%Y-%m-%dT%H:%M:%S")) + time.timezone
        self.assertLess(abs(last), 60)
        self.receiver.process.send_signal(signal.SIGUSR1)
        shown.wait_for(self.b, missing="0")
        self.check_buttons(shown)
        self.check_silence(shown)

    def check_buttons(self, shown):
        self.assertEqual({shown.states(self.a)[key] for key in ("locate", "sound")}, {"unavailable"})
        obeying = self.obey()
        # They are available: they were never pressed.
        shown.wait_for(self.a, locate="unknown", sound="unknown")
        shown.ask("press button.athena_locate")
        wait_until(lambda: self.results("locate") == [(self.a, "ok")], 20, "a fix that was asked for")
        shown.ask(f"press button.collar_{self.b}_sound")
        wait_until(lambda: self.results("sound") == [(self.b, "ok")], 20, "a sound")
        # The broker ends and comes back; then the program is killed.
        self.broker.end(signal.SIGTERM)
        self.broker.start()
        def pressed():
            shown.ask("press button.athena_locate")
            return self.results("locate").count((self.a, "ok")) > 1
        wait_until(pressed, 30, "a press after the interruption")
        for child in [*servers.descendants(obeying.pid), obeying.pid]:
            servers.kill_one_of([child])
        obeying.wait()
        shown.wait_for(self.a, locate="unavailable", sound="unavailable")
        shown.wait_for(self.b, locate="unavailable")

    def check_silence(self, shown):
        self.athena.process.send_signal(signal.SIGSTOP)
        shown.wait_for(self.a, 40, tracker="unknown", place="unknown", reachable="off", battery="80")
        tracker = shown.ask("show")[f"collar_{self.a}"]["entities"][f"collar_{self.a}"]
        # The map has the last position.
        self.assertAlmostEqual(tracker["attributes"]["latitude"], HOME[0], 3)
        shown.wait_for(self.b, tracker="not_home", reachable="on")
        shown.end()
        shown = home_assistant.HomeAssistant(self, self.broker.port)
        shown.wait_for(self.a, tracker="unknown", place="unknown", reachable="off", battery="80", missing="0")
        self.assertEqual(len(shown.ask("show")), 2)
        self.athena.process.send_signal(signal.SIGCONT)
        shown.wait_for(self.a, 30, tracker="home", place="garden", reachable="on")

    def test_owntracks(self):
        """Home Assistant's integration OwnTracks reads the format `owntracks`, by its own code: two animals are two devices
        (owntracks/messages.py of 2024.3.3, lines 55 to 88), and a message without an accuracy is dropped (owntracks/__init__.py, 244 to
        271)."""
        shown = home_assistant.HomeAssistant(self, self.broker.port)
        wait_until(lambda: self.receiver.fixes[-1]["seq"] > 5, 15, "some fixes")
        self.receiver.stop()
        lines = self.call("history", "-F", "owntracks", "--state-dir", self.state).splitlines()
        read = [shown.ask(f"owntracks {line}") for line in lines]
        self.assertEqual({device for device, _ in read}, {f"collar_link_{collar}" for collar in (self.a, self.b)})
        for device, values in read:
            self.assertEqual((values["gps_accuracy"], values["battery"]), (5, 80))
            self.assertAlmostEqual(values["gps"][0], HOME[0] + (0 if device.endswith(self.a) else 1500 / 111_230), 4)
        message = json.loads(lines[0])
        del message["acc"]
        self.assertIsNone(shown.ask(f"owntracks {json.dumps(message)}"))


if __name__ == "__main__":
    unittest.main()
