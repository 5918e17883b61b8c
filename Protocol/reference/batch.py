"""The batch (section 12): up to 64 fixes of a log in one frame."""

import batchcoder as bc
import fixes as codes
from batchmemory import Memory, rest_of, wrapped
from fixes import ALTITUDE_LIMIT, MAX_SEQUENCE, OPTIONAL_FIELDS, POSITION_STEPS, SIMPLE_FIELDS, SPEED_LIMIT, TIME_LIMIT
from live import LONGEST_SECONDS, within
from wire import BitWriter, require

MOST_FIXES = 64
ACCURACIES = ("horizontal_accuracy", "vertical_accuracy")
DIRECTIONS = ("course", "heading")


# Decoding

def decode_batch(reader, low_byte, _reference):
    """The fixes of the batch."""
    count = reader.read(6) + 1
    start = _read_start(reader, low_byte)
    decoder, memory, found = bc.BatchDecoder(reader), Memory(start), [start]
    while len(found) < count:
        found.append(_decode_fix(decoder, memory))
    return {"fixes": found}, {}


def _read_start(reader, low_byte):
    partial, form, start = codes.read_head(reader)
    mask = reader.read(7) if partial else 0x7F
    start["sequence"] = reader.read(24) << 8 | low_byte
    require(start["sequence"] <= MAX_SEQUENCE, "sequence")
    codes.read_body(reader, start, form, mask)
    return start


def _decode_fix(decoder, memory):
    last = memory.last
    sequence = memory.before["sequence"] + 1 + decoder.integer(bc.GAP)
    require(sequence <= MAX_SEQUENCE, "sequence")
    source, step, known = _decode_shape(decoder, memory)
    fix = {"sequence": sequence, "source": source, "position_step": step,
           "altitude_step": memory.before["altitude_step"], **dict.fromkeys(OPTIONAL_FIELDS)}
    fix["time"] = _decode_time(decoder, memory)
    if "speed" in known:
        fix["speed"] = _decode_speed(decoder, memory)
    _decode_position(decoder, memory, fix)
    if "altitude" in known:
        difference = decoder.integer(bc.ALTITUDE, memory.size_class("altitude", 4))
        fix["altitude"] = within(last["altitude"] + difference, -ALTITUDE_LIMIT, ALTITUDE_LIMIT - 1)
        memory.grow("altitude", difference)
    for field in ACCURACIES:
        if field in known:
            fix[field] = within(last[field] + decoder.integer(bc.ACCURACY), 0, SIMPLE_FIELDS[field][0])
    for field in DIRECTIONS:
        if field in known:
            fix[field] = _decode_direction(decoder, memory, field)
    if "battery" in known:
        percent = last["battery"] + decoder.integer(bc.BATTERY, memory.battery_instance())
        fix["battery"] = within(percent, 0, SIMPLE_FIELDS["battery"][0])
    memory.take(fix)
    return fix


def other_steps(step):
    """The position steps besides one."""
    return [other for other in range(len(POSITION_STEPS)) if other != step]


def _decode_shape(decoder, memory):
    """The source, the position step and the set of the known fields. Another step changes the memory."""
    before = memory.before
    source, step = before["source"], before["position_step"]
    known = {field for field in OPTIONAL_FIELDS if before[field] is not None}
    if decoder.decision(bc.SHAPE):
        if decoder.decision(bc.SHAPE + 1):
            if decoder.decision(bc.STEP):
                step = other_steps(step)[decoder.decision(bc.STEP + 1)]
                memory.convert(step)
            else:
                source = decoder.uniform(4)
                require(source < 3, "source")
        known ^= {field for place, field in enumerate(OPTIONAL_FIELDS) if decoder.decision(bc.SHAPE + 2 + place)}
    return source, step, known


def _decode_time(decoder, memory):
    kind, origin = memory.origin()
    rest = within(decoder.integer(bc.REST, kind), -500, 499)
    interval, same = memory.interval, not decoder.decision(bc.SAME + memory.history)
    if not same:
        backward = decoder.decision(bc.BACKWARD)
        minutes = decoder.integer(bc.MINUTES)
        if minutes == 0:
            seconds = decoder.integer(bc.SECONDS)
        else:
            seconds = 60 * minutes + decoder.integer(bc.SECOND_REST, int(minutes > 4))
        within(seconds, 0, LONGEST_SECONDS)
        interval = -seconds if backward else seconds
    time = within(origin + rest + 1000 * interval, -TIME_LIMIT, TIME_LIMIT - 1)
    memory.take_time(time, interval, same)
    return time


def _decode_speed(decoder, memory):
    if not memory.near:
        return within(decoder.integer(bc.SPEED), 0, SPEED_LIMIT - 1)
    difference = decoder.integer(bc.SPEED_CHANGE, memory.size_class("speed", 2))
    memory.grow("speed", difference)
    return within(memory.last["speed"] + difference, 0, SPEED_LIMIT - 1)


def _decode_position(decoder, memory, fix):
    degree = POSITION_STEPS[fix["position_step"]][0]
    north = decoder.integer(bc.POSITION, memory.latitude_instance())
    fix["latitude"] = within(memory.expected("latitude") + north, -90 * degree, 90 * degree)
    east = decoder.integer(bc.POSITION, memory.longitude_instance(north))
    longitude = wrapped(memory.expected("longitude") + east, 360 * degree)
    fix["longitude"] = within(longitude, -180 * degree, 180 * degree)
    memory.take_position(north, east)


def _decode_direction(decoder, memory, field):
    if not memory.near:
        return decoder.uniform(180)
    angle = decoder.integer(bc.ANGLE, memory.angle_instance(field))
    memory.grow(field, angle)
    return (memory.last[field] + angle) % 180


# Encoding

def encode_batch(writer, fields):
    """Write the payload of exactly these fixes. Returns the low byte."""
    taken, payload = fill(fields["fixes"])
    if taken != len(fields["fixes"]):
        raise ValueError(f"a batch takes only {taken} of these fixes")
    writer.write(int.from_bytes(payload, "big"), 8 * len(payload))
    return fields["fixes"][0]["sequence"] & 0xFF


def fill(fixes, limit=None):
    """The number of fixes, from the first on, that fit a payload of at most `limit` bytes, and that payload."""
    for fix in fixes[:MOST_FIXES]:
        codes.check_fix(fix)
    encoder, memory = bc.BatchEncoder(), Memory(fixes[0])
    taken, payload = 1, _payload(encoder, fixes[0], 1)
    for fix in fixes[1:MOST_FIXES]:
        require(fix["sequence"] > memory.before["sequence"], "sequence")
        if not may_follow(memory.before, fix):
            break
        encode_fix(encoder, memory, fix)
        longer = _payload(encoder, fixes[0], taken + 1)
        if limit is not None and len(longer) > limit:
            break
        taken, payload = taken + 1, longer
    return taken, payload


def may_follow(before, fix):
    """Whether a fix may follow another one in a batch, as far as steps and source are concerned."""
    return fix["altitude_step"] == before["altitude_step"] and (
        fix["position_step"] == before["position_step"] or fix["source"] == before["source"])


def payload_unchecked(fixes):
    """The payload of the fixes. The values in the coded part may be out of range."""
    encoder, memory = bc.BatchEncoder(), Memory(fixes[0])
    for fix in fixes[1:]:
        encode_fix(encoder, memory, fix)
    return _payload(encoder, fixes[0], len(fixes))


def _payload(encoder, start, count):
    """The payload: the start, and after it the coded part that the encoder holds."""
    writer = BitWriter()
    writer.write(count - 1, 6)
    mask = codes.write_head(writer, start)
    if mask != 0x7F:
        writer.write(mask, 7)
    writer.write(start["sequence"] >> 8, 24)
    codes.write_body(writer, start)
    encoder.end(writer)
    return writer.payload()


def encode_fix(encoder, memory, fix):
    """Write a fix of the coded part."""
    last = memory.last
    encoder.integer(fix["sequence"] - memory.before["sequence"] - 1, bc.GAP)
    _encode_shape(encoder, memory, fix)
    _encode_time(encoder, memory, fix["time"])
    if fix["speed"] is not None:
        _encode_speed(encoder, memory, fix["speed"])

    north = fix["latitude"] - memory.expected("latitude")
    encoder.integer(north, bc.POSITION, memory.latitude_instance())
    east = memory.east(fix["longitude"])
    encoder.integer(east, bc.POSITION, memory.longitude_instance(north))
    memory.take_position(north, east)

    if fix["altitude"] is not None:
        difference = fix["altitude"] - last["altitude"]
        encoder.integer(difference, bc.ALTITUDE, memory.size_class("altitude", 4))
        memory.grow("altitude", difference)
    for field in ACCURACIES:
        if fix[field] is not None:
            encoder.integer(fix[field] - last[field], bc.ACCURACY)
    for field in DIRECTIONS:
        if fix[field] is not None:
            _encode_direction(encoder, memory, field, fix[field])
    if fix["battery"] is not None:
        encoder.integer(fix["battery"] - last["battery"], bc.BATTERY, memory.battery_instance())
    memory.take(fix)


def _encode_shape(encoder, memory, fix):
    before = memory.before
    changes = [(fix[field] is None) != (before[field] is None) for field in OPTIONAL_FIELDS]
    step_changes = fix["position_step"] != before["position_step"]
    another = step_changes or fix["source"] != before["source"]
    encoder.decision(bc.SHAPE, another or any(changes))
    if not another and not any(changes):
        return
    encoder.decision(bc.SHAPE + 1, another)
    if another:
        encoder.decision(bc.STEP, step_changes)
    if step_changes:
        encoder.decision(bc.STEP + 1, other_steps(before["position_step"]).index(fix["position_step"]))
        memory.convert(fix["position_step"])
    elif another:
        encoder.uniform(fix["source"], 4)
    for place, change in enumerate(changes):
        encoder.decision(bc.SHAPE + 2 + place, change)


def _encode_time(encoder, memory, time):
    kind, origin = memory.origin()
    rest = rest_of(time - origin)
    encoder.integer(rest, bc.REST, kind)
    interval = (time - origin - rest) // 1000
    same = interval == memory.interval
    encoder.decision(bc.SAME + memory.history, not same)
    if not same:
        encoder.decision(bc.BACKWARD, interval < 0)
        seconds = abs(interval)
        minutes = (seconds + 30) // 60
        encoder.integer(minutes, bc.MINUTES)
        if minutes == 0:
            encoder.integer(seconds, bc.SECONDS)
        else:
            encoder.integer(seconds - 60 * minutes, bc.SECOND_REST, int(minutes > 4))
    memory.take_time(time, interval, same)


def _encode_speed(encoder, memory, speed):
    if memory.near:
        difference = speed - memory.last["speed"]
        encoder.integer(difference, bc.SPEED_CHANGE, memory.size_class("speed", 2))
        memory.grow("speed", difference)
    else:
        encoder.integer(speed, bc.SPEED)


def _encode_direction(encoder, memory, field, code):
    if memory.near:
        angle = (code - memory.last[field] + 90) % 180 - 90
        encoder.integer(angle, bc.ANGLE, memory.angle_instance(field))
        memory.grow(field, angle)
    else:
        encoder.uniform(code, 180)
