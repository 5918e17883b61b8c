"""The lowest layer: errors, bits, Elias gamma, the CRC, COBS and serial streams."""


class ProtocolError(Exception):
    """A frame that a receiver must reject.

    `reason` is an error name of the section on vectors. `field` is the name of the
    field if the reason is invalid_field.
    """

    def __init__(self, reason, field=None):
        super().__init__(reason if field is None else f"{reason} ({field})")
        self.reason = reason
        self.field = field

    def as_json(self):
        """The error as `decode-lines` prints it and invalid vectors hold it."""
        result = {"error": self.reason}
        if self.field is not None:
            result["field"] = self.field
        return result


def require(condition, field):
    """Raise invalid_field for `field` unless the condition holds."""
    if not condition:
        raise ProtocolError("invalid_field", field)


# Bits (section 1)

class BitReader:
    """Reads a payload from its most significant bit on."""

    def __init__(self, data):
        self._value = int.from_bytes(data, "big")
        self._left = 8 * len(data)

    @property
    def left(self):
        """The number of bits that are not read yet."""
        return self._left

    def read(self, bits):
        """An unsigned number of that many bits."""
        if bits > self._left:
            raise ProtocolError("truncated")
        self._left -= bits
        return (self._value >> self._left) & ((1 << bits) - 1)

    def read_signed(self, bits):
        """A number in two's complement."""
        value = self.read(bits)
        return value - (1 << bits) if value >> (bits - 1) else value

    def read_gamma(self, field):
        """An Elias gamma code of a number of at most 32 bits."""
        zeros = 0
        while self.read(1) == 0:
            zeros += 1
            require(zeros < 32, field)
        return (1 << zeros) | self.read(zeros)

    def finish(self):
        """Reject padding that is not zero, then whole bytes that follow."""
        if self.read(self._left % 8) != 0:
            raise ProtocolError("nonzero_padding")
        if self._left:
            raise ProtocolError("trailing_bytes")


class BitWriter:
    """Writes a payload from its most significant bit on."""

    def __init__(self):
        self._value = 0
        self.bits = 0

    def write(self, value, bits):
        """Write an unsigned number. A number that does not fit is a mistake of the caller."""
        if not 0 <= value < (1 << bits):
            raise ValueError(f"{value} does not fit {bits} bits")
        self._value = (self._value << bits) | value
        self.bits += bits

    def write_signed(self, value, bits):
        """A number in two's complement."""
        if not -(1 << (bits - 1)) <= value < (1 << (bits - 1)):
            raise ValueError(f"{value} does not fit {bits} signed bits")
        self.write(value & ((1 << bits) - 1), bits)

    def write_gamma(self, value):
        """An Elias gamma code."""
        if not 1 <= value < (1 << 32):
            raise ValueError(f"{value} has no gamma code here")
        self.write(value, 2 * value.bit_length() - 1)

    def payload(self):
        """The bytes, padded with zero bits."""
        padding = -self.bits % 8
        return (self._value << padding).to_bytes((self.bits + padding) // 8, "big")


# The CRC (section 3)

CRC_INITIAL = 0xB704CE
CRC_POLYNOMIAL = 0x7B01BD
CRC_FINAL_XOR = 0xFFFFFF


def _crc_table():
    table = []
    for byte in range(256):
        register = byte << 16
        for _ in range(8):
            register <<= 1
            if register & 0x1000000:
                register ^= 0x1000000 | CRC_POLYNOMIAL
        table.append(register)
    return table


_CRC_TABLE = _crc_table()


def crc_update(register, data):
    """The register after further bytes, without the final xor."""
    for byte in data:
        register = ((register << 8) & 0xFFFFFF) ^ _CRC_TABLE[(register >> 16) ^ byte]
    return register


def crc24(data):
    """The whole CRC of some bytes."""
    return crc_update(CRC_INITIAL, data) ^ CRC_FINAL_XOR


# Serial lines (section 4)

LONGEST_ENCODING = 254

def cobs_encode(frame):
    """The encoded frame, without delimiters.

    Blocks above 253 bytes cannot be written; no frame has them.
    """
    encoded = bytearray()
    for block in frame.split(b"\0"):
        if len(block) > 253:
            raise ValueError("block too long")
        encoded.append(len(block) + 1)
        encoded += block
    return bytes(encoded)


def cobs_decode(encoded):
    """Decode the bytes between two delimiters (1 … 254 bytes, none zero)."""
    blocks = []
    position = 0
    while position < len(encoded):
        end = position + encoded[position]
        if end > len(encoded):
            raise ProtocolError("stuffing")
        blocks.append(encoded[position + 1:end])
        position = end
    return b"\0".join(blocks)


def check_size(frame):
    """A frame has 7 … 253 bytes."""
    if len(frame) < 7:
        raise ProtocolError("too_short")
    if len(frame) > 253:
        raise ProtocolError("too_long")


def stuff(frame):
    """A frame for the serial line: encoded, between two delimiters."""
    return b"\0" + cobs_encode(frame) + b"\0"


class SerialDecoder:
    """Cuts a serial stream, fed in pieces of any size, into bare frames.

    Bytes before the first delimiter are treated like bytes between two
    delimiters. Bytes without a delimiter after them are kept, up to the longest
    encoding of a frame.
    """

    def __init__(self):
        self._buffer = bytearray()
        self._too_long = False

    def feed(self, data):
        """A list of frames (bytes) and faults (ProtocolError), in order."""
        found = []
        pieces = bytes(data).split(b"\0")
        for number, piece in enumerate(pieces):
            if number > 0:  # a delimiter precedes this piece
                found += self._end()
            self._too_long = self._too_long or len(self._buffer) + len(piece) > LONGEST_ENCODING
            self._buffer += piece[:LONGEST_ENCODING - len(self._buffer)]
        return found

    def _end(self):
        """The result of the bytes before a delimiter: one frame, one fault, or nothing."""
        encoded, too_long = bytes(self._buffer), self._too_long
        self._buffer.clear()
        self._too_long = False
        if not encoded:
            return []
        try:
            if too_long:
                raise ProtocolError("too_long")
            frame = cobs_decode(encoded)
            check_size(frame)
        except ProtocolError as error:
            return [error]
        return [frame]
