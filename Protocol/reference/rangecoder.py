"""The range coder (section 11): both directions, blocks, the contexts of live fixes.

The probabilities are read from the table in PROTOCOL.md. Batches have contexts of
their own, see batchcoder.
"""

from pathlib import Path

from wire import ProtocolError

TOP = 1 << 24
MASK = (1 << 32) - 1
CONTEXTS = 1486
LARGEST_EXPONENT = 48
TEXT = Path(__file__).resolve().parent.parent / "PROTOCOL.md"


def priors_of_text(text):
    """The probabilities of 0 in the text of the protocol."""
    table = text.split("\nProbabilities of 0 ", 1)[1].split("```")[1]
    priors = [int(number) for number in table.split()]
    if len(priors) != CONTEXTS or not all(0 < prior < 256 for prior in priors):
        raise ValueError("the table of probabilities is wrong")
    return priors


PRIORS = priors_of_text(TEXT.read_text("utf-8"))


class Block:
    """The places of the contexts of an integer."""

    def __init__(self, first, instances, exponents, depth, signed):
        self.first, self.instances, self.e, self.d = first, instances, exponents, depth
        self.signed = signed
        self.exponents_at = 1 + signed
        self.bits_at = [0]  # offset of the contexts of exponent x, x = 1 … e
        offset = self.exponents_at + exponents
        for exponent in range(1, exponents + 1):
            self.bits_at.append(offset)
            offset += (1 << min(exponent, depth)) - 1
        self.size = offset

    def start(self, instance):
        """The first context of an instance."""
        if not 0 <= instance < self.instances:
            raise IndexError(instance)
        return self.first + instance * self.size


SHAPE, SCHEDULED, SCHEDULE, STILL, SAME_REST, BACKWARD = 0, 1, 13, 75, 87, 123
DECISIONS = {SHAPE: 1, SCHEDULED: 12, SCHEDULE: 62, STILL: 12, SAME_REST: 3, BACKWARD: 1}
REST = Block(90, 3, 9, 0, True)
MINUTES = Block(124, 1, 8, 3, False)
SECONDS = Block(179, 1, 5, 2, False)
SECOND_REST = Block(198, 3, 5, 4, True)
SPEED_CHANGE = Block(342, 2, 6, 1, True)
SPEED = Block(370, 2, 6, 1, False)
LATITUDE = Block(396, 30, 10, 0, True)
LONGITUDE = Block(756, 42, 10, 0, True)
ALTITUDE = Block(1260, 6, 8, 1, True)
ACCURACY = Block(1368, 3, 5, 1, True)
ANGLE = Block(1404, 2, 7, 0, True)
BATTERY = Block(1422, 8, 6, 0, True)
BLOCKS = (REST, MINUTES, SECONDS, SECOND_REST, SPEED_CHANGE, SPEED, LATITUDE, LONGITUDE,
          ALTITUDE, ACCURACY, ANGLE, BATTERY)


class RangeDecoder:
    """Reads a payload, and zeros after its end."""

    def __init__(self, payload):
        self._bytes = iter(payload)
        self._range = MASK
        self._code = 0
        for _ in range(4):
            self._code = self._code << 8 | next(self._bytes, 0)

    def _refill(self):
        while self._range < TOP:
            self._range <<= 8
            self._code = (self._code << 8 | next(self._bytes, 0)) & MASK

    def decision(self, context):
        """0 or 1 with the probability of a context."""
        bound = (self._range >> 8) * PRIORS[context]
        if self._code < bound:
            self._range = bound
            bit = 0
        else:
            self._code -= bound
            self._range -= bound
            bit = 1
        if self._range < TOP:
            self._refill()
        return bit

    def uniform(self, count):
        """A value below count, all equally probable."""
        self._range //= count
        value = min(self._code // self._range, count - 1)
        self._code -= value * self._range
        self._refill()
        return value

    def gamma(self):
        """An Elias gamma code with at most 30 zero bits."""
        zeros = 0
        while self.uniform(2) == 0:
            zeros += 1
            if zeros > 30:
                raise ProtocolError("invalid_field", "distance")
        value = 1
        for _ in range(zeros):
            value = value << 1 | self.uniform(2)
        return value

    def integer(self, block, instance=0):
        """An integer in an instance of a block."""
        start = block.start(instance)
        if self.decision(start):
            return 0
        negative = block.signed and self.decision(start + 1)
        exponent = 0
        while exponent < LARGEST_EXPONENT and self.decision(
                start + block.exponents_at + min(exponent, block.e - 1)):
            exponent += 1
        magnitude = node = 1
        contexts = start + block.bits_at[min(exponent, block.e)] - 1
        for place in range(exponent):
            if place < block.d:
                bit = self.decision(contexts + node)
                node = 2 * node + bit
            else:
                bit = self.uniform(2)
            magnitude = 2 * magnitude + bit
        return -magnitude if negative else magnitude


class RangeEncoder:
    """Writes a payload. The lower end of the range is one long integer, so carries need no code."""

    def __init__(self):
        self._low = 0
        self._bytes = 4  # the lower end is a fraction with this many bytes
        self._range = MASK

    def _flush(self):
        while self._range < TOP:
            self._range <<= 8
            self._low <<= 8
            self._bytes += 1

    def decision(self, context, bit):
        """A decision with the probability of a context."""
        bound = (self._range >> 8) * PRIORS[context]
        if bit:
            self._low += bound
            self._range -= bound
        else:
            self._range = bound
        self._flush()

    def uniform(self, value, count):
        """A value below count."""
        if not 0 <= value < count <= 65_536:
            raise ValueError(f"{value} is no value below {count}")
        self._range //= count
        self._low += value * self._range
        self._flush()

    def gamma(self, value):
        """An Elias gamma code."""
        length = value.bit_length()
        for place in range(2 * length - 2, -1, -1):
            self.uniform(value >> place & 1, 2)

    def integer(self, value, block, instance=0):
        """An integer in an instance of a block."""
        start = block.start(instance)
        self.decision(start, value == 0)
        if value == 0:
            return
        if block.signed:
            self.decision(start + 1, value < 0)
        elif value < 0:
            raise ValueError("this block has no sign")
        magnitude = abs(value)
        exponent = magnitude.bit_length() - 1
        if exponent > LARGEST_EXPONENT:
            raise ValueError("the integer is too long")
        for place in range(min(exponent + 1, LARGEST_EXPONENT)):
            self.decision(start + block.exponents_at + min(place, block.e - 1), place < exponent)
        node = 1
        contexts = start + block.bits_at[min(exponent, block.e)] - 1
        for place in range(exponent):
            bit = magnitude >> (exponent - 1 - place) & 1
            if place < block.d:
                self.decision(contexts + node, bit)
                node = 2 * node + bit
            else:
                self.uniform(bit, 2)

    def number(self, bits=0):
        """The fewest bits, `bits` and whole bytes, that hold a number in the range, and the smallest such number."""
        while True:
            unit = 1 << 8 * self._bytes - bits
            number = -(-self._low // unit)
            if number * unit < self._low + self._range:
                return bits, number
            bits += 8

    def payload(self):
        """The fewest bytes that hold a number in the range; of these numbers the smallest."""
        bits, number = self.number()
        return number.to_bytes(bits // 8, "big")
