"""Sessions with batches. Name -> session."""

import frames
from batch import payload_unchecked
from report_vectors import STATUS
from session_faults import heard, with_payload
from session_parts import A, A_ERASED, A_NARROW, Session, position, who_at

INVALID = [position(1), position(2), {**position(3), "battery": 101}]
FINE = [position(each, position_step=1, latitude=48_234_560 + each, longitude=16_372_100, altitude_step=1) for each in (4, 5)]


def filled(collar, first, last):
    """Batches of these sequences as a collar packs them, and the first sequence of each."""
    packed, firsts = [], []
    while first <= last:
        track = [position(each) for each in range(first, last + 1)]
        _, taken = frames.encode_batch(track, collar.address, log=collar.log, limit=collar.largest_frame)
        packed.append(track[:taken])
        firsts.append(first)
        first += taken
    return packed, firsts


def backlog():
    """Batches after a silence."""
    silence = heard(
        "After a silence the newest fix and 200 older ones come, in batches; one batch is lost and comes again.",
        "Fix 0 is stored. A batch holds 64 fixes of this walk, so the batches begin at 1, 65, 129 and 193. That from 65 on is "
        "lost: missing is 65, and 129 to 201 are durable. Each fix of a batch is stored by itself, in its order.")
    packed, firsts = filled(A, 1, 200)
    if firsts != [1, 65, 129, 193]:
        raise AssertionError(firsts)
    silence.at(60_000, A.fix(201, 3), A.acknowledged(3, 1, [(201, 201)]))
    silence.at(60_050, A.batch(packed[0]) + A.batch(packed[2]) + A.batch(packed[3], 4), A.acknowledged(4, 65, [(129, 201)]))
    silence.at(60_100, A.batch(packed[1], 5), A.acknowledged(5, 202))
    silence.stored(A, 201, *range(1, 65), *range(129, 201), *range(65, 129)).ends(A, 202)

    narrow = Session(
        "A collar that takes frames of 51 bytes sends a backlog in batches of as few fixes as fit.",
        "Every batch is stored; the last one polls.").at(20, A_NARROW.identity(1), A_NARROW.acknowledged(1, 0))
    packed, _ = filled(A_NARROW, 0, 39)
    for place, fixes in enumerate(packed[:-1]):
        narrow.at(30 + place, A_NARROW.batch(fixes))
    narrow.at(90, A_NARROW.batch(packed[-1], 2), A_NARROW.acknowledged(2, 40)).stored(A_NARROW, *range(40)).ends(A_NARROW, 40)
    return {"batch-backlog": silence, "batch-backlog-narrow": narrow}


def mixed():
    """Batches among other frames."""
    return {
        "batch-duplicates": heard(
            "Batches that hold what is stored already: some fixes, or all.",
            "Only what is new is stored; the poll is answered all the same. 2 and 5 are known when the batch of 0 to 6 comes.")
        .at(30, A.fix(2) + A.fix(5, 3), A.acknowledged(3, 1, [(5, 5), (2, 2)]))
        .at(40, A.batch(range(7), 4), A.acknowledged(4, 7))
        .at(50, A.batch(range(7), 5) + A.batch([3]), A.acknowledged(5, 7))
        .at(60, A.batch(range(5, 9)) + A.batch(range(5, 9), 6), A.acknowledged(6, 9))
        .stored(A, 2, 5, 1, 3, 4, 6, 7, 8).ends(A, 9),
        "batch-with-gap": heard(
            "A batch with gaps; one of them is filled by a batch, another by a tombstone.",
            "1, 2, 5, 6, 9 leave 3, 4, 7 and 8 missing.")
        .at(30, A.batch([1, 2, 5, 6, 9], 3), A.acknowledged(3, 3, [(9, 9), (5, 6)]))
        .at(40, A.batch([3, 4], 4), A.acknowledged(4, 7, [(9, 9)]))
        .at(50, A.tombstone([(7, 8)], 5), A.acknowledged(5, 10))
        .stored(A, 1, 2, 5, 6, 9, 3, 4).ends(A, 10, lost=[(7, 8)]),
        "batch-gap-far": heard(
            "A batch tells how far the log is; what follows is completed near its last fix.",
            "The batch holds 1 and 200000, so the short form of 200001 is not 3393, and the live fix is 200002.")
        .at(30, A.batch([1, 200_000], 3), A.acknowledged(3, 2, [(200_000, 200_000)]))
        .at(40, A.fix(200_001) + A.live(200_002, 200_000, 4), A.acknowledged(4, 2, [(200_000, 200_002)]))
        .stored(A, 1, 200_000, 200_001, 200_002).ends(A, 2, [(200_000, 200_002)]),
        "batch-anchor": heard(
            "A fix that came in a batch is the anchor of live fixes.",
            "Every fix of the batch is stored, the last and one in the middle serve as anchors.")
        .at(30, A.batch(range(1, 9), 3), A.acknowledged(3, 9))
        .at(40, A.live(9, 8) + A.live(10, 4, 4), A.acknowledged(4, 11))
        .stored(A, *range(1, 11)).ends(A, 11),
        "batch-invalid": heard(
            "A batch whose third fix is invalid, with a poll; then what it should have held.",
            "One invalid fix makes the whole frame invalid: nothing of it is stored, and it is not answered.")
        .at(30, with_payload(4, payload_unchecked(INVALID), 3, low_byte=1))
        .at(40, A.batch(range(1, 4), 4), A.acknowledged(4, 4))
        .stored(A, 1, 2, 3).rejected(invalid_field=1).ends(A, 4),
        "batch-unknown": Session(
            "A batch of a collar that is not known, and one of a log that was erased and is known.",
            "The first is answered with an identity request. The old log stays known when the new one is heard of.")
        .at(20, A.batch(range(3), 2), who_at(17))
        .at(30, A.identity(3), A.acknowledged(3, 0))
        .at(40, A_ERASED.identity(1), A_ERASED.acknowledged(1, 0))
        .at(50, A.batch(range(3), 4) + A_ERASED.batch([position(0, battery=7), position(1, battery=6)], 2),
            A.acknowledged(4, 3), A_ERASED.acknowledged(2, 2))
        .stored(A, 0, 1, 2).stored(A_ERASED, position(0, battery=7), position(1, battery=6))
        .rejected(unknown_collar=1).ends(A, 3).ends(A_ERASED, 2),
        "batch-in-burst": heard(
            "A burst of the newest fix, batches whose steps differ, a tombstone and a status.",
            "A batch ends where the position step changes, so there are two.")
        .at(30, A.fix(9) + A.batch(range(1, 4)) + A.batch(FINE) + A.tombstone([(6, 7)]) + A.send(6, STATUS) + A.batch([8], 3),
            A.acknowledged(3, 10))
        .stored(A, 9, 1, 2, 3, *FINE, 8).ends(A, 10, lost=[(6, 7)]),
    }


def sessions():
    """All sessions with batches by name."""
    return {**backlog(), **mixed()}
