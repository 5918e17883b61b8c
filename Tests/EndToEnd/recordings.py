"""A reader of captures, and a listener to the frames in them, written from CAPTURE.md and PROTOCOL.md: they share no code with the program."""

import collections
import struct
import sys

from collarlink import ROOT

# Appended, because the tests' own collarlink.py must be found before the reference's.
sys.path.append(str(ROOT / "Protocol/reference"))
import frames  # noqa: E402
import live  # noqa: E402
from wire import ProtocolError, SerialDecoder  # noqa: E402

LINK_TYPE = 150
BEGAN, OPENED, READ, WROTE, CLOSED, UNPLUGGED, PLUGGED, REMOVED, ENDED, FOUND, DUE = range(11)
IDENTITY, ABSOLUTE_FIX, LIVE_FIX, BATCH, PROBE = 1, 2, 3, 4, 5
MAGIC = b"\x0a\x0d\x0d\x0a"

Record = collections.namedtuple("Record", "section port event round microseconds unix_ms content offset")


def blocks(data):
    """The blocks of a pcapng file: type, body, and the byte order."""
    order = "<"
    while data:
        if data[:4] == MAGIC:
            order = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}[data[8:12]]
        kind, length = struct.unpack_from(order + "II", data)
        if len(data) < length or length % 4 or length < 12:
            raise ValueError(f"a block of {length} bytes, and {len(data)} are left")
        if struct.unpack_from(order + "I", data, length - 4)[0] != length:
            raise ValueError("the two lengths of a block differ")
        yield kind, data[8:length - 4], order
        data = data[length:]


def options(data, order):
    """The options in the rest of a block."""
    found = {}
    while len(data) >= 4:
        code, length = struct.unpack_from(order + "HH", data)
        if code == 0:
            break
        found[code] = data[4:4 + length]
        data = data[4 + (length + 3) // 4 * 4:]
    return found


def records(data):
    """The records of a capture. Checks what CAPTURE.md says of them."""
    section, interfaces, found, end = 0, [], [], 0
    for kind, body, order in blocks(data):
        offset, end = end, end + len(body) + 12
        if kind == 0x0A0D0D0A:
            section, interfaces = section + 1, []
            if options(body[16:], order)[4] != b"collar-link":
                raise ValueError("another program wrote this")
        elif kind == 1:
            link_type, _, snap_length = struct.unpack_from(order + "HHI", body)
            described = options(body[8:], order)
            if (link_type, snap_length, described[9]) != (LINK_TYPE, 0, b"\x06"):
                raise ValueError("another interface")
            interfaces.append(described[2].decode())
        elif kind == 6:
            number, high, low, length, original = struct.unpack_from(order + "IIIII", body)
            data = body[20:20 + length]
            version, event, round_, unix_ms = struct.unpack_from(">BBHq", data)
            flags = options(body[20 + (length + 3) // 4 * 4:], order).get(2)
            wanted = {READ: struct.pack(order + "I", 1), WROTE: struct.pack(order + "I", 2)}.get(event)
            if version != 1 or length != original or flags != wanted:
                raise ValueError("another record")
            found.append(Record(section, interfaces[number], event, round_, high << 32 | low, unix_ms, data[12:], offset))
    for earlier, later in zip(found, found[1:]):
        if later.section == earlier.section and later.microseconds < earlier.microseconds:
            raise ValueError("the time goes back")
    return found


def fields(record):
    """The lines of a record as a dictionary."""
    return dict(line.split("=", 1) for line in record.content.decode("ascii").splitlines())


class Listener:
    """Hears frames of collars, and keeps the fixes. It knows no more than the frames."""

    def __init__(self):
        self.fixes = {}
        self._logs = {}

    def hear(self, frame):
        """Takes a bare frame. What is damaged, or not decodable, is dropped."""
        if len(frame) < 7 or frame[0] >> 5 != 1 or frame[1] & 0x80:
            return
        kind = frame[0] & 0x1F
        try:
            if kind == IDENTITY:
                identity = frames.decode(frame).decoded
                log = frames.Log(int(identity["device_id"], 16), identity["log_id"])
                self._logs.setdefault(log, [0, 0])[1] = max(identity["next_sequence"], 1) - 1
            elif kind in (ABSOLUTE_FIX, LIVE_FIX, BATCH):
                self._hear_fixes(kind, frame)
        except ProtocolError:
            pass

    def _hear_fixes(self, kind, frame):
        for log, references in self._logs.items():
            for reference in references:
                try:
                    anchor = None
                    if kind == LIVE_FIX:
                        _, anchor_sequence, _ = live.begin(frame[4:-3], frame[3], reference)
                        anchor = self.fixes.get((log, anchor_sequence))
                    found = frames.decode(frame, log, reference, anchor).decoded
                except ProtocolError:
                    continue
                for fix in found.get("fixes", [found]):
                    self.fixes[log, fix["sequence"]] = fix
                    references[0] = max(references[0], fix["sequence"])
                return

    def lines(self):
        """What lines must say of the fixes, by log and sequence."""
        return {(f"{log.device_id:016x}", log.log_id, sequence): values(fix) for (log, sequence), fix in self.fixes.items()}


def values(fix):
    """The time, position and battery of decoded codes."""
    degree = 10 ** (5 + fix["position_step"])
    altitude = fix["altitude"]
    return (
        fix["time"], fix["latitude"] / degree, fix["longitude"] / degree, ("watchOS", "iOS", "collar")[fix["source"]],
        None if altitude is None else altitude / (1, 10)[fix["altitude_step"]], -1 if fix["battery"] is None else fix["battery"])


def values_of_lines(lines):
    """The same of fix lines."""
    return {(line["collar"], line["log"], line["seq"]): (
        line["ts_unix_ms"], line["coordinate"]["latitude"], line["coordinate"]["longitude"], line["source"], line["alt_m"],
        line["battery_pct"]) for line in lines if line["type"] == "fix"}


def kiss_packets(data):
    """The packets in the bytes of a KISS line: what stands between two delimiters behind the type 0."""
    for piece in data.split(b"\xc0"):
        piece = piece.replace(b"\xdb\xdc", b"\xc0").replace(b"\xdb\xdd", b"\xdb")
        if piece[:1] == b"\x00":
            yield piece[1:]


def rui3_packets(data):
    """The packets in the lines of a RUI3 stick."""
    for line in data.decode("ascii", "replace").split():
        parts = line.split(":")
        if parts[:2] == ["+EVT", "RXP2P"] and len(parts) == 5:
            yield bytes.fromhex(parts[4])


def listen(found):
    """The fixes that came in, by an independent decoder of the lines and frames."""
    listener = Listener()
    lines, data, dialects = [], {}, {}
    for record in found:
        if record.event == OPENED:
            lines.append(record.port)
            data[record.port] = len(lines) - 1
            lines[-1] = b""
            dialects[data[record.port]] = fields(record).get("dialect", "serial")
        elif record.event == FOUND:
            dialects[data[record.port]] = fields(record)["dialect"]
        elif record.event == READ:
            lines[data[record.port]] += record.content
    for number, line in enumerate(lines):
        dialect = dialects[number]
        packets = {"serial": lambda line: SerialDecoder().feed(line), "kiss": kiss_packets, "rnode": kiss_packets,
                   "rui3": rui3_packets}[dialect](line)
        for packet in packets:
            if not isinstance(packet, ProtocolError):
                listener.hear(packet)
    return listener.lines()
