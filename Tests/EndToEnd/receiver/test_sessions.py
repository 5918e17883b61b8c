"""Replays some sessions at a pseudo-terminal, and checks the frames of the host, its lines and its journals.

SessionTests plays all of them in virtual time.
"""

import json
import os
import select
import time
import unittest

from end_to_end import ROOT, EndToEndTest
from journals import DELIVERED_ELSEWHERE, losses, messages
from serial_line import SerialLine

import fixes as codes
import frames
from host import add_range, gaps
from wire import ProtocolError, SerialDecoder

NAMES = ("base-radio", "bytewise", "equal-addresses", "elsewhere-by-identity", "header-wrong", "noise-in-frames", "payload-wrong")
PATIENCE = 5  # seconds of waiting for an answer
SILENCE = 0.01  # seconds of waiting for an answer that must not come
SOURCES = ("watchOS", "iOS", "collar")
# The words for the errors of a session in the summary at the end.
SUMMARY = {"damaged": ("check_failed", "stuffing", "too_short", "too_long"), "of unknown collars": ("unknown_collar",),
           "unsupported": ("unsupported_version", "critical_flags", "unknown_type"),
           "malformed": ("truncated", "trailing_bytes", "nonzero_padding", "invalid_field")}


class Radio:
    """The radio's end of a line: plays a session, and collects what the host sends."""

    def __init__(self, master, logs):
        self._master = master
        self._logs = [None] + logs
        self._decoder = SerialDecoder()
        self._last = time.monotonic()

    def play(self, wait, data):
        """Sends bytes, no earlier than `wait` seconds after the last bytes."""
        time.sleep(max(0, self._last + wait - time.monotonic()))
        self._last = time.monotonic()
        os.write(self._master, data)

    def hear(self, count):
        """Waits for `count` frames of the host. Returns them, and the frames that come right after them."""
        heard = []
        deadline = time.monotonic() + PATIENCE
        while len(heard) < count and time.monotonic() < deadline:
            heard += self._read(deadline - time.monotonic())
        return sorted(heard + self._read(SILENCE))

    def _read(self, seconds):
        if not select.select([self._master], [], [], max(0, seconds))[0]:
            return []
        return [self.describe(frame) for frame in self._decoder.feed(os.read(self._master, 65536))]

    def describe(self, frame):
        """A frame of the host without its receiver id, as text. Its CRC must fit one of the logs."""
        for log in self._logs:
            try:
                found = frames.decode(frame, log)
            except ProtocolError:
                continue
            fields = {name: value for name, value in found.decoded.items() if name != "receiver_id"}
            name = frames.MESSAGES[found.type].name
            return json.dumps([name, found.address, found.flags, found.low_byte, log and log.log_id, fields])
        return f"no frame of a host: {frame.hex() if isinstance(frame, bytes) else frame}"


def steps_of(session):
    """Parts of a session: seconds since the last bytes, bytes of the radio (first none), and answers of the host."""
    played, last = [], 0
    for step in session["steps"]:
        if "radio" in step:
            played.append(((step["time"] - last) / 1000, bytes.fromhex(step["radio"]), []))
            last = step["time"]
        elif not played:
            played.append((0, b"", [bytes.fromhex(step["host"])]))
        else:
            played[-1][2].append(bytes.fromhex(step["host"]))
    return played


def line_of(fix):
    """The JSON line of a stored fix, without its id and the time of reception."""
    def known(field, factor, unknown):
        return unknown if fix[field] is None else round(fix[field] * factor, 7)

    def accuracy(field):
        return -1 if fix[field] is None else codes.ACCURACY_TABLE[fix[field]] / 1000

    degree = codes.POSITION_STEPS[fix["position_step"]][0]
    return {
        "type": "fix", "collar": fix["device_id"], "log": fix["log_id"], "seq": fix["sequence"], "ts_unix_ms": fix["time"],
        "source": SOURCES[fix["source"]],
        "coordinate": {"latitude": fix["latitude"] / degree, "longitude": fix["longitude"] / degree},
        "alt_m": known("altitude", (1, 0.1)[fix["altitude_step"]], None), "h_accuracy_m": accuracy("horizontal_accuracy"),
        "v_accuracy_m": accuracy("vertical_accuracy"), "speed_mps": known("speed", 0.1, -1),
        "course_deg": known("course", 2, -1), "heading_deg": known("heading", 2, None), "battery_pct": known("battery", 1, -1)}


def gone(session, state):
    """The lost and elsewhere ranges of each log in the journals, without what is stored, in the form of a session."""
    found = {log["log_id"]: {False: [], True: []} for log in session["logs"]}
    covered = {log_id: [] for log_id in found}
    for fix in session["fixes"]:
        covered[fix["log_id"]] = add_range(covered[fix["log_id"]], fix["sequence"], fix["sequence"])
    for log_id, sequence in messages(state):
        covered[log_id] = add_range(covered[log_id], sequence, sequence)
    for log_id, reason, first, last in losses(state):
        ranges, is_elsewhere = found[log_id], reason == DELIVERED_ELSEWHERE
        for low, high in gaps(covered[log_id], first, last):
            ranges[is_elsewhere] = add_range(ranges[is_elsewhere], low, high)
            covered[log_id] = add_range(covered[log_id], low, high)
    return {log_id: (ranges[False], ranges[True]) for log_id, ranges in found.items()}


class SessionTest(EndToEndTest):
    def replay(self, name, session):
        line = SerialLine()
        self.addCleanup(line.close)
        receiver = self.receive("-v", port=line.path, state=self.path(f"state-{name}"))
        logs = [frames.Log(int(log["device_id"], 16), log["log_id"]) for log in session["logs"]]
        radio = Radio(line.master, logs)
        for number, (wait, data, answers) in enumerate(steps_of(session)):
            if data:
                radio.play(wait, data)
            expected = sorted(radio.describe(answer) for answer in answers)
            self.assertEqual(radio.hear(len(answers)), expected, f"the host's answers to part {number} of the radio's")
        self.assertEqual(receiver.stop(), 0)
        lines = receiver.fixes
        self.assertEqual(len({fix.pop("id") for fix in lines}), len(lines), "two fixes have one id")
        for fix in lines:
            fix.pop("rx_unix_ms")
        self.assertEqual(lines, [line_of(fix) for fix in session["fixes"]])
        self.assertEqual(gone(session, self.path(f"state-{name}")),
                         {log["log_id"]: (log["lost"], log.get("elsewhere", [])) for log in session["logs"]})
        for word, errors in SUMMARY.items():
            count = sum(session["rejected"].get(error, 0) for error in errors)
            self.assertIn(f" {count} {word}", receiver.error_text)

    def test_sessions(self):
        for name in NAMES:
            with self.subTest(session=name):
                self.replay(name, json.loads((ROOT / f"Protocol/vectors/session/{name}.json").read_text("utf-8")))


if __name__ == "__main__":
    unittest.main()
