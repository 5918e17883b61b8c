"""Vectors of the messages of sections 13 to 17 but the power report, valid and invalid."""

import frames
from vector_parts import ADDRESS, LOG, ORIGIN_BITS, OTHER_DEVICE, OTHER_LOG, bits, frame_of

TOP = (1 << 32) - 1
RECEIVER = 0xA1B2C3D4
RADIO = 0  # the address of the base radio

STATUS = {"type": 6, "tracking": True, "gnss": 2, "throttle": 0, "stationary": False, "resting": False,
          "since": 1_700_000_000, "battery": 83, "voltage": 3912, "temperature": 21,
          "uptime": 86_461, "last_error": 0, "fixes_sent": 4655, "queue_depth": 6, "drops": 1,
          "duplicates": 12, "retransmissions": 34, "airtime": 2_345_678,
          "clock": {"time": 1_700_000_123_456, "uptime": 789}}
STATUS_UNKNOWN = {"since": None, "battery": None, "voltage": None, "temperature": None, "clock": None}
SETTINGS = {"request_id": 0x1234, "version": 1_790_000_000_123, "origin": 0xABCDE,
            "entries": [[1, 1000], [2, 5000], [3, 60_000], [8, 60], [9, 5]]}
# The defaults of the keys 1, 2, …
DEFAULTS = [500, 1000, 2000, 5000, 500, 500, 30, 60, 5, 0, 500, 5000, 0, 0, 0, 0, 0, 60, 2000, 0, 0, 3600, 10]
SCHEDULE = [[16, 300_000], [17, 3_600_000], [18, 90], [19, 1500], [20, 7200]]
COMMAND = {"type": 20, "request_id": 0x4321, "receiver_id": RECEIVER, "action": 3, "argument": None}
# By type of an application message: the fields before the message itself, and their lowest and highest values.
MESSAGES = {13: {"type": 13, "sequence": 4661}, 29: {"type": 29, "request_id": 0xBEEF, "receiver_id": RECEIVER}}
EXTREMES = {13: ({"sequence": 0}, {"sequence": TOP - 1}),
            29: ({"request_id": 0, "receiver_id": 1}, {"request_id": 0xFFFF, "receiver_id": TOP})}
NOTICE = {"kind": 0, "outcome": None, "code": 0x51, "time": 1_700_000_123, "answered": None, "data": "00ff10"}
REQUEST = {**NOTICE, "kind": 1}
REPLY = {**NOTICE, "kind": 2, "outcome": 4, "answered": 0x1234}
KINDS = {"notice": NOTICE, "request": REQUEST, "reply": REPLY}
LORA = {"type": 11, "modulation": 1, "turnaround": 80, "frequency": 869_525_000,
        "bandwidth": 125_000, "spreading_factor": 7, "coding_rate": 0, "explicit_header": True,
        "crc": True, "low_data_rate": False, "preamble": 8, "power": 14}
RADIO_IDENTITY = {"type": 10, "radio_id": "fedcba9876543210", "firmware_version": [2, 0, 11],
                  "largest_frame": 253}

# The bits of LORA after modulation and turnaround.
LORA_PARTS = {"frequency": (869_525_000, 32), "bandwidth": (125_000, 32), "spreading_factor": (7, 4),
              "coding_rate": (0, 2), "switches": (0b110, 3), "reserved": (0, 7), "preamble": (8, 16),
              "power": (14, 8)}


# The bits of NOTICE behind the fields before it. `answered` has bits in a reply only.
MESSAGE_PARTS = {"kind": (0, 2), "reserved": (0, 2), "outcome": (0, 4), "code": (0x51, 8), "time": (1_700_000_123, 32),
                 "answered": (0, 0), "data": (0x00FF10, 24)}
# By kind: the parts in which a message of that kind differs. They turn the bits of NOTICE into those of REQUEST and REPLY.
KIND_PARTS = {"notice": {}, "request": {"kind": (1, 2)},
              "reply": {"kind": (2, 2), "outcome": (4, 4), "answered": (0x1234, 32)}}
MESSAGE_STARTS = {13: {"sequence": (4661, 32)}, 29: {"request_id": (0xBEEF, 16), "receiver_id": (RECEIVER, 32)}}


def defaults(first, last):
    """The entries of a settings report of these keys, with their defaults."""
    return [[key, DEFAULTS[key - 1]] for key in range(first, last + 1)]


def message_bits(number, **changes):
    """The payload of NOTICE as a message of this type, with some parts replaced."""
    return bits(*{**MESSAGE_STARTS[number], **MESSAGE_PARTS, **changes}.values())


def data_part(size):
    """Data of this size for a message, as a part."""
    return int.from_bytes(bytes(index & 0xFF for index in range(1, size + 1)), "big"), 8 * size


def lora_bits(**changes):
    """The payload of LORA with some parts replaced."""
    return bits((1, 8), (80, 16), *{**LORA_PARTS, **changes}.values())


def payload_of(number, fields):
    """The payload that the encoder writes."""
    return frames.encode(number, fields, ADDRESS, 0, LOG)[4:-3]


def add_valid(v):
    """All valid vectors of these messages."""
    _add_status(v)
    _add_settings(v)
    _add_commands(v)
    _add_application(v)
    _add_radio(v)


def _other(v, name, meaning, number, payload, expected, address=ADDRESS, low_byte=0):
    v.add_frame(name, meaning, frame_of(number, payload, 0, address, low_byte), canonical=False,
                origin=ORIGIN_BITS, expected=expected)


def _add_status(v):
    def status(name, meaning, **changes):
        v.add(6, f"status-{name}", f"Status: {meaning}.", {**STATUS, **changes})

    status("plain", "every field known, with a clock")
    status("no-clock", "no clock mapping", clock=None)
    status("unknown", "everything that may be unknown is", **STATUS_UNKNOWN)
    for field in STATUS_UNKNOWN:
        status(f"unknown-{field}", f"only {field} unknown", **{field: None})
    status("lowest", "every field at its lowest", tracking=False, gnss=0, throttle=0, since=1, battery=0,
           voltage=0, temperature=-127, uptime=0, last_error=0, fixes_sent=0, queue_depth=0, drops=0,
           duplicates=0, retransmissions=0, airtime=0, clock={"time": -1 << 47, "uptime": 0})
    medium = (1 << 24) - 1
    status("highest", "every field at its highest", gnss=3, throttle=3, stationary=True, resting=True, since=TOP, battery=100,
           voltage=8190, temperature=127, uptime=TOP, last_error=255, fixes_sent=TOP, queue_depth=medium,
           drops=medium, duplicates=medium, retransmissions=medium, airtime=TOP,
           clock={"time": (1 << 47) - 1, "uptime": 999})
    for value in range(4):
        status(f"gnss-{value}", f"GNSS {value}", gnss=value)
        status(f"throttle-{value}", f"throttle {value}", throttle=value)
    for tracking in (False, True):
        for stationary in (False, True):
            status(f"tracking-{int(tracking)}-stationary-{int(stationary)}",
                   f"tracking {int(tracking)}, stationary {int(stationary)}", tracking=tracking, stationary=stationary)
    status("resting", "the GNSS receiver rests", resting=True)
    status("resting-stationary", "the GNSS receiver of a stationary collar rests", stationary=True, resting=True)
    status("resting-no-clock", "the GNSS receiver rests; no clock mapping", resting=True, clock=None)
    for value in (0, 1, 3):
        status(f"resting-gnss-{value}", f"the GNSS receiver rests, GNSS {value}", gnss=value, resting=True)
    for code in (9, 10, 127, 128):
        status(f"last-error-{code}", f"last error {code}", last_error=code)
    status("freezing", "temperature -1", temperature=-1)
    status("clock-before-1970", "clock time -1 ms", clock={"time": -1, "uptime": 1})
    with_clock, without = payload_of(6, STATUS), payload_of(6, {**STATUS, "clock": None})
    expected = {**STATUS, "clock": None}
    _other(v, "status-trailing-1", "Status, not canonical: a zero byte behind the clock.", 6, with_clock + b"\0", STATUS)
    _other(v, "status-trailing-10", "Status, not canonical: ten bytes behind a status without clock.", 6,
           without + bytes(range(0xF0, 0xFA)), expected)
    _other(v, "status-trailing-246", "Status, not canonical: 246 bytes of payload.", 6,
           with_clock + b"\xA5" * (246 - len(with_clock)), STATUS)
    _other(v, "status-resting-trailing-1", "Status, not canonical: the GNSS receiver rests, a byte after the clock.", 6,
           bytes([with_clock[0] | 1]) + with_clock[1:] + b"\x7F", {**STATUS, "resting": True})
    _other(v, "status-low-byte", "Status, not canonical: a low byte that is not 0.", 6, with_clock, STATUS, low_byte=9)


def _add_settings(v):
    for request in (0, 1, 0xFFFF):
        v.add(18, f"settings-request-{request}", f"Settings request {request}.", {"type": 18, "request_id": request})
    for number, name in ((7, "report"), (19, "update")):
        for short, meaning, changes in (
                ("plain", "five entries", {}),
                ("empty", "no entry", {"entries": []}),
                ("zeros", "every field 0", {"request_id": 0, "version": 0, "origin": 0, "entries": [[0, 0]]}),
                ("highest", "every field at its highest",
                 {"request_id": 0xFFFF, "version": (1 << 44) - 1, "origin": (1 << 20) - 1, "entries": [[255, TOP]]}),
                ("unknown-keys", "keys that are not defined", {"entries": [[0, 1], [24, 2], [200, 3]]}),
                ("descending", "keys in descending order", {"entries": [[10, 1], [9, 7], [1, 500]]}),
                ("6-entries", "six entries, 48 bytes", {"entries": [[key, key << 24] for key in range(10, 16)]}),
                ("schedule", "keys 16 to 20", {"entries": SCHEDULE})):
            v.add(number, f"settings-{name}-{short}", f"Settings {name}: {meaning}.",
                  {"type": number, **SETTINGS, **changes})
    for first, last in ((1, 6), (7, 12), (13, 18), (19, 23)):
        v.add(7, f"settings-report-keys-{first}-to-{last}", f"Settings report: keys {first} to {last} with their defaults.",
              {"type": 7, **SETTINGS, "version": 0, "origin": 0, "entries": defaults(first, last)})
    for name, meaning, entries in (
            ("16", "the GNSS receiver is switched on every 5 minutes", SCHEDULE[:1]),
            ("21-to-23", "keys 21 to 23", [[21, 900], [22, 7200], [23, 20]]),
            ("lowest-16-to-20", "keys 16 to 20 with their lowest values that are not 0",
             [[16, 1000], [17, 1000], [18, 10], [19, 1], [20, 5]]),
            ("highest-16-to-20", "keys 16 to 20 with their highest values",
             [[16, 86_400_000], [17, 86_400_000], [18, 600], [19, 100_000], [20, 65_535]])):
        v.add(19, f"settings-update-{name}", f"Settings update: {meaning}.", {"type": 19, **SETTINGS, "entries": entries})
    # The report answers an update of keys 16, 1 and 255: it names those that the collar knows, in the order of their numbers.
    update = [[16, 300_000], [1, 1000], [255, 7]]
    v.add(19, "settings-update-answered", "Settings update: keys 16, 1 and 255.", {"type": 19, **SETTINGS, "entries": update})
    v.add(7, "settings-report-of-update", "Settings report: the answer to an update of keys 16, 1 and 255.",
          {"type": 7, **SETTINGS, "entries": sorted(update)[:2]})


def _add_commands(v):
    for action, argument, name in (
            (1, None, "start"), (2, None, "stop"), (3, None, "fix"), (4, 2500, "sound"), (4, 0, "sound-0"),
            (4, 0xFFFF, "sound-longest"), (5, None, "reboot"), (6, 0x01020304, "pair"), (6, 1, "pair-1"),
            (6, TOP, "pair-highest"), (7, None, "unpair"),
            (8, 3600, "find"), (8, 0, "find-0"), (8, 0xFFFF, "find-longest"), (9, None, "power-report")):
        v.add(20, f"command-{name}", f"Command: action {action}, argument {argument}.",
              {**COMMAND, "action": action, "argument": argument})
    v.add(20, "command-highest-ids", "Command: request id and receiver id at their highest.",
          {**COMMAND, "request_id": 0xFFFF, "receiver_id": TOP}, flags=7)
    v.add(20, "command-lowest-ids", "Command: request id 0, receiver id 1.", {**COMMAND, "request_id": 0, "receiver_id": 1})
    for outcome in range(9):
        v.add(8, f"result-{outcome}", f"Result: outcome {outcome}.", {"type": 8, "request_id": 0x4321, "outcome": outcome})


def _add_application(v):
    for number, own in MESSAGES.items():
        _add_messages(v, number, own)
    for sequence in (255, 256, 65_535, 65_536, 1 << 31):
        v.add(13, f"application-13-sequence-{sequence}", f"Application message from the collar: sequence {sequence}.",
              {**MESSAGES[13], **NOTICE, "sequence": sequence})


def _add_messages(v, number, own):
    """Application messages of one type. `own` has its fields before the message itself."""
    end = "the host" if number == frames.HOST_MESSAGE else "the collar"

    def message(name, meaning, flags=0, **changes):
        v.add(number, f"application-{number}-{name}", f"Application message from {end}: {meaning}.",
              {**own, **NOTICE, **changes}, flags=flags)

    def other(name, meaning, parts, expected=NOTICE, flags=0, low_byte=0):
        v.add_frame(f"application-{number}-{name}", f"Application message from {end}, not canonical: {meaning}.",
                    frame_of(number, message_bits(number, **parts), flags, ADDRESS, low_byte), canonical=False,
                    origin=ORIGIN_BITS, expected={**own, **expected})

    for name, fields in KINDS.items():
        message(name, f"{name} with three bytes of data", **fields)
        for size in (0, 1, 19, 20):
            message(f"{name}-{size}", f"{name} with {size} bytes of data",
                    **{**fields, "data": bytes(range(0xF0 - size, 0xF0)).hex()})
        message(f"{name}-zeros", f"{name} with 20 zero bytes of data", **{**fields, "data": "00" * 20})
        message(f"{name}-ones", f"{name} with 20 bytes of data whose bits are all set", **{**fields, "data": "ff" * 20})
        message(f"{name}-time-unknown", f"{name}, time unknown", **{**fields, "time": None})
        for reserved in (1, 2, 3):
            other(f"{name}-reserved-{reserved}", f"{name} with {reserved} in the reserved bits",
                  {**KIND_PARTS[name], "reserved": (reserved, 2)}, fields)
        other(f"{name}-low-byte", f"{name} with a low byte that is not 0", KIND_PARTS[name], fields, low_byte=0x34)
    for name in ("notice", "request"):
        for outcome in (1, 8, 9, 15):
            other(f"{name}-outcome-{outcome}", f"{name} with {outcome} in the bits of the outcome",
                  {**KIND_PARTS[name], "outcome": (outcome, 4)}, KINDS[name])
    other("reserved-and-outcome", "notice with all bits of its first byte set but those of the kind",
          {"reserved": (3, 2), "outcome": (15, 4)})
    for flags in (0x08, 0x10, 0x1F):
        other(f"ignorable-flags-{flags:02x}", f"flags 0x{flags:02x}, reserved bits that a receiver ignores", {}, flags=flags)

    for outcome in range(9):
        message(f"reply-outcome-{outcome}", f"reply with outcome {outcome}", **{**REPLY, "outcome": outcome})
    for answered in (0, 1, 0xFFFF, 0x10000, TOP - 1, TOP):
        message(f"reply-answered-{answered}", f"reply that answers {answered}", **{**REPLY, "answered": answered})
    for code in (0, 1, 0x80, 255):
        message(f"code-{code}", f"code {code}", code=code)
    for time in (1, 1 << 31, TOP):
        message(f"time-{time}", f"time {time}", time=time)
    for poll in range(1, 8):
        message(f"poll-{poll}", f"wants an answer, poll number {poll}", flags=poll)
    lowest, highest = EXTREMES[number]
    message("lowest", "notice with every field at its lowest", **lowest, code=0, time=None, data="")
    message("reply-lowest", "reply with every field at its lowest",
            **lowest, kind=2, outcome=0, code=0, time=None, answered=0, data="")
    message("reply-highest", "reply with every field at its highest",
            flags=7, **highest, kind=2, outcome=8, code=255, time=TOP, answered=TOP, data="ff" * 20)
    for field, value in [*lowest.items(), *highest.items()]:
        message(f"{field.replace('_', '-')}-{value}", f"{field.replace('_', ' ')} {value}", **{field: value})


def _add_radio(v):
    def radio(number, name, meaning, fields, flags=0):
        v.add(number, name, meaning, fields, address=RADIO, flags=flags)

    for name, changes in (("plain", {}), ("lowest", {"radio_id": "0" * 16, "firmware_version": [0, 0, 0], "largest_frame": 51}),
                          ("highest", {"radio_id": "f" * 16, "firmware_version": [255, 255, 255]})):
        radio(10, f"radio-identity-{name}", f"Radio identity: {name}.", {**RADIO_IDENTITY, **changes})
    payload = payload_of(10, RADIO_IDENTITY)
    for name, behind in (("trailing-1", b"\0"), ("trailing-234", b"\x5A" * 234)):
        _other(v, f"radio-identity-{name}", f"Radio identity, not canonical: {len(behind)} bytes behind the last field.",
               10, payload + behind, RADIO_IDENTITY, RADIO)
    for name, changes in (
            ("plain", {}), ("lowest", {"turnaround": 0, "frequency": 0, "bandwidth": 1, "spreading_factor": 5,
                                       "explicit_header": False, "crc": False, "preamble": 0, "power": -128}),
            ("highest", {"turnaround": 65_535, "frequency": TOP, "bandwidth": TOP, "spreading_factor": 12, "coding_rate": 3,
                         "low_data_rate": True, "preamble": 65_535, "power": 127}),
            ("coding-rate-1", {"coding_rate": 1}), ("coding-rate-2", {"coding_rate": 2}),
            ("only-explicit-header", {"crc": False}), ("only-crc", {"explicit_header": False}),
            ("only-low-data-rate", {"explicit_header": False, "crc": False, "low_data_rate": True}),
            ("power-minus-1", {"power": -1})):
        radio(11, f"modem-settings-lora-{name}", f"Modem settings, LoRa: {name}.", {**LORA, **changes})
    _other(v, "modem-settings-lora-reserved", "Modem settings, LoRa, not canonical: the reserved bits set.", 11,
           lora_bits(reserved=(127, 7)), LORA, RADIO)
    for rate in (1, 115_200, TOP):
        radio(11, f"modem-settings-serial-{rate}", f"Modem settings, serial: {rate} bit/s.",
              {"type": 11, "modulation": 0, "turnaround": 100, "bit_rate": rate})
    for name, check, strength, noise in (
            ("plain", 0xBACADD, -97, 65), ("unknown", 0xBACADD, -120, None), ("zeros", 0, 0, 0),
            ("lowest", 0, -32_768, -32_767), ("highest", (1 << 24) - 1, 32_767, 32_767), ("minus-1", 1, -1, -1)):
        radio(12, f"signal-report-{name}", f"Signal report: strength {strength}, signal to noise {noise}.",
              {"type": 12, "packet_check": check, "strength": strength, "signal_to_noise": noise})


def add_invalid(v):
    """All invalid vectors of these messages."""
    _add_invalid_reports(v)
    for number, own in MESSAGES.items():
        _add_invalid_messages(v, number, own)
    _add_invalid_starts(v)


def _add_invalid_reports(v):
    plain = {6: payload_of(6, {**STATUS, "clock": None}), 7: payload_of(7, SETTINGS), 8: b"\x43\x21\0",
             10: payload_of(10, RADIO_IDENTITY), 11: payload_of(11, LORA), 12: bytes.fromhex("bacaddff9f0041"),
             13: payload_of(13, {**MESSAGES[13], **NOTICE, "data": ""}), 18: b"\x12\x34",
             19: payload_of(19, SETTINGS), 20: payload_of(20, COMMAND),
             29: payload_of(29, {**MESSAGES[29], **NOTICE, "data": ""})}
    names = {number: frames.MESSAGES[number].name.replace("_", "-") for number in plain}
    names[13], names[29] = "application-13", "application-29"
    for number, payload in plain.items():
        sizes = range(len(payload)) if number in MESSAGES else sorted({0, len(payload) - 1})
        for size in sizes:
            v.add(f"truncated-{names[number]}-{size:02}", f"Type {number} with {size} of {len(payload)} bytes of payload.",
                  frame_of(number, payload[:size]), "truncated")
    v.add("truncated-status-clock", "Status that announces a clock mapping and ends inside it.",
          frame_of(6, payload_of(6, STATUS)[:-1]), "truncated")
    v.add("truncated-command-sound", "Command to sound without a duration.",
          frame_of(20, bits((1, 16), (RECEIVER, 32), (4, 8))), "truncated")
    v.add("truncated-command-find", "Command to find without a duration.",
          frame_of(20, bits((1, 16), (RECEIVER, 32), (8, 8))), "truncated")
    v.add("truncated-command-find-1", "Command to find with one byte of a duration.",
          frame_of(20, bits((1, 16), (RECEIVER, 32), (8, 8), (60, 8))), "truncated")
    v.add("trailing-command-find", "A byte after the duration of a command to find.",
          frame_of(20, bits((1, 16), (RECEIVER, 32), (8, 8), (60, 16), (0, 8))), "trailing_bytes")
    v.add("trailing-command-power-report", "Two bytes after a command to send a power report.",
          frame_of(20, bits((1, 16), (RECEIVER, 32), (9, 8), (60, 16))), "trailing_bytes")
    v.add("truncated-command-pair", "Command to pair with three bytes of a receiver id.",
          frame_of(20, bits((1, 16), (RECEIVER, 32), (6, 8), (0, 24))), "truncated")
    for number in (7, 8, 11, 12, 18, 19, 20):
        for byte in (0, 0x55):
            v.add(f"trailing-{names[number]}-{byte:02x}", f"A byte 0x{byte:02x} behind type {number}.",
                  frame_of(number, plain[number] + bytes([byte])), "trailing_bytes")
    for number in (6, 8, 13, 20, 29):
        v.add(f"check-{names[number]}-not-bound", f"Type {number} whose CRC is not bound.",
              frames.assemble(0x20 | number, 0, ADDRESS, 0, plain[number]), "check_failed")
    for number in (10, 11, 12):
        v.add(f"check-{names[number]}-bound", f"Type {number} whose CRC is bound.",
              frames.assemble(0x20 | number, 0, RADIO, 0, plain[number], LOG), "check_failed")

    def bad(name, meaning, number, payload, field):
        v.add(f"field-{name}", meaning, frame_of(number, payload), "invalid_field", field)

    for percent in (101, 126):
        payload = plain[6][:5] + bytes([percent << 1 | plain[6][5] & 1]) + plain[6][6:]
        bad(f"status-battery-{percent}", f"Status: battery {percent} percent.", 6, payload, "battery")
    for milliseconds in (1000, 1023):
        payload = payload_of(6, STATUS)[:-2] + bits((STATUS["clock"]["time"] & 0xF, 4), (milliseconds, 10), (0, 2))
        bad(f"status-uptime-{milliseconds}", f"Status: {milliseconds} ms of uptime.", 6, payload, "uptime")
    for number in (7, 19):
        for count in (7, 255):
            bad(f"{names[number]}-{count}-entries", f"Type {number} with {count} entries announced.", number,
                bits((1, 16), (2, 64), (count, 8), *[(5, 40)] * 7), "entry_count")
    for outcome in (9, 255):
        bad(f"result-{outcome}", f"Result: outcome {outcome}.", 8, bits((1, 16), (outcome, 8)), "outcome")
    for action in (0, 10, 255):
        bad(f"command-{action}", f"Command: action {action}.", 20, bits((1, 16), (RECEIVER, 32), (action, 8)), "command")
    receiver = frames.messages.RECEIVER_FIELD
    bad("command-receiver-0", "Command: receiver id 0.", 20, bits((1, 16), (0, 32), (3, 8)), receiver)
    bad("command-receiver-0-first", "Command: receiver id 0 and action 0; the receiver comes first.", 20,
        bits((1, 16), (0, 32), (0, 8)), receiver)
    bad("command-pair-0", "Command: pair with receiver id 0.", 20, bits((1, 16), (RECEIVER, 32), (6, 8), (0, 32)), receiver)
    for size in (0, 50, 254, 255):
        bad(f"radio-identity-largest-frame-{size}", f"Radio identity: largest frame {size}.", 10,
            plain[10][:-1] + bytes([size]), "largest_frame")
    for number in (2, 255):
        bad(f"modem-settings-modulation-{number}", f"Modem settings: modulation {number}.", 11,
            bytes([number]) + plain[11][1:], "modulation")
    bad("modem-settings-bit-rate-0", "Modem settings, serial: 0 bit/s.", 11, bits((0, 8), (100, 16), (0, 32)), "modulation")
    bad("modem-settings-bandwidth-0", "Modem settings, LoRa: bandwidth 0.", 11, lora_bits(bandwidth=(0, 32)), "modulation")
    for factor in (0, 4, 13, 15):
        bad(f"modem-settings-spreading-factor-{factor}", f"Modem settings, LoRa: spreading factor {factor}.", 11,
            lora_bits(spreading_factor=(factor, 4)), "modulation")


def _add_invalid_messages(v, number, own):
    """Invalid application messages of one type. `own` has its fields before the message itself."""
    start = len(bits(*MESSAGE_STARTS[number].values()))
    plain, reply = message_bits(number), payload_of(number, {**own, **REPLY, "data": ""})
    name = f"application-{number}"

    def bad(short, meaning, payload, field):
        v.add(f"field-{name}-{short}", f"Type {number}: {meaning}.", frame_of(number, payload), "invalid_field", field)

    def kind(value, **parts):
        return message_bits(number, kind=(value, 2), **parts)

    def answer(outcome, **parts):
        return kind(2, outcome=(outcome, 4), answered=(0x1234, 32), **parts)

    for size in range(start + 1, len(reply)):
        v.add(f"truncated-{name}-reply-{size:02}", f"Type {number}: reply with {size} of at least {len(reply)} bytes of payload.",
              frame_of(number, reply[:size]), "truncated")

    bad("kind-3", "kind 3", kind(3), "message_kind")
    bad("kind-3-ones", "kind 3, all bits of its byte set", kind(3, reserved=(3, 2), outcome=(15, 4)), "message_kind")
    bad("kind-3-truncated", "kind 3 in the last byte of the payload; the kind comes first", kind(3)[:start + 1], "message_kind")
    bad("kind-3-21-bytes", "kind 3 and 21 bytes of data; the kind comes first", kind(3, data=data_part(21)), "message_kind")
    for outcome in range(9, 16):
        bad(f"outcome-{outcome}", f"reply with outcome {outcome}", answer(outcome), "outcome")
    bad("outcome-9-reserved", "reply with outcome 9, the reserved bits set", answer(9, reserved=(3, 2)), "outcome")
    bad("outcome-15-truncated", "reply with outcome 15 that ends before its code; the outcome comes first",
        answer(15)[:start + 1], "outcome")
    bad("outcome-9-21-bytes", "reply with outcome 9 and 21 bytes of data; the outcome comes first",
        answer(9, data=data_part(21)), "outcome")
    for short, parts in KIND_PARTS.items():
        most = 246 - len(message_bits(number, **{**parts, "data": (0, 0)}))
        for size in (21, 22, 24, 25, 100, most):
            bad(f"{short}-{size}-bytes", f"{short} with {size} bytes of data",
                message_bits(number, **{**parts, "data": data_part(size)}), "message_length")
    bad("21-zero-bytes", "notice with 21 zero bytes of data", message_bits(number, data=(0, 168)), "message_length")

    for place, index in (("first-field", 4), ("kind", 4 + start), ("code", 5 + start), ("time", 6 + start), ("data", -4), ("check", -1)):
        damaged = bytearray(frame_of(number, plain))
        damaged[index] ^= 0x80
        v.add(f"check-{name}-flipped-{place}", f"Type {number}, one bit of the frame is wrong: {place.replace('-', ' ')}.",
              bytes(damaged), "check_failed")
    for short, log, other in (("log", OTHER_LOG, "log id"), ("device", OTHER_DEVICE, "device id")):
        v.add(f"check-{name}-wrong-{short}", f"Type {number} whose CRC is bound to another {other}.",
              frame_of(number, plain, log=log), "check_failed")
    damaged = bytearray(frame_of(number, kind(3)))
    damaged[-1] ^= 1
    v.add(f"check-{name}-kind-3", f"Type {number} with kind 3 and a wrong CRC: the CRC comes first.", bytes(damaged), "check_failed")


def _add_invalid_starts(v):
    """Application messages whose first fields are invalid."""
    for number, field, value, count in ((13, "sequence", TOP, 4), (29, frames.messages.RECEIVER_FIELD, 0, 6)):
        said, parts = field.replace("_", " "), {field: (value, 32)}
        for name, meaning, payload in (
                ("", "", message_bits(number, **parts)),
                ("-kind-3", f", and kind 3; the {said} comes first", message_bits(number, **parts, kind=(3, 2))),
                ("-21-bytes", f", and 21 bytes of data; the {said} comes first", message_bits(number, **parts, data=data_part(21))),
                ("-truncated", f", and nothing behind it; the {said} comes first", message_bits(number, **parts)[:count])):
            v.add(f"field-application-{number}-{field.replace('_', '-')}-{value}{name}", f"Type {number}: {said} {value}{meaning}.",
                  frame_of(number, payload), "invalid_field", field)
        v.add(f"truncated-application-{number}-{field.replace('_', '-')}-{value}",
              f"Type {number}: {said} {value} without its last byte, which is not checked.",
              frame_of(number, message_bits(number, **parts)[:count - 1]), "truncated")
