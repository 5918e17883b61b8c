"""An owner who moves: distances, `owner` lines and alerts from gpsd and from a receiver at a serial line."""

import json
import math
import os
import pathlib
import shutil
import time
import unittest

from command_case import CommandTest
from end_to_end import BINARY, give_to_ordinary_user, wait_until
from gnss_bytes import nmea
from readers import GPSD
from schemas import SCHEMAS
from serial_line import SerialLine

HOME = (50.17, -5.11)
METERS_PER_DEGREE = 111_230


class OwnerTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.places = pathlib.Path(self.path("configuration/collar-link/places"))
        self.places.parent.mkdir(parents=True)
        self.write_places("")
        for path in (self.configuration, self.places.parent):
            give_to_ordinary_user(path)

    def write_places(self, text):
        self.places.write_text(f"[alerts]\nfarther = 300\n{text}", encoding="utf-8")
        give_to_ordinary_user(self.places)

    def collar(self, count, interval="1"):
        """A collar at home that makes a fix in each interval; their times are 30 s apart, and begin now."""
        track = self.path("track.ndjson")
        fixes = [{"ts_unix_ms": int(1000 * (time.time() + 30 * index)), "source": "collar",
                  "coordinate": {"latitude": HOME[0], "longitude": HOME[1]}, "h_accuracy_m": 4.833} for index in range(count)]
        pathlib.Path(track).write_text("".join(json.dumps(each) + "\n" for each in fixes), encoding="utf-8")
        self.simulate(track, "--interval", interval)
        receiver = self.receive("--events", "none", environment=self.environment)
        wait_until(lambda: os.path.exists(self.state), 10, "the receiver has made its directory")
        return receiver

    def follow(self, owner, *arguments, events="owner,fix"):
        program = self.start([BINARY, "follow", "--owner", owner, "--events", events, "--state-dir", self.state, *arguments],
                             environment=self.environment)
        program.wait_for_lines(1)
        return program

    def lines(self, program, kind):
        found = [line for line in program.fixes if line["type"] == kind]
        for line in found:
            SCHEMAS[kind].validate(line)
        return found

    def wait_for_owner(self, program, count, seconds=15):
        wait_until(lambda: len(self.lines(program, "owner")) == count, seconds, f"{count} owner lines")
        return self.lines(program, "owner")[-1]

    def next_fix(self, program):
        """The first fix that is written from now on."""
        seen = len(self.lines(program, "fix"))
        wait_until(lambda: len(self.lines(program, "fix")) > seen, 20, "a fix")
        return self.lines(program, "fix")[seen]

    @staticmethod
    def sentences(north, east=0.0, **options):
        """The sentences of a receiver at a distance from home, in metres."""
        return nmea({"ts_unix_ms": int(time.time() * 1000), "h_accuracy_m": 3, "alt_m": 20, "coordinate": {
            "latitude": HOME[0] + north / METERS_PER_DEGREE,
            "longitude": HOME[1] + east / METERS_PER_DEGREE / math.cos(math.radians(HOME[0]))}}, **options)

    def assert_at(self, line, north):
        self.assertAlmostEqual(line["coordinate"]["latitude"], HOME[0] + north / METERS_PER_DEGREE, delta=2e-6)
        self.assertAlmostEqual(line["coordinate"]["longitude"], HOME[1], delta=2e-6)

    @unittest.skipUnless(shutil.which("gpsd") and shutil.which("gpspipe"), "needs gpsd and gpspipe")
    def test_gpsd(self):
        gpsd = GPSD(self)
        self.collar(200)
        reader = self.follow(f"gpsd://127.0.0.1:{gpsd.port}")
        self.assertEqual(self.lines(reader, "owner")[0].keys(), {"type", "unix_ms", "source"})
        self.assertNotIn("distance_m", self.next_fix(reader))
        for north in (100, 104, 96, 100):
            gpsd.send(self.sentences(north))
            time.sleep(1)
        line = self.wait_for_owner(reader, 2)
        self.assertEqual(line["source"], "gpsd")
        self.assert_at(line, 100)
        fix = self.next_fix(reader)
        self.assertAlmostEqual(fix["distance_m"], 100, delta=0.5)
        self.assertEqual(fix["bearing_deg"], 180)
        gpsd.send(self.sentences(-50))
        self.assert_at(self.wait_for_owner(reader, 3), -50)
        self.assertEqual(self.next_fix(reader)["bearing_deg"], 0)
        # The last position counts for 30 s after gpsd has gone, and none after that.
        gpsd.program.kill_now()
        reader.wait_for_error("is gone; the reader is waiting for it")
        self.assertIn("distance_m", self.next_fix(reader))
        self.assertNotIn("coordinate", self.wait_for_owner(reader, 4, seconds=40))
        reader.wait_for_error("The owner's position is unknown")
        self.assertNotIn("distance_m", self.next_fix(reader))
        gpsd.start()

        def answered():
            gpsd.send(self.sentences(200))
            time.sleep(0.9)
            return len(self.lines(reader, "owner")) == 5
        wait_until(answered, 20, "a position of the new gpsd")
        self.assert_at(self.lines(reader, "owner")[-1], 200)
        self.assertAlmostEqual(self.next_fix(reader)["distance_m"], 200, delta=0.5)
        self.assertEqual(reader.error_text.count("The owner's position is known"), 2)
        self.assertEqual(reader.stop(), 0)

    def test_a_receiver_at_a_serial_line(self):
        line = SerialLine()
        self.addCleanup(line.close)
        self.write_places(f"[place hide]\nat = {HOME[0] + 1000 / METERS_PER_DEGREE} {HOME[1]}\nradius = 100\nprivate = yes\n")
        self.collar(200)
        reader = self.follow(line.path)
        whole = self.sentences(40)
        # Nothing of this is a position: noise, no fix, damaged and cut sentences.
        for bad in (bytes(range(256)), b"$" * 200 + b"\r\n", self.sentences(500, status="V"), whole.replace(b"A*", b"D*"), whole[:50]):
            os.write(line.master, bad)
        self.assertNotIn("distance_m", self.next_fix(reader))
        os.write(line.master, b"\r\n" + self.sentences(40, kinds=("GGA", "RMC", "GST")))
        owner = self.wait_for_owner(reader, 2)
        self.assertEqual(owner["source"], "nmea")
        self.assert_at(owner, 40)
        self.assertAlmostEqual(self.next_fix(reader)["distance_m"], 40, delta=0.5)
        # In a private place, only its centre shows, also by distances. A step in the place is no line.
        for north in (970, 1020, 1050):
            os.write(line.master, self.sentences(north))
            time.sleep(1)
        hidden = self.wait_for_owner(reader, 3)
        self.assert_at(hidden, 1000)
        self.assertEqual((hidden["place"], hidden["private"]), ("hide", True))
        self.assertAlmostEqual(self.next_fix(reader)["distance_m"], 1000, delta=1)
        self.assertEqual(len(self.lines(reader, "owner")), 3)
        self.assertEqual(reader.stop(), 0)

    def test_alerts_count_from_the_owner_who_moves(self):
        line = SerialLine()
        self.addCleanup(line.close)
        os.write(line.master, self.sentences(0))
        pathlib.Path(self.state).mkdir(exist_ok=True)
        give_to_ordinary_user(self.state)
        reader = self.follow(line.path, events="owner,fix,alert")
        self.wait_for_owner(reader, 2)
        receiver = self.collar(200)
        for _ in range(3):
            self.next_fix(reader)
        os.write(line.master, self.sentences(600))
        self.wait_for_owner(reader, 3)
        last = self.lines(reader, "fix")[-1]["seq"]
        wait_until(lambda: self.lines(reader, "alert"), 20, "an alert")
        [far] = self.lines(reader, "alert")
        self.assertEqual((far["alert"], far["owner"], far["limit_m"]), ("far", "nmea", 300))
        # A fix, and another one 20 s later: the move of the owner alone rings nobody.
        self.assertGreater(far["seq"], last)
        os.write(line.master, self.sentences(30))
        wait_until(lambda: len(self.lines(reader, "alert")) == 2, 20, "another alert")
        self.assertEqual(self.lines(reader, "alert")[1]["alert"], "near")
        self.assertEqual(receiver.stop(), 0)
        self.assertEqual(reader.stop(), 0)

    def test_deliver(self):
        line = SerialLine()
        self.addCleanup(line.close)
        receiver = self.collar(5, "0.1")
        wait_until(lambda: os.path.exists(self.state), 10, "a state directory")
        taken = pathlib.Path(self.path("taken"))
        deliverer = self.start([BINARY, "deliver", "sink", "--events", "owner,fix", "--owner", line.path, "--state-dir", self.state, "--",
                                "tee", "-a", str(taken)], environment=self.environment)
        deliverer.wait_for_error("The reader uses")

        def lines():
            return [json.loads(each) for each in taken.read_text().splitlines()] if taken.exists() else []
        wait_until(lambda: len(lines()) == 6, 20, "five fixes, and the owner")
        self.assertEqual(lines()[0]["type"], "owner")
        os.write(line.master, self.sentences(70))
        wait_until(lambda: len(lines()) == 7, 20, "another owner line")
        self.assert_at(lines()[6], 70)
        self.assertEqual(deliverer.stop(), 0)
        self.assertEqual(receiver.stop(), 0)

    def test_owners_who_do_not_move(self):
        receiver = self.collar(1)
        given = self.follow("50.1,-5.2")
        self.assertEqual(self.lines(given, "owner")[0]["source"], "given")
        self.next_fix(given)
        home = self.follow("home")
        self.assertNotIn("coordinate", self.wait_for_owner(home, 1))
        self.write_places(f"[place home]\nat = {HOME[0]} {HOME[1]}\nradius = 60\n")
        self.assertEqual(home.stop(), 0)
        home = self.follow("home")
        self.assertEqual({**self.wait_for_owner(home, 1), "unix_ms": 0}, {
            "type": "owner", "unix_ms": 0, "source": "home", "place": "home", "coordinate": {"latitude": HOME[0], "longitude": HOME[1]}})
        for program in (given, home, receiver):
            self.assertEqual(program.stop(), 0)

    def test_wrong_options(self):
        file = self.path("no port")
        pathlib.Path(file).write_bytes(b"")
        give_to_ordinary_user(file)
        for arguments, code, says in [
                (["history", "--owner", "gpsd"], 64, "Only `follow` and `deliver`"),
                (["run", "--owner", "/dev/ttyS0"], 64, "Only `follow` and `deliver`"),
                (["follow", "--owner", "gpsd://"], 64, "gpsd://HOST:PORT"),
                (["follow", "--owner", "gpsd://a:0"], 64, "gpsd://HOST:PORT"),
                (["follow", "--owner", "ttyUSB0"], 64, "the path of a serial port"),
                (["follow", "--events", "owner"], 64, "`--events owner` needs the owner"),
                (["follow", "--events", "owner", "--owner", "home", "-F", "text"], 64, "JSON only"),
                (["follow", "--owner", "home", "--owner-speed", "9600"], 64, "goes with a serial port"),
                (["follow", "--owner", "/dev/ttyS0", "--owner-speed", "9601"], 64, "takes no 9601"),
                (["deliver", "x", "--once", "--owner", "gpsd", "--", "cat"], 64, "exclude each other"),
                (["follow", "--owner", file, "--state-dir", self.folder], 78, "is not a serial port")]:
            with self.subTest(arguments):
                self.call(*arguments, code=code)
                self.assertIn(says, self.errors)
