"""A copy of a state directory is another receiver: two receivers must not acknowledge under one id."""

import subprocess
import unittest

from end_to_end import ORDINARY_USER, EndToEndTest, next_second, wait_until
from radio import IDENTITY_REQUEST, Radio
from serial_line import SerialLine

import frames
from session_parts import A

WRITTEN_BY_ANOTHER = "was written by receiver"


class CopiedReceiverTest(EndToEndTest):
    def run_once(self, state, *fixes):
        """Receives fixes. Returns the receiver's id and the program, which has ended."""
        line = SerialLine()
        self.addCleanup(line.close)
        receiver = self.receive("--events", "fix,error", port=line.path, state=state)
        radio = Radio(line)
        wait_until(lambda: radio.count(IDENTITY_REQUEST), 10, "the identity request of the opening")
        number = frames.decode(radio.answers[0]).decoded["receiver_id"]
        if fixes:
            radio.send(A.identity(following=fixes[-1] + 1) + A.batch(fixes))
            receiver.wait_for_lines(len(fixes))
        receiver.stop()
        return number, receiver

    def test_a_copy(self):
        first, _ = self.run_once(self.state, 0, 1, 2)
        birth = subprocess.run(["stat", "-c", "%W", f"{self.state}/receiver"], capture_output=True, text=True, check=True)
        if birth.stdout.strip() in ("0", "-"):
            self.skipTest("this file system does not keep when a file was made")
        # Without this pause the copy could have the same birth time, and so the same id.
        next_second()
        copy = self.path("copy")
        subprocess.run(["cp", "-a", self.state, copy], check=True, **ORDINARY_USER)
        second, receiver = self.run_once(copy)
        self.assertNotEqual(first, second)
        said, remedy = (line for line in receiver.errors if WRITTEN_BY_ANOTHER in line or "send pair" in line)
        self.assertIn(f"{WRITTEN_BY_ANOTHER} {first:08x}", said)
        self.assertIn(f"--collar {A.log.device_id:016x}", remedy)
        self.assertEqual([(line["type"], line.get("code")) for line in receiver.fixes], [("error", "receiver_copied")])
        # Each directory keeps its receiver id from now on, and the message does not come again.
        for state, number in ((self.state, first), (copy, second)):
            again, receiver = self.run_once(state, 3)
            self.assertEqual(again, number)
            self.assertNotIn(WRITTEN_BY_ANOTHER, receiver.error_text)


if __name__ == "__main__":
    unittest.main()
