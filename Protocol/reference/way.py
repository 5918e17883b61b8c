"""Expects the position of a live fix (section 11, steps 8 to 10) from the way since the anchor and the direction of travel."""

import rangecoder as rc

LONGEST_WAY = 131_071
ENDS = (8, 24, 40, 64, 112, 192, 384)


def sines_of_text(text):
    """The sines of 0 … 90 degrees times 2^15 as they stand in the text of the protocol."""
    line = text.split("\nThe sines of 0, 1, 2, … 90 degrees times 2¹⁵: ", 1)[1].split("\n", 1)[0]
    sines = [int(number) for number in line.rstrip(".").split(",")]
    if len(sines) != 91:
        raise ValueError("the table of sines is wrong")
    return sines


SINES = sines_of_text(rc.TEXT.read_text("utf-8"))


def bring_to(value, step, new_step):
    """Converts a value from one decimal step to another, and rounds halves away from zero."""
    if new_step >= step:
        return value * 10 ** (new_step - step)
    unit = 10 ** (step - new_step)
    magnitude = (2 * abs(value) + unit) // (2 * unit)
    return -magnitude if value < 0 else magnitude


def speed_before(fix, anchor):
    """The anchor's speed; where that is unknown, the fix's."""
    return fix["speed"] if anchor["speed"] is None else anchor["speed"]


def way_since(fix, anchor, interval):
    """The way in sixteenths of a step of the latitude, or None."""
    elapsed = fix["time"] - anchor["time"]
    if fix["speed"] is None or interval > 1 or elapsed <= 0:
        return None
    speeds = fix["speed"] + speed_before(fix, anchor)
    return min(LONGEST_WAY, speeds * elapsed * 10 ** fix["position_step"] * 48_282 >> 26)


def cosine(latitude, step):
    """2^14 times the cosine of a latitude, linear between whole degrees. From 89 degrees on it is the value of 89 degrees."""
    degree = 100_000 * 10 ** step
    whole, hundredths = abs(latitude) // degree, abs(latitude) % degree // (degree // 100)
    if whole >= 89:
        whole, hundredths = 89, 0
    here, further = SINES[90 - whole], SINES[89 - whole]
    return (100 * here - (here - further) * hundredths) // 200


def direction(fix, anchor):
    """The mean of the courses of fix and anchor, in degrees.

    The anchor's course does not count if it is unknown or the anchor's speed is below 2. None if the fix's course is unknown or
    the fix's speed is below 2.
    """
    if fix["course"] is None or fix["speed"] < 2:
        return None
    before = anchor["course"]
    if before is None or speed_before(fix, anchor) < 2:
        return 2 * fix["course"]
    return 2 * before + (fix["course"] - before + 90) % 180 - 90


def part(way, degrees):
    """The component of the way along an axis that is `degrees` away from it: magnitude and sign."""
    quarter, rest = divmod(degrees % 360, 90)
    sine = SINES[rest] if quarter % 2 else SINES[90 - rest]
    return way * sine >> 15, -1 if quarter in (1, 2) else 1


def way_class(square, scale):
    """Counts the ends of classes whose square is at most `square`. Each end is multiplied by scale / 2^14."""
    return sum(square >= (end * scale >> 14) ** 2 for end in ENDS) if square >= 0 else 0


class Expected:
    """The values that encoder and decoder both compute before they code the position, from the fields coded earlier."""

    def __init__(self, fix, anchor, interval):
        step = fix["position_step"]
        self.latitude, self.longitude = (bring_to(anchor[field], anchor["position_step"], step)
                                         for field in ("latitude", "longitude"))
        self._interval, self._moves = interval, fix["speed"] is not None and fix["speed"] >= 2
        self._cosine = cosine(self.latitude, step)
        self._way = way_since(fix, anchor, interval)
        degrees = None if self._way is None else direction(fix, anchor)
        self._directed = degrees is not None
        if self._directed:
            size, sign = part(self._way, degrees)
            self.latitude += sign * (size + 8 >> 4)
            size, sign = part(self._way, degrees - 90)
            self.longitude += sign * ((size << 14) // self._cosine + 8 >> 4)

    def latitude_instance(self):
        """The instance of latitude."""
        if self._directed:
            return 28 + self._interval
        if self._way is not None:
            return 12 + 8 * self._interval + way_class(self._way ** 2, 1 << 14)
        return 2 * self._interval + self._moves

    def longitude_instance(self, north):
        """The instance for the longitude. `north` is the value that was coded for the latitude."""
        if self._directed:
            return 40 + self._interval
        if self._way is not None:
            return 24 + 8 * self._interval + way_class(self._way ** 2 - (16 * north) ** 2, self._cosine)
        return 4 * self._interval + min(3, (abs(north).bit_length() + 1) // 2)
