"""The Wireshark dissector against the vectors, and on serial lines with garbage, cuts and unknown collars."""

import collections
import concurrent.futures
import json
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

from collarlink import BINARY, ORDINARY_USER, ROOT, child_environment, give_to_ordinary_user

sys.path.insert(0, str(ROOT / "Protocol/reference"))
import fixes as codes  # noqa: E402
import frames  # noqa: E402
from wire import ProtocolError, stuff  # noqa: E402

VECTORS = ROOT / "Protocol/vectors"
WIRESHARK = ROOT / "Protocol/wireshark"
BARE, SERIAL = 147, 148  # link types USER0, USER1
FIX, LIVE_FIX, BATCH = 2, 3, 4
LOG = frames.Log(0x0123456789ABCDEF, 44813807)
STEPS = (10 ** 5, 10 ** 6, 10 ** 7)
SERIAL_FAULTS = ("stuffing", "too_short", "too_long")
HEADER_FAULTS = ("unsupported_version", "critical_flags", "unknown_type")
PAYLOAD_FAULTS = ("truncated", "trailing_bytes", "nonzero_padding", "invalid_field")
CHECK_FAULTS = ("check_failed", "unknown_collar")
FAULTS = (*SERIAL_FAULTS, *HEADER_FAULTS, *PAYLOAD_FAULTS, *CHECK_FAULTS, "anchor_needed")


def pcap(link_type, packets):
    """A capture with one packet a millisecond."""
    parts = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link_type)]
    for number, packet in enumerate(packets):
        parts += [struct.pack("<IIII", 1_700_000_000, 1000 * number, len(packet), len(packet)), packet]
    return b"".join(parts)


def pcapng(packets):
    """A capture of both directions of a serial line: (interface, bytes)."""
    def block(kind, body):
        body += bytes(-len(body) % 4)
        return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)

    interface = block(1, struct.pack("<HHI", SERIAL, 0, 0))
    parts = [block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)), interface, interface]
    for number, (side, packet) in enumerate(packets):
        parts.append(block(6, struct.pack("<IIIII", side, 0, number, len(packet), len(packet)) + packet))
    return b"".join(parts)


def identity(log, next_sequence, address=17):
    """A frame that makes a log known, and the highest sequence in it."""
    fields = {"device_id": f"{log.device_id:016x}", "log_id": log.log_id, "boot_count": 1, "oldest_sequence": 0,
              "next_sequence": next_sequence, "paired_receiver": 0, "largest_frame": 253,
              "firmware_version": [1, 0, 0], "capabilities": 0, "heartbeat": 60}
    return frames.encode(1, fields, address)


def collect(pairs, found):
    """The fields of a part of tshark's JSON, all values of each. Each fix of a batch is a part of its own."""
    for key, value in pairs:
        if key == "collarlink.fix_tree":
            found[key].append(collect(value, collections.defaultdict(list)))
        elif isinstance(value, list) and value and isinstance(value[0], tuple):
            collect(value, found)
        elif value != []:
            found[key].append(value)
    return found


class Packet:
    """What the dissector made of a packet."""

    def __init__(self, layers):
        self.fields = collect(layers, collections.defaultdict(list))
        self.frames = [collect(value, collections.defaultdict(list)) for key, value in layers if key == "collarlink"]

    def count(self, name, *layers):
        """How often a fault is shown."""
        layers = layers or ("collarlink", "collarlink_serial")
        return sum(len(self.fields.get(f"{layer}.{name}", ())) for layer in layers)


class Reader:
    """The fields of a frame by their names, as a vector has them."""

    def __init__(self, fields):
        self._fields = fields
        self.unknown = fields.get("collarlink.unknown", [])

    def faults(self):
        return set(FAULTS) & {name.removeprefix("collarlink.") for name in self._fields}

    def all(self, name):
        return self._fields.get(f"collarlink.{name}", [])

    def text(self, name):
        values = self.all(name)
        if len(values) != 1:
            raise AssertionError(f"{name} stands {len(values)} times among {sorted(self._fields)}")
        return values[0]

    def number(self, name):
        return None if name in self.unknown else int(self.text(name), 0)

    def real(self, name):
        return None if name in self.unknown else float(self.text(name))

    def code(self, name):
        return None if name in self.unknown else int(self.text(f"{name}.code"))

    def flag(self, name):
        return self.text(name) == "1"

    def hexadecimal(self, name):
        return f"{int(self.text(name), 0):016x}"

    def octets(self, name):
        return "".join(self.all(name)).replace(":", "")

    def ranges(self, name):
        return [[int(first), int(last)] for first, last in
                zip(self.all(f"{name}.first"), self.all(f"{name}.last"), strict=True)]

    def version(self):
        return [int(part) for part in self.text("firmware_version").split(".")]

    def numbers(self, *names):
        return {name: self.number(name) for name in names}

    def flags(self, *names):
        return {name: self.flag(name) for name in names}


def read_fix(reader):
    return {"type": FIX, **read_codes(reader)}


def read_codes(reader):
    fix = reader.numbers("sequence", "source", "position_step", "altitude_step", "battery")
    fix["time"] = int(reader.text("time.unix_ms"))
    for name in ("latitude", "longitude", "altitude", "horizontal_accuracy", "vertical_accuracy", "speed", "course",
                 "heading"):
        fix[name] = reader.code(name)
    return fix


def fixes_of_batch(reader):
    return [Reader(fields) for fields in reader.all("fix_tree")]


def read_batch(reader):
    fixes = [read_codes(fix) for fix in fixes_of_batch(reader)]
    if reader.number("fix_count") != len(fixes):
        raise AssertionError(f"{len(fixes)} fixes, not {reader.number('fix_count')}")
    return {"type": BATCH, "fixes": fixes}


def read_identity(reader):
    elsewhere = reader.number("delivered_elsewhere") if reader.all("delivered_elsewhere") else 0
    return {**({"delivered_elsewhere": elsewhere} if elsewhere else {}), "device_id": reader.hexadecimal("device_id"), "firmware_version": reader.version(),
            "capabilities": reader.number("capabilities") & 7,
            **reader.numbers("log_id", "boot_count", "oldest_sequence", "next_sequence", "paired_receiver",
                             "largest_frame", "heartbeat")}


def read_acknowledgement(reader):
    return {**reader.numbers("ask", "receiver_id", "first_missing"), "durable": reader.ranges("durable"),
            "resend": reader.ranges("resend")}


def read_status(reader):
    fields = {**reader.numbers("type", "gnss", "throttle", "battery", "voltage", "temperature", "uptime", "last_error",
                               "fixes_sent", "queue_depth", "drops", "duplicates", "retransmissions", "airtime"),
              **reader.flags("tracking", "stationary"), "clock": None,
              "since": None if "since" in reader.unknown else int(reader.text("since.unix_s"))}
    if reader.flag("clock"):
        fields["clock"] = {"time": int(reader.text("clock.time.unix_ms")), "uptime": reader.number("clock.uptime")}
    return fields


def read_settings(reader):
    return {**reader.numbers("type", "request_id"), "version": reader.number("settings_version"),
            "entries": [[int(key), int(value)] for key, value in
                        zip(reader.all("entry.key"), reader.all("entry.value"), strict=True)]}


def read_command(reader):
    return {**reader.numbers("type", "request_id", "receiver_id", "order"),
            "argument": reader.number("argument") if reader.all("argument") else None}


def read_application_message(reader):
    return {**reader.numbers("type", "channel", "request_id"), "from_host": reader.number("type") >= 16,
            "wants_reply": reader.flag("wants_reply"), "bytes": reader.octets("bytes")}


def read_radio_identity(reader):
    return {**reader.numbers("type", "largest_frame"), "radio_id": reader.hexadecimal("radio_id"),
            "firmware_version": reader.version()}


def read_modem_settings(reader):
    fields = reader.numbers("type", "modulation", "turnaround")
    if fields["modulation"] == 0:
        return {**fields, **reader.numbers("bit_rate")}
    return {**fields, **reader.numbers("frequency", "bandwidth", "spreading_factor", "coding_rate", "preamble",
                                       "power"),
            **reader.flags("explicit_header", "crc", "low_data_rate")}


def read_signal_report(reader):
    noise = reader.real("signal_to_noise")
    return {**reader.numbers("type", "packet_check", "strength"),
            "signal_to_noise": None if noise is None else round(10 * noise)}


READERS = {
    1: read_identity, FIX: read_fix, BATCH: read_batch, 6: read_status, 7: read_settings, 10: read_radio_identity,
    11: read_modem_settings, 12: read_signal_report, 16: read_acknowledgement, 19: read_settings, 20: read_command,
    5: lambda reader: reader.numbers("tag", "next_sequence"), 17: lambda reader: reader.numbers("receiver_id"),
    8: lambda reader: reader.numbers("type", "request_id", "outcome"),
    9: lambda reader: {"ranges": reader.ranges("ranges")},
    18: lambda reader: reader.numbers("type", "request_id"),
    **{number: read_application_message for number in (13, 14, 15, 29, 30, 31)},
}


def units_are_wrong(reader, fix):
    """What a person reads against the codes: degrees, metres, metres a second."""
    degree = STEPS[fix["position_step"]]
    wanted = {"latitude": fix["latitude"] / degree, "longitude": fix["longitude"] / degree,
              "altitude": fix["altitude"], "speed": fix["speed"], "course": fix["course"], "heading": fix["heading"],
              "horizontal_accuracy": fix["horizontal_accuracy"], "vertical_accuracy": fix["vertical_accuracy"]}
    scales = {"altitude": 10 if fix["altitude_step"] else 1, "speed": 10, "course": 1 / 2, "heading": 1 / 2}
    for name, value in wanted.items():
        if value is not None and name in scales:
            value = value / scales[name]
        elif value is not None and name.endswith("accuracy"):
            value = codes.ACCURACY_TABLE[value] / 1000
        if not (reader.real(name) == value or value is not None and abs(reader.real(name) - value) < 1e-9):
            yield f"{name} is {reader.real(name)}, not {value}"


def load(kind):
    return {path.stem: json.loads(path.read_text()) for path in sorted((VECTORS / kind).glob("*.json"))}


def log_of(vector):
    return frames.Log(int(vector["device_id"], 16), vector["log_id"]) if "device_id" in vector else None


@unittest.skipUnless(shutil.which("tshark"), "needs tshark: apt install tshark")
class DissectorTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Where everyone may read: a checkout may lie in a private home. HOME is here, so no settings interfere.
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="collar-link-dissector-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        give_to_ordinary_user(cls.folder)
        cls.script = cls.folder / "collarlink.lua"
        shutil.copyfile(WIRESHARK / "collarlink.lua", cls.script)
        cls.script.chmod(0o644)

    def tshark(self, capture, *options):
        """What tshark prints about a capture. Never a mistake of the dissector."""
        file = tempfile.NamedTemporaryFile(dir=self.folder, suffix=".pcap", delete=False)
        with file:
            file.write(capture)
        pathlib.Path(file.name).chmod(0o644)
        done = subprocess.run(
            ["tshark", "-n", "-X", f"lua_script:{self.script}", "-r", file.name, *options], capture_output=True,
            text=True, cwd=self.folder, timeout=120, **ORDINARY_USER,
            env=child_environment(HOME=str(self.folder), XDG_CONFIG_HOME=str(self.folder), LC_ALL="C.UTF-8"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertNotRegex(done.stdout, re.compile("lua error", re.IGNORECASE))
        return done.stdout

    def dissect(self, capture, *options):
        packets = json.loads(self.tshark(capture, "-T", "json", *options), object_pairs_hook=list)
        return [Packet(dict(dict(packet)["_source"])["layers"]) for packet in packets]

    def in_parallel(self, function, items):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            found = [problem for problems in pool.map(function, items) for problem in problems]
        self.assertEqual(found, [], "\n".join(found[:20]))

    # Vectors, one frame a packet

    def group(self, vectors):
        """Vectors that go into one capture, by log, reference and size of the short sequence.

        A capture teaches the dissector sequences; in rising order each is still completed as from the reference.
        """
        groups = collections.defaultdict(list)
        for name, vector in vectors.items():
            number = int(vector["bare"][:2], 16) & 31
            short = number == LIVE_FIX or number == FIX and not vector["sender"]["wide"]
            groups[log_of(vector), short and (number, vector.get("reference", 0))].append((name, vector))
        for (log, short), members in groups.items():
            if short:
                members.sort(key=lambda member: member[1]["decoded"]["sequence"])
            yield log, short[1] if short else 0, members

    def check_group(self, group):
        log, reference, members = group
        first = [identity(log, min(reference + 1, 2 ** 32 - 1))] if log else []
        packets = self.dissect(pcap(BARE, first + [bytes.fromhex(vector["bare"]) for _, vector in members]))
        for (name, vector), packet in zip(members, packets[len(first):], strict=True):
            yield from (f"{name}: {problem}" for problem in self.problems_of(vector, packet.frames[0]))

    def problems_of(self, vector, fields):
        reader, wanted = Reader(fields), vector["decoded"]
        number = int(vector["bare"][:2], 16) & 31
        sender = vector["sender"]
        header = {"type": number, "version": 1, "address": sender["address"], "flags": sender["flags"],
                  "ask_number": sender["flags"] & 7, "check": int(vector["bare"][-6:], 16),
                  "check.status": 2 if number == LIVE_FIX else 1}
        found = reader.numbers(*header)
        if found != header:
            yield f"header is {found}, not {header}"
        if number == 9 and reader.flag("flags.delivered_elsewhere") != bool(sender["flags"] & 8):
            yield "flag bit 3 is shown wrongly"
        # A probe's tag may be that of another log.
        faults = reader.faults() - {"anchor_needed" if number == LIVE_FIX else "unknown_collar" if number == 5 else ""}
        if faults:
            yield f"shows {faults}"
        if number == LIVE_FIX:
            found = reader.numbers("sequence", "anchor", "distance")
            anchor = vector["anchor"]["sequence"]
            wanted = {"sequence": wanted["sequence"], "anchor": anchor, "distance": wanted["sequence"] - anchor}
        else:
            found = READERS[number](reader)
        if found != wanted:
            yield f"decodes to {found}, not {wanted}"
        if number == FIX:
            yield from units_are_wrong(reader, wanted)
        if number == BATCH:
            for part, fix in zip(fixes_of_batch(reader), wanted["fixes"], strict=True):
                yield from units_are_wrong(part, fix)

    def test_valid_vectors(self):
        vectors = load("valid")
        self.assertEqual({int(vector["bare"][:2], 16) & 31 for vector in vectors.values()}, set(frames.MESSAGES))
        self.in_parallel(self.check_group, self.group(vectors))
        print(f"{len(vectors)} vectors ", end="", flush=True)

    def test_invalid_vectors(self):
        groups = collections.defaultdict(list)
        for name, vector in load("invalid").items():
            for form in ("bare", "serial"):
                if form in vector:
                    groups[log_of(vector), vector.get("reference", 0), form].append((name, vector))
        self.in_parallel(self.check_invalid_group, groups.items())

    def check_invalid_group(self, group):
        (log, reference, form), members = group
        first = [identity(log, min(reference + 1, 2 ** 32 - 1))] if log else []
        packets = [bytes.fromhex(vector[form]) for _, vector in members]
        capture = (pcap(BARE, first + packets) if form == "bare" else
                   pcap(SERIAL, [stuff(frame) for frame in first] + packets))
        found = self.dissect(capture)[len(first):]
        for (name, vector), packet in zip(members, found, strict=True):
            faults = {fault: packet.count(fault) for fault in FAULTS if packet.count(fault)}
            if faults != {self.wanted_fault(vector): 1}:
                yield f"{name} ({form}): shows {faults}, not {self.wanted_fault(vector)}"

    def wanted_fault(self, vector):
        data = bytes.fromhex(vector.get("bare", ""))
        readable = vector["error"] not in (*SERIAL_FAULTS, *HEADER_FAULTS)
        distant = vector.get("field") in ("sequence", "distance", "anchor")
        if readable and data and data[0] & 31 == LIVE_FIX and not distant:
            return "anchor_needed"  # nothing more of a live fix is looked at
        if vector["error"] == "check_failed" and frames.MESSAGES[data[0] & 31].bound and (
                log_of(vector) is None or data[2] != 17):
            return "unknown_collar"  # no known collar uses the address
        return vector["error"]

    def test_random_payloads(self):
        """Any payload behind a right check has the fault that the independent decoder finds, or none."""
        chance = random.Random(8)
        found = [identity(LOG, 0)]
        for number in sorted(frames.MESSAGES):
            for _ in range(150):
                size = chance.choice((0, 1, 3, 7, 8, 13, 20, 22, 36, 44, 100, 246))
                # Few ones: they pass more of the limits.
                payload = bytes(chance.getrandbits(8) & chance.getrandbits(8) for _ in range(size))
                log = LOG if frames.MESSAGES[number].bound else None
                found.append(frames.assemble(32 | number, 0, 17, chance.randrange(12), payload, log))
        self.assertEqual(len({int(frame[0]) for frame in found}), len(frames.MESSAGES))
        packets = self.dissect(pcap(BARE, found))
        clean = 0
        for frame, packet in zip(found, packets, strict=True):
            if frame[0] & 31 == LIVE_FIX:
                continue
            try:
                frames.decode(frame, LOG)
                wanted = set()
                clean += 1
            except ProtocolError as error:
                wanted = {error.reason}
            self.assertEqual(Reader(packet.frames[0]).faults() - {"unknown_collar"}, wanted, frame.hex())
        self.assertGreater(clean, 200)

    # Serial lines

    def session(self):
        """Frames with garbage between them, and the fixes that a reader must find: one with each accuracy code."""
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
        """The line in pieces of any size."""
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
        for capture in (pcap(SERIAL, [line]), pcap(SERIAL, self.cut(line)),
                        pcap(SERIAL, [line[at:at + 1] for at in range(len(line))])):
            packets = self.dissect(capture)
            readers = self.good_frames(packets, FIX)
            self.assertEqual([read_fix(reader) for reader in readers], fixes)
            wrong = [problem for reader, fix in zip(readers, fixes) for problem in units_are_wrong(reader, fix)]
            self.assertEqual(wrong, [])
            self.assertEqual({reader.hexadecimal("check.device_id") for reader in readers}, {"0123456789abcdef"})
            self.assertEqual(len(self.good_frames(packets, 1)), 1)
            self.assertGreater(sum(packet.count(name) for packet in packets for name in SERIAL_FAULTS), 20)

    def test_second_look(self):
        """A packet that is shown again is shown as it was, whatever came behind it."""
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
        capture = pcap(SERIAL, [stuff(other)[:9], stuff(other)[9:], stuff(identity(LOG, 4711)) + stuff(frame),
                                stuff(other) + b"\x05\x05\x00", stuff(batch), *map(stuff, gone)])
        rows = self.tshark(capture, "-T", "fields", "-e", "_ws.col.Info").splitlines()
        self.assertEqual(rows, [
            "8 bytes carried over",
            "fix ..4711 47.37690 8.54170 2.9 m 85 % [unknown log]",
            "identity 0123456789abcdef log 44813807, boot 1, next sequence 4711; "
            "fix 4711 47.37690 8.54170 2.9 m 85 %, ask 3",
            "fix ..4711 47.37690 8.54170 2.9 m 85 % [incorrect]; 2 bytes dropped: stuffing",
            "batch of 2 fixes, 4711 to 4715", "tombstone 0 to 59", "tombstone 0 to 59, delivered elsewhere"])

    def test_log_of_preferences(self):
        line, fixes = self.session()
        capture = pcap(SERIAL, self.cut(line[line.index(0, 1):]))  # without the identity
        self.assertEqual(self.good_frames(self.dissect(capture), FIX), [])
        told = ["-o", "collarlink.device_id:0123456789abcdef", "-o", "collarlink.log_id:44813807"]
        self.assertEqual([read_fix(reader) for reader in self.good_frames(self.dissect(capture, *told), FIX)], fixes)
        for wrong in ("", "x", "0123456789abcdeg", "123"):
            self.assertEqual(self.good_frames(self.dissect(capture, "-o", f"collarlink.device_id:{wrong}"), FIX), [])

    def test_sessions(self):
        self.in_parallel(lambda item: self.check_session(*item), load("session").items())

    def check_session(self, name, session):
        """A session's fixes and faults, seen by one who listens to both ends."""
        packets = self.dissect(pcapng([(0, bytes.fromhex(step["radio"])) if "radio" in step else
                                       (1, stuff(bytes.fromhex(step["host"]))) for step in session["steps"]]))
        types = [self.type_of(frame) for packet in packets for frame in packet.frames]
        # The dissector has no anchors, so it finds no live fix, and no damage in one.
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
        """The fixes of absolute fixes and batches, in order, as a session has them."""
        for packet in packets:
            for fields in packet.frames:
                reader = Reader(fields)
                if self.type_of(fields) not in (FIX, BATCH) or reader.faults():
                    continue
                parts = fixes_of_batch(reader) if self.type_of(fields) == BATCH else [reader]
                log = {"device_id": reader.hexadecimal("check.device_id"), "log_id": reader.number("check.log_id")}
                yield from ({**log, **read_codes(part)} for part in parts)

    def type_of(self, frame):
        return Reader(frame).number("type") if "collarlink.type" in frame else None

    def faults_for_the_host(self, packets):
        """Those of serial lines, and of frames that are for the host and that need no anchor."""
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
