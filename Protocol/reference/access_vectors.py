"""Cases of channel access on a half-duplex link (section 18). Name -> vector."""

from access_parts import SECOND, SF7, SF9, SF12, Script, booted, turned

MINUTE = 60 * SECOND


def windows():
    """Windows of first frames and repeats."""
    cases = {}
    modem = SF9
    short = modem.airtime(51)
    cases["alone"] = booted(
        "A collar alone sends fixes at irregular times.",
        "Before the first answer N is 16: the identity begins within E. Then N is 1: each burst begins within the airtime of 51 bytes.",
        modem, 0).new(10 * SECOND, 0, short).new(13 * SECOND, 0, short).new(40 * SECOND, 0, short)
    alone = booted(
        "Seven polls of a collar alone are not answered.",
        "The second frame begins exactly after the time-out, each further frame within the airtime of 51 bytes later. The time-out "
        "doubles with the third and the sixth unanswered poll.", modem, 0).fix(10 * SECOND).frame(10 * SECOND, short)
    for unanswered in range(1, 8):
        alone.repeat(unanswered, 0 if unanswered == 1 else short, (unanswered - 1) // 3)
    cases["alone-repeats"] = alone.answer(0).new(100 * SECOND, 0, short)

    unknown = Script(
        "The first eight polls after a boot are not answered.",
        "N is 16: the k-th repeat begins within the smaller of 2^(k + 1) E and 32 E after the time-out.", modem).frame(0, modem.exchange)
    for unanswered in range(1, 8):
        unknown.repeat(unanswered, min(modem.exchange << (unanswered + 1), 32 * modem.exchange), (unanswered - 1) // 3)
    cases["unknown-repeats"] = unknown.answer(1)

    for company, collars, modem in ((1, 4, SF7), (2, 16, SF9), (3, 64, SF12), (3, 64, SF7), (1, 4, SF12)):
        case = booted(
            f"Eight polls of a collar in company {company} are not answered, with SF{modem.spreading_factor}.",
            f"N is {collars}: the k-th repeat begins within the smaller of 2^(k + 1) E and {2 * collars} E after the time-out. "
            "There is no interval yet that could bound the window.", modem, company).fix(30 * SECOND).frame(30 * SECOND, modem.exchange)
        for unanswered in range(1, 9):
            timeout = min(modem.timeout << (unanswered - 1) // 3, 30 * SECOND)
            case.frame(case.ended + timeout, min(modem.exchange << (unanswered + 1), 2 * collars * modem.exchange))
        cases[f"company-{company}-repeats-sf{modem.spreading_factor}"] = case.answer(company)
    return cases


def bounds():
    """Windows that the interval bounds."""
    modem, interval = SF9, 10 * SECOND
    bounded = turned(
        "In equal intervals of 10 s four polls are not answered.",
        "The third new burst waits for the turn, so the intervals are equal: the windows of the repeats are 4 E, 8 E and then half an "
        "interval, 5 s.", modem, 2, interval).fix(4 * interval).frame(4 * interval + modem.exchange)
    for unanswered in range(1, 5):
        bounded.repeat(unanswered, min(modem.exchange << (unanswered + 1), interval // 2), (unanswered - 1) // 3)

    interval = 19 * modem.exchange // 10
    short = booted(
        "In equal intervals of 1.9 E a poll is not answered.",
        "The intervals are shorter than 4 E, so no burst waits for a turn: each begins within E. Half an interval is less than E, so the "
        "window of the repeat is E.", modem, 1)
    for place in (4, 5, 6):
        short.fix(place * interval).frame(place * interval, modem.exchange).answer(1, soon=True)
    short.fix(7 * interval).frame(7 * interval, modem.exchange).repeat(1, modem.exchange).repeat(2, modem.exchange)
    return {"bound-half-interval": bounded.answer(2), "bound-exchange": short.answer(1)}


def turns():
    """Turns: set, kept, moved."""
    cases = {}
    for name, modem, company, interval in (
            ("turn-sf7-1s", SF7, 1, SECOND), ("turn-sf9-60s", SF9, 2, MINUTE), ("turn-sf12-180s", SF12, 2, 3 * MINUTE)):
        case = turned(
            f"A fix every {interval // SECOND} s in company {company}, SF{modem.spreading_factor}.",
            "The first new burst sets the turn when it is answered. With the second there is no interval to compare with; from the "
            "third on each burst begins exactly at the turn.", modem, company, interval)
        cases[name] = case.new(4 * interval, company, turn=modem.exchange).new(5 * interval, company, turn=modem.exchange)

    modem, interval = SF9, MINUTE
    turn = modem.exchange
    kept = turned(
        "One exchange needs a repeat, then one is answered at once, then two in a row need repeats, then one, then one more.",
        "The turn moves with the second of two exchanges in a row that needed repeats, to the frame that was answered. The exchange "
        "after that needs a repeat, but the turn was set since the exchange before: it stays. With the next one it moves.",
        modem, 2, interval)

    def repeated(place, turn):
        """A new burst at the turn, repeated once. Returns the time from the due burst to the repeat."""
        kept.fix(place * interval).frame(place * interval + turn).repeat(1, 4 * modem.exchange).answer(2)
        return kept.begun - kept.due

    repeated(4, turn)
    kept.new(5 * interval, 2, turn=turn)
    repeated(6, turn)
    moved = repeated(7, turn)
    repeated(8, moved)
    moved = repeated(9, moved)
    cases["turn-moves"] = kept.new(10 * interval, 2, turn=moved)

    cases["turn-from-repeat"] = (
        booted("The first new burst is answered only after two repeats.",
               "There is no turn yet: it becomes the time from the due burst to the frame that was answered.", modem, 2)
        .fix(interval).frame(interval, modem.exchange).repeat(1, 4 * modem.exchange).repeat(2, 8 * modem.exchange).answer(2))
    case = cases["turn-from-repeat"]
    turn = case.begun - case.due
    case.new(2 * interval, 2).new(3 * interval, 2, turn=turn).new(4 * interval, 2, turn=turn)

    modem, interval = SF9, 20 * SECOND
    longest = 4 * 4 * modem.exchange
    cases["turn-too-long"] = (
        booted("The first new burst is sent very late, because other frames used up the duty cycle.",
               "Company 1: S is the smaller of 16 E and 16 s, 16 E. The time from the due burst to its frame is longer, so the turn "
               "is a random part of S.", modem, 1)
        .fix(interval).frame(interval, modem.exchange, late=longest).answer(1).new(2 * interval, 1).fix(3 * interval)
        .frame(3 * interval, longest).answer(1))

    modem, interval = SF9, 150 * SECOND
    fewer = booted(
        "A turn of 20 E was set in company 3. Then the company falls to 1.",
        "The first frame begins 20 E after the burst was due: for N = 64 that is less than S. The second new burst, with the answer "
        "to which N becomes 4, is not compared yet, and has its poll because the interval of 150 s is longer than 256 E. At its answer the "
        "turn is longer than S, 16 E: the time of this burst "
        "becomes the turn.", modem, 3)
    fewer.fix(interval).frame(interval, modem.exchange, late=19 * modem.exchange).answer(3)
    fewer.new(2 * interval, 1).new(3 * interval, 1, turn=modem.exchange)
    cases["turn-longer-than-new-bound"] = fewer
    return cases


def intervals():
    """Fixes in equal and in unequal intervals."""
    modem, interval = SF9, 20 * SECOND
    turn = modem.exchange
    cases = {}
    lost = turned(
        "A fix comes 5.5 intervals after the one before it, and the next ones each 30 s.",
        "The burst of that fix does not wait for the turn. The time of 110 s becomes the interval; 30 s are not a multiple of it, so "
        "30 s become the interval; the next burst comes in equal intervals and waits for the turn, which is still there.",
        modem, 1, interval)
    lost.new(170 * SECOND, 1).new(200 * SECOND, 1).new(230 * SECOND, 1, turn=turn)
    cases["interval-changes"] = lost

    gaps = turned(
        "Fixes come 2, 3 and 4 intervals after the one before, then 5.",
        "Up to four whole intervals are equal intervals; five are not.", modem, 2, interval)
    place = 3
    for gap in (2, 3, 4, 1):
        place += gap
        gaps.new(place * interval, 2, turn=turn)
    cases["interval-gaps"] = gaps.new((place + 5) * interval, 2)

    eighth = turned(
        "Fixes come an eighth of an interval late, then early, then a little more than an eighth late.",
        "Give or take an eighth of the interval, also after two intervals: 2.5 s. The last one is 2.6 s late.", modem, 2, interval)
    time = 3 * interval
    for since in (22_500_000, 17_500_000, 42_500_000, 37_500_000):
        time += since
        eighth.new(time, 2, turn=turn)
    cases["interval-eighth"] = eighth.new(time + 22_600_000, 2)

    irregular = booted(
        "Fixes come at irregular times.", "No burst waits for the turn: each begins within E.", modem, 2)
    for seconds in (20, 40, 67, 80, 114, 130):
        irregular.new(seconds * SECOND, 2)
    cases["interval-irregular"] = irregular

    for name, meaning, interval, waits in (
            ("interval-four-exchanges", "exactly 4 E", 4 * modem.exchange, True),
            ("interval-below-four-exchanges", "just below 4 E", 4 * modem.exchange - 8, False)):
        case = booted(f"A fix in equal intervals of {meaning}.", "A burst waits for the turn if the interval is at least 4 E.", modem, 2)
        for place in (2, 3):
            case.new(place * interval, 2)
        for place in (4, 5):
            case.new(place * interval, 2, turn=turn if waits else None)
        cases[name] = case
    return cases


def listening():
    """Collars that listen before they talk."""
    modem = SF9
    exchange, short = modem.exchange, modem.airtime(51)
    cases = {}
    cases["listen-alone"] = booted(
        "A collar that listens is alone.", "It listens before each burst, as long as the turnaround and five symbols; the window is "
        "that of the beginning of the listening.", modem, 0, True).new(10 * SECOND, 0, short).new(25 * SECOND, 0, short)
    repeats = booted(
        "Four polls of a collar that listens are not answered.",
        "It listens before each repeat; the time-out counts from the end of the poll.", modem, 2, True).fix(10 * SECOND)
    repeats.frame(10 * SECOND, exchange)
    for unanswered in range(1, 5):
        repeats.repeat(unanswered, exchange << (unanswered + 1), (unanswered - 1) // 3)
    cases["listen-repeats"] = repeats.answer(2)

    for name, company, window, modem in (
            ("listen-busy-alone", 0, short, SF9), ("listen-busy", 2, exchange, SF9), ("listen-busy-sf12", 2, SF12.exchange, SF12)):
        case = booted(
            f"A collar in company {company} finds the channel busy six times, then free; before its next burst busy once more.",
            "The windows are E, 2 E, 4 E, 8 E, 16 E and 16 E. After the channel was free they begin with E again.", modem, company, True)
        case.fix(20 * SECOND).listen(20 * SECOND, window)
        for before in range(6):
            case.busy(before * modem.symbol)
            window_before = modem.exchange << min(before, 4)
            if before < 5:
                case.listen(case.answered, window_before)
        case.frame(case.answered, window_before).answer(company)
        case.fix(900 * SECOND).listen(900 * SECOND, window).busy(modem.listening - 1)
        cases[name] = case.frame(case.answered, modem.exchange).answer(company)

    modem = SF9
    case = booted(
        "The channel is busy before a repeat.",
        "The first window after the time-out is 4 E; after the channel was busy it is E, then 2 E. The second repeat has its own "
        "window, 8 E.", modem, 2, True)
    case.fix(20 * SECOND).frame(20 * SECOND, exchange).listen(case.ended + modem.timeout, 4 * exchange).busy()
    case.listen(case.answered, exchange).busy().frame(case.answered, 2 * exchange).repeat(2, 8 * exchange)
    cases["listen-busy-repeat"] = case.answer(2)

    interval = 5 * SECOND
    bounded = turned(
        "In equal intervals of 5 s the channel is busy five times.",
        "The intervals are equal, so the windows are E, 2 E, 4 E and then half an interval. The turn moves to the listening before "
        "the frame, but that is later than S, four fifths of the interval: it becomes a random part of S.", modem, 1, interval, True)
    bounded.fix(4 * interval).listen(4 * interval + exchange)
    for before in range(5):
        bounded.busy()
        width = min(exchange << before, interval // 2)
        if before < 4:
            bounded.listen(bounded.answered, width)
    bounded.frame(bounded.answered, width).answer(1)
    bounded.fix(7 * interval).frame(7 * interval, 4 * interval // 5).answer(1)
    cases["listen-busy-half-interval"] = bounded

    interval = 19 * exchange // 10
    tight = booted(
        "In equal intervals of 1.9 E the channel is busy twice.", "Half an interval is less than E, so both windows are E.", modem,
        1, True)
    for place in (4, 5, 6):
        tight.fix(place * interval).frame(place * interval, exchange).answer(1, soon=True)
    tight.fix(7 * interval).listen(7 * interval, exchange).busy().listen(tight.answered, exchange).busy()
    cases["listen-busy-exchange"] = tight.frame(tight.answered, exchange).answer(1)
    return cases


def listening_turns():
    """Turns of collars that listen."""
    modem, interval = SF9, MINUTE
    exchange = modem.exchange
    moved = turned(
        "The channel is busy once, then free at the turn, then one exchange needs a repeat.",
        "The turn is the time from the due burst to the beginning of the listening. It moves with each exchange that is answered at "
        "once, so it does not grow by the time of the listening; an exchange with repeats leaves it.", modem, 2, interval, True)
    moved.fix(4 * interval).listen(4 * interval + exchange).busy(1000).frame(moved.answered, exchange).answer(2)
    turn = moved.begun - moved.due
    moved.new(5 * interval, 2, turn=turn).new(6 * interval, 2, turn=turn)
    moved.fix(7 * interval).frame(7 * interval + turn).repeat(1, 4 * exchange).answer(2).new(8 * interval, 2, turn=turn)

    twice = turned(
        "Two exchanges in a row of a collar that listens need repeats.",
        "The turn becomes the time from the due burst to the beginning of the listening before the frame that was answered.", modem,
        2, interval, True)
    for place in (4, 5):
        twice.fix(place * interval).frame(place * interval + exchange).repeat(1, 4 * exchange).answer(2)
    turn = twice.begun - twice.due
    twice.new(6 * interval, 2, turn=turn)
    return {"listen-turn": moved, "listen-turn-repeats": twice}


def urgent():
    """Bursts that must not wait, or are not new."""
    modem, interval = SF9, MINUTE
    exchange = modem.exchange
    late = booted(
        "A reply comes while a new burst waits for its turn of 10 E; the next fix finds the turn again.",
        "What must not wait ends the wait for the turn; then the burst begins within E. It is not new any more, so its exchange does "
        "not set the turn, but the moment at which it was due counts for the intervals: the next burst comes four intervals after it.",
        modem, 2)
    late.fix(interval).frame(interval, exchange, late=9 * exchange).answer(2).new(2 * interval, 2).fix(3 * interval)
    late.reply(3 * interval + exchange)
    # The reply, and after it the fix, with the poll.
    late.frame(late.due, exchange, poll=False).frame(late.ended, first=False).answer(2).new(7 * interval, 2, turn=10 * exchange)

    asked = turned(
        "A fix that was asked for comes between two fixes in equal intervals.",
        "It begins a burst that is not new, within E. It does not change the interval.", modem, 2, interval)
    asked.fix(3 * interval + 30 * SECOND, urgent=True).frame(asked.due, exchange).answer(2).new(4 * interval, 2, turn=exchange)

    again = turned(
        "An answer does not name the fix that was sent.",
        "The fix comes again, in a burst that is not new: within E after the answer, with a poll. The turn stays.", modem, 2, interval)
    again.fix(4 * interval).frame(4 * interval + exchange).answer(2, first_missing=3).frame(again.answered, exchange).answer(2)
    again.new(5 * interval, 2, turn=exchange)
    return {"urgent-reply": late, "urgent-fix": asked, "sent-again": again}


def polls():
    """Polls that are left out."""
    modem, interval = SF9, MINUTE
    exchange = modem.exchange
    cases = {}

    def silent(script, time, turn=None):
        """A new burst without a poll."""
        script.fix(time)
        script.frame(time, exchange, poll=False) if turn is None else script.frame(time + turn, poll=False)

    def four(meaning, origin, listens=False):
        """A collar in company 3 that has sent bursts with the poll in the first and the fifth."""
        script = booted(meaning, origin, modem, 3, listens).new(interval, 3)
        silent(script, 2 * interval)
        for place in (3, 4):
            silent(script, place * interval, exchange)
        return script

    three = four("A fix every 60 s in company 3.", "60 s are less than 256 E: of four new bursts the last one has the poll. The first "
                 "has it, because there is no interval yet. Each waits for the turn.").new(5 * interval, 3, turn=exchange)
    for place in (6, 7, 8):
        silent(three, place * interval, exchange)
    cases["polls-left-out"] = three.new(9 * interval, 3, turn=exchange)

    uneven = booted("Fixes at irregular times in company 3.",
                    "The time between two new bursts is the interval even if it is not equal to the one before. While it is shorter "
                    "than 256 E, "
                    "three bursts of four have no poll; after 140 s a burst has its poll.", modem, 3).new(interval, 3)
    for seconds in (83, 120, 138):
        silent(uneven, seconds * SECOND)
    uneven.new(223 * SECOND, 3)
    silent(uneven, 240 * SECOND)
    cases["polls-irregular"] = uneven.new(380 * SECOND, 3)

    rare = booted("A fix every 60 s in company 3, SF7.", "60 s are more than 256 E: every burst has its poll.", SF7, 3)
    for place in (1, 2):
        rare.new(place * interval, 3)
    for place in (3, 4, 5):
        rare.new(place * interval, 3, turn=SF7.exchange)
    cases["polls-long-interval"] = rare
    cases["polls-company-2"] = turned("A fix every 10 s in company 2.", "Only with N = 64 are polls left out.", modem, 2, 10 * SECOND)

    reply = four("A reply waits when a fix comes; no burst before had the poll for three bursts.", "The burst with the reply is not "
                 "new: its last frame has the poll. After it three bursts go without one.")
    reply.reply(5 * interval).fix(5 * interval).frame(5 * interval, exchange, poll=False).frame(reply.ended, first=False).answer(3)
    for place in (6, 7, 8):
        silent(reply, place * interval, exchange)
    cases["polls-reply"] = reply.new(9 * interval, 3, turn=exchange)

    longest = min(256 * exchange, 4 * interval // 5)
    for name, listens in (("polls-two-lost", False), ("polls-two-lost-listening", True)):
        case = four("An answer does not name two of the four fixes that were sent since the poll before.",
                    "Two frames were lost: the turn becomes a random part of S, because the exchange was answered at once. The two "
                    "fixes come again, within E after the answer, with a poll.", listens)
        case.fix(5 * interval).frame(5 * interval + exchange).answer(3, first_missing=2, durable=[(4, 4)])
        case.frame(case.answered, exchange).answer(3)
        case.fix(6 * interval).frame(6 * interval, longest, poll=False)
        cases[name] = case

    one = four("An answer does not name one of the four fixes that were sent since the poll before.",
               "One lost frame does not move the turn.")
    one.fix(5 * interval).frame(5 * interval + exchange).answer(3, first_missing=2, durable=[(3, 4)])
    one.frame(one.answered, exchange).answer(3)
    silent(one, 6 * interval, exchange)
    cases["polls-one-lost"] = one

    both = four("The poll after three bursts without one needs a repeat, and the answer does not name one fix.",
                "Two frames were lost: the turn becomes the time from the due burst to the repeat.")
    both.fix(5 * interval).frame(5 * interval + exchange).repeat(1, 4 * exchange).answer(3, first_missing=2, durable=[(3, 4)])
    turn = both.begun - both.due
    both.frame(both.answered, exchange).answer(3)
    silent(both, 6 * interval, turn)
    cases["polls-lost-and-repeated"] = both

    kept = four("The poll after three bursts without one needs a repeat; all fixes are named. Four bursts later the same.",
                "Each time one frame was lost: the turn stays, though two exchanges in a row needed repeats.")
    for first in (5, 9):
        kept.fix(first * interval).frame(first * interval + exchange).repeat(1, 4 * exchange).answer(3)
        for place in range(first + 1, first + 4):
            silent(kept, place * interval, exchange)
    cases["polls-repeated"] = kept
    return cases


def changes():
    """The company changes, and the heartbeat."""
    modem, interval = SF9, MINUTE
    exchange, short = modem.exchange, modem.airtime(51)
    cases = {}
    fell = turned("The other collars fall silent; later one comes back.",
                  "Alone there is no turn: each burst begins within the airtime of 51 bytes. Only a reboot forgets the turn: it "
                  "counts again as soon as the collar is in company.", modem, 2, interval)
    fell.new(4 * interval, 0, turn=exchange).new(5 * interval, 0, short).new(6 * interval, 1, short).new(7 * interval, 1, turn=exchange)
    cases["company-falls"] = fell

    rises = booted("A collar alone gets company.", "Alone it sets no turn, nor with the answer that tells of the company: the burst was "
                   "due before. The next one begins within E and sets it.", modem, 0)
    rises.new(interval, 0, short).new(2 * interval, 0, short).new(3 * interval, 2, short).new(4 * interval, 2)
    rises.new(5 * interval, 2, turn=exchange)
    cases["company-rises"] = rises

    minute = booted("A collar without fixes sends probes.", "The heartbeat is 60 s and counts from the last answer. Then "
                                                            "a burst begins within E.",
                    modem, 2, heartbeat=60 * SECOND)
    for _ in range(3):
        minute.frame(minute.answered + 60 * SECOND, exchange).answer(2)
    cases["heartbeat"] = minute
    return cases


def all_vectors():
    """All cases by name."""
    cases = {}
    for part in (windows(), bounds(), turns(), intervals(), listening(), listening_turns(), urgent(), polls(), changes()):
        cases.update(part)
    return {name: case.vector for name, case in cases.items()}
