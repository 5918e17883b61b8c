"""The messages of sections 7 to 10. Those of sections 13 to 17 are in reports.

Every decoder takes (reader, low_byte, reference) and returns the decoded
fields, and hints: values that an encoder needs besides the fields. Every
encoder takes (writer, fields, **hints) and returns the low byte of the header.
"""

from fixes import MAX_SEQUENCE
from wire import require

CAPABILITIES = 0b1111  # compass, sounder, listens, messages
UINT32 = (1 << 32) - 1
RECEIVER_FIELD = "receiver_id"  # the field of the error if a receiver id is 0
COMPANY_FLAGS, COMPANY_SHIFT, LARGEST_COMPANY = 0x18, 3, 3


# Identity (section 7)

def decode_identity(reader, low_byte, reference):
    """Identity. The caller ignores bytes after the last field."""
    fields = {"device_id": f"{reader.read(64):016x}", "log_id": reader.read(26)}
    reader.read(6)  # reserved, ignored
    for field in ("boot_count", "oldest_sequence", "next_sequence"):
        fields[field] = reader.read(32)
    require(fields["oldest_sequence"] <= fields["next_sequence"], "oldest_sequence")
    fields["paired_receiver"] = reader.read(32)
    fields["largest_frame"] = reader.read(8)
    require(51 <= fields["largest_frame"] <= 253, "largest_frame")
    fields["firmware_version"] = [reader.read(8), reader.read(8), reader.read(8)]
    fields["capabilities"] = reader.read(16) & CAPABILITIES
    fields["heartbeat"] = reader.read(16)
    if reader.left >= 32:
        elsewhere = reader.read(32)
        if 0 < elsewhere <= fields["next_sequence"]:
            fields["delivered_elsewhere"] = elsewhere
    return fields, {}


def encode_identity(writer, fields):
    """Identity without bytes after the last field."""
    require(fields["oldest_sequence"] <= fields["next_sequence"], "oldest_sequence")
    require(51 <= fields["largest_frame"] <= 253, "largest_frame")
    require(0 <= fields["capabilities"] <= CAPABILITIES, "capabilities")
    writer.write(int(fields["device_id"], 16), 64)
    writer.write(fields["log_id"], 26)
    writer.write(0, 6)
    for field in ("boot_count", "oldest_sequence", "next_sequence", "paired_receiver"):
        writer.write(fields[field], 32)
    writer.write(fields["largest_frame"], 8)
    for part in fields["firmware_version"]:
        writer.write(part, 8)
    writer.write(fields["capabilities"], 16)
    writer.write(fields["heartbeat"], 16)
    if "delivered_elsewhere" in fields:
        require(0 < fields["delivered_elsewhere"] <= fields["next_sequence"], "delivered_elsewhere")
        writer.write(fields["delivered_elsewhere"], 32)
    return 0


# Probe and identity request (section 8)

def decode_probe(reader, low_byte, reference):
    """Probe. The receiver compares the tag."""
    return {"tag": reader.read(24), "next_sequence": reader.read(32)}, {}


def encode_probe(writer, fields):
    """Probe."""
    writer.write(fields["tag"], 24)
    writer.write(fields["next_sequence"], 32)
    return 0


def decode_identity_request(reader, low_byte, reference):
    """Identity request."""
    receiver = reader.read(32)
    require(receiver != 0, RECEIVER_FIELD)
    return {"receiver_id": receiver}, {}


def encode_identity_request(writer, fields):
    """Identity request."""
    require(fields["receiver_id"] != 0, RECEIVER_FIELD)
    writer.write(fields["receiver_id"], 32)
    return 0


# Lists of ranges, each [first, last]

def _read_durable(reader, count, first_missing):
    """Durable ranges: newest first, all above first missing."""
    ranges = []
    for _ in range(count):
        distance = reader.read_gamma("durable")
        last = ranges[-1][0] - 1 - distance if ranges else first_missing + distance
        require(last <= MAX_SEQUENCE, "durable")
        first = last - reader.read_gamma("durable") + 1
        require(first > first_missing, "durable")
        ranges.append([first, last])
    return ranges


def _write_durable(writer, ranges, first_missing):
    before = None
    for first, last in ranges:
        require(first_missing < first <= last <= MAX_SEQUENCE, "durable")
        distance = last - first_missing if before is None else before - 1 - last
        require(distance >= 1, "durable")
        writer.write_gamma(distance)
        writer.write_gamma(last - first + 1)
        before = first


def _read_ascending(reader, count, field):
    """Resend ranges and the ranges of a tombstone: oldest first."""
    ranges = []
    for _ in range(count):
        if ranges:
            first = ranges[-1][1] + 1 + reader.read_gamma(field)
        else:
            first = reader.read(32)
        require(first <= MAX_SEQUENCE, field)
        last = first + reader.read_gamma(field) - 1
        require(last <= MAX_SEQUENCE, field)
        ranges.append([first, last])
    return ranges


def _write_ascending(writer, ranges, field):
    before = None
    for first, last in ranges:
        require(0 <= first <= last <= MAX_SEQUENCE, field)
        if before is None:
            writer.write(first, 32)
        else:
            require(first - before >= 2, field)
            writer.write_gamma(first - before - 1)
        writer.write_gamma(last - first + 1)
        before = last


# Acknowledgement (section 9)

def company_of(flags):
    """The company that the flags of an acknowledgement hold."""
    return (flags & COMPANY_FLAGS) >> COMPANY_SHIFT


def flags_of_company(company):
    """The flags of an acknowledgement with this company."""
    require(0 <= company <= LARGEST_COMPANY, "company")
    return company << COMPANY_SHIFT


def decode_acknowledgement(reader, low_byte, reference):
    """Acknowledgement. The caller adds the company, which is in the flags."""
    require(low_byte <= 7, "poll")
    fields = {"poll": low_byte, "receiver_id": reader.read(32)}
    require(fields["receiver_id"] != 0, RECEIVER_FIELD)
    fields["first_missing"] = reader.read(32)
    counts = {}
    for field in ("durable", "resend"):
        counts[field] = reader.read(6)
        require(counts[field] <= 32, field)
    fields["durable"] = _read_durable(reader, counts["durable"], fields["first_missing"])
    fields["resend"] = _read_ascending(reader, counts["resend"], "resend")
    return fields, {}


def encode_acknowledgement(writer, fields):
    """Acknowledgement with all ranges given; see fit_acknowledgement. The caller writes the company, which is in the flags."""
    require(0 <= fields["poll"] <= 7, "poll")
    require(1 <= fields["receiver_id"] <= UINT32, RECEIVER_FIELD)
    require(0 <= fields["first_missing"] <= UINT32, "first_missing")
    require(len(fields["durable"]) <= 32, "durable")
    require(len(fields["resend"]) <= 32, "resend")
    writer.write(fields["receiver_id"], 32)
    writer.write(fields["first_missing"], 32)
    writer.write(len(fields["durable"]), 6)
    writer.write(len(fields["resend"]), 6)
    _write_durable(writer, fields["durable"], fields["first_missing"])
    _write_ascending(writer, fields["resend"], "resend")
    return fields["poll"]


# Tombstone (section 10)

def decode_tombstone(reader, low_byte, reference):
    """Tombstone."""
    count = reader.read(6)
    require(1 <= count <= 32, "ranges")
    return {"ranges": _read_ascending(reader, count, "ranges")}, {}


def encode_tombstone(writer, fields):
    """Tombstone."""
    require(1 <= len(fields["ranges"]) <= 32, "ranges")
    writer.write(len(fields["ranges"]), 6)
    _write_ascending(writer, fields["ranges"], "ranges")
    return 0
