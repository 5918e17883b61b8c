"""The radio's end of a line, for tests that send arbitrary bytes."""

import os
import select
import time

from end_to_end import wait_until
from serial_line import drain

import frames
from wire import ProtocolError, SerialDecoder

ACKNOWLEDGEMENT, IDENTITY_REQUEST = 16, 17


class Radio:
    """The radio's end of a line: sends as fast as the host reads, and keeps the host's frames."""

    def __init__(self, line):
        self.line = line
        self.answers = []
        self._decoder = SerialDecoder()
        os.set_blocking(line.master, False)

    def send(self, data, patience=10):
        """Sends bytes as fast as the host reads them."""
        sent = 0
        while sent < len(data):
            readable, writable, _ = select.select([self.line.master], [self.line.master], [], patience)
            if not readable and not writable:
                raise AssertionError(f"the receiver does not read for {patience} s")
            if readable:
                self.hear()
            if writable:
                try:
                    sent += os.write(self.line.master, data[sent:sent + 4096])
                except BlockingIOError:
                    pass

    def hear(self):
        """Reads the frames that the host has sent."""
        for frame in self._decoder.feed(drain(self.line.master)):
            if isinstance(frame, ProtocolError):
                raise frame
            self.answers.append(frame)

    def count(self, number):
        self.hear()
        return sum(1 for frame in self.answers if frame[0] & 0x1F == number)

    def acknowledgement(self, collar):
        """The last acknowledgement that is bound to the collar's log."""
        self.hear()
        for frame in reversed(self.answers):
            try:
                if frame[0] & 0x1F == ACKNOWLEDGEMENT:
                    return frames.decode(frame, collar.log).decoded
            except ProtocolError:
                continue
        return None

    def poll(self, collar, following=0, seconds=5, poll=1):
        """Polls with a probe and waits for the acknowledgement. Returns it, and the seconds until it came."""
        self.answers.clear()
        start = time.monotonic()
        self.send(collar.probe(following, poll))
        wait_until(lambda: self.acknowledgement(collar), seconds, "an acknowledgement")
        return self.acknowledgement(collar), time.monotonic() - start
