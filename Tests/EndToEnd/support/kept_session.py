"""A subscriber with a kept session that confirms a message only when it has it for good.

(mosquitto_sub confirms a message before it prints it. So it would lose messages if it were killed.)
"""

import json
import socket
import struct
import threading
import time


def _field(data):
    return struct.pack(">H", len(data)) + data


def _packet(kind, body):
    length, digits = len(body), b""
    while True:
        length, digit = divmod(length, 128)
        digits += bytes([digit | (0x80 if length else 0)])
        if not length:
            return bytes([kind]) + digits + body


class KeptSession:
    """A subscriber of one topic filter, with QoS 1. It connects again whenever its connection breaks."""

    def __init__(self, port, topic):
        self._port, self._topic = port, topic.encode()
        # The payloads that came, in their order, and the ids of those that are lines of JSON.
        self.payloads = []
        self.ids = set()
        self.connection_count = 0
        self._socket = None
        self._ready, self._stopped = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        if not self._ready.wait(10):
            raise AssertionError("the broker does not take a subscription")

    def break_connection(self):
        """Ends the connection at once: what is not yet confirmed comes again."""
        connection = self._socket
        if connection:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        """Ends the subscriber. The broker keeps its session."""
        self._stopped.set()
        self.break_connection()
        self._thread.join(5)

    def _run(self):
        while not self._stopped.is_set():
            try:
                with socket.create_connection(("127.0.0.1", self._port), 5) as self._socket:
                    self._socket.settimeout(None)
                    self._receive(self._socket.makefile("rb"))
            except (OSError, EOFError):
                time.sleep(0.02)
            finally:
                self._socket = None

    def _receive(self, stream):
        # Protocol 3.1.1; no flag is set, so the session is kept; no keep-alive.
        self._socket.sendall(_packet(0x10, _field(b"MQTT") + b"\x04\x00\x00\x00" + _field(b"kept")))
        while True:
            kind, body = self._read_packet(stream)
            if kind >> 4 == 2:
                if body[1]:
                    raise AssertionError(f"the broker refuses the connection: {body[1]}")
                self.connection_count += 1
                self._socket.sendall(_packet(0x82, b"\x00\x01" + _field(self._topic) + b"\x01"))
            elif kind >> 4 == 9:
                self._ready.set()
            elif kind >> 4 == 3:
                self._take(kind, body)

    def _take(self, kind, body):
        start = 2 + struct.unpack_from(">H", body)[0]
        has_number = kind & 6 != 0
        payload = body[start + 2 * has_number:]
        self.payloads.append(payload)
        self.ids.add(json.loads(payload)["id"])
        if has_number:
            self._socket.sendall(_packet(0x40, body[start:start + 2]))

    def _read_packet(self, stream):
        def read(count):
            data = stream.read(count)
            if len(data) < count:
                raise EOFError
            return data
        kind, length, shift = read(1)[0], 0, 0
        while True:
            digit = read(1)[0]
            length |= (digit & 0x7F) << shift
            shift += 7
            if digit < 0x80:
                return kind, read(length)
