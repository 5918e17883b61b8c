#!/usr/bin/env python3
"""Makes a capture for Wireshark of bytes that came over a serial line: a packet for each frame.

    to_pcap.py capture.bin capture.pcap
    to_pcap.py --bare frames.bin frames.pcap    bare frames, each behind its length (2 bytes, most significant first)
"""

import argparse
import struct

BARE, SERIAL = 147, 148  # link types USER0, USER1


def serial_packets(data):
    """What ends with a delimiter, with it; at last what has none."""
    pieces = data.split(b"\0")
    return [piece + b"\0" for piece in pieces[:-1] if piece] + [piece for piece in pieces[-1:] if piece]


def bare_packets(data):
    """Frames behind their lengths."""
    packets = []
    while len(data) >= 2:
        end = 2 + int.from_bytes(data[:2], "big")
        packets.append(data[2:end])
        data = data[end:]
    return packets


def pcap(link_type, packets):
    """The bytes of a capture file. Nothing says when the bytes came: they are a millisecond apart."""
    parts = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, link_type)]
    for number, packet in enumerate(packets):
        parts += [struct.pack("<IIII", number // 1000, number % 1000 * 1000, len(packet), len(packet)), packet]
    return b"".join(parts)


def main():
    """Reads the arguments, and the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bare", action="store_true", help="frames with their lengths, not a serial line")
    parser.add_argument("input")
    parser.add_argument("output")
    options = parser.parse_args()
    with open(options.input, "rb") as file:
        data = file.read()
    with open(options.output, "wb") as file:
        file.write(pcap(BARE, bare_packets(data)) if options.bare else pcap(SERIAL, serial_packets(data)))


if __name__ == "__main__":
    main()
