"""Frames: header, check, and the table from type to message (sections 2 and 3)."""

from typing import Callable, NamedTuple

import fixes
import messages
from wire import (CRC_FINAL_XOR, CRC_INITIAL, BitReader, BitWriter, ProtocolError,
                  check_size, crc24, crc_update)

VERSION = 1
CRITICAL_FLAGS = 0xE0
KNOWN_FLAGS = 0x07
SMALLEST_LIMIT = 51
LARGEST_FRAME = 253


class Message(NamedTuple):
    """What the table of section 2 says of a type."""

    name: str
    bound: bool
    decode: Callable
    encode: Callable
    ignores_trailing: bool = False


MESSAGES = {
    1: Message("identity", False, messages.decode_identity, messages.encode_identity, True),
    2: Message("absolute_fix", True, fixes.decode_absolute_fix, fixes.encode_absolute_fix),
    5: Message("probe", False, messages.decode_probe, messages.encode_probe),
    9: Message("tombstone", True, messages.decode_tombstone, messages.encode_tombstone),
    16: Message("acknowledgement", True, messages.decode_acknowledgement,
                messages.encode_acknowledgement),
    17: Message("identity_request", False, messages.decode_identity_request,
                messages.encode_identity_request),
}


class Frame(NamedTuple):
    """A decoded frame. `hints` is what an encoder needs besides `decoded`."""

    type: int
    flags: int
    address: int
    low_byte: int
    decoded: dict
    hints: dict


class Log(NamedTuple):
    """What a check is bound to."""

    device_id: int
    log_id: int

    def binding(self):
        """The bytes of step 1 of the check."""
        return self.device_id.to_bytes(8, "big") + self.log_id.to_bytes(4, "big")

    def tag(self):
        """The tag of this log's probes."""
        return crc24(self.binding())


def check_bytes(frame_without_check, log=None, length=None):
    """The check; `log` where it is bound. `length` is for wrong frames only."""
    if length is None:
        length = len(frame_without_check) + 3
    register = CRC_INITIAL
    if log is not None:
        register = crc_update(register, log.binding())
    register = crc_update(register, bytes([length & 0xFF]))
    register = crc_update(register, frame_without_check)
    return (register ^ CRC_FINAL_XOR).to_bytes(3, "big")


def assemble(first_byte, flags, address, low_byte, payload, log=None, length=None):
    """Header, payload and check as they are, without any judgement."""
    body = bytes([first_byte, flags, address, low_byte]) + payload
    return body + check_bytes(body, log, length)


def decode(frame, log=None, reference=0):
    """Decode a bare frame, or raise ProtocolError.

    `log` may be None where the frame turns out not to be bound. `reference`
    is the highest sequence known of the log.
    """
    check_size(frame)
    if frame[0] >> 5 != VERSION:
        raise ProtocolError("unsupported_version")
    if frame[1] & CRITICAL_FLAGS:
        raise ProtocolError("critical_flags")
    number = frame[0] & 0x1F
    message = MESSAGES.get(number)
    if message is None:
        raise ProtocolError("unknown_type")
    if message.bound and log is None:
        raise ProtocolError("check_failed")
    if check_bytes(frame[:-3], log if message.bound else None) != frame[-3:]:
        raise ProtocolError("check_failed")
    reader = BitReader(frame[4:-3])
    decoded, hints = message.decode(reader, frame[3], reference)
    if not message.ignores_trailing:
        reader.finish()
    return Frame(number, frame[1], frame[2], frame[3], decoded, hints)


def encode(number, fields, address, flags=0, log=None, limit=LARGEST_FRAME, **hints):
    """The bare frame of a message, in the form a sender must use."""
    if flags & ~KNOWN_FLAGS:
        raise ValueError("reserved flags are sent as 0")
    message = MESSAGES[number]
    writer = BitWriter()
    low_byte = message.encode(writer, fields, **hints)
    frame = assemble(VERSION << 5 | number, flags, address, low_byte, writer.payload(),
                     log if message.bound else None)
    if len(frame) > limit:
        raise ProtocolError("too_long")
    return frame


def fit_acknowledgement(fields, limit):
    """The acknowledgement without the ranges that do not fit the largest frame.

    Resend ranges go first, the newest of them first, then durable ranges,
    the oldest first. Both lists end with the range to be left out next.
    """
    fields = dict(fields, durable=fields["durable"][:32], resend=fields["resend"][:32])
    while True:
        writer = BitWriter()
        messages.encode_acknowledgement(writer, fields)
        if len(writer.payload()) + 7 <= limit:
            return fields
        name = "resend" if fields["resend"] else "durable"
        fields[name] = fields[name][:-1]
