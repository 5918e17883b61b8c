"""Kill everything between a collar and a phone: each alert rings, and nothing else does.

A simulated collar walks out of its home and back, through a radio that loses three frames in ten. `run` receives; `deliver` passes the
alerts on to a push server with the recipe of Tools/recipes. In each round one to three of these die at once by SIGKILL: the collar,
`run`, `deliver`, the recipe or its curl, the push server. A moment later they start again.

In the end the push server has each crossing of the story. Messages that it has twice have one id, and one text.
"""

import collections
import json
import os
import pathlib
import random
import subprocess
import sys
import time
import unittest

from command_case import CommandTest
from end_to_end import BINARY, ORDINARY_USER, give_to_ordinary_user, wait_until
from kill_everything import Part
from push_server import PushServer
import servers

HOME = (50.17, -5.11)
FIXES_A_SECOND, SECONDS_A_ROUND, ROUNDS_A_CROSSING = 20, 2.4, 4
# Between two fixes, by the clock of the collar.
SECONDS_A_FIX = 15


class KillAlerts(CommandTest):
    """Runs as many rounds as the command line names."""

    round_count, seed = 200, 1

    def write_story(self, track):
        """Writes a track of crossings with noise of a few metres. Returns the kind of each crossing, and the time of its first fix beyond the
        border."""
        chance = random.Random(self.seed)
        crossings = max(2, self.round_count // ROUNDS_A_CROSSING)
        a_side = int(FIXES_A_SECOND * SECONDS_A_ROUND * self.round_count / (crossings + 1))
        started, story = 1_790_000_000_000, []
        with open(track, "w", encoding="ascii") as file:
            for index in range(a_side * (crossings + 1)):
                side, step = divmod(index, a_side)
                milliseconds = started + 1000 * SECONDS_A_FIX * index
                if side and not step:
                    story.append(("left" if side % 2 else "entered", milliseconds))
                meters = (250 if side % 2 else 0) + chance.gauss(0, 3)
                file.write(json.dumps({
                    "ts_unix_ms": milliseconds, "source": "collar", "h_accuracy_m": 4.833,
                    "coordinate": {"latitude": HOME[0] + meters / 111_230, "longitude": HOME[1]}}) + "\n")
        os.chmod(track, 0o644)
        return story

    def part(self, *arguments, environment=None):
        return Part(self, [BINARY, *arguments], self.path("messages"), environment or self.environment)

    def runTest(self):
        chance, kills = random.Random(self.seed), collections.Counter()
        places = pathlib.Path(self.configuration, "collar-link/places")
        places.parent.mkdir(parents=True)
        places.write_text(f"[place home]\nat = {HOME[0]} {HOME[1]}\nradius = 60\n", "ascii")
        for path in (self.configuration, places.parent, places):
            give_to_ordinary_user(path)
        story = self.write_story(track := self.path("track.ndjson"))
        push = PushServer(self)
        collar = self.part(
            "simulate", "--track", track, "--link", self.link, "--loss", "0.3", "--interval", str(1 / FIXES_A_SECOND),
            "--seed", str(self.seed), "--flash", self.path("flash"), "--until-delivered")
        # A kill while the simulator fills a new flash is no power cut of a collar, which has its flash from the factory.
        wait_until(lambda: os.path.exists(self.link), 30, "the collar is switched on")
        receiver = self.part("run", "--port", self.link, "--dialect", "serial", "--state-dir", self.state)
        deliver = self.part(
            "deliver", "push", "--events", "alert", "--batch", "1", "--state-dir", self.state, "--",
            f"{servers.RECIPES}/alerts/push", environment={**self.environment, "NTFY_URL": push.url})
        reader = pathlib.Path(self.state, "readers/push.reader")
        wait_until(lambda: reader.exists() and "alert " in reader.read_text("utf-8"), 30, "the reader has begun")

        parts = (push, collar, receiver, deliver)
        victims = {"collar": collar, "run": receiver, "deliver": deliver, "push server": push}
        for _ in range(self.round_count):
            # A recipe runs for a moment after an alert. Every second one dies.
            deadline = time.monotonic() + chance.uniform(0.5, 2 * SECONDS_A_ROUND - 1.5)
            while time.monotonic() < deadline:
                if (pushes := servers.descendants(deliver.pid)) and chance.random() < 0.5:
                    kills["recipe"] += servers.kill_one_of(pushes, chance)
                time.sleep(0.02)
            for name in chance.sample(sorted(victims), chance.choice((1, 1, 2, 3))):
                victims[name].kill()
                kills[name] += 1
            time.sleep(chance.uniform(0, 0.4))
            for part in parts:
                part.start()
        # Attempts begin again at once, not after the pause that many failures cause.
        deliver.kill()
        deliver.start()
        wait_until(lambda: collar.has_finished, 240, "the collar is rid of everything")
        crossings = self.stored_crossings()
        self.assertEqual([(line["alert"], line["since_unix_ms"]) for line in crossings], story)
        wait_until(lambda: {line["id"] for line in crossings} <= {headers["X-Sequence-ID"] for headers, _ in push.posts},
                   60, "each alert is pushed")
        time.sleep(1)
        texts = {}
        for headers, text in push.posts:
            texts.setdefault((headers["Tags"], headers["X-Sequence-ID"]), set()).add(text)
        pushed = [key for key in texts if key[0] in ("left", "entered")]
        self.assertEqual(sorted(pushed), sorted((line["alert"], line["id"]) for line in crossings))
        self.assertEqual({len(each) for each in texts.values()}, {1})
        # Beside the crossings, a collar that was switched off and on is told.
        others = [kind for kind, _ in texts if kind not in ("left", "entered")]
        self.assertEqual(set(others) - {"restarted"}, set())
        self.assertLessEqual(len(others), kills["collar"])
        for part in (receiver, deliver):
            self.assertEqual(part.stop(), 0)
        print(f"{len(story)} crossings, {len(push.posts)} messages of {len(texts)} ids; {json.dumps(kills)} ", end="", flush=True)

    def stored_crossings(self):
        """The crossings that the journal shows."""
        output = subprocess.run([BINARY, "history", "--events", "alert", "--state-dir", self.state], check=True, capture_output=True,
                                env=self.environment, **ORDINARY_USER).stdout
        return [line for line in map(json.loads, output.splitlines()) if line["alert"] in ("left", "entered")]


if __name__ == "__main__":
    KillAlerts.round_count, KillAlerts.seed = (int(word) for word in sys.argv[1:3])
    sys.exit(not unittest.TextTestRunner().run(KillAlerts()).wasSuccessful())
