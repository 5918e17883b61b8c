"""A collar is paired with another receiver: overwritten fixes that its former receiver has are not lost."""

import unittest

from end_to_end import EndToEndTest, wait_until
from journals import DELIVERED_ELSEWHERE, OVERWRITTEN, losses
from radio import IDENTITY_REQUEST, Radio
from serial_line import SerialLine

import frames
from session_parts import A


def ranges(state):
    """Reason, first and last of every loss in the journals of a state directory."""
    return [(loss.reason, loss.first, loss.last) for loss in losses(state)]


class RepairingTest(EndToEndTest):
    def begin(self, *arguments, state):
        line = SerialLine()
        self.addCleanup(line.close)
        receiver = self.receive(*arguments, port=line.path, state=state)
        radio = Radio(line)
        wait_until(lambda: radio.count(IDENTITY_REQUEST), 10, "the identity request of the opening")
        return receiver, radio, frames.decode(radio.answers[0]).decoded["receiver_id"]

    def first_missing(self, radio, poll):
        answer, _ = radio.poll(A, 103, poll=poll)
        self.assertEqual(answer["durable"], [])
        return answer["first_missing"]

    def test_an_identity_tells_what_a_former_receiver_has(self):
        state = self.path("state")
        receiver, radio, own = self.begin("-v", state=state)
        radio.send(2 * A.identity(1, oldest=100, following=103, paired=own, elsewhere=60))
        self.assertEqual(self.first_missing(radio, 2), 100)
        receiver.stop()
        self.assertEqual(ranges(state), [(DELIVERED_ELSEWHERE, 0, 59), (OVERWRITTEN, 60, 99)])
        name = f"{A.log.device_id:016x}"
        self.assertEqual([line.rstrip() for line in receiver.errors if " 59 " in line or " 99 " in line], [
            f"collar-link: Fixes 0 to 59 of collar {name} were delivered to another receiver; the collar does not have them "
            "any more.",
            f"collar-link: Collar {name} does not have fixes 60 to 99 any more."])
        # Both ranges keep their reasons over a restart, although the next identity names other reasons.
        receiver, radio, own = self.begin("-v", state=state)
        radio.send(A.identity(3, oldest=100, following=103, paired=own))
        self.assertEqual(self.first_missing(radio, 4), 100)
        receiver.stop()
        self.assertEqual(len(losses(state)), 2)
        self.assertNotIn("any more", receiver.error_text)

    def test_a_tombstone_tells_it(self):
        state = self.path("state")
        receiver, radio, own = self.begin("-v", state=state)
        radio.send(A.identity(1, following=103, paired=own) + A.tombstone([(0, 59)], elsewhere=True) + A.tombstone([(60, 69)])
                   + A.identity(2, oldest=100, following=103, paired=own, elsewhere=80))
        self.assertEqual(self.first_missing(radio, 3), 100)
        receiver.stop()
        self.assertEqual(ranges(state), [
            (DELIVERED_ELSEWHERE, 0, 59), (OVERWRITTEN, 60, 69), (DELIVERED_ELSEWHERE, 70, 79), (OVERWRITTEN, 80, 99)])

    def test_it_is_no_failure(self):
        """With -q a receiver reports lost fixes, but not fixes that another receiver has."""
        receiver, radio, own = self.begin("-q", state=self.path("state"))
        radio.send(A.identity(1, oldest=100, following=103, paired=own, elsewhere=60))
        self.assertEqual(self.first_missing(radio, 2), 100)
        receiver.stop()
        self.assertIn("does not have fixes 60 to 99 any more.", receiver.error_text)
        self.assertNotIn("another receiver", receiver.error_text)


if __name__ == "__main__":
    unittest.main()
