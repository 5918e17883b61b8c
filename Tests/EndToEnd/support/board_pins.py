"""What a test sees of an emulated board beside its ports: words in the file of its flash
(hardware/boards/qemu-mps2-an386/Sources/Board/Pins.swift)."""

import mmap
import struct

START = (2 + 256) * 4096
WORDS = 20
OFF, BACKUP, ON = range(3)


class Pins:
    """The words of one board. The file must exist for as long as the object is used."""

    def __init__(self, flash):
        with open(flash, "r+b") as file:
            self._memory = mmap.mmap(file.fileno(), 0)

    def _read(self, number, form="<I"):
        return struct.unpack_from(form, self._memory, START + 4 * number)[0]

    def _write(self, number, value, form="<I"):
        struct.pack_into(form, self._memory, START + 4 * number, value)

    def clear(self, is_time_held):
        """What the words are before the board starts."""
        self._memory[START:START + 4 * WORDS] = bytes(4 * WORDS)
        self._write(0, int(is_time_held))

    @property
    def supply(self):
        """The supply of the GNSS receiver: OFF, BACKUP or ON."""
        return self._read(1)

    @property
    def listening_end(self):
        """Until when the radio listens, in seconds; 0 if it sleeps."""
        return self._read(2, "<Q") / 1e6

    @property
    def sensing_end(self):
        """Until when the radio senses the channel, or last did, in seconds; 0 if it never did."""
        return self._read(18, "<Q") / 1e6

    def counts(self, port):
        """How many bytes the board has read from a port, and written to it."""
        return self._read(4 + 2 * port), self._read(5 + 2 * port)

    @property
    def question(self):
        """The number of the board's question for the time; None while the board is awake."""
        number = self._read(10)
        return number if number != self._read(15) else None

    @property
    def time(self):
        """The time of the board when it asked, and when it wants to be woken, in seconds."""
        return self._read(11, "<Q") / 1e6, self._read(13, "<Q") / 1e6

    def answer(self, question, seconds):
        """Tells the board the time, and wakes it."""
        self._write(16, round(seconds * 1e6), "<Q")
        self._write(15, question)

    def close(self):
        self._memory.close()
