"""The beginning of a collar's id in place of the whole."""

import os
import subprocess
import unittest

from end_to_end import BINARY, ORDINARY_USER, child_environment, give_to_ordinary_user
from radio import Radio
from sending import SendTest, name as id_of
from serial_line import SerialLine
from session_parts import A, B

ID_A, ID_B = id_of(A), id_of(B)
PREFIX_A, PREFIX_B = ID_A[:4], ID_B[:4]


class PrefixTest(SendTest):
    """Two collars are stored: A with three fixes, B with two."""

    def setUp(self):
        super().setUp()
        self.assertNotEqual(PREFIX_A, PREFIX_B)
        self.configuration = self.path("configuration")
        self.environment = child_environment(XDG_CONFIG_HOME=self.configuration)
        line = SerialLine()
        self.addCleanup(line.close)
        self.port, self.radio = line.path, Radio(line)
        receiver = self.run_receiver()
        self.radio.send(A.identity() + b"".join(A.fix(each) for each in range(3)) + B.identity() + B.fix(0) + B.fix(1))
        receiver.wait_for_lines(5)
        self.radio.poll(A, 3)
        self.radio.poll(B, 2)
        receiver.stop()

    def run_receiver(self, *arguments):
        receiver = self.receive(*arguments, port=self.port, environment=self.environment)
        receiver.wait_for_error("listening on")
        return receiver

    def name_animals(self, text):
        folder = os.path.join(self.configuration, "collar-link")
        os.makedirs(folder)
        path = os.path.join(folder, "animals")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        for each in (self.configuration, folder, path):
            give_to_ordinary_user(each)

    def call(self, command, *arguments, code=0):
        """The lines of a command; `self.errors` is what it writes on stderr."""
        done = subprocess.run([BINARY, command, "--state-dir", self.state, *arguments], capture_output=True, text=True, timeout=60,
                              check=False, env=self.environment, **ORDINARY_USER)
        self.errors = done.stderr
        self.assertEqual(done.returncode, code, f"{arguments}: {done.stderr}")
        return done.stdout.splitlines()

    def count_of(self, collar, lines):
        return sum(f'"collar":"{collar}"' in line for line in lines)


class ReadingTest(PrefixTest):
    def test_history(self):
        for given in (PREFIX_A, ID_A[:5], ID_A[:15], PREFIX_A.upper(), ID_A):
            with self.subTest(given=given):
                lines = self.call("history", "--collar", given)
                self.assertEqual((len(lines), self.count_of(ID_A, lines)), (3, 3))
        lines = self.call("history", "--collar", PREFIX_B)
        self.assertEqual((len(lines), self.count_of(ID_B, lines)), (2, 2))

    def test_follow(self):
        lines = self.call("follow", "--collar", PREFIX_B, "-n", "2")
        self.assertEqual(self.count_of(ID_B, lines), 2)

    def test_deliver(self):
        self.call("deliver", "sink", "--collar", PREFIX_B, "--once", "--", "sh", "-c", 'cat >> "$0"', self.path("delivered"))
        with open(self.path("delivered"), encoding="utf-8") as file:
            lines = file.readlines()
        self.assertEqual((len(lines), self.count_of(ID_B, lines)), (2, 2))

    def test_fewer_digits_are_not_enough(self):
        for given in (ID_A[:3], ID_A[:1]):
            with self.subTest(given=given):
                self.assertEqual(self.call("history", "--collar", given, code=64), [])
                self.assertIn(f"`--collar` takes 16 hexadecimal digits or the name of an animal, not '{given}'.", self.errors)

    def test_no_collar_begins_so(self):
        given = "0" * 4 if "0000" not in (PREFIX_A, PREFIX_B) else "1" * 4
        self.call("history", "--collar", given, code=64)
        self.assertIn(f"`--collar` takes 16 hexadecimal digits or the name of an animal, not '{given}'.", self.errors)

    def test_several_collars_begin_so(self):
        """Also a collar that has a name and was never heard."""
        other = PREFIX_A + "f" * 12
        self.name_animals(f"[animal Zeus]\nwears = {other}\n")
        self.assertEqual(self.call("history", "--collar", PREFIX_A, code=64), [])
        self.assertIn(f"The ids of 2 collars begin with '{PREFIX_A}'.", self.errors)
        self.assertIn(f"Give more digits: {', '.join(sorted((ID_A, other)))}", self.errors)
        self.assertEqual(len(self.call("history", "--collar", ID_A[:15])), 3)

    def test_the_name_of_an_animal_wins(self):
        self.name_animals(f"[animal {PREFIX_A}]\nwears = {ID_B}\n")
        lines = self.call("history", "--collar", PREFIX_A)
        self.assertEqual((len(lines), self.count_of(ID_B, lines)), (2, 2))
        # Names keep their case, ids do not. Five digits are no name.
        self.assertEqual(self.count_of(ID_A, self.call("history", "--collar", ID_A[:5])), 3)


class RunTest(PrefixTest):
    def test_run_receives_this_collar_only(self):
        receiver = self.run_receiver("--collar", PREFIX_A)
        self.radio.send(B.identity() + B.fix(2) + A.identity(following=4) + A.fix(3))
        receiver.wait_for_lines(1)
        self.radio.poll(A, 4)
        receiver.stop()
        self.assertEqual([(line["collar"], line["seq"]) for line in receiver.fixes], [(ID_A, 3)])


class SendToPrefixTest(PrefixTest):
    def test_requests_that_can_be_repeated(self):
        receiver = self.run_receiver()
        self.radio.send(A.identity(following=3))
        receiver.wait_for_error("is heard at")
        for words in (["locate"], ["sound", "1"], ["track", "on"], ["reboot"], ["settings", "get"], ["settings", "set", "heartbeat_s=60"]):
            with self.subTest(words=words):
                program = self.send("-F", "json", "--timeout", "0", "--collar", PREFIX_A, *words, environment=self.environment)
                # It is queued: the collar does not poll meanwhile.
                self.assertEqual(self.result(program, 75)["collar"], ID_A)
        receiver.stop()

    def test_requests_that_cannot_be_undone(self):
        """The whole id is needed, also where one collar is meant."""
        for words in (["pair"], ["unpair"], ["message", "3"]):
            for given in (PREFIX_A, ID_A[:15]):
                with self.subTest(words=words, given=given):
                    program = self.send("--timeout", "0", "--collar", given, *words, environment=self.environment)
                    self.assertEqual(program.wait(), 64, program.error_text)
                    self.assertEqual(program.lines, [])
                    self.assertIn(f"`--collar` takes 16 hexadecimal digits or the name of an animal, not '{given}'.", program.error_text)

    def test_keys(self):
        for words in (["add"], ["remove"]):
            with self.subTest(words=words):
                self.assertEqual(self.call("key", *words, PREFIX_A, code=64), [])
                self.assertIn("16 hexadecimal digits", self.errors)
        self.assertFalse(os.path.exists(os.path.join(self.state, "keys")) and os.listdir(os.path.join(self.state, "keys")))


class NamePrefixTest(PrefixTest):
    def name(self, *arguments, code=0):
        os.makedirs(self.path("places"), exist_ok=True)
        if not os.path.lexists(self.path("places/collar-link")):
            os.symlink(self.state, self.path("places/collar-link"))
        done = subprocess.run([BINARY, "name", *arguments], capture_output=True, text=True, timeout=60, check=False,
                              env={**self.environment, "XDG_STATE_HOME": self.path("places")}, **ORDINARY_USER)
        self.errors = done.stderr
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout

    def test_a_name_is_given_to_a_stored_collar(self):
        self.name(PREFIX_A, "Athena")
        self.assertIn(f"Athena  {ID_A}", self.name())
        self.assertEqual(len(self.call("history", "--collar", "Athena")), 3)

    def test_the_end_needs_the_whole_id(self):
        self.name(PREFIX_A, "Athena")
        self.name(PREFIX_A, "--end", code=64)
        self.name(ID_A, "--end")

    def test_a_collar_that_is_not_known_needs_its_whole_id(self):
        given = "0" * 4 if "0000" not in (PREFIX_A, PREFIX_B) else "1" * 4
        self.name(given, "Athena", code=64)
        self.assertIn("16 hexadecimal digits", self.errors)
        self.name(given * 4, "Athena")


if __name__ == "__main__":
    unittest.main()
