"""State directories that are not fit for journals, or are removed while they are in use."""

import glob
import os
import shutil
import subprocess
import unittest

from end_to_end import BINARY, IS_ROOT, ORDINARY_USER, PATIENCE, EndToEndTest, child_environment, give_to_ordinary_user
from radio import ACKNOWLEDGEMENT, Radio
from serial_line import SerialLine

from session_parts import A, B

NAME_A = f"{A.log.device_id:016x}"
SILENCE = 1.0  # seconds of waiting for an acknowledgement that must not come


class StateDirectoryTest(EndToEndTest):
    def begin(self):
        line = SerialLine()
        self.addCleanup(line.close)
        receiver = self.receive(port=line.path)
        receiver.wait_for_error("listening on")
        return receiver, Radio(line)

    def refuse(self, code, *words):
        """Checks that the receiver ends at once with this code and with one message that contains these words."""
        line = SerialLine()
        self.addCleanup(line.close)
        receiver = self.receive(port=line.path)
        self.assertEqual(receiver.wait(5), code, receiver.error_text)
        self.assert_one_message(receiver)
        for word in words:
            self.assertIn(word, receiver.error_text)

    def test_others_may_write_to_it(self):
        os.mkdir(self.state)
        give_to_ordinary_user(self.state)
        for mode in (0o777, 0o1777, 0o770):
            os.chmod(self.state, mode)
            self.refuse(78, f"Other users may write to {self.state}", f"chmod go-w {self.state}")
        self.assertEqual(os.listdir(self.state), [])
        os.chmod(self.state, 0o755)
        self.begin()

    @unittest.skipUnless(IS_ROOT, "needs another user")
    def test_it_belongs_to_another_user(self):
        os.mkdir(self.state)
        shutil.chown(self.state, "daemon", "daemon")
        os.chmod(self.state, 0o755)
        self.refuse(78, f"{self.state} belongs to another user", "--state-dir")

    def test_a_link_in_place_of_the_lock_file(self):
        precious = self.path("precious")
        with open(precious, "w", encoding="ascii") as file:
            file.write("precious")
        os.chmod(precious, 0o666)
        os.mkdir(self.state, 0o700)
        give_to_ordinary_user(self.state)
        os.symlink(precious, f"{self.state}/lock")
        self.refuse(73, f"{self.state}/lock", "Remove what is in the way")
        with open(precious, encoding="ascii") as file:
            self.assertEqual(file.read(), "precious")

    def test_an_odd_file_and_a_folder_that_cannot_be_read(self):
        """Each is reported once, and the other collars are served."""
        receiver, radio = self.begin()
        radio.send(A.identity(following=1) + A.fix(0))
        self.assertEqual(radio.poll(A, 1)[0]["first_missing"], 1)
        receiver.stop()
        with open(f"{self.state}/00000000000000b0", "wb"):
            pass
        os.mkdir(f"{self.state}/00000000000000b1", 0o700 if IS_ROOT else 0)
        receiver, radio = self.begin()
        radio.send(B.identity() + B.fix(0) + A.identity(following=2) + A.fix(1))
        self.assertEqual(radio.poll(A, 2)[0]["first_missing"], 2)
        self.assertEqual(radio.poll(B, 1)[0]["first_missing"], 1)
        receiver.stop()
        for name in ("b0", "b1"):
            self.assertEqual(receiver.error_text.count(f"{self.state}/00000000000000{name}:"), 1, receiver.error_text)
        self.assertEqual(receiver.error_text.count("is not served"), 2)

    def test_removed_while_it_is_used(self):
        """Acknowledgements stop, and a message says why."""
        receiver, radio = self.begin()
        radio.send(A.identity(following=1) + A.fix(0))
        self.assertEqual(radio.poll(A, 1)[0]["first_missing"], 1)
        shutil.rmtree(self.state)
        radio.answers.clear()
        for following in (2, 3):
            radio.send(A.fix(following - 1))
            with self.assertRaises(AssertionError):
                radio.poll(A, following, seconds=SILENCE / PATIENCE, poll=following)
        radio.send(B.identity() + B.fix(0) + B.probe(1, 1))
        receiver.wait_for_error("is not served")
        receiver.wait_for_error("is acknowledged any more")
        self.assertIn(f"cannot find {self.state}/{NAME_A}/00000001.journal", receiver.error_text)
        self.assertIn("Was it removed or moved", receiver.error_text)
        self.assertEqual(radio.count(ACKNOWLEDGEMENT), 0)
        self.assertFalse(os.path.exists(self.state))
        receiver.stop()

    def test_a_name_that_is_not_utf8(self):
        """Such a name is refused; otherwise another directory would be used."""
        name = os.path.join(os.fsencode(self.folder), b"st\xffte")
        ways = (([os.fsencode(BINARY), b"--state-dir", name], {}, 64), ([BINARY], {"XDG_STATE_HOME": os.fsdecode(name)}, 78))
        for command, variables, code in ways:
            result = subprocess.run(
                command + ["-T", "1"], capture_output=True, text=True, check=False, timeout=20, cwd=self.folder,
                env=child_environment(**variables), **ORDINARY_USER)
            self.assertEqual(result.returncode, code, result.stderr)
            self.assertIn("not UTF-8", result.stderr)
        self.assertEqual(glob.glob(f"{self.folder}/*"), [])
