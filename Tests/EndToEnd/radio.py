"""The radio's end of a line for tests that send whatever they like."""

import os
import select
import sys
import time

from collarlink import ROOT, wait_until
from serial_line import drain

# Behind the tests' own modules: one of the reference has the same name.
sys.path.append(str(ROOT / "Protocol/reference"))
import frames  # noqa: E402
from wire import ProtocolError, SerialDecoder  # noqa: E402

ACKNOWLEDGEMENT, IDENTITY_REQUEST = 16, 17


class Radio:
    """The radio's end of a line: sends as fast as it is read, and keeps the host's frames."""

    def __init__(self, line):
        self.line = line
        self.answers = []
        self._decoder = SerialDecoder()
        os.set_blocking(line.master, False)

    def send(self, data, patience=10):
        """Sends bytes as fast as they are taken."""
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
        """Takes what the host has sent."""
        for frame in self._decoder.feed(drain(self.line.master)):
            if isinstance(frame, ProtocolError):
                raise frame
            self.answers.append(frame)

    def count(self, number):
        self.hear()
        return sum(1 for frame in self.answers if frame[0] & 0x1F == number)

    def acknowledgement(self, collar):
        """The last one that is bound to the collar's log."""
        self.hear()
        for frame in reversed(self.answers):
            try:
                if frame[0] & 0x1F == ACKNOWLEDGEMENT:
                    return frames.decode(frame, collar.log).decoded
            except ProtocolError:
                continue
        return None

    def ask(self, collar, following=0, seconds=5, ask=1):
        """Asks with a probe and waits for the acknowledgement. Returns it and how long that took, in seconds."""
        self.answers.clear()
        start = time.monotonic()
        self.send(collar.probe(following, ask))
        wait_until(lambda: self.acknowledgement(collar), seconds, "an acknowledgement")
        return self.acknowledgement(collar), time.monotonic() - start
