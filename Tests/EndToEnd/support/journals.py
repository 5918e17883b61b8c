"""Reads fixes and losses from a receiver's journals, and changes the times in a segment."""

import glob
from typing import NamedTuple


from wire import cobs_decode, crc24, stuff

HEADER, FIX, LOSS, MESSAGE = 1, 2, 3, 11  # kinds of records
OVERWRITTEN, DELIVERED_ELSEWHERE = 1, 2


class Loss(NamedTuple):
    """A record of a loss."""

    log_id: int
    reason: int
    first: int
    last: int


def records_of(state, kind):
    """The records of a kind in all journals of a state directory, in the order in which they were stored."""
    for path in sorted(glob.glob(f"{state}/**/*.journal", recursive=True)):
        with open(path, "rb") as file:
            records = [cobs_decode(part) for part in file.read().split(b"\0") if part]
        yield from (record for record in records if record[0] == kind)


def losses(state):
    """The losses in all journals of a state directory, in the order in which they were stored."""
    # Kind, log id, time (6 bytes), reason, first, last, CRC.
    return [Loss(int.from_bytes(record[1:5], "big"), record[11], int.from_bytes(record[12:16], "big"),
                 int.from_bytes(record[16:20], "big")) for record in records_of(state, LOSS)]


def messages(state):
    """The messages in all journals of a state directory: log id and sequence of each."""
    for record in records_of(state, MESSAGE):
        # Kind, log id, time (6 bytes), a flag for each part of the signal that follows, signal, sequence, message.
        start = 12 + 2 * (record[11] & 1) + (record[11] & 2)
        yield int.from_bytes(record[1:5], "big"), int.from_bytes(record[start:start + 4], "big")


class JournalTail:
    """The fixes and losses in the journal of one collar. Each call reads only the new records: a journal only grows."""

    def __init__(self, folder):
        self._folder = folder
        self._read = {}
        self.fixes = {}
        self.losses = []

    def read_on(self):
        """Takes the complete records that were added since the last call. Fails if a segment has become shorter."""
        for path in sorted(glob.glob(f"{self._folder}/*.journal")):
            begin = self._read.get(path, 0)
            with open(path, "rb") as file:
                size = file.seek(0, 2)
                if size < begin:
                    raise AssertionError(f"{path} was cut from {begin} to {size} bytes")
                file.seek(begin)
                data = file.read()
            # Each record ends with a zero byte. Part of a record may follow the last zero byte.
            whole = data[:data.rfind(b"\0") + 1]
            self._read[path] = begin + len(whole)
            self.take(whole)

    def take(self, data):
        """Takes the fixes and losses of complete records."""
        for part in data.split(b"\0"):
            if part:
                self._take(cobs_decode(part))

    def _take(self, record):
        log_id = int.from_bytes(record[1:5], "big")
        if record[0] == LOSS:
            self.losses.append((log_id, int.from_bytes(record[12:16], "big"), int.from_bytes(record[16:20], "big")))
        if record[0] != FIX:
            return
        # Kind, log id, time (6 bytes), a flag for each part of the signal that follows, signal, low byte, payload.
        start = 12 + 2 * (record[11] & 1) + (record[11] & 2)
        fields = int.from_bytes(record[start + 1:start + 6], "big")
        is_partial = fields >> 39
        high = fields & 0xFFFFFF if is_partial else fields >> 7 & 0xFFFFFF
        self.fixes.setdefault(log_id, set()).add(high << 8 | record[start])


def set_times(path, unix_seconds):
    """Sets every time in a segment to another time: when the segment was begun and when each record was received."""
    with open(path, "r+b") as file:
        records = [bytearray(cobs_decode(part)[:-3]) for part in file.read().split(b"\0") if part]
        bound = b"CLJ1" + records[0][2:10] + records[0][14:18]  # collar and segment
        file.seek(0)
        for record in records:
            # Header: kind, format, collar (8 bytes), receiver, segment, time. Other records: kind, log id, time.
            place = {HEADER: 18, FIX: 5, LOSS: 5}.get(record[0])
            if place:
                record[place:place + 6] = int(unix_seconds * 1000).to_bytes(6, "big")
            check = crc24((b"CLJ1" if record[0] == HEADER else bound) + bytes(record))
            file.write(stuff(bytes(record) + check.to_bytes(3, "big")))
