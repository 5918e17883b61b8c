"""Lines other than fixes: those that --events selects, each valid against its schema."""

import os
import signal
import time
import unittest


from end_to_end import EndToEndTest
from schemas import SCHEMAS
from playback import Playback
from radio import Radio
from serial_line import SerialLine

from session_parts import A, Collar, position

STATUS = 6
KNOWN = {"tracking": True, "gnss": 2, "throttle": 0, "stationary": False, "resting": False, "since": None, "battery": 71, "voltage": None,
         "temperature": None, "uptime": 5, "last_error": 0, "fixes_sent": 0, "queue_depth": 0, "drops": 0, "duplicates": 0, "retransmissions": 0,
         "airtime": 0, "clock": None}



class EventLineTest(EndToEndTest):
    def begin(self, *arguments, port=None):
        line = SerialLine()
        self.addCleanup(line.close)
        if port:
            os.symlink(line.path, port)
        receiver = self.receive(*arguments, port=port or line.path)
        receiver.wait_for_error("listening on")
        return receiver, Radio(line)

    def lines(self, receiver, kind):
        """The lines of a type. Checks that every line is valid against the schema of its type."""
        lines = receiver.fixes
        for line in lines:
            SCHEMAS[line["type"]].validate(line)
        return [line for line in lines if line["type"] == kind]

    def test_schemas(self):
        """The schemas are valid, and reject wrong lines."""
        late = {"type": "link", "unix_ms": 1, "event": "late", "collar": "0123456789abcdef", "silent_ms": 5}
        error = {"type": "error", "unix_ms": 1, "code": "a_b", "title": "t", "reason": "r", "remedy": None,
                 "severity": "info", "retryable": True}
        for name, good, changes in (
                ("link", late, ({"collar": "1"}, {"event": "lost"}, {"event": "opened"}, {"silent_ms": -1}, {"more": 1},
                                {"unix_ms": "1"}, {"event": "heard"}, {"event": "healthy"}, {"cause": "none"})),
                ("error", error, ({"code": "A"}, {"remedy": ""}, {"severity": "bad"}, {"retryable": 1}, {"more": 1}))):
            SCHEMAS[name].check_schema(SCHEMAS[name].schema)
            self.assertTrue(SCHEMAS[name].is_valid(good))
            for key in good.keys() - {"silent_ms"} | ({"silent_ms"} if name == "link" else set()):
                self.assertFalse(SCHEMAS[name].is_valid({each: good[each] for each in good if each != key}), key)
            for change in changes:
                self.assertFalse(SCHEMAS[name].is_valid({**good, **change}), change)

    def test_fixes_alone_by_default(self):
        receiver, radio = self.begin()
        radio.send(A.identity() + A.fix(0) + A.fix(position(0, latitude=1)))
        receiver.wait_for_error("another content")
        receiver.stop()
        self.assertEqual([line["type"] for line in receiver.fixes], ["fix"])

    def test_all(self):
        """Each event is written when it happens, whatever characters the name of the port has."""
        port = self.path('a "collar"\\s\nradio')
        receiver, radio = self.begin("--events", "all", port=port)
        radio.send(A.identity() + A.fix(0))
        receiver.wait_for_lines(3)
        radio.send(A.fix(position(0, latitude=1)))
        receiver.wait_for_lines(4)
        receiver.stop()
        self.assertEqual([line["event"] for line in self.lines(receiver, "link")], ["opened", "heard"])
        self.assertEqual([line["port"] for line in self.lines(receiver, "link")], [port, port])
        error, = self.lines(receiver, "error")
        self.assertEqual((error["code"], error["collar"]), ("fix_changed", f"{A.log.device_id:016x}"))
        self.assertIn("fix 0", error["reason"])
        self.assertEqual([line["type"] for line in receiver.fixes], ["link", "link", "fix", "error", "stats", "stats"])

    def test_without_fixes(self):
        """Fixes that a run does not write are stored and acknowledged, and a later run writes them."""
        receiver, radio = self.begin("--events", "link")
        radio.send(A.identity() + A.fix(0) + A.fix(1) + A.fix(position(0, latitude=1)))
        self.assertEqual(radio.poll(A, 2)[0]["first_missing"], 2)
        receiver.stop()
        self.assertEqual([line["event"] for line in self.lines(receiver, "link")], ["opened", "heard"])
        self.assertEqual(len(receiver.lines), 2)
        receiver, _ = self.begin("--events", "fix,error")
        receiver.wait_for_lines(2)
        receiver.stop()
        self.assertEqual([fix["seq"] for fix in self.lines(receiver, "fix")], [0, 1])
        self.assertEqual(len(receiver.lines), 2)

    def test_nothing_happens_after_it(self):
        """A line about silence does not wait for the next frame."""
        receiver, _ = self.begin("--events", "error")
        receiver.wait_for_lines(1)
        receiver.stop()
        self.assertEqual([line["code"] for line in self.lines(receiver, "error")], ["session_not_established"])

    def test_silent_collar(self):
        played = Playback().receive(A.identity(heartbeat=60)).wait(75).wait(120).receive(A.probe(0))
        lines, _ = played.play("--events", "link,error")
        for line in lines:
            SCHEMAS[line["type"]].validate(line)
        links = [line for line in lines if line["type"] == "link"]
        self.assertEqual([line["event"] for line in links],
                         ["opened", "heard", "late", "unreachable", "degraded", "reachable", "healthy"])
        self.assertEqual([line.get("silent_ms") for line in links[2:4]], [75_000, 195_000])
        self.assertEqual([line["code"] for line in lines if line["type"] == "error"], ["collar_not_reachable", "no_location_data"])

    def test_a_collar_restarts_with_an_empty_battery(self):
        """A restart is a line with its cause, and a battery that empties is an error once, also over a restart of the receiver."""
        receiver, radio = self.begin("--events", "link,error")
        radio.send(A.identity(boot=7) + A.fix(position(0, battery=21)) + A.fix(position(1, battery=20)))
        radio.send(A.fix(position(2, battery=10)) + A.identity(boot=8, following=3) + A.send(STATUS, {**KNOWN, "last_error": 6, "battery": 10}))
        receiver.wait_for_lines(6)
        radio.poll(A, 3)
        receiver.stop()
        self.assertEqual([(line["event"], line.get("cause")) for line in self.lines(receiver, "link")],
                         [("opened", None), ("heard", None), ("restarted", "watchdog_reset")])
        low, critical, fault = self.lines(receiver, "error")
        self.assertEqual([(line["code"], line["severity"]) for line in (low, critical, fault)],
                         [("battery_low", "warning"), ("battery_critical", "error"), ("collar_fault", "error")])
        for line in (low, critical, fault):
            self.assertIn(line["reason"], receiver.error_text)
        receiver, radio = self.begin("--events", "link,error")
        radio.send(A.fix(position(3, battery=9)) + A.identity(boot=8, following=4) + A.identity(boot=9, following=4))
        radio.send(A.send(STATUS, {**KNOWN, "last_error": 0, "battery": 8}))
        receiver.wait_for_lines(3)
        receiver.stop()
        self.assertEqual([(line["event"], line.get("cause")) for line in receiver.fixes],
                         [("opened", None), ("heard", None), ("restarted", "none")])

    def test_a_target_that_is_missed(self):
        receiver, radio = self.begin("--events", "error")
        now = int(time.time() * 1000)
        radio.send(A.identity() + b"".join(A.fix(position(sequence, time=now - 2000)) for sequence in range(100)))
        radio.poll(A, 100)
        receiver.process.send_signal(signal.SIGUSR1)
        receiver.wait_for_lines(1)
        receiver.stop()
        missed, = self.lines(receiver, "error")
        self.assertEqual((missed["code"], missed["severity"]), ("target_missed", "warning"))
        self.assertRegex(missed["reason"], r"within 2\d\d\d ms")

    def test_collars_of_others_and_too_many(self):
        receiver, radio = self.begin("--events", "error")
        radio.send(A.identity(paired=77))
        radio.send(b"".join(Collar(number, number, number).identity() for number in range(1, 30)))
        receiver.wait_for_lines(2)
        receiver.stop()
        found = {line["code"]: line for line in self.lines(receiver, "error")}
        self.assertEqual(set(found), {"paired_elsewhere", "too_many_new_collars"})
        self.assertEqual(found["paired_elsewhere"]["severity"], "critical")
        self.assertTrue(found["too_many_new_collars"]["retryable"])
        self.assertIn("port", found["too_many_new_collars"])

    def test_what_is_noticed_while_answering(self):
        """The line about an unanswered poll is written even if no frame follows that poll."""
        receiver, radio = self.begin("--events", "error")
        radio.send(A.identity())
        for _ in range(400):
            try:
                radio.poll(A, 0, 0.3)
            except AssertionError:
                break
        receiver.wait_for_lines(1, 1)
        receiver.stop()
        self.assertEqual([line["code"] for line in self.lines(receiver, "error")], ["too_many_polls"])

    def test_damaged_frames_are_counted(self):
        damaged = bytearray(A.fix(1))
        damaged[len(damaged) // 2] ^= 0x80 if damaged[len(damaged) // 2] != 0x80 else 0x40
        receiver, radio = self.begin("--events", "stats")
        radio.send(A.identity() + A.fix(0) + bytes(damaged))
        self.assertEqual(radio.poll(A, 1)[0]["first_missing"], 1)
        receiver.stop()
        stats = next(line for line in self.lines(receiver, "stats") if "collar" not in line)
        self.assertEqual((stats["frames_damaged"], stats["frames_malformed"]), (1, 0))

    def test_lines_are_counted(self):
        receiver, radio = self.begin("--events", "all", "-n", "3")
        radio.send(A.identity() + A.fix(0) + A.fix(1))
        self.assertEqual(receiver.wait(5), 0)
        self.assertEqual([line["type"] for line in receiver.fixes], ["link", "link", "fix"])

    def test_wrong_lists(self):
        for text in ("", "fixes", "fix,", "fix,,link", "fix link", "all,fix", "gaps"):
            with self.subTest(events=text):
                receiver = self.receive("--events", text)
                self.assertEqual(receiver.wait(5), 64)
                self.assertIn("--events", receiver.error_text)


if __name__ == "__main__":
    unittest.main()
