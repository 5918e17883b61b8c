"""Vectors of power reports (section 13), valid and invalid."""

import frames
from frames import POWER_REPORT
from vector_parts import ADDRESS, LOG, ORIGIN_BITS, OTHER_DEVICE, OTHER_LOG, bits, frame_of

TOP = (1 << 32) - 1
MEDIUM = (1 << 24) - 1
MOST_PAYLOAD = 246

POWER = {"type": POWER_REPORT, "mode": 3, "supply": 1, "uptime": 86_461, "seconds_to_search": 412, "failures_in_row": 2,
         "time_to_fix": 63, "gnss_seconds": 1234, "listening_milliseconds": 345_678, "awake_milliseconds": 4_567_890,
         "searches": 97, "failures": 5}
NONE = {"seconds_to_search": None, "time_to_fix": None}
# The bits of POWER.
PARTS = {"mode": (3, 4), "supply": (1, 3), "reserved": (0, 1), "uptime": (86_461, 32), "seconds_to_search": (412, 24),
         "failures_in_row": (2, 8), "time_to_fix": (63, 16), "gnss_seconds": (1234, 32), "listening_milliseconds": (345_678, 32),
         "awake_milliseconds": (4_567_890, 32), "searches": (97, 24), "failures": (5, 24)}
SIZE = 29  # bytes of the payload


def power_bits(**changes):
    """The payload of POWER with some parts replaced."""
    return bits(*{**PARTS, **changes}.values())


def add_valid(v):
    """All valid vectors of power reports."""
    def report(name, meaning, flags=0, **changes):
        v.add(POWER_REPORT, f"power-report-{name}", f"Power report: {meaning}.", {**POWER, **changes}, flags=flags)

    report("plain", "every field known")
    report("none", "no search is planned, and there was no position since the boot", **NONE)
    for field in NONE:
        report(f"none-{field.replace('_', '-')}", f"only {field.replace('_', ' ')} is none", **{field: None})
    lowest = {field: 0 for field in POWER if field != "type"}
    report("lowest", "every field 0", **lowest)
    highest = {**lowest, "mode": 5, "supply": 5, "uptime": TOP, "seconds_to_search": MEDIUM - 1, "failures_in_row": 255,
               "time_to_fix": 65_534, "gnss_seconds": TOP, "listening_milliseconds": TOP, "awake_milliseconds": TOP,
               "searches": MEDIUM, "failures": MEDIUM}
    report("highest", "every field at its highest", **highest)
    report("highest-none", "every field at its highest, or none", **{**highest, **NONE}, flags=7)
    for field, value in highest.items():
        report(f"only-{field.replace('_', '-')}", f"only {field.replace('_', ' ')} is not 0", **{**lowest, field: value})
    for value in range(6):
        report(f"mode-{value}", f"mode {value}", mode=value)
        report(f"supply-{value}", f"supply {value}", supply=value)
    report("stopped", "a collar that has never logged positions in this boot", mode=0, supply=0, **NONE, failures_in_row=0,
           gnss_seconds=0, searches=0, failures=0)
    report("continuous", "a receiver that is always on, and a full-duplex link", mode=1, supply=5, seconds_to_search=0,
           failures_in_row=0, gnss_seconds=86_461, listening_milliseconds=0)
    report("no-sky", "255 failures in a row or more, off until the next search in 24 hours", mode=4, supply=0,
           seconds_to_search=86_400, failures_in_row=255, time_to_fix=None, searches=300, failures=300)
    report("find", "find is in force, and the receiver is on", mode=5, supply=5, seconds_to_search=0)
    for poll in range(1, 8):
        report(f"poll-{poll}", f"wants an answer, poll number {poll}", flags=poll)
    _add_other(v)


def _add_other(v):
    """Power reports that a sender of this version does not write."""
    def other(name, meaning, payload, flags=0, low_byte=0):
        v.add_frame(f"power-report-{name}", f"Power report, not canonical: {meaning}.",
                    frame_of(POWER_REPORT, payload, flags, ADDRESS, low_byte), canonical=False, origin=ORIGIN_BITS, expected=POWER)

    other("reserved", "the reserved bit set", power_bits(reserved=(1, 1)))
    for name, after in (("1", b"\0"), ("2", b"\xFF\x01"), ("15", bytes(range(0xE0, 0xEF))), ("217", b"\xA5" * (MOST_PAYLOAD - SIZE))):
        other(f"trailing-{name}", f"{name} bytes after the last field", power_bits() + after)
    other("low-byte", "a low byte that is not 0", power_bits(), low_byte=9)
    for flags in (0x08, 0x10, 0x1F):
        other(f"ignorable-flags-{flags:02x}", f"flags 0x{flags:02x}, reserved bits that a receiver ignores", power_bits(), flags)


def add_invalid(v):
    """All invalid vectors of power reports."""
    for size in range(SIZE):
        v.add(f"truncated-power-report-{size:02}", f"Power report with {size} of {SIZE} bytes of payload.",
              frame_of(POWER_REPORT, power_bits()[:size]), "truncated")

    def bad(name, meaning, field, payload):
        v.add(f"field-power-report-{name}", f"Power report: {meaning}.", frame_of(POWER_REPORT, payload), "invalid_field", field)

    for mode in range(6, 16):
        bad(f"mode-{mode}", f"mode {mode}", "mode", power_bits(mode=(mode, 4)))
    for supply in (6, 7):
        bad(f"supply-{supply}", f"supply {supply}", "supply", power_bits(supply=(supply, 3)))
    bad("supply-6-reserved", "supply 6, the reserved bit set", "supply", power_bits(supply=(6, 3), reserved=(1, 1)))
    bad("mode-6-supply-6", "mode 6 and supply 6; the mode comes first", "mode", power_bits(mode=(6, 4), supply=(6, 3)))
    bad("mode-15-truncated", "mode 15 in the only byte of the payload; the mode comes first", "mode",
        power_bits(mode=(15, 4))[:1])
    bad("supply-7-truncated", "supply 7, and the payload ends before its last byte; the supply comes first", "supply",
        power_bits(supply=(7, 3))[:-1])
    bad("mode-6-trailing", "mode 6, and a byte after the last field", "mode", power_bits(mode=(6, 4)) + b"\0")

    good = frame_of(POWER_REPORT, power_bits())
    for name, place in (("first-field", 4), ("time-to-fix", 13), ("last-field", -4), ("check", -1)):
        damaged = bytearray(good)
        damaged[place] ^= 0x80
        v.add(f"check-power-report-flipped-{name}", f"Power report, one bit of the frame is wrong: {name.replace('-', ' ')}.",
              bytes(damaged), "check_failed")
    damaged = bytearray(frame_of(POWER_REPORT, power_bits(mode=(6, 4))))
    damaged[-1] ^= 1
    v.add("check-power-report-mode-6", "Power report with mode 6 and a wrong CRC: the CRC comes first.", bytes(damaged), "check_failed")
    v.add("check-power-report-not-bound", "Power report whose CRC is not bound.",
          frames.assemble(good[0], 0, ADDRESS, 0, power_bits()), "check_failed")
    for name, log, other in (("log", OTHER_LOG, "log id"), ("device", OTHER_DEVICE, "device id")):
        v.add(f"check-power-report-wrong-{name}", f"Power report whose CRC is bound to another {other}.",
              frame_of(POWER_REPORT, power_bits(), log=log), "check_failed")
    v.add("check-power-report-byte-lost", "Power report that has lost its last byte of payload.",
          good[:-4] + good[-3:], "check_failed")
