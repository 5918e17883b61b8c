"""A host at the port of a simulated base stick, which speaks to it by hand."""

import os
import select
import termios
import time
import tty

import frames
from end_to_end import PATIENCE

IDENTITY, IDENTITY_REQUEST, EVERYBODY = 1, 17, 255


def identity_request():
    """A bare frame that asks all collars for their identities."""
    return frames.encode(IDENTITY_REQUEST, {"receiver_id": 77}, EVERYBODY)


class StickPort:
    """The host's end of the port."""

    def __init__(self, path):
        self._descriptor = os.open(path, os.O_RDWR | os.O_NOCTTY)
        tty.setraw(self._descriptor, termios.TCSANOW)
        self.received = b""

    def close(self):
        os.close(self._descriptor)

    def write(self, data):
        os.write(self._descriptor, data)

    def read(self, seconds):
        """Reads what comes within a time, or the first of it."""
        if select.select([self._descriptor], [], [], seconds)[0]:
            self.received += os.read(self._descriptor, 4096)

    def expect(self, wanted, seconds=2):
        """Waits for bytes, and forgets everything up to their end."""
        deadline = time.monotonic() + PATIENCE * seconds
        while wanted not in self.received:
            left = deadline - time.monotonic()
            if left <= 0:
                raise AssertionError(f"no {wanted!r} within {seconds} s, but {self.received!r}")
            self.read(left)
        self.received = self.received.split(wanted, 1)[1]

    def ask(self, written, wanted, seconds=2):
        """Writes bytes and waits for others."""
        self.write(written)
        self.expect(wanted, seconds)

    def ask_again(self, written, wanted, seconds):
        """Writes bytes again and again until others come."""
        deadline = time.monotonic() + seconds
        while not self.answer(written, lambda received: wanted in received):
            if time.monotonic() > deadline:
                raise AssertionError(f"no {wanted!r} within {seconds} s")

    def answer(self, written, find, seconds=1.2):
        """Writes bytes. Returns what is found in the bytes that come within a time; nothing if nothing is."""
        self.received = b""
        self.write(written)
        deadline = time.monotonic() + seconds
        while not (found := find(self.received)) and (left := deadline - time.monotonic()) > 0:
            self.read(left)
        self.received = b""
        return found

    def frames(self, seconds, enough):
        """The KISS frames that come within a time, as types with data, until a condition holds."""
        found, deadline = [], time.monotonic() + seconds
        while not enough(found):
            left = deadline - time.monotonic()
            if left <= 0:
                raise AssertionError(f"only these frames within {seconds} s: {found}")
            self.read(left)
            *whole, self.received = self.received.split(b"\xc0")
            found += [_parts(part) for part in whole if part]
        return found

    def lines(self, seconds, enough):
        """The lines that come within a time, until a condition holds."""
        found, deadline = [], time.monotonic() + seconds
        while not enough(found):
            left = deadline - time.monotonic()
            if left <= 0:
                raise AssertionError(f"only these lines within {seconds} s: {found}")
            self.read(left)
            *whole, self.received = self.received.split(b"\r\n")
            found += [line.decode() for line in whole if line]
        return found


def _parts(frame):
    """Type and data of the bytes between two delimiters."""
    data = frame.replace(b"\xdb\xdc", b"\xc0").replace(b"\xdb\xdd", b"\xdb")
    return data[0], data[1:]


def kiss_frames(received):
    """The whole KISS frames in bytes, as types with data."""
    return [_parts(part) for part in received.split(b"\xc0")[:-1] if part]


def kiss(kind, data=b""):
    """A KISS frame."""
    return b"\xc0" + (bytes([kind]) + data).replace(b"\xdb", b"\xdb\xdd").replace(b"\xc0", b"\xdb\xdc") + b"\xc0"
