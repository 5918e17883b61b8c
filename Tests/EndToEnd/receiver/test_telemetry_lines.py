"""Lines with figures (stats), with the status of collars (status) and with their power reports (power)."""

import json
import os
import pathlib
import re
import signal
import time
import unittest

from statuses import KNOWN, POWER, POWER_KNOWN, POWER_UNKNOWN, STATUS, UNKNOWN
from end_to_end import BINARY, EndToEndTest, wait_until
from hotplug import SimulatedMachineTest
from radio import Radio
from serial_line import SerialLine
from schemas import SCHEMAS
from tracing import Traced, can_trace

from session_parts import A, B

IS_ACCEPTANCE = os.environ.get("COLLAR_LINK_ACCEPTANCE") == "1"


class TelemetryLineTest(EndToEndTest):
    def begin(self, *arguments, **options):
        line = SerialLine()
        self.addCleanup(line.close)
        receiver = self.receive(*arguments, port=line.path, **options)
        receiver.wait_for_error("listening on")
        return receiver, Radio(line)

    def lines(self, receiver, kind):
        """The lines of a type, which are valid against its schema."""
        lines = [line for line in receiver.fixes if line["type"] == kind]
        for line in lines:
            SCHEMAS[kind].validate(line)
        return lines

    def figures(self, receiver, count):
        """Requests figures, and waits for `count` lines in all. Returns those of the receiver and of each collar."""
        receiver.process.send_signal(signal.SIGUSR1)
        receiver.wait_for_lines(count)
        stats = self.lines(receiver, "stats")
        begin = max(index for index, line in enumerate(stats) if "collar" not in line)
        return stats[begin], {line["collar"]: line for line in stats[begin + 1:]}

    def test_schemas(self):
        """The schemas are valid, and reject wrong lines."""
        receiver, radio = self.begin("--events", "stats,status,power")
        radio.send(A.identity() + A.send(STATUS, KNOWN) + A.send(POWER, POWER_KNOWN))
        receiver.wait_for_lines(2)
        whole, collars = self.figures(receiver, 4)
        good = {"stats": [whole, *collars.values()], "status": self.lines(receiver, "status"), "power": self.lines(receiver, "power")}
        for name, lines in good.items():
            SCHEMAS[name].check_schema(SCHEMAS[name].schema)
            for line in lines:
                for key in line:
                    self.assertFalse(SCHEMAS[name].is_valid({each: line[each] for each in line if each != key}), key)
                    self.assertFalse(SCHEMAS[name].is_valid({**line, key: "x"}), key)
                self.assertFalse(SCHEMAS[name].is_valid({**line, "more": 1}))
        self.assertFalse(SCHEMAS["status"].is_valid({**good["status"][0], "clock_uptime_ms": None}))

    def test_positions_that_are_switched_off(self):
        receiver, radio = self.begin("--events", "error")
        radio.send(A.identity() + A.send(STATUS, UNKNOWN) + A.send(STATUS, UNKNOWN) + A.send(STATUS, {**KNOWN, "gnss": 3}))
        receiver.wait_for_lines(3)
        receiver.stop()
        off, fault, other = self.lines(receiver, "error")
        self.assertEqual((other["code"], other["severity"], other["retryable"]), ("collar_fault", "error", True))
        self.assertIn("error 17", other["reason"])
        self.assertEqual((off["code"], off["severity"], off["retryable"]), ("location_services_disabled", "critical", False))
        self.assertEqual((fault["code"], fault["severity"], fault["retryable"]), ("location_update_failed", "error", True))
        for line in (off, fault):
            self.assertEqual(line["collar"], f"{A.log.device_id:016x}")
            self.assertIn(line["reason"], receiver.error_text)
            # On stderr the command also names the receiver's directory and port.
            self.assertIn(line["remedy"].removesuffix("`."), receiver.error_text)
        self.assertIn("collar-link send track on --collar", off["remedy"])

    def test_status(self):
        receiver, radio = self.begin("--events", "status")
        radio.send(A.identity() + A.send(STATUS, KNOWN) + A.fix(0) + A.send(STATUS, UNKNOWN) + B.identity())
        receiver.wait_for_lines(2)
        receiver.stop()
        known, unknown = self.lines(receiver, "status")
        self.assertTrue(time.time() * 1000 - 60_000 < known.pop("unix_ms") <= time.time() * 1000)
        names = {"type": "status", "collar": f"{A.log.device_id:016x}", "log": A.log.log_id}
        self.assertEqual(known, {
            **names, "tracking": True, "tracking_since_unix_ms": 1_700_000_000_000, "gnss": "fix",
            "throttle": "duty_cycle", "stationary": True, "resting": False, "battery_pct": 71, "battery_mv": 3912, "temperature_c": -7,
            "uptime_s": 86_400, "last_error": 17, "last_error_name": None, "fixes_sent": 4_000_000_000, "queue_depth": 12, "drops": 1,
            "duplicates": 2, "retransmissions": 16_777_215, "airtime_ms": 60_001,
            "clock_unix_ms": 1_700_000_123_456, "clock_uptime_ms": 86_400_999})
        del unknown["unix_ms"]
        self.assertEqual(unknown, {
            **names, "tracking": False, "tracking_since_unix_ms": None, "gnss": "off", "throttle": "none",
            "stationary": False, "resting": False, "battery_pct": None, "battery_mv": None, "temperature_c": None, "uptime_s": 0,
            "last_error": None, "last_error_name": None, "fixes_sent": 0, "queue_depth": 0, "drops": 0, "duplicates": 0, "retransmissions": 0,
            "airtime_ms": 0, "clock_unix_ms": None, "clock_uptime_ms": None})

    def test_a_receiver_that_rests(self):
        """Its supply is off until the next search: that is no fault."""
        receiver, radio = self.begin("--events", "status,error")
        radio.send(A.identity() + A.send(STATUS, {**KNOWN, "gnss": 0, "resting": True}) + A.send(STATUS, {**KNOWN, "gnss": 0}))
        receiver.wait_for_lines(4)
        receiver.stop()
        self.assertEqual([line["resting"] for line in self.lines(receiver, "status")], [True, False])
        off = [line for line in self.lines(receiver, "error") if line["code"] == "location_services_disabled"]
        self.assertEqual(len(off), 1)

    def test_power(self):
        receiver, radio = self.begin("--events", "power")
        radio.send(A.identity() + A.send(POWER, POWER_KNOWN) + A.fix(0) + A.send(POWER, POWER_UNKNOWN))
        receiver.wait_for_lines(2)
        receiver.stop()
        known, unknown = self.lines(receiver, "power")
        self.assertTrue(time.time() * 1000 - 60_000 < known.pop("unix_ms") <= time.time() * 1000)
        names = {"type": "power", "collar": f"{A.log.device_id:016x}", "log": A.log.log_id}
        self.assertEqual(known, {
            **names, "mode": "moving", "supply": "backup", "uptime_s": 86_400, "next_search_s": 170, "failures_in_row": 3,
            "time_to_fix_s": 4.2, "gnss_s": 1037, "listening_s": 86, "awake_s": 1201.25, "searches": 480, "failures": 9})
        del unknown["unix_ms"]
        self.assertEqual(unknown, {
            **names, "mode": "stopped", "supply": "off", "uptime_s": 0, "next_search_s": None, "failures_in_row": 0,
            "time_to_fix_s": None, "gnss_s": 0, "listening_s": 0, "awake_s": 0, "searches": 0, "failures": 0})
        # The event log keeps it for other programs.
        follower = self.start([BINARY, "follow", "--events", "power", "-n", "2", "--state-dir", self.state])
        self.assertEqual(follower.wait(), 0, follower.error_text)
        self.assertEqual([line["mode"] for line in follower.fixes], ["moving", "stopped"])

    def test_figures(self):
        """The figures of the receiver and of each collar."""
        receiver, radio = self.begin("--events", "fix,stats")
        radio.send(A.identity(following=9) + A.fix(0) + A.fix(1) + A.fix(1) + A.fix(5) + A.tombstone([[2, 3]]))
        radio.send(B.identity())
        receiver.wait_for_lines(3)
        whole, collars = self.figures(receiver, 6)
        self.assertEqual(set(collars), {f"{each.log.device_id:016x}" for each in (A, B)})
        one, other = (collars[f"{each.log.device_id:016x}"] for each in (A, B))
        self.assertEqual((one["fixes_stored"], one["duplicates"], one["highest_seq"], one["missing"], one["log"]),
                         (3, 1, 8, 9 - 3 - 2, A.log.log_id))
        self.assertEqual((other["fixes_stored"], other["highest_seq"], other["missing"]), (0, None, 0))
        self.assertEqual((whole["fixes_stored"], whole["duplicates"], whole["lines"], whole["frames"]), (3, 1, 3, 7))
        self.assertEqual((whole["lag_bytes"], whole["lag_ms"], whole["output_blocked_ms"]), (0, 0, None))
        self.assertIs(whole["storage_failing"], False)
        sizes = {name: sum(os.path.getsize(os.path.join(self.state, name, file))
                           for file in os.listdir(os.path.join(self.state, name)) if file.endswith(".journal"))
                 for name in collars}
        for name, line in collars.items():
            self.assertEqual(line["journal_bytes"], sizes[name])
        self.assertEqual(whole["journal_bytes"], sum(sizes.values()))

    def test_at_the_end(self):
        receiver, radio = self.begin("--events", "stats")
        radio.send(A.identity() + A.fix(0))
        radio.poll(A, 1)
        receiver.stop()
        whole, one = self.lines(receiver, "stats")
        self.assertEqual((whole["fixes_stored"], whole["lines"], one["highest_seq"], one["missing"]), (1, 0, 0, 0))
        # A consumer that does not want fixes has no lag.
        self.assertEqual((whole["lag_bytes"], whole["lag_ms"], one["lag_bytes"]), (None, None, None))

    def test_a_consumer_that_is_behind(self):
        """While the consumer does not read, the figures say how far it lags and since when; then it catches up."""
        count = 1000
        receiver, radio = self.begin("--events", "fix,stats", reads_output=False)
        radio.send(A.identity() + b"".join(A.fix(sequence) for sequence in range(count)))
        radio.poll(A, count)
        # The consumer reads some lines and then stops: as many lines as possible wait for it.
        receiver.lines += [receiver.process.stdout.readline().decode() for _ in range(300)]
        time.sleep(0.5)
        receiver.process.send_signal(signal.SIGUSR1)
        time.sleep(0.2)
        receiver.start_reading()
        wait_until(lambda: sum('"fix"' in line[:16] for line in receiver.lines) == count, 10, "all fixes")
        last, collars = self.figures(receiver, len(receiver.lines) + 2)
        behind = next(line for line in self.lines(receiver, "stats") if "collar" not in line)
        self.assertGreater(behind["lag_bytes"], 200 * 10)
        self.assertLess(behind["lag_bytes"], behind["journal_bytes"])
        for key in ("lag_ms", "output_blocked_ms"):
            self.assertTrue(400 < behind[key] < 60_000, behind)
        self.assertEqual((last["lag_bytes"], last["lag_ms"], last["output_blocked_ms"]), (0, 0, None))
        self.assertEqual([line["lag_bytes"] for line in collars.values()], [0])

    def test_nobody_asked(self):
        """Without stats the signal changes nothing."""
        receiver, radio = self.begin()
        receiver.process.send_signal(signal.SIGUSR1)
        radio.send(A.identity() + A.fix(0) + A.send(STATUS, KNOWN) + A.fix(1))
        receiver.wait_for_lines(2)
        self.assertEqual(receiver.stop(), 0)
        self.assertEqual([line["type"] for line in receiver.fixes], ["fix", "fix"])

    @unittest.skipUnless(IS_ACCEPTANCE, "takes two minutes: Tools/test acceptance")
    def test_once_a_minute(self):
        receiver, _ = self.begin("--events", "stats")
        receiver.wait_for_lines(2, 130)
        times = [json.loads(line)["uptime_s"] for line in receiver.lines]
        self.assertEqual(times, [60, 120])


class NoRadioTest(SimulatedMachineTest):
    @unittest.skipUnless(can_trace(), "needs strace, and leave to trace")
    def test_nothing_wakes_without_need(self):
        """Where no radio is plugged in, the receiver has a timer only if somebody asks for figures."""
        waits = {}
        for events in ("fix,status", "fix,stats"):
            trace = self.path(f"trace-{events}")
            traced = Traced(self, ["-o", trace, "-e", "trace=epoll_wait,epoll_pwait"], [
                BINARY, "--state-dir", self.path(f"state-{events}"), "--events", events], environment=self.environment)
            traced.program.wait_for_error("waiting for one")
            wait_until(lambda: "epoll" in pathlib.Path(trace).read_text("ascii"), 5, "a call")
            traced.stop()
            # After the descriptor: the events, their largest number, and the milliseconds.
            waits[events] = int(re.search(r"epoll_p?wait\(\d+, .*?, 16, (-?\d+)", pathlib.Path(trace).read_text("ascii"))[1])
        self.assertEqual(waits["fix,status"], -1)
        self.assertTrue(50_000 < waits["fix,stats"] <= 60_000, waits)


if __name__ == "__main__":
    unittest.main()
