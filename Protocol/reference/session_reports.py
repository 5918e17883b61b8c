"""Sessions with power reports, and with the reports of all settings. Name -> session."""

import frames
from frames import POWER_REPORT
from power_vectors import NONE, POWER, power_bits
from report_vectors import COMMAND, RECEIVER, SETTINGS, STATUS, defaults
from session_faults import heard, with_payload
from session_parts import A, A_ERASED, B, B_BESIDE_A, Session, who_at
from wire import stuff

COMMAND_TYPE = 20


def power(collar, poll=0, **changes):
    """A power report of this collar, stuffed for the serial line."""
    return collar.send(POWER_REPORT, {**POWER, **changes}, poll)


def power_reports():
    """Power reports that are accepted, and when they are answered."""
    return {
        "power-report-with-poll": heard(
            "Power reports with and without a poll, alone and before a fix.",
            "A power report is bound and may poll: then it is answered with an acknowledgement. It is no entry of the log.")
        .at(30, power(A, 3), A.acknowledged(3, 1))
        .at(40, power(A, mode=4, **NONE))
        .at(50, A.send(6, {**STATUS, "resting": True}) + power(A) + A.fix(1, 4), A.acknowledged(4, 2))
        .at(60, power(A, 5, mode=0, supply=0, **NONE), A.acknowledged(5, 2))
        .at(70, A.send(6, {**STATUS, "resting": True}, 6), A.acknowledged(6, 2))
        .stored(A, 1).ends(A, 2),
        "power-report-longer": heard(
            "A power report with bytes after its last field, the reserved bit set and flags that are not known.",
            "All of them are ignored: the poll counts.")
        .at(30, stuff(frames.assemble(0x2F, 0x1B, A.address, 0x5A, power_bits(reserved=(1, 1)) + b"\x55\xAA", A.log)),
            A.acknowledged(3, 1))
        .ends(A, 1),
        "power-report-of-another-receiver": Session(
            "A collar that belongs to another receiver polls with a power report.",
            "The identity names receiver 77: the host does not answer.")
        .at(20, A.identity(1, paired=77)).at(30, power(A, 2)).ends(A, 0),
        "power-report-unknown": Session(
            "Power reports of a collar that is not known, with and without a poll, and of a log that was erased and is known.",
            "The poll is answered with an identity request. The old log stays known when the new one is heard of.")
        .at(20, power(A, 2), who_at(17)).at(25, power(A))
        .at(30, A.identity(3), A.acknowledged(3, 0))
        .at(40, A_ERASED.identity(1), A_ERASED.acknowledged(1, 0))
        .at(50, power(A, 4) + power(A_ERASED, 2), A.acknowledged(4, 0), A_ERASED.acknowledged(2, 0))
        .rejected(unknown_collar=2).ends(A, 0).ends(A_ERASED, 0),
        "power-report-equal-addresses": Session(
            "Two collars with the same address poll with equal power reports.",
            "Each report fits the CRC of one log only.")
        .at(20, A.identity(1) + B_BESIDE_A.identity(1), A.acknowledged(1, 0, company=1), B_BESIDE_A.acknowledged(1, 0, company=1))
        .at(30, power(A, 2) + power(B_BESIDE_A, 3), A.acknowledged(2, 0, company=1), B_BESIDE_A.acknowledged(3, 0, company=1))
        .at(40, power(B_BESIDE_A, 4), B_BESIDE_A.acknowledged(4, 0, company=1))
        .ends(A, 0).ends(B_BESIDE_A, 0),
        "power-report-in-company": Session(
            "The last frame of a collar is a power report without a poll, at 500 s.",
            "The power report is accepted, so the collar counts until 1100 s.")
        .at(20, A.identity(1), A.acknowledged(1, 0)).at(30, B.identity(1), B.acknowledged(1, 0, company=1))
        .at(500_000, power(B))
        .at(1_000_000, A.probe(0, 2), A.acknowledged(2, 0, company=1))
        .at(1_200_000, A.probe(0, 3), A.acknowledged(3, 0))
        .ends(A, 0).ends(B, 0),
        "power-report-wrong": heard(
            "Power reports that poll: mode 6, supply 7, one byte too short, without payload, not bound to the log.",
            "Each is dropped and not answered. The last one fits no known log, and its address is known: it is damaged.")
        .at(30, with_payload(POWER_REPORT, power_bits(mode=(6, 4)), 3))
        .at(35, with_payload(POWER_REPORT, power_bits(supply=(7, 3)), 3))
        .at(40, with_payload(POWER_REPORT, power_bits()[:-1], 3))
        .at(45, with_payload(POWER_REPORT, b"", 3))
        .at(50, with_payload(POWER_REPORT, power_bits(), 3, log=None))
        .at(60, power(A, 4), A.acknowledged(4, 1))
        .rejected(invalid_field=2, truncated=2, check_failed=1).ends(A, 1),
    }


def settings_and_commands():
    """Frames of settings and commands that the host did not ask for."""
    parts = [A.send(7, {"type": 7, **SETTINGS, "entries": defaults(first, last)}, poll)
             for first, last, poll in ((1, 6, 0), (7, 12, 0), (13, 18, 0), (19, 23, 3))]
    find, report_now = ({**COMMAND, "receiver_id": receiver, "action": action, "argument": argument}
                        for receiver, action, argument in ((77, 8, 3600), (RECEIVER, 9, None)))
    return {
        "settings-of-four-frames": heard(
            "A report of all settings, in four frames of which the last polls; then the report of an update, with unknown keys.",
            "One answer serves the burst. The host asked for none of them, and answers the polls all the same.")
        .at(30, b"".join(parts), A.acknowledged(3, 1))
        .at(40, A.send(7, {"type": 7, **SETTINGS, "entries": [[16, 300_000], [24, 1], [255, 2]]}, 4), A.acknowledged(4, 1))
        .ends(A, 1),
        "commands-of-another-host": heard(
            "Commands of another host: to find, with this host's own receiver id to send a power report, and an unknown one.",
            "The host ignores frames of other hosts, and does not count an invalid one. It answers the poll of the power report.")
        .at(30, A.send(COMMAND_TYPE, find) + A.send(COMMAND_TYPE, report_now, 2))
        .at(40, with_payload(COMMAND_TYPE, bytes.fromhex("4321a1b2c3d40a"), 3))
        .at(50, A.send(8, {"request_id": 0x4321, "outcome": 0}) + power(A, 3), A.acknowledged(3, 1))
        .ends(A, 1),
    }


def sessions():
    """All these sessions by name."""
    return {**power_reports(), **settings_and_commands()}
