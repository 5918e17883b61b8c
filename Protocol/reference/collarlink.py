#!/usr/bin/env python3
"""Reference implementation of the Collar Link Protocol, written from its text.

It favours clarity over speed. Modules: wire (bits, CRC, COBS), fixes, live,
way and rangecoder (live fixes), batch, batchcoder and batchmemory (batches),
messages, reports, frames, host (what a host does), ascon, sealing,
sealing_collar and sealing_host (sealed frames), exchange (keys over a cable),
verify, known_answers. This file is the command line:

    collarlink.py verify FOLDER           check the vectors in FOLDER
    collarlink.py ascon FOLDER            check Ascon with the known answers in FOLDER
    collarlink.py decode [LOG] HEXFRAME   print a bare frame as JSON
    collarlink.py decode-lines [LOG]      the same for lines from stdin, see below
    collarlink.py decode-serial [LOG]     the same for a serial capture from stdin
    collarlink.py encode LOG --address N  JSON from stdin to hex frames, see below

LOG is --device HEX --log N, and --reference N, the highest sequence known.

A line to decode is a bare frame in hex, or {"bare": hex, "anchor": the anchor
of a live fix or null, "reference": N}; every key but bare may be left out.

A line to encode holds the fields of a message as they are decoded, and may
have flags and reference. With an anchor it becomes a live fix. Without an
anchor it becomes an absolute fix if it has no type or that of a live fix. The
fixes of a batch become as many batches as they need, one per line; the line
may have `limit`, the largest frame, and `most`, the most fixes in a batch.
"""

import argparse
import json
import sys

sys.dont_write_bytecode = True

import frames  # noqa: E402
import known_answers  # noqa: E402
import verify  # noqa: E402
from fixes import complete_sequence  # noqa: E402
from wire import ProtocolError, SerialDecoder  # noqa: E402


def as_json(value):
    """One line of JSON with sorted keys."""
    return json.dumps(value, sort_keys=True)


def decode_to_json(frame, log, reference, anchor=None):
    """The decoded fields of a frame, or its error, as one line, and whether it is valid."""
    try:
        if isinstance(frame, ProtocolError):
            raise frame
        return as_json(frames.decode(frame, log, reference, anchor).decoded), True
    except ProtocolError as error:
        return as_json(error.as_json()), False


def decode_line(line, log, reference):
    """Decode a line of decode-lines."""
    anchor = None
    try:
        if line.lstrip().startswith("{"):
            given = json.loads(line)
            anchor, reference = given.get("anchor"), given.get("reference", reference)
            line = given["bare"]
        frame = bytes.fromhex(line)
    except (ValueError, KeyError, TypeError):
        return as_json({"error": "not_hex"})
    return decode_to_json(frame, log, reference, anchor)[0]


def encode_line(line, log, address, reference):
    """The frames of the message in a line: one frame, or several batches.

    An absolute fix may also have `wide`. Without it the short form is used if
    the reference completes it to the right sequence.
    """
    fields = json.loads(line)
    flags, anchor = fields.pop("flags", 0), fields.pop("anchor", None)
    reference, wide = fields.pop("reference", reference), fields.pop("wide", None)
    number = fields.get("type", 2)
    if number == frames.BATCH:
        return encode_batches(fields, address, flags, log)
    if anchor is not None:
        return [frames.encode(frames.LIVE_FIX, fields, address, flags, log, anchor=anchor)]
    if number not in (2, frames.LIVE_FIX):
        return [frames.encode(number, fields, address, flags, log)]
    if wide is None:
        sequence = fields["sequence"]
        wide = complete_sequence(sequence & 0xFFFF, 16, reference) != sequence
    return [frames.encode(2, fields, address, flags, log, wide=wide)]


def encode_batches(fields, address, flags, log):
    """The fewest batches that hold all the fixes."""
    fixes, written = fields["fixes"], []
    while fixes:
        frame, taken = frames.encode_batch(fixes[:fields.get("most")], address, flags, log,
                                           fields.get("limit", frames.LARGEST_FRAME))
        written.append(frame)
        fixes = fixes[taken:]
    return written


def main(arguments=None):
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("verify", "ascon"):
        commands.add_parser(name).add_argument("folder")
    for name in ("decode", "decode-lines", "decode-serial", "encode"):
        command = commands.add_parser(name)
        command.add_argument("--device", type=lambda text: int(text, 16))
        command.add_argument("--log", type=int)
        command.add_argument("--reference", type=int, default=0)
        if name == "decode":
            command.add_argument("frame", type=bytes.fromhex)
        if name == "encode":
            command.add_argument("--address", type=int, required=True)
    options = parser.parse_args(arguments)

    if options.command == "verify":
        return verify.verify(options.folder)
    if options.command == "ascon":
        return known_answers.check(options.folder)
    if (options.device is None) != (options.log is None):
        parser.error("--device and --log belong together")
    log = None if options.device is None else frames.Log(options.device, options.log)
    if options.command == "decode":
        text, valid = decode_to_json(options.frame, log, options.reference)
        print(text)
        return 0 if valid else 1
    if options.command == "decode-serial":
        for found in SerialDecoder().feed(sys.stdin.buffer.read()):
            print(decode_to_json(found, log, options.reference)[0])
        return 0
    if options.command == "encode" and log is None:
        parser.error("encode needs --device and --log")

    status = 0
    for line in sys.stdin:
        if options.command == "decode-lines":
            print(decode_line(line, log, options.reference))
        elif line.strip():
            try:
                for frame in encode_line(line, log, options.address, options.reference):
                    print(frame.hex())
            except ProtocolError as error:
                print(as_json(error.as_json()))
                status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
