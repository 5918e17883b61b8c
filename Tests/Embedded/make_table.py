"""Writes the vectors of the protocol, and the scale of accuracies, as the table that the image contains.

    make_table.py FILE      prints how many checks are in it

Numbers are little-endian; a text or a string of bytes has its length before it, 32 bits.

    32 bits     how many valid vectors follow, each:
        text        name
        8 bits      1: canonical, 2: of a log, 4: a fix sent with the wide sequence, 8: has an anchor
        64, 32      device id, log id
        32          reference
        14 numbers  anchor, if there is one
        bytes       serial form, bare frame
        32, numbers what it decodes to
    32 bits     how many invalid vectors follow, each with the same fields up to the bare frame (empty where there is
                none), then the texts error and field
    32 bits     how many accuracy codes follow: millimetres of each, 32 bits
    32 bits     how many accuracies follow: millimetres, 32 bits, and the nearest code, 32 bits
    32 bits     how many known answers of Ascon-AEAD128 follow: key, nonce, plaintext, associated data, ciphertext with
                its tag, each as bytes
    32 bits     how many known answers of Ascon-CXOF128 follow: customization, message, output, each as bytes
    32 bits     how many sealed vectors follow, each:
        text        name
        bytes       sealed frame, clear frame (empty where it must not open), key
        64, 32      device id, log id
        3 × 32      boot count, counter, receiver id
        8 bits      poll number
        8 bits      1: a sequence follows, 32 bits; 2: an anchor follows, 14 numbers

A number has 64 bits, two's complement; the lowest stands for an unknown one. Those of a message are its fields in the
alphabetical order of their names, a list with its length before it.
"""

import json
import pathlib
import struct
import sys
from fractions import Fraction

ROOT = pathlib.Path(__file__).resolve().parents[2]
VECTORS = ROOT / "Protocol/vectors"
ANSWERS = ROOT / "Tests/KnownAnswers"
UNKNOWN = -(1 << 63)


def vectors(folder):
    for path in sorted((VECTORS / folder).glob("*.json")):
        yield path.stem, json.loads(path.read_text())


def word(value):
    return struct.pack("<I", value)


def text(value):
    data = value.encode() if isinstance(value, str) else value
    return word(len(data)) + data


def numbers(value, key=None):
    """The numbers of a field, in the order of the table."""
    if value is None:
        return [UNKNOWN]
    if isinstance(value, dict):
        return [number for name in sorted(value) if name != "type" for number in numbers(value[name], name)]
    if isinstance(value, str):
        if key == "data":
            return numbers(list(bytes.fromhex(value)))
        value = int(value, 16)
    if isinstance(value, list):
        return [len(value)] + [number for entry in value for number in numbers(entry)]
    value = int(value) - (value >> 63 << 64 if value > 0 else 0)
    assert value != UNKNOWN, "the table has no code for this number"
    return [value]


def packed(values):
    return b"".join(struct.pack("<q", value) for value in values)


def common(name, vector):
    """What valid and invalid vectors have alike."""
    anchor = vector.get("anchor")
    flags = (
        bool(vector.get("canonical", True)) | ("log_id" in vector) << 1
        | bool(vector.get("sender", {}).get("wide")) << 2 | (anchor is not None) << 3
    )
    return (
        text(name) + struct.pack("<BQII", flags, int(vector.get("device_id", "0"), 16), vector.get("log_id", 0),
                                 vector.get("reference", 0))
        + (packed(numbers(anchor)) if anchor else b"")
        + text(bytes.fromhex(vector["serial"])) + text(bytes.fromhex(vector.get("bare", "")))
    )


def valid(name, vector):
    fields = numbers(vector["decoded"])
    return common(name, vector) + word(len(fields)) + packed(fields)


def invalid(name, vector):
    return common(name, vector) + text(vector["error"]) + text(vector.get("field", ""))


def accuracy_scale():
    """Section 5 of PROTOCOL.md, in fractions."""
    exact = [Fraction(10 * code) for code in range(10)]
    exact += [100 * Fraction(109, 100) ** (code - 10) for code in range(10, 127)]
    return [int(value + Fraction(1, 2)) for value in exact]


def accuracies(scale):
    """Every code's own value, what is beside it, what is between it and the next, and what is above all."""
    chosen = {0xFFFFFFFF, 1 << 31}
    for below, above in zip(scale, scale[1:] + [2 * scale[-1]]):
        for value in (below, (below + above) // 2, (below + above + 1) // 2):
            chosen |= {max(0, value - 1), value, value + 1}
    for value in sorted(chosen):
        yield value, min(range(len(scale)), key=lambda code: (abs(scale[code] - value), code))


def known_answers(name, values):
    """The values of each case of a file of known answers."""
    case = {}
    for line in [*(ANSWERS / name).read_text().splitlines(), "Count = end"]:
        key, _, value = (part.strip() for part in line.partition("="))
        if key == "Count":
            if case:
                yield b"".join(text(case[each]) for each in values)
            case = {}
        elif key:
            case[key] = bytes.fromhex(value)


def sealed(name, vector):
    anchor, sequence = vector.get("anchor"), vector.get("sequence")
    binding = b"\0"
    if anchor:
        binding = b"\2" + packed(numbers(anchor))
    elif sequence is not None:
        binding = b"\1" + word(sequence)
    return (
        text(name) + text(bytes.fromhex(vector["bare"])) + text(bytes.fromhex(vector.get("clear", "")))
        + text(bytes.fromhex(vector["key"])) + struct.pack("<Q", int(vector["device_id"], 16)) + word(vector["log_id"])
        + word(vector["boot_count"]) + word(vector["counter"]) + word(vector.get("receiver_id", 0))
        + bytes([vector.get("poll", 0)]) + binding
    )


def main(path):
    scale = accuracy_scale()
    sections = (
        [valid(*vector) for vector in vectors("valid")], [invalid(*vector) for vector in vectors("invalid")],
        [word(value) for value in scale], [word(value) + word(code) for value, code in accuracies(scale)],
        list(known_answers("LWC_AEAD_KAT_128_128.txt", ("Key", "Nonce", "PT", "AD", "CT"))),
        list(known_answers("LWC_CXOF_KAT_128_512.txt", ("Z", "Msg", "MD"))), [sealed(*vector) for vector in vectors("sealed")],
    )
    if not all(sections):
        sys.exit("a part of the table is empty: the test would prove nothing")
    pathlib.Path(path).write_bytes(b"".join(word(len(records)) + b"".join(records) for records in sections))
    print(sum(len(records) for records in sections))


if __name__ == "__main__":
    main(sys.argv[1])
