"""Capture files in formats that Wireshark reads."""

import struct

BARE, SERIAL = 147, 148  # link types USER0, USER1
# The interfaces of a pcapng file: two directions of a serial line, and bare frames.
INTERFACES = (SERIAL, SERIAL, BARE)
FROM_RADIO, FROM_HOST, FRAMES = range(3)


def block(kind, body):
    """A block of a pcapng file."""
    body += bytes(-len(body) % 4)
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


def pcap(link_type, packets):
    """A capture with one packet per millisecond."""
    parts = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link_type)]
    for number, packet in enumerate(packets):
        parts += [struct.pack("<IIII", 1_700_000_000 + number // 1000, number % 1000 * 1000, len(packet), len(packet)), packet]
    return b"".join(parts)


def pcapng(packets):
    """A capture of several interfaces; each packet is a pair (interface, bytes)."""
    parts = [block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))]
    parts += [block(1, struct.pack("<HHI", link_type, 0, 0)) for link_type in INTERFACES]
    for number, (interface, packet) in enumerate(packets):
        parts.append(block(6, struct.pack("<IIIII", interface, 0, number, len(packet), len(packet)) + packet))
    return b"".join(parts)
