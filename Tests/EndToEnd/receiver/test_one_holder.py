"""Two receivers with one state directory: the second names the holder, and touches nothing."""

import os

from end_to_end import EndToEndTest, give_to_ordinary_user
from radio import Radio
from serial_line import SerialLine

from session_parts import A, B


class OneHolderTest(EndToEndTest):
    def begin(self, *arguments, **options):
        line = SerialLine()
        self.addCleanup(line.close)
        receiver = self.receive(*arguments, port=line.path, **options)
        receiver.wait_for_error("listening on")
        return receiver, Radio(line)

    def assert_refused(self, holder, *arguments, is_named=True):
        line = SerialLine()
        self.addCleanup(line.close)
        second = self.receive(*arguments, port=line.path)
        self.assertEqual(second.wait(5), 75, second.error_text)
        self.assertEqual(second.lines, [])
        who = f"process {holder.pid}" if is_named else "another process"
        self.assertIn(f"{self.state} is in use by {who}", second.error_text)
        self.assertIn("--state-dir", second.error_text)
        self.assert_one_message(second)
        self.assertEqual(Radio(line).count(17), 0, "it spoke at its port all the same")

    def test_before_there_is_a_journal(self):
        """A directory without a journal has one holder, too, whichever collars the two receivers would serve."""
        first, radio = self.begin()
        self.assert_refused(first)
        self.assert_refused(first, "--collar", f"{B.log.device_id:016x}")
        radio.send(A.identity() + A.fix(0))
        first.wait_for_lines(1)
        self.assert_refused(first)
        self.assertEqual(radio.poll(A, 1)[0]["first_missing"], 1)

    def test_after_the_end(self):
        """When a receiver ends, in good order or not, the directory is free for the next receiver."""
        first, _ = self.begin()
        first.stop()
        second, _ = self.begin()
        self.assert_refused(second)
        second.process.kill()
        second.wait()
        self.begin()

    def test_without_its_lock_file(self):
        """The directory stays held if a cleaner of temporary files removes its lock file."""
        first, _ = self.begin()
        os.remove(f"{self.state}/lock")
        for _ in range(2):
            self.assert_refused(first, is_named=False)

    def test_another_directory(self):
        self.begin()
        self.begin(state=self.path("other"))

    def test_a_lock_file_that_names_nobody(self):
        """The kernel keeps the lock. The text in the lock file is only for people."""
        os.mkdir(self.state)
        give_to_ordinary_user(self.state)
        with open(os.path.join(self.state, "lock"), "w", encoding="ascii") as file:
            file.write("1\n")
        os.chmod(file.name, 0o666)
        self.begin()
