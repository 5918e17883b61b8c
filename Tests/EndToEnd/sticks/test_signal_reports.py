"""Frames of the base radio about itself and about the signal of packets, in lines and messages. SignalReportTests has the cases."""

import json
import unittest

import jsonschema

from end_to_end import ROOT, EndToEndTest
from radio import ACKNOWLEDGEMENT, Radio
from serial_line import SerialLine
from signal_reports import of_radio, report

from report_vectors import LORA, RADIO_IDENTITY
from session_parts import A

SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "Protocol/schema/fix.schema.json").read_text()))
HEARD = (-97, -3.5)


class SignalReportTest(EndToEndTest):
    def begin(self, collar=A, radio_identity=RADIO_IDENTITY):
        """Starts a receiver at a radio that sends signal reports, and sends the identity of a collar."""
        line = SerialLine()
        self.addCleanup(line.close)
        receiver = self.receive("-v", port=line.path)
        radio = Radio(line)
        radio.send((of_radio(10, radio_identity) if radio_identity else b"") + collar.identity())
        receiver.wait_for_error("is heard at")
        return receiver, radio

    def signals(self, receiver, count):
        """The signals in the lines, in the order of the sequences."""
        receiver.wait_for_lines(count, 5)
        receiver.stop()
        self.assertEqual(len(receiver.fixes), count)
        for fix in receiver.fixes:
            SCHEMA.validate(fix)
        return [(fix.get("rssi_dbm"), fix.get("snr_db")) for fix in sorted(receiver.fixes, key=lambda fix: fix["seq"])]

    def test_batch_and_live(self):
        """All fixes of a batch came in one packet. A radio may not know the signal-to-noise ratio."""
        receiver, radio = self.begin()
        batch, live = A.batch([0, 1, 2]), A.live(3, 2)
        radio.send(batch + report(batch) + live + report(live, -80, 100) + A.fix(4) + A.fix(5) + report(A.fix(5), -200, None))
        self.assertEqual(self.signals(receiver, 6), [HEARD, HEARD, HEARD, (-80, 10), (None, None), (-200, None)])

    def test_radio_speaks_of_itself(self):
        """The radio's identity and modem settings are reported once. Answers fit its largest frame."""
        receiver, radio = self.begin(radio_identity={**RADIO_IDENTITY, "largest_frame": 60})
        modem = of_radio(11, LORA)
        radio.send(modem + of_radio(10, {**RADIO_IDENTITY, "largest_frame": 60}) + modem)
        radio.send(b"".join(A.fix(1000 + 300 * number) for number in range(40)))
        radio.poll(A, 20_000)
        answer = next(frame for frame in radio.answers if frame[0] & 0x1F == ACKNOWLEDGEMENT)
        self.assertLessEqual(len(answer), 60)
        self.assertGreater(len(answer), 50)
        receiver.stop()
        self.assertEqual(receiver.error_text.count("is fedcba9876543210, with firmware 2.0.11 and"), 1)
        self.assertEqual(receiver.error_text.count("is set to LoRa"), 1)


if __name__ == "__main__":
    unittest.main()
