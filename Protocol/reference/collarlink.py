#!/usr/bin/env python3
"""Reference implementation of the Collar Link Protocol, written from its text. README.md explains it.

LOG is --device HEX --log N, and --reference N, the highest sequence known.
Frames are decoded to JSON, which begins with the name of the frame's type.

A line of decode-lines is a bare frame in hex, or {"bare": hex, "anchor": the
anchor of a live fix or null, "reference": N}; every key but bare may be left out.

A line of encode holds the fields of a message as they are decoded, and may
have flags and reference. With an anchor it becomes a live fix. Without an
anchor it becomes an absolute fix if it has no type or that of a live fix. The
fixes of a batch become as many batches as they need, one per line; the line
may have `limit`, the largest frame, and `most`, the most fixes in a batch.
"""

import argparse
import collections
import json
import pathlib
import sys

sys.dont_write_bytecode = True

import capture  # noqa: E402
import frames  # noqa: E402
import known_answers  # noqa: E402
import verify  # noqa: E402
from fixes import complete_sequence  # noqa: E402
from listener import NEEDS_FIX, NEEDS_IDENTITY, NEEDS_KEY, Listener, hear_capture  # noqa: E402
from sealing_keys import KEY_SIZE  # noqa: E402
from wire import ProtocolError, SerialDecoder  # noqa: E402


DECODED = "decoded"
HINTS = {
    NEEDS_KEY: "sealed; give --device and --key-file",
    NEEDS_IDENTITY: "need an identity of the collar before them; start recording before the collar starts",
    NEEDS_FIX: "need an earlier fix, which is not in the capture; start recording before the collar starts",
    "not_opened": "sealed, and not opened by this key: of another collar, damaged or forged",
}


def as_json(value):
    """One line of JSON with sorted keys."""
    return json.dumps(value, sort_keys=True)


def decode_to_json(frame, log, reference, anchor=None):
    """The name and the decoded fields of a frame, or its error, as one line, and whether it is valid."""
    if isinstance(frame, ProtocolError):
        return as_json(frame.as_json()), False
    try:
        text, valid = as_json(frames.decode(frame, log, reference, anchor).decoded), True
    except ProtocolError as error:
        text, valid = as_json(error.as_json()), False
    name = frames.name_of(frame)
    # The name comes before the sorted keys.
    return text if name is None else '{"name": "' + name + '", ' + text.removeprefix("{"), valid


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
    fields.pop("name", None)
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


def decode_capture(path, listener):
    """Print what every frame of a capture says. Returns the exit status, which is 1 if the capture cannot be read to its end."""
    results, status = collections.Counter(), 0
    try:
        for packet, said in hear_capture(capture.records(path.read_bytes()), listener):
            print(json.dumps({"direction": packet.direction, "unix_ms": packet.record.unix_ms, "port": packet.record.port, **said}))
            results[said.get("needs", said.get("error", DECODED))] += 1
    except (capture.CaptureError, OSError) as error:
        print(f"{path}: {error}", file=sys.stderr)
        status = 0 if isinstance(error, capture.CutError) else 1
    if not results:
        print(f"{path}: there are no frames", file=sys.stderr)
    for result, number in sorted(results.items()):
        print(f"{number} of {results.total()} frames: {HINTS.get(result, result)}", file=sys.stderr)
    return status


def key_in(path):
    """The key in a file."""
    try:
        key = bytes.fromhex(pathlib.Path(path).read_text("ascii"))
    except (OSError, ValueError) as error:
        raise argparse.ArgumentTypeError(f"{path}: {error}") from None
    if len(key) != KEY_SIZE:
        raise argparse.ArgumentTypeError(f"{path}: a key has {2 * KEY_SIZE} hexadecimal digits")
    return key


COMMANDS = {
    "verify": "check the vectors in a folder",
    "ascon": "check Ascon with the known answers in a folder",
    "decode": "decode a bare frame, given in hex",
    "decode-lines": "decode bare frames in hex from stdin, one a line",
    "decode-serial": "decode the frames in the bytes of a serial line from stdin",
    "decode-capture": "decode the frames of a capture of `collar-link --write`, in both directions",
    "encode": "encode messages from stdin, a line of JSON each, to frames in hex",
}


def parse(arguments):
    """The options of the command line, and the parser."""
    description, _, notes = __doc__.partition("\n\n")
    parser = argparse.ArgumentParser(
        description=description, epilog=notes, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, meaning in COMMANDS.items():
        command = commands.add_parser(name, help=meaning, description=meaning)
        if name in ("verify", "ascon"):
            command.add_argument("folder")
            continue
        command.add_argument("--device", type=lambda text: int(text, 16), help="id of the collar, in hex")
        if name == "decode-capture":
            command.add_argument("--key-file", type=key_in, dest="key", help="file with the key of this collar, 32 hexadecimal digits")
            command.add_argument("file", type=pathlib.Path)
            continue
        command.add_argument("--log", type=int, help="id of its log")
        command.add_argument("--reference", type=int, default=0, help="highest sequence known of the log")
        if name == "decode":
            command.add_argument("frame", type=bytes.fromhex)
        if name == "encode":
            command.add_argument("--address", type=int, required=True, help="address of the collar")
    return parser.parse_args(arguments), parser


def main(arguments=None):
    """The command line; returns the exit status."""
    options, parser = parse(arguments)
    if options.command == "verify":
        return verify.verify(options.folder)
    if options.command == "ascon":
        return known_answers.check(options.folder)
    if options.command == "decode-capture":
        if (options.device is None) != (options.key is None):
            parser.error("--device and --key-file belong together")
        return decode_capture(options.file, Listener(options.device, options.key))
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
