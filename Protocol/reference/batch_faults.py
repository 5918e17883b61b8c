"""Invalid vectors of batches."""

import batchcoder as bc
from batch_parts import SECOND, START, Script, batch_frame, fixes_of, start_writer, unchecked_frame, walk
from fixes import POSITION_STEPS
from frames import check_bytes
from vector_parts import LOG, OTHER_DEVICE, OTHER_LOG

MAX = 4_294_967_294
TIME = START["time"]


def add_invalid(v):
    """All invalid vectors of batches."""
    def add(name, meaning, frame, error="invalid_field", field=None):
        v.add(name, f"Batch: {meaning}.", frame, error, field)

    _add_checks(add)
    needed = len(start_writer().payload())
    for size in range(needed):
        add(f"truncated-batch-{size:02}", f"two fixes, {size} bytes of payload; the start needs {needed}",
            batch_frame(Script().payload()[:size]), "truncated")
    add("truncated-batch-one", "one fix whose start lacks its last byte", batch_frame(start_writer().payload()[:-1]), "truncated")
    add("truncated-batch-partial", "a start that ends within its mask",
        batch_frame(start_writer(partial=(1, 1), mask=(127, 7)).payload()[:2]), "truncated")
    _add_start_fields(add)
    _add_coded_fields(add)
    _add_intervals(add)


def _add_checks(add):
    good = Script().frame()
    add("check-batch-wrong-device", "bound to another device", batch_frame(Script().payload(), log=OTHER_DEVICE), "check_failed")
    add("check-batch-wrong-log", "bound to another log", batch_frame(Script().payload(), log=OTHER_LOG), "check_failed")
    add("check-batch-not-bound", "not bound", good[:-3] + check_bytes(good[:-3]), "check_failed")
    for name, place in (("start", 8), ("coded", -4), ("low-byte", 3)):
        damaged = bytearray(good)
        damaged[place] ^= 1
        add(f"check-batch-{name}", f"one bit is wrong: {name}", bytes(damaged), "check_failed")
    add("check-batch-byte-lost", "the last byte of the coded part is lost", good[:-4] + good[-3:], "check_failed")
    fix = bytes([1 << 5 | 2]) + good[1:-3]
    add("check-batch-as-fix", "a batch whose type was changed to that of an absolute fix", fix + good[-3:], "check_failed")
    if check_bytes(good[:-3], LOG) != good[-3:]:
        raise AssertionError("the undamaged batch is wrong")


def _add_start_fields(add):
    def bad(name, field, low_byte=START["sequence"] & 0xFF, **parts):
        for count in (1, 2):
            add(f"field-batch-start-{name}-of-{count}", f"{count} fixes, in the start {name.replace('-', ' ')}",
                batch_frame(Script().payload(count, **parts), low_byte), field=field)

    bad("position-step-3", "position_step", position_step=(3, 2))
    bad("source-3", "source", source=(3, 2))
    bad("sequence-4294967295", "sequence", 0xFF, sequence=((1 << 24) - 1, 24))
    for tenths in (10, 15):
        bad(f"tenths-{tenths}", "time", time_form=(1, 2), time=(TIME // SECOND << 4 | tenths, 36))
    for milliseconds in (1000, 1023):
        bad(f"milliseconds-{milliseconds}", "time", time_form=(2, 2), time=(TIME // SECOND << 10 | milliseconds, 42))
    for step, (power, north, east) in enumerate(POSITION_STEPS):
        bad(f"latitude-above-{step}", "latitude", position_step=(step, 2), latitude=(180 * power + 1, north), longitude=(0, east))
        bad(f"longitude-above-{step}", "longitude", position_step=(step, 2), latitude=(0, north), longitude=(360 * power + 1, east))
    for field in ("horizontal_accuracy", "vertical_accuracy"):
        bad(f"{field}-127".replace("_", "-"), field, **{field: (127, 7)})
    for field in ("course", "heading"):
        for code in (180, 255):
            bad(f"{field}-{code}", field, **{field: (code, 8)})
    for percent in (101, 127):
        bad(f"battery-{percent}", "battery", battery=(percent, 7))


def _add_coded_fields(add):
    def bad(name, changes, field="difference", **start):
        add(f"field-batch-{name}", "behind the start a fix with " + ", ".join(f"{key} {value}" for key, value in changes.items()),
            unchecked_frame(fixes_of(changes, **start)), field=field)

    bad("sequence", {"sequence": MAX + 1}, "sequence", sequence=MAX)
    bad("sequence-far", {"sequence": (1 << 49) - 1}, "sequence")
    bad("source-3", {"source": 3}, "source")
    add("field-batch-last-of-64", "the last of 64 fixes has battery 101", unchecked_frame(
        [*walk(63), {**walk(64)[-1], "battery": 101}]), field="difference")
    add("field-batch-sequence-first", "a sequence and a source out of range: the sequence comes first",
        unchecked_frame(fixes_of({"sequence": MAX + 1, "source": 3}, sequence=MAX)), field="sequence")
    add("field-batch-source-first", "a source and a speed out of range: the source comes first",
        unchecked_frame(fixes_of({"source": 3, "speed": 1 << 20})), field="source")
    for late in (1, 100):
        time = {"time": TIME + late * SECOND}
        for step, (power, _, _) in enumerate(POSITION_STEPS):
            for field, degrees in (("latitude", 90), ("longitude", 180)):
                limit = degrees * power
                bad(f"{field}-above-{step}-{late}", {**time, field: limit + 1}, position_step=step, **{field: limit})
                bad(f"{field}-below-{step}-{late}", {**time, field: -limit - 1}, position_step=step, **{field: -limit})
        for field, low, high in (("altitude", -1 << 23, (1 << 23) - 1), ("horizontal_accuracy", 0, 126),
                                 ("vertical_accuracy", 0, 126), ("speed", 0, (1 << 20) - 1), ("battery", 0, 100)):
            words = field.replace("_", "-")
            bad(f"{words}-above-{late}", {**time, field: high + 1})
            if late == 1 or field != "speed":  # after a pause the speed is coded without a sign
                bad(f"{words}-below-{late}", {**time, field: low - 1})
    bad("time-above", {"time": 1 << 47}, time=(1 << 47) - SECOND)
    bad("time-below", {"time": (-1 << 47) - 1}, time=-1 << 47)
    bad("interval-far", {"time": TIME + ((1 << 40) + 1) * SECOND})
    bad("interval-far-backward", {"time": TIME - ((1 << 40) + 1) * SECOND})
    for field, block, instance in (("altitude", bc.ALTITUDE, 2), ("latitude", bc.POSITION, 6), ("longitude", bc.POSITION, 5),
                                   ("speed", bc.SPEED_CHANGE, 2)):
        for sign in (1, -1):
            value = sign * ((1 << 49) - 1)
            add(f"field-batch-{field}-{'largest' if sign > 0 else 'smallest'}", f"{field} differs by {value}",
                Script(**{field: [("integer", value, block, instance)]}).frame(), field="difference")
    for rest in (500, -501, 1000, (1 << 49) - 1):
        words = str(rest).replace("-", "minus-")
        add(f"field-batch-rest-{words}", f"a rest of {rest} ms", Script(rest=[("integer", rest, bc.REST)]).frame(), field="difference")


def _add_intervals(add):
    def bad(name, meaning, *parts, backward=0):
        head = [("decision", bc.SAME, 1), ("decision", bc.BACKWARD, backward)]
        add(f"field-batch-interval-{name}", f"interval of {meaning}", Script(interval=head + list(parts)).frame(), field="difference")

    for backward in (0, 1):
        words = "-backward" if backward else ""
        bad(f"minutes{words}", "the largest minutes", ("integer", (1 << 49) - 1, bc.MINUTES), ("integer", 0, bc.SECOND_REST, 1),
            backward=backward)
        bad(f"seconds{words}", "2^40 + 1 s without minutes", ("integer", 0, bc.MINUTES), ("integer", (1 << 40) + 1, bc.SECONDS),
            backward=backward)
        bad(f"limit{words}", "2^40 s: s is in its range, the time is not", ("integer", 0, bc.MINUTES),
            ("integer", 1 << 40, bc.SECONDS), backward=backward)
        bad(f"negative{words}", "one minute less 61 s", ("integer", 1, bc.MINUTES), ("integer", -61, bc.SECOND_REST, 0),
            backward=backward)
