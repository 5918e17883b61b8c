"""Names of animals: the command `name`, its file, and the names in options and lines."""

import json
import os
import resource
import signal
import stat
import subprocess
import time
import unittest

from command_case import CommandTest
from end_to_end import BINARY, WITH_OWN_ETC, can_replace_etc, give_to_ordinary_user, wait_until
from radio import Radio
from sending import A, name as id_of
from serial_line import SerialLine
from schemas import SCHEMAS
from session_parts import START, B

ID_A, ID_B = id_of(A), id_of(B)
COMMENTED = f"""\
# my cats

[animal Athena]   # the grey one
  species = Felis catus
  wears = {ID_A} from 2023-01-01   # red collar

[animal   Zeus  ]
# no collar yet
"""


class NameTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.animals = os.path.join(self.configuration, "collar-link/animals")

    def write(self, text):
        folder = os.path.dirname(self.animals)
        os.makedirs(folder, exist_ok=True)
        with open(self.animals, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        for path in (self.configuration, folder, self.animals):
            give_to_ordinary_user(path)

    def read(self):
        with open(self.animals, encoding="utf-8", newline="") as file:
            return file.read()

    def name(self, *arguments, **options):
        return self.call("name", *arguments, **options)

    def begin(self, *arguments):
        line = SerialLine()
        self.addCleanup(line.close)
        receiver = self.receive(*arguments, port=line.path, environment=self.environment)
        receiver.wait_for_error("listening on")
        return receiver, Radio(line)


class NameCommandTest(NameTest):
    def test_the_first_name_makes_the_file(self):
        give_to_ordinary_user(self.folder)
        self.assertEqual(self.name(), "")
        self.assertEqual(self.name("-F", "json"), "")
        self.assertFalse(os.path.exists(self.configuration))
        self.assertEqual(self.name(ID_A.upper(), "Athena", "--species", "Felis catus", "--notes", 'grey, "shy"'), "")
        self.assertEqual(self.errors, "")
        self.assertEqual(self.read(), f'[animal Athena]\nwears = {ID_A}\nspecies = Felis catus\nnotes = grey, "shy"\n')
        self.assertEqual(stat.S_IMODE(os.stat(self.animals).st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(os.stat(os.path.dirname(self.animals)).st_mode), 0o700)
        self.assertEqual(os.listdir(os.path.dirname(self.animals)), ["animals"])
        self.assertEqual(self.name(), f"NAME    COLLAR            FROM  UNTIL  SPECIES\nAthena  {ID_A}  -     -      Felis catus\n")
        line = json.loads(self.name("-F", "json"))
        SCHEMAS["animal"].validate(line)
        self.assertEqual(line, {
            "type": "animal", "name": "Athena", "species": "Felis catus", "notes": 'grey, "shy"', "collar": ID_A,
            "from_unix_ms": None, "until_unix_ms": None, "file": self.animals})

    def test_home(self):
        self.environment.pop("XDG_CONFIG_HOME", None)
        home = self.path("home")
        os.mkdir(home)
        give_to_ordinary_user(home)
        self.name(ID_A, "Athena", HOME=home)
        self.assertTrue(os.path.exists(os.path.join(home, ".config/collar-link/animals")))
        self.environment.pop("HOME", None)
        self.name(ID_A, "Athena", code=78)
        self.assertIn("neither XDG_CONFIG_HOME nor HOME is set", self.errors)

    def test_changes_keep_the_rest(self):
        self.write(COMMENTED)
        os.chmod(self.animals, 0o640)
        target = self.path("elsewhere")
        os.rename(self.animals, target)
        os.symlink(target, self.animals)
        self.name(ID_A, "Zeus", "--from", "2024-02-29T12:00:00+01:00")
        self.assertEqual(self.errors, "collar-link: Athena wore the collar until 2024-02-29T11:00:00Z.\n")
        changed = COMMENTED.replace("from 2023-01-01 ", "from 2023-01-01 until 2024-02-29T11:00:00Z ").replace(
            "[animal   Zeus  ]\n", f"[animal   Zeus  ]\nwears = {ID_A} from 2024-02-29T11:00:00Z\n")
        self.assertEqual(self.read(), changed)
        self.assertEqual(self.name().splitlines()[1:], [
            f"Athena  {ID_A}  2023-01-01            2024-02-29T11:00:00Z  Felis catus",
            f"Zeus    {ID_A}  2024-02-29T11:00:00Z  -                     -"])
        self.name("Zeus", "--end", "--until", "2025-01-01")
        changed = changed.replace("from 2024-02-29T11:00:00Z\n", "from 2024-02-29T11:00:00Z until 2025-01-01\n")
        self.assertEqual(self.read(), changed)
        self.name("Zeus", "--rename", "Ζεὺς ὁ μέγας")
        self.assertEqual(self.read(), changed.replace("Zeus", "Ζεὺς ὁ μέγας"))
        self.name("Ζεὺς ὁ μέγας", "--remove")
        self.assertEqual(self.read(), changed.split("[animal   Zeus")[0] + "# no collar yet\n")
        self.assertTrue(os.path.islink(self.animals))
        self.assertEqual(stat.S_IMODE(os.stat(target).st_mode), 0o640)
        self.assertEqual(self.name("Athena", "--species", "Felis silvestris"), "")
        self.assertIn("  species = Felis silvestris\n  wears", self.read())
        self.name(ID_B, "Athena")
        self.assertEqual(self.errors, "")
        self.name(ID_A, "Athena", "--from", "2025-06-01")
        self.assertIn(f"Athena wears collar {ID_B}, too", self.errors)

    def test_now(self):
        self.name(ID_A, "Athena")
        before = int(time.time())
        self.name(ID_A, "Zeus")
        self.name("Athena", "--end", code=64)
        self.assertIn("There is nothing to end: no collar is worn, or its end is set already.", self.errors)
        _, zeus = (json.loads(line) for line in self.name("-F", "json").splitlines())
        self.assertTrue(before * 1000 <= zeus["from_unix_ms"] <= time.time() * 1000, zeus)
        self.assertEqual(zeus["until_unix_ms"], None)

    def test_what_is_refused(self):
        self.write(COMMENTED)
        for arguments, says in (
                (("Athena", "Hera"), "To give the animal another name: `collar-link name Athena --rename Hera`."),
                (("910a", "Hera"), "'910a' is not the id of a collar: give 16 hexadecimal digits before 'Hera'."),
                (("Hera",), "There is no animal and no collar 'Hera'."),
                ((ID_B,), f"There is no animal and no collar '{ID_B}'."),
                (("--remove",), "`--remove` needs an animal: `collar-link name NAME --remove`."),
                (("--rename", "Hera"), "`--rename` needs an animal: `collar-link name NAME --rename NEW`."),
                (("--end",), "`--end` needs an animal or a collar: `collar-link name NAME|ID --end`."),
                (("--from", "2026-01-01"), "`--from` does not go with this."),
                (("Athena", "--remove", "--notes", "x"), "`--remove` and `--notes` exclude each other."),
                ((ID_A, "Athena", "--until", "tomorrow"), "`--until` takes a time, not 'tomorrow'."),
                ((ID_A, "Athena", "--from", "2026-01-01", "--until", "2026-01-01"), "its end is not later than its begin"),
                ((ID_A, ID_B), "looks like the id of a collar"),
                ((ID_A, "a\tb"), "has a control or format character"),
                ((ID_A, "a\u200db"), "has a control or format character"),
                ((ID_A, "\u0634\u200c"), "has a control or format character"),
                ((ID_A, b"caf\xe9"), "is not UTF-8"),
                ((ID_A, "Hera", "--from", "2022-01-01"), f"Line 5 of {self.animals} puts collar {ID_A} on Athena at the same time."),
                (("Hera", "--remove"), "There is no animal Hera"),
                (("Athena", "--rename", "Zeus"), "There is an animal Zeus already, at line 7 of"),
                (("Athena", "--notes", "a # b"), "has a '#' where a comment begins"),
                (("-F", "csv"), "`--format` takes text or json, not 'csv'.")):
            with self.subTest(arguments=arguments):
                self.name(*arguments, code=64)
                self.assertIn(says, self.errors)
                self.assertEqual(self.read(), COMMENTED)

    def test_joiners_in_their_contexts(self):
        """Persian words have a non-joiner, emoji and words of India have joiners. They are shown as they are."""
        give_to_ordinary_user(self.folder)
        names = ["\u0634\u200c\u0645", "\U0001f408\u200d\u2b1b", "\u0915\u094d\u200d\u0937", "\U0001f469\U0001f3fd\u200d\U0001f33e"]
        for number, name in enumerate(names, start=1):
            self.name(f"{number:016x}", name)
        self.assertEqual([line.split("  ")[0].strip() for line in self.name().splitlines()[1:]], names)
        self.name(names[0], "x", code=64)
        self.assertIn(names[0], self.errors)

    def test_one_animal(self):
        self.write(COMMENTED)
        self.assertEqual(self.name("Athena").splitlines()[1:], self.name(ID_A).splitlines()[1:])
        self.assertEqual([json.loads(line)["collar"] for line in self.name("Zeus", "-F", "json").splitlines()], [None])

    def test_ten_thousand_animals_cost_little(self):
        """A tenth of a second more than none. Five times that passes, for machines with other work."""
        self.write("".join(f"[animal {number}]\nwears = {number:016x}\n" for number in range(1, 10_001)))

        def seconds():
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            self.call("metrics", "--state-dir", self.folder)
            return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

        self.assertTrue(any(seconds() < 0.5 for _ in range(3)))

    def test_a_file_that_is_wrong(self):
        for text, says in (
                ("[animal A]\ncolour = red\n", "line 2: there is no key 'colour'"),
                (b"[animal A]\nnotes = \xff\n", "line 2: the line is not UTF-8"),
                (f"[animal A]\nwears = {ID_A}\n[animal B]\nwears = {ID_A} from 2026-01-01\n",
                 f"line 4: line 2 of {self.animals} puts collar {ID_A} on A at the same time."),
                ("#" * (1 << 20) + "#", "line 1: the file has more than 1048576 bytes.")):
            self.write(text)
            for arguments in ((), (ID_B, "Hera"), ("A", "--remove")):
                self.name(*arguments, code=78)
                self.assertIn(f"collar-link: {self.animals}, line ", self.errors)
                self.assertIn(says, self.errors)
                self.assertEqual(self.errors.count("\n"), 2, self.errors)
            with open(self.animals, "rb") as file:
                self.assertEqual(file.read(), text if isinstance(text, bytes) else text.encode())

    def test_a_place_that_is_wrong(self):
        self.write(COMMENTED)
        folder = os.path.dirname(self.animals)
        os.chmod(folder, 0o500)
        self.addCleanup(os.chmod, folder, 0o700)
        self.name(ID_B, "Hera", code=77)
        self.assertIn("cannot be written: Permission denied", self.errors)
        os.chmod(folder, 0o700)
        os.chmod(self.animals, 0)
        self.name(code=77)
        self.assertIn(f"{self.animals} cannot be read: Permission denied", self.errors)
        os.unlink(self.animals)
        os.symlink("nowhere", self.animals)
        self.assertEqual(self.name(), "")
        self.name(ID_B, "Hera", code=73)
        self.assertIn("is a symbolic link that leads nowhere", self.errors)
        os.unlink(self.animals)
        os.mkdir(self.animals)
        self.name(code=78)
        self.assertIn("Is a directory", self.errors)
        os.rmdir(self.animals)
        os.rmdir(folder)
        with open(folder, "w", encoding="ascii"):
            pass
        self.name(ID_B, "Hera", code=73)

    def test_many_at_a_time(self):
        """Commands that change the file at the same time do not undo each other's changes."""
        programs = [self.start([BINARY, "name", f"{number:016x}", f"animal {number}"], environment=self.environment)
                    for number in range(1, 21)]
        for program in programs:
            self.assertEqual(program.wait(), 0, program.error_text)
        self.assertEqual(self.read().count("[animal "), 20)

    @unittest.skipUnless(can_replace_etc(), "needs user namespaces")
    def test_the_machines_file(self):
        """Names of both files count; the user's file decides where they contradict each other, and is the one that changes."""
        script = 'mkdir /etc/collar-link && cat > /etc/collar-link/animals && exec "$@"'
        self.write(f"[animal Athena]\nwears = {ID_A}\n")

        def run(*arguments, etc=f"[animal Hera]\nwears = {ID_A}\nwears = {ID_B}\n"):
            return subprocess.run(
                [*WITH_OWN_ETC, "sh", "-c", script, "sh", BINARY, *arguments], capture_output=True, timeout=20, check=False, text=True,
                input=etc, env=self.environment)

        # A wrong line in one file does not hide the other one.
        wrong = run("name", etc="[animal Hera]\nwhat\n")
        self.assertEqual((wrong.returncode, wrong.stdout.count("Athena")), (78, 1))
        self.assertIn("/etc/collar-link/animals, line 2: 'what'", wrong.stderr)
        rows = [json.loads(line) for line in run("name", "-F", "json").stdout.splitlines()]
        self.assertEqual([(row["name"], row["collar"], row["file"]) for row in rows], [
            ("Athena", ID_A, self.animals), ("Hera", ID_A, "/etc/collar-link/animals"), ("Hera", ID_B, "/etc/collar-link/animals")])
        key = self.path("key")
        with open(key, "w", encoding="ascii") as file:
            file.write("00" * 16)
        state = self.path("own state")
        self.assertEqual(run("key", "add", "Hera", key, "--state-dir", state).stderr, "")
        self.assertEqual(run("key", "list", "--state-dir", state).stdout, ID_B + "\n")
        refused = run("name", "Hera", "--remove")
        self.assertEqual(refused.returncode, 64)
        self.assertIn(f"There is no animal Hera in {self.animals}", refused.stderr)


class NamesInUseTest(NameTest):
    def lines(self, receiver, kind):
        lines = [line for line in receiver.fixes if line["type"] == kind]
        for line in lines:
            SCHEMAS[kind].validate(line)
        return lines

    def figures(self, receiver):
        """The figures of the one collar, asked for now."""
        count = len(self.lines(receiver, "stats"))
        receiver.process.send_signal(signal.SIGUSR1)
        wait_until(lambda: len(self.lines(receiver, "stats")) >= count + 2, 10, "figures")
        return self.lines(receiver, "stats")[-1]

    def test_a_running_receiver_reads_the_changed_file(self):
        """AnimalFilesTests has further changes: renamed animals, and files that vanish."""
        receiver, radio = self.begin("--events", "all")
        radio.send(A.identity(following=10) + A.batch(range(10)))
        receiver.wait_for_error("is heard at")
        self.assertNotIn("name", self.figures(receiver))
        self.name(ID_A, "Athena")
        wait_until(lambda: self.figures(receiver).get("name") == "Athena", 10, "the name")
        # A fix belongs to who wore the collar when it was made.
        self.name(ID_A, "Hera", "--from", "2020-01-01", "--until", "2021-01-01", code=64)
        self.assertIn(f"puts collar {ID_A} on Athena at the same time.", self.errors)
        radio.send(A.identity(following=11) + A.fix(10))
        wait_until(lambda: any(line["type"] == "fix" and line["seq"] == 10 for line in receiver.fixes), 10, "a fix")
        self.assertEqual({line["seq"]: line.get("name") for line in receiver.fixes if line["type"] == "fix"},
                         {**dict.fromkeys(range(10)), 10: "Athena"})
        # A wrong file is told once; the names it had stay.
        self.write("[animal Zeus]\nwhat\n")
        wait_until(lambda: self.figures(receiver)["name"] == "Athena" and "line 2: 'what'" in receiver.error_text, 10, "the fault")
        self.assertEqual(self.figures(receiver)["name"], "Athena")
        reason = f"{self.animals}, line 2: 'what' is neither '[animal NAME]' nor 'key = value'."
        self.assertEqual(receiver.error_text.count(reason), 1)
        error, = [line for line in self.lines(receiver, "error") if line["code"] == "animals_unusable"]
        self.assertEqual((error["reason"], error["severity"]), (reason, "warning"))
        # The lines of a request, and of the link.
        self.write(f"[animal Hera]\nwears = {ID_A}\n")
        wait_until(lambda: self.figures(receiver)["name"] == "Hera", 10, "the other name")
        sent = self.start([BINARY, "send", "-F", "json", "--timeout", "0", "--state-dir", self.state, "--collar", "Hera", "locate"],
                          environment=self.environment)
        self.assertEqual(sent.wait(), 75, sent.error_text)
        queued, = sent.fixes
        SCHEMAS["result"].validate(queued)
        self.assertEqual((queued["collar"], queued["name"]), (ID_A, "Hera"))
        self.assertEqual(receiver.stop(), 0)
        for kind in ("link", "status"):
            self.lines(receiver, kind)

    def test_a_wrong_file_at_the_start(self):
        self.write("[animal Zeus]\nwhat\n")
        receiver, radio = self.begin()
        receiver.wait_for_error(f"{self.animals}, line 2: 'what'")
        radio.send(A.identity(following=1) + A.fix(0))
        receiver.wait_for_lines(1)
        self.assertEqual(receiver.stop(), 0)
        self.assertEqual(self.call("history", "--state-dir", self.state).count("\n"), 1)
        self.assertIn("line 2: 'what'", self.errors)
        self.call("history", "--state-dir", self.state, "--collar", "Zeus", code=78)

    def test_history_of_an_animal(self):
        """All collars that it wore, each for its time."""
        def at(sequence):
            return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime((START + 1000 * sequence) // 1000))

        receiver, radio = self.begin()
        radio.send(A.identity(following=10) + A.batch(range(10)) + B.identity(following=10) + B.batch(range(10)))
        receiver.wait_for_lines(20)
        self.assertEqual(receiver.stop(), 0)
        self.name(ID_A, "Athena", "--from", at(2), "--until", at(5))
        self.name(ID_B, "Athena", "--from", at(7))
        self.name(ID_A, "Zeus", "--from", at(5))
        self.name("ffffffffffffffff", "Hera", "--until", "2020-01-01")

        def stored(animal):
            lines = self.call("history", "--state-dir", self.state, "--events", "fix", "--collar", animal).splitlines()
            self.assertEqual({json.loads(line).get("name") for line in lines}, {animal} if len(animal) < 16 else {None, "Athena", "Zeus"})
            return [(line["collar"], line["seq"]) for line in map(json.loads, lines)]

        self.assertEqual(stored("Athena"), [(ID_A, seq) for seq in (2, 3, 4)] + [(ID_B, seq) for seq in (7, 8, 9)])
        self.assertEqual(stored("Zeus"), [(ID_A, seq) for seq in range(5, 10)])
        self.assertEqual(stored(ID_A), [(ID_A, seq) for seq in range(10)])
        verified = self.call("history", "--verify", "--state-dir", self.state, "--collar", "Athena").splitlines()
        self.assertEqual([json.loads(line)["collar"] for line in verified], [ID_A, ID_B])
        self.call("history", "--state-dir", self.state, "--collar", "Hera", code=66)
        self.assertIn("Nothing of collar ffffffffffffffff is stored", self.errors)
        self.assertIn(f"Stored is: {ID_A}, {ID_B}", self.errors)

    def test_names_in_place_of_ids(self):
        os.mkdir(self.state, 0o700)
        give_to_ordinary_user(self.state)
        self.write("".join(f"[animal n{number}]\n" for number in range(9))
                   + f"[animal Athena]\nwears = {ID_A}\n[animal Zeus]\nwears = {ID_B} until 2020-01-01\n"
                   + "[animal two]\nwears = 0000000000000001\nwears = 0000000000000002\n")
        for command in (["run", "--state-dir", self.state, "-T", "0.1", "--port", self.path("none"), "--collar"],
                        ["send", "--state-dir", self.state, "locate", "--collar"],
                        ["key", "remove", "--state-dir", self.state]):
            for animal, says in (
                    ("Zeus", ("The animal 'Zeus' wears no collar now.", f"It wore: {ID_B}")),
                    ("two", ("The animal 'two' wears 2 collars now.", "0000000000000001, 0000000000000002")),
                    ("Hera", ("takes 16 hexadecimal digits or the name of an animal, not 'Hera'.",
                              "Animals are: n0, n1, n2, n3, n4, n5, n6, n7, ….\n"))):
                with self.subTest(command=command[0], animal=animal):
                    self.call(*command, animal, code=64)
                    for text in says:
                        self.assertIn(text, self.errors)
        self.call("key", "remove", "Athena", "--state-dir", self.state, code=66)
        self.assertIn(f"There is no key of collar {ID_A}", self.errors)
        receiver, radio = self.begin("--collar", "Athena")
        radio.send(B.identity(following=1) + B.fix(0) + A.identity(following=1) + A.fix(0))
        receiver.wait_for_lines(1)
        self.assertEqual([line["collar"] for line in receiver.fixes], [ID_A])


if __name__ == "__main__":
    unittest.main()
