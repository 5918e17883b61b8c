"""Reads the formats of collar-link back with programs of others. A point is (time in milliseconds since 1970, latitude, longitude)."""

import datetime
import json
import os
import shutil
import socket
import subprocess
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ElementTree

from end_to_end import ROOT, child_environment, wait_until
from servers import is_listening

# Libraries of programs that are unpacked privately.
ENVIRONMENT = child_environment(LD_LIBRARY_PATH=os.environ.get("PRIVATE_LIBRARIES", ""))
GPXPY = ROOT / ".tools/gpxpy/bin/python"
SHAPELY = ROOT / ".tools/shapely/bin/python"
TOPOGRAFIX = "{http://www.topografix.com/GPX/1/1}"


def free_ports(count):
    """Ports of the loopback that nobody uses."""
    probes = [socket.socket() for _ in range(count)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


def milliseconds(iso):
    """A time of ISO 8601 in UTC as milliseconds since 1970."""
    time = datetime.datetime.fromisoformat(iso.replace("Z", "+00:00").replace(" ", "T"))
    since = time.replace(tzinfo=datetime.timezone.utc) - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    return since // datetime.timedelta(milliseconds=1)


def with_gpsbabel(kind, path, data="-t"):
    """The points that gpsbabel finds in a file."""
    result = subprocess.run(["gpsbabel", data, "-i", kind, "-f", path, "-o", "gpx,gpxver=1.1", "-F", "-"], capture_output=True, text=True,
                            timeout=60, env=ENVIRONMENT, check=True)
    points = []
    for point in ElementTree.fromstring(result.stdout).iter(TOPOGRAFIX + {"-t": "trkpt", "-r": "rtept", "-w": "wpt"}[data]):
        time = point.findtext(TOPOGRAFIX + "time")
        points.append((time and milliseconds(time), float(point.get("lat")), float(point.get("lon"))))
    return points


def with_gpxpy(path):
    """The tracks that gpxpy finds: name, and a list of points for each segment."""
    program = """
import gpxpy, json, sys
tracks = gpxpy.parse(open(sys.argv[1])).tracks
print(json.dumps([(t.name, [[(p.time.isoformat(timespec="milliseconds"), p.latitude, p.longitude, p.elevation,
    {e.tag: e.text for e in p.extensions}) for p in s.points] for s in t.segments]) for t in tracks]))"""
    result = subprocess.run([GPXPY, "-c", program, path], capture_output=True, text=True, timeout=60, check=True)
    return json.loads(result.stdout)


def with_shapely(path):
    """The geometries of a FeatureCollection as shapely finds them: type, whether it is valid, and its coordinates."""
    program = """
import json, sys, shapely.geometry
features = json.load(open(sys.argv[1]))["features"]
geometries = [shapely.geometry.shape(feature["geometry"]) for feature in features]
print(json.dumps([(each.geom_type, each.is_valid, list(each.coords)) for each in geometries]))"""
    result = subprocess.run([SHAPELY, "-c", program, path], capture_output=True, text=True, timeout=60, check=True)
    return json.loads(result.stdout)


class GPSD:
    """A gpsd that gets its sentences from a TCP connection, and gpspipe, which shows what it understands."""

    def __init__(self, test):
        self._test = test
        self._feed, self.port = free_ports(2)
        self.address = f"tcp://127.0.0.1:{self.port}"
        self._listener = socket.create_server(("127.0.0.1", self._feed))
        test.addCleanup(self._listener.close)
        self._listener.settimeout(20)
        self.start()
        self.pipe = test.start(["gpspipe", "-w", f"127.0.0.1:{self.port}"], environment=ENVIRONMENT)
        self.pipe.wait_for_lines(3)

    def start(self):
        """Starts gpsd, at first or after its end."""
        # Without its own user, gpsd would look for one that has the rights to devices.
        self.program = self._test.start(
            ["gpsd", "-N", "-n", "-S", str(self.port), f"tcp://127.0.0.1:{self._feed}"], environment=ENVIRONMENT)
        self._connection, _ = self._listener.accept()
        self._test.addCleanup(self._connection.close)
        wait_until(lambda: is_listening(self.port), 10, "gpsd")

    def send(self, sentences):
        self._connection.sendall(sentences)

    def points(self):
        """The different points that gpsd has reported."""
        found = {}
        for line in list(self.pipe.lines):
            report = json.loads(line)
            if report["class"] == "TPV" and "lat" in report:
                found[milliseconds(report["time"])] = report
        return found


class Influx:
    """An InfluxDB on the loopback, with an empty database."""

    def __init__(self, test):
        self._port, rpc = free_ports(2)
        folder = test.path("influx")
        os.mkdir(folder)
        config = os.path.join(folder, "config")
        with open(config, "w", encoding="ascii") as file:
            file.write(f"""reporting-disabled = true
bind-address = "127.0.0.1:{rpc}"
[meta]
dir = "{folder}/meta"
[data]
dir = "{folder}/data"
wal-dir = "{folder}/wal"
[http]
bind-address = "127.0.0.1:{self._port}"
""")
        if os.geteuid() == 0:
            shutil.chown(folder, "nobody", "nogroup")
        self._server = test.start(["influxd", "-config", config], environment=ENVIRONMENT)
        wait_until(lambda: is_listening(self._port), 30, "influxd")
        self.ask("CREATE DATABASE collars")

    def write(self, lines):
        with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/write?db=collars", lines, timeout=20) as response:
            return response.status

    def ask(self, query):
        """The rows of the answer to a query, with times in milliseconds."""
        values = urllib.parse.urlencode({"db": "collars", "epoch": "ms", "q": query}).encode()
        with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/query", values, timeout=20) as response:
            result = json.load(response)["results"][0]
        return [dict(zip(series["columns"], row)) for series in result.get("series", ()) for row in series["values"]]
