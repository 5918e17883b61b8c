"""Sessions of unknown collars, noise, damage and cuts. Name -> session."""

import frames
from report_vectors import COMMAND, RADIO, RADIO_IDENTITY
from session_parts import A, A_ERASED, B, B_BESIDE_A, Collar, Session, who_at
from wire import SerialDecoder, stuff

STRANGER = Collar(0x5555AAAA5555AAAA, 777, 44)
SIGNAL_REPORT = {"type": 12, "packet_check": 0x123456, "strength": -97, "signal_to_noise": -35}


def heard(meaning, origin):
    """A session that begins with a collar whose fix 0 is stored."""
    return Session(meaning, origin).at(20, A.identity(1) + A.fix(0, 2), A.acknowledged(2, 1)).stored(A, 0)


def bare(serial):
    """The bare frame of the bytes on a serial line."""
    return SerialDecoder().feed(serial)[0]


def with_payload(number, payload, poll=0, log=A.log, low_byte=0):
    """A frame at the collar's address, with any payload and a correct CRC, stuffed for the serial line."""
    return stuff(frames.assemble(0x20 | number, poll, A.address, low_byte, payload, log))


def changed(frame, place, value):
    """A frame with one byte changed, stuffed for the serial line."""
    return stuff(frame[:place] + bytes([value]) + frame[place + 1:])


def unknown_collars():
    """Frames that no known log fits."""
    return {
        "unknown-with-poll": Session(
            "The host was started while the collar runs: it asks who that is, at the collar's address.",
            "Nobody is known at address 17, so each poll that cannot be checked is answered with an identity request to 17. "
            "With the identity the log is known.")
        .at(20, A.fix(7, 3), who_at(17)).at(30, A.live(8, 7, 4), who_at(17))
        .at(40, A.identity(5, following=9), A.acknowledged(5, 0))
        .at(50, A.fix(7) + A.fix(8, 6), A.acknowledged(6, 0, [(7, 8)]))
        .stored(A, 7, 8).rejected(unknown_collar=2).ends(A, 0, [(7, 8)]),
        "unknown-without-poll": Session(
            "Frames of unknown collars without a poll: at most one identity request a second.",
            "At 100 the request of the opening is 100 ms old: none is sent. At 1100 it is more than a second old. At 1400 "
            "and 1500 that of 1100 is not. The poll at 1600 is answered at once; its request is 700 ms old at 2300, and more "
            "than a second at 2700.")
        .at(20, A.identity(1), A.acknowledged(1, 0))
        .at(100, B.fix(0)).at(1100, B.fix(1), who_at(18))
        .at(1400, B.fix(2)).at(1500, STRANGER.fix(2))
        .at(1600, B.fix(3, 1), who_at(18)).at(2300, B.fix(4)).at(2700, STRANGER.fix(5), who_at(44))
        .rejected(unknown_collar=7).ends(A, 0),
        "unknown-polls-in-one-step": heard(
            "Unknown collars and a known one poll in one step.",
            "Each poll that cannot be checked is answered, and the last poll of the known collar.")
        .at(30, B.fix(0, 1) + A.fix(1, 2) + B.fix(1, 2) + STRANGER.probe(4, 3),
            who_at(18), who_at(18), who_at(44), A.acknowledged(2, 2))
        .stored(A, 1).rejected(unknown_collar=3).ends(A, 2),
        "unknown-probe": heard(
            "Probes whose tags are of no known log, at an unknown address and at that of a known collar.",
            "A probe shows by its tag that its log is not known, whoever uses the address: it is answered with an identity "
            "request. Here the log was erased, and the identity that said so was lost.")
        .at(30, STRANGER.probe(4, 2), who_at(44)).at(40, A_ERASED.probe(1, 2), who_at(17))
        .at(50, A_ERASED.identity(3, following=1), A_ERASED.acknowledged(3, 0))
        .at(60, A_ERASED.probe(1, 4), A_ERASED.acknowledged(4, 0))
        .rejected(unknown_collar=2).ends(A, 1).ends(A_ERASED, 0),
        "unknown-at-known-address": heard(
            "An unknown collar uses the address of a known one.",
            "Its frames fit no CRC, and a known collar uses the address: damaged, no answer. Its identity makes it known; "
            "from then on the host hears two collars.")
        .at(30, B_BESIDE_A.fix(0, 1)).at(35, B_BESIDE_A.fix(0))
        .at(40, B_BESIDE_A.identity(2, following=1), B_BESIDE_A.acknowledged(2, 0, company=1))
        .at(50, B_BESIDE_A.fix(0, 3), B_BESIDE_A.acknowledged(3, 1, company=1))
        .stored(B_BESIDE_A, 0).rejected(check_failed=2).ends(A, 1).ends(B_BESIDE_A, 1),
        "other-hosts": heard(
            "Frames of another host are heard: to the known collar, to unknown ones, to all. None is answered.",
            "Types from 16 up are not for the host: it ignores them, and does not count them.")
        .at(30, stuff(A.acknowledged(3, 0)) + stuff(STRANGER.acknowledged(3, 0)) + STRANGER.send(20, COMMAND, 2))
        .at(35, stuff(who_at(255)) + stuff(frames.encode(17, {"receiver_id": 77}, 44, 3)))
        .at(40, A.fix(1, 2), A.acknowledged(2, 2))
        .stored(A, 1).ends(A, 2),
        "base-radio": heard(
            "The base radio speaks between frames of the collar.",
            "Its frames change nothing and are not answered.")
        .at(30, stuff(frames.encode(10, RADIO_IDENTITY, RADIO)) + A.fix(1, 2) + stuff(frames.encode(12, SIGNAL_REPORT, RADIO)),
            A.acknowledged(2, 2))
        .stored(A, 1).ends(A, 2),
        "silence": Session(
            "Nothing is heard for more than a second, then a collar boots.",
            "The host asks when it opens the port, and again after a second.")
        .unasked(1000, who_at(255)).at(1300, A.identity(1), A.acknowledged(1, 0)).ends(A, 0),
    }


def damage():
    """Frames that are rejected, between good ones."""
    good = bare(A.fix(1, 3))
    later = A.fix(1, 4), A.acknowledged(4, 2)
    check_failed = heard(
        "One bit is wrong, in turn in the low byte, the payload and the CRC of a fix; in an identity and a probe; in the "
        "low byte of a live fix, whose anchor would be below 0 then.",
        "Nothing that fails its CRC is answered, though it polls: a known collar uses the address, and what is not bound "
        "is damaged wherever it comes from. The live fix cannot be decoded as far as its CRC.")
    for number, place in enumerate((3, 4, len(good) // 2, len(good) - 1)):
        check_failed.at(30 + 5 * number, changed(good, place, good[place] ^ 4))
    identity, probe = bare(STRANGER.identity(1)), bare(A.probe(2, 5))
    check_failed.at(50, changed(identity, 7, identity[7] ^ 1)).at(55, changed(probe, 10, probe[10] ^ 1))
    check_failed.at(60, changed(bare(A.live(2, 0, 3)), 3, 1))

    header = heard(
        "Frames that poll and whose header is wrong: another version, critical flags, sealed without a key, unknown types, each with a right CRC.",
        "The header is looked at before the CRC: each is dropped and not answered, at whatever address.")
    headers = ((0x42, 3, 17), (0xE2, 3, 44), (0x22, 0x83, 17), (0x22, 0x43, 44), (0x22, 0x23, 17), (0x20, 3, 17), (0x3C, 3, 44),
               (0x2E, 3, 17), (0x35, 3, 17), (0x3E, 3, 17), (0x3F, 3, 44))
    for number, (first, flags, address) in enumerate(headers):
        body = bytes([first, flags, address]) + good[3:-3]
        header.at(30 + 5 * number, stuff(body + frames.check_bytes(body, A.log)))

    payload = heard(
        "Frames that poll, whose CRC is right and whose payload is not.",
        "Each is dropped and not answered: cut payloads, a byte behind the last field, padding that is not zero, a source "
        "that is invalid, a next sequence below the oldest.")
    whole = good[4:-3]
    payloads = [with_payload(2, b"", 3), with_payload(2, whole[:-1], 3), with_payload(2, whole + b"\0", 3),
                with_payload(9, b"\x04\0\0\0\0\xff", 3), with_payload(2, bytes([whole[0] | 3]) + whole[1:], 3),
                with_payload(1, bytes(12) + b"\0\0\0\1" b"\0\0\0\2" + bytes(16), 3, log=None)]
    for number, serial in enumerate(payloads):
        payload.at(30 + 5 * number, serial)
    return {
        "check-fails": check_failed.at(70, *later).stored(A, 1).rejected(check_failed=7).ends(A, 2),
        "check-fails-address": heard(
            "The address of a frame that polls is damaged.",
            "It fits no known log, and nobody is known at the address 99: it counts as a frame of an unknown collar, and is "
            "answered with an identity request.")
        .at(30, changed(good, 2, 99), who_at(99)).at(40, *later)
        .stored(A, 1).rejected(unknown_collar=1).ends(A, 2),
        "header-wrong": header.at(90, *later).stored(A, 1)
        .rejected(unsupported_version=2, critical_flags=2, not_opened=1, unknown_type=6).ends(A, 2),
        "payload-wrong": payload.at(80, *later).stored(A, 1)
        .rejected(truncated=2, trailing_bytes=1, nonzero_padding=1, invalid_field=2).ends(A, 2),
        "flags-ignored": heard(
            "Flags that are not critical and not known are set.",
            "They are ignored; the poll beside them counts.")
        .at(30, stuff(frames.assemble(0x22, 0x1B, 17, good[3], whole, A.log)), A.acknowledged(3, 2))
        .stored(A, 1).ends(A, 2),
        "burst-damaged": heard(
            "Of a burst of five one frame is damaged, one cut, one lost; all come again.",
            "1 and 5 arrive; 2 fails its CRC, 3 is cut in half by the frame behind it, 4 does not arrive.")
        .at(30, A.fix(1) + changed(bare(A.fix(2)), 9, 0x77) + A.fix(3)[:14] + A.fix(5, 3), A.acknowledged(3, 2, [(5, 5)]))
        .at(40, A.fix(2) + A.fix(3) + A.fix(4, 4), A.acknowledged(4, 6))
        .stored(A, 1, 5, 2, 3, 4).rejected(check_failed=1, stuffing=1).ends(A, 6),
    }


def noise():
    """Bytes that are no frame at all."""
    return {
        "noise-first": Session(
            "Noise stands before the first delimiter and between the first frames.",
            "What stands before the first delimiter is treated like what stands between two: ff begins a block that "
            "reaches beyond the delimiter. 03 11 22 is a frame of 2 bytes, 01 one of none.")
        .at(20, b"\xff\x13\x37" + A.identity(1) + b"\x03\x11\x22" + A.fix(0, 2) + b"\x01\0", A.acknowledged(2, 1))
        .stored(A, 0).rejected(stuffing=1, too_short=2).ends(A, 1),
        "noise-lengths": heard(
            "Between good frames: 255 bytes rightly and wrongly stuffed, 254 wrongly stuffed, 2000 bytes, six bytes decoded.",
            "More than 254 bytes are too long, however they are stuffed; 254 are looked at.")
        .at(30, b"\x01" * 255 + A.fix(1) + b"\xff" * 255 + A.fix(2) + b"\xff" * 254 + A.fix(3) + b"\x55" * 2000 + A.fix(4)
            + b"\x07\x22\x22\x22\x22\x22\x22" + A.fix(5, 3), A.acknowledged(3, 6))
        .stored(A, 1, 2, 3, 4, 5).rejected(too_long=3, stuffing=1, too_short=1).ends(A, 6),
        "noise-long-in-pieces": heard(
            "300 bytes without a delimiter arrive in three steps; the next frame is good.",
            "They are one piece and one fault, counted when its delimiter comes.")
        .at(30, b"\x66" * 100).at(35, b"\x66" * 100).at(40, b"\x66" * 100)
        .at(45, A.fix(1, 3), A.acknowledged(3, 2))
        .stored(A, 1).rejected(too_long=1).ends(A, 2),
        "noise-in-frames": heard(
            "A frame loses a byte, then gains one, then has a delimiter inside.",
            "A lost byte makes the last block reach beyond the delimiter. A byte 05 behind the last block is a block that "
            "does, too. The delimiter inside makes two pieces, and both reach beyond their delimiters.")
        .at(30, PLAIN[:8] + PLAIN[9:]).at(35, PLAIN[:-1] + b"\x05\0").at(40, PLAIN[:8] + b"\0\x05\x11\0")
        .at(45, PLAIN, A.acknowledged(3, 2))
        .stored(A, 1).rejected(stuffing=4).ends(A, 2),
        "zero-bytes": heard(
            "Many delimiters, and frames that share one.",
            "Nothing between two delimiters is nothing.")
        .at(30, bytes(300) + A.fix(1)[:-1] + A.fix(2)[:-1] + A.fix(3, 3) + bytes(7), A.acknowledged(3, 4))
        .stored(A, 1, 2, 3).ends(A, 4),
    }


PLAIN = A.fix(1, 3)


def cuts():
    """Steps that end inside a frame."""
    bytewise = Session(
        "An identity and a fix that poll arrive byte by byte.",
        "A frame is there when its second delimiter is, and the answer goes out then.")
    line = A.identity(1) + A.fix(0, 2)
    identity_end = len(A.identity(1))
    for place in range(len(line)):
        answers = {identity_end - 1: [A.acknowledged(1, 0)], len(line) - 1: [A.acknowledged(2, 1)]}.get(place, [])
        bytewise.at(20 + place, line[place:place + 1], *answers)

    everywhere = heard(
        "Fixes that poll, each cut in two steps at another place.",
        "The first step holds no whole frame; the second completes it. The last delimiter alone completes the last.")
    size = len(A.fix(1, 1))
    for place in range(1, size):
        poll = place % 7 + 1
        serial = A.fix(place, poll)
        everywhere.at(30 + 2 * place, serial[:place]).at(31 + 2 * place, serial[place:], A.acknowledged(poll, place + 1))
        if len(serial) != size:
            raise AssertionError("the frames differ in length")
    return {
        "bytewise": bytewise.stored(A, 0).ends(A, 1),
        "cut-everywhere": everywhere.stored(A, *range(1, size)).ends(A, size),
        "cut-across-frames": heard(
            "Steps that end inside a frame and begin inside one; two polls are completed by different steps.",
            "The first step completes fix 1, the second fix 2 with its poll, the third fix 3 with its own.")
        .at(30, A.fix(1) + A.fix(2, 3)[:9])
        .at(35, A.fix(2, 3)[9:] + A.fix(3, 4)[:20], A.acknowledged(3, 3))
        .at(40, A.fix(3, 4)[20:], A.acknowledged(4, 4))
        .stored(A, 1, 2, 3).ends(A, 4),
        "delimiter-late": heard(
            "The delimiter behind a frame that polls comes later; the next one has no delimiter of its own in front.",
            "Before the delimiter there is no frame. The two frames share it.")
        .at(30, A.fix(1, 3)[:-1]).at(40, b"\0", A.acknowledged(3, 2))
        .at(50, A.fix(2, 4)[1:], A.acknowledged(4, 3))
        .stored(A, 1, 2).ends(A, 3),
    }


def sessions():
    """All these sessions by name."""
    return {**unknown_collars(), **damage(), **noise(), **cuts()}
