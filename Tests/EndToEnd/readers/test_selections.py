"""The stored entries that `history`, `follow` and `deliver` print, and their order."""

import json
import os
import pathlib
import subprocess
import time
import unittest

from end_to_end import BINARY, ORDINARY_USER, child_environment, give_to_ordinary_user
from reader_case import NAME_A, NAME_B, ReaderTest

from session_parts import START, A, B

UNHEARD = "00c011a200000003"


def at(sequence):
    """The time of a fix of the collars."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(START // 1000 + sequence))


class SelectionTest(ReaderTest):
    """Of A, 6 to 9 came before 0 to 3, then that 4 and 5 are lost, and a message, 10. Of B there are 0 to 4."""

    def setUp(self):
        super().setUp()
        receiver, radio = self.begin()
        radio.send(A.identity(following=11) + A.batch(range(6, 10)) + A.batch(range(4)) + A.tombstone([(4, 5)]) + A.message(10)
                   + B.identity(following=5) + B.batch(range(5)))
        self.wait_for_stored(13)
        receiver.stop()
        self.configuration = self.path("configuration")

    def name_animals(self, text):
        folder = os.path.join(self.configuration, "collar-link")
        os.makedirs(folder, exist_ok=True)
        animals = pathlib.Path(folder) / "animals"
        animals.write_text(text, "ascii")
        for each in (self.configuration, folder, animals):
            give_to_ordinary_user(each)

    def lines(self, *arguments, code=0):
        """The lines of a command that ends. A command of `deliver` copies its input to stderr."""
        done = subprocess.run([BINARY, arguments[0], "--state-dir", self.state, *arguments[1:]], capture_output=True, text=True, timeout=20,
                              check=False, env=child_environment(XDG_CONFIG_HOME=self.configuration), **ORDINARY_USER)
        self.errors = done.stderr
        self.assertEqual(done.returncode, code, done.stderr)
        text = done.stderr if arguments[0] == "deliver" else done.stdout
        return [json.loads(line) for line in text.splitlines()]

    def entries(self, *arguments, **options):
        """For each line, a letter of the collar, and the sequence or the range of the gap."""
        return [({NAME_A: "a", NAME_B: "b"}[line["collar"]],
                 line["seq"] if line["type"] != "gap" else (line["event"], line["first_seq"], line["last_seq"]))
                for line in self.lines(*arguments, **options)]

    GAP = ("a", ("lost", 4, 5))
    OF_B = [("b", number) for number in range(5)]
    ARRIVED = [("a", number) for number in (6, 7, 8, 9, 0, 1, 2, 3)]
    SORTED = sorted(ARRIVED)

    def test_kinds_in_each_order(self):
        for kinds, arrived, ordered in (
                ("fix", self.ARRIVED + self.OF_B, self.SORTED + self.OF_B), ("gap", [self.GAP], [self.GAP]),
                ("message", [("a", 10)], [("a", 10)]), ("message,gap", [self.GAP, ("a", 10)], [self.GAP, ("a", 10)]),
                ("all", [*self.ARRIVED, self.GAP, ("a", 10), *self.OF_B],
                 [*self.SORTED[:4], self.GAP, *self.SORTED[4:], ("a", 10), *self.OF_B])):
            for order, wanted in (("arrival", arrived), ("sequence", ordered)):
                with self.subTest(kinds=kinds, order=order):
                    self.assertEqual(self.entries("history", "--events", kinds, "--sort", order), wanted)

    def test_followers_sort_as_well(self):
        for options, wanted in ((["--sort", "sequence"], self.SORTED), (["--sort", "arrival"], self.ARRIVED), ([], self.ARRIVED)):
            with self.subTest(options=options):
                self.assertEqual(self.entries("follow", "--collar", NAME_A, "-n", "8", *options), wanted)
                name = f"sink-{len(options)}-{options[-1] if options else ''}"
                self.assertEqual(self.entries("deliver", name, "--collar", NAME_A, "--once", *options, "--", "cat"), wanted)

    def test_an_animal_has_each_collar_for_its_time(self):
        self.name_animals(f"[animal Athena]\nwears = {NAME_A} from {at(1)} until {at(7)}\nwears = {NAME_B} from {at(3)}\n"
                          f"wears = {UNHEARD} until 2020-01-01\n[animal Zeus]\nwears = {NAME_A} from {at(7)}\n")
        of_athena = [("a", number) for number in (6, 1, 2, 3)] + [("b", 3), ("b", 4)]
        self.assertEqual(self.entries("history", "--events", "fix", "--collar", "Athena"), of_athena)
        self.assertEqual(self.entries("history", "--events", "fix", "--collar", "Athena", "--sort", "sequence"),
                         [*sorted(of_athena[:4]), *of_athena[4:]])
        self.assertEqual(sorted(self.entries("follow", "--collar", "Athena", "-n", "6")), sorted(of_athena))
        self.assertEqual(sorted(self.entries("deliver", "sink", "--collar", "Athena", "--once", "--", "cat")), sorted(of_athena))
        self.assertEqual(self.entries("history", "--events", "fix", "--collar", "Zeus"), [("a", 7), ("a", 8), ("a", 9)])
        self.assertEqual({line["name"] for line in self.lines("history", "--events", "fix", "--collar", "Zeus")}, {"Zeus"})

    def test_after_an_id_follows_only_its_collar(self):
        ids = {(line["collar"], line["seq"]): line["id"] for line in self.lines("history", "--events", "fix,message")}
        for number, rest in ((9, self.ARRIVED[4:]), (3, []), (0, self.ARRIVED[5:])):
            with self.subTest(number=number):
                self.assertEqual(self.entries("history", "--events", "fix", "--since", ids[NAME_A, number]), rest)
        self.assertEqual(self.entries("history", "--since", ids[NAME_A, 10]), [])
        # The id is that of a collar which is not wanted, or which is not stored, or of a fix that is not.
        for command in (["--collar", NAME_B, "--since", ids[NAME_A, 9]], ["--since", ids[NAME_A, 9].replace("0123", "0124", 1)],
                        ["--since", ids[NAME_A, 9][:-1] + "c"], ["--sort", "sequence", "--since", ids[NAME_A, 9][:-1] + "c"]):
            with self.subTest(command=command):
                self.assertEqual(self.lines("history", *command, code=66), [])
                self.assertIn("is not stored here.", self.errors)

    def test_what_a_quiet_reader_says(self):
        """A later `--log` raises the level again, whether the reader has lines to print or not."""
        self.tool("follow", "--as", "db", "-n", "1")
        for command in (["follow", "--as", "db", "-T", "0.05"], ["deliver", "db", "--once"]):
            for options, is_said in (([], True), (["-q"], False), (["--log", "warning"], False), (["-q", "--log", "info"], True),
                                     (["--log", "collar-location:info", "-q"], True), (["-q", "--log", "power:info"], False)):
                with self.subTest(command=command[0], options=options):
                    program = self.start([BINARY, *command, *options, "--since", "1h", "--state-dir", self.state,
                                          *(["--", "true"] if command[0] == "deliver" else [])])
                    self.assertEqual(program.wait(), 0, program.error_text)
                    self.assertEqual("`--since` is for its first start" in program.error_text, is_said, program.error_text)

    def test_formats_without_lines_for_gaps(self):
        """They have every fix, whatever kinds are usual."""
        for form in ("csv", "geojson", "gpx"):
            text = subprocess.run([BINARY, "history", "-F", form, "--state-dir", self.state], capture_output=True, text=True, timeout=20,
                                  check=True, env=child_environment(), **ORDINARY_USER).stdout
            marks = {"csv": f",{NAME_A},", "geojson": f'"collar":"{NAME_A}"', "gpx": "<trkpt "}
            self.assertEqual(text.count(marks[form]), 13 if form == "gpx" else 8, form)
            self.assertEqual(text.count("<trkseg>"), 3 if form == "gpx" else 0)

    def test_a_message_between_two_fixes_is_no_gap_of_a_track(self):
        """Messages and fixes share their numbers. Of B, 5 is a message and 6 a fix."""
        receiver, radio = self.begin()
        radio.send(B.identity(following=7) + B.message(5) + B.fix(6))
        self.wait_for_stored(14)
        receiver.stop()
        text = self.tool("history", "-F", "gpx", "--collar", NAME_B)
        self.assertEqual((text.count("<trkpt "), text.count("<trkseg>")), (6, 1))
        self.assertEqual(self.tool("history", "-F", "geojson-track", "--collar", NAME_B).count("LineString"), 1)


if __name__ == "__main__":
    unittest.main()
