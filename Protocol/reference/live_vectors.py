"""Vectors of live fixes, valid and invalid."""

import frames
import live
import rangecoder as rc
from fixes import OPTIONAL_FIELDS
from vector_parts import ADDRESS, FIX, LOG, ORIGIN_BITS, OTHER_LOG

MAX = 4_294_967_294
ANCHOR = FIX
LIVE = {**FIX, "type": 3, "sequence": 4661, "time": FIX["time"] + 1000}
UNKNOWN = dict.fromkeys(OPTIONAL_FIELDS)
SECOND = 1000


def live_frame(payload, sequence=LIVE["sequence"], anchor=ANCHOR, log=LOG, bound=True, flags=0):
    """A frame with any payload whose check is right."""
    return frames.assemble(0x23, flags, ADDRESS, sequence & 0xFF, payload, log,
                           anchor=live.anchor_bytes(anchor) if bound else b"")


def add_valid(v):
    """All valid vectors of live fixes."""
    def add(name, meaning, changes=None, anchor=None, reference=None, flags=0):
        before = {**ANCHOR, **(anchor or {})}
        fields = {**before, "type": 3, "sequence": before["sequence"] + 1,
                  "time": before["time"] + SECOND, **(changes or {})}
        v.add(3, f"live-fix-{name}", f"Live fix: {meaning}.", fields, flags=flags, anchor=before,
              reference=before["sequence"] if reference is None else reference)

    add("plain", "one second later, nothing else changed")
    add("duplicate", "nothing but the sequence changed", {"time": ANCHOR["time"]})
    add("ask", "wants an answer", flags=5)
    for distance in (2, 3, 4, 63, 64, 126, 127):
        add(f"distance-{distance}", f"distance {distance}", {"sequence": 4660 + distance})
    add("distance-far", "a distance that no sender of this version uses, 1048577", {"sequence": 4660 + 1_048_577},
        reference=4660 + 1_048_577)
    _add_fields(add)
    _add_times(add)
    _add_places(add)
    _add_sequences(add)
    for bits in ("zero", "one"):
        log = frames.Log(0, 0) if bits == "zero" else frames.Log((1 << 64) - 1, (1 << 26) - 1)
        v.add(3, f"live-fix-log-all-{bits}s", f"Live fix: all bits of device id and log id are {bits}s.", LIVE, log=log,
              anchor=ANCHOR, reference=4660)

    payload = live.encode_live_fix(LIVE, ANCHOR)[1]
    for name, meaning, other in (("zero-byte-behind", "a zero byte behind the payload", payload + b"\0"),
                                 ("bytes-behind", "bytes behind the payload that stay in the range", payload + b"\0\1\xff"),
                                 ("246-bytes", "246 bytes of payload", payload.ljust(246, b"\0"))):
        v.add_frame(f"live-fix-{name}", f"Live fix, not canonical: {meaning}.", live_frame(other), canonical=False,
                    origin=ORIGIN_BITS, expected=LIVE, anchor=ANCHOR, reference=4660)
    v.add_frame("live-fix-ignorable-flags", "Live fix, not canonical: reserved flags that a receiver ignores.",
                live_frame(payload, flags=0x18), canonical=False, origin=ORIGIN_BITS, expected=LIVE, anchor=ANCHOR, reference=4660)


def _add_fields(add):
    changes = {"altitude": 174, "horizontal_accuracy": 30, "vertical_accuracy": 44, "speed": 23, "course": 70,
               "heading": 60, "battery": 82}
    for field, value in changes.items():
        add(f"changed-{field}", f"{field} changed", {field: value})
        add(f"lost-{field}", f"{field} unknown, known before", {field: None})
        add(f"found-{field}", f"{field} known, unknown before", {field: value}, {field: None})
        add(f"without-{field}", f"{field} unknown as before", {field: None}, {field: None})
        add(f"only-{field}", f"of the optional fields only {field} known, and before none", {field: value}, UNKNOWN)
    add("changed-all", "every field changed", {**changes, "time": ANCHOR["time"] + 5123, "source": 1, "position_step": 1,
        "altitude_step": 1, "altitude": 1739, "latitude": 48_234_777, "longitude": 16_371_888})
    add("lost-all", "no optional field known, all known before", dict(UNKNOWN))
    add("found-all", "all fields known, none of the optional ones before", dict(FIX, sequence=4661, type=3), UNKNOWN)
    add("without-all", "no optional field known as before", {}, UNKNOWN)
    for source in (0, 1):
        add(f"source-{source}", f"source {source}, 2 before", {"source": source})
    limits = {"altitude": (-1 << 23, (1 << 23) - 1), "horizontal_accuracy": (0, 126), "vertical_accuracy": (0, 126),
              "speed": (0, (1 << 20) - 1), "course": (0, 179), "heading": (0, 179), "battery": (0, 100)}
    for field, (low, high) in limits.items():
        add(f"{field}-up", f"{field} from its lowest to its highest", {field: high}, {field: low})
        add(f"{field}-down", f"{field} from its highest to its lowest", {field: low}, {field: high})
    for field in ("course", "heading"):
        for before, after in ((0, 90), (0, 89), (90, 0), (178, 2), (2, 178)):
            add(f"{field}-{before}-to-{after}", f"{field} from {before} to {after}", {field: after}, {field: before})
    for before, after in ((0, 1), (1, 2), (2, 1), (2, 2), (1, None), (None, 2)):
        for late in (1, 100):
            add(f"speed-{before}-to-{after}-after-{late}", f"speed from {before} to {after} after {late} s",
                {"speed": after, "time": ANCHOR["time"] + late * SECOND, "latitude": ANCHOR["latitude"] + 3}, {"speed": before})


def _add_times(add):
    seconds = (0, 1, 2, 3, 20, 21, 29, 30, 31, 59, 60, 61, 89, 90, 250, 251, 269, 270, 300, 700, 701, 1769, 1770, 1800, 3000,
               3001, 3600, 86_400, 1 << 30)
    moved = {"latitude": ANCHOR["latitude"] - 13, "longitude": ANCHOR["longitude"] + 21, "speed": 9, "course": 61, "battery": 82,
             "altitude": 168, "vertical_accuracy": 40}
    for late in seconds:
        add(f"seconds-{late}", f"{late} seconds later, moved", {**moved, "time": ANCHOR["time"] + late * SECOND})
    for early in (1, 30, 1000, 100_000):
        add(f"backward-{early}", f"{early} seconds earlier, moved", {**moved, "time": ANCHOR["time"] - early * SECOND})
    add("decades", "from 1970 to 2069", {"time": 3_124_223_999_000}, {"time": 0})
    add("decades-backward", "from 2069 to 1970", {"time": 0}, {"time": 3_124_223_999_000})
    add("time-all-forward", "from the lowest time to the highest", {"time": (1 << 47) - 1}, {"time": -1 << 47})
    add("time-all-backward", "from the highest time to the lowest", {"time": -1 << 47}, {"time": (1 << 47) - 1})
    add("time-across-1970", "from one millisecond before 1970 to 499 behind", {"time": 499}, {"time": -1})
    for rest in (0, 1, 8, 9, -8, -9, 123, 499, -500):
        before = ANCHOR["time"] + rest
        name = str(rest).replace("-", "minus-")
        for kind, other in (("same", rest), ("zero", 0), ("next", rest + 1 if rest < 499 else -500), ("lowest", -500), ("highest", 499)):
            if kind != "same" and other == rest:
                continue
            add(f"rest-{name}-{kind}", f"rest of {rest} ms, then {other} ms", {"time": ANCHOR["time"] + SECOND + other}, {"time": before})


def _add_places(add):
    for step, power in enumerate((10 ** 5, 10 ** 6, 10 ** 7)):
        for new, new_power in enumerate((10 ** 5, 10 ** 6, 10 ** 7)):
            for name, before, after in (("positive", (48.2345655, 16.3721045), (48.23460, 16.37215)),
                                        ("negative", (-33.8567844, -70.1234555), (-33.85680, -70.12350)),
                                        ("zero", (0, 0), (0, 0))):
                old = {"position_step": step, "latitude": round(before[0] * power), "longitude": round(before[1] * power)}
                add(f"step-{step}-to-{new}-{name}", f"position step from {step} to {new}, {name}",
                    {"position_step": new, "latitude": round(after[0] * new_power), "longitude": round(after[1] * new_power)}, old)
            if new < step:
                unit = power // new_power
                for name, offset in (("half", unit // 2), ("below-half", unit // 2 - 1), ("minus-half", -(unit // 2)),
                                     ("minus-below-half", 1 - unit // 2)):
                    add(f"step-{step}-to-{new}-{name}", f"position step from {step} to {new}, the anchor at {offset} steps and at 7 of the new ones more",
                        {"position_step": new, "latitude": 0, "longitude": 7},
                        {"position_step": step, "latitude": offset, "longitude": offset + 7 * unit})
        for name, one, other in (("pole-to-pole", (90, 180), (-90, -180)), ("pole-to-pole-back", (-90, -180), (90, 180)),
                                 ("pole-kept", (90, -180), (90, -180)), ("longitude-ends", (0, 180), (0, -180))):
            old = {"position_step": step, "latitude": one[0] * power, "longitude": one[1] * power}
            add(f"{name}-{step}", f"position step {step}, from {one} to {other} degrees",
                {"latitude": other[0] * power, "longitude": other[1] * power}, old)
    for bits in (1, 2, 3, 4, 5, 6, 7, 12, 20):
        for sign in (1, -1):
            north = sign * ((1 << bits) - 1)
            add(f"north-{north}".replace("--", "-minus-"), f"{north} steps north and {-2 * north} east",
                {"latitude": ANCHOR["latitude"] + north, "longitude": ANCHOR["longitude"] - 2 * north})
    for name, step, before, new, after in (
            ("fine", 0, 171, 1, 1712), ("coarse", 1, 1712, 0, 171), ("coarse-half", 1, 1715, 0, 172),
            ("coarse-minus-half", 1, -1715, 0, -172), ("coarse-below-half", 1, 1714, 0, 171), ("fine-unknown", 0, None, 1, 5),
            ("coarse-lowest", 1, -1 << 23, 0, -838_861), ("fine-highest", 0, (1 << 23) - 1, 1, (1 << 23) - 1),
            ("kept-unknown", 1, None, 1, None), ("changed-unknown", 1, None, 0, None)):
        add(f"altitude-step-{name}", f"altitude {before} in step {step}, then {after} in step {new}",
            {"altitude_step": new, "altitude": after}, {"altitude_step": step, "altitude": before})


def _add_sequences(add):
    for sequence in (1, 127, 255, 256, 257, 65_535, 65_536, 65_537, 1 << 24, 1 << 31, MAX - 1, MAX):
        add(f"sequence-{sequence}", f"sequence {sequence} with the anchor before it", {"sequence": sequence}, {"sequence": sequence - 1})
    add("sequence-256-from-200", "sequence 256, anchor 200", {"sequence": 256}, {"sequence": 200})
    add("sequence-to-65536", "sequence 65536, anchor 65410", {"sequence": 65_536}, {"sequence": 65_410}, 65_410)
    add("sequence-to-end", "the highest sequence, distance 127", {"sequence": MAX}, {"sequence": MAX - 127})
    for name, sequence, reference in (("tie-lower", 10_000 - 128, 10_000), ("above", 10_127, 10_000), ("known-later", 9990, 10_050)):
        add(f"sequence-{name}", f"sequence {sequence}, {reference} known", {"sequence": sequence}, {"sequence": sequence - 5}, reference)
    add("sequence-tie-zero", "0 and 256 are as near to 128: the lower would be 0; 1 known", {"sequence": 1}, {"sequence": 0}, 128)


def add_invalid(v):
    """All invalid vectors of live fixes."""
    def add(name, meaning, frame, error, field=None, anchor=ANCHOR, reference=4660, log=LOG):
        v.add(name, f"Live fix: {meaning}.", frame, error, field, log, reference, anchor)

    payload = live.encode_live_fix(LIVE, ANCHOR)[1]
    good = live_frame(payload)
    others = {"time": 1, "latitude": 1, "longitude": -1, "source": -1, "altitude": 1, "horizontal_accuracy": 1,
              "vertical_accuracy": 1, "speed": 1, "course": 1, "heading": 1, "battery": 1}
    for field, change in others.items():
        add(f"check-live-fix-anchor-{field}", f"the receiver's anchor has another {field}", good, "check_failed",
            anchor={**ANCHOR, field: ANCHOR[field] + change})
    for sequence in (4659, 4661, 4660 + 65_536):
        add(f"check-live-fix-anchor-sequence-{sequence}", f"the receiver has {sequence}, not the anchor 4660", good, "check_failed",
            anchor={**ANCHOR, "sequence": sequence})
    add("check-live-fix-no-anchor", "the receiver has no anchor", good, "check_failed", anchor=None)
    add("check-live-fix-wrong-log", "bound to another log", live_frame(payload, log=OTHER_LOG), "check_failed")
    add("check-live-fix-without-anchor", "bound to the log alone", live_frame(payload, bound=False), "check_failed")
    add("check-live-fix-far-reference", "completed to another sequence", good, "check_failed", reference=10_000)
    damaged = bytearray(good)
    damaged[-4] ^= 1
    add("check-live-fix-damaged", "the last bit of the payload is wrong", bytes(damaged), "check_failed")

    def distant(name, distance, sequence, reference):
        encoded = live.payload_unchecked(LIVE, ANCHOR, distance)
        add(f"field-live-fix-{name}", f"sequence {sequence}, distance {distance}: the anchor would be below 0",
            live_frame(encoded, sequence), "invalid_field", "anchor", reference=reference)

    distant("anchor-below-0", 1, 0, 0)
    distant("anchor-minus-1", 11, 10, 10)
    distant("anchor-far-below", (1 << 31) - 1, 4661, 4660)
    add("field-live-fix-sequence", "completed to 4294967295", live_frame(payload, MAX + 1), "invalid_field", "sequence",
        reference=MAX)
    for name, data in (("empty", b""), ("zeros", bytes(9)), ("31-zeros", b"\0\0\0\1")):
        add(f"field-live-fix-distance-{name}", "the distance begins with more than 30 zero bits" + (", empty payload" if not data else ""),
            live_frame(data), "invalid_field", "distance")

    def bad(name, changes, field="difference", before=None):
        anchor = {**ANCHOR, **(before or {})}
        fix = {**anchor, "type": 3, "sequence": 4661, "time": anchor["time"] + SECOND, **changes}
        encoded = live.payload_unchecked(fix, anchor, 1)
        add(f"field-live-fix-{name}", "the result is " + ", ".join(f"{key} {value}" for key, value in changes.items()),
            live_frame(encoded, anchor=anchor), "invalid_field", field, anchor)

    for step, power in enumerate((10 ** 5, 10 ** 6, 10 ** 7)):
        for field, degrees in (("latitude", 90), ("longitude", 180)):
            for name, value in (("above", degrees * power + 1), ("below", -degrees * power - 1)):
                bad(f"{field}-{name}-{step}", {field: value}, before={"position_step": step})
    for field, low, high in (("altitude", -1 << 23, (1 << 23) - 1), ("horizontal_accuracy", 0, 126), ("vertical_accuracy", 0, 126),
                             ("speed", 0, (1 << 20) - 1), ("battery", 0, 100)):
        bad(f"{field}-above".replace("_", "-"), {field: high + 1})
        bad(f"{field}-below".replace("_", "-"), {field: low - 1})
    bad("speed-above-late", {"time": ANCHOR["time"] + 100 * SECOND, "speed": 1 << 20})
    bad("time-above", {"time": 1 << 47}, before={"time": (1 << 47) - 1})
    bad("time-below", {"time": (-1 << 47) - 1}, before={"time": -1 << 47})
    bad("seconds-far", {"time": ANCHOR["time"] + ((1 << 40) + 1) * SECOND})
    bad("source-3", {"source": 3}, "source")
    bad("position-step-3", {"position_step": 3}, "position_step")

    encoder = rc.RangeEncoder()
    encoder.gamma(1)
    for context in (rc.SHAPE, rc.SAME_REST, rc.BACKWARD):
        encoder.decision(context, 0)
    encoder.integer(1, rc.MINUTES)
    encoder.integer(-61, rc.SECOND_REST, 0)
    add("field-live-fix-seconds-negative", "one minute and -61 seconds: the magnitude is below 0", live_frame(encoder.payload()),
        "invalid_field", "difference")
