"""Frames: header, CRC, and the table from type to message (sections 2 and 3)."""

from typing import Callable, NamedTuple

import batch
import fixes
import live
import messages
import reports
from wire import (CRC_FINAL_XOR, CRC_INITIAL, BitReader, BitWriter, ProtocolError,
                  check_size, crc24, crc_update)

VERSION = 1
CRITICAL_FLAGS = 0x60
SEALED_FLAG = 0x80
KNOWN_FLAGS = 0x07
TOMBSTONE, DELIVERED_ELSEWHERE = 9, 0x08  # a type, and a flag that only this type has
ACKNOWLEDGEMENT = 16
SMALLEST_LIMIT = 51
LARGEST_FRAME = 253
OVERHEAD = 7  # header and CRC
ABSOLUTE_FIX, LIVE_FIX, BATCH = 2, 3, 4
COLLAR_MESSAGE, HOST_MESSAGE = 13, 29
POWER_REPORT = 15


class Message(NamedTuple):
    """A row of the table of types in section 2."""

    name: str
    bound: bool
    decode: Callable
    encode: Callable
    ignores_trailing: bool = False
    with_type: bool = False  # whether `decoded` gets the type; fixes have it already


MESSAGES = {
    1: Message("identity", False, messages.decode_identity, messages.encode_identity, True),
    ABSOLUTE_FIX: Message("absolute_fix", True, fixes.decode_absolute_fix, fixes.encode_absolute_fix),
    BATCH: Message("batch", True, batch.decode_batch, batch.encode_batch, True, True),
    5: Message("probe", False, messages.decode_probe, messages.encode_probe),
    TOMBSTONE: Message("tombstone", True, messages.decode_tombstone, messages.encode_tombstone),
    ACKNOWLEDGEMENT: Message("acknowledgement", True, messages.decode_acknowledgement,
                             messages.encode_acknowledgement),
    17: Message("identity_request", False, messages.decode_identity_request,
                messages.encode_identity_request),
    6: Message("status", True, reports.decode_status, reports.encode_status, True, True),
    POWER_REPORT: Message("power_report", True, reports.decode_power_report, reports.encode_power_report, True, True),
    7: Message("settings_report", True, reports.decode_settings, reports.encode_settings,
               with_type=True),
    8: Message("result", True, reports.decode_result, reports.encode_result, with_type=True),
    10: Message("radio_identity", False, reports.decode_radio_identity,
                reports.encode_radio_identity, True, True),
    11: Message("modem_settings", False, reports.decode_modem_settings,
                reports.encode_modem_settings, with_type=True),
    12: Message("signal_report", False, reports.decode_signal_report,
                reports.encode_signal_report, with_type=True),
    18: Message("settings_request", True, reports.decode_settings_request,
                reports.encode_settings_request, with_type=True),
    19: Message("settings_update", True, reports.decode_settings, reports.encode_settings,
                with_type=True),
    20: Message("command", True, reports.decode_command, reports.encode_command, with_type=True),
    COLLAR_MESSAGE: Message("application_message", True, reports.decode_collar_message,
                            reports.encode_collar_message, with_type=True),
    HOST_MESSAGE: Message("application_message", True, reports.decode_host_message,
                          reports.encode_host_message, with_type=True),
    # A live fix needs its anchor: decode and encode below call the module live directly.
    LIVE_FIX: Message("live_fix", True, None, None),
}
# Types that exist on a cable only (section 23); the module exchange knows them.
CABLE_NAMES = {14: "key_offer", 21: "key_request", 22: "key_activation"}


class Frame(NamedTuple):
    """A decoded frame. `hints` has the values that an encoder needs besides `decoded`."""

    type: int
    flags: int
    address: int
    low_byte: int
    decoded: dict
    hints: dict


class Log(NamedTuple):
    """A log, to which a CRC is bound."""

    device_id: int
    log_id: int

    def binding(self):
        """The bytes of step 1 of the CRC."""
        return self.device_id.to_bytes(8, "big") + self.log_id.to_bytes(4, "big")

    def tag(self):
        """The tag of this log's probes."""
        return crc24(self.binding())


def check_bytes(frame_without_check, log=None, length=None, anchor=b"", unsent=b""):
    """The CRC, bound to `log` if that is given. `length` is for wrong frames only.

    `anchor` has the bytes to which the CRC of a live fix is bound besides the
    log, `unsent` the bytes that a short sequence leaves out.
    """
    if length is None:
        length = len(frame_without_check) + 3
    register = CRC_INITIAL
    if log is not None:
        register = crc_update(register, log.binding() + anchor)
    register = crc_update(register, bytes([length & 0xFF]))
    register = crc_update(register, frame_without_check + unsent)
    return (register ^ CRC_FINAL_XOR).to_bytes(3, "big")


def assemble(first_byte, flags, address, low_byte, payload, log=None, length=None,
             anchor=b"", unsent=b""):
    """A frame of this header and payload, with its CRC. No value is checked."""
    body = bytes([first_byte, flags, address, low_byte]) + payload
    return body + check_bytes(body, log, length, anchor, unsent)


def name_of(frame):
    """The name of the type that the header of a frame tells. None if the type or the version is unknown."""
    if not frame or frame[0] >> 5 != VERSION:
        return None
    number = frame[0] & 0x1F
    return MESSAGES[number].name if number in MESSAGES else CABLE_NAMES.get(number)


def look_at_header(frame):
    """The message of a frame. Raises the faults that are found before the CRC."""
    check_size(frame)
    if frame[0] >> 5 != VERSION:
        raise ProtocolError("unsupported_version")
    if frame[1] & CRITICAL_FLAGS:
        raise ProtocolError("critical_flags")
    if frame[1] & SEALED_FLAG:
        raise ProtocolError("not_opened")
    message = MESSAGES.get(frame[0] & 0x1F)
    if message is None:
        raise ProtocolError("unknown_type")
    return message


def decode(frame, log=None, reference=0, anchor=None):
    """Decode a bare frame, or raise ProtocolError.

    `log` may be None if the type is not bound. A short sequence is completed
    around `reference`. `anchor` is the anchor of a live fix, if the receiver
    has it.
    """
    message, number = look_at_header(frame), frame[0] & 0x1F
    if message.bound and log is None:
        raise ProtocolError("check_failed")
    if number == LIVE_FIX:
        decoded = _decode_live(frame, log, reference, anchor)
        return Frame(number, frame[1], frame[2], frame[3], decoded, {})
    unsent = b""
    if number == ABSOLUTE_FIX:
        unsent = fixes.unsent_bytes(frame[4:-3], frame[3], reference)
    if check_bytes(frame[:-3], log if message.bound else None, unsent=unsent) != frame[-3:]:
        raise ProtocolError("check_failed")
    reader = BitReader(frame[4:-3])
    decoded, hints = message.decode(reader, frame[3], reference)
    if message.with_type:
        decoded["type"] = number
    if number == ACKNOWLEDGEMENT and messages.company_of(frame[1]):
        decoded["company"] = messages.company_of(frame[1])
    if not message.ignores_trailing:
        reader.finish()
    return Frame(number, frame[1], frame[2], frame[3], decoded, hints)


def _decode_live(frame, log, reference, anchor):
    """The codes of a live fix. Its sequence and distance are decoded first, because the CRC needs the anchor."""
    sequence, anchor_sequence, decoder = live.begin(frame[4:-3], frame[3], reference)
    if anchor is None or anchor["sequence"] != anchor_sequence:
        raise ProtocolError("check_failed")
    if check_bytes(frame[:-3], log, anchor=live.anchor_bytes(anchor)) != frame[-3:]:
        raise ProtocolError("check_failed")
    return live.decode_live_fix(decoder, sequence, anchor)


def known_flags(number):
    """The flags that a sender of this type may set besides its fields. (The company of an acknowledgement is a field.)"""
    return KNOWN_FLAGS | (DELIVERED_ELSEWHERE if number == TOMBSTONE else 0)


def encode(number, fields, address, flags=0, log=None, limit=LARGEST_FRAME, anchor=None, **hints):
    """The bare frame of a message, in the form a sender must use."""
    if flags & ~known_flags(number):
        raise ValueError("reserved flags are sent as 0")
    message = MESSAGES[number]
    if number == ACKNOWLEDGEMENT:
        flags |= messages.flags_of_company(fields.get("company", 0))
    if number == LIVE_FIX:
        low_byte, payload = live.encode_live_fix(fields, anchor)
    else:
        writer = BitWriter()
        low_byte = message.encode(writer, fields, **hints)
        payload = writer.payload()
    frame = assemble(VERSION << 5 | number, flags, address, low_byte, payload,
                     log if message.bound else None,
                     anchor=live.anchor_bytes(anchor) if number == LIVE_FIX else b"",
                     unsent=fixes.upper_bytes(fields["sequence"])
                     if number == ABSOLUTE_FIX and hints.get("wide") is False else b"")
    if len(frame) > limit:
        raise ProtocolError("too_long")
    return frame


def encode_batch(track, address, flags=0, log=None, limit=LARGEST_FRAME):
    """A batch with as many of the fixes as fit, from the first on, and the number of these fixes."""
    taken, _ = batch.fill(track, limit - OVERHEAD)
    return encode(BATCH, {"fixes": track[:taken]}, address, flags, log, limit), taken


def choose_ranges(fields):
    """The acknowledgement with as many of its ranges as 51 bytes hold.

    The oldest resend range and the newest durable range always have room. Then come the oldest durable ranges, then
    further resend ranges.
    """
    durable, resend = fields["durable"], fields["resend"]
    fitting = dict(fields, durable=durable[:1], resend=resend[:1])
    more = [dict(fitting, durable=durable[:1] + durable[-oldest:]) for oldest in range(1, min(len(durable), 32))]
    fitting = _longest_fitting(fitting, more)
    return _longest_fitting(fitting, [dict(fitting, resend=resend[:count]) for count in range(2, min(len(resend), 32) + 1)])


def _longest_fitting(fitting, longer):
    """The longest acknowledgement that fits 51 bytes: one of `longer`, whose lengths rise, or else `fitting`."""
    for each in longer:
        writer = BitWriter()
        messages.encode_acknowledgement(writer, each)
        if len(writer.payload()) + OVERHEAD > SMALLEST_LIMIT:
            break
        fitting = each
    return fitting


def fit_acknowledgement(fields, limit):
    """The acknowledgement without the ranges that do not fit the largest frame.

    Resend ranges are left out first, newest first; but the oldest of them stays
    until all durable ranges are left out, oldest first. The range to be left out
    next is the last of its list.
    """
    fields = dict(fields, durable=fields["durable"][:32], resend=fields["resend"][:32])
    while True:
        writer = BitWriter()
        messages.encode_acknowledgement(writer, fields)
        if len(writer.payload()) + OVERHEAD <= limit:
            return fields
        name = "resend" if len(fields["resend"]) > 1 or not fields["durable"] else "durable"
        fields[name] = fields[name][:-1]
