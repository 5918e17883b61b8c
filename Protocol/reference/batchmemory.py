"""The state that both ends of a batch keep from fix to fix (section 12), and the values computed from it."""

from fixes import OPTIONAL_FIELDS

LONGEST_NEAR = 20
LARGEST_MOVE = 1 << 20
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


def towards_zero(number, divisor):
    """A quotient, rounded towards 0."""
    quotient = abs(number) // divisor
    return -quotient if number < 0 else quotient


class Memory:
    """The state from fix to fix. Each part of a fix changes it."""

    def __init__(self, start):
        self.before = start
        self.last = {field: start[field] or 0 for field in OPTIONAL_FIELDS}
        self.interval = 1
        self.history = 0
        self._rest_step = 0
        self._velocity = None  # of latitude and longitude
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

    def expected(self, field):
        """The expected latitude or longitude."""
        move = 0
        if self._velocity is not None and self.near:
            move = (self._velocity[field] * self.interval + 32) >> 6
        return self.before[field] + move

    def latitude_instance(self):
        """The instance of position for the latitude."""
        return min(8, class_of((3 * self._sizes["latitude"] + self._sizes["longitude"]) >> 4))

    def longitude_instance(self, north):
        """The instance of position for the longitude, from the difference that was coded for the latitude."""
        return min(8, class_of((2 * self._sizes["longitude"] + self._sizes["latitude"] + limited(north)) >> 4))

    def take_position(self, fix, north, east):
        """Take the position of a fix, and the differences that were coded for it."""
        self.grow("latitude", north)
        self.grow("longitude", east)
        if not 1 <= self.interval <= LONGEST_NEAR:
            self._velocity = None
            return
        now = {}
        for field in ("latitude", "longitude"):
            moved = min(max(fix[field] - self.before[field], -LARGEST_MOVE), LARGEST_MOVE)
            now[field] = towards_zero(64 * moved, self.interval)
            if self._velocity is not None:
                old = self._velocity[field]
                now[field] = old + (3 * (now[field] - old) >> 3)
        self._velocity = now

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
