"""Captures for the tests. The independent decoder reads them and hears their frames: it shares no code with the program."""


import capture
from capture import BEGAN, DUE, ENDED, FOUND, OPENED, READ, UNPLUGGED, WROTE, blocks  # noqa: E402, F401
from listener import Listener, hear_capture

APPLICATION = 4  # an option of a section


def records(data):
    """The records of a capture of one program. Checks also what CAPTURE.md says of them and readers do not need."""
    for kind, body, order, _ in blocks(data):
        if kind == capture.SECTION and capture.options(body[16:], order)[APPLICATION] != b"collar-link":
            raise ValueError("another program wrote this")
    found = list(capture.records(data))
    for earlier, later in zip(found, found[1:]):
        if later.section == earlier.section and later.microseconds < earlier.microseconds:
            raise ValueError("the time goes back")
    return found


def values(fix):
    """The time, position and battery of decoded codes."""
    degree = 10 ** (5 + fix["position_step"])
    altitude = fix["altitude"]
    return (
        fix["time"], fix["latitude"] / degree, fix["longitude"] / degree, ("watchOS", "iOS", "collar")[fix["source"]],
        None if altitude is None else altitude / (1, 10)[fix["altitude_step"]], -1 if fix["battery"] is None else fix["battery"])


def values_of_lines(lines):
    """The same of fix lines."""
    return {(line["collar"], line["log"], line["seq"]): (
        line["ts_unix_ms"], line["coordinate"]["latitude"], line["coordinate"]["longitude"], line["source"], line["alt_m"],
        line["battery_pct"]) for line in lines if line["type"] == "fix"}


def listen(found):
    """What lines must say of the fixes in records, by log and sequence."""
    listener = Listener()
    for _ in hear_capture(found, listener):
        pass
    return {(f"{log.device_id:016x}", log.log_id, fix["sequence"]): values(fix) for log, fix in listener.known.stored}
