"""The live fix (section 11): the difference to an earlier fix, its anchor."""

import rangecoder as rc
from fixes import (ALTITUDE_LIMIT, MAX_SEQUENCE, OPTIONAL_FIELDS, POSITION_STEPS, SIMPLE_FIELDS,
                   SPEED_LIMIT, TIME_LIMIT, check_fix, complete_sequence, encode_absolute_fix,
                   known_mask)
from way import Expected, bring_to
from wire import BitWriter, ProtocolError, require

LONGEST_SECONDS = 1 << 40
LONGEST_DISTANCE = (1 << 31) - 1
INTERVALS = (2, 20, 250, 700, 3000)
USUAL_INTERVALS = (100, 200, 250, 500, *(1000 * seconds for seconds in (
    1, 2, 3, 4, 5, 10, 15, 20, 30, 60, 120, 180, 300, 600, 900, 1200, 1800,
    3600, 7200, 14_400, 21_600, 28_800, 43_200, 86_400)))
# The fields in which a still fix equals its anchor.
STILL_FIELDS = ("source", "position_step", "altitude_step", "latitude", "longitude", *OPTIONAL_FIELDS[:-1])


def anchor_bytes(anchor):
    """What the CRC is bound to besides the log."""
    writer = BitWriter()
    encode_absolute_fix(writer, anchor, wide=True)
    return anchor["sequence"].to_bytes(4, "big") + writer.payload()


# What both directions compute

def split_time(time):
    """The nearest second, halves up, and the rest."""
    second = (time + 500) // 1000
    return second, time - 1000 * second


def rest_kind(rest):
    """The kind of the anchor's rest."""
    if rest == 0:
        return 0
    return 1 if -8 <= rest <= 8 else 2


def pace(speed):
    """The pace of the anchor."""
    if speed is None:
        return 0
    return 1 if speed == 0 else 2 if speed < 5 else 3


def scheduled_context(anchor):
    """The context of the decision scheduled."""
    return rc.SCHEDULED + 4 * rest_kind(split_time(anchor["time"])[1]) + pace(anchor["speed"])


def schedule_context(anchor, node):
    """The context of a decision of an interval's code."""
    return rc.SCHEDULE + 31 * (pace(anchor["speed"]) >= 2) + node - 1


def interval_class(time, anchor):
    """The class of the magnitude of the difference of the nearest seconds."""
    seconds = abs(split_time(time)[0] - split_time(anchor["time"])[0])
    return sum(seconds > limit for limit in INTERVALS)


def second_rest_instance(minutes):
    """The instance of second rest."""
    return 0 if minutes <= 4 else 1 if minutes < 30 else 2


def still_context(anchor, interval, scheduled):
    """The context of the decision still, or None if the anchor moves."""
    return rc.STILL + 6 * scheduled + interval if pace(anchor["speed"]) <= 1 else None


def speed_instance(anchor_speed):
    """The instance of speed."""
    return 1 if anchor_speed >= 2 else 0


def battery_instance(interval, still):
    """The instance of battery."""
    return interval if not still else 6 if interval <= 4 else 7


def within(value, low, high):
    """A result, which must be in its field's range."""
    require(low <= value <= high, "difference")
    return value


# Decoding

def begin(payload, low_byte, reference):
    """The sequence, the anchor's sequence, and the decoder behind the distance."""
    sequence = complete_sequence(low_byte, 8, reference)
    require(sequence <= MAX_SEQUENCE, "sequence")
    decoder = rc.RangeDecoder(payload)
    distance = decoder.gamma()
    require(distance <= sequence, "anchor")
    return sequence, sequence - distance, decoder


def decode_live_fix(decoder, sequence, anchor):
    """The codes of the fix. The decoder stands behind the distance."""
    mask, step = known_mask(anchor), anchor["position_step"]
    altitude_step, source = anchor["altitude_step"], anchor["source"]
    other_shape = decoder.decision(rc.SHAPE)
    if other_shape:
        mask, step = decoder.uniform(128), decoder.uniform(4)
        require(step < 3, "position_step")
        altitude_step, source = decoder.uniform(2), decoder.uniform(4)
        require(source < 3, "source")
    fix = {"type": 3, "sequence": sequence, "source": source, "position_step": step,
           "altitude_step": altitude_step, **dict.fromkeys(OPTIONAL_FIELDS)}
    known = {field for place, field in enumerate(OPTIONAL_FIELDS) if mask >> (6 - place) & 1}

    scheduled = decoder.decision(scheduled_context(anchor))
    if scheduled:
        time = _decode_schedule(decoder, anchor, sequence - anchor["sequence"])
    else:
        time = _decode_time(decoder, anchor)
    fix["time"] = within(time, -TIME_LIMIT, TIME_LIMIT - 1)
    interval = interval_class(time, anchor)
    context = still_context(anchor, interval, scheduled)
    still = not other_shape and context is not None and decoder.decision(context)
    if still:
        fix.update((field, anchor[field]) for field in STILL_FIELDS)
    else:
        _decode_move(decoder, fix, known, anchor, interval)
    if "battery" in known:
        percent = (anchor["battery"] or 0) - decoder.integer(rc.BATTERY, battery_instance(interval, still))
        fix["battery"] = within(percent, 0, SIMPLE_FIELDS["battery"][0])
    return fix


def _decode_schedule(decoder, anchor, distance):
    """A time that is scheduled."""
    node = 1
    for _ in range(5):
        node = 2 * node + decoder.decision(schedule_context(anchor, node))
    code = within(node - 32, 0, len(USUAL_INTERVALS) - 1)
    return anchor["time"] + distance * USUAL_INTERVALS[code]


def _decode_time(decoder, anchor):
    """A time that is not scheduled."""
    second, rest = split_time(anchor["time"])
    kind = rest_kind(rest)
    if decoder.decision(rc.SAME_REST + kind):
        rest = within(decoder.integer(rc.REST, kind), -500, 499)
    backward = decoder.decision(rc.BACKWARD)
    minutes = decoder.integer(rc.MINUTES)
    if minutes == 0:
        seconds = decoder.integer(rc.SECONDS)
    else:
        seconds = 60 * minutes + decoder.integer(rc.SECOND_REST, second_rest_instance(minutes))
    within(seconds, 0, LONGEST_SECONDS)
    return 1000 * (second - seconds if backward else second + seconds) + rest


def _decode_move(decoder, fix, known, anchor, interval):
    """The fields from speed to heading, into a fix that is not still."""
    known_before = {field: anchor[field] or 0 for field in OPTIONAL_FIELDS}

    def angle(field):
        return (decoder.uniform(180) if interval >= 2 else
                (known_before[field] + decoder.integer(rc.ANGLE, interval)) % 180)

    if "speed" in known:
        before = known_before["speed"]
        speed = (before + decoder.integer(rc.SPEED_CHANGE, interval) if interval <= 1
                 else decoder.integer(rc.SPEED, speed_instance(before)))
        fix["speed"] = within(speed, 0, SPEED_LIMIT - 1)
    if "course" in known:
        fix["course"] = angle("course")

    degree, expected = POSITION_STEPS[fix["position_step"]][0], Expected(fix, anchor, interval)
    north = decoder.integer(rc.LATITUDE, expected.latitude_instance())
    fix["latitude"] = within(expected.latitude + north, -90 * degree, 90 * degree)
    east = decoder.integer(rc.LONGITUDE, expected.longitude_instance(north))
    fix["longitude"] = within(expected.longitude + east, -180 * degree, 180 * degree)

    if "altitude" in known:
        before = bring_to(known_before["altitude"], anchor["altitude_step"], fix["altitude_step"])
        fix["altitude"] = within(before + decoder.integer(rc.ALTITUDE, interval),
                                 -ALTITUDE_LIMIT, ALTITUDE_LIMIT - 1)
    for field in ("horizontal_accuracy", "vertical_accuracy"):
        if field in known:
            code = known_before[field] + decoder.integer(rc.ACCURACY, min(interval, 2))
            fix[field] = within(code, 0, SIMPLE_FIELDS[field][0])
    if "heading" in known:
        fix["heading"] = angle("heading")


# Encoding

def encode_live_fix(fix, anchor):
    """The low byte and the payload of a fix."""
    check_fix(fix)
    check_fix(anchor)
    distance = fix["sequence"] - anchor["sequence"]
    if not 1 <= distance <= LONGEST_DISTANCE:
        raise ProtocolError("invalid_field", "anchor")
    return fix["sequence"] & 0xFF, payload_unchecked(fix, anchor, distance)


def payload_unchecked(fix, anchor, distance, schedules=True, says_still=True):
    """The payload, whatever the values and the distance are.

    The last two tell whether it uses the scheduled form, and a still of 1, where it can.
    """
    encoder = rc.RangeEncoder()
    encoder.gamma(distance)

    shape, shape_before = ((known_mask(each), each["position_step"], each["altitude_step"],
                            each["source"]) for each in (fix, anchor))
    encoder.decision(rc.SHAPE, shape != shape_before)
    if shape != shape_before:
        for value, count in zip(shape, (128, 4, 2, 4)):
            encoder.uniform(value, count)

    scheduled = schedules and is_scheduled(fix, anchor, distance)
    encoder.decision(scheduled_context(anchor), scheduled)
    if scheduled:
        encode_schedule(encoder, anchor, USUAL_INTERVALS.index((fix["time"] - anchor["time"]) // distance))
    else:
        _encode_time(encoder, fix, anchor)
    interval = interval_class(fix["time"], anchor)
    context, still = still_context(anchor, interval, scheduled), False
    if shape == shape_before and context is not None:
        still = says_still and all(fix[field] == anchor[field] for field in STILL_FIELDS)
        encoder.decision(context, still)
    if not still:
        _encode_move(encoder, fix, anchor, interval)
    if fix["battery"] is not None:
        encoder.integer((anchor["battery"] or 0) - fix["battery"], rc.BATTERY, battery_instance(interval, still))
    return encoder.payload()


def is_scheduled(fix, anchor, distance):
    """Whether the time since the anchor is the distance times a usual interval."""
    return fix["time"] - anchor["time"] in (distance * usual for usual in USUAL_INTERVALS)


def encode_schedule(encoder, anchor, code):
    """Writes an interval's code."""
    node = 1
    for place in range(4, -1, -1):
        bit = code >> place & 1
        encoder.decision(schedule_context(anchor, node), bit)
        node = 2 * node + bit


def _encode_time(encoder, fix, anchor):
    """Writes a time in the form that is not scheduled."""
    second_before, rest_before = split_time(anchor["time"])
    second, rest = split_time(fix["time"])
    kind = rest_kind(rest_before)
    encoder.decision(rc.SAME_REST + kind, rest != rest_before)
    if rest != rest_before:
        encoder.integer(rest, rc.REST, kind)
    encoder.decision(rc.BACKWARD, second < second_before)
    seconds = abs(second - second_before)
    minutes = (seconds + 30) // 60
    encoder.integer(minutes, rc.MINUTES)
    if minutes == 0:
        encoder.integer(seconds, rc.SECONDS)
    else:
        encoder.integer(seconds - 60 * minutes, rc.SECOND_REST, second_rest_instance(minutes))


def _encode_move(encoder, fix, anchor, interval):
    """Writes the fields from speed to heading of a fix that is not still."""
    known_before = {field: anchor[field] or 0 for field in OPTIONAL_FIELDS}

    def write_angle(field):
        if interval >= 2:
            encoder.uniform(fix[field], 180)
        else:
            encoder.integer((fix[field] - known_before[field] + 90) % 180 - 90, rc.ANGLE, interval)

    if fix["speed"] is not None:
        before = known_before["speed"]
        if interval <= 1:
            encoder.integer(fix["speed"] - before, rc.SPEED_CHANGE, interval)
        else:
            encoder.integer(fix["speed"], rc.SPEED, speed_instance(before))
    if fix["course"] is not None:
        write_angle("course")

    expected = Expected(fix, anchor, interval)
    north = fix["latitude"] - expected.latitude
    encoder.integer(north, rc.LATITUDE, expected.latitude_instance())
    encoder.integer(fix["longitude"] - expected.longitude, rc.LONGITUDE, expected.longitude_instance(north))

    if fix["altitude"] is not None:
        before = bring_to(known_before["altitude"], anchor["altitude_step"], fix["altitude_step"])
        encoder.integer(fix["altitude"] - before, rc.ALTITUDE, interval)
    for field in ("horizontal_accuracy", "vertical_accuracy"):
        if fix[field] is not None:
            encoder.integer(fix[field] - known_before[field], rc.ACCURACY, min(interval, 2))
    if fix["heading"] is not None:
        write_angle("heading")
