"""The radio module of an emulated base radio, whose air is the serial line of a simulated collar."""

import os
import select
import termios
import threading
import tty

import frames
from wire import ProtocolError, SerialDecoder, stuff

BASE_RADIO, SIGNAL_REPORT = 0, 12


def with_report(packet, signal):
    """A packet as a radio module gives it to a base radio: with its signal, (dBm, tenths of dB), after it."""
    strength, noise = signal
    report = {"type": SIGNAL_REPORT, "packet_check": int.from_bytes(packet[-3:], "big"), "strength": strength,
              "signal_to_noise": noise}
    return stuff(packet) + stuff(frames.encode(SIGNAL_REPORT, report, BASE_RADIO))


class ModuleAtLine:
    """Carries packets between the port of a base radio's module and the terminal of a simulated collar."""

    def __init__(self, port, path, signal):
        self._port, self._signal = port, signal
        self._line = os.open(path, os.O_RDWR | os.O_NOCTTY)
        tty.setraw(self._line, termios.TCSANOW)
        self._decoder = SerialDecoder()
        port.receive = lambda data: os.write(self._line, data)
        self._wake, self._stop = os.pipe()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while self._wake not in select.select([self._line, self._wake], [], [])[0]:
            for packet in self._decoder.feed(os.read(self._line, 4096)):
                if not isinstance(packet, ProtocolError):
                    self._port.write(with_report(packet, self._signal))

    def close(self):
        os.write(self._stop, b"x")
        self._thread.join(5)
        for descriptor in (self._wake, self._stop, self._line):
            os.close(descriptor)
