"""A terminal for the output of a program, with a size, whose text is collected."""

import fcntl
import os
import pty
import struct
import termios
import threading
import tty

from end_to_end import wait_until


class Terminal:
    """Pass `descriptor` to a program as stdout or stderr, then call `started`."""

    def __init__(self, test, columns=80, rows=24):
        self._master, self.descriptor = pty.openpty()
        # Raw, so that the terminal turns no line feed into two characters.
        tty.setraw(self.descriptor, termios.TCSANOW)
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._bytes = b""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        test.addCleanup(self._close)

    def _read(self):
        while True:
            try:
                part = os.read(self._master, 4096)
            except OSError:  # what Linux gives when nobody has the other end any more
                return
            if not part:
                return
            self._bytes += part

    def _close(self):
        self.started()
        self._reader.join(5)
        os.close(self._master)

    def started(self):
        """The program has the descriptor: only it keeps the terminal open."""
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None

    @property
    def text(self):
        return self._bytes.decode()

    @property
    def lines(self):
        return self.text.splitlines()

    def wait_for_lines(self, count, seconds=15):
        wait_until(lambda: self.text.count("\n") >= count, seconds, f"{count} lines at the terminal")

    def whole_text(self):
        """The text after the end of the program."""
        self._reader.join(5)
        return self.text
