"""The Wireshark dissector on serial lines with garbage and cuts, on sessions, and on captures from the program."""

import collections
import json
import random
import subprocess
import sys
import unittest

from captures import FROM_HOST, FROM_RADIO, SERIAL, pcap
from end_to_end import BINARY
from dissected_fields import (BATCH, CHECK_FAULTS, FIX, HEADER_FAULTS, LIVE_FIX, MESSAGE, SERIAL_FAULTS, Reader,
                              fixes_of_batch, read_codes, read_fix, units_are_wrong)
from dissector import LOG, WIRESHARK, DissectorTest, identity, load
import frames
from wire import stuff


class DissectedLinesTest(DissectorTest):
    def session(self):
        """Frames with garbage between them, and the fixes that must be found: one for each accuracy code."""
        chance = random.Random(5)
        fixes = [{"type": FIX, "sequence": number, "time": 1_700_000_000_000 + 1001 * number, "source": 2,
                  "position_step": 0, "altitude_step": 0, "latitude": 4_737_690 + number, "longitude": 854_170 - number,
                  "altitude": number, "horizontal_accuracy": number, "vertical_accuracy": 126 - number, "speed": number,
                  "course": number, "heading": None if number % 3 else number, "battery": number % 101}
                 for number in range(127)]
        line = bytearray(stuff(identity(LOG, 0)))
        for fix in fixes:
            if chance.random() < 0.3:
                line += bytes(chance.randrange(1, 256) for _ in range(chance.choice((1, 3, 90, 300)))) + b"\0"
            line += stuff(frames.encode(FIX, fix, 17, log=LOG, wide=False))
        return bytes(line), fixes

    def cut(self, line):
        """The line in pieces of random sizes."""
        chance, pieces = random.Random(6), []
        while line:
            size = chance.choice((1, 2, 20, 64, 400))
            pieces.append(line[:size])
            line = line[size:]
        return pieces

    def good_frames(self, packets, number):
        return [Reader(frame) for packet in packets for frame in packet.frames
                if frame["collarlink.type"] == [str(number)] and frame["collarlink.check.status"] == ["1"]]

    def test_serial_line_with_garbage_and_cuts(self):
        line, fixes = self.session()
        captures = [line], self.cut(line), [line[at:at + 1] for at in range(len(line))]
        for packets in self.dissect_each([[(FROM_RADIO, piece) for piece in pieces] for pieces in captures]):
            readers = self.good_frames(packets, FIX)
            self.assertEqual([read_fix(reader) for reader in readers], fixes)
            wrong = [problem for reader, fix in zip(readers, fixes) for problem in units_are_wrong(reader, fix)]
            self.assertEqual(wrong, [])
            self.assertEqual({reader.hexadecimal("check.device_id") for reader in readers}, {"0123456789abcdef"})
            self.assertEqual(len(self.good_frames(packets, 1)), 1)
            self.assertGreater(sum(packet.count(name) for packet in packets for name in SERIAL_FAULTS), 20)

    def test_second_look(self):
        """A second pass shows each packet as the first pass did, whatever packets followed it."""
        line, _ = self.session()
        capture = pcap(SERIAL, self.cut(line) + [stuff(identity(LOG, 4_000_000_000))])
        strip = lambda text: [row for row in text.splitlines() if "frame." not in row]
        self.assertEqual(strip(self.tshark(capture, "-T", "json", "-2")), strip(self.tshark(capture, "-T", "json")))

    def test_info_column(self):
        fix = {"type": FIX, "sequence": 4711, "time": 1_700_000_000_000, "source": 2, "position_step": 0,
               "altitude_step": 0, "latitude": 4_737_690, "longitude": 854_170, "altitude": 408,
               "horizontal_accuracy": 49, "vertical_accuracy": 50, "speed": 3, "course": 1, "heading": None,
               "battery": 85}
        frame = frames.encode(FIX, fix, 17, 3, LOG, wide=False)
        other = frames.encode(FIX, fix, 17, 0, frames.Log(1, 2), wide=False)
        codes = {name: value for name, value in fix.items() if name != "type"}
        batch = frames.encode(BATCH, {"fixes": [codes, {**codes, "sequence": 4715}]}, 17, 0, LOG)
        gone = [frames.encode(9, {"ranges": [[0, 59]]}, 17, flags, LOG) for flags in (0, 8)]
        answers = [frames.encode(16, {"poll": 3, "receiver_id": 1, "first_missing": 60, "durable": [], "resend": [],
                                      "company": company}, 17, log=LOG) for company in range(4)]
        capture = pcap(SERIAL, [stuff(other)[:9], stuff(other)[9:], stuff(identity(LOG, 4711)) + stuff(frame),
                                stuff(other) + b"\x05\x05\x00", stuff(batch), *map(stuff, gone + answers)])
        rows = self.tshark(capture, "-T", "fields", "-e", "_ws.col.Info").splitlines()
        self.assertEqual(rows, [
            "8 bytes carried over",
            "fix ..4711 47.37690 8.54170 2.9 m 85 % [unknown log]",
            "identity 0123456789abcdef log 44813807, boot 1, next sequence 4711; "
            "fix 4711 47.37690 8.54170 2.9 m 85 %, poll 3",
            "fix ..4711 47.37690 8.54170 2.9 m 85 % [incorrect]; 2 bytes dropped: stuffing",
            "batch of 2 fixes, 4711 to 4715", "tombstone 0 to 59", "tombstone 0 to 59, delivered elsewhere",
            "acknowledgement below 60", "acknowledgement below 60, 2 to 4 collars",
            "acknowledgement below 60, 5 to 16 collars",
            "acknowledgement below 60, more than 16 collars, or the base's airtime runs short"])

    def test_log_of_preferences(self):
        line, fixes = self.session()
        capture = pcap(SERIAL, self.cut(line[line.index(0, 1):]))  # without the identity
        self.assertEqual(self.good_frames(self.dissect(capture), FIX), [])
        log = ["-o", "collarlink.log_id:44813807"]
        told = ["-o", "collarlink.device_id:0123456789abcdef", *log]
        self.assertEqual([read_fix(reader) for reader in self.good_frames(self.dissect(capture, *told), FIX)], fixes)
        for wrong in ("", "x", "0123456789abcdeg", "123"):
            self.assertEqual(self.good_frames(self.dissect(capture, "-o", f"collarlink.device_id:{wrong}", *log), FIX), [])

    def test_sessions(self):
        sessions = load("session")
        dissected = self.dissect_each([self.capture_of(session) for session in sessions.values()])
        self.assert_no_problems(
            problem for (name, session), packets in zip(sessions.items(), dissected, strict=True)
            for problem in self.problems_of(name, session, packets))

    def capture_of(self, session):
        """A capture of both ends of a line."""
        return [(FROM_RADIO, bytes.fromhex(step["radio"])) if "radio" in step else
                (FROM_HOST, stuff(bytes.fromhex(step["host"]))) for step in session["steps"]]

    def problems_of(self, name, session, packets):
        """Compares a session's fixes and faults with those that the dissector finds in the capture."""
        types = [self.type_of(frame) for packet in packets for frame in packet.frames]
        # The dissector has no anchors, so it decodes no live fix and finds no damage in a live fix.
        live = LIVE_FIX in types
        found = []
        for fix in self.fixes_of(packets):
            if fix not in found:
                found.append(fix)
        wanted = session["fixes"]
        if not live and found != wanted or any(fix not in wanted for fix in found):
            strange = [fix for fix in found + wanted if fix not in wanted or fix not in found]
            yield f"{name}: {len(found)} fixes, not {len(wanted)}: {strange[:2]}"
        skipped = CHECK_FAULTS if live else ()
        faults = {fault: count for fault, count in self.faults_for_the_host(packets).items() if fault not in skipped}
        expected = {fault: count for fault, count in session["rejected"].items() if fault not in skipped}
        if faults != expected:
            yield f"{name}: faults are {faults}, not {expected}"

    def fixes_of(self, packets):
        """The fixes of absolute fixes and batches, in order and in the form of a session.

        A fix under the sequence of an earlier message is left out: a host keeps what came first.
        """
        messages = []
        for packet in packets:
            for fields in packet.frames:
                reader = Reader(fields)
                if self.type_of(fields) not in (FIX, BATCH, MESSAGE) or reader.faults():
                    continue
                log = {"device_id": reader.hexadecimal("check.device_id"), "log_id": reader.number("check.log_id")}
                if self.type_of(fields) == MESSAGE:
                    messages.append({**log, "sequence": reader.number("sequence")})
                    continue
                parts = fixes_of_batch(reader) if self.type_of(fields) == BATCH else [reader]
                yield from ({**log, **read_codes(part)} for part in parts
                            if {**log, "sequence": part.number("sequence")} not in messages)

    def type_of(self, frame):
        return Reader(frame).number("type") if "collarlink.type" in frame else None

    def faults_for_the_host(self, packets):
        """Counts the faults of serial lines, and of frames that are for the host and need no anchor."""
        found = collections.Counter()
        for packet in packets:
            found.update({name: packet.count(name, "collarlink_serial") for name in SERIAL_FAULTS})
            for frame in packet.frames:
                number = self.type_of(frame)
                if number != LIVE_FIX and number < 16 or Reader(frame).faults() & set(HEADER_FAULTS):
                    found.update(Reader(frame).faults())
        return {name: count for name, count in found.items() if count}

    # Captures from the program

    def test_captures_of_the_program(self):
        track = "".join(json.dumps({
            "ts_unix_ms": 1_700_000_000_000 + 1000 * number, "source": "collar",
            "coordinate": {"latitude": 47.3769, "longitude": 8.5417}, "alt_m": 408, "h_accuracy_m": 3,
            "v_accuracy_m": 4, "speed_mps": 0.3, "course_deg": 2, "heading_deg": None, "battery_pct": 85,
            "seq": number}) + "\n"
            for number in range(300))
        for form in ((), ("--bare",)):
            for mode, number in (("absolute", FIX), ("live", LIVE_FIX)):
                data = subprocess.run([BINARY, "encode", "--mode", mode, *form], input=track.encode(), check=True,
                                      capture_output=True, timeout=60).stdout
                (self.folder / "frames").write_bytes(data)
                subprocess.run([sys.executable, str(WIRESHARK / "to_pcap.py"), *form, str(self.folder / "frames"),
                                str(self.folder / "frames.pcap")], check=True, timeout=60)
                packets = self.dissect((self.folder / "frames.pcap").read_bytes())
                sequences = [Reader(packet.frames[0]).number("sequence") for packet in packets[1:]]
                self.assertEqual(sequences, list(range(300)))
                last = Reader(packets[-1].frames[0])
                status = 2 if number == LIVE_FIX else 1
                self.assertEqual((last.number("type"), last.number("check.status")), (number, status))


if __name__ == "__main__":
    unittest.main()
