"""Many collars at many radios: each collar makes one fix a second, polls with it, and sends again what is not acknowledged."""

import heapq
import os
import random
import selectors
import socket
import time

from serial_line import SerialLine

import frames
from session_parts import Collar
from wire import ProtocolError, SerialDecoder

ACKNOWLEDGEMENT, IDENTITY_REQUEST, EVERYBODY = 16, 17, 255
# Seconds after which a fix is sent again, and the most fixes that are sent at once.
PATIENCE, BURST = 2.5, 8


class TrackingCollar(Collar):
    """A collar that makes one fix a second."""

    def __init__(self, number):
        super().__init__(0xC0_0000 + number, 1000 + number, 1 + number)
        self.made = 0
        self.first_missing = 0
        self.acknowledgement_count = 0
        self.poll_count = 0
        self._sent = {}
        self._poll = 0

    @property
    def is_done(self):
        return self.first_missing == self.made

    def burst(self, now):
        """The frames with the fixes that are due, the last one with a poll."""
        due = [one for one in range(self.first_missing, self.made) if now - self._sent.get(one, 0) >= PATIENCE][:BURST]
        if not due:
            return b""
        self._poll = self._poll % 7 + 1
        self.poll_count += 1
        self._sent.update((one, now) for one in due)
        return b"".join(self.fix(one, self._poll if one == due[-1] else 0) for one in due)

    def hear(self, frame):
        """The bytes with which the collar answers a frame of the host."""
        if frame[0] & 0x1F == IDENTITY_REQUEST:
            return self.identity(following=self.made)
        try:
            answer = frames.decode(frame, self.log).decoded
        except ProtocolError:
            return b""
        self.acknowledgement_count += 1
        for one in range(self.first_missing, answer["first_missing"]):
            self._sent.pop(one, None)
        self.first_missing = max(self.first_missing, answer["first_missing"])
        return b""


class NetworkRadio:
    """A radio that passes on over TCP what its collars send."""

    def __init__(self, selector, hear):
        self._selector, self._hear = selector, hear
        self._connection = self._listener = None
        self._address = ("127.0.0.1", 0)
        self.connection_count = 0
        self.begin()
        self.port = f"tcp://127.0.0.1:{self._address[1]}"

    @property
    def is_connected(self):
        return self._connection is not None

    def on_frame(self, hear):
        """Calls `hear` with each frame of the host, instead of the collars."""
        self._hear = lambda _, frame: hear(frame)

    def begin(self):
        """The radio's machine returns."""
        self._listener = socket.create_server(self._address, backlog=8)
        self._listener.setblocking(False)
        self._address = self._listener.getsockname()
        self._selector.register(self._listener, selectors.EVENT_READ, self._accept)

    def end(self):
        """The radio's machine is gone."""
        self._hang_up()
        if self._listener:
            self._selector.unregister(self._listener)
            self._listener.close()
            self._listener = None

    def _accept(self):
        self._hang_up()
        self._connection, _ = self._listener.accept()
        self._connection.setblocking(False)
        self._connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._decoder = SerialDecoder()
        self._selector.register(self._connection, selectors.EVENT_READ, self._read)
        self.connection_count += 1

    def _read(self):
        try:
            data = self._connection.recv(65536)
        except OSError:
            data = b""
        if not data:
            return self._hang_up()
        for frame in self._decoder.feed(data):
            self._hear(self, frame)

    def send(self, data):
        if self._connection:
            try:
                self._connection.send(data)
            except OSError:
                self._hang_up()

    def _hang_up(self):
        if self._connection:
            self._selector.unregister(self._connection)
            self._connection.close()
            self._connection = None

    def close(self):
        self.end()


class LineRadio:
    """A radio at a pseudo-terminal of this machine. While it is away, it hears nothing."""

    def __init__(self, selector, hear):
        self._selector, self._hear = selector, hear
        self._line = SerialLine()
        self._decoder = SerialDecoder()
        self.port = self._line.path
        self.connection_count = 1
        os.set_blocking(self._line.master, False)
        selector.register(self._line.master, selectors.EVENT_READ, self._read)

    is_connected = True

    def _read(self):
        for frame in self._decoder.feed(os.read(self._line.master, 65536)):
            self._hear(self, frame)

    def send(self, data):
        os.write(self._line.master, data)

    def close(self):
        self._selector.unregister(self._line.master)
        self._line.close()


class Field:
    """Collars and the radios that hear them.

    If `kind` is LineRadio, one radio hears all collars. Otherwise each collar is heard by `neighbours` radios, and there are
    as many radios as collars.
    """

    def __init__(self, kind, collar_count, neighbours=1, seed=1):
        self._random = random.Random(seed)
        self._selector = selectors.DefaultSelector()
        self._due = []
        self.collars = [TrackingCollar(number) for number in range(collar_count)]
        count = 1 if kind is LineRadio else collar_count
        self.radios = [kind(self._selector, self._hear) for _ in range(count)]
        self._reach = [[self.radios[(number + step) % count] for step in range(min(neighbours, count))]
                       for number in range(collar_count)]
        self._heard_by = {id(radio): [number for number, reach in enumerate(self._reach) if radio in reach]
                          for radio in self.radios}
        self._away = set()
        self.outage_count = 0

    @property
    def is_connected(self):
        return all(radio.is_connected for radio in self.radios)

    @property
    def is_done(self):
        return all(collar.is_done for collar in self.collars)

    @property
    def made(self):
        return sum(collar.made for collar in self.collars)

    def watch(self, descriptor, read):
        """Calls `read` while the field runs and the descriptor is readable."""
        self._selector.register(descriptor, selectors.EVENT_READ, read)

    def forget(self, descriptor):
        self._selector.unregister(descriptor)

    def _hear(self, radio, frame):
        for number in self._heard_by[id(radio)]:
            collar = self.collars[number]
            if number not in self._away and frame[2] in (collar.address, EVERYBODY):
                self._send(number, collar.hear(frame))

    def _send(self, number, data):
        if data and number not in self._away:
            for radio in self._reach[number]:
                radio.send(data)

    def silence(self, numbers):
        """Some collars are not heard from now on."""
        self._away.update(numbers)

    def introduce(self, numbers):
        """Some collars send their identities."""
        for number in numbers:
            self.collars[number].poll_count += 1
            self._send(number, self.collars[number].identity(poll=1))

    def run(self, seconds, is_over=lambda: False):
        """Carries bytes for a time, or until a condition holds. Returns whether it holds."""
        deadline = time.monotonic() + seconds
        while not is_over():
            now = time.monotonic()
            if now >= deadline:
                return False
            while self._due and self._due[0][0] <= now:
                heapq.heappop(self._due)[2]()
            until = min([deadline] + [each[0] for each in self._due[:1]])
            for key, _ in self._selector.select(max(0, until - time.monotonic())):
                key.data()
        return True

    def _at(self, moment, action):
        heapq.heappush(self._due, (moment, self._random.random(), action))

    def track(self, fixes):
        """From now on each collar makes `count` fixes, one a second, each at its own moment of the second."""
        for number in range(len(self.collars)):
            self._tick(number, time.monotonic() + self._random.random(), self.collars[number].made + fixes)

    def _tick(self, number, moment, limit):
        def tick():
            collar = self.collars[number]
            if collar.made < limit:
                collar.made += 1
            if collar.made < limit or not collar.is_done:
                self._tick(number, moment + 1, limit)
            self._send_due(number)
        self._at(moment, tick)

    def _send_due(self, number):
        if number not in self._away:
            self._send(number, self.collars[number].burst(time.monotonic()))

    def drop_out(self, per_second, seconds):
        """From now on radios are lost at random for one to four seconds. A radio of many collars loses one of them."""
        moment, end = time.monotonic(), time.monotonic() + seconds
        while (moment := moment + self._random.expovariate(per_second)) < end:
            self._outage(self._random.randrange(len(self.collars)), moment, self._random.uniform(1, 4))

    def _outage(self, number, moment, seconds):
        radio = self.radios[number % len(self.radios)]

        def begin():
            if number in self._away:
                return
            self.outage_count += 1
            self._away.add(number)
            if isinstance(radio, NetworkRadio):
                radio.end()
            self._at(moment + seconds, end)

        def end():
            self._away.discard(number)
            if isinstance(radio, NetworkRadio):
                radio.begin()
        self._at(moment, begin)

    def close(self):
        for radio in self.radios:
            radio.close()
        self._selector.close()
