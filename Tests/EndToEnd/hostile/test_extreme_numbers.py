"""Numbers from outside that are as large as they can be: each is an error with its place, or no number, and nothing crashes."""

import pathlib
import socket
import struct
import subprocess
import threading
import unittest

from end_to_end import BINARY, ROOT, EndToEndTest, child_environment
from ordinary_user import give_to_ordinary_user
import recordings
from recordings import OPENED

EXTREMES = [
    -1, -(1 << 31), 1 << 31, 1 << 32, 1 << 47, -(1 << 47) - 1, 1 << 48, 1 << 53, (1 << 63) - 1, -(1 << 63), (1 << 64) - 1, 10 ** 20,
    "nan", ""]
CAPTURE = ROOT / "Tests/Captures/rnode-stick.pcapng"
DAMAGED = 65


def capture_with(change):
    """The capture, with each record's time in microseconds, time of day and content as `change` returns them."""
    data = CAPTURE.read_bytes()
    result, number = [], 0
    for kind, body, order, _ in recordings.blocks(data):
        if kind == 6:
            interface, high, low, length, _ = struct.unpack_from(order + "IIIII", body)
            version, event, round_, unix_ms = struct.unpack_from(">BBHQ", body, 20)
            time, unix_ms, content = change(number, event, high << 32 | low, unix_ms, body[32:20 + length])
            number += 1
            packet = struct.pack(">BBHQ", version, event, round_, unix_ms) + content
            body = struct.pack(order + "IIIII", interface, time >> 32, time & 0xFFFFFFFF, len(packet), len(packet)) + packet
            body += b"\0" * (-len(body) % 4)
        length = len(body) + 12
        result.append(struct.pack(order + "II", kind, length) + body + struct.pack(order + "I", length))
    return b"".join(result)


class ExtremeNumbersTest(EndToEndTest):
    def run_tool(self, *arguments):
        """Runs the program to its end. Returns its exit code, and keeps what it said on stderr."""
        done = subprocess.run(
            [BINARY, *arguments], capture_output=True, text=True, check=False, timeout=60,
            env=child_environment(HOME=self.folder, TMPDIR=self.folder))
        self.said = done.stderr
        self.assertGreaterEqual(done.returncode, 0, f"killed by a signal: {arguments} {self.said}")
        self.assertLess(done.returncode, 128, f"{arguments} {self.said}")
        return done.returncode

    def play(self, change, *arguments):
        path = self.path("extreme.pcapng")
        pathlib.Path(path).write_bytes(capture_with(change))
        return self.run_tool("--read", path, *arguments)

    def test_instants_of_captures(self):
        for wanted in (0, 5):
            for time in (1 << 53, 1 << 63, (1 << 63) - 1, (1 << 64) - 1):
                with self.subTest(record=wanted, time=time):
                    code = self.play(lambda number, _, own, unix, content: (time if number == wanted else own, unix, content))
                    self.assertEqual(code, DAMAGED)
                    self.assertRegex(self.said, r"byte \d+: the content of a record of event \d+ is wrong")

    def test_times_of_day_of_captures(self):
        for wanted in (0, 5):
            for unix_ms in (1 << 47, (1 << 63) - 1, 1 << 63, (1 << 64) - 1 - (1 << 47)):
                with self.subTest(record=wanted, unix_ms=unix_ms):
                    code = self.play(
                        lambda number, _, own, unix, content: (own, unix_ms if number == wanted else unix, content), "--keep", "1",
                        "--state-dir", self.path(f"state-{wanted}-{unix_ms}"))
                    self.assertEqual(code, DAMAGED)
                    self.assertRegex(self.said, r"byte \d+: the content of a record")

    def test_openings_of_captures(self):
        """Each number of an opening as each extreme: it is damage, except where it is in its range."""
        keys = ("round_trip_us", "frequency_hz", "bandwidth_hz", "spreading_factor", "coding_rate", "power_dbm", "duty_cycle_ppm",
                "dwell_us")

        def change(key, value):
            def changed(_, event, time, unix_ms, content):
                if event == OPENED:
                    lines = [line for line in content.decode().splitlines() if not line.startswith(f"{key}=")]
                    content = "".join(f"{line}\n" for line in [*lines, f"{key}={value}"]).encode()
                return time, unix_ms, content
            return changed
        for key in keys:
            for value in (-1, 1 << 31, 1 << 63, "nan"):
                with self.subTest(key=key, value=value):
                    code = self.play(change(key, value))
                    in_range = (key, value) in (
                        ("power_dbm", -1), ("frequency_hz", 1 << 31), ("round_trip_us", 1 << 31), ("dwell_us", 1 << 31))
                    self.assertEqual(code, 0 if in_range else DAMAGED, self.said)

    def state_file(self, name, text):
        path = pathlib.Path(self.state, name)
        for folder in (pathlib.Path(self.state), path.parent):
            folder.mkdir(mode=0o755, exist_ok=True)
            give_to_ordinary_user(folder)
        path.write_text(text)
        give_to_ordinary_user(path)

    def test_readers(self):
        head = "collar-link reader 1\n"
        collar = "910a2dec89025cc1"
        for value in EXTREMES:
            for name, text in (
                    ("seen", f"{head}seen {value}\ncollars all\n"),
                    ("segment", f"{head}seen 1\ncollars all\njournal {collar} {value} 1 1 1\n"),
                    ("offset", f"{head}seen 1\ncollars all\njournal {collar} 1 {value} 1 1\n"),
                    ("time", f"{head}seen 1\ncollars all\njournal {collar} 1 1 {value} 1\n"),
                    ("file", f"{head}seen 1\ncollars all\nevents {value} 1\n"),
                    ("place", f"{head}seen 1\ncollars all\nevents 1 {value}\n")):
                with self.subTest(field=name, value=value):
                    self.state_file("readers/x.reader", text)
                    self.assertEqual(self.run_tool("readers", "--state-dir", self.state), 0)
                    if name == "seen" and value not in (-1, -(1 << 31), 1 << 31, 1 << 32):
                        self.assertIn("x.reader does not hold the position of a reader", self.said)

    def test_airtime(self):
        """What a stick transmitted last, read when it is opened."""
        track, _ = self.track("cats_uk/Athena", 1)
        self.simulate(track, "--modem", "lora:SF7", "--dialect", "rnode")
        for value in (-(1 << 63), (1 << 63) - 1, 10 ** 20, 1 << 47):
            self.state_file("airtime", f"{value}\n")
            receiver = self.start([
                BINARY, "--port", self.link, "--state-dir", self.state, "--region", "EU868", "--spreading-factor", "7", "--dialect", "rnode"])
            receiver.wait_for_error("the radio is set to")
            self.assertEqual(receiver.stop(), 0, receiver.error_text)

    def test_machines(self):
        for key in ("time", "status /dev/ttyUSB0", "space /", "holder /dev/ttyUSB0"):
            for value in EXTREMES:
                forms = {"time": f"{value}", "status /dev/ttyUSB0": f"c 660 0 20 188:0 {value}", "space /": f"{value} {value} rw",
                         "holder /dev/ttyUSB0": f"{value} x"}
                machine = pathlib.Path(self.path("machine"))
                machine.mkdir(exist_ok=True)
                (machine / "facts").write_text(f"user = 1000 alice\n{key} = {forms[key]}\n")
                (machine / "home").mkdir(exist_ok=True)
                events = machine / "var/lib/collar-link/events"
                events.mkdir(parents=True, exist_ok=True)
                (events / "00000001.jsonl").write_text(
                    f'{{"type":"error","unix_ms":{value or 0},"code":"key_missing","title":"","reason":"r","severity":"error"}}\n')
                with self.subTest(key=key, value=value):
                    code = self.run_tool("doctor", "--machine", str(machine))
                    if key == "time" and value in (1 << 47, (1 << 63) - 1, -(1 << 63), 10 ** 20, "nan"):
                        self.assertEqual(code, DAMAGED)
                        self.assertIn("facts, line 2:", self.said)

    def test_options(self):
        options = [
            ["--duration"], ["--count"], ["--keep"], ["--keep-at-most"], ["--max-size"], ["--since"], ["simulate", "--walk"],
            ["simulate", "--walk", "1/1/1", "--collars"], ["simulate", "--walk", "1/1/1", "--battery"],
            ["simulate", "--walk", "1/1/1", "--speed"], ["simulate", "--walk", "1/1/1", "--button"],
            ["simulate", "--walk", "1/1/1", "--seed"], ["send", "sound"], ["send", "find"], ["send", "message"], ["send", "--timeout"],
            ["history", "--since"], ["encode", "--log-id"], ["follow", "--duration"], ["deliver", "x", "--every"],
            ["key", "accept-restart", "910a2dec89025cc1"], ["--frequency"], ["--bandwidth"], ["--tx-power"], ["--spreading-factor"]]
        # The programs that take the number go on, so they are ended.
        for words in options:
            for value in (-(1 << 63), (1 << 63) - 1, 10 ** 20, "nan", "1e400"):
                forms = [f"{value}"]
                if words[-1] == "--walk":
                    forms = [f"{value}/1/10", f"1/{value}/10", f"1/1/{value}"]
                if words[-1] == "--since":
                    forms = [f"@{value}", f"{value}w", f"{value}"]
                if words[-1] == "--button":
                    forms = [f"short@{value}"]
                if words[-1] == "--battery":
                    forms = [f"{value}/1", f"1/{value}"]
                for form in forms:
                    with self.subTest(words=words, value=form):
                        arguments = [*words[:-1], f"{words[-1]}={form}"] if words[-1].startswith("--") else [*words, "--", form]
                        done = subprocess.run(
                            ["timeout", "-s", "TERM", "0.5", BINARY, *arguments], capture_output=True, text=True, check=False,
                            stdin=subprocess.DEVNULL, env=child_environment(HOME=self.folder))
                        self.assertNotIn(done.returncode, (132, 133, 134, 139, -4, -5, -6, -11), done.stderr)
                        self.assertNotIn("Fatal error", done.stderr)

    def test_a_stick_that_answers_with_extreme_numbers(self):
        """A RUI3 stick over TCP says that it holds impossible settings: it is not used, and nothing else ends."""
        for held in ("869525000:9:9223372036854775807:0:8:14", "869525000:9:125:9223372036854775807:8:14"):
            with self.subTest(held=held), socket.create_server(("127.0.0.1", 0)) as server:
                threading.Thread(target=answer, args=(server, held), daemon=True).start()
                receiver = self.start([
                    BINARY, "--port", f"tcp://127.0.0.1:{server.getsockname()[1]}", "--state-dir", self.path(f"state-{held}"),
                    "--region", "EU868", "--dialect", "rui3", "--events", "error"])
                receiver.wait_for_lines(1)
                self.assertEqual(receiver.fixes[0]["code"], "radio_setting_refused")
                self.assertEqual(receiver.stop(), 0, receiver.error_text)


def answer(server, held):
    """Answers as a RUI3 stick that holds these settings, until the connection ends."""
    connection, _ = server.accept()
    with connection, connection.makefile("rb") as lines:
        for line in lines:
            command = line.strip()
            value = {b"AT+NWM=?": b"AT+NWM=0\r\n", b"AT+VER=?": b"AT+VER=x\r\n", b"AT+P2P=?": f"AT+P2P={held}\r\n".encode()}
            try:
                if command:
                    connection.sendall(value.get(command, b"") + b"OK\r\n")
            except OSError:
                return


if __name__ == "__main__":
    unittest.main()
