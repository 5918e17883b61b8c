"""`history --by day`, compared with sums that are computed here from the lines of `history`, and windows of time."""

import collections
import datetime
import json
import math
import zoneinfo

from command_case import CommandTest
from end_to_end import give_to_ordinary_user
from schemas import SCHEMAS

ZONE = "Europe/Lisbon"
# As LINES.md says: metres, metres, milliseconds, milliseconds.
UNKNOWN_ACCURACY, POOR, LONGEST_GAP, LATE = 10, 50, 12 * 3_600_000, 60_000


def distance(one, other):
    """On a sphere with the mean radius of the Earth; the error is less than half a percent."""
    (a, b), (c, d) = [map(math.radians, (fix["latitude"], fix["longitude"])) for fix in (one, other)]
    half = math.sin((c - a) / 2) ** 2 + math.cos(a) * math.cos(c) * math.sin((d - b) / 2) ** 2
    return 2 * 6_371_008.8 * math.asin(math.sqrt(half))


def accuracy(fix):
    return fix["h_accuracy_m"] if fix["h_accuracy_m"] >= 0 else UNKNOWN_ACCURACY


def date_of(milliseconds):
    return datetime.datetime.fromtimestamp(milliseconds / 1000, zoneinfo.ZoneInfo(ZONE)).date().isoformat()


def sums(fixes, home):
    """The sums of each day of fixes in the order of their sequences."""
    days = collections.defaultdict(lambda: {"fixes": 0, "late": 0, "distance_m": 0, "farthest_m": 0, "places": collections.Counter()})
    anchor = previous = None
    for fix in fixes:
        day = days[date_of(fix["ts_unix_ms"])]
        day["fixes"] += 1
        day["late"] += fix["rx_unix_ms"] - fix["ts_unix_ms"] > LATE
        if anchor is None:
            anchor = fix
        step = distance(anchor["coordinate"], fix["coordinate"])
        if step > math.hypot(accuracy(anchor), accuracy(fix)):
            day["distance_m"] += step
            anchor = fix
        elif accuracy(fix) < accuracy(anchor):
            anchor = fix
        if fix["h_accuracy_m"] <= POOR:
            day["farthest_m"] = max(day["farthest_m"], distance(home, fix["coordinate"]))
        if previous and 0 < fix["ts_unix_ms"] - previous["ts_unix_ms"] <= LONGEST_GAP:
            # A second at a time.
            start, end = previous["ts_unix_ms"], fix["ts_unix_ms"]
            for time in range(start, end, 1000):
                place = (previous if time < (start + end) / 2 else fix).get("place")
                if place:
                    days[date_of(time)]["places"][place] += 1
        previous = fix
    return days


class DaysTest(CommandTest):
    def setUp(self):
        super().setUp()
        give_to_ordinary_user(self.folder)
        self.environment["TZ"] = ZONE

    def history(self, *arguments, **options):
        return [json.loads(line) for line in self.call("history", "--state-dir", self.state, *arguments, **options).splitlines()]

    def store(self, name, limit=None):
        track, _ = self.track(name, limit)
        collar = self.simulate(track, "--interval", "0.02", "--until-delivered")
        receiver = self.receive(environment=self.environment)
        self.assertEqual(collar.wait(60), 0)
        self.assertEqual(receiver.stop(), 0)

    def check(self, name, radius):
        self.store(name)
        fixes = self.history("--sort", "sequence", "--events", "fix")
        home = fixes[0]["coordinate"]
        self.call("place", "home", f"{home['latitude']},{home['longitude']}", "--radius", str(radius))
        self.call("place", "north", f"{home['latitude'] + 0.002},{home['longitude']}", "--radius", "150")
        fixes = self.history("--sort", "sequence", "--events", "fix")
        expected = sums(fixes, home)
        days = self.history("--by", "day")
        self.assertEqual([day["date"] for day in days], sorted(expected))
        self.assertGreater(len(days), 1)
        self.assertGreater(sum(day["distance_m"] for day in days), 500)
        for day in days:
            SCHEMAS["day"].validate(day)
            wanted = expected[day["date"]]
            self.assertEqual((day["fixes"], day["late"]), (wanted["fixes"], wanted["late"]))
            self.assertEqual((day["missing"], day["lost"]), (0, 0))
            self.assertAlmostEqual(day["distance_m"], wanted["distance_m"], delta=1 + 0.01 * wanted["distance_m"])
            self.assertAlmostEqual(day["farthest_m"], wanted["farthest_m"], delta=1 + 0.01 * wanted["farthest_m"])
            seconds = {place["place"]: place["seconds"] for place in day["places"]}
            self.assertEqual(set(seconds), {place for place, count in wanted["places"].items() if count > 1})
            for place, count in seconds.items():
                self.assertAlmostEqual(count, wanted["places"][place], delta=2 + 0.01 * count)
        self.assertGreater(sum(len(day["places"]) for day in days), 0)
        return days

    def test_a_cat(self):
        days = self.check("cats_uk/Athena", 60)
        table = self.call("history", "--by", "day", "-F", "text", "--state-dir", self.state).splitlines()
        self.assertEqual(len(table), 1 + len(days))
        self.assertIn("WALKED", table[0])
        self.assertTrue(table[1].startswith(days[0]["date"]))
        self.call("history", "--by", "day", "-F", "gpx", code=64)
        self.call("history", "--by", "day", "--sort", "arrival", code=64)
        self.call("history", "--by", "week", code=64)

    def test_another_cat(self):
        self.check("cats_uk/Maxwell-Tag", 40)

    def test_windows(self):
        self.store("cats_uk/Athena", 20)
        fixes = self.history("--sort", "sequence")
        self.assertEqual(self.history("--last", "3"), fixes[-3:])
        self.assertEqual(self.history("--last", "100"), fixes)
        self.call("history", "--last", "3", "--sort", "arrival", "--state-dir", self.state, code=64)
        arrived = self.history()
        middle = arrived[10]["rx_unix_ms"]
        before, after = self.history("--until", f"@{middle // 1000}"), self.history("--since", f"@{middle // 1000}")
        self.assertEqual(before + after, arrived)
        self.assertEqual(self.history("--until", "1w"), [])
        self.call("history", "--until", "soon", "--state-dir", self.state, code=64)
        self.assertIn("`--until` takes a time", self.errors)


if __name__ == "__main__":
    import unittest
    unittest.main()
