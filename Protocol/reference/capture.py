"""Captures of `collar-link --write` (CAPTURE.md): the blocks of the file, its records, and the packets in their bytes."""

import struct
from typing import NamedTuple

from wire import SerialDecoder

BEGAN, OPENED, READ, WROTE, CLOSED, UNPLUGGED, PLUGGED, REMOVED, ENDED, FOUND, DUE = range(11)

SECTION, INTERFACE, PACKET = 0x0A0D0D0A, 1, 6  # types of blocks
BYTE_ORDERS = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}
LINK_TYPE, MICROSECONDS = 150, b"\x06"
INTERFACE_NAME, RESOLUTION, FLAGS = 2, 9, 2  # options; the last is one of packets
INBOUND, OUTBOUND = 1, 2
RECORD_VERSION = 1


class CaptureError(ValueError):
    """A capture that cannot be read on."""


class CutError(CaptureError):
    """A capture that ends inside a block, as a power cut leaves it. What comes before is whole."""


class Record(NamedTuple):
    """A record. `offset` is the place of its block in the file, in bytes."""

    section: int
    port: str
    event: int
    round: int
    microseconds: int
    unix_ms: int
    content: bytes
    offset: int

    def lines(self):
        """The content of an event that has lines, as a dictionary."""
        return dict(line.partition("=")[::2] for line in self.content.decode("ascii", "replace").splitlines())


# The file

def blocks(data):
    """The blocks of a pcapng file: type, body, byte order and offset."""
    order, offset = None, 0
    while offset < len(data):
        if data[offset:offset + 4] == SECTION.to_bytes(4, "big") and len(data) >= offset + 12:
            order = BYTE_ORDERS.get(data[offset + 8:offset + 12])
        if order is None:
            raise CaptureError(f"byte {offset}: no capture begins like this")
        if len(data) < offset + 8:
            raise CutError(f"byte {offset}: the capture ends inside a block")
        kind, length = struct.unpack_from(order + "II", data, offset)
        if length % 4 or length < 12:
            raise CaptureError(f"byte {offset}: a block cannot have {length} bytes")
        if len(data) < offset + length:
            raise CutError(f"byte {offset}: the capture ends inside a block")
        if struct.unpack_from(order + "I", data, offset + length - 4)[0] != length:
            raise CaptureError(f"byte {offset}: the two lengths of a block differ")
        yield kind, data[offset + 8:offset + length - 4], order, offset
        offset += length


def options(data, order):
    """The options in the rest of a block."""
    found = {}
    while len(data) >= 4:
        code, length = struct.unpack_from(order + "HH", data)
        if code == 0:
            break
        found[code] = data[4:4 + length]
        data = data[4 + padded(length):]
    return found


def padded(length):
    """The bytes that a field of this length takes in a block."""
    return (length + 3) // 4 * 4


def records(data):
    """The records of a capture, one after the other. Raises CaptureError where it is damaged."""
    section, interfaces = 0, []
    for kind, body, order, offset in blocks(data):
        try:
            if kind == SECTION:
                section, interfaces = section + 1, []
            elif kind == INTERFACE:
                interfaces.append(_port(body, order))
            elif kind == PACKET:
                port = interfaces[int.from_bytes(body[:4], "little" if order == "<" else "big")]
                if port is not None:
                    yield _record(section, port, body, order, offset)
        except (struct.error, LookupError, ValueError) as error:
            raise CaptureError(f"byte {offset}: a block breaks the format: {error}") from None


def _port(body, order):
    """The name of the port that an interface is; None if the interface is another program's."""
    link_type, _, snap_length = struct.unpack_from(order + "HHI", body)
    if link_type != LINK_TYPE:
        return None
    described = options(body[8:], order)
    if snap_length or described[RESOLUTION] != MICROSECONDS:
        raise ValueError("packets may be cut, or have other times")
    return described[INTERFACE_NAME].decode()


def _record(section, port, body, order, offset):
    """The record in a packet."""
    _, high, low, length, original = struct.unpack_from(order + "IIIII", body)
    data, flags = body[20:20 + length], options(body[20 + padded(length):], order).get(FLAGS)
    version, event, round_, unix_ms = struct.unpack_from(">BBHq", data)
    direction = {READ: INBOUND, WROTE: OUTBOUND}.get(event)
    if version != RECORD_VERSION or length != original or flags != (direction and struct.pack(order + "I", direction)):
        raise ValueError("another version, length or direction")
    return Record(section, port, event, round_, high << 32 | low, unix_ms, data[12:], offset)


# The lines of sticks

class KissDecoder:
    """Cuts the bytes of a KISS line, fed in pieces of any size, into packets: the data of the frames of type 0."""

    def __init__(self):
        self._piece = None  # the bytes since the last delimiter; None before the first one

    def feed(self, data):
        """A list of packets, in order."""
        first, *others = data.split(b"\xc0")
        found = []
        if self._piece is not None:
            self._piece += first
        for piece in others:
            if self._piece and self._piece[0] == 0:
                found.append(self._piece[1:].replace(b"\xdb\xdc", b"\xc0").replace(b"\xdb\xdd", b"\xdb"))
            self._piece = piece
        return found


class TextDecoder:
    """Cuts the lines of a stick with AT commands (RUI3) into packets: those that it hears, and those that it is told to send."""

    def __init__(self):
        self._line = b""

    def feed(self, data):
        """A list of packets, in order."""
        *whole, self._line = (self._line + data).replace(b"\0", b"").replace(b"\r", b"\n").split(b"\n")
        return [packet for line in whole for packet in self._packets(line.decode("ascii", "replace"))]

    @staticmethod
    def _packets(line):
        if line.startswith("+EVT:RXP2P:"):
            line = line.rsplit(":", 1)[1]
        elif line.startswith("AT+PSEND="):
            line = line.removeprefix("AT+PSEND=")
        else:
            return []
        try:
            return [bytes.fromhex(line)]
        except ValueError:
            return []


DECODERS = {"serial": SerialDecoder, "kiss": KissDecoder, "rnode": KissDecoder, "rui3": TextDecoder}


class Packet(NamedTuple):
    """A packet, which is a frame or a fault of the line, and the record in which it ends."""

    direction: str
    record: Record
    content: object  # bytes, or ProtocolError


class Ports:
    """Finds the packets in the records of a capture. Until the dialect of a stick is found, only questions to it go out,
    which may be in other dialects; what came in meanwhile is cut into packets once it is found."""

    def __init__(self):
        self._dialects = {}
        self._decoders = {}  # by port and direction
        self._early = {}     # by port, the records that came in before the dialect was found

    def take(self, record):
        """The packets that end in a record, or that it makes known."""
        if record.event == BEGAN:
            self.__init__()
        elif record.event == OPENED:
            self._early[record.port] = []
            self._set_dialect(record)
        elif record.event == FOUND and record.lines().get("dialect") != self._dialects.get(record.port):
            self._set_dialect(record)
            early = self._early.pop(record.port, [])
            # Bytes that are no packet of this dialect may belong to another one.
            return [packet for each in early for packet in self._cut(each, "in") if isinstance(packet.content, bytes)]
        elif record.event in (READ, WROTE):
            if self._dialects.get(record.port):
                return self._cut(record, "in" if record.event == READ else "out")
            if record.event == READ:
                self._early.setdefault(record.port, []).append(record)
        return []

    def _set_dialect(self, record):
        """Note the dialect that a record tells, if any."""
        dialect = self._dialects[record.port] = record.lines().get("dialect")
        if dialect and dialect not in DECODERS:
            raise CaptureError(f"byte {record.offset}: the dialect {dialect} is unknown")
        for direction in ("in", "out"):
            self._decoders[record.port, direction] = DECODERS[dialect]() if dialect else None

    def _cut(self, record, direction):
        decoder = self._decoders[record.port, direction]
        return [Packet(direction, record, content) for content in decoder.feed(record.content)]
