"""The time of an emulated board in the hands of a test, and the devices around the board that follow it.

While the board sleeps, nothing happens but at its devices; so the time jumps to what comes first: the end of the sleep, or an event of
a device. A virtual hour takes seconds, and a busy machine changes nothing.
"""

import heapq
import itertools
import math
import os
import select
import time

import frames
from air import airtime
from board_pins import OFF, ON
from gnss_bytes import FakeReceiver
from wire import ProtocolError, SerialDecoder, stuff


class HeldTime:
    """The time since the start of a board, in seconds."""

    def __init__(self, board):
        self.board = board
        self.now = self.awake = 0.0
        # Objects with a method `observe`, which is called while the board sleeps.
        self.devices = []
        self._events = []
        self._numbers = itertools.count()

    def at(self, moment, action):
        """Calls `action` at a time."""
        heapq.heappush(self._events, (moment, next(self._numbers), action))

    def run(self, end, is_over=lambda: False):
        """Lets the time pass until `end`, or until `is_over`."""
        while self.now < end and not is_over():
            question = self._question()
            asked, deadline = self.board.pins.time
            if asked < self.now:
                # A port has woken the board while it got its answer.
                self.board.pins.answer(question, self.now)
                continue
            self.awake += asked - self.now
            self.now = asked
            if not self._is_all_read():
                time.sleep(0.0001)
                continue
            for device in self.devices:
                device.observe()
            if not self._is_all_read():
                continue
            if self._events and self._events[0][0] <= self.now:
                heapq.heappop(self._events)[2]()
                continue
            if self._events:
                deadline = min(deadline, self._events[0][0])
            self.now = max(self.now, deadline)
            self.board.pins.answer(question, self.now)

    def _question(self):
        """Waits for the next question of the board."""
        limit = time.monotonic() + 60
        while (question := self.board.pins.question) is None:
            if time.monotonic() > limit:
                raise AssertionError(f"the board does not sleep, at {self.now} s")
            time.sleep(0.0001)
        return question

    def _is_all_read(self):
        """Whether the board has read all that its devices have sent, and the reverse."""
        return all(self.board.pins.counts(port.number) == (port.sent, port.received) for port in self.board.ports)


class HeldReceiver:
    """A GNSS receiver that works while it has its supply. It forgets its configuration without it, and the orbits of the satellites if
    not even the backup supply is left, or after four hours.

    `hot` and `cold` are the seconds until its first position, with and without orbits; it reads them in 30 s. Without a sky it hears a
    single satellite, and finds no position.
    """

    def __init__(self, held, unix_ms, hot=8, cold=30, has_sky=True, obeys=True, keeps_orbits=True, refused=()):
        if not has_sky:
            hot = cold = math.inf
        self._held, self._unix_ms, self._hot, self._cold = held, unix_ms, hot, cold
        self._obeys, self._keeps_orbits = obeys, keeps_orbits
        self._receiver = FakeReceiver(refused=refused)
        if not has_sky:
            self._receiver.densities = [25, 9, 0, 0]
        self._port = held.board.ports[1]
        self._input = []
        self._port.receive = self._input.append
        self._supply, self._begin, self._orbits = OFF, None, None
        # How long it had its supply, how often it was switched on, and the times of its positions.
        self.seconds, self.starts, self.sent = 0.0, 0, []
        held.devices.append(self)

    def observe(self):
        """Looks at its supply, and obeys what the board has said."""
        supply = self._held.board.pins.supply
        if supply != self._supply:
            self._switch(supply)
        data = b"".join(self._input)
        self._input.clear()
        if self._begin is not None and data:
            self._port.write(self._receiver.receive(data))
            self._receiver.is_off = self._receiver.is_off and self._obeys

    def _switch(self, supply):
        now = self._held.now
        if self._supply == ON:
            self.seconds += now - self._since
        if supply == ON:
            self.starts += 1
            self._since = now
            if self._begin is None:
                self._receiver.restart()
                self._begin = now
                has_orbits = self._keeps_orbits and self._orbits is not None and now - self._orbits < 4 * 3600
                self._search = self._hot if has_orbits else self._cold
                self._schedule(now)
        elif self._obeys:
            if now - self._begin >= 30:
                self._orbits = now
            self._begin = None
        if supply == OFF:
            self._orbits = None
        self._supply = supply

    def _schedule(self, begin, number=1):
        self._held.at(begin + number, lambda: self._speak(begin, number))

    def _speak(self, begin, number):
        if self._begin != begin:
            return
        now = self._held.now
        fix = {"ts_unix_ms": self._unix_ms + 1000 * round(now), "coordinate": {"latitude": 50 + now * 1e-5, "longitude": -5.5},
               "alt_m": 40, "h_accuracy_m": 5, "v_accuracy_m": 8, "speed_mps": 0.5, "course_deg": 0}
        is_fix = number >= self._search
        data = self._receiver.bytes_of(fix, **({} if is_fix else {"fix_type": 0, "flags": 0}))
        if data and is_fix:
            self.sent.append(fix["ts_unix_ms"])
        self._port.write(data)
        self._schedule(begin, number + 1)


class HeldRadio:
    """The radio of a collar and, at the other end of the air, a receiver at a serial line. The receiver may take its time with an answer:
    the board sleeps until it has come."""

    turnaround = 0.075

    def __init__(self, held, spreading_factor, master):
        self._held, self._spreading_factor, self._master = held, spreading_factor, master
        self._port = held.board.ports[0]
        self._packets, self._decoder, self._answers = [], SerialDecoder(), SerialDecoder()
        self._port.receive = self._packets.append
        self._end, self._last, self._heard = 0.0, 0.0, None
        # How long the radio of the collar listened, how long it had to, how long the collar then read the answers, and the number of
        # answers that the radio did not hear.
        self.listening = self.needed = self.reading = 0.0
        self.polls = self.missed = 0
        held.devices.append(self)

    def observe(self):
        """Counts how long the radio listens, and takes what the board has sent."""
        now = self._held.now
        self.listening += max(0.0, min(now, self._end) - self._last)
        self._end, self._last = self._held.board.pins.listening_end, now
        if self._heard is not None and self._end == 0:
            self.reading += now - self._heard
            self._heard = None
        data = b"".join(self._packets)
        self._packets.clear()
        for packet in self._decoder.feed(data):
            if not isinstance(packet, ProtocolError):
                self._held.at(now + airtime(len(packet), self._spreading_factor), lambda packet=packet: self._arrive(packet))

    def _arrive(self, packet):
        os.write(self._master, stuff(packet))
        if not packet[1] & frames.KNOWN_FLAGS:
            return
        self.polls += 1
        end = self._held.now + self.turnaround
        for answer in self._answer():
            start, end = end, end + airtime(len(answer), self._spreading_factor)
            self._held.at(end, lambda answer=answer, start=start, end=end: self._hear(answer, start, end))
        self.needed += end - self._held.now

    def _answer(self):
        """The packets of the receiver for a poll; an acknowledgement is the last one."""
        found = []
        limit = time.monotonic() + 20
        while not found or found[-1][0] & 0x1F != frames.ACKNOWLEDGEMENT:
            if not select.select([self._master], [], [], max(0, limit - time.monotonic()))[0]:
                raise AssertionError("the receiver does not answer a poll")
            found += [packet for packet in self._answers.feed(os.read(self._master, 4096))
                      # The frames for the stick itself do not go on the air.
                      if not isinstance(packet, ProtocolError) and packet[2] != 0]
        return found

    def _hear(self, packet, start, end):
        if self._end < start:
            self.missed += 1
            return
        self._port.write(stuff(packet))
        self._heard = end
