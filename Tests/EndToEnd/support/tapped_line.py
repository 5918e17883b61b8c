"""A serial line with a listener in the middle, which notes each acknowledgement before the collars receive it."""

import os
import select
import termios
import threading
import time
import tty

from serial_line import SerialLine, drain

import frames
from wire import ProtocolError, SerialDecoder

ACKNOWLEDGEMENT, IDENTITY = 16, 1


class Promise:
    """The fixes of one log that a host has acknowledged."""

    def __init__(self):
        self.first_missing = 0
        self.above = set()

    def take(self, acknowledgement):
        """Notes the fixes that an acknowledgement names. Fails if it takes back what was acknowledged before."""
        if acknowledgement["resend"]:
            raise AssertionError(f"fixes that were acknowledged are asked for again: {acknowledgement['resend']}")
        first_missing = acknowledgement["first_missing"]
        if first_missing < self.first_missing:
            raise AssertionError(f"fix {first_missing} was acknowledged, and is missing now")
        if first_missing in self.above:
            raise AssertionError(f"fix {first_missing} was named as durable, and is missing now")
        self.first_missing = first_missing
        for first, last in acknowledgement["durable"]:
            self.above.update(range(first, last + 1))
        self.above = {sequence for sequence in self.above if sequence >= first_missing}

    def sequences(self):
        """All sequences that were acknowledged."""
        return set(range(self.first_missing)) | self.above


class TappedLine:
    """Carries bytes between the terminals of a host and of simulated collars, and decodes the frames."""

    def __init__(self):
        self.line = SerialLine()
        self.path = self.line.path
        self.promises = {}
        self.acknowledgement_count = 0
        self.failure = None
        # Called for each acknowledgement before the collars receive it.
        self.on_acknowledgement = lambda: None
        self._logs = {}
        self._from_host, self._from_collars = SerialDecoder(), SerialDecoder()
        self._collars = None
        self._is_open = False
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        os.set_blocking(self.line.master, False)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def attach(self, path):
        """Opens the terminal of the collars."""
        collars = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        tty.setraw(collars, termios.TCSANOW)
        with self._lock:
            if self._collars is not None:
                os.close(self._collars)
            self._collars = collars

    def open(self):
        """Opens the line for a host that starts. Bytes that wait from before are dropped."""
        with self._lock:
            termios.tcflush(self.line.slave, termios.TCIFLUSH)
            self._is_open = True

    def shut(self):
        """Closes the line after the end of the host and notes its last frames. Bytes of collars are dropped then."""
        with self._lock:
            self._is_open = False
            self._hear_host(drain(self.line.master))
            self._from_host = SerialDecoder()

    def close(self):
        if self._stopped.is_set():
            return
        self._stopped.set()
        self._thread.join(5)
        self.line.close()
        if self._collars is not None:
            os.close(self._collars)

    def _run(self):
        try:
            while not self._stopped.is_set():
                with self._lock:
                    collars = self._collars
                sources = [self.line.master] + ([collars] if collars is not None else [])
                ready, _, _ = select.select(sources, [], [], 0.02)
                with self._lock:
                    if self.line.master in ready:
                        self._hear_host(drain(self.line.master))
                    if collars in ready and collars == self._collars:
                        self._hear_collars()
        except AssertionError as failure:
            self.failure = failure

    def _hear_host(self, data):
        for frame in self._from_host.feed(data):
            # A host that was killed may leave half a frame.
            if not isinstance(frame, ProtocolError) and frame[0] & 0x1F == ACKNOWLEDGEMENT:
                self._note(frame)
        self._write(self._collars, data)

    def _hear_collars(self):
        try:
            data = os.read(self._collars, 65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            # The collars reboot.
            os.close(self._collars)
            self._collars = None
            return
        for frame in self._from_collars.feed(data):
            if not isinstance(frame, ProtocolError) and frame[0] & 0x1F == IDENTITY:
                self._learn(frame)
        if self._is_open:
            self._write(self.line.master, data)

    def _learn(self, frame):
        try:
            identity = frames.decode(frame).decoded
        except ProtocolError:
            return
        log = frames.Log(int(identity["device_id"], 16), identity["log_id"])
        self._logs[log] = True

    def _note(self, frame):
        for log in self._logs:
            try:
                acknowledgement = frames.decode(frame, log).decoded
            except ProtocolError:
                continue
            self.promises.setdefault(log, Promise()).take(acknowledgement)
            self.acknowledgement_count += 1
            self.on_acknowledgement()
            return

    def _write(self, descriptor, data):
        deadline = time.monotonic() + 1
        while data and descriptor is not None and time.monotonic() < deadline:
            try:
                data = data[os.write(descriptor, data):]
            except BlockingIOError:
                if descriptor == self.line.master and not self._is_open:
                    return
                select.select([], [descriptor], [], 0.01)
            except OSError:
                return
