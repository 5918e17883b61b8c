"""Sessions of known collars: delivery, acknowledgements and losses. Name -> vector."""

import session_batches
import session_company
import session_faults
import session_messages
import session_repairings
import session_reports
from report_vectors import REQUEST, SETTINGS, STATUS
from session_parts import (A, A_ERASED, A_MOVED, A_NARROW, B, B_BESIDE_A, START, Collar, Session,
                           position, who_at)

END = (1 << 32) - 1  # the next sequence of a full log

# Fixes with unknown fields and a fine step.
SPARSE = position(0, altitude=None, horizontal_accuracy=None, vertical_accuracy=None, speed=None, course=None,
                  heading=None, battery=None, source=0)
FINE = position(1, position_step=2, latitude=-338_567_844, longitude=1_512_153_000, altitude_step=1, altitude=-105,
                horizontal_accuracy=3, heading=None, source=1, time=START + 1_250)


def booted(meaning, origin, collar=A, **identity):
    """A session that begins with an identity that has a poll. At the start, its log has no losses."""
    return Session(meaning, origin).at(20, collar.identity(1, **identity), collar.acknowledged(1, 0))


def boot():
    """The first frames of a collar after a boot."""
    return {
        "boot": booted(
            "A collar boots, is answered, sends its first fixes and polls with the last.",
            "The identity makes the log known and its poll is answered: nothing is stored. Fixes 0 to 2 are stored, so 3 is "
            "the first missing.")
        .at(30, A.fix(0) + A.fix(1) + A.fix(2, 2), A.acknowledged(2, 3))
        .stored(A, 0, 1, 2).ends(A, 3),
        "boot-again": booted(
            "A collar boots a second time: its log goes on.",
            "The second identity names the same log; the acknowledgement repeats what is stored.")
        .at(30, A.fix(0) + A.fix(1, 2), A.acknowledged(2, 2))
        .at(40, A.identity(1, following=3), A.acknowledged(1, 2))
        .at(50, A.fix(2, 2), A.acknowledged(2, 3))
        .stored(A, 0, 1, 2).ends(A, 3),
        "identity-without-poll": Session(
            "An identity without a poll is not answered; the fix behind it is understood.",
            "Only a poll is answered. The poll of fix 0 is number 1.")
        .at(20, A.identity()).at(30, A.fix(0, 1), A.acknowledged(1, 1))
        .stored(A, 0).ends(A, 1),
        "paired-with-another": Session(
            "A collar that belongs to another receiver is listened to, and not answered.",
            "Its identity names receiver 77: the host stores and keeps silent, until an identity that names nobody.")
        .at(20, A.identity(1, paired=77)).at(30, A.fix(0, 2))
        .at(40, A.identity(3, following=1), A.acknowledged(3, 1)).at(50, A.fix(1, 4), A.acknowledged(4, 2))
        .stored(A, 0, 1).ends(A, 2),
        "empty-log": Session(
            "The first identity names a log that is empty because everything was overwritten.",
            "Oldest and next sequence are 500: 0 to 499 are lost, and 500 is the first missing.")
        .at(20, A.identity(1, oldest=500, following=500), A.acknowledged(1, 500))
        .at(30, A.fix(500, 2), A.acknowledged(2, 501))
        .stored(A, 500).ends(A, 501, lost=[(0, 499)]),
        "erased": booted(
            "The log is erased: a new log id, and sequences begin again. A late frame of the old log is still understood.",
            "Sequence 0 of the new log is another fix than sequence 0 of the old one. The old log stays known, so its "
            "fix 2 fits its CRC and is stored.")
        .at(30, A.fix(0) + A.fix(1, 2), A.acknowledged(2, 2))
        .at(40, A_ERASED.identity(1), A_ERASED.acknowledged(1, 0))
        .at(50, A_ERASED.fix(position(0, battery=99), 2), A_ERASED.acknowledged(2, 1))
        .at(60, A.fix(2, 3), A.acknowledged(3, 3))
        .stored(A, 0, 1).stored(A_ERASED, position(0, battery=99)).stored(A, 2)
        .ends(A, 3).ends(A_ERASED, 1),
        "address-changed": booted(
            "A collar gets another address; what it sends at an address that no identity named is unknown, and is asked for one.",
            "Section 3: only the logs of collars that use the address are tried; an identity shows a new address, and the former one "
            "stays. The answer goes to the address of the poll.")
        .at(30, A_MOVED.identity(2), A_MOVED.acknowledged(2, 0))
        .at(40, A_MOVED.fix(0, 3), A_MOVED.acknowledged(3, 1))
        .at(50, A.fix(1, 4), A.acknowledged(4, 2))
        .at(60, A.fix(2, 5, address=90), who_at(90))
        .at(70, Collar(*A.log, 90).identity(6, following=2), A.acknowledged(6, 2, address=90))
        .at(80, A.fix(2, 7, address=90), A.acknowledged(7, 3, address=90))
        .stored(A, 0, 1, 2).rejected(unknown_collar=1).ends(A, 3),
    }


def polls():
    """Polls that are answered or not, and the answers."""
    numbers = booted("Every poll number, and 1 again after 7.", "The answer repeats the number of the poll.")
    for sequence, poll in enumerate((2, 3, 4, 5, 6, 7, 1)):
        numbers.at(30 + 5 * sequence, A.fix(sequence, poll), A.acknowledged(poll, sequence + 1))
    reports = booted(
        "Status, settings report, result and application message that poll.",
        "Each is bound to the log and polls, so each is answered with an acknowledgement. None is a fix. The message has sequence 0, so "
        "1 is the first missing.")
    messages = [(6, STATUS), (7, {"type": 7, **SETTINGS}), (8, {"type": 8, "request_id": 5, "outcome": 0})]
    for poll, (number, fields) in enumerate(messages, 2):
        reports.at(20 + 5 * poll, A.send(number, fields, poll), A.acknowledged(poll, 0))
    return {
        "poll-numbers": numbers.stored(A, *range(7)).ends(A, 7),
        "reports-with-poll": reports.at(60, A.message(0, 5, **REQUEST), A.acknowledged(5, 1)).at(70, A.send(6, STATUS)).ends(A, 1),
        "probe-with-poll": booted(
            "A probe polls after the acknowledgement was lost; a probe without a poll is not answered.",
            "The probe stores nothing; the answer names what is stored.")
        .at(30, A.fix(0) + A.fix(1, 2), A.acknowledged(2, 2))
        .at(40, A.probe(2, 3), A.acknowledged(3, 2))
        .at(50, A.probe(2))
        .stored(A, 0, 1).ends(A, 2),
        "polls-in-one-step": Session(
            "Identity, fixes and a probe, three polls, arrive together: the last poll is answered.",
            "The polls of one log wait together, so number 3 is answered, once everything is stored.")
        .at(20, A.identity(1) + A.fix(0) + A.fix(1, 2) + A.fix(2) + A.probe(3, 3), A.acknowledged(3, 3))
        .stored(A, 0, 1, 2).ends(A, 3),
        "fix-behind-poll": booted(
            "Fixes arrive together with the poll before them.",
            "The answer is made when the whole step is taken: it names fixes 0 to 2.")
        .at(30, A.fix(0, 2) + A.fix(1) + A.fix(2), A.acknowledged(2, 3))
        .stored(A, 0, 1, 2).ends(A, 3),
        "polls-of-two-collars": Session(
            "Two collars poll in one step, one of them twice: each gets one answer.",
            "Of each log the last poll is answered: number 4 of the first collar, 2 of the second. Both were heard when the first answer is made, so every company is 1.")
        .at(20, A.identity(1) + B.identity(1), A.acknowledged(1, 0, company=1), B.acknowledged(1, 0, company=1))
        .at(30, A.fix(0, 3) + B.fix(0, 2) + A.fix(1, 4), A.acknowledged(4, 2, company=1), B.acknowledged(2, 1, company=1))
        .stored(A, 0).stored(B, 0).stored(A, 1).ends(A, 2).ends(B, 1),
        "no-poll-no-answer": booted(
            "Fixes without a poll are stored and not answered until something polls.",
            "Fixes 0 to 2 are stored by three steps, the answer comes with the poll of fix 3.")
        .at(30, A.fix(0)).at(35, A.fix(1)).at(40, A.fix(2)).at(45, A.fix(3, 2), A.acknowledged(2, 4))
        .stored(A, 0, 1, 2, 3).ends(A, 4),
    }


def gaps():
    """Fixes that do not arrive, arrive late, or arrive twice."""
    scattered = list(range(1, 80, 2))
    first_half, second_half = ([(100 + 1000 * place, 400 + 1000 * place) for place in places]
                               for places in (range(6), range(6, 12)))
    return {
        "gap-filled": booted(
            "Fix 1 is lost on the air; the collar sends it again after the acknowledgement.",
            "Missing is 1, and 2 to 3 is durable above it. With 1 everything below 4 is stored.")
        .at(30, A.fix(0) + A.fix(2) + A.fix(3, 2), A.acknowledged(2, 1, [(2, 3)]))
        .at(40, A.fix(1, 3), A.acknowledged(3, 4))
        .stored(A, 0, 2, 3, 1).ends(A, 4),
        "newest-first": booted(
            "A burst begins with the newest fix and goes on with the oldest.",
            "Above first missing 3 there is fix 9; then 3 and 8 leave 4 to 7 missing.", following=10)
        .at(30, A.fix(9) + A.fix(0) + A.fix(1) + A.fix(2, 2), A.acknowledged(2, 3, [(9, 9)]))
        .at(40, A.fix(3) + A.fix(8, 3), A.acknowledged(3, 4, [(8, 9)]))
        .stored(A, 9, 0, 1, 2, 3, 8).ends(A, 4, [(8, 9)]),
        "two-gaps": booted(
            "Three ranges are durable; the gaps are closed from above.",
            "Ranges are named newest first. Fix 4 joins 3 and 5 to 6; fix 1 joins all.")
        .at(30, A.fix(0) + A.fix(3) + A.fix(5) + A.fix(6, 2), A.acknowledged(2, 1, [(5, 6), (3, 3)]))
        .at(40, A.fix(4, 3), A.acknowledged(3, 1, [(3, 6)]))
        .at(50, A.fix(1) + A.fix(2, 4), A.acknowledged(4, 7))
        .stored(A, 0, 3, 5, 6, 4, 1, 2).ends(A, 7),
        "duplicates": booted(
            "An acknowledgement is lost: the newest fix comes again, then the whole burst, once as a live fix.",
            "Every poll is answered, and what is stored already is not stored again.")
        .at(30, A.fix(0) + A.fix(1, 2), A.acknowledged(2, 2))
        .at(40, A.fix(1, 3), A.acknowledged(3, 2))
        .at(50, A.fix(0) + A.live(1, 0, 4), A.acknowledged(4, 2))
        .at(60, A.fix(2) + A.fix(2) + A.fix(2, 5), A.acknowledged(5, 3))
        .stored(A, 0, 1, 2).ends(A, 3),
        "more-than-32-ranges": booted(
            "Forty single fixes with gaps: the acknowledgement names the newest and the 31 oldest.",
            "The fixes are 1, 3 … 79. 79 and 61 down to 1 are named; at the end all 40 are "
            "durable.")
        .at(30, b"".join(A.fix(each) for each in scattered))
        .at(40, A.probe(80, 2), A.acknowledged(2, 0, [(each, each) for each in [scattered[-1], *reversed(scattered[:31])]]))
        .stored(A, *scattered).ends(A, 0, [(each, each) for each in reversed(scattered)]),
        "largest-frame": booted(
            "The collar takes frames of 51 bytes: the acknowledgement names the newest and the oldest ranges.",
            "51 bytes leave 276 bits for ranges. The newest takes 27 + 17 bits, the second 25 + 17, each further one 19 + 17, so 7 of 12 fit.",
            A_NARROW, following=20_000)
        .at(30, A_NARROW.tombstone(first_half) + A_NARROW.tombstone(second_half, 2),
            A_NARROW.acknowledged(2, 0, [second_half[-1], *reversed(first_half)]))
        .ends(A_NARROW, 0, list(reversed(first_half + second_half)), first_half + second_half),
    }


def losses():
    """Fixes that the collar does not have any more."""
    return {
        "tombstone": booted(
            "A tombstone fills gaps between fixes.",
            "0 to 1 and 5 to 6 count as covered, so 2 is the first missing; with 2 and 4 all up to 6 is covered.")
        .at(25, A.probe(7))
        .at(30, A.fix(3) + A.tombstone([(0, 1), (5, 6)], 2), A.acknowledged(2, 2, [(5, 6), (3, 3)]))
        .at(40, A.fix(2) + A.fix(4, 3), A.acknowledged(3, 7))
        .stored(A, 3, 2, 4).ends(A, 7, lost=[(0, 1), (5, 6)]),
        "tombstone-joins-fixes": booted(
            "Lost and stored sequences that touch are one range of the acknowledgement.",
            "3 to 4 are lost, 5 is stored: 3 to 5 is one covered range.")
        .at(30, A.fix(0) + A.fix(5) + A.tombstone([(3, 4)], 2), A.acknowledged(2, 1, [(3, 5)]))
        .stored(A, 0, 5).ends(A, 1, [(3, 5)], [(3, 4)]),
        "tombstone-over-stored": booted(
            "A tombstone names what is stored already: only the others are lost. It comes twice.",
            "1 is stored, so of 0 to 2 only 0 and 2 are lost.")
        .at(25, A.probe(3))
        .at(30, A.fix(1) + A.tombstone([(0, 2)], 2), A.acknowledged(2, 3))
        .at(40, A.tombstone([(0, 2)], 3), A.acknowledged(3, 3))
        .stored(A, 1).ends(A, 3, lost=[(0, 0), (2, 2)]),
        "tombstone-without-poll": booted(
            "A tombstone without a poll counts, too.",
            "It is not answered; the next answer has it.")
        .at(25, A.probe(11)).at(30, A.tombstone([(0, 9)])).at(35, A.fix(10, 2), A.acknowledged(2, 11))
        .stored(A, 10).ends(A, 11, lost=[(0, 9)]),
        "tombstone-beyond-the-next": booted(
            "A tombstone names sequences from the next one on: these do not count as lost, and the host sends an identity "
            "request.",
            "The next sequence is 2. 0 to 4 are named: 0 and 1 are lost. After the identity, all of 0 to 4 are lost.")
        .at(25, A.probe(2))
        .at(30, A.tombstone([(0, 4)], 2), who_at(17), A.acknowledged(2, 2))
        .at(40, A.identity(1, following=5), A.acknowledged(1, 2))
        .at(50, A.tombstone([(0, 4)], 2), A.acknowledged(2, 5))
        .ends(A, 5, lost=[(0, 4)]),
        "found-after-a-tombstone": booted(
            "A fix that was reported as lost arrives after all: it is stored, and not lost any more. The second time it is a repetition.",
            "0 to 2 are lost, then 1 comes; what is acknowledged stays the same.")
        .at(25, A.probe(4))
        .at(30, A.fix(3) + A.tombstone([(0, 2)], 2), A.acknowledged(2, 4))
        .at(40, A.fix(1, 3), A.acknowledged(3, 4))
        .at(50, A.fix(1, 4), A.acknowledged(4, 4))
        .stored(A, 3, 1).ends(A, 4, lost=[(0, 0), (2, 2)]),
        "lost-asked-for-after-a-boot": booted(
            "Sequences that were reported as lost but are in the collar's log are requested once after each boot, until they "
            "come or are reported as lost again.",
            "0 is below the oldest. 2 to 4 are in doubt: 3 comes, 2 is lost again, 4 comes. 6 is reported as lost after this boot, so it is requested only after the next one.")
        .at(30, A.fix(1) + A.fix(5) + A.tombstone([(0, 0), (2, 4)], 2), A.acknowledged(2, 6))
        .at(40, A.identity(1, oldest=1, following=7, boot=13), A.acknowledged(1, 2, [(5, 5)], resend=[(2, 4)]))
        .at(50, A.fix(3) + A.tombstone([(2, 2), (6, 6)], 2), A.acknowledged(2, 4, [(5, 6)], resend=[(4, 4)]))
        .at(60, A.identity(1, oldest=1, following=7, boot=13), A.acknowledged(1, 4, [(5, 6)], resend=[(4, 4)]))
        .at(70, A.fix(4, 2), A.acknowledged(2, 7))
        .at(80, A.identity(1, oldest=6, following=7, boot=14), A.acknowledged(1, 6, resend=[(6, 6)]))
        .at(90, A.tombstone([(6, 6)], 2), A.acknowledged(2, 7))
        .stored(A, 1, 5, 3, 4).ends(A, 7, lost=[(0, 0), (2, 2), (6, 6)]),
        "oldest-above-first-missing": booted(
            "A collar whose flash ran over while nobody listened names a later oldest sequence.",
            "0 to 1 and 4 are stored, 8 is oldest: 2 to 3 and 5 to 7 are lost.")
        .at(30, A.fix(0) + A.fix(1) + A.fix(4, 2), A.acknowledged(2, 2, [(4, 4)]))
        .at(40, A.identity(1, oldest=8, following=10), A.acknowledged(1, 8))
        .at(50, A.fix(8) + A.fix(9, 2), A.acknowledged(2, 10))
        .stored(A, 0, 1, 4, 8, 9).ends(A, 10, lost=[(2, 3), (5, 7)]),
        "oldest-below-first-missing": booted(
            "An identity whose oldest sequence is not above the first missing one says nothing about losses.",
            "Everything below 3 is stored; oldest is 2, then 3.")
        .at(30, A.fix(0) + A.fix(1) + A.fix(2, 2), A.acknowledged(2, 3))
        .at(40, A.identity(1, oldest=2, following=5), A.acknowledged(1, 3))
        .at(50, A.identity(1, oldest=3, following=5), A.acknowledged(1, 3))
        .stored(A, 0, 1, 2).ends(A, 3),
        "first-heard-late": Session(
            "The host hears of the collar when its oldest fix is 1000.",
            "0 to 999 are lost to this host; the short sequence of fix 1004 is completed near 1004.")
        .at(20, A.identity(1, oldest=1000, following=1005), A.acknowledged(1, 1000))
        .at(30, A.fix(1004) + A.fix(1000, 2), A.acknowledged(2, 1001, [(1004, 1004)]))
        .stored(A, 1004, 1000).ends(A, 1001, [(1004, 1004)], [(0, 999)]),
    }


def forms():
    """Live fixes, sequences and times."""
    step_back = position(1, time=START - 3_600_000)
    before_1970 = position(4, time=-1)
    return {
        "live": booted(
            "Live fixes against anchors that were acknowledged, at several distances.",
            "Anchor 0 and then 3 are stored when the live fixes that need them come.")
        .at(30, A.fix(0, 2), A.acknowledged(2, 1))
        .at(40, A.live(1, 0)).at(45, A.live(2, 0) + A.live(3, 1, 3), A.acknowledged(3, 4))
        .at(55, A.live(4, 3) + A.live(5, 3, 4), A.acknowledged(4, 6))
        .stored(A, 0, 1, 2, 3, 4, 5).ends(A, 6),
        "live-after-losses": booted(
            "Live fixes are understood whatever was lost between them and their anchor.",
            "Anchor 0 is stored. 1 and 3 to 126 never come.")
        .at(30, A.fix(0, 2), A.acknowledged(2, 1))
        .at(40, A.live(2, 0) + A.live(127, 0, 3), A.acknowledged(3, 1, [(127, 127), (2, 2)]))
        .stored(A, 0, 2, 127).ends(A, 1, [(127, 127), (2, 2)]),
        "live-without-anchor": booted(
            "A live fix whose anchor the host does not hold, with and without a poll; then its absolute form.",
            "Without the anchor the CRC fits no log. As a known collar uses the address, the frame counts as damaged and is not "
            "answered. 6 is decoded when 5 is stored.")
        .at(30, A.fix(0, 2), A.acknowledged(2, 1))
        .at(40, A.live(6, 5, 3)).at(45, A.live(6, 5))
        .at(50, A.fix(5, 4), A.acknowledged(4, 1, [(5, 5)]))
        .at(60, A.live(6, 5, 5), A.acknowledged(5, 1, [(5, 6)]))
        .stored(A, 0, 5, 6).rejected(check_failed=2).ends(A, 1, [(5, 6)]),
        "live-against-lost": booted(
            "An anchor that is known to be lost is not held.",
            "A tombstone covers 0, but there is no fix to compute with: damaged, no answer.")
        .at(30, A.tombstone([(0, 0)], 2), A.acknowledged(2, 1))
        .at(40, A.live(1, 0, 3))
        .rejected(check_failed=1).ends(A, 1, lost=[(0, 0)]),
        "clock-jumps-back": booted(
            "The clock of the collar is set back by an hour, forward again, back by two hours, and to before 1970.",
            "Sequences order the fixes, times are what they are; the live fixes go back and forth in time.")
        .at(30, A.fix(0) + A.fix(step_back, 2), A.acknowledged(2, 2))
        .at(40, A.live(2, step_back) + A.live(position(3, time=START - 7_200_500), 0, 3), A.acknowledged(3, 4))
        .at(50, A.fix(before_1970, 4), A.acknowledged(4, 5))
        .stored(A, 0, step_back, 2, position(3, time=START - 7_200_500), before_1970).ends(A, 5),
        "fields-unknown": booted(
            "Fixes with unknown fields, fine positions and other sources.",
            "What is unknown stays unknown, in both forms.")
        .at(30, A.fix(SPARSE) + A.fix(FINE) + A.live({**SPARSE, "sequence": 2, "time": START + 90_250}, FINE, 2),
            A.acknowledged(2, 3))
        .stored(A, SPARSE, FINE, {**SPARSE, "sequence": 2, "time": START + 90_250}).ends(A, 3),
        "sequences-end": Session(
            "The last sequences there can be, in the short form and as a live fix; then the log is full.",
            "According to the identity everything below 4294967292 is lost. There is no sequence above 4294967294.")
        .at(20, A.identity(1, oldest=END - 3, following=END - 2), A.acknowledged(1, END - 3))
        .at(30, A.fix(END - 3) + A.fix(END - 2, 2), A.acknowledged(2, END - 1))
        .at(40, A.live(END - 1, END - 2, 3), A.acknowledged(3, END))
        .at(50, A.identity(1, oldest=END - 3, following=END), A.acknowledged(1, END))
        .at(60, A.fix(END - 1, 2), A.acknowledged(2, END))
        .stored(A, END - 3, END - 2, END - 1).ends(A, END, lost=[(0, END - 4)]),
        "sequences-end-gap": Session(
            "The very last sequence comes before the others.",
            "4294967294 is durable above first missing 4294967292.")
        .at(20, A.identity(1, oldest=END - 3, following=END), A.acknowledged(1, END - 3))
        .at(30, A.fix(END - 1, 2), A.acknowledged(2, END - 3, [(END - 1, END - 1)]))
        .at(40, A.fix(END - 3) + A.tombstone([(END - 2, END - 2)], 3), A.acknowledged(3, END))
        .stored(A, END - 1, END - 3).ends(A, END, lost=[(0, END - 4), (END - 2, END - 2)]),
        "sequences-short": Session(
            "Short sequences on both sides of 65536, and a wide one far below.",
            "According to the identity the highest known sequence is 65534: the short forms of 65535 and 65536 are completed near it. 65534 "
            "is completed to itself, 7 needs the wide form.")
        .at(20, A.identity(1, following=65_535), A.acknowledged(1, 0))
        .at(30, A.fix(65_535) + A.fix(65_536) + A.fix(65_534, 2), A.acknowledged(2, 0, [(65_534, 65_536)]))
        .at(40, A.fix(7, 3, wide=True), A.acknowledged(3, 0, [(65_534, 65_536), (7, 7)]))
        .stored(A, 65_535, 65_536, 65_534, 7).ends(A, 0, [(65_534, 65_536), (7, 7)]),
        **short_sequences(),
    }


def short_sequences():
    """Each of the references around which short sequences are completed."""
    return {
        "sequences-around-stored": Session(
            "A probe and an identity announce sequences that do not exist: short ones are completed near the stored ones.",
            "65535 is completed near the identity. Whatever is announced later, 65536 is completed near 65535.")
        .at(20, A.identity(1, following=65_536), A.acknowledged(1, 0))
        .at(30, A.fix(65_535, 2), A.acknowledged(2, 0, [(65_535, 65_535)]))
        .at(40, A.probe(4_000_000_000, 3) + A.identity(4, following=4_000_000_000), A.acknowledged(4, 0, [(65_535, 65_535)]))
        .at(50, A.fix(65_536, 5), A.acknowledged(5, 0, [(65_535, 65_536)]))
        .stored(A, 65_535, 65_536).ends(A, 0, [(65_535, 65_536)]),
        "sequences-around-first-missing": Session(
            "A fix with a sequence far above and an identity that names it: short ones are completed near the first missing.",
            "Everything below 65530 is elsewhere, so 65530 is the first missing one; nothing else is near 65535 and 65536.")
        .at(20, A.identity(1, oldest=65_530, following=65_531, elsewhere=65_530), A.acknowledged(1, 65_530))
        .at(30, A.fix(4_000_000_000, wide=True) + A.identity(2, oldest=65_530, following=4_000_000_001, elsewhere=65_530),
            A.acknowledged(2, 65_530, [(4_000_000_000, 4_000_000_000)]))
        .at(40, A.fix(65_535) + A.fix(65_536, 3),
            A.acknowledged(3, 65_530, [(4_000_000_000, 4_000_000_000), (65_535, 65_536)]))
        .stored(A, 4_000_000_000, 65_535, 65_536)
        .ends(A, 65_530, [(4_000_000_000, 4_000_000_000), (65_535, 65_536)], elsewhere=[(0, 65_529)]),
        "sequences-around-nothing": booted(
            "A short sequence that is not near any known sequence; then the identity tells how far the log is.",
            "Near 0 the short form of 199999 is 3391, with which its CRC does not fit: damaged, no answer. A probe changes "
            "nothing.")
        .at(30, A.fix(199_999, 2)).at(40, A.probe(200_000, 3), A.acknowledged(3, 0)).at(50, A.fix(199_999, 4))
        .at(60, A.identity(5, following=200_000), A.acknowledged(5, 0))
        .at(70, A.fix(199_999, 6), A.acknowledged(6, 0, [(199_999, 199_999)]))
        .stored(A, 199_999).rejected(check_failed=2).ends(A, 0, [(199_999, 199_999)]),
    }


def two_collars():
    """Two collars at one radio."""
    return {
        "two-collars": Session(
            "Two collars with addresses of their own.",
            "Each log has its own sequences and its own answers. The first collar is alone when it is answered first; then the company is 1.")
        .at(20, A.identity(1), A.acknowledged(1, 0))
        .at(30, B.identity(1), B.acknowledged(1, 0, company=1))
        .at(40, A.fix(0) + B.fix(0) + A.fix(1, 2), A.acknowledged(2, 2, company=1))
        .at(50, B.fix(2, 2), B.acknowledged(2, 1, [(2, 2)], company=1))
        .at(60, B.live(1, 0, 3), B.acknowledged(3, 3, company=1))
        .stored(A, 0).stored(B, 0).stored(A, 1).stored(B, 2, 1).ends(A, 2).ends(B, 3),
        "equal-addresses": Session(
            "Two collars with the same address, told apart by the CRC of each frame and the tag of a probe.",
            "Every frame fits the CRC of one log only. Both hold a fix 1, with other values; each live fix has the "
            "anchor of its own log. The company counts collars, not addresses.")
        .at(20, A.identity(1) + B_BESIDE_A.identity(1), A.acknowledged(1, 0, company=1), B_BESIDE_A.acknowledged(1, 0, company=1))
        .at(30, A.fix(0) + B_BESIDE_A.fix(position(0, battery=9)) + A.fix(1, 2), A.acknowledged(2, 2, company=1))
        .at(40, B_BESIDE_A.live(position(1, battery=8), position(0, battery=9), 2), B_BESIDE_A.acknowledged(2, 2, company=1))
        .at(50, A.live(2, 1, 3), A.acknowledged(3, 3, company=1))
        .at(60, B_BESIDE_A.probe(2, 3), B_BESIDE_A.acknowledged(3, 2, company=1))
        .at(70, A.probe(4, 4), A.acknowledged(4, 3, company=1))
        .at(80, B_BESIDE_A.send(6, STATUS, 4) + A.tombstone([(3, 3)], 5),
            B_BESIDE_A.acknowledged(4, 2, company=1), A.acknowledged(5, 4, company=1))
        .stored(A, 0).stored(B_BESIDE_A, position(0, battery=9)).stored(A, 1)
        .stored(B_BESIDE_A, position(1, battery=8)).stored(A, 2)
        .ends(A, 4, lost=[(3, 3)]).ends(B_BESIDE_A, 2),
    }


def all_vectors():
    """All sessions by name."""
    sessions = {}
    for part in (boot(), polls(), gaps(), losses(), forms(), two_collars(), session_faults.sessions(),
                 session_batches.sessions(), session_repairings.sessions(), session_messages.sessions(),
                 session_company.sessions(), session_reports.sessions()):
        if set(part) & set(sessions):
            raise AssertionError(f"twice: {set(part) & set(sessions)}")
        sessions.update(part)
    return {name: session.vector() for name, session in sessions.items()}
