"""Vectors of the messages of sections 13 to 17, valid and invalid."""

import frames
from vector_parts import ADDRESS, LOG, ORIGIN_BITS, bits, frame_of

TOP = (1 << 32) - 1
RECEIVER = 0xA1B2C3D4
RADIO = 0  # the address of the base radio

STATUS = {"type": 6, "tracking": True, "gnss": 2, "throttle": 0, "stationary": False,
          "since": 1_700_000_000, "battery": 83, "voltage": 3912, "temperature": 21,
          "uptime": 86_461, "last_error": 0, "fixes_sent": 4655, "queue_depth": 6, "drops": 1,
          "duplicates": 12, "retransmissions": 34, "airtime": 2_345_678,
          "clock": {"time": 1_700_000_123_456, "uptime": 789}}
STATUS_UNKNOWN = {"since": None, "battery": None, "voltage": None, "temperature": None, "clock": None}
SETTINGS = {"request_id": 0x1234, "version": 1_790_000_000_123, "origin": 0xABCDE,
            "entries": [[1, 1000], [2, 5000], [3, 60_000], [8, 60], [9, 5]]}
COMMAND = {"type": 20, "request_id": 0x4321, "receiver_id": RECEIVER, "order": 3, "argument": None}
LORA = {"type": 11, "modulation": 1, "turnaround": 80, "frequency": 869_525_000,
        "bandwidth": 125_000, "spreading_factor": 7, "coding_rate": 0, "explicit_header": True,
        "crc": True, "low_data_rate": False, "preamble": 8, "power": 14}
RADIO_IDENTITY = {"type": 10, "radio_id": "fedcba9876543210", "firmware_version": [2, 0, 11],
                  "largest_frame": 253}

# The bits of LORA after modulation and turnaround.
LORA_PARTS = {"frequency": (869_525_000, 32), "bandwidth": (125_000, 32), "spreading_factor": (7, 4),
              "coding_rate": (0, 2), "switches": (0b110, 3), "reserved": (0, 7), "preamble": (8, 16),
              "power": (14, 8)}


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
    status("highest", "every field at its highest", gnss=3, throttle=3, stationary=True, since=TOP, battery=100,
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
    status("freezing", "temperature -1", temperature=-1)
    status("clock-before-1970", "clock time -1 ms", clock={"time": -1, "uptime": 1})
    with_clock, without = payload_of(6, STATUS), payload_of(6, {**STATUS, "clock": None})
    expected = {**STATUS, "clock": None}
    _other(v, "status-trailing-1", "Status, not canonical: a zero byte behind the clock.", 6, with_clock + b"\0", STATUS)
    _other(v, "status-trailing-10", "Status, not canonical: ten bytes behind a status without clock.", 6,
           without + bytes(range(0xF0, 0xFA)), expected)
    _other(v, "status-trailing-246", "Status, not canonical: 246 bytes of payload.", 6,
           with_clock + b"\xA5" * (246 - len(with_clock)), STATUS)
    _other(v, "status-reserved", "Status, not canonical: the reserved bit set.", 6,
           bytes([with_clock[0] | 1]) + with_clock[1:], STATUS)
    _other(v, "status-low-byte", "Status, not canonical: a low byte that is not 0.", 6, with_clock, STATUS, low_byte=9)


def _add_settings(v):
    for request in (0, 1, 0xFFFF):
        v.add(18, f"settings-request-{request}", f"Settings request {request}.", {"type": 18, "request_id": request})
    for number, name in ((7, "report"), (19, "order")):
        for short, meaning, changes in (
                ("plain", "five entries", {}),
                ("empty", "no entry", {"entries": []}),
                ("zeros", "every field 0", {"request_id": 0, "version": 0, "origin": 0, "entries": [[0, 0]]}),
                ("highest", "every field at its highest",
                 {"request_id": 0xFFFF, "version": (1 << 44) - 1, "origin": (1 << 20) - 1, "entries": [[255, TOP]]}),
                ("unknown-keys", "keys that are not defined", {"entries": [[0, 1], [16, 2], [200, 3]]}),
                ("descending", "keys in descending order", {"entries": [[10, 1], [9, 7], [1, 500]]}),
                ("6-entries", "six entries, 48 bytes", {"entries": [[key, key << 24] for key in range(10, 16)]})):
            v.add(number, f"settings-{name}-{short}", f"Settings {name}: {meaning}.",
                  {"type": number, **SETTINGS, **changes})


def _add_commands(v):
    for order, argument, name in (
            (1, None, "start"), (2, None, "stop"), (3, None, "fix"), (4, 2500, "sound"), (4, 0, "sound-0"),
            (4, 0xFFFF, "sound-longest"), (5, None, "reboot"), (6, 0x01020304, "pair"), (6, 1, "pair-1"),
            (6, TOP, "pair-highest"), (7, None, "unpair")):
        v.add(20, f"command-{name}", f"Command: order {order}, argument {argument}.",
              {**COMMAND, "order": order, "argument": argument})
    v.add(20, "command-highest-ids", "Command: request id and receiver id at their highest.",
          {**COMMAND, "request_id": 0xFFFF, "receiver_id": TOP}, flags=7)
    v.add(20, "command-lowest-ids", "Command: request id 0, receiver id 1.", {**COMMAND, "request_id": 0, "receiver_id": 1})
    for outcome in range(9):
        v.add(8, f"result-{outcome}", f"Result: outcome {outcome}.", {"type": 8, "request_id": 0x4321, "outcome": outcome})


def _add_application(v):
    for number in (13, 14, 15, 29, 30, 31):
        host = number > 16
        fields = {"type": number, "channel": number - (29 if host else 13), "from_host": host,
                  "wants_reply": False, "request_id": 0xBEEF, "bytes": "00ff10"}
        end = "the host" if host else "the collar"
        for name, meaning, changes in (("plain", "three bytes", {}), ("reply", "wants a reply", {"wants_reply": True}),
                                       ("empty", "no bytes", {"bytes": "", "request_id": 0}),
                                       ("full", "243 bytes", {"bytes": bytes(range(243)).hex(), "request_id": 0xFFFF})):
            v.add(number, f"application-{number}-{name}", f"Application message from {end}: {meaning}.",
                  {**fields, **changes})
        _other(v, f"application-{number}-reserved", "Application message, not canonical: the reserved bits set.",
               number, bytes.fromhex("7fbeef00ff10"), fields)


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
    plain = {6: payload_of(6, {**STATUS, "clock": None}), 7: payload_of(7, SETTINGS), 8: b"\x43\x21\0",
             10: payload_of(10, RADIO_IDENTITY), 11: payload_of(11, LORA), 12: bytes.fromhex("bacaddff9f0041"),
             13: b"\0\x12\x34", 18: b"\x12\x34", 19: payload_of(19, SETTINGS), 20: payload_of(20, COMMAND),
             29: b"\0\x12\x34"}
    names = {number: frames.MESSAGES[number].name.replace("_", "-") for number in plain}
    names[13], names[29] = "application-13", "application-29"
    for number, payload in plain.items():
        for size in sorted({0, len(payload) - 1}):
            v.add(f"truncated-{names[number]}-{size:02}", f"Type {number} with {size} of {len(payload)} bytes of payload.",
                  frame_of(number, payload[:size]), "truncated")
    v.add("truncated-status-clock", "Status that announces a clock mapping and ends inside it.",
          frame_of(6, payload_of(6, STATUS)[:-1]), "truncated")
    v.add("truncated-command-sound", "Command to sound without a duration.",
          frame_of(20, bits((1, 16), (RECEIVER, 32), (4, 8))), "truncated")
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
    for order in (0, 8, 255):
        bad(f"command-{order}", f"Command: order {order}.", 20, bits((1, 16), (RECEIVER, 32), (order, 8)), "command")
    receiver = frames.messages.RECEIVER_FIELD
    bad("command-receiver-0", "Command: receiver id 0.", 20, bits((1, 16), (0, 32), (3, 8)), receiver)
    bad("command-receiver-0-first", "Command: receiver id 0 and order 0; the receiver comes first.", 20,
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
