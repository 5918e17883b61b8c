"""The recipes of Tools/recipes with real servers: PostgreSQL with PostGIS, and mosquitto."""

import json
import pathlib
import random
import signal
import threading
import unittest

import servers
from end_to_end import BINARY, EndToEndTest, wait_until
from kept_session import KeptSession

A, B = "c0114a0000000001", "c0114a0000000002"


def fix(seq, collar=A, **changes):
    """A fix line; unknown is what the arguments do not name."""
    line = {"type": "fix", "id": f"c0114a00-0000-8000-8{int(collar[-1]):03x}-{seq:012x}", "ts_unix_ms": 1498266133000 + 1000 * seq,
            "source": "collar", "coordinate": {"latitude": 0.001 * seq, "longitude": 0.0}, "alt_m": None, "h_accuracy_m": -1,
            "v_accuracy_m": -1, "speed_mps": -1, "course_deg": -1, "heading_deg": None, "battery_pct": -1, "seq": seq,
            "collar": collar, "log": 1, "rx_unix_ms": 1498266133500}
    return (json.dumps({**line, **changes}, separators=(",", ":")) + "\n").encode()


KNOWN = {"ts_unix_ms": 1498266133250, "coordinate": {"latitude": 50.17028, "longitude": -5.11399}, "alt_m": 70,
         "h_accuracy_m": 4.833, "v_accuracy_m": 9.63, "speed_mps": 0.2, "course_deg": 358, "heading_deg": 2, "battery_pct": 100,
         "rssi_dbm": -101, "snr_db": -5.5, "name": "Athena \u201c'\\\""}
COUNT = "SELECT count(*) FROM collars.fixes"


@unittest.skipUnless(servers.ARE_HERE, "needs PostgreSQL and mosquitto, which Tools/test unpacks")
class PostgreSQLRecipeTest(EndToEndTest):
    def setUp(self):
        super().setUp()
        self.server = servers.PostgreSQL(self)
        self.recipes = servers.Recipes(self.server.environment)
        self.set_up()

    def set_up(self):
        done = self.recipes.run("postgresql/set-up")
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def store(self, lines, status=0, **options):
        done = self.recipes.run("postgresql/store", str(len(lines)), lines=lines, **options)
        self.assertEqual(done.returncode, status, done.stderr.decode())
        return done.stderr.decode()

    def test_each_fix_once(self):
        lines = [fix(0, **KNOWN), fix(1)]
        self.assertEqual(self.store(lines), "")
        self.set_up()
        self.assertEqual(self.store(lines + lines), "")
        self.assertEqual(self.server.rows(
            "SELECT id, collar, name, log, seq, time, received, source, latitude, longitude, alt_m, h_accuracy_m, v_accuracy_m, "
            "speed_mps, course_deg, heading_deg, battery_pct, rssi_dbm, snr_db, ST_AsText(position) FROM collars.fixes "
            "ORDER BY seq"), [
            ["c0114a00-0000-8000-8001-000000000000", A, "Athena \u201c'\\\"", "1", "0", "2017-06-24 01:02:13.25+00",
             "2017-06-24 01:02:13.5+00", "collar", "50.17028", "-5.11399", "70", "4.833", "9.63", "0.2", "358", "2", "100",
             "-101", "-5.5", "POINT(-5.11399 50.17028)"],
            ["c0114a00-0000-8000-8001-000000000001", A, "", "1", "1", "2017-06-24 01:02:14+00", "2017-06-24 01:02:13.5+00",
             "collar", "0.001", "0", "", "", "", "", "", "", "", "", "", "POINT(0 0.001)"]])

    def test_three_stations_hear_a_fix(self):
        for rssi in (-90, -110, -70):
            self.store([fix(7, rssi_dbm=rssi, rx_unix_ms=1498266200000 - rssi)])
        self.assertEqual(self.server.rows("SELECT rssi_dbm, received FROM collars.fixes"), [["-90", "2017-06-24 01:03:20.09+00"]])

    def test_messages(self):
        message = {"type": "message", "id": "c0114a00-0000-8000-8001-000000000009", "kind": "reply", "code": 5, "reply_to": 77,
                   "outcome": "ok", "ts_unix_ms": None, "data": "00ff", "seq": 9, "collar": A, "log": 1,
                   "rx_unix_ms": 1498266133500}
        self.store(2 * [json.dumps(message).encode() + b"\n"] + [b'{"type":"stats"}\n'])
        self.assertEqual(
            self.server.rows("SELECT kind, code, reply_to, outcome, time, data, seq FROM collars.messages"),
            [["reply", "5", "77", "ok", "", "\\x00ff", "9"]])
        self.assertEqual(self.server.rows(COUNT), [["0"]])

    def test_views(self):
        day = 86_400_000
        # The newest fix of A comes before its backlog. The second day of A has one fix; at 1 a.m. a day of UTC is not over.
        self.store([fix(3, name="Athena"), fix(0), fix(1, name="Athena"), fix(2), fix(86, ts_unix_ms=1498266133000 - day)])
        self.store([fix(1, B, name="Athena", battery_pct=55, coordinate={"latitude": 1, "longitude": 2}), fix(5, B)])
        self.assertEqual(
            self.server.rows("SELECT collar, name, time, latitude, longitude, battery_pct FROM collars.last_positions"), [
                [A, "Athena", "2017-06-24 01:02:16+00", "0.003", "0", ""],
                [B, "", "2017-06-24 01:02:18+00", "0.005", "0", ""]])
        self.assertEqual(
            self.server.rows("SELECT name, collar, time FROM collars.last_positions_of_animals"),
            [["Athena", A, "2017-06-24 01:02:16+00"]])
        # A thousandth of a degree of latitude at the equator is 110.574 m.
        self.assertEqual(
            self.server.rows("SELECT collar, day, fix_count, first_time, last_time, round(length_m::numeric, 2), ST_AsText(line) "
                             "FROM collars.tracks ORDER BY collar, day")[0],
            [A, "2017-06-24", "4", "2017-06-24 01:02:13+00", "2017-06-24 01:02:16+00", "331.72",
             "LINESTRING(0 0,0 0.001,0 0.002,0 0.003)"])
        self.assertEqual(self.server.rows("SELECT count(*) FROM collars.tracks"), [["2"]])
        self.assertEqual(self.server.rows(
            "SELECT seq FROM collars.fixes WHERE ST_DWithin(position, 'POINT(2 1)'::geography, 1)"), [["1"]])

    def test_tracks_over_the_antimeridian(self):
        """They are cut there, as RFC 7946, section 3.1.9, says: else a map would draw them around the world."""
        way = [(-16.5, 179.9), (-16.6, -179.9), (-16.7, -179.8), (-16.8, 179.8), (-16.9, 180.0)]
        self.store([fix(seq, coordinate={"latitude": latitude, "longitude": longitude}) for seq, (latitude, longitude) in enumerate(way)])
        (text, count, length), = self.server.rows(
            "SELECT ST_AsText(line, 3), fix_count, round(length_m::numeric) FROM collars.tracks")
        self.assertEqual(text, "MULTILINESTRING((179.9 -16.5,180 -16.55),(-180 -16.55,-179.9 -16.6,-179.8 -16.7,-180 -16.75),"
                               "(180 -16.75,179.8 -16.8,180 -16.9))")
        self.assertEqual(count, "5")
        whole = self.server.rows(
            "SELECT round(ST_Length(ST_MakeLine(ARRAY[" + ",".join(f"ST_MakePoint({longitude},{latitude})" for latitude, longitude in way)
            + "])::geography)::numeric)")
        self.assertAlmostEqual(float(length), float(whole[0][0]), delta=5)

    def test_twenty_writers_at_once(self):
        """Twenty stations store the same fixes, each in its own order: none fails, and none waits for ever."""
        lines = [fix(seq, collar) for seq in range(1000) for collar in (A, B)]
        results = []

        def write(seed):
            shuffled = lines[:]
            random.Random(seed).shuffle(shuffled)
            for start in range(0, len(lines), 500):
                batch = shuffled[start:start + 500]
                results.append(self.recipes.run("postgresql/store", str(len(batch)), lines=batch))
        threads = [threading.Thread(target=write, args=(seed,)) for seed in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        self.assertEqual({(done.returncode, done.stderr) for done in results}, {(0, b"")})
        self.assertEqual(len(results), 80)
        self.assertEqual(self.server.rows(COUNT), [["2000"]])

    def test_broken_lines(self):
        """Lines that cannot be stored are kept elsewhere, and do not hold back the others."""
        bad = [b"x\0y\n", b"\\.\n", b"\n", b"\r\n", b"\xff\xfe\n", b"\x01a\n", b"\x02\"\n", b'{"type":"fix"}\n', b"[1]\n",
               fix(8, name="\0"), fix(9, coordinate={"latitude": 91, "longitude": 0}), fix(10, name=random.randbytes(9000).hex()),
               b"[" * 100_000 + b"\n"]
        lines = [fix(1), *bad, fix(2)]
        said = self.store(lines)
        self.assertIn("WARNING:  13 of 15 lines cannot be stored: ", said)
        self.assertIn("collars.rejected", said)
        self.assertEqual(self.server.rows("SELECT seq FROM collars.fixes ORDER BY 1"), [["1"], ["2"]])
        self.store(lines)
        self.assertEqual(self.server.rows("SELECT count(*) FROM collars.rejected"), [["13"]])

    def test_half_a_batch(self):
        """A batch whose writer was killed is not stored, and neither is one that the server does not commit."""
        done = self.recipes.run("postgresql/store", "3", lines=[fix(1), fix(2)])
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(b"a batch of 3 lines arrived with 2 lines; nothing is stored", done.stderr)
        self.assertEqual(self.server.rows(COUNT), [["0"]])
        self.server.end(signal.SIGKILL)
        self.assertNotEqual(self.recipes.run("postgresql/store", "1", lines=[fix(1)]).returncode, 0)
        self.server.start()
        self.store([fix(1)])
        self.assertEqual(self.server.rows(COUNT), [["1"]])

    def test_who_may_do_what(self):
        self.server.rows("CREATE ROLE station LOGIN; CREATE ROLE map LOGIN; CREATE ROLE stranger LOGIN; "
                         "GRANT collar_writer TO station; GRANT collar_reader TO map")
        self.store([fix(1)], PGUSER="station")
        self.assertIn("permission denied", self.store([fix(2)], status=3, PGUSER="map"))
        self.assertIn("permission denied", self.store([fix(2)], status=3, PGUSER="stranger"))
        self.assertEqual(self.server.rows("SET ROLE map; SELECT seq FROM collars.last_positions, collars.fixes"), [["1"]])


@unittest.skipUnless(servers.ARE_HERE, "needs PostgreSQL and mosquitto, which Tools/test unpacks")
class MQTTRecipeTest(EndToEndTest):
    def setUp(self):
        super().setUp()
        self.broker = servers.Broker(self)
        self.recipes = servers.Recipes(self.broker.environment)

    def publish(self, lines, collar=A, recipe="mqtt/publish", status=0, **options):
        done = self.recipes.run(recipe, *([collar] if collar else []), lines=lines, **options)
        self.assertEqual(done.returncode, status, done.stderr.decode())
        return done.stderr.decode()

    def subscribe(self, topic):
        session = KeptSession(self.broker.port, topic)
        self.addCleanup(session.close)
        return session

    def test_fixes_and_last_position(self):
        session = self.subscribe("collars/+/fix")
        self.assertEqual(self.publish([fix(5), fix(1), fix(3)]), "")
        self.publish([fix(2), fix(4)])
        self.publish([fix(9, B)], B)
        wait_until(lambda: len(session.payloads) == 6, 5, "six messages")
        self.assertEqual([json.loads(each)["seq"] for each in session.payloads], [5, 1, 3, 2, 4, 9])
        self.assertEqual(session.payloads[0] + b"\n", fix(5))
        # The backlog has not taken the place of the newest position.
        self.assertEqual(self.broker.retained("collars/#"), [
            (f"collars/{A}/last", fix(5).decode().rstrip()), (f"collars/{B}/last", fix(9, B).decode().rstrip())])

    def test_a_broker_that_goes_away(self):
        """A batch fails if the broker is away, or stays silent, or ends in the middle; what is repeated arrives."""
        session = self.subscribe("collars/+/fix")
        lines = [fix(seq) for seq in range(20_000)]
        self.broker.signal(signal.SIGSTOP)
        self.assertIn("did not acknowledge 1 messages", self.publish([fix(1)], status=1, MQTT_TIMEOUT="1"))
        self.broker.signal(signal.SIGCONT)
        results = []
        thread = threading.Thread(target=lambda: results.append(
            self.recipes.run("mqtt/publish", A, lines=lines, MQTT_TIMEOUT="2").returncode))
        count = len(session.payloads)
        thread.start()
        wait_until(lambda: len(session.payloads) > count + 100, 5, "the first messages")
        self.broker.end(signal.SIGTERM)
        thread.join(20)
        self.assertEqual(results, [1])
        self.assertLess(len(session.ids), 20_000, "the broker ended too late: this test shows nothing")
        self.assertIn("Connection refused", self.publish([fix(1)], status=1))
        self.broker.start()
        self.publish(lines)
        wait_until(lambda: len(session.ids) == 20_000, 20, "all fixes")

    def test_a_broker_that_refuses(self):
        """A message that the broker acknowledges as refused does not count as delivered."""
        self.broker.end(signal.SIGTERM)
        rules = self.path("rules")
        pathlib.Path(rules).write_text(f"topic readwrite collars/{A}/#\n", "ascii")
        self.broker.configure(f"acl_file {rules}")
        self.broker.start()
        self.publish([fix(1)])
        said = self.publish([fix(1, B), fix(2, B)], B, status=1)
        self.assertIn(f"the broker acknowledged 0 of 2 messages for collars/{B}/fix", said)

    def test_home_assistant(self):
        config_topic, topic = f"homeassistant/device_tracker/collar_{A}/config", f"collar-link/{A}/attributes"
        config = f'{{"name":"Athena","unique_id":"collar_{A}","json_attributes_topic":"{topic}","source_type":"gps"}}'
        location = f"collar-link/{A}/location"

        def place(latitude, second):
            return f'{{"latitude":{latitude},"longitude":2,"gps_accuracy":5,"time":"2026-11-24T10:00:{second}.000Z"}}'

        def publish(*lines):
            self.publish([f"{line}\n".encode() for line in lines], None, "mqtt/publish-homeassistant")
        publish(f"{config_topic} {config}", f"{topic} {place(1, 20)}", f"{topic} {place(2, 10)}")
        expected = [(topic, place(1, 20)), (config_topic, config)]
        self.assertEqual(self.broker.retained("#"), expected)
        # A backlog changes nothing, a newer position and another name do.
        publish(f"{topic} {place(3, 15)}")
        self.assertEqual(self.broker.retained("#"), expected)
        renamed = config.replace("Athena", "Felix")
        publish(f"{config_topic} {renamed}", f"{topic} {place(4, 30)}")
        self.assertEqual(self.broker.retained("#"), [(topic, place(4, 30)), (config_topic, renamed)])
        # A payload that is not JSON has no time: the last one counts.
        for payloads, last in ((("None",), "None"), (("None", "unknown"), "unknown"), (("unknown", "None"), "None"), (("4",), "4")):
            publish(*(f"{location} {payload}" for payload in payloads))
            self.assertEqual(dict(self.broker.retained(location)), {location: last})

    def test_lines_that_are_no_fixes(self):
        self.publish([fix(5), b"x\0y\n", b"\n", b"[1]\n"])
        self.assertEqual(self.broker.retained("collars/#"), [(f"collars/{A}/last", fix(5).decode().rstrip())])


@unittest.skipUnless(servers.ARE_HERE, "needs PostgreSQL and mosquitto, which Tools/test unpacks")
class DeliveredTest(EndToEndTest):
    """The recipes as sinks of `deliver`."""

    def deliver(self, name, *command, server, options=()):
        """Delivers what is stored, once."""
        program = self.start(
            [BINARY, "deliver", name, "--once", "--state-dir", self.state, *options, "--", *command],
            environment=server.environment)
        self.assertEqual(program.wait(30), 0, program.error_text)
        self.assertEqual(program.error_text, "")

    def test_from_a_collar_to_all_servers(self):
        fixes = [json.loads(fix(seq, **{**KNOWN, "ts_unix_ms": 1498266133000 + 1000 * seq})) for seq in range(30)]
        track, _ = self.write_track("track.ndjson", [json.dumps(each).encode() + b"\n" for each in fixes])
        collar = self.simulate(track, "--speed", "max", "--loss", "0.1", "--seed", "3", "--until-delivered")
        receiver = self.receive("--events", "none")
        self.assertEqual(collar.wait(30), 0)
        name = next(path.name for path in pathlib.Path(self.state).iterdir() if len(path.name) == 16)
        database, broker = servers.PostgreSQL(self), servers.Broker(self)
        self.assertEqual(servers.Recipes(database.environment).run("postgresql/set-up").returncode, 0)
        session = KeptSession(broker.port, "collars/+/fix")
        self.addCleanup(session.close)
        for _ in range(2):
            self.deliver("postgresql", f"{servers.RECIPES}/postgresql/store", "{count}", server=database)
            self.deliver("mqtt", f"{servers.RECIPES}/mqtt/publish", "{collar}", server=broker)
        self.deliver("homeassistant", f"{servers.RECIPES}/mqtt/publish-homeassistant", server=broker,
                     options=("--format", "homeassistant"))
        self.assertEqual(receiver.stop(), 0)
        self.assertEqual(database.rows("SELECT count(*), min(seq), max(seq), min(h_accuracy_m), max(time) FROM collars.fixes"),
                         [["30", "0", "29", "4.833", "2017-06-24 01:02:42+00"]])
        wait_until(lambda: len(session.ids) == 30, 5, "all fixes")
        # The second delivery under the same name has nothing to deliver.
        self.assertEqual(len(session.payloads), 30)
        retained = dict(broker.retained("#"))
        self.assertEqual({topic.removeprefix(f"collar-link/{name}/"): payload for topic, payload in retained.items()
                          if topic.startswith("collar-link/") and not payload.startswith("{")}, {"location": "None", "reachable": "ON"})
        # A tracker, six sensors, one that is on or off, and two buttons.
        self.assertEqual(sum(topic.startswith("homeassistant/") and f"/collar_{name}/" in topic for topic in retained), 10)
        self.assertEqual(json.loads(retained[f"collars/{name}/last"])["seq"], 29)
        attributes = json.loads(retained[f"collar-link/{name}/attributes"])
        self.assertEqual((attributes["latitude"], attributes["longitude"], attributes["gps_accuracy"], attributes["time"]),
                         (50.17028, -5.11399, 4.833, "2017-06-24T01:02:42.000Z"))


if __name__ == "__main__":
    unittest.main()
