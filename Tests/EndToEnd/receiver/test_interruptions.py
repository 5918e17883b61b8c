"""Nothing is lost or doubled when the receiver is killed, the radio unplugged or the collar restarted.

The simulated world ends both at every event and file operation (WorldTests). Here real processes end.
"""

import os
import random
import signal
import time

from end_to_end import BINARY, EndToEndTest, wait_until

RADIO = ["--loss", "0.05", "--corrupt", "0.01"]


class InterruptionTest(EndToEndTest):
    def setUp(self):
        super().setUp()
        self.track_path, self.sent = self.all_cats(limit=600)

    def start_collar(self, *arguments):
        # --speed max uses virtual time. In real time each lost answer would cost a quarter of a second or more.
        return self.simulate(self.track_path, *RADIO, "--speed", "max", "--until-delivered", *arguments)

    def finish(self, collar, receiver):
        """Checks that everything is delivered and that the receiver ends in good order."""
        self.assertEqual(collar.wait(60), 0, collar.error_text)
        self.assertEqual(receiver.stop(), 0)

    def kill(self, receiver):
        receiver.process.kill()
        receiver.wait()
        return receiver.fixes

    def test_receiver_killed_five_times(self):
        """kill -9 at random moments: the union of the output is complete, and no fix has two ids."""
        chance = random.Random(1)
        collar = self.start_collar("--seed", "1")
        fixes = []
        for _ in range(5):
            receiver = self.receive()
            receiver.wait_for_lines(chance.randrange(1, len(self.sent) // 10))
            fixes += self.kill(receiver)
            self.assertIsNone(collar.process.poll(), "everything was delivered before the last kill")
        receiver = self.receive()
        self.finish(collar, receiver)
        self.assert_union_complete(fixes + receiver.fixes, len(self.sent))

    def test_receiver_killed_at_any_time(self):
        """kill -9 after random times: at the start, during the opening, before and after the first line."""
        chance = random.Random(4)
        collar = self.start_collar("--seed", "4")
        fixes = []
        for _ in range(20):
            receiver = self.receive()
            time.sleep(chance.uniform(0.001, 0.04))
            fixes += self.kill(receiver)
        self.assertIsNone(collar.process.poll(), "everything was delivered before the last kill")
        receiver = self.receive()
        self.finish(collar, receiver)
        self.assert_union_complete(fixes + receiver.fixes, len(self.sent))

    def test_ended_by_a_signal_and_restarted(self):
        """After SIGINT, SIGTERM and SIGHUP nothing is lost or written twice: the next run continues after the last line, and does not take the end
        for a crash."""
        collar = self.start_collar("--seed", "5")
        fixes = []
        for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            receiver = self.receive()
            receiver.wait_for_lines(20)
            self.assertEqual(receiver.stop(ending), 0, receiver.error_text)
            self.assertNotIn("was killed", receiver.error_text)
            fixes += receiver.fixes
        self.assertIsNone(collar.process.poll(), "everything was delivered before the last signal")
        receiver = self.receive()
        self.finish(collar, receiver)
        self.assert_each_once(fixes + receiver.fixes, len(self.sent))

    def test_the_terminal_of_readers_goes_away(self):
        """A terminal that is closed ends a reader as Ctrl-C does, but not what `nohup` has started."""
        receiver = self.receive()
        self.start_collar("--seed", "5")
        receiver.wait_for_lines(20)
        for command in (["follow", "--as"], ["deliver"]):
            for prefix, lives in ((["env"], False), (["sh", "-c", 'trap "" HUP; exec "$@"', "sh"], True)):
                # Each has a name of its own: its position shows that it runs.
                name = f"{command[0]}-{lives}"
                words = [*prefix, BINARY, *command, name, "--state-dir", self.state, *(["--", "true"] if command[0] == "deliver" else [])]
                program = self.start(words)
                wait_until(lambda: self.seen(name), 10, "a position")
                program.process.send_signal(signal.SIGHUP)
                if lives:
                    time.sleep(0.2)
                    self.assertIsNone(program.process.poll())
                    self.assertEqual(program.stop(), 0)
                else:
                    self.assertEqual(program.wait(), 0)
        receiver.stop()

    def seen(self, name):
        """Whether a reader has stored a position."""
        return os.path.exists(os.path.join(self.state, "readers", f"{name}.reader"))

    def test_unplugged(self):
        """SIGUSR1 unplugs the simulated radio for a second, twice; the receiver continues by itself."""
        collar = self.start_collar("--seed", "6")
        receiver = self.receive()
        for count in (50, 250):
            receiver.wait_for_lines(count)
            before = receiver.error_text.count("was unplugged")
            collar.process.send_signal(signal.SIGUSR1)
            wait_until(lambda: receiver.error_text.count("was unplugged") == before + 1, 5, "word about the unplugging")
        self.assertIsNone(collar.process.poll(), "everything was delivered before the last unplugging")
        self.finish(collar, receiver)
        self.assert_each_once(receiver.fixes, len(self.sent))

    def test_collar_restarted(self):
        """The collar ends, in good order or by kill -9, and boots again from its flash."""
        arguments = ["--flash", self.path("flash"), "--seed", "7"]
        receiver = self.receive()
        for ending, count in [(signal.SIGTERM, 50), (signal.SIGKILL, 150), (signal.SIGKILL, 250)]:
            collar = self.start_collar(*arguments)
            receiver.wait_for_lines(count)
            collar.stop(ending)
        collar = self.start_collar(*arguments)
        self.finish(collar, receiver)
        self.assert_each_once(receiver.fixes, len(self.sent))
        self.assertEqual(len({(fix["collar"], fix["log"]) for fix in receiver.fixes}), 1, "another log after a reboot")
