"""Sealed frames (section 22): a clear frame becomes a sealed one, and a sealed one a clear one.

sealing_keys has the keys, sealing_collar and sealing_host the frames of both ends.
"""

import frames
import sealing_collar
import sealing_host
from sealing_keys import SEALED, require_opened
from wire import ProtocolError, check_size


def from_host(frame):
    """Whether a frame has a type of a host."""
    return frame[0] & 0x1F >= 16


def seal(clear, keys, known, long=False, index=None):
    """The sealed frame for a clear frame. `long` is for frames of a collar, `index` for those of a host."""
    if decode_clear(clear, known).type not in sealing_collar.TYPES + sealing_host.TYPES:
        raise ValueError("frames of this type are always clear")
    if from_host(clear):
        sealed = sealing_host.seal(clear, keys, known, index)
    else:
        sealed = sealing_collar.seal(clear, keys, known, long)
    check_size(sealed)
    return sealed


def open_sealed(frame, keys, known):
    """The clear frame for a sealed one. Raises not_opened if the frame does not open with these values."""
    check_size(frame)
    if frame[0] >> 5 != frames.VERSION:
        raise ProtocolError("unsupported_version")
    if frame[1] & frames.CRITICAL_FLAGS:
        raise ProtocolError("critical_flags")
    if frame[0] & 0x1F not in frames.MESSAGES:
        raise ProtocolError("unknown_type")
    require_opened(frame[1] & SEALED)
    return (sealing_host if from_host(frame) else sealing_collar).open_frame(frame, keys, known)


def decode_clear(clear, known):
    """The decoded clear frame."""
    anchor, reference = known.anchor, known.sequence or 0
    if anchor is not None:
        # The sequence of a live fix is at most 127 above that of its anchor, so it is the nearest one that fits.
        reference = anchor["sequence"]
    return frames.decode(clear, known.log, reference, anchor)
