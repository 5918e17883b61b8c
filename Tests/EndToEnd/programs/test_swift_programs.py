"""Programs that use the library CollarLink: they read what `run` stores, each from its own position."""

import collections
import os
import random
import time
import unittest

from end_to_end import wait_until
from reader_case import NAME_A, ReaderTest
from session_parts import A

READER = os.path.join(os.environ.get("COLLAR_LINK_BUILT", os.path.join(os.path.dirname(__file__), "../../../.build-test/release")),
                      "collar-link-reader")


class SwiftProgramTest(ReaderTest):
    def program(self, name, pause=0):
        return self.start([READER, self.state, name, str(pause)])

    @staticmethod
    def printed(program):
        """The ids and sequences of the fixes that a program has printed."""
        return [tuple(line.split()[1:]) for line in program.lines if line.startswith("fix ")]

    def test_killed_programs_miss_nothing(self):
        """Two programs read 400 fixes, one of them slowly. Both are killed at random, and started again."""
        seed = random.randrange(1 << 32)
        chance = random.Random(seed)
        receiver, radio = self.begin()
        total = 400
        found = {"quick": collections.Counter(), "slow": collections.Counter()}
        running = {name: self.program(name, 0 if name == "quick" else 3) for name in found}
        radio.send(A.identity(following=total))
        sent = 0
        while sent < total:
            radio.send(A.batch(range(sent, sent + 10)))
            sent += 10
            time.sleep(0.03)
            for name in found:
                if chance.random() < 0.2:
                    running[name].kill_now()
                    found[name].update(self.printed(running[name]))
                    running[name] = self.program(name, 0 if name == "quick" else 3)
        with self.subTest(seed=seed):
            for name, program in running.items():
                def is_complete(name=name, program=program):
                    return len({*found[name], *self.printed(program)}) >= total
                wait_until(is_complete, 30, f"all fixes of the {name} program")
                program.kill_now()
                found[name].update(self.printed(program))
                self.assertEqual(sorted(int(sequence) for _, sequence in found[name]), list(range(total)), "each sequence has one id")
                # What was printed in the last second before a kill may come again.
                self.assertTrue(all(line.startswith("fix ") for line in program.lines), program.lines)
        receiver.stop()

    def test_a_permission_that_comes_late(self):
        """Without a permission the loop throws within a second. Once it is granted, the same program goes on at the same fix."""
        receiver, radio = self.begin()
        radio.send(A.identity(following=6) + A.batch(range(3)))
        self.wait_for_stored(3)
        collar = os.path.join(self.state, NAME_A)
        os.chmod(collar, 0)
        program = self.program("late")
        for path in (collar, self.state):
            count = len(program.lines)
            os.chmod(path, 0)
            start = time.monotonic()
            wait_until(lambda count=count: len(program.lines) > count, 5, f"an error without {path}")
            self.assertLess(time.monotonic() - start, 1.5, path)
            self.assertEqual(set(program.lines[count:]), {"error permission_denied\n"}, path)
            os.chmod(path, 0o700)
            wait_until(lambda: len(self.printed(program)) == 3, 5, "the fixes that were stored")
            time.sleep(0.5)
        radio.send(A.batch(range(3, 6)))
        wait_until(lambda: len(self.printed(program)) == 6, 10, "the fixes that came later")
        self.assertEqual([sequence for _, sequence in self.printed(program)], [str(each) for each in range(6)])
        receiver.stop()


if __name__ == "__main__":
    unittest.main()
