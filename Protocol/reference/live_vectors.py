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
    """A frame with any payload and a correct CRC."""
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
    add("poll", "wants an answer", flags=5)
    for distance in (2, 3, 4, 63, 64, 126, 127):
        add(f"distance-{distance}", f"distance {distance}", {"sequence": 4660 + distance})
    add("distance-far", "a distance that no sender of this version uses, 1048577", {"sequence": 4660 + 1_048_577},
        reference=4660 + 1_048_577)
    _add_fields(add)
    _add_times(add)
    _add_places(add)
    _add_sequences(add)
    _add_schedules(add)
    _add_still(add)
    _add_directions(add)
    _add_ways(add)
    _add_other_forms(v)
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


def _add_schedules(add):
    def scheduled(name, meaning, interval, distance, more=0, before=None):
        anchor = {**ANCHOR, **(before or {})}
        sequence = anchor["sequence"] + distance
        changes = {"time": anchor["time"] + distance * interval + more, "sequence": sequence}
        add(f"schedule-{name}", meaning, changes, before, sequence if distance > 127 else None)

    for code, interval in enumerate(live.USUAL_INTERVALS):
        scheduled(f"{code}", f"{interval} ms later", interval, 1)
        scheduled(f"{code}-more", f"{interval + 1} ms later, which is no usual interval", interval, 1, 1)
    for code in (0, 2, 4, 8, 13, 15, 18, 27):
        interval = live.USUAL_INTERVALS[code]
        for distance in (3, 127):
            scheduled(f"{code}-distance-{distance}", f"{distance} times {interval} ms later", interval, distance)
            scheduled(f"{code}-distance-{distance}-more", f"1 ms later than {distance} times {interval} ms", interval,
                      distance, 1)
        scheduled(f"{code}-backward", f"{interval} ms earlier, which no schedule says", -interval, 1)
    for rest in (0, 8, -8, 9, -500):
        for speed in (None, 0, 1, 4, 5):
            pace = "unknown" if speed is None else str(speed)
            name, meaning = f"rest-{rest}-speed-{pace}", f"later, the anchor's rest is {rest} ms and its speed {pace}"
            name = name.replace("--", "-minus-")
            before = {"time": ANCHOR["time"] + rest, "speed": speed}
            scheduled(name, f"5 s {meaning}", 5000, 1, 0, before)
            scheduled(f"{name}-more", f"5.001 s {meaning}", 5000, 1, 1, before)
    scheduled("distance-far", "1048577 times 0.1 s later, a distance that no sender of this version uses", 100,
              1_048_577)
    scheduled("to-end", "to the highest time, a day later", 86_400_000, 1, 0, {"time": (1 << 47) - 1 - 86_400_000})
    scheduled("from-lowest", "from the lowest time, 100 ms later", 100, 1, 0, {"time": -1 << 47})
    scheduled("across-1970", "from 400 ms before 1970 to 1970", 100, 4, 0, {"time": -400})


def _add_still(add):
    # By interval class: seconds that are a usual interval, and such that are none.
    times = ((1, 2.5), (10, 7), (60, 61), (300, 301), (1800, 1801), (3600, 3601))
    for speed in (0, None):
        pace = "unknown" if speed is None else "0"
        for usual, unusual in times:
            for seconds in (usual, unusual):
                for fall in (0, 1, 2):
                    name = f"{seconds}".replace(".", "-")
                    later = ANCHOR["time"] + round(seconds * SECOND)
                    add(f"still-speed-{pace}-after-{name}-battery-{fall}",
                        f"still, the speed is {pace}; {seconds} s later, the battery fell by {fall}",
                        {"time": later, "battery": ANCHOR["battery"] - fall}, {"speed": speed})
        time = {"time": ANCHOR["time"] + 60 * SECOND}
        add(f"still-speed-{pace}-battery-rose", "still, the battery rose", {**time, "battery": 84}, {"speed": speed})
        add(f"still-speed-{pace}-battery-unknown", "still, the battery unknown as before", {**time, "battery": None},
            {"speed": speed, "battery": None})
        add(f"still-speed-{pace}-battery-lost", "nothing changed but the battery, now unknown: not still",
            {**time, "battery": None}, {"speed": speed})
        add(f"still-speed-{pace}-backward", "still, an hour earlier", {"time": ANCHOR["time"] - 3600 * SECOND},
            {"speed": speed})
        add(f"still-speed-{pace}-same-time", "still, at the same time", {"time": ANCHOR["time"]}, {"speed": speed})
        add(f"still-speed-{pace}-fine", "still, all steps fine", time,
            {"speed": speed, "position_step": 2, "altitude_step": 1})
        changes = {"latitude": ANCHOR["latitude"] + 1, "longitude": ANCHOR["longitude"] - 1, "altitude": 170,
                   "course": 68, "heading": 70, "horizontal_accuracy": 34, "vertical_accuracy": 40, "source": 1}
        for field, value in changes.items():
            for late in (1, 61):
                add(f"not-still-speed-{pace}-{field}-after-{late}",
                    f"not still although the speed stays {pace}: another {field}",
                    {field: value, "time": ANCHOR["time"] + late * SECOND}, {"speed": speed})
    add("still-without-all", "still, no optional field known", {"time": ANCHOR["time"] + 60 * SECOND}, UNKNOWN)


def _add_directions(add):
    def reckoned(name, meaning, changes=None, before=None, seconds=5, moved=(1, -2)):
        before = {"speed": 20, **(before or {})}
        anchor = {**ANCHOR, **before}
        later = {"time": anchor["time"] + round(seconds * SECOND), "latitude": anchor["latitude"] + moved[0],
                 "longitude": anchor["longitude"] + moved[1]}
        add(f"reckoned-{name}", f"dead reckoning {meaning}", {**later, **(changes or {})}, before)

    for name, course in (("north", 0), ("east", 45), ("south", 90), ("west", 135), ("2", 2), ("88", 88), ("178", 178)):
        for kind, before in (("same", course), ("right", (course - 3) % 180), ("left", (course + 3) % 180),
                             ("opposite", (course + 90) % 180), ("unknown", None)):
            reckoned(f"{name}-{kind}", f"with course {course}, the anchor's is {before}", {"course": course},
                     {"course": before})
        for speed in (0, 1):
            reckoned(f"{name}-slow-{speed}",
                     f"with course {course}, the anchor's speed {speed} is too low for its course",
                     {"course": course, "speed": 20}, {"speed": speed, "course": 10})
        reckoned(f"{name}-speed-unknown", f"with course {course}, the anchor's speed is unknown",
                 {"course": course, "speed": 20}, {"speed": None, "course": 10})
    for speed in (1, 2, 3):
        reckoned(f"speed-{speed}", f"at speed {speed}, 2 is the lowest", {"speed": speed}, {"speed": speed})
    for step in (0, 1, 2):
        power = 10 ** (5 + step)
        for degrees in (0, 45.5, 88.99, 89, 90, -60):
            name = f"latitude-{degrees}-step-{step}".replace("--", "-minus-").replace(".", "-")
            sign, course = (-1, 110) if degrees == 90 else (1, 20)
            reckoned(name, f"at {degrees} degrees, position step {step}", {"course": course + 5},
                     {"latitude": round(degrees * power), "position_step": step, "course": course}, moved=(sign, -2))
        for other in (0, 1, 2):
            if other != step:
                new = {"latitude": round(48.2345 * 10 ** (5 + other)) + 7,
                       "longitude": round(-16.3721 * 10 ** (5 + other)) - 7}
                old = {"latitude": round(48.2345655 * power), "longitude": round(-16.3721045 * power)}
                reckoned(f"step-{step}-to-{other}", f"from position step {step} to {other}",
                         {"position_step": other, **new}, {"position_step": step, **old})
        for name, seconds in (("20", 20), ("20-4", 20.4)):
            reckoned(f"after-{name}-step-{step}", f"{seconds} s later, position step {step}", None,
                     {"position_step": step, "latitude": round(-33.85678 * power), "longitude": round(151.21 * power)},
                     seconds)
        reckoned(f"after-20-999-step-{step}", f"20.999 s later, the longest time, position step {step}", None,
                 {"position_step": step, "time": ANCHOR["time"] - 500}, 20.999)
        for speed in (100_000, (1 << 20) - 1):
            for course in (0, 20, 45, 110, 160):
                north, east = 1000 * (course in (0, 20, 160)), 1000 * (course in (20, 45))
                same = {"course": course, "speed": speed}
                reckoned(f"capped-{speed}-{course}-step-{step}",
                         f"at speed {speed}, course {course}: the way is capped", same, {**same, "position_step": step},
                         20, (north, east))
    for course in (45, 135):
        same = {"course": course, "speed": (1 << 20) - 1}
        reckoned(f"capped-polar-{course}", "at 89.5 degrees, where a capped way leads far round the pole", same,
                 {"latitude": 8_950_000, "longitude": 0, **same}, 20)
    reckoned("over-pole", "beyond the pole, where the fix is not", {"course": 0, "latitude": 9_000_000},
             {"latitude": 9_000_000, "course": 0})
    reckoned("over-longitude-end", "beyond 180 degrees, where the fix is not", {"course": 45, "longitude": 18_000_000},
             {"longitude": 18_000_000, "course": 45})
    for seconds in (-1, -0.001, 0, 0.001, 0.1, 2, 2.5, 3, 21, 60):
        name = f"{seconds}".replace("-", "minus-").replace(".", "-")
        reckoned(f"after-{name}", f"{seconds} s later", {"course": 70}, None, seconds)
    reckoned("speed-lost", "not possible: the speed is unknown, known before", {"speed": None})
    reckoned("course-lost", "not possible: the course is unknown, known before", {"course": None})


def _add_ways(add):
    # With the position step 0, 1 m/s moves about 14 sixteenths of a step in a second.
    for interval, seconds in ((0, 1), (1, 10)):
        for edge, way in enumerate((4, 16, 32, 52, 88, 152, 288, 500)):
            speed = round(way * 10 / (14.39 * seconds))
            for north in (0, 1, -2, 9, 8191, 8192, -8193, 1 << 20):
                add(f"way-{interval}-{edge}-{north}".replace("--", "-minus-"),
                    f"no course, about {way} sixteenths of a step in {seconds} s; {north} steps north",
                    {"speed": speed, "time": ANCHOR["time"] + seconds * SECOND, "latitude": ANCHOR["latitude"] + north,
                     "longitude": ANCHOR["longitude"] - edge}, {"speed": speed, "course": None})
    for degrees in (0, 60, 82, 83, 88.99, 89, 90, -75):
        for speed in (1, 5, 20, 60):
            for north in (0, -1, -12):
                sign = -1 if degrees < 0 else 1
                name = f"way-latitude-{degrees}-speed-{speed}-{-north}-steps".replace("--", "-minus-").replace(".", "-")
                latitude = round(degrees * 100_000)
                add(name, f"no course, at {degrees} degrees with speed {speed}",
                    {"latitude": latitude + sign * north, "longitude": -3, "speed": speed},
                    {"latitude": latitude, "longitude": 0, "speed": speed, "course": None})
    for north in (8190, 8191, 8192, -8191, -8192):
        add(f"way-capped-{north}".replace("--", "-minus-"), f"no course, the way is capped; {north} steps north",
            {"speed": (1 << 20) - 1, "time": ANCHOR["time"] + 20 * SECOND, "latitude": ANCHOR["latitude"] + north},
            {"speed": (1 << 20) - 1, "course": None})


def _add_other_forms(v):
    """Forms that a decoder accepts and an encoder does not write."""
    def add(name, meaning, changes=None, before=None, **form):
        anchor = {**ANCHOR, **(before or {})}
        fix = {**anchor, **LIVE, **(before or {}), **(changes or {})}
        payload = live.payload_unchecked(fix, anchor, 1, **form)
        v.add_frame(f"live-fix-{name}", f"Live fix, not canonical: {meaning}.", live_frame(payload, anchor=anchor),
                    canonical=False, origin=ORIGIN_BITS, expected=fix, anchor=anchor, reference=4660)

    for code in (4, 8, 13, 21):
        add(f"unscheduled-{code}", f"usual interval {code} in the form that is not scheduled",
            {"time": ANCHOR["time"] + live.USUAL_INTERVALS[code]}, schedules=False)
    for pace, speed in (("0", 0), ("unknown", None)):
        add(f"still-unsaid-{pace}", f"still is 0, nothing changed, speed {pace}", None, {"speed": speed},
            says_still=False)
        add(f"still-unscheduled-{pace}", f"a scheduled time of a still collar in the other form, speed {pace}",
            None, {"speed": speed}, schedules=False)
        add(f"still-unsaid-unscheduled-{pace}", f"neither scheduled nor still is 1, speed {pace}", {"battery": 82},
            {"speed": speed}, schedules=False, says_still=False)


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

    encoder = head_encoder(scheduled=False)
    for context in (rc.SAME_REST, rc.BACKWARD):
        encoder.decision(context, 0)
    encoder.integer(1, rc.MINUTES)
    encoder.integer(-61, rc.SECOND_REST, 0)
    add("field-live-fix-seconds-negative", "one minute and -61 seconds: the magnitude is below 0", live_frame(encoder.payload()),
        "invalid_field", "difference")

    def schedule(name, meaning, code, before, distance=1):
        anchor = {**ANCHOR, **before}
        encoder = head_encoder(True, anchor, distance)
        live.encode_schedule(encoder, anchor, code)
        sequence = anchor["sequence"] + distance
        add(f"field-live-fix-{name}", meaning, live_frame(encoder.payload(), sequence, anchor), "invalid_field",
            "difference", anchor, sequence)

    for code in (28, 31):
        schedule(f"schedule-{code}", f"the code {code} of no usual interval", code, {})
        schedule(f"schedule-{code}-still", f"the code {code} of no usual interval, the anchor does not move", code,
                 {"speed": 0})
    for code in (0, 27):
        for distance in (1, 127):
            time = (1 << 47) - distance * live.USUAL_INTERVALS[code]
            schedule(f"schedule-{code}-{distance}-time",
                     f"the time is 1 ms above its range, interval {code} at distance {distance}", code,
                     {"time": time}, distance)
    schedule("schedule-time-far", "the time is far above its range, a day at distance 2147483647", 27, {},
             (1 << 31) - 1)


def head_encoder(scheduled, anchor=ANCHOR, distance=1):
    """An encoder that has written a distance, the anchor's shape, and whether the time is scheduled."""
    encoder = rc.RangeEncoder()
    encoder.gamma(distance)
    encoder.decision(rc.SHAPE, 0)
    encoder.decision(live.scheduled_context(anchor), scheduled)
    return encoder
