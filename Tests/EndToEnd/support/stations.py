"""Many stations, one database: collars that move between stations, each with `collar-link run` and `collar-link deliver`.

A station is a radio at a TCP port, a receiver, and a sink into one PostgreSQL by the recipe. The receivers, the delivery and
the database are those that ship. The collars are played here, with the frames of the Python reference: the simulator puts its
collars behind one radio only. Each collar is paired with one receiver, which alone answers it. While it roams, it sends each
fix once, and one to three stations at a time hear it, each with losses of its own; now and then one of them is its own. At the
end it is at home, where it sends whatever its receiver has not acknowledged, and other stations still hear that.

The union in the database must be the truth, each fix once. Time is compressed: roaming takes seconds.
"""

import collections
import heapq
import pathlib
import random
import selectors
import signal
import subprocess
import sys
import time
import unittest

import servers
from end_to_end import BINARY, EndToEndTest, wait_until
from many_radios import ACKNOWLEDGEMENT, EVERYBODY, IDENTITY_REQUEST, NetworkRadio, frames, ProtocolError
from processes import processor_seconds
from session_parts import Collar, position

# Fixes in a burst, and seconds after which a collar at home sends again what is not acknowledged.
BURST, PATIENCE = 20, 1.0
LOSS = 0.2
# Seconds that a collar is heard by the same stations.
DWELL = 2.0


class RoamingCollar(Collar):
    """A collar that makes fixes at a steady rate and belongs to one receiver."""

    def __init__(self, number, home):
        super().__init__(0xC0_0000 + number, 1000 + number, 1 + number)
        self.home = home
        self.made = self.first_missing = 0
        # Acknowledgements of a receiver that is not its own: there must be none.
        self.foreign_answers = 0
        self._sent = {}
        self._poll = 0

    @property
    def is_done(self):
        return self.first_missing == self.made

    def identity(self, poll=0, **more):
        return super().identity(poll, following=self.made, paired=self.home.receiver_id, **more)

    def burst(self, now, is_at_home):
        """The frames that are due, the last one with a poll: away, what was never sent; at home, what is not acknowledged."""
        due = [one for one in range(self.first_missing, self.made)
               if one not in self._sent or is_at_home and now - self._sent[one] > PATIENCE][:BURST]
        if not due:
            return []
        self._poll = self._poll % 7 + 1
        self._sent.update((one, now) for one in due)
        return [self.fix(one, self._poll if one == due[-1] else 0) for one in due]

    def hear(self, frame):
        """The frames with which the collar answers a frame of a host."""
        if frame[0] & 0x1F == IDENTITY_REQUEST:
            return [self.identity()]
        if frame[0] & 0x1F != ACKNOWLEDGEMENT:
            return []
        try:
            answer = frames.decode(frame, self.log).decoded
        except ProtocolError:
            return []
        if answer["receiver_id"] != self.home.receiver_id:
            self.foreign_answers += 1
            return []
        for one in range(self.first_missing, answer["first_missing"]):
            self._sent.pop(one, None)
        self.first_missing = max(self.first_missing, answer["first_missing"])
        return []


class Station:
    """A radio, a receiver and a sink."""

    def __init__(self, test, number, selector, hear, database):
        self.radio = NetworkRadio(selector, hear)
        test.addCleanup(self.radio.close)
        self.state = test.path(f"station-{number}")
        self.receiver_id = None
        self._test, self._database, self._delivery = test, database, None
        self._log = test.path(f"station-{number}.log")
        self.receiver = self._start("run", "--port", self.radio.port, "--dialect", "serial", "-q")

    def _start(self, command, *arguments, environment=None):
        name = [command] if command == "run" else [command, "postgresql"]
        with open(self._log, "ab") as log:
            process = subprocess.Popen(
                servers.ordinary([BINARY, *name, "--state-dir", self.state, *arguments]), cwd=self._test.folder,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log, env=environment or servers.child_environment())
        self._test.addCleanup(process.wait)
        self._test.addCleanup(process.kill)
        return process

    def deliver(self, every):
        """Starts to deliver to the database."""
        self._delivery = self._start(
            "deliver", "--every", str(every), "--", f"{servers.RECIPES}/postgresql/store", "{count}",
            environment=self._database.environment)

    def seconds(self):
        """The processor time of the receiver, and that of the delivery and its finished sinks."""
        return (processor_seconds(self.receiver.pid),
                processor_seconds(self._delivery.pid, with_children=True))

    def messages(self):
        """What the programs said."""
        return pathlib.Path(self._log).read_text("utf-8", "replace")


class Region:
    """Stations, and collars that move between them."""

    def __init__(self, test, station_count, collar_count, rate, seed=1, every=2):
        self.test = test
        self.chance = random.Random(seed)
        self.database = servers.PostgreSQL(test)
        done = servers.Recipes(self.database.environment).run("postgresql/set-up")
        test.assertEqual(done.returncode, 0, done.stderr)
        self._selector = selectors.DefaultSelector()
        self._due = []
        self.stations = [Station(test, number, self._selector, self._hear, self.database) for number in range(station_count)]
        self._station_of = {id(station.radio): station for station in self.stations}
        self.collars = []
        self._reach = {}
        self.rate = rate
        self.receptions = 0
        self._run(20, lambda: all(station.receiver_id for station in self.stations), "the stations open their radios")
        for number in range(collar_count):
            self.collars.append(RoamingCollar(number, self.stations[number % station_count]))
        for number, collar in enumerate(self.collars):
            self._reach[number] = [collar.home]
        # Each collar is at home when it is new: its receiver stores its first fix, so that there is something to deliver.
        for collar in self.collars:
            collar.made = 1
        self._at_home = set(range(collar_count))
        for number in range(collar_count):
            self._tick(number, time.monotonic() + self.chance.random(), 1)
        self._run(60, self._are_done, "the collars are taken up")
        for station in self.stations:
            station.deliver(every)

    def _are_done(self):
        return all(collar.is_done for collar in self.collars)

    def _hear(self, radio, frame):
        """A frame of a host: the collars in reach of its radio hear it, with losses."""
        station = self._station_of[id(radio)]
        if frame[0] & 0x1F == IDENTITY_REQUEST and station.receiver_id is None:
            station.receiver_id = frames.decode(frame).decoded["receiver_id"]
        for number, collar in enumerate(self.collars):
            if station in self._reach[number] and frame[2] in (collar.address, EVERYBODY) and self.chance.random() >= LOSS:
                self._send(number, collar.hear(frame))

    def _send(self, number, sent):
        for frame in sent:
            for station in self._reach[number]:
                if self.chance.random() >= LOSS:
                    self.receptions += 1
                    station.radio.send(frame)

    def _at(self, moment, action):
        heapq.heappush(self._due, (moment, self.chance.random(), action))

    def _run(self, seconds, is_over, what=None):
        """Carries frames until a condition holds; fails after `seconds` if `what` names the condition."""
        deadline = time.monotonic() + seconds
        while not is_over():
            if (now := time.monotonic()) >= deadline:
                if what:
                    late = {f"{each.log.device_id:x}": (each.first_missing, each.made) for each in self.collars if not each.is_done}
                    said = "".join(station.messages() for station in self.stations)
                    raise AssertionError(f"{what}: not within {seconds} s: {late}\n{said[-3000:]}")
                return
            while self._due and self._due[0][0] <= now:
                heapq.heappop(self._due)[2]()
            until = min([deadline, now + 0.05] + [each[0] for each in self._due[:1]])
            for key, _ in self._selector.select(max(0, until - time.monotonic())):
                key.data()

    def _tick(self, number, moment, limit):
        """Once a second a collar makes its fixes and sends; it goes on until it is rid of all."""
        def tick():
            collar = self.collars[number]
            collar.made = min(limit, collar.made + self.rate)
            self._send(number, collar.burst(time.monotonic(), number in self._at_home))
            if collar.made < limit or not collar.is_done:
                # At home a collar hurries: its backlog is as long as it roamed.
                pause = 1 if collar.made < limit else 0.2
                self._tick(number, max(moment, time.monotonic() - 1) + pause, limit)
        self._at(moment, tick)

    def roam(self, seconds):
        """The collars move between the stations for a time, then stay at home until everything is delivered."""
        before = self.seconds()
        self._at_home = set()
        limit = 1 + seconds * self.rate
        for number in range(len(self.collars)):
            self._wander(number, time.monotonic() + seconds)
            self._tick(number, time.monotonic() + self.chance.random(), limit)
        self._run(seconds, lambda: False)
        for number, collar in enumerate(self.collars):
            self._reach[number] = [collar.home, *self._some_others(collar, 2)]
        self._at_home = set(range(len(self.collars)))
        self._run(120, self._are_done, "every collar is rid of its fixes")
        total = len(self.collars) * limit
        acknowledged = time.monotonic()
        try:
            wait_until(lambda: time.sleep(0.1) or self.count() >= total, 120, "the database has everything")
        except AssertionError as failure:
            raise AssertionError(f"{failure}: {self.count()} of {total}") from failure
        self.lag = time.monotonic() - acknowledged
        return total, [after - start for after, start in zip(self.seconds(), before, strict=True)]

    def _some_others(self, collar, most):
        others = [station for station in self.stations if station is not collar.home]
        return self.chance.sample(others, self.chance.randint(0, min(most, len(others))))

    def _wander(self, number, end):
        def move():
            if time.monotonic() >= end:
                return
            self._reach[number] = self.chance.sample(self.stations, self.chance.randint(1, min(3, len(self.stations))))
            self._at(time.monotonic() + self.chance.uniform(0.5, 1.5) * DWELL, move)
        self._at(time.monotonic(), move)

    def count(self):
        return int(self.database.rows("SELECT count(*) FROM collars.fixes")[0][0])

    def seconds(self):
        """The processor time of the receivers, of the deliveries with their sinks, and of PostgreSQL."""
        parts = [station.seconds() for station in self.stations]
        return [sum(part[0] for part in parts), sum(part[1] for part in parts), self.database.seconds()]

    def check(self):
        """Checks that the database has each fix of each collar once, with the time and the place that the collar sent."""
        stored = collections.Counter()
        for collar, log, seq, unix_ms, latitude, longitude in self.database.rows(
                "SELECT collar, log, seq, (extract(epoch FROM time) * 1000)::bigint, latitude, longitude FROM collars.fixes"):
            stored[collar, int(log), int(seq), int(unix_ms), float(latitude), float(longitude)] += 1
        truth = collections.Counter()
        for collar in self.collars:
            for seq in range(collar.made):
                codes = position(seq)
                truth[f"{collar.log.device_id:016x}", collar.log.log_id, seq, codes["time"], codes["latitude"] / 1e5,
                      codes["longitude"] / 1e5] += 1
        self.test.assertEqual(stored - truth, collections.Counter(), "what no collar made, or twice")
        self.test.assertEqual(truth - stored, collections.Counter(), "not in the database")
        self.test.assertEqual(sum(collar.foreign_answers for collar in self.collars), 0, "a receiver answered a collar of another")

    def close(self):
        """Ends the stations."""
        for station in self.stations:
            for process in (station.receiver, station._delivery):
                process.terminate()
                self.test.assertEqual(process.wait(20), 0, station.messages())
        self.database.end(signal.SIGTERM)


class Stations(EndToEndTest):
    """Prints a table: how the cost grows with the stations, the collars and the rate."""

    sizes = ()
    seconds = 20

    def runTest(self):
        print(f"{self.seconds} s of roaming, then home; processor time in microseconds for each fix that is stored:\n\n"
              "| stations | collars | fixes/s each | fixes | heard | run | deliver, psql | PostgreSQL | all after, s |\n"
              "|---|---|---|---|---|---|---|---|---|", flush=True)
        for stations, collars, rate in self.sizes:
            region = Region(self, stations, collars, rate)
            total, costs = region.roam(self.seconds)
            region.check()
            region.close()
            run, deliver, database = (f"{1e6 * cost / total:.0f}" for cost in costs)
            print(f"| {stations} | {collars} | {rate} | {total} | {region.receptions} | {run} | {deliver} | {database} | "
                  f"{region.lag:.1f} |", flush=True)
            self.doCleanups()
            self.setUp()


SIZES = [(1, 5, 1), (5, 5, 1), (20, 5, 1), (20, 20, 1), (20, 50, 1), (20, 50, 4), (20, 50, 16), (40, 50, 4), (80, 50, 1)]

if __name__ == "__main__":
    words = [int(word) for word in sys.argv[1:]]
    Stations.sizes = [tuple(words[:3])] if words else SIZES
    Stations.seconds = words[3] if len(words) > 3 else 20
    sys.exit(not unittest.TextTestRunner().run(Stations()).wasSuccessful())
