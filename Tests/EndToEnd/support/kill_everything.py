"""Kill everything: the way from collars to a database and to a subscriber loses nothing, whatever dies.

Simulated collars deliver through a radio that loses and damages frames. `run` receives; `deliver` passes the fixes on to
PostgreSQL and to mosquitto with the recipes of Tools/recipes. In each round one to four of these die at once: `run`,
each `deliver`, the sinks (the recipe's script, psql, mosquitto_pub, whatever of them runs), PostgreSQL, a single process
of PostgreSQL, the collars, the connection of the subscriber (all by SIGKILL), and the broker (by SIGTERM, because it
acknowledges before it saves). A moment later they start again.

At the end of a campaign the database has every fix of every collar exactly once, with the values of the track, and a
subscriber with a kept session has seen the same ids.
"""

import collections
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest

import delivered
import servers
from end_to_end import BINARY, EndToEndTest, wait_until
from kept_session import KeptSession

COLLAR_COUNT = 3
ROUNDS_A_CAMPAIGN = 50
# Seconds that a delivery pauses at most after failures.
LONGEST_PAUSE = 300
# Fixes that a collar makes in a second, and about as many seconds as a round takes.
FIXES_A_SECOND, SECONDS_A_ROUND = 40, 1.5


class Part:
    """A program on the way, which is killed and started again."""

    def __init__(self, test, command, log, environment=None):
        self._command, self._log, self._environment = command, log, environment or servers.child_environment()
        self._folder = test.folder
        self._process = None
        test.addCleanup(self.kill)
        self.start()

    def start(self):
        """Starts the program if it does not run and is not finished."""
        if self._process is None or self._process.poll() not in (None, 0):
            with open(self._log, "ab") as log:
                self._process = subprocess.Popen(
                    servers.ordinary(self._command), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log,
                    env=self._environment, cwd=self._folder)

    def kill(self):
        """Kills the program, not what it has started."""
        self._process.kill()
        self._process.wait()

    @property
    def pid(self):
        return self._process.pid

    def kill_a_child(self, chance):
        """Kills one of the processes that it has started, or that it starts soon. Returns whether there was one."""
        deadline = time.monotonic() + 1
        while not (children := servers.descendants(self._process.pid)) and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(chance.choice((0, chance.uniform(0, 0.05))))
        return servers.kill_one_of(servers.descendants(self._process.pid) or children, chance)

    @property
    def has_finished(self):
        """Whether the program has ended by itself, with success."""
        return self._process.poll() == 0

    def stop(self):
        """Ends the program. Returns its exit code."""
        self._process.terminate()
        return self._process.wait(20)


class Campaign:
    """One state directory, one set of collars, one journal, and all that is delivered from it."""

    def __init__(self, test, database, broker, subscriber, seed, round_count):
        self.test, self.database, self.broker, self.subscriber = test, database, broker, subscriber
        self.chance = random.Random(seed)
        self.seed = seed
        self.kills = collections.Counter()
        self.state = test.path(f"state-{seed}")
        self.link = test.path(f"collars-{seed}")
        fix_count = int(FIXES_A_SECOND * SECONDS_A_ROUND * round_count)
        self.fix_count = fix_count * COLLAR_COUNT
        self.track = test.path(f"track-{fix_count}.ndjson")
        delivered.write_long_track(self.track, test.all_cats()[1], fix_count)
        self.log = test.path(f"messages-{seed}")
        recipes = servers.RECIPES
        self.collars = self.part(
            "simulate", "--track", self.track, "--link", self.link, "--collars", str(COLLAR_COUNT), "--loss", "0.2",
            "--corrupt", "0.001", "--interval", str(20 / FIXES_A_SECOND), "--speed", "20", "--seed", str(seed),
            "--flash", test.path(f"flash-{seed}"), "--until-delivered")
        # A kill while the simulator fills a new flash is no power cut of a collar, which has its flash from the factory.
        wait_until(lambda: os.path.exists(self.link), 30, "the collars are switched on")
        self.receiver = self.part("run", "--port", self.link, "--dialect", "serial", "--state-dir", self.state)
        self.to_database = self.part(
            "deliver", "postgresql", "--state-dir", self.state, "--", f"{recipes}/postgresql/store", "{count}",
            environment=database.environment)
        self.to_broker = self.part(
            "deliver", "mqtt", "--state-dir", self.state, "--", f"{recipes}/mqtt/publish", "{collar}",
            environment=broker.environment)
        self.victims = {
            "run": self.receiver.kill, "deliver to PostgreSQL": self.to_database.kill, "deliver to MQTT": self.to_broker.kill,
            "sink of PostgreSQL": lambda: self.to_database.kill_a_child(self.chance),
            "sink of MQTT": lambda: self.to_broker.kill_a_child(self.chance),
            "PostgreSQL": lambda: self.database.end(signal.SIGKILL),
            "a process of PostgreSQL": lambda: self.database.kill_a_child(self.chance),
            "broker": lambda: self.broker.end(signal.SIGTERM), "subscriber": self.subscriber.break_connection,
            "collars": self.collars.kill}

    def part(self, *arguments, environment=None):
        return Part(self.test, [BINARY, *arguments], self.log, environment)

    def round(self):
        """Kills one to four, and starts again what is dead."""
        time.sleep(self.chance.uniform(0, 0.6))
        names = self.chance.sample(sorted(self.victims), self.chance.choice((1, 1, 2, 3, 4)))
        for name in names:
            if self.victims[name]() is not False:
                self.kills[name] += 1
            time.sleep(self.chance.choice((0, 0, self.chance.uniform(0, 0.1))))
        time.sleep(self.chance.uniform(0, 0.4))
        self.start_all()

    def start_all(self):
        """Starts what is dead."""
        for server in (self.database, self.broker):
            server.start()
        for part in (self.collars, self.receiver, self.to_database, self.to_broker):
            part.start()

    def finish(self, hurries):
        """Waits until everything is delivered, and checks that nothing is missing, doubled or changed."""
        if hurries:
            for part in (self.to_database, self.to_broker):
                part.kill()
        self.start_all()
        try:
            wait_until(lambda: self.collars.has_finished, 240, "the collars are rid of everything")
            wait_until(self.is_delivered, LONGEST_PAUSE + 120, "everything is delivered")
        except AssertionError as failure:
            with open(self.log, encoding="utf-8", errors="replace") as log:
                raise AssertionError(f"seed {self.seed}: {failure}; the last messages:\n{log.read()[-4000:]}") from failure
        rows = delivered.rows_by_collar(self.database)
        own = {collar: rows[collar] for collar in os.listdir(self.state) if collar in rows}
        self.test.assertEqual(len(own), COLLAR_COUNT)
        for fixes in own.values():
            delivered.check_rows(self.test, fixes, self.track)
        self.test.assertEqual(self.subscriber.ids, {row[0] for fixes in rows.values() for row in fixes})
        self.test.assertEqual(self.database.rows("SELECT count(*) FROM collars.rejected"), [["0"]])
        for part in (self.receiver, self.to_database, self.to_broker):
            self.test.assertEqual(part.stop(), 0)
        self.collars.kill()
        shutil.rmtree(self.state)

    def is_delivered(self):
        time.sleep(0.2)
        return len(self.subscriber.ids) >= int(self.database.rows("SELECT count(*) FROM collars.fixes")[0][0]) >= self.expected

    expected = 0


def run(test, round_count, first_seed=1, report=lambda text: None, hurries=False):
    """Runs the rounds. Returns how often each was killed. With `hurries`, deliveries begin again at the end of a campaign:
    after many failures in a row they pause for minutes, and this does not wait for that."""
    database, broker = servers.PostgreSQL(test), servers.Broker(test)
    done = servers.Recipes(database.environment).run("postgresql/set-up")
    test.assertEqual(done.returncode, 0, done.stderr)
    subscriber = KeptSession(broker.port, "collars/+/fix")
    test.addCleanup(subscriber.close)
    kills, done, seed, began, expected = collections.Counter(), 0, first_seed, time.monotonic(), 0
    while done < round_count:
        rounds = min(ROUNDS_A_CAMPAIGN, round_count - done)
        campaign = Campaign(test, database, broker, subscriber, seed, rounds)
        for _ in range(rounds):
            campaign.round()
        done += rounds
        expected += campaign.fix_count
        campaign.expected = expected
        campaign.finish(hurries)
        kills += campaign.kills
        report(f"seed {seed}: {done} rounds in {time.monotonic() - began:.0f} s, {expected} fixes, "
               f"{len(subscriber.payloads)} messages at the subscriber; {json.dumps(kills)}")
        seed += 1
    return kills


class KillEverything(EndToEndTest):
    """Runs as many rounds as the command line names."""

    round_count, first_seed = 500, 1

    def runTest(self):
        run(self, self.round_count, self.first_seed, report=lambda text: print(text, flush=True))


if __name__ == "__main__":
    KillEverything.round_count, KillEverything.first_seed = (int(word) for word in sys.argv[1:3])
    sys.exit(not unittest.TextTestRunner().run(KillEverything()).wasSuccessful())
