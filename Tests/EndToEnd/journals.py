"""What a receiver's journals hold of fixes that will never come."""

import glob
import sys
from typing import NamedTuple

from collarlink import ROOT

# Behind the tests' own modules: one of the reference has the same name.
sys.path.append(str(ROOT / "Protocol/reference"))
from wire import cobs_decode  # noqa: E402

LOSS = 3  # the kind of a record
OVERWRITTEN, DELIVERED_ELSEWHERE = 1, 2


class Loss(NamedTuple):
    """A record of a loss."""

    log_id: int
    reason: int
    first: int
    last: int


def losses(state):
    """The losses in all journals of a state directory, in the order in which they were stored."""
    found = []
    for path in sorted(glob.glob(f"{state}/**/*.journal", recursive=True)):
        with open(path, "rb") as file:
            records = [cobs_decode(part) for part in file.read().split(b"\0") if part]
        # Kind, log id, time (6 bytes), reason, first, last, check.
        found += [Loss(int.from_bytes(record[1:5], "big"), record[11], int.from_bytes(record[12:16], "big"),
                       int.from_bytes(record[16:20], "big")) for record in records if record[0] == LOSS]
    return found
