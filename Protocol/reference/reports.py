"""Status, power report, settings, command, result, application messages, base radio: sections 13 to 17.

Decoders and encoders are like those of messages. `decoded` also has `type`.
"""

from fixes import MAX_SEQUENCE
from messages import RECEIVER_FIELD
from wire import require

MOST_ENTRIES = 6
LAST_OUTCOME = 8
REPLY = 2  # the last kind of an application message
MOST_DATA = 20  # bytes of an application message
PAIR = 6
# By action of a command: bits of the argument.
ARGUMENT_BITS = {1: 0, 2: 0, 3: 0, 4: 16, 5: 0, PAIR: 32, 7: 0, 8: 16, 9: 0}

# Counters of the status: field -> bits, in the order of the wire.
STATUS_COUNTERS = {"uptime": 32, "last_error": 8, "fixes_sent": 32, "queue_depth": 24,
                   "drops": 24, "duplicates": 24, "retransmissions": 24, "airtime": 32}

LAST_MODE = LAST_SUPPLY = 5  # of a power report
# Its other fields: field -> bits, in the order of the wire.
POWER_FIELDS = {"uptime": 32, "seconds_to_search": 24, "failures_in_row": 8, "time_to_fix": 16, "gnss_seconds": 32,
                "listening_milliseconds": 32, "awake_milliseconds": 32, "searches": 24, "failures": 24}
# Of these, the codes for none.
POWER_NONE = {"seconds_to_search": (1 << 24) - 1, "time_to_fix": 65_535}


def _known(value, unknown):
    return None if value == unknown else value


def _or(value, unknown, field):
    """The code for a value that may be None. The value must not be the code for unknown."""
    require(value != unknown, field)
    return unknown if value is None else value


# Status (section 13)

def decode_status(reader, low_byte, reference):
    """Status. The caller ignores bytes after the last field."""
    fields = {"tracking": bool(reader.read(1)), "gnss": reader.read(2),
              "throttle": reader.read(2), "stationary": bool(reader.read(1))}
    clock = reader.read(1)
    fields["resting"] = bool(reader.read(1))
    fields["since"] = _known(reader.read(32), 0)
    fields["battery"] = _known(reader.read(7), 127)
    require(fields["battery"] is None or fields["battery"] <= 100, "battery")
    fields["voltage"] = _known(reader.read(13), 8191)
    fields["temperature"] = _known(reader.read_signed(8), -128)
    for field, bits in STATUS_COUNTERS.items():
        fields[field] = reader.read(bits)
    fields["clock"] = None
    if clock:
        fields["clock"] = {"time": reader.read_signed(48), "uptime": reader.read(10)}
        require(fields["clock"]["uptime"] < 1000, "uptime")
    return fields, {}


def encode_status(writer, fields):
    """Status without bytes after the last field."""
    require(fields["battery"] is None or 0 <= fields["battery"] <= 100, "battery")
    writer.write(fields["tracking"], 1)
    writer.write(fields["gnss"], 2)
    writer.write(fields["throttle"], 2)
    writer.write(fields["stationary"], 1)
    writer.write(fields["clock"] is not None, 1)
    writer.write(fields["resting"], 1)
    writer.write(_or(fields["since"], 0, "since"), 32)
    writer.write(_or(fields["battery"], 127, "battery"), 7)
    writer.write(_or(fields["voltage"], 8191, "voltage"), 13)
    writer.write_signed(_or(fields["temperature"], -128, "temperature"), 8)
    for field, bits in STATUS_COUNTERS.items():
        writer.write(fields[field], bits)
    if fields["clock"] is not None:
        writer.write_signed(fields["clock"]["time"], 48)
        require(fields["clock"]["uptime"] < 1000, "uptime")
        writer.write(fields["clock"]["uptime"], 10)
    return 0


# Power report (section 13)

def decode_power_report(reader, low_byte, reference):
    """Power report. The caller ignores bytes after the last field."""
    fields = {"mode": reader.read(4)}
    require(fields["mode"] <= LAST_MODE, "mode")
    fields["supply"] = reader.read(3)
    require(fields["supply"] <= LAST_SUPPLY, "supply")
    reader.read(1)  # reserved, ignored
    for field, bits in POWER_FIELDS.items():
        fields[field] = _known(reader.read(bits), POWER_NONE.get(field))
    return fields, {}


def encode_power_report(writer, fields):
    """Power report without bytes after the last field."""
    require(0 <= fields["mode"] <= LAST_MODE, "mode")
    require(0 <= fields["supply"] <= LAST_SUPPLY, "supply")
    writer.write(fields["mode"], 4)
    writer.write(fields["supply"], 3)
    writer.write(0, 1)
    for field, bits in POWER_FIELDS.items():
        value = fields[field]
        writer.write(_or(value, POWER_NONE[field], field) if field in POWER_NONE else value, bits)
    return 0


# Settings (section 14)

def decode_settings_request(reader, low_byte, reference):
    """Settings request."""
    return {"request_id": reader.read(16)}, {}


def encode_settings_request(writer, fields):
    """Settings request."""
    writer.write(fields["request_id"], 16)
    return 0


def decode_settings(reader, low_byte, reference):
    """Settings report and update. Unknown keys are kept here; the caller ignores them."""
    fields = {"request_id": reader.read(16), "version": reader.read(44), "origin": reader.read(20)}
    count = reader.read(8)
    require(count <= MOST_ENTRIES, "entry_count")
    fields["entries"] = [[reader.read(8), reader.read(32)] for _ in range(count)]
    return fields, {}


def encode_settings(writer, fields):
    """Settings report and update."""
    require(len(fields["entries"]) <= MOST_ENTRIES, "entry_count")
    writer.write(fields["request_id"], 16)
    writer.write(fields["version"], 44)
    writer.write(fields["origin"], 20)
    writer.write(len(fields["entries"]), 8)
    for key, value in fields["entries"]:
        writer.write(key, 8)
        writer.write(value, 32)
    return 0


# Command and result (section 15)

def decode_command(reader, low_byte, reference):
    """Command."""
    fields = {"request_id": reader.read(16), "receiver_id": reader.read(32)}
    require(fields["receiver_id"] != 0, RECEIVER_FIELD)
    fields["action"] = reader.read(8)
    require(fields["action"] in ARGUMENT_BITS, "command")
    bits = ARGUMENT_BITS[fields["action"]]
    fields["argument"] = reader.read(bits) if bits else None
    require(fields["action"] != PAIR or fields["argument"] != 0, RECEIVER_FIELD)
    return fields, {}


def encode_command(writer, fields):
    """Command."""
    require(fields["receiver_id"] != 0, RECEIVER_FIELD)
    require(fields["action"] in ARGUMENT_BITS, "command")
    bits = ARGUMENT_BITS[fields["action"]]
    require((fields["argument"] is not None) == (bits > 0), "argument")
    require(fields["action"] != PAIR or fields["argument"] != 0, RECEIVER_FIELD)
    writer.write(fields["request_id"], 16)
    writer.write(fields["receiver_id"], 32)
    writer.write(fields["action"], 8)
    if bits:
        writer.write(fields["argument"], bits)
    return 0


def decode_result(reader, low_byte, reference):
    """Result."""
    fields = {"request_id": reader.read(16), "outcome": reader.read(8)}
    require(fields["outcome"] <= LAST_OUTCOME, "outcome")
    return fields, {}


def encode_result(writer, fields):
    """Result."""
    require(0 <= fields["outcome"] <= LAST_OUTCOME, "outcome")
    writer.write(fields["request_id"], 16)
    writer.write(fields["outcome"], 8)
    return 0


# Application messages (section 16)

def _read_message(reader):
    """The message itself: from the kind to the end of the payload."""
    fields = {"kind": reader.read(2)}
    require(fields["kind"] <= REPLY, "message_kind")
    is_reply = fields["kind"] == REPLY
    reader.read(2)  # reserved, ignored
    outcome = reader.read(4)
    require(not is_reply or outcome <= LAST_OUTCOME, "outcome")
    fields["outcome"] = outcome if is_reply else None
    fields["code"] = reader.read(8)
    fields["time"] = _known(reader.read(32), 0)
    fields["answered"] = reader.read(32) if is_reply else None
    size = reader.left // 8
    require(size <= MOST_DATA, "message_length")
    fields["data"] = reader.read(8 * size).to_bytes(size, "big").hex()
    return fields


def _write_message(writer, fields):
    """The message itself."""
    require(0 <= fields["kind"] <= REPLY, "message_kind")
    is_reply = fields["kind"] == REPLY
    for field in ("outcome", "answered"):
        require((fields[field] is not None) == is_reply, field)
    require(not is_reply or 0 <= fields["outcome"] <= LAST_OUTCOME, "outcome")
    data = bytes.fromhex(fields["data"])
    require(len(data) <= MOST_DATA, "message_length")
    writer.write(fields["kind"], 2)
    writer.write(0, 2)
    writer.write(fields["outcome"] if is_reply else 0, 4)
    writer.write(fields["code"], 8)
    writer.write(_or(fields["time"], 0, "time"), 32)
    if is_reply:
        writer.write(fields["answered"], 32)
    for byte in data:
        writer.write(byte, 8)


def decode_collar_message(reader, low_byte, reference):
    """Application message of a collar."""
    sequence = reader.read(32)
    require(sequence <= MAX_SEQUENCE, "sequence")
    return {"sequence": sequence, **_read_message(reader)}, {}


def encode_collar_message(writer, fields):
    """Application message of a collar."""
    require(0 <= fields["sequence"] <= MAX_SEQUENCE, "sequence")
    writer.write(fields["sequence"], 32)
    _write_message(writer, fields)
    return 0


def decode_host_message(reader, low_byte, reference):
    """Application message of a host."""
    fields = {"request_id": reader.read(16), "receiver_id": reader.read(32)}
    require(fields["receiver_id"] != 0, RECEIVER_FIELD)
    return {**fields, **_read_message(reader)}, {}


def encode_host_message(writer, fields):
    """Application message of a host."""
    require(fields["receiver_id"] != 0, RECEIVER_FIELD)
    writer.write(fields["request_id"], 16)
    writer.write(fields["receiver_id"], 32)
    _write_message(writer, fields)
    return 0


# Base radio (section 17)

def decode_radio_identity(reader, low_byte, reference):
    """Radio identity. The caller ignores bytes after the last field."""
    fields = {"radio_id": f"{reader.read(64):016x}",
              "firmware_version": [reader.read(8) for _ in range(3)],
              "largest_frame": reader.read(8)}
    require(51 <= fields["largest_frame"] <= 253, "largest_frame")
    return fields, {}


def encode_radio_identity(writer, fields):
    """Radio identity."""
    require(51 <= fields["largest_frame"] <= 253, "largest_frame")
    writer.write(int(fields["radio_id"], 16), 64)
    for part in fields["firmware_version"]:
        writer.write(part, 8)
    writer.write(fields["largest_frame"], 8)
    return 0


def decode_modem_settings(reader, low_byte, reference):
    """Modem settings."""
    fields = {"modulation": reader.read(8)}
    require(fields["modulation"] <= 1, "modulation")
    fields["turnaround"] = reader.read(16)
    if fields["modulation"] == 0:
        fields["bit_rate"] = reader.read(32)
        require(fields["bit_rate"] != 0, "modulation")
        return fields, {}
    fields["frequency"] = reader.read(32)
    fields["bandwidth"] = reader.read(32)
    require(fields["bandwidth"] != 0, "modulation")
    fields["spreading_factor"] = reader.read(4)
    require(5 <= fields["spreading_factor"] <= 12, "modulation")
    fields["coding_rate"] = reader.read(2)
    for field in ("explicit_header", "crc", "low_data_rate"):
        fields[field] = bool(reader.read(1))
    reader.read(7)  # reserved, ignored
    fields["preamble"] = reader.read(16)
    fields["power"] = reader.read_signed(8)
    return fields, {}


def encode_modem_settings(writer, fields):
    """Modem settings."""
    require(fields["modulation"] in (0, 1), "modulation")
    writer.write(fields["modulation"], 8)
    writer.write(fields["turnaround"], 16)
    if fields["modulation"] == 0:
        require(fields["bit_rate"] != 0, "modulation")
        writer.write(fields["bit_rate"], 32)
        return 0
    require(fields["bandwidth"] != 0, "modulation")
    require(5 <= fields["spreading_factor"] <= 12, "modulation")
    writer.write(fields["frequency"], 32)
    writer.write(fields["bandwidth"], 32)
    writer.write(fields["spreading_factor"], 4)
    writer.write(fields["coding_rate"], 2)
    for field in ("explicit_header", "crc", "low_data_rate"):
        writer.write(fields[field], 1)
    writer.write(0, 7)
    writer.write(fields["preamble"], 16)
    writer.write_signed(fields["power"], 8)
    return 0


def decode_signal_report(reader, low_byte, reference):
    """Signal report."""
    return {"packet_check": reader.read(24), "strength": reader.read_signed(16),
            "signal_to_noise": _known(reader.read_signed(16), -32_768)}, {}


def encode_signal_report(writer, fields):
    """Signal report."""
    writer.write(fields["packet_check"], 24)
    writer.write_signed(fields["strength"], 16)
    writer.write_signed(_or(fields["signal_to_noise"], -32_768, "signal_to_noise"), 16)
    return 0
