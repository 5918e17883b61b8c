"""A serial line made of a pseudo-terminal, with the test at the radio's end."""

import os
import select
import termios
import threading
import tty

from ordinary_user import give_to_ordinary_user


class SerialLine:
    """Programs open `path`; `master` is the radio's end."""

    def __init__(self, ordinary=True):
        self.master, slave = os.openpty()
        # A pseudo-terminal echoes until it is raw: the bytes of the radio would come back to the radio.
        tty.setraw(slave, termios.TCSANOW)
        self.path = os.ttyname(slave)
        if ordinary:
            give_to_ordinary_user(self.path)
        # Kept open: while no process has the slave open, the master reports a hang-up.
        self.slave = slave

    def leave(self):
        """Closes the slave: from now on the master reports a hang-up while no program has the slave open."""
        if self.slave is not None:
            os.close(self.slave)
            self.slave = None

    def close(self):
        self.leave()
        os.close(self.master)


class Bridge:
    """Carries bytes both ways between the radio's end of a line and a simulated collar at another terminal."""

    def __init__(self, master, collar_path):
        self._master = master
        self._collar = os.open(collar_path, os.O_RDWR | os.O_NOCTTY)
        tty.setraw(self._collar, termios.TCSANOW)
        self._wake, self._stop = os.pipe()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while True:
            ready, _, _ = select.select([self._master, self._collar, self._wake], [], [])
            if self._wake in ready:
                return
            try:
                for source, target in ((self._master, self._collar), (self._collar, self._master)):
                    if source in ready:
                        os.write(target, os.read(source, 4096))
            except OSError:
                return

    def close(self):
        os.write(self._stop, b"x")
        self._thread.join(5)
        for descriptor in (self._wake, self._stop, self._collar):
            os.close(descriptor)


def drain(master):
    """Reads everything that waits at the radio's end."""
    received = b""
    while select.select([master], [], [], 0)[0]:
        received += os.read(master, 65536)
    return received
