"""The valid vectors: name -> vector."""

import batch_vectors
import frames
import live_vectors
import power_vectors
import report_vectors
from frames import Log
from vector_parts import (ACKNOWLEDGEMENT, ADDRESS, FIX, IDENTITY, LOG, ORIGIN, ORIGIN_BITS,
                          bits, bound_to, fix_frame, forms, frame_of)

MAX = 4_294_967_294


class ValidVectors:
    """Collects valid vectors."""

    def __init__(self):
        self.vectors = {}

    def add_frame(self, name, meaning, frame, log=LOG, reference=None, canonical=True,
                  origin=ORIGIN, expected=None, anchor=None):
        """A vector of a frame. If `expected` is given, the frame must decode to it."""
        decoded = frames.decode(frame, log, reference or 0, anchor)
        if expected is not None and decoded.decoded != expected:
            raise AssertionError(f"{name}: {decoded.decoded}, expected {expected}")
        if name in self.vectors:
            raise AssertionError(f"{name} twice")
        vector = {"meaning": meaning, "origin": origin, "decoded": decoded.decoded,
                  "sender": dict(decoded.hints, address=decoded.address, flags=decoded.flags),
                  **forms(frame)}
        if frames.MESSAGES[decoded.type].bound:
            vector.update(bound_to(log))
        if reference is not None:
            vector["reference"] = reference
        if anchor is not None:
            vector["anchor"] = anchor
        if not canonical:
            vector["canonical"] = False
        self.vectors[name] = vector

    def add(self, number, name, meaning, fields, address=ADDRESS, flags=0, log=LOG,
            reference=None, anchor=None, **hints):
        """A vector of a message that the encoder writes."""
        frame = frames.encode(number, fields, address, flags, log, anchor=anchor, **hints)
        self.add_frame(name, meaning, frame, log, reference, expected=fields, anchor=anchor)

    def fix(self, name, meaning, flags=0, address=ADDRESS, wide=False, log=LOG, reference=4000,
            **changes):
        """An absolute fix: FIX with some fields changed."""
        self.add(2, f"absolute-fix-{name}", f"Absolute fix: {meaning}.", {**FIX, **changes},
                 address, flags, log, None if wide else reference, wide=wide)

    def other_fix(self, name, meaning, flags=0, changes=None, **parts):
        """An absolute fix in a form that no sender of this version writes."""
        self.add_frame(f"absolute-fix-{name}", f"Absolute fix, not canonical: {meaning}.",
                       fix_frame(flags, **parts), reference=4000, canonical=False,
                       origin=ORIGIN_BITS, expected={**FIX, **(changes or {})})


def add_fixes(v):
    """Absolute fixes: every field, its limits, and unknown fields."""
    v.fix("plain", "all fields known, 27 bytes")
    v.fix("milliseconds", "all fields known with milliseconds, 29 bytes", time=1_700_000_000_123)
    optional = ("altitude", "horizontal_accuracy", "vertical_accuracy", "speed", "course",
                "heading", "battery")
    for field in optional:
        v.fix(f"unknown-{field}", f"only {field} unknown", **{field: None})
        v.fix(f"only-{field}", f"of the optional fields only {field} known",
              **{other: None for other in optional if other != field})
    v.fix("unknown-all", "no optional field known", **dict.fromkeys(optional))
    v.fix("unknown-altitude-fine-step", "altitude unknown, altitude step 1 sent all the same",
          altitude=None, altitude_step=1)
    for source, name in enumerate(("watchos", "ios", "collar")):
        v.fix(f"source-{name}", f"source {name}", source=source)

    for step, power in enumerate((10 ** 5, 10 ** 6, 10 ** 7)):
        for name, latitude, longitude in (
                ("north-pole-east-end", 90, 180), ("south-pole-west-end", -90, -180),
                ("zero", 0, 0)):
            v.fix(f"position-step-{step}-{name}", f"position step {step}, {latitude} and {longitude} degrees",
                  position_step=step, latitude=latitude * power, longitude=longitude * power)
        v.fix(f"position-step-{step}-minus-one", f"position step {step}, one step south and west of zero",
              position_step=step, latitude=-1, longitude=-1)
        v.fix(f"position-step-{step}-inside-ends", f"position step {step}, one step inside the north pole and 180 degrees west",
              position_step=step, latitude=90 * power - 1, longitude=-180 * power + 1)

    for step in (0, 1):
        for altitude in (-1 << 23, -1001, -1000, -999, -1, 0, 15381, 15382, 15383, (1 << 23) - 1):
            v.fix(f"altitude-step-{step}-{altitude}".replace("--", "-minus-"),
                  f"altitude {altitude} in steps of {('1 m', '0.1 m')[step]}", altitude_step=step, altitude=altitude)
    for code in (0, 1, 9, 10, 126):
        v.fix(f"horizontal-accuracy-{code}", f"horizontal accuracy code {code}", horizontal_accuracy=code)
        v.fix(f"vertical-accuracy-{code}", f"vertical accuracy code {code}", vertical_accuracy=code)
    for speed in (0, 1, 510, 511, 512, (1 << 20) - 1):
        v.fix(f"speed-{speed}", f"speed {speed} tenths of a metre a second", speed=speed)
    for field, largest in (("course", 179), ("heading", 179), ("battery", 100)):
        for value in (0, 1, largest):
            v.fix(f"{field}-{value}", f"{field} code {value}", **{field: value})

    last_second = ((1 << 32) - 1) * 1000
    for name, time, meaning in (
            ("form-0-zero", 0, "1970, whole seconds"),
            ("form-0-last", last_second, "the last whole second of form 0"),
            ("form-1-first", 100, "one tenth of a second"),
            ("form-1-tenths-9", 1_700_000_000_900, "nine tenths"),
            ("form-1-last", last_second + 900, "the last time of form 1"),
            ("form-2-first", 1, "one millisecond"),
            ("form-2-milliseconds-999", 1_700_000_000_999, "999 milliseconds"),
            ("form-2-last", last_second + 999, "the last time of form 2"),
            ("form-3-after-form-2", last_second + 1000, "the first time behind form 2"),
            ("form-3-minus-1", -1, "one millisecond before 1970"),
            ("form-3-minus-1000", -1000, "a whole second before 1970"),
            ("form-3-first", -1 << 47, "the lowest time"),
            ("form-3-last", (1 << 47) - 1, "the highest time")):
        v.fix(f"time-{name}", f"time, {meaning}", time=time)


def add_sequences(v):
    """Both widths of the sequence, and the completion of short sequences."""
    for sequence in (0, 1, 255, 256, 65_535, 65_536, 16_777_216, MAX - 1, MAX):
        v.fix(f"wide-{sequence}", f"sequence {sequence} in the wide form", sequence=sequence, wide=True)
    for name, sequence, reference, meaning in (
            ("start", 0, 0, "first fix of a log"),
            ("nothing-known", 32_767, 0, "nothing known"),
            ("below-zero-does-not-count", 65_535, 0, "-1 would be nearest, but is no sequence"),
            ("same", 70_000, 70_000, "the highest known one again"),
            ("wrap-up", 65_536, 65_535, "the next one, low bits wrap"),
            ("wrap-down", 65_535, 65_536, "the one before, low bits wrap back"),
            ("tie-lower", 67_232, 100_000, "32768 below, 32768 above is as near: the lower"),
            ("tie-lower-zero", 0, 32_768, "0 and 65536 are equally near: the lower"),
            ("tie-without-lower", 65_535, 32_767, "32768 above; as near below would be -1, which is no sequence"),
            ("above-tie", 132_767, 100_000, "32767 above"),
            ("below-tie", 67_233, 100_000, "32767 below"),
            ("low-byte-zero", 65_536 * 3 + 256, 65_536 * 3 + 255, "low byte 0"),
            ("sixteen-zero-bits", 65_536 * 4, 65_536 * 4 - 100, "low 16 bits 0"),
            ("highest", MAX, MAX - 1, "the highest sequence"),
            ("highest-known", MAX - 65_533, MAX, "low bits 1 near the end: nothing above counts"),
            ("far-below-the-end", 4_294_901_760, MAX, "low bits 0 near the end: nothing above counts"),
            ("top-half", (1 << 31) + 5, (1 << 31) - 5, "across 2^31")):
        v.fix(f"short-{name}", f"short sequence, {meaning}", sequence=sequence, reference=reference)


def add_headers(v):
    """Flags, addresses, logs, and forms that only other senders write."""
    for poll in range(1, 8):
        v.fix(f"poll-{poll}", f"wants an answer, poll number {poll}", flags=poll)
    for address in (1, 127, 128, 254):
        v.fix(f"address-{address}", f"collar at address {address}", address=address)
    for name, log in (("zero", Log(0, 0)), ("ones", Log((1 << 64) - 1, (1 << 26) - 1))):
        v.fix(f"log-all-{name}", f"all bits of device id and log id are {name}", log=log)
    for flags in (0x08, 0x10, 0x18, 0x1F):
        v.other_fix(f"ignorable-flags-{flags:02x}", f"flags 0x{flags:02x}, reserved bits that a receiver ignores", flags)
    v.other_fix("mask-all-set", "partial, but the mask says that all is known", partial=(1, 1), mask=(127, 7))
    for altitude in (-1000, 171, 15382, -1):
        v.other_fix(f"altitude-escape-inside-{altitude}".replace("--", "-minus-"),
                    f"altitude {altitude} escaped inside the short range", changes={"altitude": altitude},
                    altitude=(16383, 14), altitude_escaped=(altitude & 0xFFFFFF, 24))
    for speed in (0, 14, 510):
        v.other_fix(f"speed-escape-inside-{speed}", f"speed {speed} escaped inside the short range",
                    changes={"speed": speed}, speed=(511, 9), speed_escaped=(speed, 20))
    seconds = 1_700_000_000
    v.other_fix("time-form-1-seconds", "time form 1 for whole seconds", time_form=(1, 2), time=(seconds << 4, 36))
    v.other_fix("time-form-2-seconds", "time form 2 for whole seconds", time_form=(2, 2), time=(seconds << 10, 42))
    v.other_fix("time-form-2-tenths", "time form 2 for tenths", changes={"time": seconds * 1000 + 300},
                time_form=(2, 2), time=(seconds << 10 | 300, 42))
    v.other_fix("time-form-3-seconds", "time form 3 for whole seconds", time_form=(3, 2), time=(seconds * 1000, 48))
    v.other_fix("time-form-3-milliseconds", "time form 3 for milliseconds that form 2 holds",
                changes={"time": seconds * 1000 + 7}, time_form=(3, 2), time=(seconds * 1000 + 7, 48))


def add_collar_messages(v):
    """Identity, probe and tombstone."""
    top = MAX + 1
    for name, meaning, changes in (
            ("plain", "all fields set", {}),
            ("empty-log", "empty log, not paired", {"oldest_sequence": 0, "next_sequence": 0, "paired_receiver": 0}),
            ("empty-log-erased-late", "empty log, oldest equal to next", {"oldest_sequence": 4661}),
            ("zeros", "every field at its lowest",
             {"device_id": "0" * 16, "log_id": 0, "boot_count": 0, "oldest_sequence": 0, "next_sequence": 0,
              "paired_receiver": 0, "largest_frame": 51, "firmware_version": [0, 0, 0], "capabilities": 0, "heartbeat": 0}),
            ("highest", "every field at its highest",
             {"device_id": "f" * 16, "log_id": (1 << 26) - 1, "boot_count": top, "oldest_sequence": top,
              "next_sequence": top, "paired_receiver": top, "largest_frame": 253,
              "firmware_version": [255, 255, 255], "capabilities": 15, "heartbeat": 65_535}),
            ("compass", "capability compass", {"capabilities": 1}),
            ("sounder", "capability sounder", {"capabilities": 2}),
            ("listens", "capability listens before it talks", {"capabilities": 4}),
            ("messages", "capability messages, its application takes them", {"capabilities": 8}),
            ("compass-and-messages", "capabilities compass and messages", {"capabilities": 9}),
            ("delivered-elsewhere-1", "delivered elsewhere below 1", {"delivered_elsewhere": 1}),
            ("delivered-elsewhere-above-oldest", "delivered elsewhere as far as the log goes", {"delivered_elsewhere": 4661}),
            ("delivered-elsewhere-highest", "delivered elsewhere at its highest",
             {"oldest_sequence": top, "next_sequence": top, "delivered_elsewhere": top})):
        v.add(1, f"identity-{name}", f"Identity: {meaning}.", {**IDENTITY, **changes}, flags=1)
    payload = frames.encode(1, IDENTITY, ADDRESS)[4:-3]
    v.add_frame("identity-delivered-elsewhere-trailing", "Identity, not canonical: bytes behind delivered elsewhere.",
                frame_of(1, payload + bytes((0, 0, 4, 1, 9, 9, 9, 9, 9)), 1), canonical=False, origin=ORIGIN_BITS,
                expected={**IDENTITY, "delivered_elsewhere": 1025})
    v.add_frame("identity-capabilities-ones", "Identity, not canonical: all bits of the capabilities set.",
                frame_of(1, payload[:32] + b"\xff\xff" + payload[34:], 1), canonical=False, origin=ORIGIN_BITS,
                expected={**IDENTITY, "capabilities": 15})
    for name, meaning, other, low_byte in (
            ("trailing-3", "three bytes behind the heartbeat, too few for delivered elsewhere", payload + b"\0\x01\x02", 0),
            ("delivered-elsewhere-0", "delivered elsewhere is 0", payload + bytes(4), 0),
            ("delivered-elsewhere-above-next", "delivered elsewhere is above the next sequence and counts as 0",
             payload + (4662).to_bytes(4, "big"), 0),
            ("trailing-1", "one zero byte behind the last field", payload + b"\0", 0),
            ("trailing-8", "eight bytes behind the last field", payload + b"\x01\xff\x00\x80more", 0),
            ("trailing-253", "253 bytes with the ones behind the last field", payload + b"\xaa" * 210, 0),
            ("reserved-bits", "the six reserved bits set", payload[:11] + bytes([payload[11] | 0x3F]) + payload[12:], 0),
            ("capabilities-unknown", "capabilities that are not defined set as well",
             payload[:32] + b"\xff\xf5" + payload[34:], 0),
            ("low-byte", "a low byte that is not 0", payload, 0x5A)):
        v.add_frame(f"identity-{name}", f"Identity, not canonical: {meaning}.",
                    frame_of(1, other, 1, ADDRESS, low_byte), canonical=False, origin=ORIGIN_BITS, expected=IDENTITY)

    for name, log, next_sequence in (("plain", LOG, 4661), ("empty-log", LOG, 0), ("full-log", LOG, top),
                                     ("log-all-zero", Log(0, 0), 1), ("log-all-ones", Log((1 << 64) - 1, (1 << 26) - 1), 1)):
        v.add(5, f"probe-{name}", f"Probe: next sequence {next_sequence}, tag of device {log.device_id:016x} and log {log.log_id}.",
              {"tag": log.tag(), "next_sequence": next_sequence}, flags=4)
    v.add_frame("probe-low-byte", "Probe, not canonical: a low byte that is not 0.",
                frame_of(5, bits((LOG.tag(), 24), (4661, 32)), 4, ADDRESS, 0xFF), canonical=False, origin=ORIGIN_BITS)

    for name, ranges in (
            ("single", [[17, 17]]), ("from-zero", [[0, 4]]), ("highest", [[MAX, MAX]]), ("everything", [[0, MAX]]),
            ("two-near", [[10, 10], [12, 12]]), ("ends", [[0, 0], [MAX, MAX]]),
            ("count-2-to-the-31", [[0, (1 << 31) - 1]]),
            ("32-ranges", [[1000 + 10 * number, 1000 + 10 * number + number % 8] for number in range(32)])):
        v.add(9, f"tombstone-{name}", f"Tombstone: {len(ranges)} ranges from {ranges[0][0]} to {ranges[-1][1]}.", {"ranges": ranges})
    v.add_frame("tombstone-delivered-elsewhere", "Tombstone: a former receiver has acknowledged 0 to 59.",
                frames.encode(9, {"ranges": [[0, 59]]}, ADDRESS, frames.DELIVERED_ELSEWHERE | 2, LOG))
    v.add_frame("tombstone-low-byte", "Tombstone, not canonical: a low byte that is not 0.",
                frame_of(9, bits((1, 6), (17, 32), (1, 1)), low_byte=17), canonical=False, origin=ORIGIN_BITS)


def add_host_messages(v):
    """Acknowledgement and identity request."""
    def ack(name, meaning, log=LOG, **changes):
        v.add(16, f"acknowledgement-{name}", f"Acknowledgement: {meaning}.", {**ACKNOWLEDGEMENT, **changes}, log=log)

    top = MAX + 1
    none = {"durable": [], "resend": []}
    ack("plain", "ranges of both lists")
    ack("first", "nothing held yet, answers no poll", poll=0, first_missing=0, **none)
    for poll in range(8):
        ack(f"poll-{poll}", f"low byte {poll}", poll=poll, **none)
    ack("receiver-1", "lowest receiver id", receiver_id=1, **none)
    ack("receiver-highest", "highest receiver id", receiver_id=top, **none)
    ack("all-durable", "every sequence there is, first missing 2^32 - 1", first_missing=top, **none)
    ack("last-missing", "only the highest sequence missing", first_missing=MAX, **none)
    ack("nearest-durable", "the one behind first missing", durable=[[4601, 4601]], resend=[])
    ack("nearest-durable-long", "all behind first missing up to 5000", durable=[[4601, 5000]], resend=[])
    ack("durable-to-the-end", "everything but 0", first_missing=0, durable=[[1, MAX]], resend=[])
    ack("durable-highest", "distance 2^32 - 2, one sequence", first_missing=0, durable=[[MAX, MAX]], resend=[])
    ack("durable-near-the-end", "ranges near 2^32 - 2", first_missing=MAX - 6,
        durable=[[MAX, MAX], [MAX - 2, MAX - 2], [MAX - 5, MAX - 4]], resend=[[MAX - 9, MAX - 8]])
    ack("resend-highest", "resend of the highest sequence", durable=[], resend=[[0, 0], [MAX, MAX]])
    ack("resend-everything", "resend of every sequence", first_missing=top, durable=[], resend=[[0, MAX]])
    ack("resend-only", "no durable range", durable=[])
    ack("durable-32", "32 durable ranges", resend=[],
        durable=[[5000 - 3 * number, 5001 - 3 * number] for number in range(32)])
    ack("resend-32", "32 resend ranges", durable=[], resend=[[2 * number, 2 * number] for number in range(32)])
    ack("both-32", "32 ranges of both lists", durable=[[5000 - 2 * number, 5000 - 2 * number] for number in range(32)],
        resend=[[3 * number, 3 * number + 1] for number in range(32)])

    for company, collars in ((1, "2 to 4"), (2, "5 to 16"), (3, "more than 16")):
        ack(f"company-{company}", f"the host hears {collars} collars", company=company)
    full = long_acknowledgement()
    ack("253-bytes", "32 ranges of both lists fill 246 bytes of payload but for one bit", **full)
    ack("253-bytes-no-padding", "32 durable ranges and no resend fill 246 bytes of payload", **durable_only_acknowledgement())
    longer = {**ACKNOWLEDGEMENT, **full,
              "resend": full["resend"][:-1] + [[full["resend"][-1][0], full["resend"][-1][1] + 100_000]]}
    for name, fields, limit in (("253", longer, 253), ("128", {**ACKNOWLEDGEMENT, **full}, 128), ("51", {**ACKNOWLEDGEMENT, **full}, 51),
                                ("51-resend-left-out", {**ACKNOWLEDGEMENT, "resend": [[9 ** number, 9 ** number + number] for number in range(1, 10)]}, 51)):
        fitted = frames.fit_acknowledgement(fields, limit)
        v.add(16, f"acknowledgement-fitted-to-{name}",
              f"Acknowledgement: {len(fields['durable'])} durable and {len(fields['resend'])} resend ranges, of which "
              f"{len(fitted['durable'])} and {len(fitted['resend'])} fit {limit} bytes.", fitted)
    v.add_frame("acknowledgement-own-poll", "Acknowledgement with a poll number of its own in the flags.",
                frames.encode(16, ACKNOWLEDGEMENT, ADDRESS, 6, LOG), expected=ACKNOWLEDGEMENT)
    v.add_frame("acknowledgement-own-poll-company", "Acknowledgement with a poll number of its own and company 2 in the flags.",
                frames.encode(16, {**ACKNOWLEDGEMENT, "company": 2}, ADDRESS, 6, LOG), expected={**ACKNOWLEDGEMENT, "company": 2})

    for name, address, receiver in (("one", ADDRESS, 0xA1B2C3D4), ("all", 255, 0xA1B2C3D4), ("receiver-1", ADDRESS, 1),
                                    ("receiver-highest", 254, top)):
        v.add(17, f"identity-request-{name}", f"Identity request of receiver {receiver} to address {address}.",
              {"receiver_id": receiver}, address)


def long_acknowledgement():
    """32 ranges of both lists in 1967 of the 1968 bits of 246 bytes.

    76 bits of fields, 32 of the first resend sequence, 41 of the first
    distance, and 90 gamma codes of 15 bits and 36 of 13.
    """
    numbers = iter([128 + index for index in range(90)] + [64 + index % 63 for index in range(36)])
    return _acknowledged(numbers, 100_000, 1_500_000, 32)


def durable_only_acknowledgement():
    """32 durable ranges in all 1968 bits of 246 bytes.

    76 bits of fields, 63 of the first distance, a gamma code of 31 bits and 62 of 29.
    """
    numbers = iter([40_000] + [17_000 + 7 * index for index in range(62)])
    return _acknowledged(numbers, 1000, 3_000_000_000, 0)


def _acknowledged(numbers, first_missing, distance, resend_count):
    resend, first = [], 5
    for index in range(resend_count):
        first += next(numbers) if index else 0
        resend.append([first, first + next(numbers) - 1])
        first = resend[-1][1] + 1
    durable, last = [], first_missing + distance
    for index in range(32):
        last -= next(numbers) if index else 0
        durable.append([last - next(numbers) + 1, last])
        last = durable[-1][0] - 1
    return {"first_missing": first_missing, "durable": durable, "resend": resend}


def add_zero_bytes(v):
    """Frames with zero bytes at every place, and with none, for the stuffing."""
    def probe(name, meaning, tag, next_sequence, flags=1):
        v.add(5, f"stuffing-{name}", f"Probe for the stuffing: {meaning}.",
              {"tag": tag, "next_sequence": next_sequence}, flags=flags)

    for place in range(7):
        payload = bytes(0 if place == index else 0x11 + index for index in range(7))
        probe(f"zero-at-{4 + place}", f"byte {4 + place} of the frame is zero",
              int.from_bytes(payload[:3], "big"), int.from_bytes(payload[3:], "big"))
    probe("zero-flags", "flags and low byte are zero", 0x111213, 0x14151617, 0)
    probe("zero-payload", "all bytes of the payload are zero", 0, 0)
    probe("zero-payload-and-flags", "all bytes but the first, the address and the CRC are zero", 0, 0, 0)
    for place in range(3):
        value = next(value for value in range(0x11111111, 0x11120000)
                     if frames.encode(5, {"tag": 0x222222, "next_sequence": value}, ADDRESS, 1)[11 + place] == 0)
        probe(f"zero-at-{11 + place}", f"byte {place} of the CRC is zero", 0x222222, value)
    value = next(value for value in range(0x11111111, 0x21111111)
                 if frames.encode(5, {"tag": 0x222222, "next_sequence": value}, ADDRESS, 1)[12:] == b"\0\0")
    probe("zero-at-12-and-13", "the last two bytes of the frame are zero", 0x222222, value)

    v.fix("stuffing-no-zero-byte", "no byte of the frame is zero", flags=1, sequence=4660 + 0x0101,
          time=1_700_000_001_000, latitude=4_823_457)
    v.fix("stuffing-zero-low-byte", "low byte and middle bytes are zero", sequence=65_536, wide=True,
          time=0, latitude=-9_000_000, longitude=-18_000_000, altitude=-1000, horizontal_accuracy=0,
          vertical_accuracy=0, speed=0, course=0, heading=0, battery=0)
    payload = frames.encode(1, {**IDENTITY, "oldest_sequence": 0x01010101, "next_sequence": 0x01010102, "boot_count": 0x03030303,
                                "firmware_version": [1, 1, 1], "heartbeat": 0x0101}, ADDRESS)[4:-3]
    payload = payload[:11] + bytes([payload[11] | 1]) + payload[12:32] + b"\x01\x05" + payload[34:]
    frame = frame_of(1, payload + b"\x7e" * 210, 1, ADDRESS, 1)
    if 0 in frame:
        raise AssertionError("a zero byte in the frame that must have none")
    v.add_frame("stuffing-longest-block", "Identity, not canonical: 253 bytes without a zero byte, one block with length byte 0xfe.",
                frame, canonical=False, origin=ORIGIN_BITS)


def all_vectors():
    """All valid vectors by name."""
    v = ValidVectors()
    add_fixes(v)
    add_sequences(v)
    add_headers(v)
    add_collar_messages(v)
    add_host_messages(v)
    add_zero_bytes(v)
    report_vectors.add_valid(v)
    power_vectors.add_valid(v)
    live_vectors.add_valid(v)
    batch_vectors.add_valid(v)
    return v.vectors
