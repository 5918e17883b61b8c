"""Sealed frames of a collar (section 22). A key offer, which travels on a cable only (section 23), has the form of an identity."""

import ascon
import fixes
import frames
import live
import rangecoder
from frames import ABSOLUTE_FIX, BATCH, COLLAR_MESSAGE, DELIVERED_ELSEWHERE, LIVE_FIX, POWER_REPORT, TOMBSTONE, Log
from sealing_keys import SEALED, expand, require_opened

IDENTITY, PROBE, KEY_OFFER = 1, 5, 14
IDENTITY_FORM = (IDENTITY, KEY_OFFER)
TYPES = (*range(1, 10), COLLAR_MESSAGE, POWER_REPORT)
LONG, WIDE, POLL = 0x10, 0x08, 0x07  # flags
HEADER = 4
COUNTER_PART = 3  # bytes of a long counter: its upper 24 bits
IDENTITY_PART = 11  # bytes: log id, boot count and the upper 24 bits of the counter, which also begin the nonce


# Used to seal and to open

def tag_size(number):
    """The bytes of the tag. An identity has more, because a receiver tries the keys of all its collars on it."""
    return 8 if number in IDENTITY_FORM else 6


def nonce(known):
    """The nonce of a frame."""
    return ((known.log.log_id << 6).to_bytes(4, "big") + known.boot_count.to_bytes(4, "big")
            + known.counter.to_bytes(4, "big") + bytes(4))


def clear_part(header, known):
    """The clear part; that of an identity as it is before it is masked."""
    number = header[0] & 0x1F
    if number in IDENTITY_FORM:
        return nonce(known)[:IDENTITY_PART]
    part = (known.counter >> 8).to_bytes(COUNTER_PART, "big") if header[1] & LONG else b""
    return part + bytes([known.anchor["sequence"] & 0xFF]) if number == LIVE_FIX else part


def clear_part_size(header):
    """The bytes of the clear part."""
    number = header[0] & 0x1F
    if number in IDENTITY_FORM:
        return IDENTITY_PART
    return COUNTER_PART * bool(header[1] & LONG) + (number == LIVE_FIX)


def masked(part, tag, keys):
    """The clear part of an identity, masked or no longer masked."""
    return bytes(mine ^ mask for mine, mask in zip(part, expand(keys.mask + tag, len(part))))


def associated(header, length, part, known):
    """The associated data. The clear part is not masked."""
    number, data = header[0] & 0x1F, header + bytes([length]) + part
    if number == ABSOLUTE_FIX and not header[1] & WIDE:
        data += (known.sequence >> 16).to_bytes(2, "big")
    return data + live.anchor_bytes(known.anchor) if number == LIVE_FIX else data


def is_wide(payload):
    """The bit *wide* in the payload of an absolute fix: the ninth bit."""
    return len(payload) > 1 and bool(payload[1] >> 7)


# Derived from the references of a receiver

def upper_halves(reference):
    """The upper halves of a short sequence that a receiver tries for a reference."""
    lowest, highest = max(reference - 32_768, 0), min(reference + 32_768, (1 << 32) - 1)
    return range(lowest >> 16, (highest >> 16) + 1)


def anchor_sequence(low_byte, highest):
    """The sequence of the anchor for the highest sequence that the receiver knows, or None."""
    found = [number for number in range(max(highest - 127, 0), highest + 1) if number & 0xFF == low_byte]
    return found[0] if found else None


# Sealing

def seal(clear, keys, known, long=False):
    """The sealed frame for a clear frame, which must be valid."""
    number, flags, payload = clear[0] & 0x1F, clear[1] & POLL, clear[HEADER:-3]
    if number == TOMBSTONE:
        flags |= clear[1] & DELIVERED_ELSEWHERE
    if number == ABSOLUTE_FIX and is_wide(payload):
        flags |= WIDE
    if number == IDENTITY and payload[:16] != known.log.device_id.to_bytes(8, "big") + nonce(known)[:8]:
        raise ValueError("the identity names something else")
    text = {IDENTITY: payload[16:], ABSOLUTE_FIX: clear[3:4] + payload, BATCH: clear[3:4] + payload, PROBE: payload[3:]}
    header = bytes([clear[0], SEALED | flags | (LONG if long else 0), clear[2], known.counter & 0xFF])
    return close(header, text.get(number, payload), keys, known)


def close(header, text, keys, known):
    """The sealed frame of this header and plaintext. No value is checked."""
    number, part = header[0] & 0x1F, clear_part(header, known)
    length = len(header) + len(part) + len(text) + tag_size(number)
    ciphertext, tag = ascon.encrypt(keys.up, nonce(known), associated(header, length, part, known), text)
    tag = tag[:tag_size(number)]
    return header + (masked(part, tag, keys) if number in IDENTITY_FORM else part) + ciphertext + tag


# Opening

def open_frame(frame, keys, known):
    """The clear frame. Raises not_opened if the frame does not open, or says other things than those known."""
    header, number = frame[:HEADER], frame[0] & 0x1F
    require_opened(number in TYPES)
    require_opened(known.anchor is not None or number != LIVE_FIX)
    require_opened(known.sequence is not None or number != ABSOLUTE_FIX or header[1] & WIDE)
    text, told = open_text(frame, keys, known)
    require_opened(told == known)
    return _clear_frame(header, text, known)


def open_text(frame, keys, known):
    """The plaintext, and the known values with those that the frame itself carries. Raises not_opened."""
    header, number = frame[:HEADER], frame[0] & 0x1F
    text_at, tag_at = HEADER + clear_part_size(header), len(frame) - tag_size(number)
    require_opened(text_at <= tag_at and not (number in IDENTITY_FORM and header[1] & LONG))
    part, tag = frame[HEADER:text_at], frame[tag_at:]
    if number in IDENTITY_FORM:
        part = masked(part, tag, keys)
    told = _told(header, part, known)
    require_opened(clear_part(header, told) == part)  # the anchor is another one, or a bit is 1 that must be 0
    text = ascon.decrypt(keys.up, nonce(told), associated(header, len(frame), part, told), frame[text_at:tag_at], tag)
    require_opened(text is not None)
    return text, told


def _told(header, part, known):
    """The known values, replaced by those that the frame itself carries: all of them in an identity, else the counter."""
    upper, number = known.counter >> 8, header[0] & 0x1F
    if number in IDENTITY_FORM:
        known = known._replace(log=Log(known.log.device_id, int.from_bytes(part[:4], "big") >> 6),
                               boot_count=int.from_bytes(part[4:8], "big"))
        upper = int.from_bytes(part[8:], "big")
    elif header[1] & LONG:
        upper = int.from_bytes(part[:COUNTER_PART], "big")
    return known._replace(counter=upper << 8 | header[3])


def _clear_frame(header, text, known):
    """The clear frame of an opened one, with its CRC."""
    number, flags = header[0] & 0x1F, header[1] & POLL
    low_byte, payload, anchor, unsent = 0, text, b"", b""
    if number == IDENTITY:
        payload = known.log.device_id.to_bytes(8, "big") + nonce(known)[:8] + text
    elif number == PROBE:
        payload = known.log.tag().to_bytes(3, "big") + text
    elif number in (ABSOLUTE_FIX, BATCH):
        require_opened(text)
        low_byte, payload = text[0], text[1:]
    elif number == LIVE_FIX:
        low_byte = known.anchor["sequence"] + rangecoder.RangeDecoder(text).gamma() & 0xFF
        anchor = live.anchor_bytes(known.anchor)
    elif number == TOMBSTONE:
        flags |= header[1] & DELIVERED_ELSEWHERE
    if number == ABSOLUTE_FIX:
        require_opened(is_wide(payload) == bool(header[1] & WIDE))
        unsent = b"" if is_wide(payload) else fixes.upper_bytes(known.sequence)
    return frames.assemble(header[0], flags, header[2], low_byte, payload,
                           known.log if frames.MESSAGES[number].bound else None, anchor=anchor, unsent=unsent)
