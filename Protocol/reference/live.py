"""The live fix (section 11): the difference to an earlier fix, its anchor."""

import rangecoder as rc
from fixes import (ALTITUDE_LIMIT, MAX_SEQUENCE, OPTIONAL_FIELDS, POSITION_STEPS, SIMPLE_FIELDS,
                   SPEED_LIMIT, TIME_LIMIT, check_fix, complete_sequence, encode_absolute_fix,
                   known_mask)
from wire import BitWriter, ProtocolError, require

LONGEST_SECONDS = 1 << 40
LONGEST_DISTANCE = (1 << 31) - 1
INTERVALS = (2, 20, 250, 700, 3000)


def anchor_bytes(anchor):
    """What the check is bound to besides the log."""
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


def interval_class(seconds):
    """The class of a magnitude of the difference of the seconds."""
    return sum(seconds > limit for limit in INTERVALS)


def second_rest_instance(minutes):
    """The instance of second rest."""
    return 0 if minutes <= 4 else 1 if minutes < 30 else 2


def bring_to(value, step, new_step):
    """A value in decimal steps, brought to another step, halves away from zero."""
    if new_step >= step:
        return value * 10 ** (new_step - step)
    unit = 10 ** (step - new_step)
    magnitude = (2 * abs(value) + unit) // (2 * unit)
    return -magnitude if value < 0 else magnitude


def speed_instance(anchor_speed):
    """The instance of speed."""
    return 1 if anchor_speed >= 2 else 0


def latitude_instance(interval, speed):
    """The instance of latitude."""
    return 2 * interval + (speed is not None and speed >= 2)


def longitude_instance(interval, latitude_difference):
    """The instance of longitude."""
    return 4 * interval + min(3, (abs(latitude_difference).bit_length() + 1) // 2)


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
    known_before = {field: anchor[field] or 0 for field in OPTIONAL_FIELDS}
    mask, step = known_mask(anchor), anchor["position_step"]
    altitude_step, source = anchor["altitude_step"], anchor["source"]
    if decoder.decision(rc.SHAPE):
        mask, step = decoder.uniform(128), decoder.uniform(4)
        require(step < 3, "position_step")
        altitude_step, source = decoder.uniform(2), decoder.uniform(4)
        require(source < 3, "source")
    fix = {"type": 3, "sequence": sequence, "source": source, "position_step": step,
           "altitude_step": altitude_step, **dict.fromkeys(OPTIONAL_FIELDS)}
    known = {field for place, field in enumerate(OPTIONAL_FIELDS) if mask >> (6 - place) & 1}

    fix["time"], interval = _decode_time(decoder, anchor)
    if "speed" in known:
        before = known_before["speed"]
        speed = (before + decoder.integer(rc.SPEED_CHANGE, interval) if interval <= 1
                 else decoder.integer(rc.SPEED, speed_instance(before)))
        fix["speed"] = within(speed, 0, SPEED_LIMIT - 1)

    degree = POSITION_STEPS[step][0]
    difference = decoder.integer(rc.LATITUDE, latitude_instance(interval, fix["speed"]))
    before = bring_to(anchor["latitude"], anchor["position_step"], step)
    fix["latitude"] = within(before + difference, -90 * degree, 90 * degree)
    difference = decoder.integer(rc.LONGITUDE, longitude_instance(interval, difference))
    before = bring_to(anchor["longitude"], anchor["position_step"], step)
    fix["longitude"] = within(before + difference, -180 * degree, 180 * degree)

    if "altitude" in known:
        before = bring_to(known_before["altitude"], anchor["altitude_step"], altitude_step)
        fix["altitude"] = within(before + decoder.integer(rc.ALTITUDE, interval),
                                 -ALTITUDE_LIMIT, ALTITUDE_LIMIT - 1)
    for field in ("horizontal_accuracy", "vertical_accuracy"):
        if field in known:
            code = known_before[field] + decoder.integer(rc.ACCURACY, min(interval, 2))
            fix[field] = within(code, 0, SIMPLE_FIELDS[field][0])
    for field in ("course", "heading"):
        if field in known:
            fix[field] = (decoder.uniform(180) if interval >= 2 else
                          (known_before[field] + decoder.integer(rc.ANGLE, interval)) % 180)
    if "battery" in known:
        percent = known_before["battery"] - decoder.integer(rc.BATTERY, interval)
        fix["battery"] = within(percent, 0, SIMPLE_FIELDS["battery"][0])
    return fix


def _decode_time(decoder, anchor):
    """The time and the interval class."""
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
    time = 1000 * (second - seconds if backward else second + seconds) + rest
    return within(time, -TIME_LIMIT, TIME_LIMIT - 1), interval_class(seconds)


# Encoding

def encode_live_fix(fix, anchor):
    """The low byte and the payload of a fix."""
    check_fix(fix)
    check_fix(anchor)
    distance = fix["sequence"] - anchor["sequence"]
    if not 1 <= distance <= LONGEST_DISTANCE:
        raise ProtocolError("invalid_field", "anchor")
    return fix["sequence"] & 0xFF, payload_unchecked(fix, anchor, distance)


def payload_unchecked(fix, anchor, distance):
    """The payload, whatever the values and the distance are."""
    known_before = {field: anchor[field] or 0 for field in OPTIONAL_FIELDS}
    encoder = rc.RangeEncoder()
    encoder.gamma(distance)

    shape, shape_before = ((known_mask(each), each["position_step"], each["altitude_step"],
                            each["source"]) for each in (fix, anchor))
    encoder.decision(rc.SHAPE, shape != shape_before)
    if shape != shape_before:
        for value, count in zip(shape, (128, 4, 2, 4)):
            encoder.uniform(value, count)

    interval = _encode_time(encoder, fix, anchor)
    if fix["speed"] is not None:
        before = known_before["speed"]
        if interval <= 1:
            encoder.integer(fix["speed"] - before, rc.SPEED_CHANGE, interval)
        else:
            encoder.integer(fix["speed"], rc.SPEED, speed_instance(before))

    step, step_before = fix["position_step"], anchor["position_step"]
    north = fix["latitude"] - bring_to(anchor["latitude"], step_before, step)
    encoder.integer(north, rc.LATITUDE, latitude_instance(interval, fix["speed"]))
    east = fix["longitude"] - bring_to(anchor["longitude"], step_before, step)
    encoder.integer(east, rc.LONGITUDE, longitude_instance(interval, north))

    if fix["altitude"] is not None:
        before = bring_to(known_before["altitude"], anchor["altitude_step"], fix["altitude_step"])
        encoder.integer(fix["altitude"] - before, rc.ALTITUDE, interval)
    for field in ("horizontal_accuracy", "vertical_accuracy"):
        if fix[field] is not None:
            encoder.integer(fix[field] - known_before[field], rc.ACCURACY, min(interval, 2))
    for field in ("course", "heading"):
        if fix[field] is None:
            continue
        if interval >= 2:
            encoder.uniform(fix[field], 180)
        else:
            angle = (fix[field] - known_before[field] + 90) % 180 - 90
            encoder.integer(angle, rc.ANGLE, interval)
    if fix["battery"] is not None:
        encoder.integer(known_before["battery"] - fix["battery"], rc.BATTERY, interval)
    return encoder.payload()


def _encode_time(encoder, fix, anchor):
    """Writes the time; returns the interval class."""
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
    return interval_class(seconds)
