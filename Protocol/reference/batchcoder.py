"""The adaptive range coder of batches (section 12): both directions, and its contexts.

The initial words of the contexts are read from the table in PROTOCOL.md.
"""

from rangecoder import TEXT, Block, RangeDecoder, RangeEncoder

CONTEXTS = 312
LARGEST_COUNT = 30


def words_of_text(text):
    """The words of the contexts in the text of the protocol."""
    table = text.split("\nWords of the contexts ", 1)[1].split("```")[1]
    words = [int(number) for number in table.split()]
    if len(words) != CONTEXTS or not all(32 <= word < 1 << 16 and word % 32 <= LARGEST_COUNT for word in words):
        raise ValueError("the table of words is wrong")
    return words


WORDS = words_of_text(TEXT.read_text("utf-8"))

SHAPE, SAME, BACKWARD, STEP = 5, 44, 47, 310
DECISIONS = {SHAPE: 9, SAME: 3, BACKWARD: 1, STEP: 2}
GAP = Block(0, 1, 4, 0, False)
REST = Block(14, 3, 4, 1, True)
MINUTES = Block(48, 1, 9, 1, False)
SECONDS = Block(67, 1, 6, 1, False)
SECOND_REST = Block(80, 2, 6, 0, True)
SPEED_CHANGE = Block(96, 3, 5, 0, True)
SPEED = Block(117, 1, 5, 1, False)
POSITION = Block(128, 9, 8, 0, True)
ALTITUDE = Block(218, 5, 6, 0, True)
ACCURACY = Block(258, 1, 4, 0, True)
ANGLE = Block(264, 2, 6, 0, True)
BATTERY = Block(280, 5, 4, 0, True)
BLOCKS = (GAP, REST, MINUTES, SECONDS, SECOND_REST, SPEED_CHANGE, SPEED, POSITION, ALTITUDE,
          ACCURACY, ANGLE, BATTERY)


class Context:
    """A probability of 0 in 65,536ths, and the count of its adaptations."""

    def __init__(self, word):
        self.p, self.n = (word >> 5) * 32, word % 32

    def bound(self, range_):
        """The part of a range that codes 0."""
        return (range_ >> 16) * self.p

    def adapt(self, bit):
        """Adapt the context to a decision."""
        rate = 131_072 // (2 * self.n + 3)
        if bit:
            self.p -= (self.p * rate) >> 16
        else:
            self.p += ((65_536 - self.p) * rate) >> 16
        self.n = min(self.n + 1, LARGEST_COUNT)


class BatchDecoder(RangeDecoder):
    """Reads the number that begins at the next bit of a bit reader."""

    def __init__(self, reader):
        super().__init__(bytes_behind(reader))
        self._contexts = [Context(word) for word in WORDS]

    def decision(self, context):
        """0 or 1 with the probability of a context, which adapts."""
        bound = self._contexts[context].bound(self._range)
        bit = int(self._code >= bound)
        if bit:
            self._code -= bound
            self._range -= bound
        else:
            self._range = bound
        self._refill()
        self._contexts[context].adapt(bit)
        return bit


class BatchEncoder(RangeEncoder):
    """Writes a number that begins after the bits of the start."""

    def __init__(self):
        super().__init__()
        self._contexts = [Context(word) for word in WORDS]

    def decision(self, context, bit):
        """A decision with the probability of a context, which adapts."""
        bound = self._contexts[context].bound(self._range)
        if bit:
            self._low += bound
            self._range -= bound
        else:
            self._range = bound
        self._flush()
        self._contexts[context].adapt(bit)

    def end(self, writer):
        """Write the number after the bits that a writer has. The number ends on a whole byte."""
        bits, number = self.number(-writer.bits % 8)
        writer.write(number, bits)


def bytes_behind(reader):
    """The bits that a reader has left, in groups of eight. The last group is filled with zeros."""
    while reader.left:
        bits = min(8, reader.left)
        yield reader.read(bits) << 8 - bits
