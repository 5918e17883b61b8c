"""Collars on Linux machines and their receivers for minutes or an hour, with each kind of stick. A fifth of all packets is lost, sticks
are pulled out at both ends, collars and receivers are killed. Each fix arrives once.

COLLAR_LINK_COLLAR_SECONDS is the time, 300 s without it.
"""

import json
import os
import random
import subprocess
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

from end_to_end import BINARY, wait_until
from linux_collar import LinuxCollarTest

SECONDS = int(os.environ.get("COLLAR_LINK_COLLAR_SECONDS", "300"))
DIALECTS = ("serial", "kiss", "rnode", "rui3")
# Seconds between two faults. A receiver that restarts may send nothing until it has earned airtime.
BETWEEN_FAULTS = (10, 40)


class Trial(LinuxCollarTest):
    """One collar and one receiver. Each fault is followed by at least ten seconds without one."""

    def run_trial(self, dialect):
        chance = random.Random(dialect)
        self.join_sticks(dialect)
        player = self.play(SECONDS)
        collar, base = self.new_collar(), self.base_radio()
        while len(player.sent) < SECONDS - BETWEEN_FAULTS[1]:
            time.sleep(chance.uniform(*BETWEEN_FAULTS))
            match chance.choice(("stick of the collar", "stick of the host", "collar", "receiver")):
                case "stick of the collar":
                    self.pull(collar=True)
                case "stick of the host":
                    self.pull()
                case "collar":
                    collar.kill_now()
                    collar = self.collar()
                case "receiver":
                    base.kill_now()
                    base = self.base_radio()
        wait_until(lambda: len(player.sent) == SECONDS, 2 * BETWEEN_FAULTS[1], "all fixes")
        made = player.sent[-1]["ts_unix_ms"]
        wait_until(lambda: any(fix["ts_unix_ms"] == made for fix in self.fixes_of(base)), 120, "the last fix")
        logged = max(fix["seq"] for fix in self.fixes_of(base)) + 1
        wait_until(lambda: len(self.stored()) == logged, 240, f"{logged} fixes")
        self.assert_each_once(self.stored(), logged)
        # The collar makes none while it is killed and its receiver is found again.
        self.assertGreater(logged, 0.7 * SECONDS)
        self.assertEqual((collar.stop(), base.stop()), (0, 0), collar.error_text[-2000:])
        self.assertNotIn("in clear", base.error_text)
        return f"{dialect}: {logged} fixes"

    def stored(self):
        """What the receiver has on disk."""
        output = subprocess.run(
            [BINARY, "history", "--state-dir", self.state], check=True, capture_output=True, text=True).stdout
        return [json.loads(line) for line in output.splitlines()]


class EachDialectTest(unittest.TestCase):
    def test_each_fix_arrives_once(self):
        trials = [Trial("run_trial") for _ in DIALECTS]
        for trial in trials:
            self.addCleanup(trial.doCleanups)
            trial.setUp()
        with ThreadPoolExecutor(len(trials)) as threads:
            for told in threads.map(Trial.run_trial, trials, DIALECTS):
                print(told)


if __name__ == "__main__":
    unittest.main()
