"""Shared parts of the valid and invalid vectors: a log, a fix, and frames written bit by bit."""

import frames
from frames import Log
from wire import BitWriter, stuff

LOG = Log(0x0123456789ABCDEF, 44_813_807)
OTHER_DEVICE = Log(0x0123456789ABCDEE, LOG.log_id)
OTHER_LOG = Log(LOG.device_id, LOG.log_id + 1)
ADDRESS = 17
ORIGIN = "values written by hand, frame encoded by the reference implementation"
ORIGIN_BITS = "fields written bit by bit by hand, CRC computed by the reference implementation"

# A fix with every field known and a time of whole seconds; sequence and position are no round numbers.
FIX = {"type": 2, "sequence": 4660, "time": 1_700_000_000_000, "source": 2,
       "position_step": 0, "latitude": 4_823_456, "longitude": 1_637_210,
       "altitude_step": 0, "altitude": 171, "horizontal_accuracy": 33,
       "vertical_accuracy": 41, "speed": 14, "course": 67, "heading": 71, "battery": 83}

IDENTITY = {"device_id": "0123456789abcdef", "log_id": LOG.log_id, "boot_count": 12,
            "oldest_sequence": 1000, "next_sequence": 4661, "paired_receiver": 0xA1B2C3D4,
            "largest_frame": 51, "firmware_version": [1, 4, 2], "capabilities": 5,
            "heartbeat": 60}

ACKNOWLEDGEMENT = {"poll": 3, "receiver_id": 0xA1B2C3D4, "first_missing": 4600,
                   "durable": [[4650, 4660], [4640, 4640], [4610, 4630]],
                   "resend": [[100, 100], [200, 263]]}

# The bits of FIX: part -> (value, bits). A part of 0 bits is absent.
FIX_PARTS = {
    "partial": (0, 1), "time_form": (0, 2), "position_step": (0, 2), "altitude_step": (0, 1),
    "source": (2, 2), "wide": (0, 1), "mask": (0, 0), "sequence": (4660 >> 8, 8),
    "time": (1_700_000_000, 32), "latitude": (4_823_456 + 9_000_000, 25),
    "longitude": (1_637_210 + 18_000_000, 26), "altitude": (1171, 14),
    "altitude_escaped": (0, 0), "horizontal_accuracy": (33, 7), "vertical_accuracy": (41, 7),
    "speed": (14, 9), "speed_escaped": (0, 0), "course": (67, 8), "heading": (71, 8),
    "battery": (83, 7), "padding": (0, 0),
}


def bits(*parts):
    """A payload from (value, bits) parts, padded with zero bits."""
    writer = BitWriter()
    for value, count in parts:
        writer.write(value, count)
    return writer.payload()


def gamma(value):
    """The Elias gamma code of a number as a part."""
    return value, 2 * value.bit_length() - 1


def fix_bits(**changes):
    """The payload of FIX with some parts replaced."""
    return bits(*{**FIX_PARTS, **changes}.values())


def frame_of(number, payload, flags=0, address=ADDRESS, low_byte=0, log=LOG, length=None, unsent=b""):
    """A frame of this version with any payload; bound if its type is."""
    message = frames.MESSAGES.get(number)
    bound = message is not None and message.bound
    return frames.assemble(frames.VERSION << 5 | number, flags, address, low_byte, payload,
                           log if bound else None, length, unsent=unsent)


def fix_frame(flags=0, log=LOG, length=None, **changes):
    """The frame of FIX with some parts replaced."""
    return frame_of(2, fix_bits(**changes), flags, ADDRESS, 4660 & 0xFF, log, length)


def forms(frame):
    """The keys of a vector that hold a frame, bare and stuffed."""
    return {"bare": frame.hex(), "serial": stuff(frame).hex()}


def bound_to(log):
    """The keys of a vector that name the log to which the CRC is bound."""
    return {"device_id": f"{log.device_id:016x}", "log_id": log.log_id}
