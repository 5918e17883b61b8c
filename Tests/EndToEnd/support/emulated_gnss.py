"""A GNSS receiver at a port of an emulated board, which switches its supply."""

import threading
import time

from board_pins import ON
from gnss_bytes import FakeReceiver


class EmulatedReceiver(threading.Thread):
    """Plays a track, a fix each `interval` seconds with the time of this machine, for as long as it is not closed."""

    def __init__(self, board, fixes, interval=1.0):
        super().__init__(daemon=True)
        self._pins, self._port, self._fixes, self._interval = board.pins, board.ports[1], fixes, interval
        self._receiver = FakeReceiver()
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        # What it has said to the board, by time in ms.
        self.sent = {}
        self._port.receive = self._obey

    def _obey(self, data):
        with self._lock:
            if self._is_on():
                self._port.write(self._receiver.receive(data))

    def _is_on(self):
        """Whether it has its supply. Without it, it forgets its configuration."""
        is_on = self._pins.supply == ON
        if not is_on and self._receiver.is_configured:
            self._receiver.restart()
        return is_on

    def set_antenna(self, state):
        """Changes the state of the antenna."""
        with self._lock:
            self._receiver.antenna = state

    def power_was_cut(self):
        """Forgets its configuration."""
        with self._lock:
            self._receiver.restart()

    def run(self):
        due = time.monotonic()
        for fix in self._fixes:
            if self._stopped.wait(max(0, due - time.monotonic())):
                return
            due += self._interval
            moved = {**fix, "ts_unix_ms": int(time.time() * 1000)}
            with self._lock:
                data = self._receiver.bytes_of(moved) if self._is_on() else b""
                if data:
                    self.sent[moved["ts_unix_ms"]] = moved
                    self._port.write(data)

    def close(self):
        self._stopped.set()
        self.join(5)
