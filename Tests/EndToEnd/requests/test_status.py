"""The command `status`: the receiver with its radios, collars, readers and problems, for people and as a line of JSON."""

import json
import os
import re
import signal
import subprocess
import time
import unittest

from end_to_end import BINARY, IS_ROOT, ORDINARY_USER, child_environment, give_to_ordinary_user, wait_until
from ordinary_user import open_to_others
from radio import Radio
from schemas import validator
from sending import SendTest, name as id_of
from serial_line import SerialLine
from session_parts import START, A, B, position
from terminals import Terminal
from statuses import KNOWN, POWER, POWER_KNOWN, STATUS

SCHEMA = validator("overview")
ESCAPE = "\x1b"


class StatusTest(SendTest):
    def setUp(self):
        super().setUp()
        self.configuration = self.path("configuration")
        self.environment = child_environment(XDG_CONFIG_HOME=self.configuration, XDG_STATE_HOME=self.path("places"))

    def status(self, *arguments, code=0, user=None, **environment):
        """What the command prints; `self.errors` is what it writes on stderr."""
        done = subprocess.run(
            [BINARY, "status", "--state-dir", self.state, *arguments], capture_output=True, text=True, timeout=60, check=False,
            env={**self.environment, **environment}, **(user or ORDINARY_USER))
        self.errors = done.stderr
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout

    def overview(self, **options):
        """The line of JSON, which is valid."""
        text = self.status("-F", "json", **options)
        self.assertEqual(text.count("\n"), 1)
        self.assertTrue(text.endswith("\n"))
        line = json.loads(text)
        SCHEMA.validate(line)
        return line

    def text(self, columns=100, rows=1000, **options):
        """The lines for people, at a terminal of this size."""
        return self.status("--utc", COLUMNS=str(columns), LINES=str(rows), **options).splitlines()

    def name_animal(self, name, collar):
        folder = os.path.join(self.configuration, "collar-link")
        os.makedirs(folder)
        path = os.path.join(folder, "animals")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"[animal {name}]\nwears = {collar}\n")
        for each in (self.configuration, folder, path):
            give_to_ordinary_user(each)

    def begin(self, *arguments):
        """A receiver at a line at which the test is the collars."""
        self.line = SerialLine()
        self.addCleanup(self.line.close)
        receiver = self.receive(*arguments, port=self.line.path, environment=self.environment)
        receiver.wait_for_error("listening on")
        return receiver, Radio(self.line)

    def assert_fits(self, lines, columns):
        """No line is wider, except a command, and a line with a single item. Problems are broken between words."""
        commands = {problem["command"] for problem in self.overview()["problems"]}
        separator = "  "
        for line in lines:
            if line == "problems":
                separator = " "
            if len(line) > columns and line.strip() not in commands:
                self.assertNotIn(separator, line.strip(), f"wider than {columns} columns")


class NothingStoredTest(StatusTest):
    def make_directory(self):
        os.mkdir(self.state, 0o700)
        give_to_ordinary_user(self.state)

    def test_line(self):
        self.make_directory()
        line = self.overview()
        self.assertEqual((line["receiver"], line["uptime_ms"], line["collars"], line["readers"]), ("stopped", None, [], []))
        self.assertEqual(line["state_dir"], self.state)
        self.assertTrue(all(radio["state"] is None for radio in line["radios"]))
        self.assertAlmostEqual(line["unix_ms"], time.time() * 1000, delta=60_000)
        self.assertEqual(self.errors, "")

    def test_text(self):
        self.make_directory()
        lines = self.text()
        self.assertRegex(lines[0], r"^collar-link \d+\.\d+\.\d+  not running: start it with `collar-link`$")
        self.assertEqual(lines[1], "radios")
        self.assertIn("  none was heard yet", lines[lines.index("collars"):])
        self.assertNotIn("readers", lines)

    def test_nothing_is_made(self):
        self.status(code=66)
        self.assertFalse(os.path.exists(self.state))
        self.make_directory()
        self.status()
        self.assertEqual(os.listdir(self.state), [])

    def test_usage(self):
        for arguments in (["more"], ["-F", "csv"], ["--nonsense"]):
            with self.subTest(arguments=arguments):
                self.assertEqual(self.status(*arguments, code=64), "")
        self.assertEqual(self.status("--help").splitlines()[0], "usage: collar-link status [-F text|json] [--utc] [--state-dir DIR]")

    def test_the_default_directory(self):
        done = subprocess.run([BINARY, "status", "-F", "json"], capture_output=True, text=True, timeout=60, check=True,
                              env=self.environment, **ORDINARY_USER)
        self.assertEqual(json.loads(done.stdout)["state_dir"], self.path("places/collar-link"))


class SchemaTest(StatusTest):
    def test_wrong_lines_are_rejected(self):
        receiver, radio = self.begin("--events", "fix,status")
        radio.send(A.identity() + A.fix(0) + A.send(STATUS, KNOWN) + A.send(POWER, POWER_KNOWN))
        receiver.wait_for_lines(2)
        radio.poll(A, 1)
        follower = self.start([BINARY, "follow", "--as", "map", "-n", "1", "--state-dir", self.state], environment=self.environment)
        follower.wait()
        line = self.overview()
        for key in line:
            self.assertFalse(SCHEMA.is_valid({each: line[each] for each in line if each != key}), key)
            self.assertFalse(SCHEMA.is_valid({**line, key: {"x": 1}}), key)
        self.assertFalse(SCHEMA.is_valid({**line, "more": 1}))
        collar, = line["collars"]
        for key in collar:
            self.assertFalse(SCHEMA.is_valid({**line, "collars": [{**collar, key: {"x": 1}}]}), key)
        # Each is a line of its kind, and of no other.
        for wrong in ({"fix": collar["status"]}, {"status": collar["power"]}, {"power": collar["status"]},
                      {"fix": {**collar["fix"], "seq": -1}}):
            self.assertFalse(SCHEMA.is_valid({**line, "collars": [{**collar, **wrong}]}), wrong.keys())
        self.assertFalse(SCHEMA.is_valid({**line, "readers": [{**line["readers"][0], "lag": -1}]}))
        self.assertFalse(SCHEMA.is_valid({**line, "problems": [{"type": "finding"}]}))
        self.assertFalse(SCHEMA.is_valid({**line, "radios": [{**line["radios"][0], "state": "x"}]}))
        receiver.stop()


class SimulatedCollarTest(StatusTest):
    """The collar's own code, and a name."""

    def setUp(self):
        super().setUp()
        track, _ = self.all_cats(limit=1000)
        self.simulate(track, "--interval", "0.1")
        self.receiver = self.receive("--events", "fix", "--dialect", "serial", environment=self.environment)
        self.receiver.wait_for_lines(3)
        self.collar = self.receiver.fixes[0]["collar"]

    def test_it_runs(self):
        self.name_animal("Athena", self.collar)
        # On a loaded machine, fixes may just be on their way.
        wait_until(lambda: self.overview()["collars"][0]["missing"] == 0, 20, "nothing missing")
        line = self.overview()
        self.assertEqual(line["receiver"], "running")
        self.assertTrue(0 < line["uptime_ms"] < 60_000, line["uptime_ms"])
        self.assertEqual(line["radios"], [{"port": self.link, "state": "open", "dialect": "serial"}])
        # The radio in use counts, although no radio is marked for receivers that look for one.
        self.assertNotIn("no_device", [problem["code"] for problem in line["problems"]])
        collar, = line["collars"]
        self.assertEqual((collar["collar"], collar["name"], collar["reachable"]), (self.collar, "Athena", True))
        self.assertEqual(collar["connection"], "connected")
        self.assertTrue(0 <= collar["silent_ms"] < 10_000, collar)
        self.assertEqual(collar["lost"], 0)
        self.assertGreaterEqual(collar["stored"], 3)
        self.assertEqual((collar["fix"]["collar"], collar["fix"]["name"]), (self.collar, "Athena"))
        wait_until(lambda: len(self.receiver.lines) > collar["fix"]["seq"], 10, "the line of the same fix")
        written = {fix["seq"]: fix for fix in self.receiver.fixes}
        # The name was given while the receiver ran: it may not have read it yet.
        self.assertEqual({**collar["fix"], "name": None}, {**written[collar["fix"]["seq"]], "name": None})
        wait_until(lambda: any("nothing missing" in line for line in self.text()), 20, "nothing missing")
        lines = self.text()
        self.assertRegex(lines[0], r"  running for \d+ s$")
        self.assertIn(f"  {self.link}  serial  open", lines)
        place = next(index for index, shown in enumerate(lines) if "Athena" in shown)
        self.assertRegex(lines[place], rf"^  Athena  \({self.collar}\)  connected, heard \d+ s ago$")
        self.assertRegex(lines[place + 1], r"^    last fix \S+ \w+ ago(, stale)?  at \S+ \S+  -?\d+\.\d+, -?\d+\.\d+  (±\S+ m, \w+|accuracy unknown)$")
        self.assertRegex(lines[place + 2], r"^    battery (\d+ %|unknown)")
        self.assertRegex(lines[place + 3], r"^    (nothing|\d+) missing  \d+ stored$")

    def test_it_ended(self):
        self.receiver.stop()
        first = self.overview()
        self.assertEqual((first["receiver"], first["uptime_ms"]), ("stopped", None))
        collar, = first["collars"]
        self.assertEqual((collar["reachable"], collar["silent_ms"]), (None, None))
        newest = max(self.receiver.fixes, key=lambda fix: fix["seq"])
        self.assertEqual(collar["fix"], newest)
        self.assertEqual(collar["stored"], len(self.receiver.fixes))
        lines = self.text()
        self.assertIn("not running", lines[0])
        self.assertIn(f"  {self.collar}", lines)
        self.assertFalse([line for line in lines if "heard" in line or "reachable" in line])

    def test_nothing_is_written(self):
        self.receiver.stop()

        def contents():
            return {os.path.join(folder, file): os.stat(os.path.join(folder, file)).st_mtime_ns
                    for folder, _, files in os.walk(self.state) for file in files}

        before = contents()
        self.overview()
        self.text()
        self.assertEqual(contents(), before)

    def test_it_was_killed(self):
        self.receiver.kill_now()
        self.assertEqual(self.overview()["receiver"], "stopped")
        self.assertEqual(self.errors, "")

    def test_it_does_not_answer(self):
        """It is stopped by a signal: it runs, and cannot be asked."""
        self.receiver.process.send_signal(signal.SIGSTOP)
        try:
            line = self.overview()
            self.assertIn("does not answer", self.errors)
        finally:
            self.receiver.process.send_signal(signal.SIGCONT)
        self.assertEqual((line["receiver"], line["uptime_ms"]), ("unknown", None))
        self.assertEqual(line["collars"][0]["collar"], self.collar)


class WrittenCollarTest(StatusTest):
    """The test writes the frames of the collars."""

    def test_what_the_collar_said_about_itself(self):
        receiver, radio = self.begin("--events", "fix,status")
        radio.send(A.identity() + A.fix(0) + A.send(STATUS, {**KNOWN, "gnss": 0}) + A.send(STATUS, KNOWN))
        wait_until(lambda: any('"status"' in line for line in receiver.lines), 10, "a status")
        radio.poll(A, 1)
        newest = [line for line in receiver.fixes if line["type"] == "status"][-1]
        self.assertEqual(self.overview()["collars"][0]["status"], newest)
        state = next(line for line in self.text(columns=200) if line.startswith("    battery"))
        self.assertIn("  tracking since 2023-11-14 22:13:20  stationary  slow: duty cycle", state)
        receiver.stop()
        # It is known also when nothing runs.
        self.assertEqual(self.overview()["collars"][0]["status"], newest)

    def test_how_the_collar_spends_its_battery(self):
        """The settings tell the interval; the receiver keeps them, and the status tells that the collar rests."""
        receiver, radio = self.begin("--events", "power")
        report = {"request_id": 0, "version": 0, "origin": 0, "entries": [[8, 300], [16, 180_000], [17, 3_600_000]]}
        radio.send(A.identity(heartbeat=300) + A.fix(0) + A.send(7, report) + A.send(POWER, POWER_KNOWN))
        receiver.wait_for_lines(1)
        radio.poll(A, 1)
        collar, = self.overview()["collars"]
        self.assertEqual(collar["power"], receiver.fixes[0])
        self.assertEqual((collar["fix_interval_ms"], collar["heartbeat_s"]), (180_000, 300))
        spent = "GNSS on 1.2 % of the time  radio listens 0.1 % of the time  3 searches failed in a row"
        self.assertIn(f"    makes a fix every 3 min  next search in 2 min  {spent}", self.text(columns=200))
        radio.send(A.send(POWER, {**POWER_KNOWN, "mode": 3, "seconds_to_search": 3600, "failures_in_row": 0}))
        receiver.wait_for_lines(2)
        wait_until(lambda: self.overview()["collars"][0]["fix_interval_ms"] == 3_600_000, 10, "the rest")
        self.assertIn("    makes a fix every 60 min  next search in 59 min  GNSS on 1.2 %", "\n".join(self.text(columns=200)))
        receiver.stop()
        collar, = self.overview()["collars"]
        self.assertEqual((collar["power"]["mode"], collar["fix_interval_ms"], collar["heartbeat_s"]), ("resting", None, None))
        self.assertIn("    makes fixes by a schedule  ", "\n".join(self.text(columns=200)))

    def test_missing_and_lost_fixes(self):
        receiver, radio = self.begin("--events", "fix")
        radio.send(A.identity(following=12) + A.fix(0) + A.fix(3) + A.tombstone([[1, 1]]))
        receiver.wait_for_lines(2)
        radio.poll(A, 10)
        collar, = self.overview()["collars"]
        # The collar has shown the receiver that 4 to 11 exist.
        self.assertEqual((collar["missing"], collar["lost"], collar["stored"]), (9, 1, 2))
        self.assertIn("    9 missing  1 lost  2 stored", self.text())
        receiver.stop()
        collar, = self.overview()["collars"]
        self.assertEqual((collar["missing"], collar["lost"], collar["stored"]), (1, 1, 2))

    def test_a_collar_of_another_run(self):
        receiver, radio = self.begin()
        radio.send(A.identity() + A.fix(0))
        receiver.wait_for_lines(1)
        radio.poll(A, 1)
        receiver.stop()
        receiver, radio = self.begin()
        collar, = self.overview()["collars"]
        self.assertEqual((collar["reachable"], collar["silent_ms"]), (None, None))
        self.assertIn(f"  {id_of(A)}  not heard since the start", self.text())
        receiver.stop()

    def test_the_radio_is_gone(self):
        """The collar was heard, and cannot be heard now."""
        receiver, radio = self.begin()
        radio.send(A.identity() + A.fix(0))
        receiver.wait_for_lines(1)
        radio.poll(A, 1)
        self.assertIn("connected", "".join(self.text()))
        os.close(self.line.master)
        self.line.master = os.open("/dev/null", os.O_RDONLY)
        wait_until(lambda: self.overview()["radios"][0]["state"] != "open", 10, "the end of the line")
        self.assertIn(f"  {id_of(A)}  its radio is not open", self.text())
        self.assertEqual(self.overview()["collars"][0]["reachable"], None)
        receiver.stop()

    def test_the_discharge_of_the_battery(self):
        receiver, radio = self.begin()
        fixes = [position(each, time=START + 1_800_000 * each, battery=90 - each) for each in range(4)]
        radio.send(A.identity() + b"".join(A.fix(each) for each in fixes))
        receiver.wait_for_lines(4)
        radio.poll(A, 4)
        self.assertEqual(self.overview()["collars"][0]["battery_drain_pct_per_h"], 2)
        self.assertIn("    battery 87 %, 2.0 % an hour", self.text())
        receiver.stop()

    def test_a_reader_lags(self):
        receiver, radio = self.begin()
        radio.send(A.identity() + A.fix(0) + A.fix(1))
        receiver.wait_for_lines(2)
        radio.poll(A, 2)
        follower = self.start([BINARY, "follow", "--as", "map", "-n", "2", "--state-dir", self.state], environment=self.environment)
        self.assertEqual(follower.wait(), 0, follower.error_text)
        self.assertEqual(self.overview()["readers"][0]["lag"], 0)
        self.assertRegex(self.text()[self.text().index("readers") + 1], r"^  map  has everything  seen \d+ s ago$")
        radio.send(A.fix(2) + A.fix(3) + B.identity() + B.fix(0))
        receiver.wait_for_lines(5)
        radio.poll(B, 1)
        reader, = self.overview()["readers"]
        self.assertEqual((reader["name"], reader["lag"]), ("map", 3))
        self.assertRegex("\n".join(self.text()), r"\n  map  3 behind, the oldest \d+ s  seen \d+ s ago\n")
        receiver.stop()

    def test_damage_hides_nothing_else(self):
        receiver, radio = self.begin()
        radio.send(A.identity() + A.fix(0))
        receiver.wait_for_lines(1)
        radio.poll(A, 1)
        for reader in ("map", "other"):
            self.start([BINARY, "follow", "--as", reader, "-n", "1", "--state-dir", self.state], environment=self.environment).wait()
        with open(os.path.join(self.state, "readers/other.reader"), "w", encoding="ascii") as file:
            file.write("nonsense")
        line = self.overview()
        self.assertIn("other.reader", self.errors)
        self.assertEqual([reader["name"] for reader in line["readers"]], ["map"])
        self.assertEqual(line["collars"][0]["stored"], 1)
        receiver.stop()

    @unittest.skipUnless(IS_ROOT, "only root can be two users")
    def test_another_user(self):
        """Another user who may read the journals gets what is in them, and nothing of the running receiver."""
        receiver, radio = self.begin()
        radio.send(A.identity() + A.fix(0))
        receiver.wait_for_lines(1)
        radio.poll(A, 1)
        open_to_others(self.folder)
        self.assertEqual(self.overview()["receiver"], "running")
        daemon = {"user": "daemon", "group": "daemon", "extra_groups": []}
        line = self.overview(user=daemon)
        self.assertEqual((line["receiver"], line["uptime_ms"]), ("unknown", None))
        self.assertIn("does not tell this user its figures", self.errors)
        self.assertIn(f"Run `collar-link status --state-dir {self.state}` as the user who runs collar-link, or as root", self.errors)
        self.assertTrue(all(radio["state"] is None for radio in line["radios"]))
        collar, = line["collars"]
        self.assertEqual((collar["stored"], collar["reachable"], collar["silent_ms"]), (1, None, None))
        self.assertRegex(self.text(user=daemon)[0], "  running, but it reports nothing to this user$")
        os.chmod(self.socket_path(), 0o666)
        self.assertEqual(self.overview(user=daemon)["receiver"], "unknown")
        self.assertIn("does not tell its figures. Only the user who runs collar-link, and root", self.errors)
        os.chmod(os.path.join(self.state, id_of(A)), 0o700)
        self.assertEqual(self.overview(user=daemon, code=77)["collars"], [])
        receiver.stop()


class LayoutTest(StatusTest):
    """How the text is laid out at a terminal."""

    def setUp(self):
        super().setUp()
        self.receiver, radio = self.begin()
        radio.send(A.identity() + A.fix(0) + A.send(STATUS, KNOWN) + B.identity() + B.fix(0))
        self.receiver.wait_for_lines(2)
        radio.poll(A, 1)
        radio.poll(B, 1)
        self.start([BINARY, "follow", "--as", "map", "-n", "1", "--state-dir", self.state], environment=self.environment).wait()

    def test_it_fits(self):
        for columns in (30, 40, 80, 200):
            with self.subTest(columns=columns):
                self.assert_fits(self.text(columns=columns), columns)
                self.assert_fits(self.text(columns=columns, rows=10), columns)

    def test_each_collar_has_one_line_where_there_is_no_room(self):
        lines = self.text(rows=8)
        for collar in (A, B):
            shown = [line for line in lines if line.startswith(f"  {id_of(collar)[:8]}")]
            self.assertEqual(len(shown), 1)
            self.assertRegex(shown[0], r"^  [0-9a-f]{8}  connected, heard \d+ s ago  last fix \S+ \w+ ago(, stale)?  battery \d+ %$")
        self.assertFalse([line for line in lines if line.startswith("    last fix")])

    def test_times_are_local_or_UTC(self):
        local = self.status(COLUMNS="200", LINES="1000", TZ="Asia/Kolkata")
        times = [re.search(r"  at (\S+ \S+)  ", text)[1] for text in (local, "\n".join(self.text(columns=200)))]
        seconds = [time.mktime(time.strptime(each, "%Y-%m-%d %H:%M:%S")) for each in times]
        self.assertEqual(seconds[0] - seconds[1], 5.5 * 3600)

    def at_terminal(self, columns=80, rows=200, **environment):
        terminal = Terminal(self, columns=columns, rows=rows)
        program = self.start(
            [BINARY, "status", "--state-dir", self.state], stdout=terminal.descriptor,
            environment={**self.environment, "TERM": "xterm", "NO_COLOR": "", **environment})
        terminal.started()
        self.assertEqual(program.wait(), 0, program.error_text)
        return terminal.whole_text()

    def test_the_size_of_a_terminal_counts(self):
        lines = self.at_terminal(columns=40, NO_COLOR="1", COLUMNS="200", LINES="5").splitlines()
        self.assert_fits(lines, 40)
        self.assertTrue([line for line in lines if line.startswith("    last fix")])

    def test_colours_at_a_terminal(self):
        text = self.at_terminal(columns=200)
        self.assertIn(f"{ESCAPE}[1mradios{ESCAPE}[0m\n", text)
        self.assertRegex(text, rf"{ESCAPE}\[32m  {id_of(A)}  connected, heard \d+ s ago{ESCAPE}\[0m\n")
        plain = re.sub(rf"{ESCAPE}\[[0-9;]*m", "", text)
        self.assertNotIn(ESCAPE, plain)
        # The words say everything that the colours say.
        for line in plain.splitlines():
            self.assertTrue(line.strip())

    def test_no_colours_where_they_are_not_wanted(self):
        for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": ""}):
            with self.subTest(environment=environment):
                self.assertNotIn(ESCAPE, self.at_terminal(**environment))
        self.assertNotIn(ESCAPE, self.status(TERM="xterm"))
        self.assertNotIn(ESCAPE, self.status("-F", "json", TERM="xterm"))


if __name__ == "__main__":
    unittest.main()
