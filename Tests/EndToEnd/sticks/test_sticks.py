"""Simulated sticks with other people's firmware: a host sets each up by hand, hears the collar and asks it something."""

import os
import signal
import unittest

from end_to_end import BINARY, TRACKS, EndToEndTest, wait_until
from sticks import IDENTITY, StickPort, frames, identity_request, kiss, kiss_frames

TRACK = TRACKS / "cats_uk/Amber-Tag.ndjson.gz"


ABSOLUTE_FIX = 2


def packets(found):
    """The packets among KISS frames."""
    return [data for kind, data in found if kind == 0]


def number_of(frame):
    """The type of a bare frame of a collar."""
    return frame[0] & 0x1F


class StickTest(EndToEndTest):
    def open(self, dialect, *arguments):
        track, _ = self.unpack(TRACK)
        collar = self.simulate(
            track, "--dialect", dialect, "--modem", "lora:SF7", "--interval", "2", "--seed", "1", *arguments)
        port = StickPort(self.link)
        self.addCleanup(port.close)
        return collar, port

    def set_up_kiss(self, port):
        port.ask(bytes.fromhex("C0 06 17 C0"), bytes.fromhex("C0 06 97 C0"))
        # 869.525 MHz, 125 kHz, SF7, 4/5.
        port.ask(bytes.fromhex("C0 06 09 08E6D333 48E80100 07 05 C0"), bytes.fromhex("C0 06 F0 C0"))
        # 51 bytes take 127 ms: the radio has taken the settings.
        port.ask(bytes.fromhex("C0 06 0F 33 C0"), bytes.fromhex("C0 06 8F 7F000000 C0"))
        port.write(bytes.fromhex("C0 05 00 C0 C0 02 FF C0 C0 01 00 C0"))

    def set_up_rnode(self, port):
        port.ask(bytes.fromhex("C0 08 73 C0"), bytes.fromhex("C0 08 46 C0"))
        port.ask(bytes.fromhex("C0 50 00 C0"), bytes.fromhex("C0 50 01 56 C0"))
        for command in ("01 33D3E608", "02 0001E848", "03 0E", "04 07", "05 05"):
            echo = bytes.fromhex(f"C0 {command} C0")
            port.ask(echo, echo)
        # The timing of the radio, and twice that it is on.
        port.ask(bytes.fromhex("C0 06 01 C0"), bytes.fromhex("C0 26 0400 03D0 0018 0019 0018 0030 C0") * 3 + bytes.fromhex("C0 06 01 C0") * 2)

    def set_up_rui3(self, port):
        port.ask(b"AT\r\n", b"OK\r\n")
        port.ask(b"AT+NWM=0\r\n", b"OK\r\n")
        port.expect(b"LoRa P2P.\r\n", 5)
        # Without this the module listens for the packets of public networks.
        port.ask(b"AT+SYNCWORD=1424\r\n", b"OK\r\n")
        port.ask(b"AT+P2P=869525000:7:0:0:8:14\r\n", b"OK\r\n")
        port.ask(b"AT+PRECV=65533\r\n", b"OK\r\n")

    def assert_log_of(self, port, heard, question, find_frames):
        """Asks all collars who they are until one answers, and checks frames with its log. A question is lost while the
        collar sends."""
        def find(received):
            return next((frame for frame in find_frames(received) if number_of(frame) == IDENTITY), None)
        answers = (port.answer(question, find) for _ in range(10))
        identity = frames.decode(next(frame for frame in answers if frame)).decoded
        log = frames.Log(int(identity["device_id"], 16), identity["log_id"])
        bound = [frame for frame in heard if number_of(frame) in (IDENTITY, ABSOLUTE_FIX)]
        self.assertGreater(len(bound), 0)
        for frame in bound:
            frames.decode(frame, log)

    def test_kiss(self):
        _, port = self.open("kiss")
        self.set_up_kiss(port)
        heard = port.frames(15, lambda found: sum(kind == 6 for kind, _ in found) >= 3)
        # The signal follows each packet.
        self.assertEqual([kind for kind, _ in heard[:6]], [0, 6] * 3)
        for _, data in heard[1:6:2]:
            self.assertEqual(data[0], 0xF9)
            self.assertIn(data[1], range(1, 40))
            self.assertIn(data[2] - 256, range(-110, -89))
        self.assert_log_of(port, packets(heard), kiss(0, identity_request()), lambda text: packets(kiss_frames(text)))

    def test_rnode(self):
        _, port = self.open("rnode")
        self.set_up_rnode(port)
        heard = port.frames(15, lambda found: sum(kind == 0 for kind, _ in found) >= 2 and any(kind == 0x25 for kind, _ in found))
        # The signal comes before each packet, and statistics about once a second.
        kinds = [kind for kind, _ in heard if kind != 0x25]
        self.assertEqual(kinds[:6], [0x23, 0x24, 0] * 2)
        self.assertIn(0x25, [kind for kind, _ in heard])
        strength = next(data for kind, data in heard if kind == 0x23)
        self.assertIn(strength[0] - 157, range(-110, -89))
        self.assert_log_of(port, packets(heard), kiss(0, identity_request()), lambda text: packets(kiss_frames(text)))

    def test_rui3(self):
        _, port = self.open("rui3")
        self.set_up_rui3(port)
        heard = port.lines(15, lambda found: len(found) >= 2)
        for line in heard:
            event, kind, strength, noise, digits = line.split(":")
            self.assertEqual((event, kind), ("+EVT", "RXP2P"))
            self.assertIn(int(strength), range(-110, -89))
            self.assertIn(int(noise), range(0, 11))
        def find_frames(text):
            return [bytes.fromhex(line.decode().split(":")[-1]) for line in text.split(b"\r\n")[:-1] if b"RXP2P" in line]
        heard = [bytes.fromhex(line.split(":")[-1]) for line in heard]
        self.assert_log_of(port, heard, f"AT+PSEND={identity_request().hex()}\r\n".encode(), find_frames)
        port.ask(b"AT+PSEND=00\r\n", b"+EVT:TXP2P DONE\r\n")

    def test_nothing_is_heard_before_the_radio_is_set(self):
        for dialect in ("kiss", "rnode"):
            with self.subTest(dialect=dialect):
                collar, port = self.open(dialect)
                with self.assertRaises(AssertionError):
                    port.frames(3, lambda found: any(kind == 0 for kind, _ in found))
                collar.stop()

    def test_a_stick_that_restarts(self):
        _, port = self.open("kiss", "--stick-fault", "reset@5")
        self.set_up_kiss(port)
        port.frames(5, lambda found: any(kind == 0 for kind, _ in found))
        # The settings that were asked for are zeros again.
        port.ask_again(bytes.fromhex("C0 06 0B C0"), b"\x06\x8b" + bytes(10), 10)

    def test_power_comes_back_with_the_plug(self):
        collar, port = self.open("rnode")
        self.set_up_rnode(port)
        collar.process.send_signal(signal.SIGUSR1)
        wait_until(lambda: not os.path.lexists(self.link), 5, "the plug is out")
        wait_until(lambda: os.path.exists(self.link), 5, "the plug is in")
        again = StickPort(self.link)
        self.addCleanup(again.close)
        again.expect(bytes.fromhex("C0 55 F8 C0"), 5)

    def test_what_does_not_go_together(self):
        track, _ = self.unpack(TRACK)
        for arguments, word in (
            (("--dialect", "kiss"), "--dialect"), (("--dialect", "rnode", "--modem", "ble"), "--dialect"),
            (("--dialect", "morse"), "--dialect"),
            (("--dialect", "rui3", "--modem", "lora:SF7", "--speed", "10"), "--speed"),
            (("--stick-fault", "refuse@3"), "--stick-fault"), (("--stick-fault", "stall"), "--stick-fault"),
            (("--dialect", "kiss", "--modem", "lora:SF7", "--stick-fault", "fire@1"), "--stick-fault"),
        ):
            with self.subTest(arguments=arguments):
                collar = self.start([BINARY, "simulate", "--track", track, "--link", self.link, *arguments])
                self.assertEqual(collar.wait(), 64, collar.error_text)
                self.assertIn(word, collar.error_text)


if __name__ == "__main__":
    unittest.main()
