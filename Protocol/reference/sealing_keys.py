"""The keys of sealed frames, and what both ends know besides them (section 22)."""

from typing import NamedTuple

import ascon
from frames import SEALED_FLAG as SEALED, Log
from wire import ProtocolError

CUSTOMIZATION = b"collar-link 1"
KEY_SIZE = 16


class Keys(NamedTuple):
    """The keys that are derived from the key of a collar."""

    up: bytes    # of the collar's frames
    down: bytes  # of the host's frames
    salt: bytes
    mask: bytes


class Known(NamedTuple):
    """What a sealed frame depends on besides its own fields and the keys."""

    log: Log
    boot_count: int
    counter: int             # of the frame; for a frame of a host, of the poll
    sequence: int = None     # of an absolute fix; its upper half counts
    anchor: dict = None      # of a live fix
    receiver_id: int = None  # for a frame of a host: the collar's receiver
    poll: int = None         # for a frame of a host: the number of the poll


def expand(message, size):
    """X(message, size) of the text."""
    return ascon.cxof(message, CUSTOMIZATION, size)


def derive(key, device_id):
    """The keys of the collar with this key and this device id."""
    if len(key) != KEY_SIZE:
        raise ValueError(f"a key has {KEY_SIZE} bytes")
    return Keys(*(expand(key + device_id.to_bytes(8, "big") + label, KEY_SIZE) for label in (b"up", b"down", b"salt", b"mask")))


def not_opened():
    """The error of a frame that does not open, whatever the reason: nobody outside learns more."""
    return ProtocolError("not_opened")


def require_opened(condition):
    """Raise not_opened unless the condition holds."""
    if not condition:
        raise not_opened()
