"""The Wireshark dissector against sealed frames (PROTOCOL.md, section 22): what is visible in them without a key.

The dissector has no key, so it cannot tell a sealed frame that opens from one that does not.
"""

import unittest

from captures import BARE, FRAMES, FROM_RADIO, SERIAL, pcap, pcapng
from dissected_fields import FIX, LIVE_FIX, Reader
from dissector import LOG, DissectorTest, identity, load
import frames
from wire import stuff

IDENTITY, TOMBSTONE, ACKNOWLEDGEMENT = 1, 9, 16
SEALED, LONG, BIT_3 = 0x80, 0x10, 0x08
# By type that can be sealed: its name in the info column.
COLLAR = {IDENTITY: "identity", FIX: "absolute fix", LIVE_FIX: "live fix", 4: "batch", 5: "probe", 6: "status",
          7: "settings report", 8: "result", TOMBSTONE: "tombstone", 13: "application message of a collar",
          15: "power report"}
HOST = {ACKNOWLEDGEMENT: "acknowledgement", 18: "settings request", 19: "settings update", 20: "command",
        29: "application message of a host"}
CLEAR = {10: "radio identity", 11: "modem settings", 12: "signal report", 17: "identity request"}
NAMING_RECEIVER = (ACKNOWLEDGEMENT, 20, 29)
# By type: the bytes by which the plaintext is longer than the payload of the clear frame.
GAINED = {IDENTITY: -16, FIX: 1, 4: 1, 5: -3, **{number: -4 for number in NAMING_RECEIVER}}
BYTES = ("masked", "salt", "ciphertext", "authentication_tag", "payload")


def type_of(frame):
    return frame[0] & 31


def clear_part(number, flags):
    """The sizes of the fields between header and ciphertext."""
    if number in HOST:
        return {**({"receiver_id": 4} if number in NAMING_RECEIVER else {}), "salt": 3}
    if number == IDENTITY:
        return {"masked": 11}
    return {**({"counter_upper": 3} if flags & LONG else {}), **({"anchor_low": 1} if number == LIVE_FIX else {})}


def tag_size(number):
    return 8 if number in HOST or number == IDENTITY else 6


def has_all_parts(frame):
    return len(frame) >= 4 + sum(clear_part(type_of(frame), frame[1]).values()) + tag_size(type_of(frame))


def malformed(frame):
    """Why no key opens the frame; None if one may."""
    number, index = type_of(frame), frame[1] & 7
    if number not in (*COLLAR, *HOST):
        return "a type that is never sealed" if number in CLEAR else "unknown type"
    if not has_all_parts(frame):
        return "too short for its parts"
    if number in HOST and index not in ((0,) if number == ACKNOWLEDGEMENT else (1, 2)):
        return "wrong index"
    return "an identity is never long" if number == IDENTITY and frame[1] & LONG else None


def visible_flags(number, flags):
    fields = {"flags": flags, "flags.sealed": 1, "flags.critical": 0}
    if number in HOST:
        name = "flags.company" if number == ACKNOWLEDGEMENT else "flags.reserved"
        return {**fields, name: flags >> 3 & 3, "index": flags & 7}
    fields["poll_number"] = flags & 7
    if number not in COLLAR:
        return {**fields, "flags.reserved": flags >> 3 & 3}
    name = {FIX: "flags.wide", TOMBSTONE: "flags.delivered_elsewhere"}.get(number, "flags.bit_3")
    return {**fields, "flags.long": flags >> 4 & 1, name: flags >> 3 & 1}


def visible_parts(frame):
    """What follows the header; in one piece where it cannot be taken apart."""
    if type_of(frame) not in (*COLLAR, *HOST) or not has_all_parts(frame):
        return {"payload": frame[4:]}
    parts, rest = {}, frame[4:]
    for name, size in clear_part(type_of(frame), frame[1]).items():
        parts[name], rest = rest[:size], rest[size:]
    size = tag_size(type_of(frame))
    parts["ciphertext"], parts["authentication_tag"] = rest[:-size], rest[-size:]
    return {name: part for name, part in parts.items() if part}


def visible_fields(frame):
    """All that the dissector must show of a sealed frame: bytes in hexadecimal digits, else numbers."""
    number = type_of(frame)
    low = "counter_low" if number in (*COLLAR, *HOST) else "low_byte"
    fields = {"version": 1, "type": number, **visible_flags(number, frame[1]), "address": frame[2], low: frame[3]}
    for name, part in visible_parts(frame).items():
        fields[name] = part.hex() if name in BYTES else int.from_bytes(part, "big")
    if "counter_upper" in fields:
        fields["counter"] = fields["counter_upper"] << 8 | frame[3]
    return fields


def words_of(frame):
    """The text of the info column."""
    number, value = type_of(frame), frame[1] & 7
    name = {**COLLAR, **HOST, **CLEAR}.get(number)
    reason = malformed(frame)
    words = f"{name}, sealed" if name else "sealed"
    words += f" [malformed: {reason}]" if reason else ", not verified"
    return f"{words}, {'index' if number in HOST else 'poll'} {value}" if value else words


class DissectedSealedFramesTest(DissectorTest):
    def problems_of(self, frame, packet, info):
        """Compares what the dissector shows of a frame, and nothing else, with the frame."""
        fields = packet.frames[0]
        reader, wanted = Reader(fields), visible_fields(frame)
        names = {name.removeprefix("collarlink.") for name in fields if name.startswith("collarlink.")}
        fault = "sealed_malformed" if malformed(frame) else "not_opened"
        if names != {*wanted, fault}:
            yield f"shows {sorted(names)}, not {sorted({*wanted, fault})}"
            return
        found = {name: reader.octets(name) if name in BYTES else reader.number(name) for name in wanted}
        if found != wanted:
            yield f"shows {found}, not {wanted}"
        if info != words_of(frame):
            yield f"is called {info!r}, not {words_of(frame)!r}"

    def check(self, named):
        """Dissects frames, each with its name and with the interface and the bytes of the packet that holds it."""
        capture = pcapng([packet for _, _, packet in named])
        rows = self.tshark(capture, "-T", "fields", "-e", "_ws.col.Info").splitlines()
        self.assert_no_problems(
            f"{name}: {problem}" for (name, frame, _), packet, info in zip(named, self.dissect(capture), rows, strict=True)
            for problem in self.problems_of(frame, packet, info))

    def test_sealed_vectors(self):
        vectors = load("sealed")
        self.assertEqual({type_of(bytes.fromhex(vector["bare"])) for vector in vectors.values()}, {*COLLAR, *HOST})
        self.check([(f"{name} ({form})", bytes.fromhex(vector["bare"]), (interface, bytes.fromhex(vector[form])))
                    for form, interface in (("bare", FRAMES), ("serial", FROM_RADIO)) for name, vector in vectors.items()])
        print(f"{len(vectors)} vectors ", end="", flush=True)

    def test_expected_fields_fit_the_values_of_the_vectors(self):
        """What the other tests expect is what was sealed."""
        for name, vector in load("sealed").items():
            if "error" in vector:
                continue
            frame, clear = bytes.fromhex(vector["bare"]), bytes.fromhex(vector["clear"])
            number, fields = type_of(frame), visible_fields(frame)
            with self.subTest(name):
                self.assertIsNone(malformed(frame))
                self.assertEqual(fields["counter_low"], vector["counter"] & 0xFF)
                self.assertEqual(fields.get("counter", vector["counter"]), vector["counter"])
                self.assertEqual(len(fields["ciphertext"]) // 2, len(clear) - 7 + GAINED.get(number, 0))
                self.assertEqual(fields.get("poll_number", 0), clear[1] & 7)
                if number in NAMING_RECEIVER:
                    start = 4 if number == ACKNOWLEDGEMENT else 6
                    self.assertEqual(fields["receiver_id"], int.from_bytes(clear[start:start + 4], "big"))
                if number == LIVE_FIX:
                    self.assertEqual(fields["anchor_low"], vector["anchor"]["sequence"] & 0xFF)
                if number == ACKNOWLEDGEMENT:
                    self.assertEqual(fields["flags.company"], clear[1] >> 3 & 3)
                if number == TOMBSTONE:
                    self.assertEqual(fields["flags.delivered_elsewhere"], clear[1] >> 3 & 1)
                if number == FIX:
                    self.assertEqual(fields["flags.wide"], clear[5] >> 7)

    def test_every_type_and_length(self):
        """Sealed frames of all types, with the sizes at which the parts of a frame become complete."""
        found = []
        for number in range(32):
            for flags in (0x80, 0x81, 0x82, 0x83, 0x88, 0x90, 0x9F):
                for length in (*range(7, 26), 253):
                    frame = bytes([32 | number, flags, 17, 0x39, *(7 * place % 256 for place in range(length - 4))])
                    found.append((f"{frame.hex()[:8]}, {length} bytes", frame, (FRAMES, frame)))
        self.assertGreater(sum(malformed(frame) is None for _, frame, _ in found), 500)
        self.assertEqual({malformed(frame) for _, frame, _ in found}, {
            None, "unknown type", "a type that is never sealed", "too short for its parts", "wrong index",
            "an identity is never long"})
        self.check(found)

    def test_critical_flags_and_versions_come_first(self):
        packets = [bytes([first, flags, 17, 0]) + bytes(30) for first, flags in
                   ((0x22, 0xA0), (0x22, 0xC1), (0x30, 0xE0), (0x20, 0xA0), (0x42, 0x80), (0x42, 0xE0))]
        readers = [Reader(packet.frames[0]) for packet in self.dissect(pcap(BARE, packets))]
        self.assertEqual([reader.faults() for reader in readers],
                         4 * [{"critical_flags"}] + 2 * [{"unsupported_version"}])
        # Flag bit 7 may mean anything there, so the frame is shown as if it were clear.
        self.assertEqual([reader.optional("low_byte") for reader in readers], [0, 0, None, 0, 0, 0])
        self.assertEqual([reader.optional("answered_poll") for reader in readers], [None, None, 0, None, None, None])

    # Sealed frames among others

    def clear_fix(self):
        return bytes.fromhex(load("valid")["absolute-fix-plain"]["bare"])

    def test_nothing_is_learned_from_a_sealed_frame(self):
        """A sealed frame neither makes a log known nor hides one."""
        sealed = [bytes.fromhex(load("sealed")[name]["bare"]) for name in
                  ("identity-plain", "absolute-fix-plain", "acknowledgement-plain", "tombstone-plain")]
        fix = self.clear_fix()
        packets = self.dissect(pcap(BARE, [*sealed, fix, identity(LOG, 4661), *sealed, fix]))
        fixes = [Reader(packet.frames[0]) for packet in (packets[len(sealed)], packets[-1])]
        self.assertEqual([reader.faults() for reader in fixes], [{"unknown_collar"}, set()])
        self.assertEqual(fixes[1].number("sequence"), 4660)

    def test_signal_report_of_a_sealed_frame(self):
        """A signal report names a sealed frame by its last three bytes, at the second look, too."""
        sealed = bytes.fromhex(load("sealed")["absolute-fix-plain"]["bare"])
        report = frames.encode(12, {"type": 12, "packet_check": int.from_bytes(sealed[-3:], "big"), "strength": -97,
                                    "signal_to_noise": 65}, 0)
        capture = pcap(SERIAL, [stuff(self.clear_fix()), stuff(sealed) + stuff(report)])
        for options in ((), ("-2",)):
            last = Reader(self.dissect(capture, *options)[-1].frames[-1])
            self.assertEqual((last.number("type"), last.number("reported_packet")), (12, 2))


if __name__ == "__main__":
    unittest.main()
