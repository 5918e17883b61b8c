"""A GNSS receiver at a port of an emulated board. It has the supply of the board."""

import threading
import time

from gnss_bytes import FakeReceiver


class EmulatedReceiver(threading.Thread):
    """Plays a track, a fix each `interval` seconds with the time of this machine, for as long as it is not closed."""

    def __init__(self, port, fixes, interval=1.0):
        super().__init__(daemon=True)
        self._port, self._fixes, self._interval = port, fixes, interval
        self._receiver = FakeReceiver()
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        # What it has said to the board, by time in ms.
        self.sent = {}
        port.receive = self._obey

    def _obey(self, data):
        with self._lock:
            self._port.write(self._receiver.receive(data))

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
                data = self._receiver.bytes_of(moved)
                if data:
                    self.sent[moved["ts_unix_ms"]] = moved
                    self._port.write(data)

    def close(self):
        self._stopped.set()
        self.join(5)
