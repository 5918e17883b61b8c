"""A host (section 19) at one radio: it keeps everything in memory, which counts as durable. KnownLogs is also the memory of a
listener that answers nothing."""

import frames
import live
from frames import ACKNOWLEDGEMENT, BATCH, COLLAR_MESSAGE, LIVE_FIX, TOMBSTONE, Log
from wire import ProtocolError, SerialDecoder

IDENTITY, ABSOLUTE_FIX, PROBE, IDENTITY_REQUEST = 1, 2, 5, 17
EVERYONE = 255
END = 2 ** 32 - 1
REQUEST_INTERVAL = 1000  # ms
AFTERLIFE = 600_000  # ms after its last frame during which a log that is not current is tried
REPETITIONS = (1000, 5000)  # ms after opening
SHORTEST_HEARING = 600_000  # ms after its last frame during which a collar counts, at least
HEARTBEATS_OF_HEARING = 3
MOST_COLLARS = (1, 4, 16)  # of each company but the largest
UNKNOWN_COLLAR = "unknown_collar"


def add_range(ranges, first, last):
    """The sorted ranges with one more range. Ranges that touch are joined."""
    joined = []
    for low, high in sorted(ranges + [[first, last]]):
        if joined and low <= joined[-1][1] + 1:
            joined[-1][1] = max(joined[-1][1], high)
        else:
            joined.append([low, high])
    return joined


def gaps(ranges, first, last):
    """The parts of first … last that are in none of the sorted ranges."""
    found = []
    for low, high in ranges:
        if first <= min(low - 1, last):
            found.append([first, min(low - 1, last)])
        first = max(first, high + 1)
    return found + [[first, last]] if first <= last else found


def without(ranges, low, high):
    """The ranges without low … high."""
    return [part for first, last in ranges for part in gaps([[low, high]], first, last)]


class KnownLog:
    """The knowledge of the host about one log."""

    def __init__(self, log):
        self.log = log
        self.paired = 0    # the receiver that its collar named last
        self.highest = 0   # the highest sequence that its collar has shown
        self.named = 0     # the newest sequence that the last identity named
        self.heartbeat = 0  # s, that its collar named last
        self.heard = None  # when its last frame came in
        self.fixes = {}    # by sequence
        self.messages = {}  # of the collar's application, by sequence
        self.covered = []    # ranges: stored, or never to come
        self.lost = []       # ranges
        self.elsewhere = []  # ranges that a former receiver acknowledged
        self.boot = None     # the boot count that its collar named last
        self.doubted = []    # ranges in doubt, which are named in resend

    def is_heard(self, time):
        """Whether a frame of this log shows that the host hears its collar at this time."""
        return time - self.heard < max(SHORTEST_HEARING, HEARTBEATS_OF_HEARING * 1000 * self.heartbeat)

    def hear_of(self, sequence):
        """Note a sequence that the collar has shown."""
        self.highest = max(self.highest, sequence)

    def store(self, fix):
        """Store a fix. Returns whether it is new."""
        return self._store(fix, self.fixes)

    def store_message(self, message):
        """Store a message of the collar's application, whose sequence is covered like that of a fix."""
        self._store(message, self.messages)

    def _store(self, entry, entries):
        """Store an entry of the log among its like, unless its sequence is stored. Returns whether it is new."""
        sequence = entry["sequence"]
        self.hear_of(sequence)
        self.doubted = without(self.doubted, sequence, sequence)
        if sequence in self.fixes or sequence in self.messages:
            return False
        entries[sequence] = entry
        self.covered = add_range(self.covered, sequence, sequence)
        # The entry may have been reported as lost.
        self.lost = without(self.lost, sequence, sequence)
        self.elsewhere = without(self.elsewhere, sequence, sequence)
        return True

    def lose(self, first, last, elsewhere=False):
        """Note that the collar has none of these any more. Stored fixes stay stored, and earlier reasons stay."""
        if first <= last:
            self.doubted = without(self.doubted, first, last)
        for low, high in gaps(self.covered, first, last):
            if elsewhere:
                self.elsewhere = add_range(self.elsewhere, low, high)
            else:
                self.lost = add_range(self.lost, low, high)
            self.covered = add_range(self.covered, low, high)

    def boots(self, boot, oldest, following):
        """Note a boot count. The first time, put in doubt what was reported as lost and is in the collar's log."""
        if boot == self.boot:
            return
        self.boot = boot
        called_lost = []
        for first, last in self.lost + self.elsewhere:
            called_lost = add_range(called_lost, first, last)
        outside = gaps([[oldest, following - 1]], 0, END) if oldest < following else [[0, END]]
        for low, high in outside:
            called_lost = without(called_lost, low, high)
        self.doubted = called_lost

    def certain(self):
        """The covered ranges without those in doubt."""
        ranges = self.covered
        for low, high in self.doubted:
            ranges = without(ranges, low, high)
        return ranges

    def first_missing(self):
        """The first missing sequence: everything below it is covered and not in doubt."""
        ranges = self.certain()
        return ranges[0][1] + 1 if ranges and ranges[0][0] == 0 else 0

    def durable(self):
        """The certain ranges above first missing, newest first."""
        return [each for each in reversed(self.certain()) if each[0] > 0]

    def references(self):
        """The references around which short sequences are completed, in the order in which they are tried."""
        return max([*self.fixes, *self.messages], default=0), self.first_missing(), self.named

    def anchor_of(self, frame, reference):
        """The fix that a live fix needs, if it is stored."""
        try:
            _, sequence, _ = live.begin(frame[4:-3], frame[3], reference)
        except ProtocolError:
            return None
        return self.fixes.get(sequence)


class KnownLogs:
    """The logs that a receiver knows, and what it knows of them."""

    def __init__(self):
        self.logs = []      # in the order in which they became known
        self.stored = []    # (log, fix), in the order in which they were stored
        self._at_address = {}  # the log heard last at an address
        self._users = {}       # address -> device ids of the collars heard there
        self._current = {}     # by device id, the log that the collar named last

    def decode(self, frame, time):
        """The log of a frame of a collar or a host, and the decoded frame. An identity makes its log known.

        A frame that is not bound, and is no probe and no identity, has no log.
        """
        if frames.look_at_header(frame).bound:
            return self._decode_bound(frame, time)
        decoded = frames.decode(frame)
        return self.log_of(decoded) if decoded.type in (IDENTITY, PROBE) else None, decoded

    def collars_heard(self, time):
        """How many collars the host hears at this time."""
        return len({each.log.device_id for each in self.logs if each.is_heard(time)})

    def heard_at(self, address):
        """The log that was heard last at an address, or None."""
        return self._at_address.get(address)

    def _decode_bound(self, frame, time):
        """The log that the frame fits, and the decoded frame. Logs of collars that use the address are tried, the last one first."""
        last = self.heard_at(frame[2])
        is_live = frame[0] & 0x1F == LIVE_FIX
        users = self._users.get(frame[2], ())
        tried = [each for each in self.logs if each.log.device_id in users
                 and (self._current.get(each.log.device_id) is each or time - each.heard < AFTERLIFE)]
        for known in sorted(tried, key=lambda each: each is not last):
            for reference in known.references():
                anchor = known.anchor_of(frame, reference) if is_live else None
                if is_live and anchor is None:
                    continue
                try:
                    return known, frames.decode(frame, known.log, reference, anchor)
                except ProtocolError as error:
                    if error.reason != "check_failed":
                        raise
        raise ProtocolError("check_failed" if last else UNKNOWN_COLLAR)

    def log_of(self, decoded):
        """The log of a probe or an identity. An identity makes its log known."""
        if decoded.type == PROBE:
            for known in self.logs:
                if known.log.tag() == decoded.decoded["tag"]:
                    return known
            raise ProtocolError(UNKNOWN_COLLAR)
        log = Log(int(decoded.decoded["device_id"], 16), decoded.decoded["log_id"])
        for known in self.logs:
            if known.log == log:
                return known
        self.logs.append(KnownLog(log))
        return self.logs[-1]

    def learn(self, known, decoded, time):
        """Take over what a frame of a collar says of its log."""
        known.heard = time
        self._at_address[decoded.address] = known
        self._users.setdefault(decoded.address, set()).add(known.log.device_id)
        fields = decoded.decoded
        if decoded.type in (ABSOLUTE_FIX, LIVE_FIX):
            self._store(known, {name: value for name, value in fields.items() if name != "type"})
        elif decoded.type == BATCH:
            for fix in fields["fixes"]:
                self._store(known, fix)
        elif decoded.type == COLLAR_MESSAGE:
            known.store_message(fields)
        elif decoded.type == TOMBSTONE:
            for first, last in fields["ranges"]:
                known.lose(first, min(last, known.highest), bool(decoded.flags & frames.DELIVERED_ELSEWHERE))
        elif decoded.type in (IDENTITY, PROBE):
            known.hear_of(fields["next_sequence"] - 1)
        if decoded.type == IDENTITY:
            self._current[known.log.device_id] = known
            known.named = max(fields["next_sequence"], 1) - 1
            for each in self.logs:
                if each.log.device_id == known.log.device_id:
                    each.paired = fields["paired_receiver"]
                    each.heartbeat = fields["heartbeat"]
            oldest = fields["oldest_sequence"]
            known.lose(0, min(fields.get("delivered_elsewhere", 0), oldest) - 1, elsewhere=True)
            known.lose(0, oldest - 1)
            known.boots(fields["boot_count"], oldest, fields["next_sequence"])

    def _store(self, known, fix):
        if known.store(fix):
            self.stored.append((known.log, fix))


class Host:
    """A host that is given the bytes that arrive, and returns the bare frames to send."""

    def __init__(self, receiver_id):
        self.receiver_id = receiver_id
        self.known = KnownLogs()
        self.rejected = {}  # reason -> count
        self._decoder = SerialDecoder()
        self._last_request = None
        self._repetitions = []
        self._polls = {}        # log -> address and number of its last open poll
        self._answers = []

    def open(self, time):
        """Note that the port was opened."""
        self._request_identity(EVERYONE, time)
        self._repetitions = [time + wait for wait in REPETITIONS]
        return self._take_answers(time)

    def wait(self, until):
        """Let time pass in which nothing arrives."""
        while self._repetitions and self._repetitions[0] <= until:
            time = self._repetitions.pop(0)
            if self._is_request_due(time):
                self._request_identity(EVERYONE, time)
        return self._take_answers(until)

    def receive(self, data, time):
        """Take bytes that arrive together."""
        for found in self._decoder.feed(data):
            try:
                if isinstance(found, ProtocolError):
                    raise found
                self._take(found, time)
            except ProtocolError as error:
                self.rejected[error.reason] = self.rejected.get(error.reason, 0) + 1
                if error.reason == UNKNOWN_COLLAR:
                    self._ask_who_it_is(found, time)
        return self._take_answers(time)

    def _take(self, frame, time):
        frames.look_at_header(frame)
        if frame[0] & 0x1F >= ACKNOWLEDGEMENT:
            return  # of another host
        known, decoded = self.known.decode(frame, time)
        if known is None:
            return  # of the base radio
        self._repetitions = []
        if decoded.type == TOMBSTONE and any(last > known.highest for _, last in decoded.decoded["ranges"]):
            self._request_identity(decoded.address, time)
        self.known.learn(known, decoded, time)
        poll = decoded.flags & frames.KNOWN_FLAGS
        if poll:
            self._polls[known] = decoded.address, poll

    def _ask_who_it_is(self, frame, time):
        """Answer an unknown frame by an identity request: always if it polls, else if the last request is old."""
        if frame[1] & frames.KNOWN_FLAGS or self._is_request_due(time):
            self._request_identity(frame[2], time)

    def _is_request_due(self, time):
        return time - self._last_request >= REQUEST_INTERVAL

    def _request_identity(self, address, time):
        self._last_request = time
        self._answers.append(frames.encode(IDENTITY_REQUEST, {"receiver_id": self.receiver_id}, address))

    def _take_answers(self, time):
        """The frames to send: identity requests, and an acknowledgement for each log with an open poll."""
        count = self.known.collars_heard(time)
        company = sum(count > most for most in MOST_COLLARS)
        for known, (address, poll) in self._polls.items():
            if known.paired not in (0, self.receiver_id):
                continue
            fields = frames.choose_ranges(
                {"poll": poll, "receiver_id": self.receiver_id, "first_missing": known.first_missing(),
                 "durable": known.durable(), "resend": known.doubted, "company": company})
            self._answers.append(frames.encode(ACKNOWLEDGEMENT, fields, address, log=known.log))
        self._polls = {}
        answers, self._answers = self._answers, []
        return answers
