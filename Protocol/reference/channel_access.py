"""A collar's access to a half-duplex channel (section 18): when its next frame may begin. Times are in microseconds."""

from dataclasses import dataclass, replace

BOOT_COLLARS = 16
COLLARS = (1, 4, 16, 64)  # by the company of an acknowledgement
LONGEST_TIMEOUT = 30_000_000
PREAMBLE_EXTRA_QUARTERS = 17  # sync word and start of frame: 4.25 symbols


@dataclass(frozen=True)
class Modem:
    """LoRa with the explicit header and its CRC."""

    spreading_factor: int
    bandwidth_hz: int
    coding_rate: int  # the denominator, 5 … 8
    preamble_symbols: int
    turnaround: int

    @property
    def symbol(self):
        """The time of a symbol."""
        return (1 << self.spreading_factor) * 1_000_000 // self.bandwidth_hz

    def airtime(self, count):
        """The airtime of a frame of that length."""
        optimised = 2 if self.symbol >= 16_000 else 0  # bits that low data rate optimisation gives up in a symbol
        bits = max(8 * count - 4 * self.spreading_factor + 28 + 16, 0)
        blocks = -(-bits // (4 * (self.spreading_factor - optimised)))
        quarters = 4 * (self.preamble_symbols + 8 + blocks * self.coding_rate) + PREAMBLE_EXTRA_QUARTERS
        return quarters * self.symbol // 4

    @property
    def exchange(self):
        """E: the time of an exchange."""
        return self.airtime(29) + self.turnaround + self.airtime(18)

    @property
    def timeout(self):
        """The first time-out of a poll."""
        return self.turnaround + self.airtime(51)

    @property
    def listening(self):
        """For how long a collar listens before it sends."""
        return self.turnaround + self.coding_rate * self.symbol


@dataclass(frozen=True)
class Next:
    """The next thing that a collar does: it begins to listen, or to send. Between the two times, evenly distributed."""

    earliest: int
    latest: int
    listens: bool
    poll: bool


@dataclass
class Burst:
    """A burst that is due, and the exchange that it begins."""

    due: int
    new: bool
    in_company: bool = False  # when it was due
    waits_for_turn: bool = False
    begun: int = 0  # the frame with the last poll, or the listening before it
    repeats: int = 0
    without_poll: int = 0  # new bursts without a poll since the poll before


class ChannelAccess:
    """A collar from its boot on. Each method tells it of an event; `next` is what it does then."""

    def __init__(self, modem, listens, time, heartbeat):
        self.modem, self.listens, self.heartbeat = modem, listens, heartbeat
        self.collars = BOOT_COLLARS
        self.logged = 0  # the log holds the sequences below
        self.sent, self.delivered = set(), set()
        self.unpolled = set()  # sent without a poll, and no answer came since
        self.replies = 0
        self.turn = None  # the earliest and the latest value that it may have
        self.interval, self.equal, self.last_due = None, False, None
        self.repeated_before = False  # the exchange before needed repeats, and did not set the turn
        self.without_poll = 0
        self.busy_before = 0
        self.burst = self.next = None
        self.frames_left = 0
        self.last_traffic = time  # the end of the last frame or answer
        self.open_poll = False
        self._begin_burst(time, new=False)

    # Events

    def fix(self, time, urgent=False):
        """A fix is logged and may be sent, or must."""
        if self.open_poll:
            raise ValueError("the text does not say when a fix that comes while a poll is open is due")
        self.logged += 1
        if self.burst is None:
            self._begin_burst(time, new=not urgent)
        elif urgent:
            self._end_wait(time)
        else:
            self.next = replace(self.next, poll=self._has_poll())

    def reply(self, time):
        """A reply must be sent."""
        self.replies += 1
        if self.burst is None:
            self._begin_burst(time, new=False)
        else:
            self._end_wait(time)

    def listen(self, time):
        """The collar begins to listen."""
        if self.burst is None:  # before a probe
            self.burst = Burst(self.next.earliest, new=False)
        self.burst.begun = time
        self.next = Next(time + self.modem.listening, time + self.modem.listening, False, self.next.poll)

    def busy(self, time):
        """The collar notices a packet while it listens."""
        window = self._capped(self.modem.exchange << min(self.busy_before, 4))
        self.busy_before += 1
        self.next = Next(time, time + window, True, self.next.poll)

    def frame(self, time, end):
        """The collar sends the next frame."""
        if self.burst is None:  # the heartbeat
            self.burst = Burst(self.next.earliest, new=False)
        burst, first = self.burst, self.frames_left == 0
        poll = self.next.poll
        if not self.listens:
            burst.begun = time
        self.busy_before, self.last_traffic = 0, end
        if self.open_poll:
            burst.repeats += 1
            self._send_fixes()
        elif first:
            self.frames_left = self._frames()
            self.replies = 0
            self._send_fixes()
        self.frames_left = max(self.frames_left - 1, 0)
        if self.frames_left:
            self.next = Next(end, end, False, self.frames_left == 1)
        elif poll:
            burst.without_poll, self.without_poll = burst.without_poll or self.without_poll, 0
            self.open_poll = True
            self._wait_for_repeat()
        else:
            self.without_poll += 1
            self.unpolled |= self.sent
            self._end_burst()

    def answer(self, time, company, first_missing, durable=()):
        """The answer to the open poll."""
        burst, self.open_poll = self.burst, False
        self.collars = COLLARS[company]
        named = {sequence for sequence in range(self.logged)
                 if sequence < first_missing or any(first <= sequence <= last for first, last in durable)}
        lost, self.delivered, self.unpolled = len(self.sent - named), named, set()
        self.last_traffic = time
        if burst.new and burst.in_company and self.collars > 1:
            self._set_turn(burst, lost)
        self._end_burst()
        if any(sequence not in named for sequence in range(self.logged)) or self.replies:
            self._begin_burst(time, new=False)

    # The rules

    def _begin_burst(self, time, new):
        """A burst is due."""
        self.burst = burst = Burst(time, new, self.collars > 1)
        latest = time + (self.modem.exchange if self.collars > 1 else self.modem.airtime(51))
        earliest = time
        if new:
            self._compare_interval(time)
            turn_counts = self.turn is not None and self.turn[1] <= self._longest_turn()
            if self.collars > 1 and turn_counts and self.equal and self.interval >= 4 * self.modem.exchange:
                burst.waits_for_turn = True
                earliest, latest = time + self.turn[0], time + self.turn[1]
        self.next = Next(earliest, latest, self.listens, self._has_poll())

    def _end_wait(self, time):
        """Something that must not wait has come while a burst waits."""
        self.burst.new = False
        if self.burst.waits_for_turn:
            self.burst.waits_for_turn = False
            self.next = Next(time, time + self.modem.exchange, self.listens, self._has_poll())
        else:
            self.next = replace(self.next, poll=self._has_poll())

    def _end_burst(self):
        """Nothing more waits."""
        self.burst = None
        silent = self.last_traffic + self.heartbeat
        self.next = Next(silent, silent + (self.modem.exchange if self.collars > 1 else self.modem.airtime(51)), self.listens, True)

    def _compare_interval(self, due):
        """Find out whether the fixes come in equal intervals."""
        before, self.last_due = self.last_due, due
        if before is None:
            return
        since = due - before
        self.equal = self.interval is not None and any(
            8 * abs(since - count * self.interval) <= self.interval for count in range(1, 5))
        if not self.equal:
            self.interval = since

    def _longest_turn(self):
        """S."""
        bound = 4 * self.collars * self.modem.exchange
        return bound if self.interval is None else min(bound, 4 * self.interval // 5)

    def _capped(self, window):
        """A window that half an interval, or E if that is more, bounds if the fixes come in equal intervals."""
        return min(window, max(self.interval // 2, self.modem.exchange)) if self.equal else window

    def _frames(self):
        """The frames of the burst: replies, the newest fix, a batch of the others; or else an identity or a probe."""
        waiting = set(range(self.logged)) - self.delivered - self.unpolled
        newest = waiting & {self.logged - 1}
        return self.replies + len(newest) + (1 if waiting - newest else 0) or 1

    def _has_poll(self):
        """Whether the first frame of the burst has a poll."""
        if self._frames() > 1:
            return False
        omitted = (self.collars == 64 and self.burst.new and self.interval is not None
                   and self.interval < 4 * 64 * self.modem.exchange and self.without_poll < 3)
        return not omitted

    def _send_fixes(self):
        self.sent = set(range(self.logged)) - self.delivered

    def _wait_for_repeat(self):
        """The poll is open: the next frame comes after the time-out."""
        modem, unanswered = self.modem, self.burst.repeats + 1
        earliest = self.last_traffic + min(modem.timeout << (self.burst.repeats // 3), max(modem.timeout, LONGEST_TIMEOUT))
        if self.collars == 1:
            window = modem.airtime(51) if unanswered >= 2 else 0
        else:
            window = self._capped(min(modem.exchange << (unanswered + 1), 2 * self.collars * modem.exchange))
        self.next = Next(earliest, earliest + window, self.listens, True)

    def _set_turn(self, burst, lost):
        """The exchange that a new burst began was answered."""
        longest, repeated = self._longest_turn(), burst.repeats > 0
        if burst.without_poll:
            bad = lost + (1 if repeated else 0) >= 2
        else:
            bad = repeated and self.repeated_before
        sets = self.turn is None or self.turn[1] > longest or bad or (self.listens and not repeated)
        if sets:
            turn = burst.begun - burst.due
            is_random = turn > longest or (bad and not repeated)
            self.turn = (0, longest) if is_random else (turn, turn)
        self.repeated_before = repeated and not sets
