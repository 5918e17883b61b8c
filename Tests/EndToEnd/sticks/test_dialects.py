"""Collars behind simulated sticks with other people's firmware: every fix arrives once, with its signal, whatever the stick
does. The three dialects run side by side, because the sticks live in real time."""

import json
import os
import socket
import threading
import time
import unittest

from end_to_end import BINARY, TRACKS, EndToEndTest, wait_until
from serial_line import SerialLine

TRACK = TRACKS / "cats_uk/Amber-Tag.ndjson.gz"
# The oldest releases that can be used: their answers differ most from those of today.
RELEASES = {"kiss": "1.17.1", "rnode": "1.86", "rui3": "3.4.2"}
FIRMWARE = {"kiss": "MeshCore KISS modem", "rnode": "RNode firmware", "rui3": "RUI3 firmware"}
EUROPE = ("--region", "EU868", "--spreading-factor", "7")


class DialectTest(EndToEndTest):
    def run_sticks(self, fix_count, *arguments, radio=EUROPE, releases={}):
        """A simulated collar behind a stick of each dialect, and its receiver."""
        track, _ = self.unpack(TRACK, fix_count)
        pairs = {}
        for dialect in FIRMWARE:
            link = self.path(f"collar-{dialect}")
            collar = self.simulate(
                track, "--dialect", dialect, *(("--stick-release", releases[dialect]) if releases else ()), "--modem", "lora:SF7", "--seed", "4", "--until-delivered", "--stats", *arguments,
                link=link)
            receiver = self.start(
                [BINARY, "--port", link, "--state-dir", self.path(f"state-{dialect}"), "--events", "fix,error", *radio])
            pairs[dialect] = collar, receiver
        return pairs

    def assert_complete(self, collar, receiver, fix_count, seconds):
        """Checks that every fix came once, with its signal. Returns the codes of the errors."""
        self.assertEqual(collar.wait(seconds), 0, "the track is not delivered")

        def fixes():
            return [line for line in receiver.fixes if line["type"] == "fix"]
        wait_until(lambda: len(fixes()) >= fix_count, 10, "the lines of all fixes")
        self.assert_each_once(fixes(), fix_count)
        for line in fixes():
            self.assertTrue(-140 < line["rssi_dbm"] < 0 and -30 < line["snr_db"] < 30, line)
        return {line["code"] for line in receiver.fixes if line["type"] == "error"}


class LossTest(DialectTest):
    def test_a_track_with_a_fifth_of_the_frames_lost(self):
        for dialect, (collar, receiver) in self.run_sticks(40, "--interval", "0.5", "--loss", "0.2").items():
            with self.subTest(dialect):
                self.assert_complete(collar, receiver, 40, 120)
                self.assertIn(FIRMWARE[dialect], receiver.error_text)
                self.assertNotIn("has identified itself", receiver.error_text)
                self.assertIn("the radio is set to 869.525 MHz, 125 kHz, SF7, 4/5, 14 dBm", receiver.error_text)


class FaultTest(DialectTest):
    def test_faults_of_the_stick_lose_and_double_nothing(self):
        faults = [f"--stick-fault={fault}" for fault in (
            "garbage@3", "reset@6", "full@11", "full@16", "busy@21", "stall@27", "garbage@38")]
        for dialect, (collar, receiver) in self.run_sticks(45, "--interval", "1", *faults, releases=RELEASES).items():
            with self.subTest(dialect):
                codes = self.assert_complete(collar, receiver, 45, 150)
                self.assertLessEqual({"radio_restarted", "radio_busy", "radio_not_answering"}, codes)
                self.assertIn("answers again", receiver.error_text)

    def test_a_refused_setting_is_named(self):
        for dialect, (_, receiver) in self.run_sticks(10, "--interval", "1", "--stick-fault=refuse@0").items():
            with self.subTest(dialect):
                # A MeshCore modem confirms an airtime, the others each setting.
                named = "the stick has another bandwidth" if dialect == "kiss" else "the stick does not hold the"
                receiver.wait_for_error(named, 15)
                self.assertNotIn("the radio is set to", receiver.error_text)


class WrongDialectTest(DialectTest):
    def test_a_stick_that_is_no_serial_line(self):
        """The message names the dialect that is set, and how the right one is found."""
        for dialect, (_, receiver) in self.run_sticks(10, "--interval", "1", radio=("--dialect", "serial", *EUROPE)).items():
            with self.subTest(dialect):
                receiver.wait_for_error("has identified itself for 5 s", 15)
                self.assertIn("; the dialect is set to serial.", receiver.error_text)
                self.assertIn("leave out `--dialect serial`", receiver.error_text)
                wait_until(lambda: len(receiver.fixes) >= 2, 5, "the lines")
                self.assertEqual({line["code"] for line in receiver.fixes}, {"session_not_established", "session_timeout"})

    def test_a_line_that_nobody_named(self):
        line = SerialLine()
        self.addCleanup(line.close)
        receiver = self.start([BINARY, "--port", line.path, "--state-dir", self.state])
        receiver.wait_for_error("has identified itself for 5 s", 30)
        self.assertNotIn("dialect", receiver.error_text)


class FloodTest(EndToEndTest):
    def test_restarts_without_end_do_not_fill_logs(self):
        """A machine that passes for an RNode says that it has started, as often as it can. Stderr, lines and the event log have few
        messages of it, with the number of those that were left out."""
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)

        def serve():
            peer, _ = listener.accept()
            with peer:
                waiting, held = b"", {}
                last = b"\x03\xff"
                while b"\xc0" + last + b"\xc0" not in waiting:
                    waiting += peer.recv(4096)
                    # Each question is echoed; that for the detection has an answer of its own; zeros, and 255, ask for what is held.
                    while waiting.count(b"\xc0") >= 2:
                        begin = waiting.index(b"\xc0")
                        end = waiting.index(b"\xc0", begin + 1)
                        frame, waiting = waiting[begin + 1:end], waiting[end + 1:]
                        question = frame
                        if frame in (b"\x08\x73", b"\x08s"):
                            frame = b"\x08\x46"
                        if frame[:1] == b"\x50":
                            frame = b"\x50\x01\x56"
                        if frame[1:] in (b"\0\0\0\0", b"\xff"):
                            frame = held[frame[:1]]
                        held[frame[:1]] = frame
                        peer.sendall(b"\xc0" + frame + b"\xc0")
                        if question == last:
                            waiting = b"\xc0" + last + b"\xc0"
                            break
                peer.settimeout(0.01)
                try:
                    while True:
                        peer.sendall(b"\xc0\x55\xf8\xc0" * 100)
                        time.sleep(0.01)
                        try:
                            peer.recv(65536)
                        except TimeoutError:
                            pass
                except OSError:
                    pass
        threading.Thread(target=serve, daemon=True).start()
        receiver = self.start([
            BINARY, "--port", f"tcp://127.0.0.1:{listener.getsockname()[1]}", "--dialect", "rnode", "--state-dir", self.state, "--events",
            "error,link", *EUROPE])
        receiver.wait_for_error("restarted and forgot its settings", 15)
        receiver.wait_for_error("of this kind were left out.", 20)
        time.sleep(2)
        self.assertEqual(receiver.stop(), 0)
        restarts = [line for line in receiver.fixes if line.get("code") == "radio_restarted"]
        self.assertLess(len(restarts), 15)
        self.assertTrue(restarts[-1]["reason"].endswith("of this kind were left out."))
        self.assertLess(len(receiver.errors), 100)
        events = os.path.join(self.state, "events")
        self.assertLess(sum(os.path.getsize(os.path.join(events, name)) for name in os.listdir(events)), 20_000)


class RegionTest(DialectTest):
    def test_without_a_region_the_stick_is_not_used(self):
        for dialect, (_, receiver) in self.run_sticks(10, "--interval", "1", radio=()).items():
            with self.subTest(dialect):
                receiver.wait_for_error("no region is set: its radio is not used", 15)
                self.assertNotIn("the radio is set to", receiver.error_text)

    def test_without_a_region_the_radio_listens_and_nothing_is_sent(self):
        radio = ("--frequency", "869.525", "--bandwidth", "125", "--spreading-factor", "7")
        pairs = self.run_sticks(6, "--interval", "1", radio=radio)
        for dialect, (collar, receiver) in pairs.items():
            with self.subTest(dialect):
                receiver.wait_for_error("no region is set: the radio only listens", 15)
                receiver.wait_for_error("the radio is set to", 15)
        for dialect, (collar, receiver) in pairs.items():
            with self.subTest(dialect):
                receiver.wait_for_error("is heard at", 20)
                self.assertEqual(collar.stop(), 0)
                self.assertEqual(json.loads(collar.error_text.splitlines()[-1])["downlink_frames"], 0)


if __name__ == "__main__":
    unittest.main()
