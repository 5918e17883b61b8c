"""Sealed frames of a host (section 22)."""

import ascon
import frames
from frames import ACKNOWLEDGEMENT, HOST_MESSAGE
from messages import COMPANY_FLAGS
from sealing_keys import SEALED, expand, require_opened

SETTINGS_REQUEST, SETTINGS_UPDATE, COMMAND = 18, 19, 20
TYPES = (ACKNOWLEDGEMENT, SETTINGS_REQUEST, SETTINGS_UPDATE, COMMAND, HOST_MESSAGE)
# By type: where the payload of the clear frame has the receiver id. The other types name no receiver.
RECEIVER_AT = {ACKNOWLEDGEMENT: 0, COMMAND: 2, HOST_MESSAGE: 2}
RECEIVER_SIZE, SALT_SIZE, TAG_SIZE, HEADER = 4, 3, 8, 4
INDEX = 0x07  # flags


def indices(number):
    """The values that the index may have."""
    return (0,) if number == ACKNOWLEDGEMENT else (1, 2)


def kept_flags(number, flags):
    """Of the flags, those that a frame of this type has in clear and sealed: the company."""
    return flags & COMPANY_FLAGS if number == ACKNOWLEDGEMENT else 0


def nonce_start(header, receiver, known):
    """The nonce without its salt. `receiver` has the bytes of the receiver id that the frame names, or none."""
    return ((receiver or known.receiver_id.to_bytes(RECEIVER_SIZE, "big")) + known.boot_count.to_bytes(4, "big")
            + known.counter.to_bytes(4, "big") + bytes([(header[1] & INDEX) << 6 & 0xFF]))


def associated(header, length, receiver, known):
    """The associated data."""
    return header + bytes([length]) + known.log.log_id.to_bytes(4, "big") + receiver


# Sealing

def seal(clear, keys, known, index):
    """The sealed frame for a clear frame, which must be valid."""
    number, payload = clear[0] & 0x1F, clear[HEADER:-3]
    if index not in indices(number):
        raise ValueError(f"no index of this type: {index}")
    flags = kept_flags(number, clear[1])
    if clear[1] != flags or clear[3] != (known.poll if number == ACKNOWLEDGEMENT else 0):
        raise ValueError("the clear frame answers another poll, or has other flags")
    receiver, text = b"", payload
    if number in RECEIVER_AT:
        start, end = RECEIVER_AT[number], RECEIVER_AT[number] + RECEIVER_SIZE
        receiver, text = payload[start:end], payload[:start] + payload[end:]
    return close(bytes([clear[0], SEALED | flags | index, clear[2], known.counter & 0xFF]), receiver, text, keys, known)


def close(header, receiver, text, keys, known):
    """The sealed frame of this header, receiver and plaintext. No value is checked."""
    start = nonce_start(header, receiver, known)
    length = len(header) + len(receiver) + SALT_SIZE + len(text) + TAG_SIZE
    data = associated(header, length, receiver, known)
    salt = expand(keys.salt + start + data + text, SALT_SIZE)
    ciphertext, tag = ascon.encrypt(keys.down, start + salt, data, text)
    return header + receiver + salt + ciphertext + tag[:TAG_SIZE]


# Opening

def open_frame(frame, keys, known):
    """The clear frame. Raises not_opened if the frame does not open, or belongs to another poll."""
    header, number = frame[:HEADER], frame[0] & 0x1F
    salt_at = HEADER + (RECEIVER_SIZE if number in RECEIVER_AT else 0)
    text_at, tag_at = salt_at + SALT_SIZE, len(frame) - TAG_SIZE
    require_opened(number in TYPES and text_at <= tag_at and header[1] & INDEX in indices(number))
    require_opened(header[3] == known.counter & 0xFF and known.receiver_id is not None)
    receiver, salt = frame[HEADER:salt_at], frame[salt_at:text_at]
    text = ascon.decrypt(keys.down, nonce_start(header, receiver, known) + salt,
                         associated(header, len(frame), receiver, known), frame[text_at:tag_at], frame[tag_at:])
    require_opened(text is not None)

    place = RECEIVER_AT.get(number, 0)
    payload = text[:place] + receiver + text[place:]
    low_byte = known.poll if number == ACKNOWLEDGEMENT else 0
    return frames.assemble(header[0], kept_flags(number, header[1]), header[2], low_byte, payload, known.log)
