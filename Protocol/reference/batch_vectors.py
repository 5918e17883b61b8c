"""Valid vectors of batches."""

import batch
import batchcoder as bc
import frames
from batch_mixtures import mixture
from batch_parts import (BATCH, ORIGIN_BATCH, ORIGIN_CODED, SECOND, START, Script, batch_frame, fixes_of, start_writer,
                         walk)
from fixes import OPTIONAL_FIELDS, POSITION_STEPS
from vector_parts import ADDRESS, LOG, ORIGIN_BITS

MAX = 4_294_967_294
LIMITS = {"altitude": (-1 << 23, (1 << 23) - 1), "horizontal_accuracy": (0, 126), "vertical_accuracy": (0, 126),
          "speed": (0, (1 << 20) - 1), "course": (0, 179), "heading": (0, 179), "battery": (0, 100)}
UNKNOWN = dict.fromkeys(OPTIONAL_FIELDS)
TIME = START["time"]


def add_valid(v):
    """All valid vectors of batches."""
    def add(name, meaning, fixes, flags=0, log=LOG):
        frame = frames.encode(BATCH, {"fixes": fixes}, ADDRESS, flags, log)
        v.add_frame(f"batch-{name}", f"Batch: {meaning}.", frame, log, origin=ORIGIN_BATCH,
                    expected={"type": BATCH, "fixes": fixes})

    _add_sizes(v, add)
    _add_starts(add)
    _add_start_times(add)
    _add_sequences(add)
    _add_known(add)
    _add_values(add)
    _add_intervals(add)
    _add_rests(add)
    _add_places(add)
    _add_steps(add)
    for seed in range(72):
        fixes = mixture(seed, steps=seed >= 48)
        _, taken = frames.encode_batch(fixes, ADDRESS, log=LOG)
        add(f"mixture-{seed}", f"{taken} fixes in which everything changes, by small and by large steps", fixes[:taken])
    _add_others(v)


def _add_sizes(v, add):
    v.add_frame("batch-one-by-bits", "Batch: one fix.", batch_frame(start_writer().payload()), origin=ORIGIN_BITS,
                expected={"type": BATCH, "fixes": fixes_of()})
    for count in (1, 2, 3, 10, 63, 64):
        add(f"walk-{count}", f"{count} fixes of a walk", walk(count))
    add("still-64", "64 fixes of a collar that lies still: nothing changes but the time", fixes_of(*[{}] * 63))
    add("poll", "wants an answer", walk(3), flags=5)
    for limit in (51, 253):
        fixes = _exactly(limit)
        add(f"frame-{limit}", f"a frame of exactly {limit} bytes; the next fix did not fit", fixes)
    add("one-longest", "one fix of the longest start", [LONGEST])
    for bits in ("zero", "one"):
        log = frames.Log(0, 0) if bits == "zero" else frames.Log((1 << 64) - 1, (1 << 26) - 1)
        add(f"log-all-{bits}s", f"all bits of device id and log id are {bits}s", walk(2), log=log)


LONGEST = {"sequence": MAX, "time": -1 << 47, "source": 2, "position_step": 2, "latitude": 900_000_000,
           "longitude": 1_800_000_000, "altitude_step": 1, **{field: limits[1] for field, limits in LIMITS.items()}}


def _exactly(limit):
    """The fixes of a restless walk that fit a frame. The walk is one whose fixes fill the frame to the last byte."""
    for pace in range(3, 1000):
        fixes = [{**fix, "heading": place * place * pace % 180, "course": place * pace % 180}
                 for place, fix in enumerate(walk(64, pace, time=TIME + 123))]
        frame, taken = frames.encode_batch(fixes, ADDRESS, log=LOG, limit=limit)
        longer = frames.encode(BATCH, {"fixes": fixes[:taken + 1]}, ADDRESS, log=LOG, limit=300)
        if len(frame) == limit and len(longer) > limit:
            return fixes[:taken]
    raise AssertionError(f"no walk fills {limit} bytes")


def _add_starts(add):
    def start(name, meaning, **changes):
        add(f"start-{name}", f"{meaning} in the start, and a fix behind it", fixes_of({}, **changes))

    for field, (low, high) in LIMITS.items():
        words = field.replace("_", "-")
        start(f"{words}-lowest", f"{field} {low}", **{field: low})
        start(f"{words}-highest", f"{field} {high}", **{field: high})
        start(f"{words}-unknown", f"{field} unknown", **{field: None})
        start(f"{words}-alone", f"of the optional fields only {field} known", **{**UNKNOWN, field: START[field]})
    start("unknown", "no optional field known", **UNKNOWN)
    start("unknown-fine-altitude", "altitude unknown, altitude step 1 all the same,", altitude=None, altitude_step=1)
    for altitude in (-1001, -1000, 15_382, 15_383):
        start(f"altitude-{altitude}".replace("--", "-minus-"), f"altitude {altitude}", altitude=altitude)
    for speed in (510, 511, 512):
        start(f"speed-{speed}", f"speed {speed}", speed=speed)
    for source in (0, 1, 2):
        start(f"source-{source}", f"source {source}", source=source)
    for step in (0, 1):
        start(f"altitude-step-{step}", f"altitude step {step}", altitude_step=step)


def _add_start_times(add):
    last = ((1 << 32) - 1) * SECOND
    for form, times in enumerate(((0, TIME, last), (100, TIME + 900, last + 900), (1, TIME + 999, last + 999),
                                  (-1, -SECOND, last + SECOND, -1 << 47, (1 << 47) - 1 - 2 * SECOND))):
        for number, time in enumerate(times):
            add(f"time-form-{form}-{number}", f"time form {form} of the start: {time}", fixes_of({}, {}, time=time))


def _add_sequences(add):
    for sequence in (0, 1, 254, 255, 256, 65_535, 65_536, (1 << 24) - 1, 1 << 31, MAX - 1):
        add(f"sequence-{sequence}", f"sequences {sequence} and {sequence + 1}", fixes_of({}, sequence=sequence))
    add("sequence-last", f"one fix, the last sequence there can be, {MAX}", fixes_of(sequence=MAX))
    add("sequence-64-to-last", f"64 fixes up to {MAX}", walk(64, sequence=MAX - 63))
    for gap in (1, 2, 3, 4, 7, 8, 15, 16, 31, 64, 1000, 65_536, 1 << 31):
        add(f"gap-{gap}", f"{gap} sequences missing between two fixes, then one without a gap",
            fixes_of({"sequence": START["sequence"] + gap + 1}, {}))
    add("gap-whole", "the first and the last sequence there can be", fixes_of({"sequence": MAX}, sequence=0))
    add("gaps", "every other sequence missing", fixes_of(*[{"sequence": START["sequence"] + 2 * place} for place in range(1, 30)]))


def _add_known(add):
    new = {"altitude": 174, "horizontal_accuracy": 30, "vertical_accuracy": 44, "speed": 23, "course": 70, "heading": 60,
           "battery": 82}
    for field, value in new.items():
        words = field.replace("_", "-")
        add(f"lost-{words}", f"{field} becomes unknown, and stays so", fixes_of({field: None}, {}))
        add(f"found-{words}", f"{field} becomes known, unknown in the start", fixes_of({}, {field: value}, {}, **{field: None}))
        add(f"back-{words}", f"{field} is unknown for two fixes; the one behind them differs from when it was known last",
            fixes_of({field: None}, {}, {field: value}, {}))
        add(f"blinks-{words}", f"{field} is known in every other fix",
            fixes_of(*[{field: None if place % 2 else value} for place in range(8)]))
    add("lost-all", "all optional fields become unknown at once", fixes_of({}, UNKNOWN, {}))
    add("found-all", "all optional fields become known at once", fixes_of({}, new, {}, **UNKNOWN))
    add("turns", "one field after the other becomes unknown, then known again",
        fixes_of(*[{field: None} for field in OPTIONAL_FIELDS], *[{field: new[field]} for field in OPTIONAL_FIELDS]))
    add("sources", "every change of the source", fixes_of(*[{"source": source} for source in (0, 1, 0, 2, 1, 2, 2)]))
    add("source-and-shape", "source and known fields change in one fix", fixes_of({"source": 0, "heading": None}, {}))


def _add_values(add):
    for field, (low, high) in LIMITS.items():
        words = field.replace("_", "-")
        for late in (1, 100):
            add(f"{words}-limits-{late}", f"{field} from its lowest to its highest and back, {late} s each",
                _every(late, [{field: high}, {field: low}, {field: high}], **{field: low}))
        for change in (1, 2, 3, 5, 9, 20, 40):
            lower = min(START[field], high - change)
            values = [lower + (change if place % 2 else 0) for place in range(12)]
            add(f"{words}-by-{change}", f"{field} goes up and down by {change}", fixes_of(*[{field: value} for value in values]))
    for field in ("course", "heading"):
        for before, after in ((0, 90), (0, 89), (90, 0), (178, 2), (2, 178), (179, 0), (0, 179)):
            for late in (1, 100):
                add(f"{field}-{before}-to-{after}-{late}", f"{field} from {before} to {after} after {late} s",
                    _every(late, [{field: after}, {}], **{field: before}))
        add(f"{field}-calm", f"{field} turns wildly, then hardly, then wildly again",
            fixes_of(*[{field: code} for code in (90, 10, 170, 80, 80, 81, 80, 80, 80, 80, 81, 80, 10, 100, 5)]))
    for late in (1, 20, 21, 250, 251, 1000, 1001, 3000, 3001, -1, -5000):
        add(f"battery-after-{late}".replace("--", "-minus-"), f"battery falls and rises, {late} s between fixes",
            _every(late, [{"battery": percent} for percent in (82, 82, 90, 60)]))
    for late in (1, 20, 21, 600):
        add(f"moved-after-{late}", f"everything changes, {late} s between fixes",
            _every(late, [{"latitude": START["latitude"] + 37 * place, "longitude": START["longitude"] - 55 * place,
                           "altitude": 171 - place, "speed": 14 + 3 * place, "course": (67 + 40 * place) % 180,
                           "heading": (71 + 91 * place) % 180, "horizontal_accuracy": 33 + place,
                           "vertical_accuracy": 41 - place} for place in range(1, 9)]))


def _every(late, changes, **start):
    """Fixes with `late` seconds between them."""
    first = {**START, **start}["time"]
    return fixes_of(*[{**change, "time": first + late * SECOND * place} for place, change in enumerate(changes, 1)], **start)


def _at(*times, **start):
    """Fixes at these times in milliseconds; the first time is that of the start."""
    return fixes_of(*[{"time": time} for time in times[1:]], time=times[0], **start)


def _add_intervals(add):
    for late in (0, 1, 2, 3, 20, 21, 29, 30, 31, 59, 60, 89, 90, 269, 270, 300, 1800, 3600, 86_400, 1 << 30):
        for sign, name in ((1, "after"), (-1, "before")):
            if late or sign > 0:
                add(f"{name}-{late}", f"a fix {late} s {name} the other, twice, then one second",
                    _at(TIME, TIME + sign * late * SECOND, TIME + 2 * sign * late * SECOND,
                        TIME + (2 * sign * late + 1) * SECOND))
    add("schedules", "every second, every five, every minute, every second, once each and then often",
        _at(*_sums(TIME, [1000] * 4 + [5000] * 4 + [60_000] * 4 + [1000, 5000, 1000, 5000, 5000, 1000])))
    add("doubling", "intervals of minutes that double, and half as long again",
        _at(*_sums(TIME, [60_000 * (length << power) // 2 for power in range(12) for length in (2, 3)])))
    add("seconds-doubling", "intervals of seconds up to 29",
        _at(*_sums(TIME, [SECOND * length for length in (2, 3, 4, 6, 8, 12, 16, 24, 29, 17, 9, 5, 28)])))
    add("same-times", "fixes of the same time, copies but for the sequence", _at(*[TIME] * 6))
    add("pauses", "pauses of hours between walks: the second of two in a row, and each first",
        _moving(_sums(TIME, [1000] * 3 + [7_200_000] + [1000] * 3 + [7_200_000, 9_000_000, 1000, 1000])))
    add("decades", "1970, 2069, 1970", _at(0, 3_124_223_999_000, 0))
    add("time-whole", "the lowest time, the highest, and the lowest", _at(-1 << 47, (1 << 47) - 1, -1 << 47))
    add("time-across-1970", "times around 1970", _at(-2001, -1001, -1, 499, 500, 1499))
    add("clock-set-back", "the clock is set back by an hour, and forward", _moving(_sums(TIME, [1000, -3_600_000, 1000, 3_600_000, 1000])))


def _sums(first, steps):
    """Times with these steps between them."""
    times = [first]
    for step in steps:
        times.append(times[-1] + step)
    return times


def _moving(times):
    """Fixes at these times, along a bent line."""
    return fixes_of(*[{"time": time, "latitude": START["latitude"] + 31 * place, "longitude": START["longitude"] + place * place * 7}
                      for place, time in enumerate(times[1:], 1)], time=times[0])


def _add_rests(add):
    for rest in (1, 7, 8, 9, 123, 499, 500, 501, 991, 992, 999):
        add(f"rest-{rest}", f"times that end in {rest} ms, then whole seconds", _at(*_sums(TIME + rest, [1000, 1000, 1000 - rest, 1000])))
        add(f"rest-step-{rest}", f"whole seconds, then steps of {rest} ms more than a second", _at(*_sums(TIME, [1000] + [1000 + rest] * 4)))
    for step in (1, 8, 9, 20, 40, 100, 200, 250, 333, 499, 500, 501, 750, 1250, 2500):
        add(f"every-{step}-ms", f"a fix every {step} ms", _moving(_sums(TIME, [step] * 9)))
        add(f"every-minus-{step}-ms", f"a fix every {step} ms, time runs back", _moving(_sums(TIME + 17, [-step] * 5)))
    add("rest-schedules", "every 250 ms, then every second, then every 200 ms", _at(*_sums(TIME, [250] * 6 + [1000] * 5 + [200] * 6)))
    add("rest-jitter", "every second with some milliseconds of jitter", _at(*[TIME + 1000 * place + jitter for place, jitter in
                                                                           enumerate((0, 3, -2, 8, -8, 9, -9, 0, 1, 30, -30))]))
    add("rest-ends", "differences whose rests are -500 and 499 ms", _at(*_sums(TIME, [1500, 1499, 500, 499, 2500])))


def _add_places(add):
    for step, (power, _, _) in enumerate(POSITION_STEPS):
        corners = [(90, 180), (-90, -180), (90, -180), (0, 0), (-90, 180), (0, -180), (0, 180)]
        places = [{"latitude": north * power, "longitude": east * power} for north, east in corners]
        for late in (1, 100):
            add(f"corners-{step}-{late}", f"position step {step}, poles and both ends of the longitude, {late} s each",
                _every(late, places[1:], position_step=step, **places[0]))
        near = [{"latitude": 90 * power - place, "longitude": 180 * power - 3 * place} for place in range(5, -1, -1)]
        add(f"to-corner-{step}", f"position step {step}, a straight line that ends at the pole and at 180 degrees",
            fixes_of(*near[1:], position_step=step, **near[0]))
    for name, places in (("antimeridian", ((0, 17_999_998), (1, 17_999_999), (2, 18_000_000), (3, -18_000_000), (4, -17_999_999))),
                         ("teleport", ((0, 0), (5, 5), (5_000_000, -9_000_000), (5_000_005, -9_000_000), (10, 10), (15, 15))),
                         ("teleport-limit", ((0, 0), (1 << 20, -1 << 20), (2 << 20, -2 << 20), (1, 1), ((1 << 20) + 2, -(1 << 20)))),
                         ("back-and-forth", ((0, 0), (7, -7), (0, 0), (7, -7), (0, 0), (-1, 1), (1, -1)))):
        for late in (1, 7, 20, 21):
            add(f"{name}-{late}", f"{name}, {late} s between fixes",
                _every(late, [{"latitude": north, "longitude": east} for north, east in places[1:]],
                       latitude=places[0][0], longitude=places[0][1]))
    for north, east in ((1, 0), (0, -1), (-1, 3), (13, 5), (-130, 51), (1000, -999), (-4000, 5000), (70_000, -80_000)):
        add(f"line-{north}-{east}".replace("--", "-minus-"), f"a straight line, {north} and {east} steps a second, then a stop",
            fixes_of(*[{"latitude": north * min(place, 7), "longitude": east * min(place, 7)} for place in range(1, 12)],
                     latitude=0, longitude=0))
    for calm in range(3, 18, 2):
        add(f"jumps-{calm}", f"jumps that double, {calm} fixes between them in which nothing moves", _jumps(calm))
    line = _sums(TIME, [1000, 1000, 1000, 3000, 20_000, 0, 1000, 1000, 21_000, 1000, 1000, -1000, 1000])
    add("velocity-lost", "a straight line whose times stand still, pause and go back: the velocity is forgotten",
        _moving(line))
    add("sizes", "moves that grow twofold and shrink again", fixes_of(*[
        {"latitude": START["latitude"] + (1 << min(place, 24 - place)), "longitude": START["longitude"] - (3 << min(place, 24 - place) // 2)}
        for place in range(1, 25)]))


def _add_steps(add):
    """Position steps that change from fix to fix."""
    def place(step, north, east):
        """A position, given in steps of 1e-7 degree."""
        factor = 10 ** (2 - step)
        return {"position_step": step, "latitude": north // factor, "longitude": east // factor}

    for name, pattern in (("0-1", (0, 1)), ("1-0", (1, 0)), ("1-2", (1, 2)), ("0-2", (0, 2)), ("2-0", (2, 0)),
                          ("0-1-2", (0, 1, 2)), ("2-1-0", (2, 1, 0)), ("seldom", (0, 0, 0, 0, 0, 2, 2, 2, 2, 1, 1, 1))):
        line = [place(pattern[index % len(pattern)], 377_749_000 + 127 * index, -1_224_194_000 - 93 * index + index * index)
                for index in range(24)]
        add(f"steps-{name}", f"position steps {', '.join(map(str, pattern))}, again and again", fixes_of(*line[1:], **line[0]))
    for name, before, after in (("0-1", 0, 1), ("0-2", 0, 2), ("1-0", 1, 0), ("2-0", 2, 0)):
        for direction in (1, -1):
            edge = [place(step, direction * 900_000_000, direction * 1_800_000_000) for step in (before, after, before)]
            add(f"steps-edge-{name}-{direction}".replace("--", "-minus-"), "the position step changes at a pole and at 180 degrees",
                fixes_of(*edge[1:], **edge[0]))
        fast = [place(step, 3_000_000 * index, 5_000_000 * index) for index, step in enumerate((before, before, before, after, after))]
        add(f"steps-fast-{name}", "the position step changes at a speed near the limit", fixes_of(*fast[1:], **fast[0]))
        across = [place(step, 0, east) for east, step in ((1_799_999_000, before), (1_799_999_900, before), (-1_799_999_200, after),
                                                          (-1_799_998_300, after))]
        add(f"steps-across-{name}", "the position step changes at the meridian of 180 degrees", fixes_of(*across[1:], **across[0]))
    for name, steps in (("0-1", (0, 1, 1)), ("0-2", (0, 2, 2)), ("1-0", (1, 0, 0)), ("2-0", (2, 0, 1))):
        for late in (21, -5, 4000):
            far = [place(step, 1_000_000 + 7000 * index, 2_000_000 - 9000 * index) for index, step in enumerate(steps)]
            far[1]["time"] = TIME + late * SECOND
            far[2]["time"] = TIME + (late + 1) * SECOND
            add(f"steps-far-{name}-{late}".replace("--", "-minus-"), f"the position step changes in a fix that comes {late} s later",
                fixes_of(*far[1:], **far[0]))
    for name, steps in (("0", (0,)), ("1", (1,)), ("0-2", (0, 2)), ("2-0", (2, 0)), ("2-1", (2, 1))):
        for direction in (1, -1):
            around = [place(steps[index % len(steps)], 0, direction * (east if east <= 1_800_000_000 else east - 3_600_000_000))
                      for index, east in enumerate((1_799_998_000, 1_799_999_000, 1_800_000_000, 1_800_001_000, 1_800_002_000,
                                                    1_800_001_000, 1_799_999_900, 1_800_000_000, 1_799_999_700))]
            add(f"steps-around-{name}-{direction}".replace("--", "-minus-"),
                "across the meridian of 180 degrees and back, with a fix right on it", fixes_of(*around[1:], **around[0]))
    # The place lies beyond 180 degrees, the longitude of the coarser step right on it.
    for direction in (1, -1):
        beyond = [place(2, 0, direction * east) for east in (1_799_998_600, 1_799_999_300)]
        beyond += [place(0, 0, direction * 1_800_000_000), place(2, 0, -direction * 1_799_999_800)]
        add(f"steps-beyond-{direction}".replace("--", "-minus-"), "a coarser step right on 180 degrees, while the place lies beyond",
            fixes_of(*beyond[1:], **beyond[0]))
    known = [{**place(1, 377_749_000, -1_224_194_000), "heading": None}, {**place(1, 377_749_100, -1_224_194_100), "heading": None},
             {**place(2, 377_749_155, -1_224_194_177), "heading": 70, "speed": None}]
    add("steps-known", "the position step and the set of known fields change together",
        fixes_of(*known, **place(0, 377_749_000, -1_224_194_000)))


def _jumps(calm):
    """Fixes with jumps of 1, 2, 4 …, and `calm` fixes without a change between two jumps.

    Latitude and altitude jump forth and back, the longitude the other way and by half as much again; the speed grows.
    """
    fixes, jump = fixes_of(), 2
    while len(fixes) + calm < 64:
        fixes += fixes_of(*[{}] * calm, **_next(fixes[-1]))
        back = -1 if len(fixes) % 2 else 1
        fixes.append({**_next(fixes[-1]), "latitude": fixes[-1]["latitude"] + back * (jump // 2),
                      "longitude": fixes[-1]["longitude"] - back * (3 * jump // 4), "altitude": fixes[-1]["altitude"] + back * (jump // 2),
                      "speed": fixes[-1]["speed"] + jump // 2})
        jump = jump % 512 * 2 or 2
    return fixes[:64]


def _next(fix):
    """The same fix a second later."""
    return {**fix, "sequence": fix["sequence"] + 1, "time": fix["time"] + SECOND}


def _add_others(v):
    """Valid batches in a form that no sender of this version writes."""
    def other(name, meaning, frame, fixes):
        v.add_frame(f"batch-other-{name}", f"Batch, not canonical: {meaning}.", frame, canonical=False, origin=ORIGIN_CODED,
                    expected={"type": BATCH, "fixes": fixes})

    two, one = fixes_of({}), fixes_of()
    unchanged = [("decision", bc.SHAPE + place, 0) for place in range(2, 9)]
    other("partial", "partial, and a mask in which all fields are known", Script().frame(partial=(1, 1), mask=(127, 7)), two)
    other("time-form", "a whole second in time form 3", Script().frame(time_form=(3, 2), time=(TIME, 48)), two)
    other("altitude", "an escape for an altitude that needs none", Script().frame(altitude=(16_383, 14), altitude_escaped=(171, 24)), two)
    other("speed", "an escape for a speed that needs none", Script().frame(speed=(511, 9), speed_escaped=(14, 20)), two)
    other("shape", "a shape of 1 with nothing changed",
          Script(shape=[("decision", bc.SHAPE, 1), ("decision", bc.SHAPE + 1, 0), *unchanged]).frame(), two)
    other("source", "the source is another, and it is the same",
          Script(shape=[("decision", bc.SHAPE, 1), ("decision", bc.SHAPE + 1, 1), ("decision", bc.STEP, 0), ("uniform", 2, 4), *unchanged]).frame(), two)

    fine = Script(shape=[("decision", bc.SHAPE, 1), ("decision", bc.SHAPE + 1, 1), ("decision", bc.STEP, 1),
                         ("decision", bc.STEP + 1, 1), *unchanged],
                  latitude=[("integer", 7, bc.POSITION, 8)], longitude=[("integer", 0, bc.POSITION, 8)])
    found = {"position_step": 2, "latitude": 100 * START["latitude"] + 7, "longitude": 100 * START["longitude"]}
    v.add_frame("batch-step-by-hand", "Batch: the position step changes.", fine.frame(), origin=ORIGIN_CODED,
                expected={"type": BATCH, "fixes": fixes_of(found)})

    def interval(name, meaning, time, *parts, backward=0):
        head = [("decision", bc.SAME, 1), ("decision", bc.BACKWARD, backward)]
        other(f"interval-{name}", f"interval, {meaning}", Script(interval=head + list(parts)).frame(), fixes_of({"time": TIME + time}))

    interval("same", "coded though it is what it was", SECOND, ("integer", 0, bc.MINUTES), ("integer", 1, bc.SECONDS))
    interval("backward", "0 and backward", 0, ("integer", 0, bc.MINUTES), ("integer", 0, bc.SECONDS), backward=1)
    interval("minute", "20 s as one minute less 40 s", 20 * SECOND, ("integer", 1, bc.MINUTES), ("integer", -40, bc.SECOND_REST, 0))
    interval("minutes", "20 s as six minutes less 340 s", 20 * SECOND, ("integer", 6, bc.MINUTES), ("integer", -340, bc.SECOND_REST, 1))
    seconds = Script(interval=[("decision", bc.SAME, 1), ("decision", bc.BACKWARD, 0), ("integer", 0, bc.MINUTES),
                               ("integer", 100, bc.SECONDS)],
                     speed=[("integer", 14, bc.SPEED)], course=[("uniform", 67, 180)], heading=[("uniform", 71, 180)],
                     latitude=[("integer", 0, bc.POSITION, 8)], longitude=[("integer", 0, bc.POSITION, 8)],
                     battery=[("integer", 0, bc.BATTERY, 1)])
    other("interval-seconds", "100 s without minutes", seconds.frame(), fixes_of({"time": TIME + 100 * SECOND}))
    history = Script(interval=[("decision", bc.SAME, 1), ("decision", bc.BACKWARD, 0), ("integer", 0, bc.MINUTES),
                               ("integer", 1, bc.SECONDS)])
    history.add({**Script.DEFAULTS, "interval": [("decision", bc.SAME + 1, 0)], "speed": [("integer", 0, bc.SPEED_CHANGE, 2)],
                 "latitude": [("integer", 0, bc.POSITION, 4)], "longitude": [("integer", 0, bc.POSITION, 3)],
                 "altitude": [("integer", 0, bc.ALTITUDE, 1)]})
    other("history", "an interval that is coded as new though it is what it was, and the next: the history is 1",
          history.frame(3), fixes_of({}, {}))
    for angle in (90, 180, -91, 200, -1000):
        words = str(angle).replace("-", "minus-")
        other(f"angle-{words}", f"course turned by {angle}, beyond what a sender codes",
              Script(course=[("integer", angle, bc.ANGLE, 1)]).frame(), fixes_of({"course": (67 + angle) % 180}))

    # Nothing but the course changes, so the other sizes are halved by each fix.
    grown = Script(course=[("integer", 200, bc.ANGLE, 1)])
    turns = (0, 0, 0, 5, -30, 17, 0)
    for angle, (speed, north, east, altitude, heading) in zip(turns, ((2, 4, 3, 1, 1), (1, 2, 1, 0, 0), (0, 1, 0, 0, 0),
                                                                      *[(0, 0, 0, 0, 0)] * 4)):
        grown.add({**Script.DEFAULTS, "interval": [("decision", bc.SAME + 2, 0)], "speed": [("integer", 0, bc.SPEED_CHANGE, speed)],
                   "latitude": [("integer", 0, bc.POSITION, north)], "longitude": [("integer", 0, bc.POSITION, east)],
                   "altitude": [("integer", 0, bc.ALTITUDE, altitude)], "heading": [("integer", 0, bc.ANGLE, heading)],
                   "course": [("integer", angle, bc.ANGLE, 1)]})
    other("angle-grown", "course turned by 200, then less: its size grew with 200, not with 20", grown.frame(9),
          fixes_of(*[{"course": course} for course in (87, 87, 87, 87, 92, 62, 79, 79)]))

    payload = Script().payload()
    whole = batch.payload_unchecked(two)
    if payload != whole:
        raise AssertionError("written by hand a batch is another")
    highest = payload[:-1] + bytes([payload[-1] | 1])
    for name, meaning, data, fixes in (
            ("number", "a larger number that lies in the range", highest, two),
            ("zero-byte", "a zero byte behind the payload", payload + b"\0", two),
            ("bytes", "bytes behind the payload", payload + b"\1\xff", two),
            ("246-bytes", "246 bytes of payload", payload.ljust(246, b"\0"), two),
            ("one-padding", "one fix, and bits behind the start", start_writer(padding=(5, 3)).payload(), one),
            ("one-bytes", "one fix, and bytes behind it", start_writer().payload() + b"\xff" * 20, one),
            ("one-246-bytes", "one fix, and ones behind it up to the longest payload",
             start_writer().payload().ljust(246, b"\xff"), one)):
        other(name, meaning, batch_frame(data), fixes)
    other("flags", "reserved flags that a receiver ignores", batch_frame(payload, flags=0x18), two)
