"""Sessions with messages of the collar's application, which are entries of its log. Name -> session."""

import frames
from report_vectors import NOTICE, REPLY, REQUEST, message_bits
from session_faults import STRANGER, bare, changed, heard, with_payload
from session_parts import A, A_ERASED, B_BESIDE_A, RECEIVER, Session, who_at
from wire import stuff

END = (1 << 32) - 1  # the next sequence of a full log


def of_host(collar, receiver_id, poll=0, **changes):
    """A host's message to the collar, stuffed for the serial line."""
    return collar.send(frames.HOST_MESSAGE, {"request_id": 9, "receiver_id": receiver_id, **NOTICE, **changes}, poll)


def delivery():
    """Messages that take sequences between fixes."""
    kinds = heard(
        "A notice, a request and replies of every outcome, each with a poll.",
        "Whatever a message is, it is stored under its sequence and acknowledged. The host has sent no request that a reply "
        "could answer; this makes no difference.")
    for place, fields in enumerate([NOTICE, REQUEST, *({**REPLY, "outcome": outcome} for outcome in range(9))]):
        poll = (2 + place) % 7 + 1
        kinds.at(30 + 5 * place, A.message(1 + place, poll, **fields), A.acknowledged(poll, 2 + place))
    return {
        "message-between-fixes": heard(
            "Messages take sequences between fixes. One comes again, because its acknowledgement was lost; another is lost and comes "
            "later.",
            "Message 1 counts like a fix, so 3 is the first missing after fix 2, also when the message is repeated. Message 4 is "
            "lost: 4 is missing and fix 5 durable above it. The messages are not among the fixes.")
        .at(30, A.message(1) + A.fix(2, 3), A.acknowledged(3, 3))
        .at(40, A.message(1, 4), A.acknowledged(4, 3))
        .at(50, A.fix(3) + A.fix(5, 5), A.acknowledged(5, 4, [(5, 5)]))
        .at(60, A.message(4, 6, **REQUEST), A.acknowledged(6, 6))
        .stored(A, 2, 3, 5).ends(A, 6),
        "message-kinds": kinds.ends(A, 12),
        "message-newest-first": heard(
            "A burst begins with a message, which is the newest entry, and goes on with the oldest.",
            "Message 9 is durable above first missing 3; with the batches and message 5 everything below 10 is stored.")
        .at(30, A.message(9) + A.fix(1) + A.message(2, 3), A.acknowledged(3, 3, [(9, 9)]))
        .at(40, A.batch([3, 4]) + A.message(5) + A.batch([6, 7, 8], 4), A.acknowledged(4, 10))
        .stored(A, 1, 3, 4, 6, 7, 8).ends(A, 10),
        "message-only": Session(
            "A log that holds messages only; one is lost and does not come.",
            "The gap is between messages. No fix is stored.")
        .at(20, A.identity(1), A.acknowledged(1, 0))
        .at(30, A.message(0) + A.message(1) + A.message(3, 2), A.acknowledged(2, 2, [(3, 3)]))
        .at(40, A.message(4, 3, **REQUEST), A.acknowledged(3, 2, [(3, 4)]))
        .ends(A, 2, [(3, 4)]),
        "message-without-poll": heard(
            "A message without a poll is stored and not answered; the next answer names it.",
            "Only the poll of fix 2 is answered.")
        .at(30, A.message(1)).at(40, A.fix(2, 3), A.acknowledged(3, 3))
        .stored(A, 2).ends(A, 3),
        "message-of-another-receiver": Session(
            "A collar that belongs to another receiver sends a message: it is stored and not answered.",
            "The identity names receiver 77. When an identity names nobody, the answer names the message.")
        .at(20, A.identity(1, paired=77)).at(30, A.message(0, 2)).at(35, A.fix(1, 3))
        .at(40, A.identity(4, following=2), A.acknowledged(4, 2))
        .stored(A, 1).ends(A, 2),
        "message-last-sequence": Session(
            "The last sequence there can be is that of a message; then the log is full.",
            "According to the identity everything below 4294967293 is lost.")
        .at(20, A.identity(1, oldest=END - 2, following=END), A.acknowledged(1, END - 2))
        .at(30, A.message(END - 1, 2), A.acknowledged(2, END - 2, [(END - 1, END - 1)]))
        .at(40, A.fix(END - 2, 3), A.acknowledged(3, END))
        .stored(A, END - 2).ends(A, END, lost=[(0, END - 3)]),
    }


def losses():
    """Messages that the collar does not have any more."""
    return {
        "message-tombstone": heard(
            "A tombstone names a message and a fix; then the message comes all the same.",
            "Message 4 shows that 4 exists, so all of 1 to 3 counts as lost. A loss may be revised: message 2 is stored and not lost any "
            "more.")
        .at(30, A.message(4) + A.tombstone([(1, 3)], 3), A.acknowledged(3, 5))
        .at(40, A.message(2, 4), A.acknowledged(4, 5))
        .ends(A, 5, lost=[(1, 1), (3, 3)]),
        "message-over-tombstone": heard(
            "A tombstone names a message that is stored.",
            "What is stored is not lost: of 1 to 3 only 1 and 3 are.")
        .at(30, A.message(2) + A.message(4, 3), A.acknowledged(3, 1, [(4, 4), (2, 2)]))
        .at(40, A.tombstone([(1, 3)], 4), A.acknowledged(4, 5))
        .ends(A, 5, lost=[(1, 1), (3, 3)]),
        "message-below-oldest": heard(
            "An identity names a later oldest sequence, below which a message is stored.",
            "Message 2 is stored; 1 and 3 to 5 are lost.")
        .at(30, A.message(2, 3), A.acknowledged(3, 1, [(2, 2)]))
        .at(40, A.identity(1, oldest=6, following=7), A.acknowledged(1, 6))
        .at(50, A.message(6, 2), A.acknowledged(2, 7))
        .ends(A, 7, lost=[(1, 1), (3, 5)]),
        "message-asked-for-after-a-boot": heard(
            "A message that was reported as lost and is in the log is requested after the next boot.",
            "1 to 2 are in doubt at the boot: message 1 comes, 2 is lost again.")
        .at(30, A.fix(3) + A.tombstone([(1, 2)], 3), A.acknowledged(3, 4))
        .at(40, A.identity(1, oldest=0, following=4, boot=13), A.acknowledged(1, 1, [(3, 3)], resend=[(1, 2)]))
        .at(50, A.message(1) + A.tombstone([(2, 2)], 2), A.acknowledged(2, 4))
        .stored(A, 3).ends(A, 4, lost=[(2, 2)]),
    }


def other_entries():
    """Messages and fixes that meet."""
    return {
        "message-same-sequence": heard(
            "A fix comes under the sequence of a stored message, and a message under that of a stored fix.",
            "A sequence is given once: what came first stays, and the sequence is acknowledged again.")
        .at(30, A.message(1, 3), A.acknowledged(3, 2))
        .at(40, A.fix(1, 4), A.acknowledged(4, 2))
        .at(50, A.message(0, 5), A.acknowledged(5, 2))
        .at(60, A.message(1, 6, **{**NOTICE, "code": 0x77}), A.acknowledged(6, 2))
        .ends(A, 2),
        "message-as-anchor": heard(
            "A live fix whose anchor would be a message; then its absolute form, and a live fix against a fix.",
            "There is no fix 1 to compute with: damaged, no answer. 3 is decoded with the anchor 2.")
        .at(30, A.message(1, 3), A.acknowledged(3, 2))
        .at(40, A.live(2, 1, 4))
        .at(50, A.fix(2, 5), A.acknowledged(5, 3))
        .at(60, A.live(3, 2, 6), A.acknowledged(6, 4))
        .stored(A, 2, 3).rejected(check_failed=1).ends(A, 4),
        "message-between-live-fixes": heard(
            "A live fix behind messages; its anchor is a fix before them.",
            "Anchor 0 is stored, whatever came after it.")
        .at(30, A.message(1) + A.message(2)).at(40, A.live(3, 0, 3), A.acknowledged(3, 4))
        .stored(A, 3).ends(A, 4),
        "message-unknown": Session(
            "Messages of a collar that is not known, with and without a poll, and of a log that was erased and is known.",
            "The poll is answered with an identity request. The old log stays known when the new one is heard of.")
        .at(20, A.message(0, 2), who_at(17)).at(25, A.message(0))
        .at(30, A.identity(3), A.acknowledged(3, 0))
        .at(40, A_ERASED.identity(1), A_ERASED.acknowledged(1, 0))
        .at(50, A.message(0, 4) + A_ERASED.message(1, 2), A.acknowledged(4, 1), A_ERASED.acknowledged(2, 0, [(1, 1)]))
        .rejected(unknown_collar=2).ends(A, 1).ends(A_ERASED, 0, [(1, 1)]),
        "message-equal-addresses": Session(
            "Two collars with the same address send messages with the same sequence.",
            "Every message fits the CRC of one log only.")
        .at(20, A.identity(1) + B_BESIDE_A.identity(1), A.acknowledged(1, 0, company=1), B_BESIDE_A.acknowledged(1, 0, company=1))
        .at(30, A.message(0, 2) + B_BESIDE_A.message(1, 3),
            A.acknowledged(2, 1, company=1), B_BESIDE_A.acknowledged(3, 0, [(1, 1)], company=1))
        .at(40, B_BESIDE_A.message(0, 4), B_BESIDE_A.acknowledged(4, 2, company=1))
        .ends(A, 1).ends(B_BESIDE_A, 2),
    }


def faults():
    """Messages that are rejected or ignored."""
    invalid = [with_payload(13, payload, 3) for payload in (
        message_bits(13, sequence=(1, 32), kind=(3, 2)),
        message_bits(13, sequence=(1, 32), kind=(2, 2), outcome=(9, 4), answered=(7, 32)),
        message_bits(13, sequence=(1, 32), data=(0, 168)),
        message_bits(13, sequence=(END, 32)),
        message_bits(13, sequence=(1, 32), kind=(2, 2), data=(0, 24)),
        b"")]
    rejected = heard(
        "Messages that poll, whose CRC is right and whose payload is not; and one that is damaged.",
        "Kind 3, a reply with outcome 9, 21 bytes of data, sequence 4294967295, a reply that ends before what it answers, no "
        "payload: each is dropped and not answered, and none takes its sequence. A message with a wrong bit is damaged.")
    for place, serial in enumerate(invalid):
        rejected.at(30 + 5 * place, serial)
    good = bare(A.message(1, 3))
    return {
        "message-invalid": rejected.at(60, changed(good, 10, good[10] ^ 1)).at(70, A.message(1, 4), A.acknowledged(4, 2))
        .rejected(invalid_field=4, truncated=2, check_failed=1).ends(A, 2),
        "message-ignored-bits": heard(
            "A message with reserved bits set, with an outcome though it is a notice, with a low byte and with flags that are not known.",
            "All of them are ignored: the message is stored, and the poll counts.")
        .at(30, stuff(frames.assemble(0x2D, 0x1B, A.address, 0x5A,
                                      message_bits(13, sequence=(1, 32), reserved=(3, 2), outcome=(15, 4)), A.log)),
            A.acknowledged(3, 2))
        .ends(A, 2),
        "message-of-another-host": heard(
            "Messages of another host are heard: to the known collar, to one that is not known, with this host's own receiver id, and an "
            "invalid one. None is answered or stored.",
            "Type 29 is not for the host: it ignores such frames, and does not count them. The reply of the collar is an entry of "
            "the log like any other.")
        .at(30, of_host(A, 77) + of_host(A, 77, 2, **REQUEST) + of_host(STRANGER, 77, 3))
        .at(40, of_host(A, RECEIVER, 4, **REPLY) + with_payload(29, message_bits(29, kind=(3, 2)), 5))
        .at(50, A.send(8, {"request_id": 9, "outcome": 0}) + A.message(1, 3, **{**REPLY, "answered": 9}), A.acknowledged(3, 2))
        .at(60, of_host(A, 77, 2) + A.fix(2, 4), A.acknowledged(4, 3))
        .stored(A, 2).ends(A, 3),
    }


def sessions():
    """All these sessions by name."""
    return {**delivery(), **losses(), **other_entries(), **faults()}
