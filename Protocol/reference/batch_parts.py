"""Shared parts of the valid and invalid vectors of batches: fixes, the bits of a start, a coded part by hand."""

import batchcoder as bc
from batch import payload_unchecked
from vector_parts import FIX, FIX_PARTS, LOG, frame_of
from wire import BitWriter

BATCH = 4
ORIGIN_BATCH = ("fixes written by hand; start and coded part by the encoder of the reference implementation, and decoded "
                "to the same fixes by its decoder, which is written for itself")
ORIGIN_CODED = "start written bit by bit by hand, coded part decision by decision, CRC computed by the reference implementation"

START = {name: value for name, value in FIX.items() if name != "type"}
SECOND = 1000

# The bits of START as the start of a batch.
START_PARTS = {
    "count": (0, 6), **{part: FIX_PARTS[part] for part in ("partial", "time_form", "position_step", "altitude_step",
                                                           "source", "mask")},
    "sequence": (START["sequence"] >> 8, 24),
    **{part: FIX_PARTS[part] for part in ("time", "latitude", "longitude", "altitude", "altitude_escaped",
                                          "horizontal_accuracy", "vertical_accuracy", "speed", "speed_escaped", "course",
                                          "heading", "battery")},
}


def fixes_of(*changes, **start):
    """A start, and one more fix for each change: the fix before it, one sequence and one second later, changed."""
    fixes = [{**START, **start}]
    for change in changes:
        before = fixes[-1]
        fixes.append({**before, "sequence": before["sequence"] + 1, "time": before["time"] + SECOND, **change})
    return fixes


def walk(count, pace=1, **start):
    """A walk with turns, one fix per second. Nothing in it is random, and its pattern does not repeat soon."""
    fixes = fixes_of(**start)
    for number in range(1, count):
        before, turn = fixes[-1], number * number * pace
        fixes.append({**before, "sequence": before["sequence"] + 1, "time": before["time"] + SECOND,
                      "latitude": before["latitude"] + turn % 7 - 2, "longitude": before["longitude"] + turn % 5 - 3,
                      "altitude": before["altitude"] + turn % 3 // 2, "speed": 10 + turn % 3, "course": 60 + turn % 7,
                      "heading": 70 + turn % 4, "horizontal_accuracy": 30 + turn % 4 // 3,
                      "battery": START["battery"] - number // 20})
    return fixes


def start_writer(**changes):
    """The bits of START, with some parts replaced."""
    writer = BitWriter()
    for value, bits in {**START_PARTS, **changes}.values():
        writer.write(value, bits)
    return writer


def batch_frame(payload, sequence=START["sequence"], flags=0, log=LOG):
    """A frame with any payload and a correct CRC."""
    return frame_of(BATCH, payload, flags, low_byte=sequence & 0xFF, log=log)


def unchecked_frame(fixes):
    """The frame of fixes whose values may be out of their ranges."""
    return batch_frame(payload_unchecked(fixes), fixes[0]["sequence"])


class Script:
    """START and a second fix, whose coded part is written by hand.

    Each step has a default. With all defaults the second fix is START, one sequence and one second later.
    """

    DEFAULTS = {
        "gap": [("integer", 0, bc.GAP)], "shape": [("decision", bc.SHAPE, 0)], "rest": [("integer", 0, bc.REST)],
        "interval": [("decision", bc.SAME, 0)], "speed": [("integer", 0, bc.SPEED_CHANGE, 2)],
        "latitude": [("integer", 0, bc.POSITION, 6)], "longitude": [("integer", 0, bc.POSITION, 5)],
        "altitude": [("integer", 0, bc.ALTITUDE, 2)], "horizontal_accuracy": [("integer", 0, bc.ACCURACY)],
        "vertical_accuracy": [("integer", 0, bc.ACCURACY)], "course": [("integer", 0, bc.ANGLE, 1)],
        "heading": [("integer", 0, bc.ANGLE, 1)], "battery": [("integer", 0, bc.BATTERY)]}

    def __init__(self, **changes):
        self.encoder = bc.BatchEncoder()
        self.add({**self.DEFAULTS, **changes})

    def add(self, steps):
        """Write the coded values of steps, which are given by name."""
        for calls in steps.values():
            for name, *arguments in calls:
                getattr(self.encoder, name)(*arguments)
        return self

    def payload(self, count=2, **start):
        """The payload, with some parts of the start replaced."""
        writer = start_writer(count=(count - 1, 6), **start)
        self.encoder.end(writer)
        return writer.payload()

    def frame(self, count=2, **start):
        """The frame."""
        return batch_frame(self.payload(count, **start))
