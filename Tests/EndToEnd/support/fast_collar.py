"""A collar that writes fixes a hundred times as fast as the reference: only sequence and time vary from fix to fix."""


from session_parts import START, Collar, position
from wire import (_CRC_TABLE, CRC_FINAL_XOR, CRC_INITIAL, cobs_decode,
                  cobs_encode, crc_update)

HEADER, CHECK = 4, 3


class FastCollar(Collar):
    """Writes one fix per frame, with times one second apart; `codes(sequence)` are the codes of a fix."""

    def __init__(self, *names):
        super().__init__(*names)
        frame = cobs_decode(self.fix(self.codes(0)).strip(b"\0"))
        self._payload = int.from_bytes(frame[HEADER:-CHECK], "big")
        self._byte_count = len(frame) - HEADER - CHECK
        # The first 9 bits end with `wide`. If `partial` is set, the mask of the known fields follows.
        start = 9 + (7 if frame[HEADER] & 0x80 else 0)
        self._sequence_shift = 8 * self._byte_count - start - 8
        self._time_shift = self._sequence_shift - 32
        self._header = frame[:HEADER - 1]
        bound = self.log.device_id.to_bytes(8, "big") + self.log.log_id.to_bytes(4, "big") + bytes([len(frame)])
        self._register = crc_update(crc_update(CRC_INITIAL, bound), self._header)
        for sequence in (0, 1, 255, 256, 70_000, 1_000_000):
            if self.fast(sequence) != self.fix(self.codes(sequence)):
                raise AssertionError("the fast encoder is wrong")

    @staticmethod
    def codes(sequence):
        """The codes of the fix with this sequence."""
        return {**position(0), "sequence": sequence, "time": START // 1000 * 1000 + 1000 * sequence}

    def fast(self, sequence):
        """The bytes of the fix on the serial line."""
        payload = self._payload + ((sequence >> 8 & 0xFF) << self._sequence_shift) + (sequence << self._time_shift)
        rest = bytes([sequence & 0xFF]) + payload.to_bytes(self._byte_count, "big")
        register = self._register
        # The upper 16 bits are not sent, but the CRC covers them if they are not 0.
        unsent = (sequence >> 16).to_bytes(2, "big") if sequence >> 16 else b""
        for byte in rest + unsent:
            register = (register << 8 & 0xFFFFFF) ^ _CRC_TABLE[register >> 16 ^ byte]
        check = (register ^ CRC_FINAL_XOR).to_bytes(CHECK, "big")
        return b"\0" + cobs_encode(self._header + rest + check) + b"\0"

    def fixes(self, first, count):
        """The bytes of `count` fixes, from the sequence `first` on."""
        return b"".join([self.fast(sequence) for sequence in range(first, first + count)])
