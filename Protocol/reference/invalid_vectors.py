"""The invalid vectors: name -> vector."""

import batch_faults
import frames
import live_vectors
import power_vectors
import report_vectors
from frames import Log
from vector_parts import (ADDRESS, FIX, IDENTITY, LOG, ORIGIN_BITS, OTHER_DEVICE, OTHER_LOG, bits,
                          bound_to, fix_bits, fix_frame, forms, frame_of, gamma)
from wire import ProtocolError, cobs_encode

MAX = 4_294_967_294
RECEIVER = 0xA1B2C3D4


class InvalidVectors:
    """Collects invalid vectors. Each must fail in this implementation with the error that it names."""

    def __init__(self):
        self.vectors = {}

    def add(self, name, meaning, frame, error, field=None, log=LOG, reference=None,
            anchor=None):
        """A frame that must fail, bare and stuffed."""
        try:
            frames.decode(frame, log, reference or 0, anchor)
        except ProtocolError as raised:
            if (raised.reason, raised.field) != (error, field):
                raise AssertionError(f"{name} fails with {raised}") from raised
        else:
            raise AssertionError(f"{name} decodes")
        vector = {"error": error, **forms(frame)}
        if field is not None:
            vector["field"] = field
        if reference is not None:
            vector["reference"] = reference
        if anchor is not None:
            vector["anchor"] = anchor
        message = frames.MESSAGES.get(frame[0] & 0x1F) if frame else None
        if message is not None and message.bound:
            vector.update(bound_to(log))
        self._put(name, meaning, vector)

    def add_serial(self, name, meaning, serial, error):
        """A serial line whose only frame has a fault."""
        self._put(name, meaning, {"error": error, "serial": serial.hex(), **bound_to(LOG)})

    def _put(self, name, meaning, vector):
        if name in self.vectors:
            raise AssertionError(f"{name} twice")
        self.vectors[name] = {"meaning": meaning, "origin": ORIGIN_BITS, **vector}


def add_frames(v):
    """Size, header and CRC."""
    for size in range(1, 7):
        v.add(f"too-short-{size}", f"A frame of {size} bytes.", fix_frame()[:size], "too_short")
    v.add("too-short-6-with-check", "A frame of 6 bytes whose CRC would be right.",
          (lambda body: body + frames.check_bytes(body, LOG))(fix_frame()[:3]), "too_short")
    identity = frames.encode(1, IDENTITY, ADDRESS)[4:-3]
    for size in (254, 255):
        v.add(f"too-long-{size}", f"An identity of {size} bytes whose CRC would be right.",
              frame_of(1, identity + b"\x33" * (size - 43)), "too_long")
    good = fix_frame()
    for version in (0, 2, 3, 4, 5, 6, 7):
        body = bytes([version << 5 | 2]) + good[1:-3]
        v.add(f"version-{version}", f"Version {version} with a CRC that would be right.",
              body + frames.check_bytes(body, LOG), "unsupported_version")
    v.add("version-2-damaged", "Version 2 with a wrong CRC: the version comes first.", bytes([0x42]) + good[1:],
          "unsupported_version")
    v.add("version-2-critical-flag", "Version 2 with a critical flag: the version comes first.",
          bytes([0x42, 0x80]) + good[2:], "unsupported_version")
    for flags in (0x40, 0x20, 0x60, 0xE0, 0x41):
        v.add(f"critical-flags-{flags:02x}", f"Flags 0x{flags:02x}, with a critical one, and a right CRC.",
              fix_frame(flags=flags), "critical_flags")
    v.add("critical-flags-damaged", "A critical flag and a wrong CRC: the flag comes first.",
          good[:1] + b"\x40" + good[2:], "critical_flags")
    v.add("critical-flags-unknown-type", "A critical flag and an unknown type: the flag comes first.",
          b"\x20\x40" + good[2:], "critical_flags")
    for flags in (0x80, 0x81, 0x9F):
        v.add(f"sealed-{flags:02x}", f"Flags 0x{flags:02x}: the frame counts as sealed, and the decoder has no key.",
              fix_frame(flags=flags), "not_opened")
    v.add("sealed-unknown-type", "A sealed frame of an unknown type: that it is sealed comes first.",
          b"\x20\x80" + good[2:], "not_opened")
    for number in (0, 14, 21, 28, 30, 31):
        v.add(f"unknown-type-{number}", f"Type {number}, which is reserved; CRC not bound.",
              frame_of(number, b"\x01\x02\x03"), "unknown_type")
    for number, like in ((14, 13), (30, 29), (31, 29)):
        payload = bytes.fromhex("00001234" if like == 13 else "1234a1b2c3d4") + bytes.fromhex("00016553f100")
        v.add(f"unknown-type-{number}-bound", f"Type {number} with a payload that type {like} could have; CRC bound.",
              frames.assemble(frames.VERSION << 5 | number, 0, ADDRESS, 0, payload, LOG), "unknown_type")
    v.add("unknown-type-damaged", "An unknown type and a wrong CRC: the type comes first.", b"\x20" + good[1:], "unknown_type")

    v.add("check-wrong-device", "The CRC is bound to another device id.", fix_frame(log=OTHER_DEVICE), "check_failed")
    v.add("check-wrong-log", "The CRC is bound to another log id.", fix_frame(log=OTHER_LOG), "check_failed")
    v.add("check-not-bound", "A fix whose CRC is not bound.", good[:-3] + frames.check_bytes(good[:-3]), "check_failed")
    body = frames.encode(1, IDENTITY, ADDRESS)[:-3]
    v.add("check-identity-bound", "An identity whose CRC is bound.", body + frames.check_bytes(body, LOG), "check_failed")
    for name, length in (("payload", len(good) - 7), ("without-check", len(good) - 3), ("one-less", len(good) - 1),
                         ("one-more", len(good) + 1), ("zero", 0)):
        v.add(f"check-length-{name}", f"The CRC was computed with the length byte {length} instead of {len(good)}.",
              fix_frame(length=length), "check_failed")
    for name, place in (("address", 2), ("low-byte", 3), ("payload", 4), ("last-payload", -4),
                        ("check-first", -3), ("check-last", -1)):
        damaged = bytearray(good)
        damaged[place] ^= 0x01
        v.add(f"check-flipped-{name}", f"One bit of the frame is wrong: {name}.", bytes(damaged), "check_failed")
    v.add("check-byte-lost", "A byte of the payload is lost.", good[:10] + good[11:], "check_failed")
    v.add("check-byte-gained", "A byte of the payload is there twice.", good[:10] + good[9:], "check_failed")
    v.add("check-reversed", "The CRC with its least significant byte first.", good[:-3] + good[:-4:-1], "check_failed")
    far, wide = {**FIX, "sequence": 70_000}, frame_of(2, fix_bits(wide=(1, 1), sequence=(70_000 >> 8, 24)), low_byte=70_000 & 0xFF)
    short = frames.encode(2, far, ADDRESS, log=LOG, wide=False)
    v.add("check-sequence-elsewhere", "A short sequence that was 70000 and is completed to 4464.", short, "check_failed", reference=4000)
    v.add("check-sequence-zeros", "A short sequence of 4660 whose upper bits, which are 0, the CRC covers.",
          good[:-3] + frames.check_bytes(good[:-3], LOG, unsent=bytes(2)), "check_failed", reference=4000)
    v.add("check-sequence-wide", "A wide sequence of 70000 whose upper bits the CRC covers twice.",
          wide[:-3] + frames.check_bytes(wide[:-3], LOG, unsent=b"\0\1"), "check_failed", reference=70_000)
    v.add("check-shortest-frame", "Seven bytes, no payload, wrong CRC.", bytes.fromhex("220011343b0000"), "check_failed")
    other = Log(LOG.device_id ^ 1 << 63, LOG.log_id)
    ack = frames.encode(16, {"poll": 1, "receiver_id": RECEIVER, "first_missing": 9, "durable": [], "resend": []},
                        ADDRESS, log=other)
    v.add("check-acknowledgement-of-other-collar", "An acknowledgement for another collar at the same address.", ack, "check_failed")


def add_lengths(v):
    """Payloads that are too short, too long, or padded wrongly."""
    payload = fix_bits()
    for size in range(len(payload)):
        v.add(f"truncated-absolute-fix-{size:02}", f"Absolute fix with {size} of {len(payload)} bytes of payload.",
              frame_of(2, payload[:size], low_byte=0x34), "truncated", reference=4000)
    identity = frames.encode(1, IDENTITY, ADDRESS)[4:-3]
    for size in (0, 8, 35):
        v.add(f"truncated-identity-{size:02}", f"Identity with {size} of 36 bytes.", frame_of(1, identity[:size]), "truncated")
    v.add("truncated-probe", "Probe with 6 of 7 bytes.", frame_of(5, bytes(range(1, 7))), "truncated")
    v.add("truncated-identity-request", "Identity request with 3 of 4 bytes.", frame_of(17, b"\x01\x02\x03"), "truncated")
    start = ((RECEIVER, 32), (4600, 32))
    v.add("truncated-acknowledgement-counts", "Acknowledgement without the number of ranges.", frame_of(16, bits(*start)), "truncated")
    v.add("truncated-acknowledgement-durable", "Acknowledgement that names a durable range and has none.",
          frame_of(16, bits(*start, (1, 6), (0, 6))), "truncated")
    v.add("truncated-acknowledgement-gamma", "Acknowledgement that ends inside the bits of a gamma code.",
          frame_of(16, bits(*start, (1, 6), (0, 6), (0, 9), (1, 3))), "truncated")
    v.add("truncated-acknowledgement-resend", "Acknowledgement that ends inside the first resend sequence.",
          frame_of(16, bits(*start, (0, 6), (1, 6), (0, 28))), "truncated")
    v.add("truncated-tombstone-empty", "Tombstone without payload.", frame_of(9, b""), "truncated")
    v.add("truncated-tombstone", "Tombstone of two ranges that holds one.",
          frame_of(9, bits((2, 6), (16, 32), gamma(2), (0, 7))), "truncated")

    v.add("trailing-absolute-fix", "A zero byte behind an absolute fix.", frame_of(2, payload + b"\0", low_byte=0x34),
          "trailing_bytes", reference=4000)
    v.add("trailing-absolute-fix-nonzero", "A byte behind an absolute fix.", frame_of(2, payload + b"\x41", low_byte=0x34),
          "trailing_bytes", reference=4000)
    v.add("trailing-probe", "A zero byte behind a probe.", frame_of(5, bytes(8)), "trailing_bytes")
    v.add("trailing-identity-request", "A zero byte behind an identity request.", frame_of(17, b"\1\2\3\4\0"), "trailing_bytes")
    v.add("trailing-acknowledgement", "A zero byte behind the padding of an acknowledgement.",
          frame_of(16, bits(*start, (0, 12), (0, 4), (0, 8))), "trailing_bytes")
    v.add("trailing-tombstone", "A zero byte behind the padding of a tombstone.",
          frame_of(9, bits((1, 6), (17, 32), gamma(1), (0, 1), (0, 8))), "trailing_bytes")
    for bit in range(4):
        v.add(f"padding-acknowledgement-{bit}", f"Acknowledgement with bit {bit} of its four bits of padding set.",
              frame_of(16, bits(*start, (0, 12), (1 << bit, 4))), "nonzero_padding")
    v.add("padding-tombstone", "Tombstone with its one bit of padding set.",
          frame_of(9, bits((1, 6), (17, 32), gamma(1), (1, 1))), "nonzero_padding")
    v.add("padding-absolute-fix", "Absolute fix without heading, its one bit of padding set.",
          fix_frame(partial=(1, 1), mask=(0b1111101, 7), heading=(0, 0), padding=(1, 1)), "nonzero_padding", reference=4000)


def add_fix_fields(v):
    """Every field of an absolute fix that can be invalid."""
    def bad(name, meaning, field, reference=4000, **parts):
        v.add(f"field-{name}", f"Absolute fix: {meaning}.", fix_frame(**parts), "invalid_field", field, reference=reference)

    bad("position-step-3", "position step 3", "position_step", position_step=(3, 2))
    bad("source-3", "source 3", "source", source=(3, 2))
    highest = bits((0, 1), (0, 2), (0, 2), (0, 1), (2, 2), (1, 1), (0xFFFFFF, 24), *PARTS_BEHIND_SEQUENCE)
    v.add("field-sequence-wide", "Absolute fix: wide sequence 4294967295.", frame_of(2, highest, low_byte=0xFF), "invalid_field", "sequence")
    v.add("field-sequence-short", "Absolute fix: short sequence completed to 4294967295.",
          frame_of(2, fix_bits(sequence=(0xFF, 8)), low_byte=0xFF, unsent=b"\xff\xff"), "invalid_field", "sequence", reference=MAX)
    for tenths in (10, 15):
        bad(f"time-tenths-{tenths}", f"{tenths} tenths of a second", "time", time_form=(1, 2), time=(1_700_000_000 << 4 | tenths, 36))
    for milliseconds in (1000, 1023):
        bad(f"time-milliseconds-{milliseconds}", f"{milliseconds} milliseconds", "time", time_form=(2, 2),
            time=(1_700_000_000 << 10 | milliseconds, 42))
    for step, power in enumerate((10 ** 5, 10 ** 6, 10 ** 7)):
        latitude, longitude = 25 + 3 * step, 26 + 3 * step
        for name, value in (("over", 180 * power + 1), ("ones", (1 << latitude) - 1)):
            bad(f"latitude-step-{step}-{name}", f"latitude {value} with position step {step}", "latitude",
                position_step=(step, 2), latitude=(value, latitude), longitude=(0, longitude))
        for name, value in (("over", 360 * power + 1), ("ones", (1 << longitude) - 1)):
            bad(f"longitude-step-{step}-{name}", f"longitude {value} with position step {step}", "longitude",
                position_step=(step, 2), latitude=(0, latitude), longitude=(value, longitude))
    for field in ("horizontal_accuracy", "vertical_accuracy"):
        bad(f"{field}-127".replace("_", "-"), f"{field} code 127", field, **{field: (127, 7)})
    for field in ("course", "heading"):
        for code in (180, 255):
            bad(f"{field}-{code}", f"{field} code {code}", field, **{field: (code, 8)})
    for percent in (101, 127):
        bad(f"battery-{percent}", f"battery {percent} percent", "battery", battery=(percent, 7))


PARTS_BEHIND_SEQUENCE = (
    (FIX["time"] // 1000, 32), (FIX["latitude"] + 9_000_000, 25), (FIX["longitude"] + 18_000_000, 26),
    (FIX["altitude"] + 1000, 14), (33, 7), (41, 7), (14, 9), (67, 8), (71, 8), (83, 7))


def add_message_fields(v):
    """Every field of the other messages that can be invalid."""
    identity = frames.encode(1, IDENTITY, ADDRESS)[4:-3]
    for size in (0, 50, 254, 255):
        v.add(f"field-largest-frame-{size}", f"Identity: largest frame {size}.",
              frame_of(1, identity[:28] + bytes([size]) + identity[29:]), "invalid_field", "largest_frame")
    v.add("field-oldest-above-next", "Identity: oldest sequence one above the next.",
          frame_of(1, identity[:16] + (4662).to_bytes(4, "big") + identity[20:]), "invalid_field", "oldest_sequence")
    v.add("field-identity-request-receiver-0", "Identity request: receiver id 0.", frame_of(17, bytes(4)), "invalid_field", "receiver_id")

    def ack(name, meaning, field, *parts, receiver=RECEIVER, first_missing=4600, counts=(0, 0), low_byte=1):
        payload = bits((receiver, 32), (first_missing, 32), (counts[0], 6), (counts[1], 6), *parts)
        v.add(f"field-acknowledgement-{name}", f"Acknowledgement: {meaning}.", frame_of(16, payload, low_byte=low_byte),
              "invalid_field", field)

    ack("receiver-0", "receiver id 0", "receiver_id", receiver=0)
    for low_byte in (8, 255):
        ack(f"poll-{low_byte}", f"low byte {low_byte}", "poll", low_byte=low_byte)
    ones = [gamma(1)] * 130
    for count in (33, 63):
        ack(f"durable-{count}", f"{count} durable ranges", "durable", gamma(2 * count), *ones[:2 * count - 1], counts=(count, 0))
        ack(f"resend-{count}", f"{count} resend ranges", "resend", (5, 32), *ones[:2 * count - 1], counts=(0, count))
    ack("durable-touches-first-missing", "a durable range that begins with first missing", "durable",
        gamma(5), gamma(6), counts=(1, 0))
    ack("durable-below-first-missing", "a durable range that begins below first missing", "durable",
        gamma(5), gamma(7), counts=(1, 0))
    ack("durable-below-zero", "a durable range that begins below 0", "durable", gamma(5), gamma(7), first_missing=0, counts=(1, 0))
    ack("durable-second-touches-first-missing", "a second durable range that begins with first missing", "durable",
        gamma(5), gamma(2), gamma(1), gamma(3), counts=(2, 0))
    ack("durable-second-below", "a second durable range that ends below first missing", "durable",
        gamma(5), gamma(2), gamma(9), gamma(1), counts=(2, 0))
    ack("durable-beyond-end", "a durable range up to 4294967295", "durable", gamma(1), gamma(1), first_missing=MAX, counts=(1, 0))
    ack("durable-far-beyond-end", "a durable range that ends beyond 32 bits", "durable",
        gamma((1 << 32) - 1), gamma(1), first_missing=MAX, counts=(1, 0))
    ack("durable-behind-all", "a durable range though first missing is 4294967295", "durable",
        gamma(1), gamma(1), first_missing=MAX + 1, counts=(1, 0))
    for zeros in (32, 33, 40):
        ack(f"durable-gamma-{zeros}-zeros", f"the distance begins with {zeros} zero bits", "durable",
            (0, zeros), (1, 1), (0, 40), counts=(1, 0))
    ack("durable-count-gamma-32-zeros", "the count begins with 32 zero bits", "durable", gamma(5), (0, 32), (1, 1), (0, 40), counts=(1, 0))
    ack("resend-gamma-32-zeros", "the count of a resend range begins with 32 zero bits", "resend",
        (5, 32), (0, 32), (1, 1), (0, 40), counts=(0, 1))
    ack("resend-gap-gamma-32-zeros", "the gap of a resend range begins with 32 zero bits", "resend",
        (5, 32), gamma(1), (0, 32), (1, 1), (0, 40), counts=(0, 2))
    ack("resend-first-beyond-end", "a resend range at 4294967295", "resend", (MAX + 1, 32), gamma(1), counts=(0, 1))
    ack("resend-last-beyond-end", "a resend range up to 4294967295", "resend", (MAX - 1, 32), gamma(3), counts=(0, 1))
    ack("resend-second-beyond-end", "a second resend range at 4294967295", "resend",
        (MAX - 3, 32), gamma(2), gamma(2), gamma(1), counts=(0, 2))
    ack("resend-beyond-32-bits", "a resend range that ends beyond 32 bits", "resend", (MAX, 32), gamma((1 << 32) - 1), counts=(0, 1))

    def tombstone(name, meaning, *parts):
        v.add(f"field-tombstone-{name}", f"Tombstone: {meaning}.", frame_of(9, bits(*parts)), "invalid_field", "ranges")

    tombstone("none", "no range", (0, 6))
    for count in (33, 63):
        tombstone(f"{count}-ranges", f"{count} ranges", (count, 6), (5, 32), *ones[:2 * count - 1])
    tombstone("first-beyond-end", "a range at 4294967295", (1, 6), (MAX + 1, 32), gamma(1))
    tombstone("last-beyond-end", "a range up to 4294967295", (1, 6), (MAX, 32), gamma(2))
    tombstone("second-beyond-end", "a second range at 4294967295", (2, 6), (MAX - 2, 32), gamma(1), gamma(2), gamma(1))
    tombstone("gamma-32-zeros", "the count begins with 32 zero bits", (1, 6), (5, 32), (0, 32), (1, 1), (0, 40))


def add_stuffing(v):
    """Faults of the stuffing; there is no bare frame."""
    encoded = cobs_encode(fix_frame())
    for name, meaning, between in (
            ("block-beyond-delimiter", "The last block reaches one byte beyond the delimiter.", encoded[:-1]),
            ("cut-in-half", "The second half of the frame is lost.", encoded[:15]),
            ("first-block-beyond-delimiter", "The only block reaches far beyond the delimiter.", b"\x50" + encoded[1:]),
            ("length-beyond-at-end", "A length byte of 2 with nothing behind it.", encoded + b"\x02"),
            ("254-bytes-last-beyond", "254 bytes, the last block one byte too long.", b"\x01" * 253 + b"\x02"),
            ("254-bytes-ff", "The length byte 0xff with 253 bytes behind it, the longest there can be.", b"\xff" + b"\x22" * 253),
            ("length-ff-short", "The length byte 0xff with a frame behind it.", b"\xff" + encoded[1:]),
            ("length-ff-second", "The length byte 0xff of a second block.", b"\x02\x22\xff" + b"\x22" * 20)):
        v.add_serial(f"stuffing-{name}", meaning, b"\0" + between + b"\0", "stuffing")
    v.add_serial("stuffing-empty-frame", "One empty block: a frame of 0 bytes.", b"\0\x01\0", "too_short")
    v.add_serial("stuffing-six-zero-bytes", "Seven empty blocks: a frame of 6 zero bytes.", b"\0" + b"\x01" * 7 + b"\0", "too_short")
    for name, meaning, between in (
            ("255-bytes", "255 empty blocks: a frame of 254 zero bytes.", b"\x01" * 255),
            ("255-bytes-last-beyond", "255 bytes, the last block one byte too long: the length comes first.", b"\x01" * 254 + b"\x02"),
            ("255-bytes-ff", "The length byte 0xff with the 254 bytes behind it that it names: the length comes first.",
             b"\xff" + b"\x22" * 254),
            ("255-bytes-frame-first", "A whole frame and empty blocks behind it, 255 bytes.", encoded.ljust(255, b"\x01")),
            ("256-bytes", "256 empty blocks.", b"\x01" * 256),
            ("1000-bytes", "1000 bytes without a delimiter: one fault.", b"\x22" * 1000)):
        v.add_serial(f"too-long-{name}", f"Serial line: {meaning}", b"\0" + between + b"\0", "too_long")


def all_vectors():
    """All invalid vectors by name."""
    v = InvalidVectors()
    add_frames(v)
    add_lengths(v)
    add_fix_fields(v)
    add_message_fields(v)
    add_stuffing(v)
    report_vectors.add_invalid(v)
    power_vectors.add_invalid(v)
    live_vectors.add_invalid(v)
    batch_faults.add_invalid(v)
    return v.vectors
