"""The firmware of the emulated board under QEMU, with a LoRa radio that hears packets of others before it sends. The time of the board is
in the hands of the test."""

import unittest

from air import airtime
from firmware_case import FirmwareTest
from held_time import HeldTime
from listener import Listener
from wire import ProtocolError, SerialDecoder, stuff

SPREADING_FACTOR = 7
TURNAROUND = 0.3
SENSING = TURNAROUND + 5 * 2 ** SPREADING_FACTOR / 125_000
EXCHANGE = airtime(29, SPREADING_FACTOR) + TURNAROUND + airtime(18, SPREADING_FACTOR)
# The processor takes some milliseconds to seal a frame, and about one to read a byte.
TOLERANCE = 0.03
LISTENS_BEFORE_IT_TALKS = 1 << 2


class BusyChannel:
    """The air at the radio of a collar that is not answered. Into the first sensing before each frame with an odd number comes a packet
    of another radio."""

    def __init__(self, held, packet):
        self._held, self._packet = held, packet
        self._port = held.board.ports[0]
        self._input, self._decoder = [], SerialDecoder()
        self._port.receive = self._input.append
        self._sensing_end = 0.0
        # What happened: for each sensing its begin, its end and the time of the packet or None; for each frame when it began, and it.
        self.senses, self.frames = [[]], []
        held.devices.append(self)

    def observe(self):
        now, end = self._held.now, self._held.board.pins.sensing_end
        if end != self._sensing_end:
            self._sensing_end = end
            is_busy = len(self.frames) % 2 == 1 and not self.senses[-1]
            self.senses[-1].append((now, end, now + 0.1 if is_busy else None))
            if is_busy:
                self._held.at(now + 0.1, lambda: self._port.write(stuff(self._packet)))
        data = b"".join(self._input)
        self._input.clear()
        for frame in self._decoder.feed(data):
            self.assert_frame(frame)
            self.frames.append((now, frame))
            self.senses.append([])

    @staticmethod
    def assert_frame(frame):
        if isinstance(frame, ProtocolError):
            raise AssertionError(f"the collar sent no frame: {frame}")


class ChannelTest(FirmwareTest):
    def test_sensing(self):
        """Each frame goes out when the channel was free for the time of a sensing; after a packet, the next sensing begins a random part
        of an exchange later."""
        device, key = self.random.getrandbits(64), self.random.randbytes(16)
        board = self.board("Collar", 3, device=device, address=9, key=key, spreading_factor=SPREADING_FACTOR)
        board.is_time_held = True
        board.start()
        held = HeldTime(board)
        channel = BusyChannel(held, self.random.randbytes(7))
        held.run(600, is_over=lambda: len(channel.frames) == 24)
        self.assertEqual(len(channel.frames), 24)
        identity = Listener(device, key).hear(channel.frames[0][1], 0)
        self.assertTrue(identity["fields"]["capabilities"] & LISTENS_BEFORE_IT_TALKS, identity)
        waits = []
        for number, ((start, _), senses) in enumerate(zip(channel.frames, channel.senses)):
            for begin, end, _ in senses:
                self.assertAlmostEqual(end - begin, SENSING, delta=TOLERANCE)
            self.assertAlmostEqual(start, senses[-1][1], delta=TOLERANCE)
            if number % 2 == 0:
                self.assertEqual(len(senses), 1, f"frame {number}")
                continue
            self.assertGreater(len(senses), 1, f"frame {number} went out in spite of a packet")
            waits.append(senses[1][0] - senses[0][2])
            # After a very short wait the board may still be reading the packet, which counts again.
            self.assertTrue(len(senses) == 2 or waits[-1] < TOLERANCE, f"frame {number}: {senses}")
        self.assertTrue(all(-TOLERANCE < wait < EXCHANGE + TOLERANCE for wait in waits), waits)
        # Twelve equal random waits are within a fifth of the window once in four million runs.
        self.assertGreater(max(waits) - min(waits), EXCHANGE / 5)


if __name__ == "__main__":
    unittest.main()
