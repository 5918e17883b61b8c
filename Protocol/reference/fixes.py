"""The codes of a fix (section 5) and the absolute fix (section 6)."""

from wire import require

MAX_SEQUENCE = 4_294_967_294
TIME_LIMIT = 1 << 47

# Fields that may be unknown, in the order of the mask and of the payload.
OPTIONAL_FIELDS = ("altitude", "horizontal_accuracy", "vertical_accuracy",
                   "speed", "course", "heading", "battery")

# Largest code of the optional fields that have no escape, and their bits.
SIMPLE_FIELDS = {"horizontal_accuracy": (126, 7), "vertical_accuracy": (126, 7),
                 "course": (179, 8), "heading": (179, 8), "battery": (100, 7)}

# By position step: steps in a degree, bits of the latitude, of the longitude.
POSITION_STEPS = ((10 ** 5, 25, 26), (10 ** 6, 28, 29), (10 ** 7, 31, 32))

ALTITUDE_OFFSET = 1000
ALTITUDE_ESCAPE = 16383
ALTITUDE_LIMIT = 1 << 23
SPEED_ESCAPE = 511
SPEED_LIMIT = 1 << 20


# Codes

def accuracy_value(code):
    """The millimetres of an accuracy code, from the formula."""
    if not 0 <= code <= 126:
        raise ValueError(f"{code} is no accuracy code")
    if code < 10:
        return 10 * code
    power = code - 10
    # 100 * 1.09 ** power in whole numbers, rounded to the nearest.
    numerator, denominator = 100 * 109 ** power, 100 ** power
    return (2 * numerator + denominator) // (2 * denominator)


ACCURACY_TABLE = [accuracy_value(code) for code in range(127)]


def accuracy_code(millimetres):
    """The code of the nearest value, the smaller code of two equally near ones; code 0 only for 0."""
    if millimetres < 0:
        raise ValueError("an accuracy is not negative")
    codes = range(0 if millimetres == 0 else 1, 127)
    return min(codes, key=lambda code: (abs(ACCURACY_TABLE[code] - millimetres), code))


def accuracy_table_of_text(text):
    """The accuracy table in the text of the protocol."""
    values = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == 11 and cells[0] == str(len(values)) and cells[1].isdigit():
            values += [int(cell) for cell in cells[1:] if cell]
    return values


def complete_sequence(low_bits, bits, reference):
    """The number ending in these bits that is nearest to the reference.

    Only numbers in 0 … 2^32 - 1 count; of two equally near ones, the lower counts.
    """
    period = 1 << bits
    base = reference // period * period + low_bits
    candidates = [number for number in (base - period, base, base + period)
                  if 0 <= number < 1 << 32]
    return min(candidates, key=lambda number: (abs(number - reference), number))


def upper_bytes(sequence):
    """The bytes of a short sequence that are not sent but covered by the CRC (step 4 of section 3)."""
    return (sequence >> 16).to_bytes(2, "big") if sequence >> 16 else b""


def unsent_bytes(payload, low_byte, reference):
    """The same bytes, given the payload of an absolute fix, whose sequence is completed around the reference."""
    if len(payload) < 3 or payload[1] >> 7:
        return b""
    # The sequence follows 9 bits, or 16 if there is a mask.
    high = payload[2] if payload[0] >> 7 else (payload[1] << 1 | payload[2] >> 7) & 0xFF
    return upper_bytes(complete_sequence(high << 8 | low_byte, 16, reference))


def time_form(time):
    """The first time form that is exact."""
    seconds, milliseconds = divmod(time, 1000)
    if not 0 <= seconds < 1 << 32:
        return 3
    if milliseconds == 0:
        return 0
    return 1 if milliseconds % 100 == 0 else 2


def check_fix(fix):
    """Raise invalid_field if a code is outside its range."""
    def within(field, low, high):
        require(isinstance(fix[field], int) and low <= fix[field] <= high, field)

    within("sequence", 0, MAX_SEQUENCE)
    within("time", -TIME_LIMIT, TIME_LIMIT - 1)
    within("source", 0, 2)
    within("position_step", 0, 2)
    within("altitude_step", 0, 1)
    degree = POSITION_STEPS[fix["position_step"]][0]
    within("latitude", -90 * degree, 90 * degree)
    within("longitude", -180 * degree, 180 * degree)
    if fix["altitude"] is not None:
        within("altitude", -ALTITUDE_LIMIT, ALTITUDE_LIMIT - 1)
    if fix["speed"] is not None:
        within("speed", 0, SPEED_LIMIT - 1)
    for field, (largest, _) in SIMPLE_FIELDS.items():
        if fix[field] is not None:
            within(field, 0, largest)


# Absolute fix

def decode_absolute_fix(reader, low_byte, reference):
    """The codes of the fix, and whether the sequence was sent in the wide form."""
    partial, form, fix = read_head(reader)
    wide = reader.read(1)
    mask = reader.read(7) if partial else 0x7F
    if wide:
        sequence = reader.read(24) << 8 | low_byte
    else:
        sequence = complete_sequence(reader.read(8) << 8 | low_byte, 16, reference)
    require(sequence <= MAX_SEQUENCE, "sequence")
    fix.update(type=2, sequence=sequence)
    read_body(reader, fix, form, mask)
    return fix, {"wide": bool(wide)}


def read_head(reader):
    """Read the fields from partial to source. Returns partial, the time form, and a fix with the other fields."""
    partial, form = reader.read(1), reader.read(2)
    fix = {"position_step": reader.read(2)}
    require(fix["position_step"] < 3, "position_step")
    fix["altitude_step"] = reader.read(1)
    fix["source"] = reader.read(2)
    require(fix["source"] < 3, "source")
    return partial, form, fix


def read_body(reader, fix, form, mask):
    """Read the fields from time to battery into the fix."""
    fix["time"] = _read_time(reader, form)
    degree, latitude_bits, longitude_bits = POSITION_STEPS[fix["position_step"]]
    for field, bits, limit in (("latitude", latitude_bits, 90 * degree),
                               ("longitude", longitude_bits, 180 * degree)):
        fix[field] = reader.read(bits) - limit
        require(fix[field] <= limit, field)
    for number, field in enumerate(OPTIONAL_FIELDS):
        known = mask >> (6 - number) & 1
        fix[field] = _read_optional(reader, field) if known else None


def _read_time(reader, form):
    if form == 3:
        return reader.read_signed(48)
    time = 1000 * reader.read(32)
    if form == 1:
        tenths = reader.read(4)
        require(tenths <= 9, "time")
        time += 100 * tenths
    elif form == 2:
        milliseconds = reader.read(10)
        require(milliseconds <= 999, "time")
        time += milliseconds
    return time


def _read_optional(reader, field):
    if field == "altitude":
        short = reader.read(14)
        if short == ALTITUDE_ESCAPE:
            return reader.read_signed(24)
        return short - ALTITUDE_OFFSET
    if field == "speed":
        short = reader.read(9)
        return reader.read(20) if short == SPEED_ESCAPE else short
    largest, bits = SIMPLE_FIELDS[field]
    code = reader.read(bits)
    require(code <= largest, field)
    return code


def encode_absolute_fix(writer, fix, wide=True):
    """Write the payload in its only canonical form. Returns the low byte."""
    check_fix(fix)
    mask = write_head(writer, fix)
    writer.write(wide, 1)
    if mask != 0x7F:
        writer.write(mask, 7)
    if wide:
        writer.write(fix["sequence"] >> 8, 24)
    else:
        writer.write(fix["sequence"] >> 8 & 0xFF, 8)
    write_body(writer, fix)
    return fix["sequence"] & 0xFF


def known_mask(fix):
    """The mask of the known fields."""
    mask = 0
    for field in OPTIONAL_FIELDS:
        mask = mask << 1 | (fix[field] is not None)
    return mask


def write_head(writer, fix):
    """Write the fields from partial to source. Returns the mask."""
    mask = known_mask(fix)
    writer.write(mask != 0x7F, 1)
    writer.write(time_form(fix["time"]), 2)
    writer.write(fix["position_step"], 2)
    writer.write(fix["altitude_step"], 1)
    writer.write(fix["source"], 2)
    return mask


def write_body(writer, fix):
    """Write the fields from time to battery."""
    form = time_form(fix["time"])
    seconds, milliseconds = divmod(fix["time"], 1000)
    if form == 3:
        writer.write_signed(fix["time"], 48)
    else:
        writer.write(seconds, 32)
        if form == 1:
            writer.write(milliseconds // 100, 4)
        elif form == 2:
            writer.write(milliseconds, 10)

    degree, latitude_bits, longitude_bits = POSITION_STEPS[fix["position_step"]]
    writer.write(fix["latitude"] + 90 * degree, latitude_bits)
    writer.write(fix["longitude"] + 180 * degree, longitude_bits)
    for field in OPTIONAL_FIELDS:
        if fix[field] is not None:
            _write_optional(writer, field, fix[field])


def _write_optional(writer, field, value):
    if field == "altitude":
        if 0 <= value + ALTITUDE_OFFSET < ALTITUDE_ESCAPE:
            writer.write(value + ALTITUDE_OFFSET, 14)
        else:
            writer.write(ALTITUDE_ESCAPE, 14)
            writer.write_signed(value, 24)
    elif field == "speed":
        if value < SPEED_ESCAPE:
            writer.write(value, 9)
        else:
            writer.write(SPEED_ESCAPE, 9)
            writer.write(value, 20)
    else:
        writer.write(value, SIMPLE_FIELDS[field][1])
