"""A radio at another machine that sends what it likes, as fast as the host reads."""

import os
import random
import select
import socket
import struct
import threading
import time


import frames
from session_parts import Collar
from wire import crc24, stuff

BLOCK = 1 << 16


def repeated(piece):
    """A block of copies of some bytes."""
    return piece * max(1, BLOCK // len(piece))


def noise():
    """Blocks of random bytes."""
    source = random.Random(1)
    while True:
        yield source.randbytes(BLOCK)


def delimiters():
    """Blocks of empty frames."""
    while True:
        yield bytes(BLOCK)


def text():
    """Lines of text, as from a console."""
    while True:
        yield repeated(b"login: who are you\r\n")


def sentences():
    """Sentences of a GNSS receiver."""
    while True:
        yield repeated(b"$GPTXT,01,01,02,ANTSTATUS=OK*3B\r\n")


def statuses():
    """Lines that an AT command would get as its answer."""
    while True:
        yield repeated(b"OK\r\nERROR\r\n")


def restarts():
    """Frames with which an RNode says that it has started, after one that makes the host take it for one."""
    yield b"\xc0\x08\x46\xc0"
    while True:
        yield repeated(b"\xc0\x55\xf8\xc0")


def busy_collars():
    """Fixes of ten known collars in turn. The journal of at least one collar always waits for a commit."""
    collars = [Collar(0xB05E_0000 + number, 1, 1 + number) for number in range(10)]
    yield b"".join(collar.identity(following=40) for collar in collars)
    block = b"".join(collar.fix(sequence) for sequence in range(40) for collar in collars)
    while True:
        yield repeated(block)


def invented_collars():
    """Identities of new collars with many logs each, then frames that fit no log."""
    collars = [Collar(0xBAD0_0000 + number, 1 + log, 1 + number % 254) for number in range(60) for log in range(16)]
    for round_ in range(4):
        yield b"".join(collar.identity(following=5) for collar in collars[round_ * 240:(round_ + 1) * 240])
    source = random.Random(2)
    junk = b"".join(stuff(bytes([0x22, 0, source.randrange(1, 255), source.randrange(256)]) + source.randbytes(3)) for _ in range(8000))
    while True:
        yield junk


def unknown_probes():
    """Intact probes of collars that nobody knows, each with a poll."""
    source = random.Random(3)
    probes = b"".join(
        stuff(frames.encode(5, {"tag": source.randrange(1 << 24), "next_sequence": 7}, source.randrange(1, 255), 1)) for _ in range(4000))
    while True:
        yield probes


def sealed_junk():
    """Sealed frames at all addresses that no key opens."""
    source = random.Random(4)
    junk = b"".join(
        stuff(bytes([0x22, 0x80, address, source.randrange(256)]) + source.randbytes(12)) for address in range(1, 255)) * 16
    while True:
        yield junk


def impossible_signals():
    """Reports of signals that no receiver measures, about packets that never came."""
    def report(number):
        body = bytes([0x20 | 11, 0, 0, 0]) + number.to_bytes(3, "big") + struct.pack(">hh", 30_000, 30_000)
        return stuff(body + crc24(body).to_bytes(3, "big"))
    reports = b"".join(report(number) for number in range(4000))
    while True:
        yield reports


class HostileRadio:
    """Serves a TCP port, and sends blocks to whoever connects, as fast as the host reads or at a rate in bytes a second. What the
    host sends is read and dropped."""

    def __init__(self, blocks, closes_after=None, rate=None):
        self._blocks = blocks
        self._closes_after = closes_after
        self._rate = rate
        self._is_ended = False
        self._server = socket.create_server(("127.0.0.1", 0))
        self._server.settimeout(0.1)
        self.port = f"tcp://127.0.0.1:{self._server.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self):
        while not self._is_ended:
            try:
                client, _ = self._server.accept()
            except TimeoutError:
                continue
            with client:
                self._talk(client)

    def _talk(self, client):
        client.setblocking(False)
        source, start = self._blocks(), time.monotonic()
        rest = b""
        while not self._is_ended:
            if self._closes_after and time.monotonic() - start > self._closes_after:
                return
            rest = rest or next(source)
            readable, writable, _ = select.select([client], [client], [], 0.1)
            try:
                if readable and not client.recv(BLOCK):
                    return
                if writable and self._rate:
                    time.sleep(0.01)
                    rest = rest[client.send(rest[:self._rate // 100]):]
                elif writable:
                    rest = rest[client.send(rest):]
            except (BlockingIOError, ConnectionError):
                if not writable:
                    return

    def end(self):
        """Closes the port."""
        self._is_ended = True
        self._thread.join()
        self._server.close()


class SwallowingRelay:
    """Carries the line of a collar to two TCP ports. The sound one is slower by a millisecond. The other one passes on what the
    collar sends at once, and swallows what the host sends."""

    def __init__(self, path):
        self._line = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        self._servers = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
        self.swallowing, self.sound = (f"tcp://127.0.0.1:{server.getsockname()[1]}" for server in self._servers)
        self.swallowed = 0
        self._is_ended = False
        self._thread = threading.Thread(target=self._carry, daemon=True)
        self._thread.start()

    def _carry(self):
        clients = [None, None]
        while not self._is_ended:
            waiting = [self._line, *self._servers, *(client for client in clients if client)]
            for ready in select.select(waiting, [], [], 0.1)[0]:
                if ready is self._line:
                    data = os.read(self._line, BLOCK)
                    for index, client in enumerate(clients):
                        time.sleep(0.001 * index)
                        if client:
                            client.sendall(data)
                elif ready in self._servers:
                    client = ready.accept()[0]
                    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    clients[self._servers.index(ready)] = client
                else:
                    index = clients.index(ready)
                    data = ready.recv(BLOCK)
                    if not data:
                        clients[index] = None
                        ready.close()
                    elif index == 1:
                        os.write(self._line, data)
                    else:
                        self.swallowed += len(data)
        for each in [*self._servers, *clients]:
            if each:
                each.close()
        os.close(self._line)

    def end(self):
        """Closes the ports."""
        self._is_ended = True
        self._thread.join()
