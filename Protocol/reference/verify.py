"""Checks this implementation against itself, the text, and the vectors."""

import json
import math
from pathlib import Path

import batchcoder
import exchange
import fixes
import frames
import rangecoder
import sealing
import sealing_collar
import way
from channel_access import ChannelAccess, Modem
from host import Host
from sealing_keys import Known, derive
from wire import ProtocolError, SerialDecoder, crc24, stuff

ERRORS = {"too_short", "too_long", "unsupported_version", "critical_flags", "not_opened", "unknown_type",
          "check_failed", "truncated", "trailing_bytes", "nonzero_padding", "invalid_field",
          "stuffing"}
COMMON_KEYS = {"meaning", "origin", "bare", "serial", "device_id", "log_id", "reference", "anchor"}
VALID_KEYS = COMMON_KEYS | {"decoded", "canonical", "sender"}
INVALID_KEYS = COMMON_KEYS | {"error", "field"}
SEALED_KEYS = {"meaning", "origin", "bare", "serial", "key", "device_id", "log_id", "boot_count", "counter"}
EXCHANGE_KEYS = {"meaning", "origin", "key", "device_id", "log_id", "boot_count", "address", "new_key", "counter"}
EXCHANGE_FRAMES = {"request", "offer", "activation"}
ACCESS_KEYS = {"meaning", "origin", "modem", "listens", "heartbeat", "steps"}
SESSION_KEYS = {"meaning", "origin", "receiver_id", "steps", "fixes", "logs", "rejected"}


class Failure(Exception):
    """A vector, or the implementation, is wrong."""


def expect(condition, message):
    """Fail with the message unless the condition holds."""
    if not condition:
        raise Failure(message)


def self_check():
    """Check the numbers of the text that can be computed."""
    expect(crc24(b"123456789") == 0xBACADD, "CRC of 123456789")
    text = (Path(__file__).resolve().parent.parent / "PROTOCOL.md").read_text("utf-8")
    table = fixes.accuracy_table_of_text(text)
    expect(len(table) == 127, f"accuracy table of the text has {len(table)} values")
    for code, (computed, written) in enumerate(zip(fixes.ACCURACY_TABLE, table)):
        expect(computed == written, f"accuracy code {code}: {computed}, the text has {written}")
        expect(fixes.accuracy_code(written) == code, f"accuracy code of {written} mm")
    for degrees, sine in enumerate(way.SINES):
        expect(sine == round(math.sin(math.radians(degrees)) * (1 << 15)), f"sine of {degrees} degrees")
    for name, coder in (("live fix", rangecoder), ("batch", batchcoder)):
        check_contexts(name, coder)


def check_contexts(name, coder):
    """Check that the contexts follow each other without gaps, and are as many as the text says."""
    sizes = {**coder.DECISIONS, **{block.first: block.instances * block.size for block in coder.BLOCKS}}
    following = 0
    for first, size in sorted(sizes.items()):
        expect(first == following, f"contexts of a {name}: some begin at {first}, not {following}")
        following += size
    expect(following == coder.CONTEXTS, f"contexts of a {name} end at {following}")


def unstuff(serial):
    """The only frame of a capture. Raises its fault."""
    found = SerialDecoder().feed(serial)
    bytewise = SerialDecoder()
    again = [item for byte in serial for item in bytewise.feed(bytes([byte]))]
    expect(len(found) == 1, f"serial holds {len(found)} frames or faults, not one")
    expect([str(item) for item in found] == [str(item) for item in again],
           "serial decodes otherwise when it comes byte by byte")
    if isinstance(found[0], ProtocolError):
        raise found[0]
    return found[0]


def log_of(vector):
    """The log to which the CRC of the vector is bound, or None."""
    expect(("device_id" in vector) == ("log_id" in vector), "device_id and log_id belong together")
    if "device_id" not in vector:
        return None
    return frames.Log(int(vector["device_id"], 16), vector["log_id"])


def check_valid(vector):
    """Check that a valid vector decodes to `decoded` and encodes to its bytes."""
    missing = {"meaning", "origin", "bare", "serial", "decoded", "sender"} - set(vector)
    expect(not missing, f"keys missing: {sorted(missing)}")
    expect(not set(vector) - VALID_KEYS, f"unknown keys: {sorted(set(vector) - VALID_KEYS)}")
    bare, serial, log = bytes.fromhex(vector["bare"]), bytes.fromhex(vector["serial"]), log_of(vector)
    reference = vector.get("reference", 0)
    anchor = vector.get("anchor")
    frame = frames.decode(bare, log, reference, anchor)
    expect((anchor is not None) == (frame.type == frames.LIVE_FIX), "a live fix has an anchor")
    expect(frame.decoded == vector["decoded"],
           f"bare decodes to {json.dumps(frame.decoded, sort_keys=True)}")
    expect(frames.MESSAGES[frame.type].bound == (log is not None),
           "device_id and log_id must be there exactly where the CRC is bound")
    expect(unstuff(serial) == bare, "serial does not hold the bare frame")
    expect(stuff(bare) == serial, "bare is not stuffed to serial")
    sender = dict(frame.hints, address=frame.address, flags=frame.flags)
    expect(sender == vector["sender"], f"sender is {json.dumps(sender, sort_keys=True)}")

    again = frames.encode(frame.type, vector["decoded"], frame.address,
                          frame.flags & frames.known_flags(frame.type), log, anchor=anchor,
                          **frame.hints)
    if vector.get("canonical", True):
        expect(again == bare, f"encodes to {again.hex()}")
    else:
        expect(again != bare, "is canonical, but says it is not")
        expect(frames.decode(again, log, reference, anchor).decoded == vector["decoded"],
               "its canonical form decodes otherwise")


def check_invalid(vector):
    """Check that an invalid vector fails with exactly the error that it names."""
    expect({"meaning", "origin", "serial", "error"} <= set(vector), "keys missing")
    expect(not set(vector) - INVALID_KEYS, f"unknown keys: {sorted(set(vector) - INVALID_KEYS)}")
    expect(vector["error"] in ERRORS, f"no such error: {vector['error']}")
    expect(("field" in vector) == (vector["error"] == "invalid_field"),
           "field belongs to invalid_field")
    log, reference = log_of(vector), vector.get("reference", 0)
    named = {key: vector[key] for key in ("error", "field") if key in vector}
    for form in ("bare", "serial"):
        if form not in vector:
            continue
        data = bytes.fromhex(vector[form])
        try:
            frames.decode(unstuff(data) if form == "serial" else data, log, reference,
                          vector.get("anchor"))
        except ProtocolError as error:
            expect(error.as_json() == named, f"{form} fails with {error}, not with {named}")
        else:
            raise Failure(f"{form} decodes, but must fail with {named}")


def check_session(vector):
    """Check that a host that gets the bytes of the radio answers, stores, loses and rejects as the session says."""
    expect(set(vector) == SESSION_KEYS, f"keys differ: {sorted(set(vector) ^ SESSION_KEYS)}")
    expect(not set(vector["rejected"]) - ERRORS - {"unknown_collar"}, f"no such errors: {vector['rejected']}")
    host = Host(vector["receiver_id"])
    answers, time = host.open(0), 0
    for number, step in enumerate(vector["steps"]):
        expect(set(step) in ({"time", "radio"}, {"time", "host"}), f"step {number} has other keys")
        expect(step["time"] >= time, f"step {number}: time goes back")
        if step["time"] > time:
            expect(not answers, f"before step {number} the host sends also {hex_list(answers)}")
            time = step["time"]
            expect("host" in step or not host.wait(time - 1), f"before step {number} the host sends by itself")
            answers = host.wait(time)
        if "host" in step:
            frame = bytes.fromhex(step["host"])
            expect(frame in answers, f"step {number}: the host does not send this, but {hex_list(answers)}")
            answers.remove(frame)
        else:
            expect(not answers, f"before step {number} the host sends also {hex_list(answers)}")
            answers = host.receive(bytes.fromhex(step["radio"]), time)
    expect(not answers, f"at the end the host sends also {hex_list(answers)}")
    fixes = [{**names_of(log), **fix} for log, fix in host.known.stored]
    expect(fixes == vector["fixes"], f"stores {json.dumps(fixes)}")
    logs = [{**names_of(known.log), "first_missing": known.first_missing(), "durable": known.durable(),
             "lost": known.lost, **({"elsewhere": known.elsewhere} if known.elsewhere else {})}
            for known in host.known.logs]
    expect(logs == vector["logs"], f"knows {json.dumps(logs)}")
    expect(host.rejected == vector["rejected"], f"rejects {host.rejected}")


def known_of(vector, number):
    """What both ends know of a sealed frame of this type."""
    needed = {frames.ABSOLUTE_FIX: {"sequence"}, frames.LIVE_FIX: {"anchor"}}.get(number, set())
    if number >= 16:
        needed = {"receiver_id", "poll"}
    other = set(vector) ^ (SEALED_KEYS | needed | {"error" if "error" in vector else "clear"})
    expect(not other, f"keys differ: {sorted(other)}")
    return Known(log_of(vector), vector["boot_count"], vector["counter"], **{name: vector[name] for name in needed})


def check_sealed(vector):
    """Check that a sealed frame opens to `clear`, which decodes, and that `clear` is sealed to it; or that it does not open."""
    bare = bytes.fromhex(vector["bare"])
    known = known_of(vector, bare[0] & 0x1F)
    keys = derive(bytes.fromhex(vector["key"]), known.log.device_id)
    expect(stuff(bare).hex() == vector["serial"] and unstuff(stuff(bare)) == bare, "bare is not stuffed to serial")
    check_without_key(bare, known)
    if "error" in vector:
        expect(vector["error"] == "not_opened", f"no such error: {vector['error']}")
        try:
            sealing.open_sealed(bare, keys, known)
        except ProtocolError as error:
            expect(error.as_json() == {"error": "not_opened"}, f"fails with {error}")
            return
        raise Failure("opens, but must not")

    clear = sealing.open_sealed(bare, keys, known)
    expect(clear.hex() == vector["clear"], f"opens to {clear.hex()}")
    frame = sealing.decode_clear(clear, known)
    if known.sequence is not None:
        expect(frame.decoded["sequence"] == known.sequence, f"opens to sequence {frame.decoded['sequence']}")
        check_references(known.sequence)
    if known.anchor is not None:
        check_anchor(known.anchor["sequence"], frame.decoded["sequence"])
    again = sealing.seal(clear, keys, known, bool(bare[1] & sealing_collar.LONG), bare[1] & 7)
    expect(again == bare, f"is sealed to {again.hex()}")


def check_without_key(bare, known):
    """Check that a receiver without a key does not use a sealed frame."""
    try:
        frames.decode(bare, known.log)
    except ProtocolError as error:
        # The flags and the type are found before the CRC, so the CRC is never the reason.
        expect(error.reason != "check_failed", f"without a key it fails with {error}")
    else:
        raise Failure("decodes without a key")


def check_references(sequence):
    """Check that a receiver tries the right upper half, and at most one other, for each reference that is near enough."""
    for reference in (sequence - 32_768, sequence, sequence + 32_768):
        if 0 <= reference < 1 << 32:
            halves = sealing_collar.upper_halves(reference)
            expect(sequence >> 16 in halves and len(halves) <= 2, f"reference {reference} gives {list(halves)}")


def check_anchor(anchor, sequence):
    """Check that the anchor is found as long as no sequence above that of its live fix is known."""
    for highest in range(anchor, sequence + 1):
        found = sealing_collar.anchor_sequence(anchor & 0xFF, highest)
        expect(found == anchor, f"the anchor is {found} if {highest} is known")


def check_exchange(vector):
    """Check that each frame of an exchange has an effect at its receiver, and says what the vector says; or has none."""
    other = (set(vector) ^ (EXCHANGE_KEYS | EXCHANGE_FRAMES)) - {"error"}
    expect(not other, f"keys differ: {sorted(other)}")
    expect((vector["key"] is None) == (vector["counter"] is None), "key and counter belong together")
    key, new_key = (None if vector[name] is None else bytes.fromhex(vector[name]) for name in ("key", "new_key"))
    offer = exchange.Offer(vector["address"], log_of(vector), vector["boot_count"], vector["counter"], new_key)
    wrong = vector.get("error")
    expect("error" not in vector or wrong in EXCHANGE_FRAMES, f"no such frame: {wrong}")
    for name, built in exchange.build(offer, key).items():
        frame = bytes.fromhex(vector[name])
        check_without_cable(name, frame)
        try:
            read = exchange.read(name, frame, offer, key)
        except ProtocolError as error:
            expect(name == wrong, f"{name} fails with {error}")
            continue
        expect(name != wrong, f"{name} has an effect, but must not")
        expect(read in (None, offer), f"{name} says {read}")
        expect(frame == built, f"{name} is built as {built.hex()}")


def check_without_cable(name, frame):
    """Check that a receiver that is not at a cable does not use a frame of an exchange, and not because of its CRC."""
    try:
        frames.decode(frame)
    except ProtocolError as error:
        expect(error.reason in ("unknown_type", "not_opened", "critical_flags"), f"{name} without a cable fails with {error}")
    else:
        raise Failure(f"{name} decodes without a cable")


def check_access(vector):
    """Check that a collar begins to listen, or to send, within the times of each step."""
    expect(set(vector) == ACCESS_KEYS, f"keys differ: {sorted(set(vector) ^ ACCESS_KEYS)}")
    modem = Modem(**vector["modem"])
    collar, now = ChannelAccess(modem, vector["listens"], 0, vector["heartbeat"]), 0
    for number, each in enumerate(vector["steps"]):
        step = dict(each)
        kind, time = step.pop("step"), step.pop("time")
        expect(time >= now, f"step {number}: time goes back")
        now, following = time, collar.next
        if kind in ("listen", "frame"):
            times = [step.pop("earliest"), step.pop("latest")]
            expect(times == [following.earliest, following.latest],
                   f"step {number}: the collar begins from {following.earliest} to {following.latest}, not from {times[0]} to {times[1]}")
            expect(times[1] <= time, f"step {number}: at {time} it may not have begun")
            expect(following.listens == (kind == "listen"), f"step {number}: the collar listens only before it sends")
        else:
            expect(time <= following.latest, f"step {number}: the collar sends before {time}")
        if kind == "frame":
            expect(step.pop("poll") == following.poll, f"step {number}: poll is {following.poll}")
        if kind == "urgent_fix":
            collar.fix(time, urgent=True)
        else:
            expect(kind in ("fix", "reply", "listen", "busy", "frame", "answer"), f"step {number}: no such step")
            getattr(collar, kind)(time, **step)


def hex_list(answers):
    """Frames for a message."""
    return [frame.hex() for frame in answers]


def names_of(log):
    """The keys that name a log."""
    return {"device_id": f"{log.device_id:016x}", "log_id": log.log_id}


def verify(folder):
    """Check all vectors. Returns the exit status."""
    failures = []
    counts = {}
    try:
        self_check()
    except Failure as failure:
        failures.append(f"self-check: {failure}")
    for kind, check in (("valid", check_valid), ("invalid", check_invalid), ("session", check_session),
                        ("sealed", check_sealed), ("exchange", check_exchange), ("access", check_access)):
        paths = sorted((Path(folder) / kind).glob("*.json"))
        counts[kind] = len(paths)
        for path in paths:
            try:
                check(json.loads(path.read_text("utf-8")))
            except (Failure, ProtocolError) as failure:
                failures.append(f"{kind}/{path.name}: {failure}")
            except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
                failures.append(f"{kind}/{path.name}: unusable: {error!r}")
        if not paths:
            failures.append(f"no vectors in {Path(folder) / kind}")
    for failure in failures:
        print(f"FAILED {failure}")
    print(f"checked {counts['valid']} valid and {counts['invalid']} invalid vectors and "
          f"{counts['session']} sessions and {counts['sealed']} sealed frames and "
          f"{counts['exchange']} exchanges of keys and {counts['access']} cases of channel access, {len(failures)} failures")
    return 1 if failures else 0
