"""A listener to both directions of a line. It knows what the frames say, and the key of one collar if it is given.

It decodes each frame with what the frames before it said: the logs and their fixes (sections 3, 6 and 11) and, of sealed
frames, the boots, counters and polls (section 22). It answers nothing, and trusts every frame that is intact.
"""

import capture
import frames
import live
import sealing
import sealing_collar
from frames import ABSOLUTE_FIX, ACKNOWLEDGEMENT, DELIVERED_ELSEWHERE, LIVE_FIX, SEALED_FLAG, TOMBSTONE, Log
from host import IDENTITY, UNKNOWN_COLLAR, KnownLogs
from messages import company_of
from sealing_collar import COUNTER_PART, HEADER, LONG, POLL, WIDE
from sealing_keys import Known, derive, not_opened
from wire import ProtocolError, check_size

NEEDS_KEY, NEEDS_IDENTITY, NEEDS_FIX = "the key of the collar", "an identity of the collar", "an earlier fix"
MIDDLE = 1 << 15  # of the sequences with the same upper half


class Missing(Exception):
    """A frame cannot be decoded without something that was not heard. `anchor` is the sequence of the missing fix, if it is known."""

    def __init__(self, needs, anchor=None):
        super().__init__(needs)
        self.needs, self.anchor = needs, anchor

    def as_json(self):
        """What is missing."""
        return {"needs": self.needs, **({} if self.anchor is None else {"anchor": self.anchor})}


def references(known):
    """The references of a listener for the sequences of a log. It has also heard what the host has."""
    return list(dict.fromkeys((*known.references(), known.highest)))


def describe_header(frame):
    """What the header of a frame shows, without zeros and flags that mean nothing."""
    check_size(frame)
    name, number, flags = frames.name_of(frame), frame[0] & 0x1F, frame[1]
    if name is None:
        return {}
    sealed, of_host = flags & SEALED_FLAG, sealing.from_host(frame)
    shown = {"sealed": sealed, "long": sealed and not of_host and flags & LONG,
             "wide": sealed and number == ABSOLUTE_FIX and flags & WIDE,
             "delivered_elsewhere": number == TOMBSTONE and flags & DELIVERED_ELSEWHERE}
    described = {"name": name, "type": number, "address": frame[2], "flags": [flag for flag, is_set in shown.items() if is_set]}
    if flags & POLL:
        described["index" if of_host else "poll"] = flags & POLL
    if number == ACKNOWLEDGEMENT and company_of(flags):
        described["company"] = company_of(flags)
    return described


class Listener:
    """Hears frames, one after the other."""

    def __init__(self, device_id=None, key=None):
        self.known = KnownLogs()
        self._collar = None if key is None else SealedCollar(device_id, key, self.known)

    def hear_of_receiver(self, receiver_id):
        """Note the id of the receiver at this end."""
        if self._collar is not None:
            self._collar.hear_of_receiver(receiver_id)

    def hear(self, frame, time):
        """What a bare frame says, as JSON: its header, and its fields, or its error, or what it needs."""
        heard = {}
        try:
            heard.update(describe_header(frame))
            known, decoded, counter = self._decode(frame, time)
        except (ProtocolError, Missing) as reason:
            return heard | reason.as_json()
        if counter is not None:
            heard["counter"] = counter
        if known is not None:
            self._learn(known, decoded, time)
            heard.update(device_id=f"{known.log.device_id:016x}", log_id=known.log.log_id)
        return heard | {"fields": {name: value for name, value in decoded.decoded.items() if name != "type"}}

    def _decode(self, frame, time):
        """The log, the decoded frame, and the counter of a sealed frame."""
        if frame[1] & SEALED_FLAG and frames.name_of(frame) and not frame[1] & frames.CRITICAL_FLAGS:
            if self._collar is None:
                raise Missing(NEEDS_KEY)
            return self._collar.open(frame)
        try:
            return *self.known.decode(frame, time), None
        except ProtocolError as error:
            if error.reason == UNKNOWN_COLLAR:
                raise Missing(NEEDS_IDENTITY) from None
            if error.reason == "check_failed" and frame[0] & 0x1F == LIVE_FIX:
                self._look_for_anchor(frame)
            raise

    def _look_for_anchor(self, frame):
        """Raise Missing if the anchor of a live fix in clear was not heard."""
        known = self.known.heard_at(frame[2])
        _, anchor, _ = live.begin(frame[4:-3], frame[3], max(references(known)))
        if anchor not in known.fixes:
            raise Missing(NEEDS_FIX, anchor)

    def _learn(self, known, decoded, time):
        if decoded.type < ACKNOWLEDGEMENT:
            self.known.learn(known, decoded, time)
        elif decoded.type == ACKNOWLEDGEMENT:
            fields = decoded.decoded
            known.hear_of(fields["first_missing"] - 1)
            for _, last in fields["durable"]:
                known.hear_of(last)


def hear_capture(records, listener):
    """Let a listener hear the records of a capture. Gives each packet, and what it says as JSON."""
    ports = capture.Ports()
    for record in records:
        if record.event == capture.BEGAN:
            receiver = record.lines().get("receiver", "0")
            if not receiver.isdecimal() or int(receiver) >> 32:
                raise capture.CaptureError(f"byte {record.offset}: {receiver!r} is no receiver id")
            listener.hear_of_receiver(int(receiver))
        for packet in ports.take(record):
            if isinstance(packet.content, ProtocolError):
                yield packet, packet.content.as_json()
            else:
                yield packet, listener.hear(packet.content, packet.record.unix_ms)


class Boot:
    """A boot of a collar with a key."""

    def __init__(self, log, boot_count):
        self.log, self.boot_count = log, boot_count
        self.highest = 0  # counter of a frame or a poll that was heard
        self.polls = {}   # by counter, their numbers

    def counter(self, frame):
        """The counter of a frame, or of its poll. It is known only if the frame opens with it."""
        if frame[1] & LONG and not sealing.from_host(frame):
            return int.from_bytes(frame[HEADER:HEADER + COUNTER_PART], "big") << 8 | frame[3]
        return max(self.highest - 63 + (frame[3] - self.highest + 63) % 256, 0)

    def hear_poll(self, frame):
        """Note the number of the poll in a frame of the collar, if it is one."""
        if frame[1] & POLL:
            self.polls[self.counter(frame)] = frame[1] & POLL


class SealedCollar:
    """Opens the frames of a collar with a key, and those of hosts to it."""

    def __init__(self, device_id, key, logs):
        self._device_id, self._keys = device_id, derive(key, device_id)
        self._logs = logs
        self._boots = []      # the one that was heard last comes first
        self._receivers = []  # likewise
        self._addresses = set()

    def hear_of_receiver(self, receiver_id):
        """Note a receiver, of which settings frames may be that do not name theirs."""
        if receiver_id:
            self._receivers = list(dict.fromkeys([receiver_id, *self._receivers]))

    def open(self, frame):
        """The log, the decoded frame and the counter. Raises Missing, or not_opened."""
        if frame[0] & 0x1F == IDENTITY:
            return self._open_identity(frame)
        if not self._boots:
            raise Missing(NEEDS_IDENTITY)
        for boot in self._boots:
            log = self._log_of(boot)
            for known in self._guesses(boot, log, frame):
                try:
                    clear = sealing.open_sealed(frame, self._keys, known)
                except ProtocolError as error:
                    if error.reason != "not_opened":
                        raise
                else:
                    return log, self._take(boot, frame, known, sealing.decode_clear(clear, known)), known.counter
        if frame[0] & 0x1F == LIVE_FIX and frame[2] in self._addresses:
            self._look_for_anchor(frame)
        raise not_opened()

    def _open_identity(self, frame):
        """The same for an identity, which names its boot and its counter."""
        nothing = Known(Log(self._device_id, 0), boot_count=0, counter=0)
        _, told = sealing_collar.open_text(frame, self._keys, nothing)
        decoded = frames.decode(sealing.open_sealed(frame, self._keys, told))
        log = self._logs.log_of(decoded)
        boot = next((each for each in self._boots if (each.log, each.boot_count) == (told.log, told.boot_count)),
                    Boot(told.log, told.boot_count))
        boot.highest = max(boot.highest, told.counter)
        self.hear_of_receiver(decoded.decoded["paired_receiver"])
        return log, self._take(boot, frame, told, decoded), told.counter

    def _take(self, boot, frame, known, decoded):
        """Note what an opened frame shows. Returns the decoded frame."""
        self._boots = [boot, *(each for each in self._boots if each is not boot)]
        self._addresses.add(frame[2])
        boot.highest = max(boot.highest, known.counter)
        if not sealing.from_host(frame):
            boot.hear_poll(frame)
        elif decoded.type == ACKNOWLEDGEMENT:
            self.hear_of_receiver(decoded.decoded["receiver_id"])
            decoded.decoded["poll"] = boot.polls.get(known.counter)  # unknown if the poll was not heard
        return decoded

    def _guesses(self, boot, log, frame):
        """What may be known besides the frame, each with the other values that the frame may depend on."""
        known, number = Known(boot.log, boot.boot_count, boot.counter(frame)), frame[0] & 0x1F
        if sealing.from_host(frame):
            known = known._replace(poll=boot.polls.get(known.counter, 0))
            return [known._replace(receiver_id=receiver) for receiver in self._receivers or [0]]
        if number == ABSOLUTE_FIX and not frame[1] & WIDE:
            halves = dict.fromkeys(half for each in references(log) for half in sealing_collar.upper_halves(each))
            return [known._replace(sequence=half << 16 | MIDDLE) for half in halves]
        if number == LIVE_FIX:
            anchors = [log.fixes.get(self._anchor(frame, each)) for each in references(log)]
            return [known._replace(anchor=anchor) for anchor in anchors if anchor is not None]
        return [known]

    def _look_for_anchor(self, frame):
        """Raise Missing if the anchor of a live fix was not heard. The number of its poll shows all the same."""
        boot = self._boots[0]
        log = self._log_of(boot)
        anchor = self._anchor(frame, max(references(log)))
        if anchor not in log.fixes:
            boot.hear_poll(frame)
            raise Missing(NEEDS_FIX, anchor)

    def _log_of(self, boot):
        return next(each for each in self._logs.logs if each.log == boot.log)

    @staticmethod
    def _anchor(frame, highest):
        """The sequence of the anchor, or None."""
        end = HEADER + sealing_collar.clear_part_size(frame[:HEADER])
        return sealing_collar.anchor_sequence(frame[end - 1], highest) if end <= len(frame) else None
