"""A machine in the network that passes on over TCP what a radio at a pseudo-terminal says."""

import os
import random
import select
import socket
import termios
import threading
import time
import tty


class NetworkBridge:
    """Listens at a port that stays the same. It has one connection at a time; a new one takes the place of the old one.

    `piece` is the most bytes that it passes on at once, each piece after a random delay: such pieces are what bridges of
    Bluetooth LE make of a line. Bytes take half of `delay`, in seconds, in each direction. With `hangs_up` it closes every connection
    at once.
    """

    def __init__(self, path=None, piece=None, delay=0, hangs_up=False, host="127.0.0.1"):
        self._path, self._piece, self._hangs_up = path, piece, hangs_up
        self._random = random.Random(1)
        self._delay = delay
        # Bytes under way: when they arrive, and what writes them.
        self._under_way = []
        self._family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.create_server((host, 0), family=self._family) as found:
            self._address = found.getsockname()
        self.port = f"tcp://{f'[{host}]' if ':' in host else host}:{self._address[1]}"
        # When connections were made.
        self.calls = []
        self._thread = None
        self.begin()

    def begin(self):
        """The machine starts."""
        self._listener = socket.create_server(self._address, family=self._family)
        self._wake, self._stop = os.pipe()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def end(self):
        """The machine is gone, and so are its connections."""
        if self._thread:
            os.write(self._stop, b"x")
            self._thread.join(5)
            self._thread = None
            for descriptor in (self._wake, self._stop):
                os.close(descriptor)

    def _run(self):
        radio, peer = None, None
        if self._path:
            radio = os.open(self._path, os.O_RDWR | os.O_NOCTTY)
            tty.setraw(radio, termios.TCSANOW)
        while True:
            watched = [self._wake, self._listener, *(each for each in (radio, peer) if each is not None)]
            rest = max(0, self._under_way[0][0] - time.monotonic()) if self._under_way else None
            ready, _, _ = select.select(watched, [], [], rest)
            if self._wake in ready:
                break
            if self._listener in ready:
                if peer:
                    peer.close()
                peer, _ = self._listener.accept()
                self.calls.append(time.monotonic())
                peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if self._hangs_up:
                    peer.close()
                    peer = None
                continue
            try:
                while self._under_way and self._under_way[0][0] <= time.monotonic():
                    self._under_way.pop(0)[1]()
                if radio in ready:
                    data = os.read(radio, 4096)
                    if peer:
                        self._pass(data, peer.sendall)
                if peer in ready:
                    data = peer.recv(4096)
                    if data and radio is not None:
                        self._pass(data, lambda piece: os.write(radio, piece))
                    if not data:
                        peer.close()
                        peer = None
            except ConnectionError:
                peer.close()
                peer = None
        for each in (peer, self._listener):
            if each:
                each.close()
        if radio is not None:
            os.close(radio)

    def _pass(self, data, write):
        if self._delay:
            self._under_way.append((time.monotonic() + self._delay / 2, lambda: write(data)))
            return
        while data:
            count = self._random.randint(1, self._piece) if self._piece else len(data)
            if self._piece:
                time.sleep(self._random.uniform(0, 0.012))
            write(data[:count])
            data = data[count:]
