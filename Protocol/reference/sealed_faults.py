"""Vectors of sealed frames that must not open."""

import frames
import sealing
import sealing_collar
from power_vectors import POWER
from report_vectors import STATUS
from sealed_parts import COLLAR, HOST, KEY, LIVE, OTHER_KEY, flipped, keys_of, vector_of
from sealing_keys import SEALED
from vector_parts import ACKNOWLEDGEMENT, ADDRESS, FIX, IDENTITY, LOG, OTHER_DEVICE, OTHER_LOG
from wire import ProtocolError

ORIGIN = "frame encoded and sealed by the reference implementation; then the frame or a value was changed by hand"
ORIGIN_FLAG = "frame encoded by the reference implementation, and sealed by it with another flag than its own"
KEYS = keys_of(COLLAR)
FIX_KNOWN = COLLAR._replace(sequence=FIX["sequence"])
LIVE_KNOWN = COLLAR._replace(anchor=FIX)
SETTINGS_REQUEST = {"type": 18, "request_id": 0x1234}
ANSWER = {**ACKNOWLEDGEMENT, "poll": HOST.poll}


def sealed(number, fields, known, long=False, index=None, flags=0, **hints):
    """A sealed frame with the right values."""
    clear = frames.encode(number, fields, ADDRESS, flags, known.log, anchor=known.anchor, **hints)
    return sealing.seal(clear, KEYS, known, long, index)


def half_of_tag(frame, size):
    """The frame with a tag of this size whose second half is wrong everywhere."""
    return frame[:-size // 2] + bytes(byte ^ 0xFF for byte in frame[-size // 2:])


def add_faults(v):
    """All vectors that must not open."""
    def add(name, meaning, frame, known, key=KEY, origin=ORIGIN):
        try:
            sealing.open_sealed(frame, keys_of(known, key), known)
        except ProtocolError as error:
            if error.reason != "not_opened":
                raise AssertionError(f"{name} fails with {error}") from error
        else:
            raise AssertionError(f"{name} opens")
        v.put(f"not-opened-{name}", {**vector_of(f"{meaning}.", origin, frame, known, key), "error": "not_opened"})

    _add_damages(add)
    _add_host_damages(add)
    _add_other_values(add)
    _add_other_answers(add)
    _add_sequences(add)
    _add_widths(add)


def _add_damages(add):
    """Frames of a collar with one wrong bit, or of another length."""
    fix, status = sealed(2, FIX, FIX_KNOWN, flags=5, wide=False), sealed(6, STATUS, COLLAR)
    for name, part, place, bit in (
            ("address", "the address", 2, 0), ("low-byte", "the low byte", 3, 0), ("poll", "the poll number", 1, 0),
            ("long", "the flag long", 1, 4), ("flag-3", "flag bit 3", 1, 3), ("ciphertext", "the ciphertext", 4, 7),
            ("tag", "the tag", -6, 7)):
        add(f"flipped-{name}", f"Absolute fix: one bit is wrong in {part}", flipped(fix, place, bit), FIX_KNOWN)
    add("flipped-type", "Status: its type says that it is a settings report", flipped(status, 0), COLLAR)
    report = sealed(15, POWER, COLLAR)
    add("flipped-type-power-report", "Power report: its type says that it is an application message", flipped(report, 0, 1), COLLAR)
    for name, part, place in (("ciphertext", "the ciphertext", 4), ("tag", "the tag", -1)):
        add(f"flipped-power-report-{name}", f"Power report: one bit is wrong in {part}", flipped(report, place), COLLAR)
    add("flipped-elsewhere", "Tombstone: its flag says that its fixes were not lost, but delivered elsewhere",
        flipped(sealed(9, {"ranges": [[17, 17]]}, COLLAR), 1, 3), COLLAR)
    long_fix = sealed(2, FIX, FIX_KNOWN, long=True, wide=False)
    add("flipped-counter", "Absolute fix: one bit is wrong in the upper part of its counter", flipped(long_fix, 6), FIX_KNOWN)
    identity = sealed(1, IDENTITY, COLLAR, flags=1)
    for name, part, place in (("log", "the masked log id", 4), ("reserved", "the masked bits behind the log id", 7),
                              ("boot-count", "the masked boot count", 11), ("counter", "the masked counter", 14),
                              ("tag", "the tag, from which the mask is made", -1)):
        add(f"flipped-identity-{name}", f"Identity: one bit is wrong in {part}", flipped(identity, place), COLLAR)
    for name, part, place in (("anchor", "the low byte of its anchor's sequence", 4), ("ciphertext", "the ciphertext", 5)):
        add(f"flipped-live-fix-{name}", f"Live fix: one bit is wrong in {part}", flipped(sealed(3, LIVE, LIVE_KNOWN), place),
            LIVE_KNOWN)

    add("byte-lost-fix", "Absolute fix: its last byte is lost", fix[:-1], FIX_KNOWN)
    add("byte-gained", "Status: there is a zero byte behind its tag", status + b"\0", COLLAR)
    add("shortest", "Status: its first 7 bytes, too few for a tag of 6 bytes", status[:7], COLLAR)
    add("half-of-tag", "Status: only the first half of its tag is right", half_of_tag(status, 6), COLLAR)


def _add_host_damages(add):
    """Frames of a host with one wrong bit, or of another length."""
    answer, request = sealed(16, ANSWER, HOST, index=0), sealed(18, SETTINGS_REQUEST, HOST, index=1)
    for name, part, place in (("low-byte", "the low byte", 3), ("receiver", "the receiver id", 7), ("salt", "the salt", 8),
                              ("ciphertext", "the ciphertext", 11), ("tag", "the tag", -8)):
        add(f"flipped-acknowledgement-{name}", f"Acknowledgement: one bit is wrong in {part}", flipped(answer, place), HOST)
    for bit in (3, 4):
        add(f"flipped-acknowledgement-company-bit-{bit}", f"Acknowledgement: flag bit {bit}, of the company, is wrong",
            flipped(answer, 1, bit), HOST)
    add("other-index", "Settings request: sealed as the first request before an answer, it says that it is the second",
        flipped(flipped(request, 1, 0), 1, 1), HOST)
    add("byte-lost-acknowledgement", "Acknowledgement: its last byte is lost", answer[:-1], HOST)
    add("half-of-tag-acknowledgement", "Acknowledgement: only the first half of its tag is right", half_of_tag(answer, 8), HOST)


def _add_other_values(add):
    """Right frames of a collar, and a receiver with other values."""
    status, identity = sealed(6, STATUS, COLLAR), sealed(1, IDENTITY, COLLAR)
    add("other-boot-count", "Status: of another boot", status, COLLAR._replace(boot_count=COLLAR.boot_count + 1))
    add("other-counter", "Status: its counter is another one with the same low byte", status,
        COLLAR._replace(counter=COLLAR.counter + 256))
    add("other-log", "Status: of another log", status, COLLAR._replace(log=OTHER_LOG))
    for name, frame in (("status", status), ("identity", identity)):
        add(f"other-device-{name}", f"{name.title()}: of another device with the same key", frame,
            COLLAR._replace(log=OTHER_DEVICE))
        add(f"other-key-{name}", f"{name.title()}: sealed with another key", frame, COLLAR, OTHER_KEY)


def _add_other_answers(add):
    """Right frames of a host, and a collar with other values."""
    answer, request = sealed(16, ANSWER, HOST, index=0), sealed(18, SETTINGS_REQUEST, HOST, index=1)
    for name, title, frame in (("acknowledgement", "Acknowledgement", answer),
                               ("settings-request", "Settings request", request)):
        add(f"other-poll-{name}", f"{title}: of another poll, whose counter has the same low byte", frame,
            HOST._replace(counter=HOST.counter - 256))
    add("other-boot-count-acknowledgement", "Acknowledgement: of another boot", answer,
        HOST._replace(boot_count=HOST.boot_count - 1))
    add("other-log-acknowledgement", "Acknowledgement: of another log", answer, HOST._replace(log=OTHER_LOG))
    add("other-key-acknowledgement", "Acknowledgement: sealed with another key", answer, HOST, OTHER_KEY)
    add("other-receiver-settings-request", "Settings request: of another receiver than the collar's", request,
        HOST._replace(receiver_id=HOST.receiver_id + 1))


def _add_sequences(add):
    """Other sequences and other anchors than those of the sender."""
    short, anchored = sealed(2, FIX, FIX_KNOWN, wide=False), sealed(3, LIVE, LIVE_KNOWN)
    add("upper-half", "Absolute fix: the upper half of its short sequence is 0, not 3", short,
        FIX_KNOWN._replace(sequence=FIX["sequence"] + 3 * 65_536))
    for field, value in (("time", FIX["time"] + 1), ("battery", None), ("sequence", FIX["sequence"] + 256)):
        add(f"anchor-{field}", f"Live fix: the receiver's anchor has another {field}", anchored,
            LIVE_KNOWN._replace(anchor={**FIX, field: value}))


def _add_widths(add):
    """Absolute fixes whose flag bit 3 differs from the *wide* of their payload, with a right tag."""
    for name, meaning, wide, flags in (
            ("flag-of-wide", "the short form with the flag of the wide one", False, sealing_collar.WIDE),
            ("flag-of-short", "the wide form with the flag of the short one", True, 0)):
        clear = frames.encode(2, FIX, ADDRESS, 0, LOG, wide=wide)
        header = bytes([clear[0], SEALED | flags, ADDRESS, COLLAR.counter & 0xFF])
        add(name, f"Absolute fix: {meaning}", sealing_collar.close(header, clear[3:-3], KEYS, FIX_KNOWN), FIX_KNOWN,
            origin=ORIGIN_FLAG)
