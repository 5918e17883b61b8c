"""Shared parts of the vectors of sealed frames and of exchanges: a key, what both ends know, and damage."""

from sealing_keys import Known, derive
from vector_parts import FIX, IDENTITY, LOG, bound_to, forms

KEY = bytes.fromhex("5d1f7a42c09be8362af5914dd37c06b8")
RECEIVER = 0xA1B2C3D4
BOOT = IDENTITY["boot_count"]
COUNTER = 1337  # its low byte alone does not tell it
POLL = 3

COLLAR = Known(LOG, BOOT, COUNTER)
HOST = COLLAR._replace(receiver_id=RECEIVER, poll=POLL)
OTHER_KEY = KEY[:-1] + bytes([KEY[-1] ^ 1])
LIVE = {**FIX, "type": 3, "sequence": 4661, "time": FIX["time"] + 1000}


def keys_of(known, key=KEY):
    """The keys for a frame."""
    return derive(key, known.log.device_id)


def flipped(frame, place, bit=0):
    """The frame with one wrong bit."""
    damaged = bytearray(frame)
    damaged[place] ^= 1 << bit
    return bytes(damaged)


def vector_of(meaning, origin, frame, known, key=KEY):
    """The keys that valid and other vectors have in common."""
    vector = {"meaning": meaning, "origin": origin, "key": key.hex(), **bound_to(known.log),
              "boot_count": known.boot_count, "counter": known.counter, **forms(frame)}
    for name in ("sequence", "anchor", "receiver_id", "poll"):
        if getattr(known, name) is not None:
            vector[name] = getattr(known, name)
    return vector
