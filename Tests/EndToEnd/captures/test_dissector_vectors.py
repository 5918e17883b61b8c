"""The Wireshark dissector against the vectors and random payloads."""

import collections
import random
import unittest

from captures import BARE, FRAMES, FROM_RADIO, pcap
from dissected_fields import (BATCH, FAULTS, FIX, HEADER_FAULTS, LIVE_FIX, READERS, SERIAL_FAULTS, Reader,
                              fixes_of_batch, units_are_wrong)
from dissector import LOG, DissectorTest, identity, load
import frames
from wire import ProtocolError, stuff


def log_of(vector):
    return frames.Log(int(vector["device_id"], 16), vector["log_id"]) if "device_id" in vector else None


def capture_of(form, identities, members):
    """A capture of identities and, in the form "bare" or "serial", of vectors."""
    packets = [bytes.fromhex(vector[form]) for _, vector in members]
    if form == "bare":
        return [(FRAMES, packet) for packet in identities + packets]
    return [(FROM_RADIO, packet) for packet in [*map(stuff, identities), *packets]]


class DissectedVectorsTest(DissectorTest):
    def check(self, groups, problems_of):
        """Dissects a capture of each group: a form, the identities that come first, and vectors with their names."""
        dissected = self.dissect_each([capture_of(*group) for group in groups])
        self.assert_no_problems(
            f"{name} ({form}): {problem}" for (form, identities, members), packets in zip(groups, dissected, strict=True)
            for (name, vector), packet in zip(members, packets[len(identities):], strict=True)
            for problem in problems_of(vector, packet))

    def group(self, vectors):
        """Groups vectors by log, by reference, and by the size of the short sequence.

        The dissector learns sequences from a capture. In rising order it still completes each as from the reference.
        """
        groups = collections.defaultdict(list)
        for name, vector in vectors.items():
            number = int(vector["bare"][:2], 16) & 31
            short = number == LIVE_FIX or number == FIX and not vector["sender"]["wide"]
            groups[log_of(vector), short and (number, vector.get("reference", 0))].append((name, vector))
        for (log, short), members in groups.items():
            if short:
                members.sort(key=lambda member: member[1]["decoded"]["sequence"])
            # An identity at each address shows that the collar uses it.
            addresses = sorted({vector["sender"]["address"] for _, vector in members})
            yield "bare", self.identities(log, short[1] if short else 0, addresses), members

    def identities(self, log, reference, addresses):
        return [identity(log, min(reference + 1, 2 ** 32 - 1), address) for address in addresses] if log else []

    def problems_of(self, vector, packet):
        reader, wanted = Reader(packet.frames[0]), vector["decoded"]
        number = int(vector["bare"][:2], 16) & 31
        sender = vector["sender"]
        header = {"type": number, "version": 1, "address": sender["address"], "flags": sender["flags"],
                  "poll_number": sender["flags"] & 7, "check": int(vector["bare"][-6:], 16),
                  "check.status": 2 if number == LIVE_FIX else 1}
        found = reader.numbers(*header)
        if found != header:
            yield f"header is {found}, not {header}"
        if number == 9 and reader.flag("flags.delivered_elsewhere") != bool(sender["flags"] & 8):
            yield "flag bit 3 is shown wrongly"
        # A probe's tag may be that of another log.
        faults = reader.faults() - {"anchor_needed" if number == LIVE_FIX else "unknown_collar" if number == 5 else ""}
        if faults:
            yield f"shows {faults}"
        if number == LIVE_FIX:
            found = reader.numbers("sequence", "anchor", "distance")
            anchor = vector["anchor"]["sequence"]
            wanted = {"sequence": wanted["sequence"], "anchor": anchor, "distance": wanted["sequence"] - anchor}
        else:
            found = READERS[number](reader)
        if found != wanted:
            yield f"decodes to {found}, not {wanted}"
        if number == FIX:
            yield from units_are_wrong(reader, wanted)
        if number == BATCH:
            for part, fix in zip(fixes_of_batch(reader), wanted["fixes"], strict=True):
                yield from units_are_wrong(part, fix)

    def test_valid_vectors(self):
        vectors = load("valid")
        self.assertEqual({int(vector["bare"][:2], 16) & 31 for vector in vectors.values()}, set(frames.MESSAGES))
        self.check(list(self.group(vectors)), self.problems_of)
        print(f"{len(vectors)} vectors ", end="", flush=True)

    def test_invalid_vectors(self):
        groups = collections.defaultdict(list)
        for name, vector in load("invalid").items():
            for form in ("bare", "serial"):
                if form in vector:
                    groups[log_of(vector), vector.get("reference", 0), form].append((name, vector))
        self.check([(form, self.identities(log, reference, [17]), members)
                    for (log, reference, form), members in groups.items()], self.problems_of_invalid)

    def problems_of_invalid(self, vector, packet):
        faults = {fault: packet.count(fault) for fault in FAULTS if packet.count(fault)}
        if faults != {self.wanted_fault(vector): 1}:
            yield f"shows {faults}, not {self.wanted_fault(vector)}"

    def wanted_fault(self, vector):
        data = bytes.fromhex(vector.get("bare", ""))
        readable = vector["error"] not in (*SERIAL_FAULTS, *HEADER_FAULTS)
        distant = vector.get("field") in ("sequence", "distance", "anchor")
        if readable and data and data[0] & 31 == LIVE_FIX and not distant:
            return "anchor_needed"  # the dissector decodes nothing more of a live fix
        if vector["error"] == "check_failed" and frames.MESSAGES[data[0] & 31].bound and (
                log_of(vector) is None or data[2] != 17):
            return "unknown_collar"  # no known collar uses the address
        if vector["error"] == "not_opened" and data and data[0] & 31 not in frames.MESSAGES:
            return "sealed_malformed"  # no frame of this type opens, whatever the key
        return vector["error"]

    def test_random_payloads(self):
        """For random payloads with a correct CRC, dissector and independent decoder find the same fault, or none."""
        chance = random.Random(8)
        found = [identity(LOG, 0)]
        for number in sorted(frames.MESSAGES):
            for _ in range(150):
                size = chance.choice((0, 1, 3, 7, 8, 13, 20, 22, 36, 44, 100, 246))
                # Few bits are 1, so that more values are within their limits.
                payload = bytes(chance.getrandbits(8) & chance.getrandbits(8) for _ in range(size))
                log = LOG if frames.MESSAGES[number].bound else None
                found.append(frames.assemble(32 | number, 0, 17, chance.randrange(12), payload, log))
        self.assertEqual(len({int(frame[0]) for frame in found}), len(frames.MESSAGES))
        packets = self.dissect(pcap(BARE, found))
        clean = 0
        for frame, packet in zip(found, packets, strict=True):
            if frame[0] & 31 == LIVE_FIX:
                continue
            try:
                frames.decode(frame, LOG)
                wanted = set()
                clean += 1
            except ProtocolError as error:
                wanted = {error.reason}
            self.assertEqual(Reader(packet.frames[0]).faults() - {"unknown_collar"}, wanted, frame.hex())
        self.assertGreater(clean, 200)


if __name__ == "__main__":
    unittest.main()
