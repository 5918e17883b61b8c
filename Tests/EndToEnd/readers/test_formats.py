"""Every format of `history` and `decode`, read back by the programs that it is for."""

import csv
import io
import json
import os
import pty
import re
import shutil
import subprocess
import time
import unittest

from end_to_end import BINARY, ORDINARY_USER, EndToEndTest, child_environment, wait_until
from radio import Radio
from readers import ENVIRONMENT, GPSD, GPXPY, SHAPELY, Influx, milliseconds, with_gpsbabel, with_gpxpy, with_shapely
from serial_line import SerialLine

from session_parts import A, B

FORMATS = ("json", "text", "csv", "gpx", "geojson", "geojson-track", "movebank", "influx", "owntracks", "traccar", "homeassistant", "nmea")
# Of JSON's keys, those whose unknown value is -1.
NEGATIVE_IF_UNKNOWN = ("h_accuracy_m", "v_accuracy_m", "speed_mps", "course_deg", "battery_pct")
CSV_NAMES = {"latitude_deg": "latitude", "longitude_deg": "longitude"}
EXTENSION = "{urn:collar-link:gpx:1}"


def walk(count=240):
    """A walk over the antimeridian, south of the equator, with values that are unknown now and then, as lines of a track."""
    for index in range(count):
        longitude = 179.9990 + index * 1e-5
        yield {
            "ts_unix_ms": 1_760_000_000_123 + index * 1000, "source": "collar",
            "coordinate": {"latitude": -16.5 - index * 1.3e-5, "longitude": longitude - 360 * (longitude > 180)},
            "alt_m": None if index % 7 == 3 else 12 - index % 30, "h_accuracy_m": -1 if index % 5 == 4 else 3 + index % 9,
            "v_accuracy_m": -1 if index % 3 else 8, "speed_mps": -1 if index % 4 == 1 else index % 12 / 10,
            "course_deg": -1 if index % 6 == 2 else index * 2 % 360, "heading_deg": None if index % 2 else index % 360,
            "battery_pct": -1 if index % 11 == 10 else 90 - index // 20, "seq": index}


class Formats(EndToEndTest):
    """The same fixes in each format. JSON, which its own tests check, is what the others are compared with."""

    def setUp(self):
        super().setUp()
        lines = [json.dumps(line).encode() + b"\n" for line in walk()]
        path, _ = self.write_track("walk.ndjson", lines)
        encoded = subprocess.run([BINARY, "encode", path], capture_output=True, timeout=30, check=True, **ORDINARY_USER)
        self.capture = self.path("walk.bin")
        with open(self.capture, "wb") as file:
            file.write(encoded.stdout)
        os.chmod(self.capture, 0o644)
        self.fixes = [json.loads(line) for line in self.decode("json").splitlines()]
        self.assertEqual(len(self.fixes), len(lines))

    def run_tool(self, *arguments, code=0, **environment):
        result = subprocess.run([BINARY, *arguments], capture_output=True, timeout=60, check=False,
                                env=child_environment(**environment), **ORDINARY_USER)
        self.errors = result.stderr.decode()
        self.assertEqual(result.returncode, code, self.errors)
        return result.stdout.decode()

    def decode(self, form, *arguments, **options):
        return self.run_tool("decode", "-F", form, self.capture, *arguments, **options)

    def file(self, form):
        """A file with all fixes in a format."""
        path = self.path(f"walk.{form}")
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(self.decode(form))
        os.chmod(path, 0o644)
        return path

    def lines(self, form):
        return [json.loads(line) for line in self.decode(form).splitlines()]

    @property
    def points(self):
        return [(fix["ts_unix_ms"], fix["coordinate"]["latitude"], fix["coordinate"]["longitude"]) for fix in self.fixes]

    @property
    def points_below_180(self):
        """The points as GPX gives them: its longitudes are below 180."""
        points = [(time, latitude, -180 if longitude == 180 else longitude) for time, latitude, longitude in self.points]
        self.assertNotEqual(points, self.points)
        return points

    def known(self, fix, key):
        """A value of a fix; None if it is unknown."""
        value = fix[key]
        return None if key in NEGATIVE_IF_UNKNOWN and value == -1 else value

    def assert_points(self, found, expected=None, digits=9):
        """The same points: times equal, coordinates equal to `places` decimal places."""
        expected = self.points if expected is None else expected
        self.assertEqual(len(found), len(expected))
        for one, other in zip(found, expected):
            self.assertEqual(one[0], other[0])
            self.assertAlmostEqual(one[1], other[1], digits)
            self.assertAlmostEqual(one[2], other[2], digits)


class TableTest(Formats):
    def test_csv(self):
        rows = list(csv.DictReader(io.StringIO(self.decode("csv")), strict=True))
        self.assertEqual(len(rows), len(self.fixes))
        for row, fix in zip(rows, self.fixes):
            self.assertNotIn(None, row)
            expected = {**fix, **fix["coordinate"]}
            for name, text in row.items():
                key = CSV_NAMES.get(name, name)
                value = self.known(expected, key) if key in expected else None
                if value is None:
                    self.assertEqual(text, "", name)
                elif isinstance(value, str):
                    self.assertEqual(text, value)
                else:
                    self.assertEqual(float(text), value, name)

    @unittest.skipUnless(shutil.which("gpsbabel"), "needs gpsbabel")
    def test_csv_with_gpsbabel(self):
        style = self.path("style")
        names = self.decode("csv").splitlines()[0].split(",")
        kinds = {"ts_unix_ms": 'TIMET_TIME_MS,"","%ld"', "latitude_deg": 'LAT_DECIMAL,"","%f"', "longitude_deg": 'LON_DECIMAL,"","%f"'}
        with open(style, "w", encoding="ascii") as file:
            file.write("DATATYPE TRACK\nFIELD_DELIMITER COMMA\nRECORD_DELIMITER NEWLINE\nPROLOGUE header\n")
            file.writelines("IFIELD " + kinds.get(name, 'IGNORE,"","%s"') + "\n" for name in names)
        self.assert_points(with_gpsbabel(f"xcsv,style={style}", self.file("csv")))

    def test_movebank(self):
        """Columns that Movebank, ctmm and move2 know, and their values."""
        reader = csv.DictReader(io.StringIO(self.decode("movebank")), strict=True)
        self.assertEqual(reader.fieldnames, [
            "timestamp", "location-long", "location-lat", "height-above-msl", "ground-speed", "heading",
            "gps-horizontal-accuracy-estimate", "location-error-numerical", "tag-local-identifier", "individual-local-identifier",
            "individual-taxon-canonical-name", "sensor-type"])
        rows = list(reader)
        self.assert_points([(milliseconds(row["timestamp"]), float(row["location-lat"]), float(row["location-long"])) for row in rows])
        for row, fix in zip(rows, self.fixes):
            self.assertRegex(row["timestamp"], r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$")
            self.assertEqual((row["tag-local-identifier"], row["sensor-type"]), (fix["collar"], "gps"))
            # Without a name: R would take all fixes without an animal for one animal, and digits for a number.
            self.assertEqual((row["individual-local-identifier"], row["individual-taxon-canonical-name"]), ("collar " + fix["collar"], ""))
            for name, key in (("height-above-msl", "alt_m"), ("ground-speed", "speed_mps"), ("heading", "course_deg"),
                              ("gps-horizontal-accuracy-estimate", "h_accuracy_m"), ("location-error-numerical", "h_accuracy_m")):
                self.assertEqual(float(row[name]) if row[name] else None, self.known(fix, key), name)

    def test_movebank_in_r(self):
        """The choice of columns in ctmm 1.2.1 (R/telemetry.R: ATTRIBUTE, canonical.name, pull.column) and move2 0.3.0 (R/mt_read.R and
        R/movebank_constants.R: movebank_minimal_columns, mb_column_units)."""
        rows = list(csv.DictReader(io.StringIO(self.decode("movebank")), strict=True))
        columns = {re.sub("[.:_ -]", "", name).lower(): name for name in rows[0]}

        def pulled(*names):
            """The first column of these names in which something is known."""
            return next((columns[name] for name in names if name in columns and any(row[columns[name]] for row in rows)), None)

        self.assertEqual(pulled("timestamp", "timestampoffix", "acquisitiontime"), "timestamp")
        self.assertEqual(pulled("animalid", "individuallocalidentifier", "localidentifier", "individualid", "name", "id", "taglocalidentifier"),
                         "individual-local-identifier")
        self.assertEqual((pulled("locationlongitude", "locationlong"), pulled("locationlatitude", "locationlat")),
                         ("location-long", "location-lat"))
        # In metres: the first of the names of errors counts, before every dilution of precision.
        self.assertEqual(pulled("eobshorizontalaccuracyestimate", "eobshorizontalaccuracyestimatem", "eobshorizontalaccuracy",
                                "gpshorizontalaccuracyestimate", "gpshorizontalaccuracyestimatem", "horizontalaccuracy", "error"),
                         "gps-horizontal-accuracy-estimate")
        self.assertEqual(pulled("heightaboveellipsoid", "heightaboveelipsoid", "heightabovemsl"), "height-above-msl")
        self.assertEqual((pulled("groundspeed", "speed"), pulled("heading")), ("ground-speed", "heading"))
        self.assertLessEqual({"location-long", "location-lat", "timestamp", "individual-local-identifier"}, set(rows[0]))
        # The columns with units of their own.
        self.assertLessEqual({"location-error-numerical", "height-above-msl", "ground-speed", "heading"}, set(rows[0]))
        for row in rows:
            self.assertNotEqual(row["individual-local-identifier"], "")
            self.assertIn(row["sensor-type"], ("gps", "gnss"))

    @unittest.skipUnless(shutil.which("influxd"), "needs influxd")
    def test_influx(self):
        database = Influx(self)
        self.assertEqual(database.write(self.decode("influx").encode()), 204)
        rows = database.ask("SELECT * FROM collar_fix")
        self.assert_points([(row["time"], row["latitude"], row["longitude"]) for row in rows])
        for row, fix in zip(rows, self.fixes):
            self.assertEqual(row["collar"], fix["collar"])
            for key in ("seq", "log", "alt_m", "heading_deg", *NEGATIVE_IF_UNKNOWN):
                self.assertEqual(row[key], self.known(fix, key), key)
        kinds = {row["fieldKey"]: row["fieldType"] for row in database.ask("SHOW FIELD KEYS")}
        self.assertEqual({key for key, kind in kinds.items() if kind == "integer"},
                         {"seq", "log", "course_deg", "heading_deg", "battery_pct"})
        self.assertEqual(set(kinds.values()), {"integer", "float"})
        # The same fixes again are no more points.
        database.write(self.decode("influx").encode())
        self.assertEqual(database.ask("SELECT COUNT(seq) FROM collar_fix")[0]["count"], len(self.fixes))


    def test_influx_times_are_distinct(self):
        """A server keeps one point for each time."""
        line = next(walk())
        path, _ = self.write_track("moment.ndjson", [json.dumps({**line, "seq": seq}).encode() + b"\n" for seq in (0, 7, 1_000_003)])
        frames = subprocess.run([BINARY, "encode", path], capture_output=True, timeout=30, check=True).stdout
        points = subprocess.run([BINARY, "decode", "-F", "influx"], input=frames, capture_output=True, timeout=30, check=True).stdout
        self.assertEqual([int(point.split()[-1]) for point in points.splitlines()],
                         [line["ts_unix_ms"] * 1_000_000 + nanoseconds for nanoseconds in (0, 7, 3)])


class MapTest(Formats):
    @unittest.skipUnless(shutil.which("gpsbabel"), "needs gpsbabel")
    def test_gpx_with_gpsbabel(self):
        self.assert_points(with_gpsbabel("gpx", self.file("gpx")), self.points_below_180)

    @unittest.skipUnless(GPXPY.exists(), "needs gpxpy")
    def test_gpx_with_gpxpy(self):
        (name, (points,)), = with_gpxpy(self.file("gpx"))
        self.assertEqual(name, "collar " + self.fixes[0]["collar"])
        self.assert_points([(milliseconds(point[0]), point[1], point[2]) for point in points], self.points_below_180)
        for (*_, elevation, extensions), fix in zip(points, self.fixes):
            self.assertEqual(elevation, fix["alt_m"])
            values = {key: self.known(fix, key) for key in (*NEGATIVE_IF_UNKNOWN, "heading_deg")}
            self.assertEqual({tag.removeprefix(EXTENSION): float(text) for tag, text in extensions.items()},
                             {key: value for key, value in values.items() if value is not None})

    def test_geojson(self):
        """What RFC 7946 says of a FeatureCollection of points."""
        collection = json.loads(self.decode("geojson"))
        self.assertEqual(set(collection), {"type", "features"})
        self.assertEqual(collection["type"], "FeatureCollection")
        for feature, fix in zip(collection["features"], self.fixes):
            self.assertEqual(set(feature), {"type", "id", "geometry", "properties"})
            self.assertEqual((feature["type"], feature["id"]), ("Feature", fix["id"]))
            self.assertEqual((set(feature["geometry"]), feature["geometry"]["type"]), ({"type", "coordinates"}, "Point"))
            longitude, latitude = feature["geometry"]["coordinates"]
            self.assertTrue(-180 <= longitude <= 180 and -90 <= latitude <= 90)
            expected = {key: self.known(fix, key) for key in fix if key not in ("type", "id", "coordinate")}
            self.assertEqual(feature["properties"], expected)
        self.assert_points([(feature["properties"]["ts_unix_ms"], *reversed(feature["geometry"]["coordinates"]))
                            for feature in collection["features"]])

    @unittest.skipUnless(shutil.which("gpsbabel"), "needs gpsbabel")
    def test_geojson_with_gpsbabel(self):
        found = with_gpsbabel("geojson", self.file("geojson"), "-w")
        self.assert_points(found, [(None, *point[1:]) for point in self.points])

    def assert_lines(self, lines):
        """Lines through all points, in their order, with ends at the antimeridian."""
        found = []
        for line in lines:
            self.assertGreaterEqual(len(line), 2)
            for one, other in zip(line, line[1:]):
                self.assertLess(abs(one[0] - other[0]), 1)
            self.assertTrue(all(-180 <= longitude <= 180 and -90 <= latitude <= 90 for longitude, latitude in line))
            found += line
        for end, begin in zip(lines, lines[1:]):
            self.assertEqual((abs(end[-1][0]), abs(begin[0][0]), end[-1][1]), (180, 180, begin[0][1]))
            self.assertNotEqual(end[-1][0], begin[0][0])
        self.assert_points([(None, latitude, longitude) for longitude, latitude in found if abs(longitude) != 180],
                           [(None, *point[1:]) for point in self.points if abs(point[2]) != 180], 7)

    def test_lines_of_geojson(self):
        """What RFC 7946 says of lines, and of the antimeridian (3.1.9)."""
        collection = json.loads(self.decode("geojson-track"))
        self.assertEqual(collection["type"], "FeatureCollection")
        self.assertEqual([feature["geometry"]["type"] for feature in collection["features"]], ["LineString"] * 2)
        self.assert_lines([[tuple(point) for point in feature["geometry"]["coordinates"]] for feature in collection["features"]])
        west, east = (feature["properties"] for feature in collection["features"])
        self.assertEqual((west["first_seq"], west["last_seq"] + 1, east["last_seq"]), (0, east["first_seq"], len(self.fixes) - 1))
        self.assertEqual(west["fixes"] + east["fixes"], len(self.fixes))
        for feature in collection["features"]:
            values = feature["properties"]
            first, last = self.fixes[values["first_seq"]], self.fixes[values["last_seq"]]
            self.assertEqual(feature["id"], first["id"])
            self.assertEqual((values["first_ts_unix_ms"], values["last_ts_unix_ms"], values["collar"], values["log"]),
                             (first["ts_unix_ms"], last["ts_unix_ms"], first["collar"], first["log"]))

    @unittest.skipUnless(shutil.which("gpsbabel"), "needs gpsbabel")
    def test_lines_of_geojson_with_gpsbabel(self):
        found = [(longitude, latitude) for _, latitude, longitude in with_gpsbabel("geojson", self.file("geojson-track"), "-r")]
        edge = next(index for index, point in enumerate(found) if point[0] == -180)
        self.assert_lines([found[:edge], found[edge:]])

    @unittest.skipUnless(SHAPELY.exists(), "needs shapely")
    def test_lines_of_geojson_with_shapely(self):
        lines = with_shapely(self.file("geojson-track"))
        self.assertEqual([(kind, valid) for kind, valid, _ in lines], [("LineString", True)] * 2)
        self.assert_lines([[tuple(point) for point in points] for *_, points in lines])

    @unittest.skipUnless(shutil.which("gpsbabel"), "needs gpsbabel")
    def test_nmea_with_gpsbabel(self):
        self.assert_points(with_gpsbabel("nmea", self.file("nmea")), digits=7)

    @unittest.skipUnless(shutil.which("gpsd") and shutil.which("gpspipe"), "needs gpsd and gpspipe")
    def test_nmea_with_gpsd(self):
        gpsd = GPSD(self)
        text = self.decode("nmea")
        self.assertEqual(re.sub(r"\r\n", "", text).count("\r") + re.sub(r"\r\n", "", text).count("\n"), 0)
        epochs = re.findall(r"(?:.*\r\n){2}", text)
        self.assertEqual(len(epochs), len(self.fixes))
        for epoch in epochs:
            gpsd.send(epoch.encode())
        # gpsd reports a moment when the next one begins.
        wait_until(lambda: len(gpsd.points()) >= len(epochs) - 1, 20, f"{len(epochs) - 1} of {len(epochs)} points")
        found = gpsd.points()
        missing = [point for point in self.points if point[0] not in found]
        self.assertLessEqual(len(missing), 1)
        for time, latitude, longitude in self.points:
            if time in found:
                self.assertAlmostEqual(found[time]["lat"], latitude, 7)
                self.assertAlmostEqual(found[time]["lon"], longitude, 7)


def owntracks_of_traccar(line):
    """A position as Traccar's decoder for OwnTracks reads it: org/traccar/protocol/OwnTracksProtocolDecoder.java at commit 0333aea1,
    `decode`. Text is read as ASCII (line 47), the device is the topic, else `tid`, with dashes for slashes (54–63), and whole
    numbers are cut (84–103)."""
    root = json.loads(line.encode().decode("ascii", "replace"))
    if root["_type"] != "location":
        return None
    # getInt and getJsonNumber raise an exception for a value of another type.
    for key in ("vel", "alt", "cog", "acc", "batt"):
        if not isinstance(root.get(key, 0), int):
            raise TypeError(key)
    return {"device": (root["topic"] if "topic" in root else root["tid"]).replace("/", "-"), "time": root["tst"] * 1000,
            "latitude": float(root["lat"]), "longitude": float(root["lon"]),
            **{key: root[key] for key in ("vel", "alt", "cog", "acc", "batt") if key in root}}


def osmand_of_traccar(line):
    """A position as Traccar's decoder for OsmAnd reads it: `decodeJson` of org/traccar/protocol/OsmAndProtocolDecoder.java, from a copy
    whose header says 2025. A member that is read without a check is a KeyError here and a refused position there."""
    root = json.loads(line)
    location = root["location"]
    coordinates = location["coords"]
    position = {"device": root["device_id"], "time": milliseconds(location["timestamp"]),
                "latitude": float(coordinates["latitude"]), "longitude": float(coordinates["longitude"]),
                "altitude": float(coordinates["altitude"])}
    for key in ("speed", "heading", "accuracy"):
        # The setting osmand.minAccuracy, which is compared with the accuracy, is 0 if it is not given.
        if float(coordinates[key]) >= 0:
            position[key] = float(coordinates[key])
    if "battery" in location:
        if not isinstance(location["battery"]["is_charging"], bool):
            raise TypeError("is_charging")
        if location["battery"]["level"] >= 0:
            position["batteryLevel"] = int(location["battery"]["level"] * 100)
        if location["battery"]["is_charging"]:
            position["charge"] = True
    return position


class TrackerTest(Formats):
    """The rules that OwnTracks, Traccar and Home Assistant document."""

    def test_owntracks(self):
        lines = self.lines("owntracks")
        self.assert_points([(1000 * line["tst"] + 123, line["lat"], line["lon"]) for line in lines])
        for line, fix in zip(lines, self.fixes):
            self.assertEqual((line.pop("_type"), line.pop("_id")), ("location", fix["id"]))
            # By the topic, consumers tell devices apart; a map shows the two characters.
            self.assertEqual(line.pop("topic"), f"owntracks/collar-link/{fix['collar']}")
            self.assertEqual(line.pop("tid"), fix["collar"][-2:])
            for key in ("lat", "lon", "tst"):
                line.pop(key)
            # All others are whole numbers, and absent where unknown.
            expected = {"acc": self.known(fix, "h_accuracy_m"), "vac": self.known(fix, "v_accuracy_m"), "alt": fix["alt_m"],
                        "vel": self.known(fix, "speed_mps"), "cog": self.known(fix, "course_deg"),
                        "batt": self.known(fix, "battery_pct")}
            self.assertEqual(set(line), {key for key, value in expected.items() if value is not None})
            for key, value in line.items():
                self.assertIsInstance(value, int)
                wanted = expected[key] * 3.6 if key == "vel" else expected[key]
                self.assertLessEqual(abs(value - wanted), 1 if key in ("acc", "vac") else 0.5, key)
                if key in ("acc", "vac"):
                    self.assertGreaterEqual(value, wanted)

    def test_traccar(self):
        lines = self.lines("traccar")
        self.assert_points([(milliseconds(line["location"]["timestamp"]), line["location"]["coords"]["latitude"],
                             line["location"]["coords"]["longitude"]) for line in lines])
        for line, fix in zip(lines, self.fixes):
            self.assertEqual(line["device_id"], fix["collar"])
            coordinates, battery = line["location"]["coords"], self.known(fix, "battery_pct")
            # The server demands these three, and takes a negative one as unknown.
            for name, key in (("accuracy", "h_accuracy_m"), ("speed", "speed_mps"), ("heading", "course_deg")):
                self.assertEqual(coordinates[name], fix[key])
            self.assertEqual(coordinates.get("altitude"), fix["alt_m"])
            self.assertEqual(line["location"].get("battery"), None if battery is None else {"level": battery / 100, "is_charging": False})

    def test_what_traccar_reads(self):
        """Its two decoders read the values of the fix. A fix of unknown altitude is refused in its own format, and not as OwnTracks."""
        for line, other, fix in zip(self.decode("owntracks").splitlines(), self.decode("traccar").splitlines(), self.fixes):
            known = {key: self.known(fix, key) for key in (*NEGATIVE_IF_UNKNOWN, "alt_m")}
            position = owntracks_of_traccar(line)
            self.assertEqual({key: position.get(key) for key in ("alt", "cog", "batt")},
                             {"alt": known["alt_m"], "cog": known["course_deg"], "batt": known["battery_pct"]})
            if known["alt_m"] is None:
                with self.assertRaises(KeyError):
                    osmand_of_traccar(other)
                continue
            position = osmand_of_traccar(other)
            self.assertEqual({key: position.get(key) for key in ("altitude", "speed", "heading", "accuracy", "batteryLevel", "charge")},
                             {"altitude": known["alt_m"], "speed": known["speed_mps"], "heading": known["course_deg"],
                              "accuracy": known["h_accuracy_m"], "batteryLevel": known["battery_pct"], "charge": None})

    def test_every_level_of_traccar(self):
        """Traccar's server multiplies the level by 100, and cuts off the decimals."""
        path, _ = self.write_track("levels.ndjson", [
            json.dumps({**next(walk()), "seq": percent, "battery_pct": percent}).encode() + b"\n" for percent in range(101)])
        encoded = subprocess.run([BINARY, "encode", path], capture_output=True, timeout=30, check=True)
        decoded = subprocess.run([BINARY, "decode", "-F", "traccar"], input=encoded.stdout, capture_output=True, timeout=30, check=True)
        batteries = [json.loads(line)["location"]["battery"] for line in decoded.stdout.splitlines()]
        self.assertEqual([int(battery["level"] * 100) for battery in batteries], list(range(101)))
        for percent, battery in enumerate(batteries):
            self.assertAlmostEqual(battery["level"], percent / 100, 12)

    def test_home_assistant(self):
        lines = [line.split(" ", 1) for line in self.decode("homeassistant").splitlines()]
        collar = self.fixes[0]["collar"]
        entities = [(topic, json.loads(payload)) for topic, payload in lines if topic.startswith("homeassistant/")]
        self.assertEqual(lines[:10], [line for line in lines if line[0].startswith("homeassistant/")])
        # By the identifier, all are parts of one device; no two have the same id.
        self.assertEqual({json.dumps(entity["device"]) for _, entity in entities},
                         {json.dumps({"identifiers": [f"collar_{collar}"], "name": f"collar {collar}"})})
        self.assertEqual(len({entity["unique_id"] for _, entity in entities}), 10)
        topic, tracker = entities[0]
        self.assertEqual(topic, f"homeassistant/device_tracker/collar_{collar}/config")
        self.assertEqual((tracker["~"], tracker["name"], tracker["json_attributes_topic"]), (f"collar-link/{collar}", None, "~/attributes"))
        attributes = [json.loads(payload) for topic, payload in lines if topic == f"collar-link/{collar}/attributes"]
        # Without gps_accuracy the tracker would show the best one.
        unknown = sum(fix["h_accuracy_m"] < 0 for fix in self.fixes)
        self.assertIn(f"homeassistant has left out {unknown} fixes of unknown accuracy", self.errors)
        shown = [fix for fix in self.fixes if fix["h_accuracy_m"] >= 0]
        self.assertLess(len(shown), len(self.fixes))
        self.assert_points([(milliseconds(each["time"]), each["latitude"], each["longitude"]) for each in attributes],
                           [point for point, fix in zip(self.points, self.fixes) if fix in shown])
        for each, fix in zip(attributes, shown):
            self.assertEqual(each["gps_accuracy"], fix["h_accuracy_m"])
            for name, key in (("altitude", "alt_m"), ("vertical_accuracy", "v_accuracy_m"), ("speed", "speed_mps"),
                              ("course", "course_deg"), ("battery_level", "battery_pct")):
                self.assertEqual(each.get(name), self.known(fix, key), name)


    def test_an_accuracy_in_place_of_an_unknown_one(self):
        lines = [line for line in self.decode("homeassistant", "--unknown-accuracy", "40").splitlines() if "/attributes {" in line]
        self.assertEqual(self.errors, "")
        self.assertEqual([json.loads(line.split(" ", 1)[1])["gps_accuracy"] for line in lines],
                         [40 if fix["h_accuracy_m"] < 0 else fix["h_accuracy_m"] for fix in self.fixes])
        self.decode("gpx", "--unknown-accuracy", "40", code=64)
        self.assertIn("gpx can express that an accuracy is unknown", self.errors)
        self.decode("homeassistant", "--unknown-accuracy", "0", code=64)


class OptionTest(Formats):
    def test_what_is_only_for_json(self):
        for option in (("--flavour", "compact"), ("--flavour", "full")):
            for form in FORMATS[1:]:
                self.assertEqual(self.decode(form, *option, code=64), "")
                self.assertEqual(self.errors.splitlines()[0], f"collar-link: `{option[0]}` is for lines of JSON, not for {form}.")
        self.assertEqual(self.run_tool("history", "-F", "csv", "--source-as", "iOS", "--state-dir", self.state, code=64), "")
        self.assertIn("`--source-as` is for lines of JSON, not for csv.", self.errors)
        for form in ("geojson-track", "movebank", "owntracks", "traccar", "homeassistant", "nmea"):
            self.assertEqual(self.run_tool("history", "-F", form, "--owner", "1,2", "--state-dir", self.state, code=64), "")
            self.assertIn(f"`--owner` has no use: {form} has no distances.", self.errors)
            self.assertIn("give `-F` with json, text, csv, gpx, geojson or influx.", self.errors)
        self.decode("kml", code=64)
        self.assertIn(f"`--format` takes {', '.join(FORMATS[:-1])} or nmea, not 'kml'.", self.errors)

    def test_help_lists_every_format(self):
        for command in ("history", "decode"):
            text = self.run_tool(command, "--help")
            self.assertEqual(re.findall(r"^  ([a-z-]+)  +[^-].*", text.split("\nformats:\n")[1], re.M), list(FORMATS))


class HistoryTest(Formats):
    """`history`, with journals of two collars, one of which has a gap."""

    def setUp(self):
        super().setUp()
        line = SerialLine()
        self.addCleanup(line.close)
        receiver = self.receive(port=line.path)
        receiver.wait_for_error("listening on")
        Radio(line).send(A.identity(following=20) + A.batch(range(5)) + A.tombstone([(5, 7)]) + A.batch(range(8, 20))
                         + B.identity(following=5) + B.batch(range(5)))
        receiver.wait_for_lines(22)
        receiver.stop()
        self.fixes = [json.loads(each) for each in self.history("json").splitlines() if '"fix"' in each]
        self.assertEqual(len(self.fixes), 22)

    def history(self, form, *arguments, **options):
        return self.run_tool("history", "--state-dir", self.state, "-F", form, *arguments, **options)

    def test_rows_of_every_format(self):
        rows = {"csv": 22 + 1, "movebank": 22 + 1, "influx": 22, "owntracks": 22, "traccar": 22, "nmea": 44}
        for form, count in rows.items():
            self.assertEqual(self.history(form).count("\n"), count, form)
        self.assertEqual(len(json.loads(self.history("geojson"))["features"]), 22)
        lines = [(line["properties"]["collar"], line["geometry"]["type"], len(line["geometry"]["coordinates"]))
                 for line in json.loads(self.history("geojson-track"))["features"]]
        self.assertEqual(sorted(lines), sorted((f"{each.log.device_id:016x}", "LineString", count)
                                               for each, count in ((A, 5), (A, 12), (B, 5))))
        trackers = [line for line in self.history("homeassistant").splitlines() if line.startswith("homeassistant/device_tracker/")]
        self.assertEqual(len(trackers), 2)

    @unittest.skipUnless(GPXPY.exists(), "needs gpxpy")
    def test_a_segment_ends_at_a_gap(self):
        path = self.path("history.gpx")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.history("gpx"))
        tracks = {name: [len(segment) for segment in segments] for name, segments in with_gpxpy(path)}
        self.assertEqual(tracks, {f"collar {A.log.device_id:016x}": [5, 12], f"collar {B.log.device_id:016x}": [5]})

    @unittest.skipUnless(GPXPY.exists(), "needs gpxpy")
    def test_a_backlog_in_sequence(self):
        """The newest fixes came first. In the order of sequences they are two segments, around what is missing."""
        line = SerialLine()
        self.addCleanup(line.close)
        receiver = self.receive(port=line.path)
        receiver.wait_for_error("listening on")
        Radio(line).send(A.identity(following=40) + A.batch(range(30, 40)) + A.batch(range(24, 28)) + A.batch(range(20, 24)))
        receiver.wait_for_lines(18)
        receiver.stop()
        for arguments, segments in (((), [5, 20, 10]), (("--sort", "arrival"), [5, 12, 10, 4, 4]),
                                    (("--sort", "sequence"), [5, 20, 10])):
            path = self.path("sorted.gpx")
            with open(path, "w", encoding="utf-8") as file:
                file.write(self.history("gpx", "--collar", f"{A.log.device_id:016x}", *arguments))
            (_, found), = with_gpxpy(path)
            self.assertEqual([len(segment) for segment in found], segments, arguments)
            track = json.loads(self.history("geojson-track", "--collar", f"{A.log.device_id:016x}", *arguments))
            self.assertEqual([line["properties"]["fixes"] for line in track["features"]], segments, arguments)
        lines = [json.loads(each) for each in self.history("json", "--sort", "sequence").splitlines()]
        self.assertEqual([each["seq"] for each in lines if each["type"] == "fix" and each["collar"] == f"{A.log.device_id:016x}"],
                         [*range(5), *range(8, 28), *range(30, 40)])
        self.assertEqual([(each["event"], each["first_seq"], each["last_seq"]) for each in lines if each["type"] == "gap"],
                         [("lost", 5, 7)])
        last = lines[3]["id"]
        self.assertEqual([json.loads(each)["seq"] for each in self.history("json", "--sort", "sequence", "--since", last,
                                                                           "--events", "fix").splitlines()][:3], [4, 8, 9])

    @unittest.skipUnless(shutil.which("gpsbabel"), "needs gpsbabel")
    def test_gpsbabel_takes_a_backlog(self):
        """gpsbabel refuses a track whose times go back."""
        line = SerialLine()
        self.addCleanup(line.close)
        receiver = self.receive(port=line.path)
        receiver.wait_for_error("listening on")
        Radio(line).send(A.identity(following=40) + A.batch(range(30, 40)) + A.batch(range(20, 30)))
        receiver.wait_for_lines(20)
        receiver.stop()
        path = self.path("backlog.gpx")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.history("gpx", "--collar", f"{A.log.device_id:016x}"))
        subprocess.run(["gpsbabel", "-t", "-i", "gpx", "-f", path, "-x", "track,pack", "-o", "unicsv", "-F", "/dev/null"],
                       timeout=60, check=True, env=ENVIRONMENT)

    def test_two_devices_of_owntracks(self):
        devices = {(line["topic"], line["tid"]) for line in map(json.loads, self.history("owntracks").splitlines())}
        self.assertEqual(devices, {(f"owntracks/collar-link/{each.log.device_id:016x}", f"{each.log.device_id:016x}"[-2:])
                                   for each in (A, B)})

    def test_two_devices_of_traccar(self):
        """By the rules of Traccar's decoders, each collar is a device, whichever of the two formats its server gets."""
        for form, decoded, prefix in (("owntracks", owntracks_of_traccar, "owntracks-collar-link-"), ("traccar", osmand_of_traccar, "")):
            positions = [decoded(line) for line in self.history(form).splitlines()]
            self.assertEqual([(position["device"], position["time"] // 1000) for position in positions],
                             [(prefix + fix["collar"], fix["ts_unix_ms"] // 1000) for fix in self.fixes], form)
            for position, fix in zip(positions, self.fixes):
                self.assertEqual((position["latitude"], position["longitude"]), (fix["coordinate"]["latitude"], fix["coordinate"]["longitude"]))

    def test_local_time(self):
        """The offset of the zone holds at the time of each fix. Central Europe changes its clocks in March and October."""
        zone = "CET-1CEST,M3.5.0,M10.5.0/3"
        utc = self.history("text", "--utc", TZ=zone).splitlines()
        local = self.history("text", TZ=zone).splitlines()
        self.assertEqual(len(utc), 23)
        for one, other in zip(utc, local):
            shown, hours = re.match(r"(\S+)\+0([12]):00  ", other).groups()
            self.assertEqual(milliseconds(shown) - int(hours) * 3_600_000, milliseconds(one.split("Z  ")[0]))
            self.assertEqual(one.split("  ", 1)[1], other.split("  ", 1)[1])
            summer = "2020-03-29T01" < one[:13] < "2020-10-25T01" or 3 < int(one[5:7]) < 10
            self.assertEqual(hours, "2" if summer else "1", one)

    def progress(self, terminal_kind):
        """What `history` shows on a terminal of a kind."""
        terminal, stderr = pty.openpty()
        self.addCleanup(os.close, terminal)
        with subprocess.Popen([BINARY, "history", "--state-dir", self.state], stdout=subprocess.PIPE, stderr=stderr,
                              env=child_environment(TERM=terminal_kind), **ORDINARY_USER) as program:
            os.close(stderr)
            # The program waits for the reader of stdout, longer than from one look at the clock to the next.
            time.sleep(0.5)
            self.assertEqual(program.stdout.read().count(b"\n"), 1600 + 23)
            self.assertEqual(program.wait(10), 0)
        shown = b""
        while True:
            try:
                part = os.read(terminal, 4096)
            except OSError:  # what Linux gives when nobody has the other end any more
                break
            if not part:
                break
            shown += part
        return shown

    def test_progress(self):
        """On a terminal, and only there, `history` shows how much is read, and clears that at the end."""
        line = SerialLine()
        self.addCleanup(line.close)
        receiver = self.receive(port=line.path)
        receiver.wait_for_error("listening on")
        Radio(line).send(b"".join(A.batch(range(first, first + 40)) for first in range(40, 1640, 40)))
        receiver.wait_for_lines(1600)
        receiver.stop()
        shown = self.progress("xterm")
        self.assertRegex(shown, rb"^(\r\x1b\[K\d{1,2} %)+\r\x1b\[K$")
        self.assertEqual(self.progress("dumb"), b"")
        self.history("json")
        self.assertEqual(self.errors, "")

    def test_nothing_of_a_kind(self):
        self.assertEqual(self.history("csv", "--events", "gap").count("\n"), 1)
        self.assertEqual(self.history("csv", "--verify", code=64), "")
        self.assertIn("`--verify` reports as json or text, not as csv.", self.errors)


del Formats
