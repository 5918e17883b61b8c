"""Shared parts of the vectors of channel access: modems, and the script of a case."""

from dataclasses import asdict

from channel_access import Modem

SF7 = Modem(7, 125_000, 5, 8, 50_000)
SF9 = Modem(9, 125_000, 5, 8, 100_000)
SF12 = Modem(12, 125_000, 8, 12, 300_000)
SECOND = 1_000_000
HEARTBEAT = 3600 * SECOND
FIX_BYTES, ANSWER_BYTES = 29, 18


class Script:
    """The script of a case. Its expected times are written by hand, step by step, each with the rule that gives it."""

    def __init__(self, meaning, origin, modem, listens=False, heartbeat=HEARTBEAT):
        self.modem, self.listens = modem, listens
        self.vector = {"meaning": meaning, "origin": origin, "modem": asdict(modem), "listens": listens, "heartbeat": heartbeat,
                       "steps": []}
        self.fixes = 0
        self.due = self.begun = self.ended = self.answered = 0

    def _step(self, time, step, **fields):
        self.vector["steps"].append({"time": time, "step": step, **fields})
        return self

    def fix(self, time, urgent=False):
        """A fix is logged; the burst with it is due."""
        self.due, self.fixes = time, self.fixes + 1
        return self._step(time, "urgent_fix" if urgent else "fix")

    def reply(self, time):
        """A reply waits."""
        self.due = time
        return self._step(time, "reply")

    def listen(self, earliest, width=0):
        """The collar begins to listen within the window; here at its end."""
        self.begun = earliest + width
        return self._step(self.begun, "listen", earliest=earliest, latest=self.begun)

    def busy(self, after=0):
        """While it listens, the collar notices a packet."""
        self.answered = self.begun + after
        return self._step(self.answered, "busy")

    def frame(self, earliest, width=0, poll=True, late=0, first=True):
        """The collar sends within the window, after it has listened if it listens; here at the end of the window, or later."""
        if self.listens and first:
            self.listen(earliest, width)
            begin = self.begun + self.modem.listening
            earliest, width = begin, 0
        else:
            self.begun = begin = earliest + width + late
        self.ended = begin + self.modem.airtime(FIX_BYTES)
        return self._step(begin, "frame", earliest=earliest, latest=earliest + width, poll=poll, end=self.ended)

    def answer(self, company, first_missing=None, durable=(), soon=False):
        """The answer to the poll: at the earliest time at which its last bit can come, or with *soon* still earlier."""
        modem = self.modem
        self.answered = self.ended + (modem.turnaround // 2 if soon else modem.turnaround + modem.airtime(ANSWER_BYTES))
        return self._step(self.answered, "answer", company=company, first_missing=self.fixes if first_missing is None else first_missing,
                          durable=[list(each) for each in durable])

    def repeat(self, unanswered, window, doubled=0):
        """The frame after an unanswered poll: after the time-out, which doubled so often, within a window."""
        if unanswered < 1:
            raise ValueError("no poll was unanswered")
        return self.frame(self.ended + (self.modem.timeout << doubled), window)

    def new(self, time, company, width=None, turn=None, **options):
        """A fix, its frame and the answer: within a window, or at the turn."""
        self.fix(time)
        if turn is None:
            self.frame(time, self.modem.exchange if width is None else width, **options)
        else:
            self.frame(time + turn, **options)
        return self.answer(company)


def booted(meaning, origin, modem, company, listens=False, **options):
    """A collar whose identity was answered. The company is unknown until then: N is 16."""
    script = Script(meaning, origin, modem, listens, **options)
    return script.frame(0, modem.exchange).answer(company)


def turned(meaning, origin, modem, company, interval, listens=False):
    """A collar with three fixes, one each interval: the first sets the turn to E, at the end of its window; the third waits for it."""
    script = booted(meaning, origin, modem, company, listens)
    for place in (1, 2):
        script.new(place * interval, company)
    return script.new(3 * interval, company, turn=modem.exchange)
