"""The state that both ends of a batch keep from fix to fix (section 12), and the values computed from it."""

from fixes import OPTIONAL_FIELDS, POSITION_STEPS

LONGEST_NEAR = 20
LARGEST_MOVE = 1 << 20
LARGEST_VELOCITY = 1 << 26
FIRST_SIZES = {"latitude": 32, "longitude": 32, "altitude": 16, "speed": 32, "course": 64, "heading": 64}
SIZE_AFTER_PAUSE = 1000


def rest_of(time):
    """The rest of a time, or of a difference of times: -500 … 499."""
    return (time + 500) % 1000 - 500


def class_of(number):
    """The class k of a number."""
    if number < 2:
        return number
    bits = number.bit_length()
    return 2 * bits - 2 + (number >> bits - 2 & 1)


def limited(difference):
    """The limited magnitude of a difference, in sixteenths, with which a size grows."""
    return 16 * min(abs(difference), 4095)


def wrapped(longitude, turn):
    """A longitude in steps, brought to -180 to 180 degrees by one full turn at most."""
    if longitude > turn // 2:
        return longitude - turn
    return longitude + turn if longitude < -turn // 2 else longitude


def towards_zero(number, divisor):
    """A quotient, rounded towards 0."""
    quotient = abs(number) // divisor
    return -quotient if number < 0 else quotient


def away_from_zero(number, divisor):
    """A quotient, rounded to the nearest whole number, halves away from 0."""
    quotient = (2 * abs(number) + divisor) // (2 * divisor)
    return -quotient if number < 0 else quotient


class Memory:
    """The state from fix to fix. Each part of a fix changes it."""

    def __init__(self, start):
        self.before = start
        self.last = {field: start[field] or 0 for field in OPTIONAL_FIELDS}
        self.interval = 1
        self.history = 0
        self._rest_step = 0
        self._step = self._finest = start["position_step"]
        self._place = {field: start[field] for field in ("latitude", "longitude")}  # in the finest step
        self._velocity = None  # of latitude and longitude, in 64ths of the finest step a second
        self._sizes = dict(FIRST_SIZES)

    # Time

    def origin(self):
        """The kind of the rest, and the origin from which the time is counted."""
        time = self.before["time"]
        rest = rest_of(time)
        if self._rest_step != 0 or abs(rest) > 8:
            return 2, time + self._rest_step
        return int(rest != 0), time - rest

    def take_time(self, time, interval, same):
        """Take the time and the interval of a fix; `same` tells whether the interval is unchanged."""
        step = rest_of(time - self.before["time"])
        self._rest_step = step if abs(step) > 8 else 0
        self.interval = interval
        if self.history == 0 and not self.near:
            self._sizes["latitude"] = self._sizes["longitude"] = SIZE_AFTER_PAUSE
        self.history = 2 if same else 1

    @property
    def near(self):
        """Whether the fix is near."""
        return 0 <= self.interval <= LONGEST_NEAR

    # Position

    def convert(self, step):
        """Change the position step. What is remembered in that step is converted, and the finest step never gets coarser."""
        finer = step - self._step
        for field in ("latitude", "longitude"):
            self._sizes[field] = self._sizes[field] * 10 ** finer if finer > 0 else self._sizes[field] // 10 ** -finer
        self._step = step
        if step > self._finest:
            factor = 10 ** (step - self._finest)
            self._finest = step
            self._place = {field: place * factor for field, place in self._place.items()}
            if self._velocity is not None:
                self._velocity = {field: min(max(old * factor, -LARGEST_VELOCITY), LARGEST_VELOCITY)
                                  for field, old in self._velocity.items()}

    def east(self, longitude):
        """The difference of a longitude from the expected one, across the meridian of 180 degrees if that is shorter."""
        expected = self.expected("longitude")
        # The ways of a longitude out of range, which only invalid vectors have, are a turn longer.
        ways = [longitude - expected + around for around in (0, -self._turn, self._turn)]
        leading = [way for way in ways if wrapped(expected + way, self._turn) == longitude]
        return min(leading, key=abs)

    @property
    def _turn(self):
        return 360 * POSITION_STEPS[self._step][0]

    @property
    def _factor(self):
        """The number of finest steps in the position step."""
        return 10 ** (self._finest - self._step)

    def _expected_place(self, field):
        """The expected place, in the finest step."""
        move = 0
        if self._velocity is not None and self.near:
            move = (self._velocity[field] * self.interval + 32) >> 6
        return self._place[field] + move

    def expected(self, field):
        """The expected latitude or longitude, in the position step."""
        return away_from_zero(self._expected_place(field), self._factor)

    def latitude_instance(self):
        """The instance of position for the latitude."""
        return min(8, class_of((3 * self._sizes["latitude"] + self._sizes["longitude"]) >> 4))

    def longitude_instance(self, north):
        """The instance of position for the longitude, from the difference that was coded for the latitude."""
        return min(8, class_of((2 * self._sizes["longitude"] + self._sizes["latitude"] + limited(north)) >> 4))

    def take_position(self, north, east):
        """Take the differences that were coded for the position of a fix."""
        self.grow("latitude", north)
        self.grow("longitude", east)
        moved = {"latitude": self._move("latitude", north), "longitude": self._move("longitude", east)}
        if not 1 <= self.interval <= LONGEST_NEAR:
            self._velocity = None
            return
        now = {}
        for field, way in moved.items():
            now[field] = towards_zero(64 * min(max(way, -LARGEST_MOVE), LARGEST_MOVE), self.interval)
            if self._velocity is not None:
                old = self._velocity[field]
                now[field] = old + (3 * (now[field] - old) >> 3)
        self._velocity = now

    def _move(self, field, difference):
        """Move the place to that of a fix, and return the way in the finest step.

        Of the places that a coarser position step does not tell apart, the one nearest to the expected place is taken.
        """
        middle, half = (self.expected(field) + difference) * self._factor, self._factor // 2
        place = min(max(self._expected_place(field), middle - half), middle + half)
        way = place - self._place[field]
        self._place[field] = wrapped(place, self._turn * self._factor) if field == "longitude" else place
        return way

    # The other fields

    def size_class(self, field, highest):
        """The instance of altitude or speed change."""
        return min(highest, class_of(self._sizes[field] >> 3))

    def angle_instance(self, field):
        """The instance of angle for course or heading."""
        return int(self._sizes[field] >= 32)

    def battery_instance(self):
        """The instance of battery."""
        return sum(self.interval > limit for limit in (20, 250, 1000, 3000))

    def grow(self, field, difference):
        """Let the size of a field grow with a difference that was coded."""
        self._sizes[field] = (self._sizes[field] + limited(difference)) >> 1

    def take(self, fix):
        """Take the whole fix."""
        self.before = fix
        self.last.update((field, fix[field]) for field in OPTIONAL_FIELDS if fix[field] is not None)
