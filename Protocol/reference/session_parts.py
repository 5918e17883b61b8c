"""Shared parts of the sessions: collars that write frames, and the script of a session."""

import frames
from frames import BATCH, COLLAR_MESSAGE, LIVE_FIX, Log
from report_vectors import NOTICE
from vector_parts import FIX, IDENTITY
from wire import stuff

RECEIVER = 0xA1B2C3D4
START = FIX["time"]


def position(sequence, **changes):
    """The fix of a sequence: a walk north-east, one fix a second."""
    step = sequence % 1000
    codes = {name: value for name, value in FIX.items() if name != "type"}
    return {**codes, "sequence": sequence, "time": START + 1000 * step, "latitude": FIX["latitude"] + 2 * step,
            "longitude": FIX["longitude"] + 3 * step, "speed": 14 + step % 3, **changes}


class Collar:
    """Writes the frames of one log, stuffed for the serial line."""

    def __init__(self, device_id, log_id, address, largest_frame=253):
        self.log = Log(device_id, log_id)
        self.address = address
        self.largest_frame = largest_frame

    def send(self, number, fields, poll=0, address=None, **hints):
        """Any message."""
        return stuff(frames.encode(number, fields, address or self.address, poll, self.log, **hints))

    def identity(self, poll=0, oldest=0, following=0, paired=0, elsewhere=None, boot=None, heartbeat=IDENTITY["heartbeat"]):
        """Identity of a log that holds oldest … following - 1."""
        fields = {**IDENTITY, "device_id": f"{self.log.device_id:016x}", "log_id": self.log.log_id,
                  "oldest_sequence": oldest, "next_sequence": following, "paired_receiver": paired,
                  "largest_frame": self.largest_frame, "heartbeat": heartbeat}
        if elsewhere is not None:
            fields["delivered_elsewhere"] = elsewhere
        if boot is not None:
            fields["boot_count"] = boot
        return self.send(1, fields, poll)

    def probe(self, following, poll=0):
        """Probe."""
        return self.send(5, {"tag": self.log.tag(), "next_sequence": following}, poll)

    def fix(self, fix, poll=0, wide=False, **options):
        """Absolute fix, given its sequence or its codes."""
        return self.send(2, codes_of(fix), poll, wide=wide, **options)

    def live(self, fix, anchor, poll=0):
        """Live fix and its anchor, each given its sequence or its codes."""
        return self.send(LIVE_FIX, codes_of(fix), poll, anchor=codes_of(anchor))

    def batch(self, fixes, poll=0):
        """Batch of exactly these fixes, each given its sequence or its codes."""
        return self.send(BATCH, {"fixes": [codes_of(fix) for fix in fixes]}, poll)

    def message(self, sequence, poll=0, **changes):
        """Message of the application: a notice with some fields changed."""
        return self.send(COLLAR_MESSAGE, {"sequence": sequence, **NOTICE, **changes}, poll)

    def tombstone(self, ranges, poll=0, elsewhere=False):
        """Tombstone."""
        return self.send(frames.TOMBSTONE, {"ranges": ranges}, poll | (frames.DELIVERED_ELSEWHERE if elsewhere else 0))

    def acknowledged(self, poll, first_missing, durable=(), address=None, resend=(), company=0):
        """The host's answer, bare. Durable ranges are given newest first, resend ranges oldest first."""
        fields = {"poll": poll, "receiver_id": RECEIVER, "first_missing": first_missing,
                  "durable": [list(each) for each in durable], "resend": [list(each) for each in resend], "company": company}
        return frames.encode(16, fields, address or self.address, log=self.log)

    def names(self):
        """The keys that name the log in a vector."""
        return {"device_id": f"{self.log.device_id:016x}", "log_id": self.log.log_id}


A = Collar(0x0123456789ABCDEF, 44_813_807, 17)
A_ERASED = Collar(A.log.device_id, 9_876_543, 17)
A_MOVED = Collar(*A.log, 201)
A_NARROW = Collar(*A.log, 17, largest_frame=51)
B = Collar(0xFEDCBA9876543210, 1_234_567, 18)
B_BESIDE_A = Collar(*B.log, 17)


def codes_of(fix):
    """The codes of a fix, given its sequence or its codes."""
    return position(fix) if isinstance(fix, int) else fix


def who_at(address):
    """The host's identity request, bare."""
    return frames.encode(17, {"receiver_id": RECEIVER}, address)


class Session:
    """The script of a session. Its expected results are written by hand, step by step."""

    def __init__(self, meaning, origin):
        self._vector = {"meaning": meaning, "origin": origin, "receiver_id": RECEIVER, "steps": [],
                        "fixes": [], "logs": [], "rejected": {}}
        self._host(0, who_at(255))

    def _host(self, time, frame):
        self._vector["steps"].append({"time": time, "host": frame.hex()})

    def unasked(self, time, frame):
        """A frame that the host sends by itself."""
        self._host(time, frame)
        return self

    def at(self, time, serial, *answers):
        """Bytes that arrive, and the answers that the host must send."""
        self._vector["steps"].append({"time": time, "radio": serial.hex()})
        for answer in answers:
            self._host(time, answer)
        return self

    def stored(self, collar, *fixes):
        """The next fixes that are newly stored, each given its sequence or its codes."""
        self._vector["fixes"] += [{**collar.names(), **codes_of(fix)} for fix in fixes]
        return self

    def rejected(self, **counts):
        """How often each error occurred."""
        self._vector["rejected"].update(counts)
        return self

    def ends(self, collar, first_missing, durable=(), lost=(), elsewhere=()):
        """The knowledge of the host about a log at the end."""
        known = {**collar.names(), "first_missing": first_missing, "durable": [list(each) for each in durable],
                 "lost": [list(each) for each in lost]}
        if elsewhere:
            known["elsewhere"] = [list(each) for each in elsewhere]
        self._vector["logs"].append(known)
        return self

    def vector(self):
        """The finished vector."""
        return self._vector
