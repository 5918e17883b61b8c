"""The command `metrics`: what is stored and what a running receiver tells, in the text format of Prometheus."""

import json
import os
import re
import shutil
import subprocess
import time
import unittest

import jsonschema

from end_to_end import (BINARY, IS_ROOT, ORDINARY_USER, ROOT, TRACKS, child_environment, give_to_ordinary_user, wait_until)
from ordinary_user import open_to_others
from radio import Radio
from sending import SendTest, name
from serial_line import SerialLine
from signal_reports import of_radio, report
from statuses import KNOWN, POWER, POWER_KNOWN, STATUS

from report_vectors import RADIO_IDENTITY
from session_parts import START, A, B, position

SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "Protocol/schema/figures.schema.json").read_text()))
SAMPLE = re.compile(r'^([a-z0-9_]+)(\{(?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)+\})? (-?[0-9]+(?:\.[0-9]+)?)$')


@unittest.skipUnless(shutil.which("promtool"), "promtool is not unpacked")
class MetricsTest(SendTest):
    def setUp(self):
        super().setUp()
        self.environment = child_environment(XDG_CONFIG_HOME=self.path("configuration"), XDG_STATE_HOME=self.path("home"))

    def text(self, *arguments, code=0, **options):
        """What the command prints. promtool has nothing to say against it. `self.errors` is what the command writes on stderr."""
        state = () if arguments else ("--state-dir", self.state)
        done = subprocess.run([BINARY, "metrics", *state, *arguments], capture_output=True, timeout=60, check=False,
                              env=self.environment, **{**ORDINARY_USER, **options})
        self.errors = done.stderr.decode()
        self.assertEqual(done.returncode, code, self.errors)
        checked = subprocess.run(["promtool", "check", "metrics"], input=done.stdout, capture_output=True, timeout=60, check=False)
        self.assertEqual((checked.returncode, checked.stdout, checked.stderr), (0, b"", b""), done.stdout.decode())
        return done.stdout.decode()

    def metrics(self, *arguments, **options):
        """The samples: for each name with its labels, without what all names begin with, the value."""
        samples = {}
        for line in self.text(*arguments, **options).splitlines():
            if line.startswith("#"):
                continue
            sample = SAMPLE.match(line)
            self.assertTrue(sample, line)
            key = sample[1].removeprefix("collar_link_") + (sample[2] or "")
            self.assertNotIn(key, samples)
            samples[key] = float(sample[3])
        return samples

    def begin(self, *arguments):
        line = SerialLine()
        self.addCleanup(line.close)
        receiver = self.receive(*arguments, port=line.path, environment=self.environment)
        receiver.wait_for_error("listening on")
        receiver.port_path = line.path
        return receiver, Radio(line)

    def test_nothing_is_stored(self):
        os.mkdir(self.state)
        give_to_ordinary_user(self.state)
        self.assertEqual(self.metrics(), {"up": 0})
        self.assertEqual(self.errors, "")
        self.assertEqual(os.listdir(self.state), [])

    def test_the_values_are_those_that_were_sent(self):
        receiver, radio = self.begin("--events", "fix,error")
        now = int(time.time() * 1000)
        old = [A.fix(position(each, time=START + 1_800_000 * each, battery=90 - each)) for each in range(4)]
        newest = A.fix(position(9, time=now - 2000, battery=None))
        radio.send(of_radio(10, RADIO_IDENTITY) + A.identity(following=12) + b"".join(old) + newest + report(newest, -97, -35))
        # What comes after it is not the newest.
        radio.send(A.fix(position(6, time=START, battery=None)) + A.tombstone([[4, 5]]) + A.fix(0) + A.send(STATUS, KNOWN))
        radio.send(A.send(POWER, POWER_KNOWN))
        radio.send(B.identity() + B.send(STATUS, {**KNOWN, "gnss": 0}))
        receiver.wait_for_lines(7)
        self.assertEqual(radio.poll(A, 10)[0]["first_missing"], 7)
        found = self.metrics()
        a, b = (f'{{collar="{name(each)}"}}' for each in (A, B))
        size = sum(os.path.getsize(os.path.join(self.state, name(A), file))
                   for file in os.listdir(os.path.join(self.state, name(A))) if file.endswith(".journal"))
        stored = {"last_fix_timestamp_seconds": (now - 2000) / 1000, "rssi_dbm": -97, "snr_db": -3.5, "stored_total": 6,
                  "lost_fixes": 2, "journal_bytes": size}
        told = {"missing_fixes": 4, "airtime_seconds_total": 60.001, "retransmissions_total": 16_777_215, "queued_fixes": 12,
                "reachable": 1, "heard": 1, "gnss_seconds_total": 1037, "listening_seconds_total": 86, "awake_seconds_total": 1201.25,
                "searches_total": 480, "search_failures_total": 9, "search_failures_in_row": 3, "time_to_fix_seconds": 4.2}
        for key, value in (stored | told).items():
            self.assertEqual(found[f"collar_{key}{a}"], value, key)
        self.assertAlmostEqual(found[f"collar_last_reception_timestamp_seconds{a}"], time.time(), delta=60)
        self.assertTrue(0 <= found[f"collar_silence_seconds{a}"] < 60, found)
        self.assertNotIn(f"collar_battery_percent{a}", found)
        self.assertNotIn(f"collar_last_fix_timestamp_seconds{b}", found)
        self.assertEqual(found[f"collar_stored_total{b}"], 0)
        self.assertEqual(found[f"collar_airtime_seconds_total{b}"], 60.001)
        for key, value in {"up": 1, "fixes_total": 6, "messages_total": 0, "duplicates_total": 1, 'frames_total{kind="damaged"}': 0,
                           "storage_failing": 0, "output_lag_bytes": 0, "output_lag_seconds": 0, "airtime_seconds_total": 0,
                           'errors_total{code="location_services_disabled"}': 1, 'target_met{target="memory"}': 1}.items():
            self.assertEqual(found[key], value, key)
        self.assertEqual(found["lines_total"], len(receiver.lines))
        self.assertGreater(found['frames_total{kind="valid"}'], 9)
        self.assertTrue(0 < found["uptime_seconds"] < 60, found["uptime_seconds"])
        self.assertTrue(1e6 < found["resident_memory_bytes"] < 5e7)
        self.assertTrue(0 < found["cpu_seconds_total"] < 10)
        # Of the fixes that were the newest when they came, one was made two seconds ago, the others years ago.
        self.assertGreater(found["fix_latency_p95_seconds"], 1e7)
        self.assertEqual(found['target_met{target="fix_latency"}'], 0)
        for key in ("average", "p95"):
            self.assertTrue(0 < found[f"message_latency_{key}_seconds"] < 5, key)
        receiver.stop()
        # What the journal does not know is gone; that fixes 10 and 11 exist is one of these things.
        after = self.metrics()
        self.assertEqual({key: value for key, value in after.items() if a in key}, {
            **{f"collar_{key}{a}": value for key, value in stored.items()}, f"collar_missing_fixes{a}": 2,
            f"collar_journal_bytes{a}": after[f"collar_journal_bytes{a}"],
            f"collar_last_reception_timestamp_seconds{a}": found[f"collar_last_reception_timestamp_seconds{a}"],
            f"collar_battery_drain_percent_per_hour{a}": 2})
        self.assertEqual([key for key in after if "{" not in key], ["up"])
        self.assertEqual(after["up"], 0)

    def test_latencies(self):
        """Fixes that were made a quarter of a second before they came."""
        receiver, radio = self.begin()
        radio.send(A.identity())
        receiver.wait_for_error("is heard at")
        for number in range(5):
            radio.send(A.fix(position(number, time=int(time.time() * 1000) - 250)))
            receiver.wait_for_lines(number + 1)
        found = self.metrics()
        self.assertTrue(0.25 <= found["fix_latency_average_seconds"] <= found["fix_latency_p95_seconds"] < 5, found)
        self.assertEqual(found['target_met{target="fix_latency"}'], float(found["fix_latency_p95_seconds"] < 0.5))
        for key in ("average", "p95"):
            self.assertTrue(0 < found[f"line_latency_{key}_seconds"] < 5, key)
        receiver.stop()

    def test_names_are_escaped(self):
        os.makedirs(self.path("configuration/collar-link"))
        for folder in (self.path("configuration"), self.path("configuration/collar-link")):
            give_to_ordinary_user(folder)
        with open(self.path("configuration/collar-link/animals"), "w", encoding="utf-8") as file:
            file.write(f'[animal Ἀθηνᾶ "the \\cat"]\nwears = {name(A)}\n[animal Zeus]\nwears = {name(B)} until 2026-01-01\n')
        os.chmod(self.path("configuration/collar-link/animals"), 0o644)
        receiver, radio = self.begin()
        radio.send(A.identity() + A.fix(position(0, time=1_700_000_000_250)) + B.identity() + B.fix(0))
        receiver.wait_for_lines(2)
        receiver.stop()
        text = self.text()
        key = f'collar_link_collar_last_fix_timestamp_seconds{{collar="{name(A)}",name="Ἀθηνᾶ \\"the \\\\cat\\""}}'
        self.assertIn(f"{key} 1700000000.250\n", text)
        self.assertIn(f'collar_link_collar_stored_total{{collar="{name(B)}"}} 1\n', text)

    def test_readers(self):
        receiver, radio = self.begin()
        radio.send(A.identity() + A.fix(0) + A.fix(1))
        receiver.wait_for_lines(2)
        radio.poll(A, 2)
        follower = self.start([BINARY, "follow", "--as", "map", "-n", "2", "--state-dir", self.state], environment=self.environment)
        self.assertEqual(follower.wait(), 0, follower.error_text)
        found = self.metrics()
        self.assertEqual((found['reader_lag_entries{reader="map"}'], found['reader_lag_seconds{reader="map"}']), (0, 0))
        self.assertAlmostEqual(found['reader_last_seen_timestamp_seconds{reader="map"}'], time.time(), delta=30)
        radio.send(A.fix(2) + A.fix(3) + B.identity() + B.fix(0))
        receiver.wait_for_lines(5)
        time.sleep(0.1)
        found = self.metrics()
        self.assertEqual(found['reader_lag_entries{reader="map"}'], 3)
        self.assertTrue(0.1 <= found['reader_lag_seconds{reader="map"}'] < 30)
        # A reader whose file is damaged hides nothing else.
        with open(os.path.join(self.state, "readers/other.reader"), "w", encoding="ascii") as file:
            file.write("nonsense")
        os.chmod(os.path.join(self.state, "readers/other.reader"), 0o644)
        again = self.metrics()
        self.assertEqual((again['reader_unreadable{reader="map"}'], again['reader_unreadable{reader="other"}']), (0, 1))
        self.assertEqual(again['reader_lag_entries{reader="map"}'], 3)
        self.assertIn("other.reader", self.errors)
        receiver.stop()

    @unittest.skipUnless(IS_ROOT, "only root can be two users")
    def test_another_user(self):
        """Another user who may read the journals gets what is in them."""
        receiver, radio = self.begin()
        radio.send(A.identity() + A.fix(0))
        receiver.wait_for_lines(1)
        radio.poll(A, 1)
        open_to_others(self.folder)
        self.assertEqual(self.metrics()["up"], 1)
        daemon = {"user": "daemon", "group": "daemon"}
        found = self.metrics(**daemon)
        self.assertEqual((found["up"], found[f'collar_stored_total{{collar="{name(A)}"}}']), (0, 1))
        self.assertIn("does not tell this user its figures", self.errors)
        self.assertIn(f"Run `collar-link metrics --state-dir {self.state}` as the user who runs collar-link", self.errors)
        os.chmod(self.socket_path(), 0o666)
        self.assertEqual(self.metrics(**daemon)["up"], 0)
        self.assertIn("does not tell its figures. Only the user who runs collar-link, and root", self.errors)
        os.chmod(os.path.join(self.state, name(A)), 0o700)
        found = self.metrics(code=77, **daemon)
        self.assertEqual(found, {"up": 0})
        receiver.stop()

    def test_a_receiver_that_was_killed(self):
        receiver, radio = self.begin()
        radio.send(A.identity() + A.fix(0))
        receiver.wait_for_lines(1)
        radio.poll(A, 1)
        receiver.kill_now()
        self.assertTrue(os.path.exists(self.socket_path()))
        found = self.metrics()
        self.assertEqual((found["up"], found[f'collar_stored_total{{collar="{name(A)}"}}']), (0, 1))
        self.assertEqual(self.errors, "")

    def test_the_line_at_the_socket(self):
        """Every figure is in the schema, and a request with anything else is rejected."""
        SCHEMA.check_schema(SCHEMA.schema)
        receiver, radio = self.begin()
        radio.send(A.identity() + A.fix(0) + A.send(STATUS, {**KNOWN, "gnss": 0}))
        receiver.wait_for_lines(1)
        radio.poll(A, 1)
        # The first fix after the start is read back from the journal, so it gives no latency of its line.
        radio.send(A.fix(1))
        receiver.wait_for_lines(2)
        client, lines = self.connect()
        client.sendall(b'{"do":"figures"}\n{"type":"request","do":"figures"}\n')
        first, second = json.loads(lines.readline()), json.loads(lines.readline())
        for line in (first, second):
            SCHEMA.validate(line)
            self.assertEqual(line.keys(), SCHEMA.schema["properties"].keys())
        collar, = first["collars"]
        self.assertTrue(0 <= collar.pop("silent_ms") < 30_000, collar)
        self.assertEqual(collar, {"collar": name(A), "missing": 0, "airtime_ms": 60_001, "retransmissions": 16_777_215, "queue_depth": 12,
                                  "reachable": 1, "heard": 1, "heartbeat_s": 60, "boots": collar["boots"]})
        self.assertGreater(collar["boots"], 0)
        self.assertEqual(first["radios"], [{"port": receiver.port_path, "state": "open", "dialect": "serial"}])
        self.assertEqual(first["errors"]["location_services_disabled"], 1)
        for key in SCHEMA.schema["required"]:
            self.assertFalse(SCHEMA.is_valid({each: first[each] for each in first if each != key}), key)
        for key in first:
            self.assertFalse(SCHEMA.is_valid({**first, key: "x"}), key)
        self.assertFalse(SCHEMA.is_valid({**first, "more": 1}))
        self.assertEqual(self.ask(client, lines, '{"do":"figures","collar":"0123456789abcdef"}')["code"], "bad_request")
        self.assertEqual(self.ask(client, lines, '{"do":"sound","ms":7}')["outcome"], "queued")
        receiver.stop()

    def test_airtime_of_a_stick(self):
        track, _ = self.unpack(TRACKS / "cats_uk/Amber-Tag.ndjson.gz", 10)
        collar = self.simulate(
            track, "--dialect", "kiss", "--modem", "lora:SF7", "--seed", "4", "--interval", "0.5", "--until-delivered", "--stats")
        receiver = self.start(
            [BINARY, "--port", self.link, "--state-dir", self.state, "--region", "EU868", "--spreading-factor", "7"],
            environment=self.environment)
        receiver.wait_for_lines(5, 60)
        wait_until(lambda: self.metrics()["airtime_seconds_total"] > 0, 30, "airtime")
        found = self.metrics()
        self.assertLess(found["airtime_seconds_total"], found["uptime_seconds"])
        receiver.stop()
        collar.stop()

    def test_the_usual_place_and_usage(self):
        done = subprocess.run([BINARY, "metrics", "--state-dir", self.path("nowhere")], capture_output=True, text=True, timeout=60,
                              check=False, env=self.environment, **ORDINARY_USER)
        self.assertEqual((done.returncode, done.stdout), (66, ""), done.stderr)
        self.assertIn("There is no directory", done.stderr)
        done = subprocess.run([BINARY, "metrics", "more"], capture_output=True, text=True, timeout=60, check=False,
                              env=self.environment, **ORDINARY_USER)
        self.assertEqual(done.returncode, 64, done.stderr)
        done = subprocess.run([BINARY, "metrics", "--help"], capture_output=True, text=True, timeout=60, check=False,
                              env=self.environment, **ORDINARY_USER)
        self.assertIn("in the text format of Prometheus", done.stdout)
        # Its own directory, without --state-dir.
        line = SerialLine()
        self.addCleanup(line.close)
        receiver = self.start([BINARY, "--port", line.path, "--dialect", "serial"], environment=self.environment)
        radio = Radio(line)
        receiver.wait_for_error("listening on")
        radio.send(A.identity() + A.fix(0))
        receiver.wait_for_lines(1)
        done = subprocess.run([BINARY, "metrics"], capture_output=True, text=True, timeout=60, check=False,
                              env=self.environment, **ORDINARY_USER)
        self.assertIn("collar_link_up 1\n", done.stdout)
        self.assertIn(f'collar_link_collar_stored_total{{collar="{name(A)}"}} 1\n', done.stdout)
        receiver.stop()


if __name__ == "__main__":
    unittest.main()
