"""Places: the command `place`, its file, and what lines say of places and of the owner."""

import csv
import json
import os
import pathlib

from command_case import CommandTest
from end_to_end import BINARY, TRACKS, give_to_ordinary_user
from schemas import SCHEMAS


class PlaceTest(CommandTest):
    """The walk of a cat is stored."""

    def setUp(self):
        super().setUp()
        give_to_ordinary_user(self.folder)
        self.places = pathlib.Path(self.path("configuration/collar-link/places"))
        track, self.made = self.unpack(TRACKS / "cats_uk/Athena.ndjson.gz", 30)
        collar = self.simulate(track, "--interval", "0.05", "--until-delivered")
        receiver = self.receive(environment=self.environment)
        self.assertEqual(collar.wait(30), 0)
        receiver.wait_for_lines(30)
        self.assertEqual(receiver.stop(), 0)

    @staticmethod
    def check(line):
        SCHEMAS[line["type"]].validate(line)

    def history(self, *arguments, **options):
        output = self.call("history", "--state-dir", self.state, "--sort", "sequence", *arguments, **options)
        return [json.loads(line) for line in output.splitlines()]

    def test_a_place_here(self):
        last = self.history()[-1]
        self.assertEqual(self.call("place", "home", "here", "--radius", "60", "--private", "--state-dir", self.state), "")
        at = last["coordinate"]
        self.assertEqual(
            self.places.read_text(), f"[place home]\nat = {at['latitude']} {at['longitude']}\nradius = 60\nprivate = yes\n")
        [line] = self.call("place", "-F", "json").splitlines()
        self.check(json.loads(line))
        self.assertEqual(
            json.loads(line),
            {"type": "place", "name": "home", **at, "radius_m": 60, "is_area": False, "private": True})
        self.assertIn("home", self.call("place"))
        shown, exact = self.history("--owner", "home"), self.history("--owner", "home", "--exact")
        for one, true in zip(shown, exact):
            self.check(one)
            self.check(true)
            self.assertEqual("private" in one, true["distance_m"] <= 60)
            if "private" in one:
                self.assertEqual((one["coordinate"], one["distance_m"], one["speed_mps"]), (at, 0, -1))
            else:
                self.assertEqual(one, true)
        self.assertGreater(sum("private" in one for one in shown), 0)
        self.assertGreater(sum("place" not in one for one in shown), 0)
        rows = list(csv.DictReader(self.call("history", "--state-dir", self.state, "--sort", "sequence", "-F", "csv", "--owner", "home").splitlines()))
        self.assertEqual([(row["place"], row["private"], row["distance_m"]) for row in rows],
                         [(one.get("place", ""), "true" if "private" in one else "", str(one["distance_m"])) for one in shown])
        text = self.call("history", "--state-dir", self.state, "--owner", "home", "-F", "text", "--events", "fix")
        self.assertEqual(text.count("  at home (private)  0 m from the owner  "), sum("private" in one for one in shown))
        for form in ("text", "csv", "gpx", "geojson", "geojson-track", "owntracks", "traccar", "influx", "movebank"):
            text = self.call("history", "--state-dir", self.state, "-F", form)
            hidden = {str(true["coordinate"]["latitude"]) for one, true in zip(shown, exact) if "private" in one}
            hidden -= {latitude for latitude in hidden if len(latitude) < len("50.12345")}
            hidden -= {str(one["coordinate"]["latitude"]) for one in shown}
            self.assertGreater(len(hidden), 0)
            for latitude in hidden:
                self.assertNotIn(latitude, text, form)
        status = json.loads(self.call("status", "-F", "json", "--state-dir", self.state))
        self.assertEqual(status["collars"][0]["fix"]["coordinate"], at)
        self.assertTrue(status["collars"][0]["fix"]["private"])
        # Another place would tell the hidden position; the same place may be moved.
        self.call("place", "spy", "here", "--state-dir", self.state, code=64)
        self.assertIn("the private place 'home'", self.errors)
        self.call("place", "home", "here", "--radius", "60", "--state-dir", self.state)
        self.assertEqual([line.split()[0] for line in self.call("place").splitlines()[1:]], ["home"])

    def test_changes_keep_the_rest(self):
        self.places.parent.mkdir(parents=True)
        self.places.write_text("# mine\n[place a]  # first\nat = 1 2\n# the radius\nradius = 3\n\n[place b]\nat = 4 5\nradius = 6\n")
        for path in (self.places.parent.parent, self.places.parent, self.places):
            give_to_ordinary_user(path)
        self.call("place", "a", "-7,8")
        self.assertIn("at = -7.0 8.0\n", self.places.read_text())
        self.call("place", "a", "7,8")
        self.assertEqual(
            self.places.read_text(),
            "# mine\n[place a]  # first\nat = 7.0 8.0\nradius = 50\n# the radius\n\n[place b]\nat = 4 5\nradius = 6\n")
        self.call("place", "b", "4,5", "--private")
        self.call("place", "b", "4,5", "--radius", "6")
        self.assertEqual(self.places.read_text().partition("[place b]")[2], "\nat = 4.0 5.0\nradius = 6\nprivate = yes\n")
        self.places.write_text(self.places.read_text().replace("at = 4.0 5.0\nradius = 6\nprivate = yes\n", "at = 4 5\nradius = 6\n"))
        self.call("place", "a", "--remove")
        self.assertEqual(self.places.read_text(), "# mine\n[place b]\nat = 4 5\nradius = 6\n")
        self.call("place", "a", "--remove", code=64)
        self.assertIn("There is no place 'a'", self.errors)
        for wrong, says in [(["x", "here", "--radius", "0"], "--radius"), (["x", "91,0"], "no position"), (["x"], "Where is x?"),
                            (["a # b", "1,2"], "no name"), (["--remove"], "needs a place")]:
            self.call("place", *wrong, code=64)
            self.assertIn(says, self.errors)

    def test_a_wrong_file(self):
        """A command that would show a private position does not start. A running one keeps the places that it had."""
        self.call("place", "home", "here", "--private", "--state-dir", self.state)
        right = self.places.read_text()
        follower = self.start([BINARY, "follow", "--state-dir", self.state], environment=self.environment)
        follower.wait_for_lines(30)
        self.places.write_text(right + "radios = 5\n")
        for command in ("history", "follow", "status"):
            self.call(command, "--state-dir", self.state, code=78)
            self.assertIn("places, line 5: there is no key 'radios'. Did you mean radius?", self.errors)
        self.call("place", "b", "1,2", code=78)
        self.assertEqual(self.call("name"), "")
        self.assertEqual(follower.stop(), 0)
        self.assertTrue(json.loads(follower.lines[-1])["private"])
        self.places.write_text(right)
        os.chmod(self.places, 0)
        self.call("history", "--state-dir", self.state, code=77)
        self.assertIn("cannot be read: Permission denied", self.errors)

    def test_an_area(self):
        (west, south), (east, north) = [
            (f(fix["coordinate"]["longitude"] for fix in self.made), f(fix["coordinate"]["latitude"] for fix in self.made))
            for f in (min, max)]
        middle = (south + north) / 2
        self.places.parent.mkdir(parents=True)
        ring = [[west - 1, middle], [east + 1, middle], [east + 1, north + 1], [west - 1, north + 1], [west - 1, middle]]
        (self.places.parent / "north.geojson").write_text(json.dumps({"type": "Polygon", "coordinates": [ring]}))
        self.places.write_text("[place north]\narea = north.geojson\n")
        fixes = self.history()
        self.assertEqual({"place" in fix for fix in fixes}, {True, False})
        for fix in fixes:
            self.assertEqual("place" in fix, fix["coordinate"]["latitude"] >= middle)
        [line] = self.call("place", "-F", "json").splitlines()
        self.check(json.loads(line))
        self.assertTrue(json.loads(line)["is_area"])

    def test_owner(self):
        made = self.made[0]["coordinate"]
        first = self.history("--owner", f"{made['latitude']},{made['longitude']}")[0]
        self.assertLess(first["distance_m"], 1)
        for fix in self.history("--owner", "51.1703 -5.1140"):
            self.assertAlmostEqual(fix["distance_m"], 111_250, delta=400)
            self.assertAlmostEqual(fix["bearing_deg"], 180, delta=1)
        self.call("history", "--state-dir", self.state, "--owner", "there", code=64)
        self.assertIn("`--owner` takes a latitude and a longitude", self.errors)


if __name__ == "__main__":
    import unittest
    unittest.main()
