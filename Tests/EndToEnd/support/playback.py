"""Captures that a test writes: `--read` plays them in virtual time, so that hours of a receiver take no time."""

import json
import struct
import subprocess
import sys

from captures import block
from end_to_end import BINARY, ROOT, child_environment

import capture
from capture import BEGAN, DUE, OPENED, READ

START = 1_700_000_000  # the time of day at the first record, in seconds since 1970
RECEIVER = 0x0BADCAFE


class Playback:
    """What happens at the ports of a receiver, and when."""

    def __init__(self, port="radio"):
        section = struct.pack("<4sHHq", b"\x4d\x3c\x2b\x1a", 1, 0, -1) + option(4, b"collar-link") + option(0)
        self._port = port
        self._parts = [block(capture.SECTION, section)]
        self._interfaces = []
        self._round = 0
        self.now = 0.0
        self._note(BEGAN, "collar-link", b"receiver=%d\n" % RECEIVER)
        self.happens(OPENED)

    def wait(self, seconds):
        """Time passes, and the receiver does what is due at its end."""
        self.now += seconds
        self._note(DUE, "collar-link")
        return self

    def receive(self, data, port=None):
        """Bytes of a radio come in."""
        self._note(READ, port or self._port, data)
        return self

    def happens(self, event, port=None):
        self._note(event, port or self._port, b"report=now\nkind=remote\ndialect=serial\n" if event == OPENED else b"")
        return self

    def _note(self, event, port, content=b""):
        if port not in self._interfaces:
            self._interfaces.append(port)
            described = option(capture.INTERFACE_NAME, port.encode()) + option(capture.RESOLUTION, capture.MICROSECONDS) + option(0)
            self._parts.append(block(capture.INTERFACE, struct.pack("<HHI", capture.LINK_TYPE, 0, 0) + described))
        self._round += 1
        time = round(1e6 * (START + self.now))
        record = struct.pack(">BBHq", capture.RECORD_VERSION, event, self._round & 0xFFFF, time // 1000) + content
        flags = option(capture.FLAGS, struct.pack("<I", capture.INBOUND)) + option(0) if event == READ else b""
        self._parts.append(block(capture.PACKET, struct.pack(
            "<IIIII", self._interfaces.index(port), time >> 32, time & 0xFFFFFFFF, len(record), len(record)) + padded(record) + flags))

    def play(self, *arguments, code=0):
        """Runs a receiver on it. Returns its lines as objects, and its messages."""
        done = subprocess.run([BINARY, "--read", "-", *arguments], input=b"".join(self._parts), capture_output=True, check=False,
                              timeout=60, env=child_environment())
        assert done.returncode == code, done.stderr.decode()
        return [json.loads(line) for line in done.stdout.splitlines()], done.stderr.decode().splitlines()


def padded(data):
    return data + bytes(-len(data) % 4)


def option(code, value=b""):
    return struct.pack("<HH", code, len(value)) + padded(value)
