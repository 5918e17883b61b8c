"""What collars deliver to servers, and whether a server has it all."""

import json
import os
import subprocess

from end_to_end import BINARY, ORDINARY_USER

# The columns of the recipe's table that say what the collar said.
COLUMNS = ("id", "seq", "log", "ts_unix_ms", "source", "latitude", "longitude", "alt_m", "h_accuracy_m", "v_accuracy_m",
           "speed_mps", "course_deg", "heading_deg", "battery_pct")
_QUERY = """
    SELECT collar, json_build_array(id, seq, log, (extract(epoch FROM time) * 1000)::bigint, source, latitude, longitude, alt_m,
        h_accuracy_m, v_accuracy_m, speed_mps, course_deg, heading_deg, battery_pct) FROM collars.fixes"""


def rows_by_collar(server):
    """The fixes in the database: for each collar a list of the values of COLUMNS."""
    collars = {}
    for collar, values in server.rows(_QUERY):
        collars.setdefault(collar, []).append(json.loads(values))
    return collars


def quantised(path):
    """The fixes of a track as a collar sends them, by sequence: the values of COLUMNS without id and log."""
    encoded = subprocess.run([BINARY, "encode", path], check=True, capture_output=True, **ORDINARY_USER).stdout
    lines = subprocess.run([BINARY, "decode", "-"], check=True, input=encoded, capture_output=True, **ORDINARY_USER).stdout
    fixes = {}
    for text in lines.splitlines():
        line = json.loads(text)
        known = {name: None if name not in ("alt_m", "heading_deg") and line.get(name) == -1 else line.get(name)
                 for name in COLUMNS[7:]}
        fixes[line["seq"]] = [line["ts_unix_ms"], line["source"], line["coordinate"]["latitude"],
                              line["coordinate"]["longitude"], *known.values()]
    return fixes


def check_rows(test, rows, track):
    """Checks that the rows of one collar are the fixes of a track, each once, with the values that the collar sent."""
    truth = quantised(track)
    test.assertEqual(sorted(row[1] for row in rows), sorted(truth), "not each fix once")
    test.assertEqual(len({row[0] for row in rows}), len(truth), "two fixes have one id")
    test.assertEqual(len({row[2] for row in rows}), 1, "two logs")
    for row in rows:
        test.assertEqual(row[3:], truth[row[1]], f"fix {row[1]}")


def write_long_track(path, fixes, count):
    """Writes a track: some fixes, again and again, each time a day later."""
    if not os.path.exists(path):
        with open(path, "w", encoding="ascii") as file:
            for sequence in range(count):
                fix = fixes[sequence % len(fixes)]
                later = sequence // len(fixes) * 86_400_000_000
                file.write(json.dumps({**fix, "seq": sequence, "ts_unix_ms": fix["ts_unix_ms"] + later}) + "\n")
        os.chmod(path, 0o644)
