"""Keys over a cable (section 23): key request, key offer and key activation.

Only ends of a cable know these types, so the table of `frames` does not have them. What depends on time and on the
button of a collar is not here: a frame that a check passes has an effect only if the collar obeys such frames now.
"""

import hmac
from typing import NamedTuple

import frames
import sealing_collar
from frames import SEALED_FLAG, Log
from sealing_collar import KEY_OFFER
from sealing_keys import KEY_SIZE, Known, derive, expand, not_opened, require_opened
from wire import BitReader, BitWriter, ProtocolError, check_size, require

KEY_REQUEST, KEY_ACTIVATION = 21, 22
EVERY_COLLAR = 255
PROOF_SIZE = 8
LABEL_OF_REQUEST, LABEL_OF_ACTIVATION = b"old", b"new"
RESERVED = 6  # bits behind the log id


class Offer(NamedTuple):
    """What a key offer says."""

    address: int
    log: Log
    boot_count: int
    counter: int  # None in an offer in clear
    new_key: bytes


def proof(key, device_id, label):
    """The proof that its sender has the key."""
    return expand(key + device_id.to_bytes(8, "big") + label, PROOF_SIZE)


# Building

def clear_frame(number, payload, address=EVERY_COLLAR):
    """A frame in clear of this type. No value is checked."""
    return frames.assemble(frames.VERSION << 5 | number, 0, address, 0, payload)


def build_request(device_id, key=None):
    """The key request of a host. Without a key it has no proof."""
    return clear_frame(KEY_REQUEST, b"" if key is None else proof(key, device_id, LABEL_OF_REQUEST))


def build_offer(offer, key=None):
    """The key offer of a collar: sealed with its key, or in clear if no key is given."""
    if key is None:
        return clear_frame(KEY_OFFER, clear_payload(offer), offer.address)
    return seal_offer(offer, key, offer.new_key)


def clear_payload(offer, reserved=0):
    """The payload of an offer in clear."""
    writer = BitWriter()
    for value, bits in ((offer.log.device_id, 64), (offer.log.log_id, 26), (reserved, RESERVED), (offer.boot_count, 32)):
        writer.write(value, bits)
    return writer.payload() + offer.new_key


def seal_offer(offer, key, text, flags=0):
    """A sealed offer with this plaintext. No value is checked."""
    header = bytes([frames.VERSION << 5 | KEY_OFFER, SEALED_FLAG | flags, offer.address, offer.counter & 0xFF])
    known = Known(offer.log, offer.boot_count, offer.counter)
    return sealing_collar.close(header, text, derive(key, offer.log.device_id), known)


def build_activation(device_id, new_key):
    """The key activation of a host."""
    return clear_frame(KEY_ACTIVATION, proof(new_key, device_id, LABEL_OF_ACTIVATION))


def build(offer, key=None):
    """The three frames of an exchange in which the collar makes this offer, by name. Without a key the request has no proof."""
    device_id = offer.log.device_id
    return {"request": build_request(device_id, key), "offer": build_offer(offer, key),
            "activation": build_activation(device_id, offer.new_key)}


# Reading

def read(name, frame, offer, key):
    """What the receiver of this frame of such an exchange reads: the offer, or None if the collar obeys the frame.

    Raises ProtocolError if the frame must have no effect.
    """
    if name == "offer":
        return read_offer(frame, offer.log.device_id, key)
    if name == "request":
        return check_request(frame, offer.address, offer.log.device_id, key)
    return check_activation(frame, offer.address, offer.log.device_id, offer.new_key)


def check_request(frame, address, device_id, key):
    """Check that a request is one that the collar with this key obeys. If `key` is None, it must have no proof."""
    payload = _payload_for_collar(frame, KEY_REQUEST, address)
    if key is None:
        BitReader(payload).finish()
    else:
        _check_proof(payload, key, device_id, LABEL_OF_REQUEST)


def check_activation(frame, address, device_id, new_key):
    """Check that an activation is one that the collar obeys that offered this key."""
    _check_proof(_payload_for_collar(frame, KEY_ACTIVATION, address), new_key, device_id, LABEL_OF_ACTIVATION)


def read_offer(frame, device_id, key):
    """The offer. If `key` is None, it must be in clear, else sealed with this key of the device."""
    if key is None:
        return _read_clear_offer(frame)
    _look_at_header(frame, KEY_OFFER, SEALED_FLAG)
    unknown = Known(Log(device_id, 0), boot_count=0, counter=0)  # the frame carries these values
    text, told = sealing_collar.open_text(frame, derive(key, device_id), unknown)
    require_opened(len(text) == KEY_SIZE)
    return Offer(frame[2], told.log, told.boot_count, told.counter, text)


def _read_clear_offer(frame):
    """An offer in clear."""
    reader = BitReader(_clear_payload(frame, KEY_OFFER))
    device_id, log_id = reader.read(64), reader.read(26)
    require(reader.read(RESERVED) == 0, "reserved")
    boot_count, new_key = reader.read(32), reader.read(8 * KEY_SIZE).to_bytes(KEY_SIZE, "big")
    reader.finish()
    return Offer(frame[2], Log(device_id, log_id), boot_count, None, new_key)


def _look_at_header(frame, number, sealed=0):
    """Raise the faults that an end of a cable finds before it looks at the CRC or the tag."""
    check_size(frame)
    if frame[0] >> 5 != frames.VERSION:
        raise ProtocolError("unsupported_version")
    if frame[1] & frames.CRITICAL_FLAGS:
        raise ProtocolError("critical_flags")
    if frame[0] & 0x1F != number:
        raise ProtocolError("unknown_type")
    if frame[1] & SEALED_FLAG != sealed:
        raise not_opened()


def _clear_payload(frame, number):
    """The payload of a frame in clear, whose CRC is right. Its other flags and its low byte are ignored."""
    _look_at_header(frame, number)
    if frames.check_bytes(frame[:-3]) != frame[-3:]:
        raise ProtocolError("check_failed")
    return frame[4:-3]


def _payload_for_collar(frame, number, address):
    """The payload of a frame of a host, which must be for the collar at this address."""
    payload = _clear_payload(frame, number)
    require(frame[2] in (address, EVERY_COLLAR), "address")
    return payload


def _check_proof(payload, key, device_id, label):
    """Check that the payload is the right proof, and nothing else."""
    reader = BitReader(payload)
    given = reader.read(8 * PROOF_SIZE).to_bytes(PROOF_SIZE, "big")
    reader.finish()
    if not hmac.compare_digest(given, proof(key, device_id, label)):
        raise ProtocolError("check_failed")
