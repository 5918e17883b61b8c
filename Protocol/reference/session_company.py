"""Sessions in which the host counts the collars that it hears: the company of its answers. Name -> session."""

import frames
from report_vectors import RADIO, RADIO_IDENTITY
from session_faults import STRANGER, bare, changed
from session_parts import A, A_ERASED, B, Collar, Session
from wire import stuff

COLLARS = [A, B, *(Collar(0x1000_0000_0000_0000 + number, 2_000_000 + number, 20 + number) for number in range(15))]


def counts():
    """Collars that are switched on one after the other."""
    five = Session(
        "Five collars are switched on one after the other; then all poll in one step.",
        "The first is alone, company 0. With the second there are 2 collars, with the fourth 4: company 1. With the fifth there are 5: company 2.")
    for place, (collar, company) in enumerate(zip(COLLARS, (0, 1, 1, 1, 2))):
        five.at(20 + 10 * place, collar.identity(1), collar.acknowledged(1, 0, company=company)).ends(collar, 1).stored(collar, 0)
    five.at(80, b"".join(collar.fix(0, 2) for collar in COLLARS[:5]),
            *(collar.acknowledged(2, 1, company=2) for collar in COLLARS[:5]))

    seventeen = Session(
        "Seventeen collars are switched on one after the other; then the first polls again.",
        "Company 0 is answered to the first collar, 1 to the second, third and fourth, 2 to the fifth and so on up to the sixteenth, "
        "and 3 from the seventeenth on.")
    for place, (collar, company) in enumerate(zip(COLLARS, [0, *3 * [1], *12 * [2], 3], strict=True)):
        seventeen.at(20 + 200 * place, collar.identity(1), collar.acknowledged(1, 0, company=company))
        seventeen.ends(collar, 0 if place else 1)
    seventeen.at(3400, A.fix(0, 2), A.acknowledged(2, 1, company=3)).stored(A, 0)
    return {"company-of-five": five, "company-of-seventeen": seventeen}


def times():
    """Collars that fall silent."""
    return {
        "company-falls-silent": Session(
            "A collar with a heartbeat of 60 s falls silent: 10 minutes later it does not count any more. Then it is heard again.",
            "Its last frames come at 30 ms and, without a poll, at 500 s: it counts until 1100 s. A damaged frame at 1000 s changes nothing. "
            "The other collar polls shortly before the end of the 10 minutes, and shortly after it.")
        .at(20, A.identity(1), A.acknowledged(1, 0)).at(30, B.identity(1), B.acknowledged(1, 0, company=1))
        .at(300_000, A.fix(0, 2), A.acknowledged(2, 1, company=1))
        .at(500_000, B.probe(0)).at(700_000, A.fix(1, 3), A.acknowledged(3, 2, company=1))
        .at(1_000_000, changed(bare(B.probe(0)), 10, 1))
        .at(1_099_000, A.fix(2, 4), A.acknowledged(4, 3, company=1))
        .at(1_101_000, A.fix(3, 5), A.acknowledged(5, 4))
        .at(1_200_000, B.probe(0, 2), B.acknowledged(2, 0, company=1))
        .at(1_200_010, A.fix(4, 6), A.acknowledged(6, 5, company=1))
        .stored(A, 0, 1, 2, 3, 4).rejected(check_failed=1).ends(A, 5).ends(B, 0),
        "company-heartbeat": Session(
            "A collar with a heartbeat of 900 s falls silent: it counts for three heartbeats. Later it names a heartbeat of 60 s.",
            "Three heartbeats of 900 s are 2700 s. From the second identity on, at 2710 s, the collar counts for 10 minutes, because three "
            "heartbeats of 60 s are less.")
        .at(20, A.identity(1), A.acknowledged(1, 0))
        .at(30, B.identity(1, heartbeat=900), B.acknowledged(1, 0, company=1))
        .at(1_500_000, A.fix(0, 2), A.acknowledged(2, 1, company=1))
        .at(2_699_000, A.fix(1, 3), A.acknowledged(3, 2, company=1))
        .at(2_701_000, A.fix(2, 4), A.acknowledged(4, 3))
        .at(2_710_000, B.identity(2), B.acknowledged(2, 0, company=1))
        .at(3_309_000, A.fix(3, 5), A.acknowledged(5, 4, company=1))
        .at(3_311_000, A.fix(4, 6), A.acknowledged(6, 5))
        .stored(A, 0, 1, 2, 3, 4).ends(A, 5).ends(B, 0),
    }


def others():
    """Frames that show another collar, and frames that do not."""
    return {
        "company-of-another-receiver": Session(
            "A collar that belongs to another receiver is not answered, but it counts.",
            "The second collar names receiver 77. The first one is answered with company 1 from then on.")
        .at(20, A.identity(1), A.acknowledged(1, 0)).at(30, B.identity(1, paired=77))
        .at(40, A.fix(0, 2), A.acknowledged(2, 1, company=1)).at(50, B.fix(0)).at(60, A.fix(1, 3), A.acknowledged(3, 2, company=1))
        .stored(A, 0).stored(B, 0).stored(A, 1).ends(A, 2).ends(B, 1),
        "company-alone": Session(
            "A fix of a collar that is not known, a damaged identity, an answer of another host, and a frame of the base radio; then the "
            "collar erases its log.",
            "None of the first four shows a further collar, and a collar with two logs is one collar: every company is 0.")
        .at(20, A.identity(1), A.acknowledged(1, 0))
        .at(30, STRANGER.fix(0) + changed(bare(B.identity(1)), 20, 1) + stuff(STRANGER.acknowledged(3, 0))
            + stuff(frames.encode(10, RADIO_IDENTITY, RADIO)))
        .at(40, A.fix(0, 2), A.acknowledged(2, 1)).at(50, A_ERASED.identity(1), A_ERASED.acknowledged(1, 0))
        .stored(A, 0).rejected(unknown_collar=1, check_failed=1).ends(A, 1).ends(A_ERASED, 0),
    }


def sessions():
    """All these sessions by name."""
    return {**counts(), **times(), **others()}
