"""Collars that name their heartbeat, and when the receiver misses it."""

from vector_parts import IDENTITY

HEARTBEAT = 4  # seconds; a shorter heartbeat counts as this long
LATE = 1.25 * HEARTBEAT
UNREACHABLE = 3.25 * HEARTBEAT


def identity(collar, heartbeat=1):
    return collar.send(1, {**IDENTITY, "device_id": f"{collar.log.device_id:016x}", "log_id": collar.log.log_id,
                           "oldest_sequence": 0, "next_sequence": 0, "paired_receiver": 0, "heartbeat": heartbeat})
