"""Twenty radios over TCP, which are lost and return at random. Tools/bench radios does the same with two hundred."""

import json

from end_to_end import BINARY, EndToEndTest
from many_radios import Field, NetworkRadio

COLLARS, SECONDS = 20, 8


class ManyRadiosTest(EndToEndTest):
    def track(self, neighbours):
        """Each collar makes one fix a second, and is heard by several radios. Each fix comes once."""
        field = Field(NetworkRadio, COLLARS, neighbours)
        self.addCleanup(field.close)
        command = [BINARY, "--dialect", "serial", "--state-dir", self.state]
        for radio in field.radios:
            command += ["--port", radio.port]
        receiver = self.start(command)
        self.assertTrue(field.run(10, lambda: field.is_connected), receiver.error_text)
        # Sixteen new collars are accepted at once, then one a second.
        for _ in range(3 * COLLARS):
            unknown = [number for number, collar in enumerate(field.collars) if not collar.acknowledgement_count]
            field.introduce(unknown)
            if field.run(1, lambda: all(collar.acknowledgement_count for collar in field.collars)):
                break
        self.assertTrue(all(collar.acknowledgement_count for collar in field.collars), receiver.error_text)
        field.track(SECONDS)
        field.drop_out(2, SECONDS)
        field.run(SECONDS)
        self.assertTrue(field.run(30, lambda: field.is_done), receiver.error_text)
        self.assertGreater(field.outage_count, 3)
        receiver.wait_for_lines(COLLARS * SECONDS)
        self.assertEqual(receiver.stop(), 0)
        ids = [json.loads(line)["id"] for line in receiver.lines]
        self.assertEqual((len(ids), len(set(ids))), (COLLARS * SECONDS, COLLARS * SECONDS))
        return field

    def test_a_radio_for_each_collar(self):
        self.track(neighbours=1)

    def test_each_collar_at_three_radios(self):
        """A fix that three radios hear appears once, and a poll that three radios hear is answered once."""
        field = self.track(neighbours=3)
        for collar in field.collars:
            self.assertLessEqual(collar.acknowledgement_count, collar.poll_count)
