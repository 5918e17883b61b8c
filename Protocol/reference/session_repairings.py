"""Sessions of a receiver that takes over the collar of another receiver. Name -> session."""

import frames
from session_parts import A, Session
from wire import SerialDecoder, stuff


def received(meaning, origin, **identity):
    """A session that begins with an identity of a collar that had another receiver; its oldest fix is 100."""
    serial = A.identity(1, oldest=100, following=103, **identity)
    return Session(meaning, origin).at(20, serial, A.acknowledged(1, 100))


def with_elsewhere(value):
    """The identity of such a collar, with `value` as delivered elsewhere. No sender writes such an identity."""
    frame = SerialDecoder().feed(A.identity(1, oldest=100, following=103))[0]
    return stuff(frames.assemble(frame[0], frame[1], frame[2], frame[3], frame[4:-3] + value.to_bytes(4, "big")))


def sessions():
    """All these sessions by name."""
    return {
        "elsewhere-by-identity": received(
            "A new receiver hears that a former one has acknowledged everything below 60; the oldest fix is 100.",
            "0 to 59 are delivered elsewhere, 60 to 99 are lost: 100 is the first missing.", elsewhere=60)
        .at(30, A.fix(100) + A.fix(101) + A.fix(102, 2), A.acknowledged(2, 103))
        .stored(A, 100, 101, 102).ends(A, 103, lost=[(60, 99)], elsewhere=[(0, 59)]),
        "elsewhere-above-oldest": received(
            "The former receiver has acknowledged more than the collar has overwritten.",
            "Delivered elsewhere is 102: 0 to 99 are gone and elsewhere, 100 to 102 are still offered.", elsewhere=102)
        .at(30, A.fix(100) + A.fix(101) + A.fix(102, 2), A.acknowledged(2, 103))
        .stored(A, 100, 101, 102).ends(A, 103, elsewhere=[(0, 99)]),
        "elsewhere-nothing-overwritten": Session(
            "A former receiver has acknowledged everything below 2, and the collar still has it.",
            "The oldest sequence is 0: nothing is gone.")
        .at(20, A.identity(1, following=3, elsewhere=2), A.acknowledged(1, 0))
        .at(30, A.fix(0) + A.fix(1) + A.fix(2, 2), A.acknowledged(2, 3))
        .stored(A, 0, 1, 2).ends(A, 3),
        "elsewhere-over-stored": Session(
            "A receiver that had the collar before gets it back.",
            "3 to 5 and 70 are stored, so of 0 to 99 only the others are gone: those below 60 elsewhere.")
        .at(20, A.identity(1), A.acknowledged(1, 0))
        .at(30, A.fix(3) + A.fix(4) + A.fix(5) + A.fix(70, 2), A.acknowledged(2, 0, [(70, 70), (3, 5)]))
        .at(40, A.identity(1, oldest=100, following=100, elsewhere=60), A.acknowledged(1, 100))
        .stored(A, 3, 4, 5, 70).ends(A, 100, lost=[(60, 69), (71, 99)], elsewhere=[(0, 2), (6, 59)]),
        "elsewhere-said-late": received(
            "What is known to be lost stays lost when a later identity says that somebody has it.",
            "The first identity has no delivered elsewhere: 0 to 99 are lost. The second one changes nothing of it, and "
            "100 to 109 are gone with it, 100 to 104 elsewhere.")
        .at(30, A.identity(2, oldest=110, following=110, elsewhere=105), A.acknowledged(2, 110))
        .ends(A, 110, lost=[(0, 99), (105, 109)], elsewhere=[(100, 104)]),
        "elsewhere-by-tombstone": Session(
            "Tombstones tell apart what a former receiver has acknowledged and what is lost.",
            "Flag bit 3 stands in the first and the third one. The identity behind them adds nothing.")
        .at(20, A.identity(1, following=9), A.acknowledged(1, 0))
        .at(30, A.tombstone([(0, 2)], elsewhere=True) + A.tombstone([(3, 5)]) + A.tombstone([(6, 7)], 2, elsewhere=True),
            A.acknowledged(2, 8))
        .at(40, A.identity(3, oldest=8, following=9, elsewhere=6), A.acknowledged(3, 8))
        .ends(A, 8, lost=[(3, 5)], elsewhere=[(0, 2), (6, 7)]),
        "elsewhere-above-next": Session(
            "Delivered elsewhere is above the next sequence: it counts as 0.",
            "The next sequence is 103 and the field 104: 0 to 99 are lost.")
        .at(20, with_elsewhere(104), A.acknowledged(1, 100)).ends(A, 100, lost=[(0, 99)]),
    }
