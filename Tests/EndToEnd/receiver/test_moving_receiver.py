"""A receiver moves to another machine: it still serves its collars, and no fix comes twice."""

import json
import os
import pathlib
import re
import subprocess
import unittest

from end_to_end import BINARY, ORDINARY_USER, EndToEndTest, give_to_ordinary_user, next_second, wait_until
from radio import IDENTITY_REQUEST, Radio
from serial_line import SerialLine

import frames
from session_parts import A

ACKNOWLEDGEMENT = 16


class MovingReceiverTest(EndToEndTest):
    def command(self, *words, state=None, status=0, **options):
        """Runs `receiver`. Returns its stdout and stderr."""
        done = subprocess.run(
            [BINARY, "receiver", *words, "--state-dir", state or self.state], capture_output=True, text=True, timeout=20,
            **ORDINARY_USER, **options)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout, done.stderr

    def receive_fixes(self, state, *fixes, paired=0, poll=None):
        """Receives fixes. Returns the receiver id of the identity request, the last acknowledgement, and the lines."""
        line = SerialLine()
        self.addCleanup(line.close)
        receiver = self.receive("--events", "fix,gap", port=line.path, state=state)
        radio = Radio(line)
        wait_until(lambda: radio.count(IDENTITY_REQUEST), 10, "the identity request of the opening")
        radio.send(A.identity(following=fixes[-1] + 1, paired=paired) + b"".join(A.fix(each) for each in fixes[:-1])
                   + A.fix(fixes[-1], poll or 1))
        wait_until(lambda: radio.count(ACKNOWLEDGEMENT), 10, "an answer")
        receiver.stop()
        request = frames.decode(radio.answers[0]).decoded["receiver_id"]
        answer = next(frames.decode(each, A.log).decoded for each in reversed(radio.answers) if each[0] & 31 == ACKNOWLEDGEMENT)
        return request, answer, [json.loads(each) for each in receiver.lines]

    def test_to_another_directory(self):
        first, answer, _ = self.receive_fixes(self.state, 0, 1, 2)
        self.assertEqual(answer["first_missing"], 3)
        shown, _ = self.command("show")
        self.assertEqual(int(shown, 16), first)
        # A file with the name of a collar is no journal, and does not keep a receiver from moving.
        (pathlib.Path(self.state) / "c011a2ffffffffff").write_text("notes")
        text, _ = self.command("export")
        # No receiver starts in the old directory any more.
        refused = subprocess.run([BINARY, "--state-dir", self.state, "-p", "/dev/null"], capture_output=True, text=True,
                                 timeout=20, **ORDINARY_USER)
        self.assertEqual(refused.returncode, 78, refused.stderr)
        self.assertIn("has moved away", refused.stderr)
        # A repeated export gives the same text.
        self.assertEqual(self.command("export")[0], text)
        new = self.path("new")
        self.command("import", state=new, input=text)
        self.assertEqual(self.command("show", state=new)[0], shown)
        number, answer, lines = self.receive_fixes(new, 3, 4, paired=first, poll=2)
        self.assertEqual((number, answer["receiver_id"], answer["first_missing"]), (first, first, 5))
        self.assertEqual([line["seq"] for line in lines if line["type"] == "fix"], [3, 4])
        self.assertEqual([(line["event"], line["first_seq"], line["last_seq"]) for line in lines if line["type"] == "gap"],
                         [("elsewhere", 0, 2)])

    def test_imported_twice(self):
        """Two receivers with one id lose fixes: the second import of a file into another directory warns."""
        self.receive_fixes(self.state, 0)
        file = self.path("receiver.txt")
        pathlib.Path(file).write_text(self.command("export")[0], "ascii")
        give_to_ordinary_user(file)
        first, second = self.path("first"), self.path("second")
        for state, warns in ((first, False), (first, False), (second, True), (second, False)):
            told = self.command("import", file, state=state)[1]
            self.assertEqual("two receivers with one id lose fixes" in told, warns, told)
            self.assertEqual(f":{os.path.realpath(first)}: two receivers" in told, warns, told)
        self.assertEqual(self.command("show", state=first), self.command("show", state=second))

    def test_keys_are_not_exported_which_is_told(self):
        """With the copied keys, a sealed collar goes on at the new place."""
        collar = "0123456789abcdef"
        self.receive_fixes(self.state, 0)
        key = subprocess.run([BINARY, "key", "add", collar, "--state-dir", self.state], capture_output=True, text=True, timeout=20,
                             check=True, **ORDINARY_USER).stdout
        text, said = self.command("export")
        self.assertNotIn(key.strip(), text)
        self.assertIn("The keys of 1 collar are not in the export", said)
        self.assertIn(f"cp -a {self.state}/keys", said)
        new = self.path("new")
        self.command("import", state=new, input=text)
        # What the message says to do.
        command = re.search("`(cp -a [^`]*)`", said)[1].replace("NEW/", new)
        subprocess.run(["sh", "-c", command], check=True, **ORDINARY_USER)
        shown = subprocess.run([BINARY, "key", "show", collar, "--state-dir", new], capture_output=True, text=True, timeout=20,
                               check=True, **ORDINARY_USER)
        self.assertEqual(shown.stdout, key)

    def test_with_a_copy_of_the_directory(self):
        first, _, _ = self.receive_fixes(self.state, 0, 1, 2)
        file = self.path("receiver.txt")
        self.command("export", file)
        self.assertEqual(os.stat(file).st_mode & 0o777, 0o600)
        next_second()
        copy = self.path("copy")
        subprocess.run(["cp", "-a", self.state, copy], check=True, **ORDINARY_USER)
        self.command("import", file, state=copy)
        number, answer, lines = self.receive_fixes(copy, 2, 3, paired=first)
        self.assertEqual((number, answer["first_missing"]), (first, 4))
        self.assertEqual([line["seq"] for line in lines], [3])
        history = subprocess.run([BINARY, "history", "--state-dir", copy], capture_output=True, text=True, timeout=20,
                                 check=True, **ORDINARY_USER).stdout.splitlines()
        self.assertEqual([json.loads(line)["seq"] for line in history], [0, 1, 2, 3])
        # A copy of the copy is another receiver again.
        next_second()
        again = self.path("again")
        subprocess.run(["cp", "-a", copy, again], check=True, **ORDINARY_USER)
        self.assertNotEqual(int(self.command("show", state=again)[0], 16), first)

    def test_what_is_refused(self):
        empty = self.path("empty")
        os.mkdir(empty, 0o700)
        give_to_ordinary_user(empty)
        self.assertIn("There is no receiver", self.command("show", state=empty, status=66)[1])
        self.assertIn("There is no receiver", self.command("export", self.path("none.txt"), state=empty, status=66)[1])
        self.assertEqual(os.listdir(empty), [])
        self.assertFalse(os.path.exists(self.path("none.txt")))
        self.receive_fixes(self.state, 0)
        file = self.path("receiver.txt")
        pathlib.Path(file).write_text("kept", "ascii")
        # An export that cannot be written does not end the receiver.
        self.assertIn(file, self.command("export", file, status=73)[1])
        self.receive_fixes(self.state, 1)
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([BINARY, "receiver", "export", "--state-dir", self.state], stdout=full, stderr=subprocess.PIPE,
                                  text=True, timeout=20, check=False, **ORDINARY_USER)
        self.assertEqual(done.returncode, 74)
        self.assertRegex(done.stderr, r"The receiver has ended here\.\n.*[Rr]un `collar-link receiver export` again")
        text, _ = self.command("export")
        other = self.path("other")
        self.receive_fixes(other, 0)
        self.assertIn("Another receiver", self.command("import", state=other, status=78, input=text)[1])
        new = self.path("new")
        for damaged, line in ((text[:-5], 4), (text.replace("id ", "id x"), 2), ("", 1), (text.replace("log ", "log x"), 3)):
            self.assertIn(f"stdin, line {line}: ", self.command("import", state=new, status=65, input=damaged)[1])
        self.command("import", state=new, input=text)
        self.command("import", state=new, input=text)
        self.assertIn("`receiver` needs one of", self.command("move", status=64)[1])

    def test_not_while_it_runs(self):
        line = SerialLine()
        self.addCleanup(line.close)
        self.receive(port=line.path)
        wait_until(lambda: os.path.exists(f"{self.state}/receiver"), 10, "the state directory")
        file = self.path("export.txt")
        self.assertIn("is in use", self.command("export", file, status=75)[1])
        self.assertFalse(os.path.exists(file), "it would be in the way of the next export")
        self.command("show")


if __name__ == "__main__":
    unittest.main()
