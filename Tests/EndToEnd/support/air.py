"""The air between emulated boards: half duplex, with airtime, losses and collisions.

Each radio is a port that carries packets as a serial line carries frames (sections 4 and 17 of PROTOCOL.md): what a board
writes goes on the air at once, and what it hears comes after its airtime, at a base radio with a signal report.
"""

import heapq
import math
import random
import threading
import time

from module_at_line import ProtocolError, SerialDecoder, stuff, with_report


def airtime(count, spreading_factor):
    """Seconds that a LoRa packet takes at 125 kHz, 4/5, with a preamble of 8 symbols, explicit header and CRC (Semtech
    AN1200.13, section 4)."""
    symbol = 2 ** spreading_factor / 125_000
    reduced = 2 if spreading_factor > 10 else 0
    blocks = math.ceil((8 * count - 4 * spreading_factor + 28 + 16) / (4 * (spreading_factor - reduced)))
    return (8 + 4.25 + 8 + max(blocks, 0) * 5) * symbol


class Transmission:
    """A packet on the air."""

    def __init__(self, radio, packet, start, end):
        self.radio, self.packet, self.start, self.end = radio, packet, start, end
        self.is_destroyed = False

    def __lt__(self, other):
        return self.end < other.end


class AirRadio:
    """The radio of one board. `signal` is the signal that it reports of each packet, or None if it reports none."""

    def __init__(self, air, port, signal=None):
        self.port, self.signal = port, signal
        self.sent = self.heard = 0
        self._decoder = SerialDecoder()
        port.receive = lambda data: air.send(self, self._decoder.feed(data))

    def hear(self, packet):
        self.heard += 1
        self.port.write(with_report(packet, self.signal) if self.signal else stuff(packet))


class Air:
    """Radios within reach of one another."""

    def __init__(self, spreading_factor, loss, seed):
        self.radios = []
        self.sent = self.lost = self.collided = 0
        self._spreading_factor, self._loss = spreading_factor, loss
        self._random = random.Random(seed)
        self._on_air = []
        self._changed = threading.Condition()
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def add(self, port, signal=None):
        self.radios.append(AirRadio(self, port, signal))

    def send(self, radio, packets):
        """Puts packets on the air, one after the other."""
        with self._changed:
            start = time.monotonic()
            for packet in packets:
                # A power cut can cut a packet on its way to the radio.
                if isinstance(packet, ProtocolError):
                    continue
                start = max([start] + [other.end for other in self._on_air if other.radio is radio])
                new = Transmission(radio, packet, start, start + airtime(len(packet), self._spreading_factor))
                for other in self._on_air:
                    if other.radio is not radio and other.start < new.end and new.start < other.end:
                        other.is_destroyed = new.is_destroyed = True
                heapq.heappush(self._on_air, new)
                self.sent += 1
            self._changed.notify_all()

    def power_was_cut(self, ports):
        """A packet ends early if the power of its radio, which is at one of these ports, is cut."""
        with self._changed:
            for each in self._on_air:
                if each.radio.port in ports:
                    each.is_destroyed = True

    def _run(self):
        with self._changed:
            while not self._is_closed:
                now = time.monotonic()
                while self._on_air and self._on_air[0].end <= now:
                    self._arrive(heapq.heappop(self._on_air))
                self._changed.wait(self._on_air[0].end - now if self._on_air else None)

    def _arrive(self, packet):
        if packet.is_destroyed:
            self.collided += 1
        elif self._random.random() < self._loss:
            self.lost += 1
        else:
            for radio in self.radios:
                if radio is not packet.radio:
                    radio.hear(packet.packet)

    def close(self):
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        self._thread.join(5)
