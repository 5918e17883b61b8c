"""Frames of the base radio about the signal of packets."""

import frames
from report_vectors import RADIO
from wire import SerialDecoder, stuff



def of_radio(number, fields):
    return stuff(frames.encode(number, fields, RADIO))


def report(packet, strength=-97, noise=-35, check=None):
    """The signal report about a packet. `packet` has the bytes of the serial line, with stuffing."""
    bare, = SerialDecoder().feed(packet)
    check = int.from_bytes(bare[-3:], "big") if check is None else check
    return of_radio(12, {"type": 12, "packet_check": check, "strength": strength, "signal_to_noise": noise})
