"""A journal or a reader's file that cannot be read hides none of the others, in each command that reads all of them."""

import glob
import json
import os
import pathlib
import shutil
import unittest

from end_to_end import BINARY, give_to_ordinary_user
from reader_case import NAME_A, NAME_B, ReaderTest

from session_parts import A, B

FIRST, LAST = "00000000000000b0", "ffffffffffffffb0"


class DamagedJournalsTest(ReaderTest):
    """Ten fixes of A and five of B are stored. One reader has all, one reads A only, and one B only."""

    def setUp(self):
        super().setUp()
        receiver, radio = self.begin()
        radio.send(A.identity(following=10) + A.batch(range(10)) + B.identity(following=5) + B.batch(range(5)))
        self.wait_for_stored(15)
        for name, *options in (("all", "-n", "15"), ("of a", "--collar", NAME_A, "-n", "9"), ("of b", "--collar", NAME_B, "-n", "1")):
            self.assertEqual(self.start([BINARY, "follow", "--state-dir", self.state, "--as", name.replace(" ", "-"), *options]).wait(), 0)
        receiver.stop()

    def put_file(self, name):
        """A file in the place of a collar's journal."""
        path = pathlib.Path(self.state) / name
        path.write_text("notes", "ascii")
        give_to_ordinary_user(path)

    def put_foreign(self, name):
        """The journal of A in the place of another one."""
        path = os.path.join(self.state, name)
        shutil.copytree(os.path.join(self.state, NAME_A), path)
        for each in (path, *glob.glob(f"{path}/*")):
            give_to_ordinary_user(each)

    def damage(self, name):
        segment, = glob.glob(f"{self.state}/{name}/*.journal")
        with open(segment, "r+b") as file:
            file.seek(150)
            byte = file.read(1)[0]
            file.seek(150)
            file.write(bytes([byte ^ 0x20]))

    def figures(self, **options):
        """The figures of `metrics` by their names with labels."""
        lines = [line for line in self.tool("metrics", **options).splitlines() if not line.startswith("#")]
        return {line.rsplit(" ", 1)[0].removeprefix("collar_link_"): float(line.rsplit(" ", 1)[1]) for line in lines}

    def test_figures_of_the_others(self):
        self.put_file(FIRST)
        found = self.figures(code=66)
        self.assertEqual([found[f'collar_stored_total{{collar="{name}"}}'] for name in (NAME_A, NAME_B)], [10, 5])
        self.assertEqual([found.get(f'reader_lag_entries{{reader="{name}"}}') for name in ("all", "of-a", "of-b")], [None, 1, 4])
        self.assertIn(FIRST, self.errors)
        self.assertEqual(found["up"], 0)

    def test_figures_beside_a_reader_that_cannot_be_read(self):
        pathlib.Path(self.state, "readers/aaa.reader").write_text("?", "ascii")
        pathlib.Path(self.state, "readers/of-a.reader").write_text("?", "ascii")
        found = self.figures()
        self.assertEqual([found.get(f'reader_unreadable{{reader="{name}"}}') for name in ("aaa", "all", "of-a", "of-b")], [1, 0, 1, 0])
        self.assertEqual([found.get(f'reader_lag_entries{{reader="{name}"}}') for name in ("aaa", "all", "of-a", "of-b")],
                         [None, 0, None, 4])

    def test_overview_of_the_others(self):
        self.put_file(FIRST)
        self.put_file(LAST)
        overview = json.loads(self.tool("status", "-F", "json", code=66))
        self.assertEqual([(each["collar"], each["stored"]) for each in overview["collars"]], [(NAME_A, 10), (NAME_B, 5)])
        self.assertEqual([(each["name"], each["lag"]) for each in overview["readers"]], [("of-a", 1), ("of-b", 4)])

    def test_list_of_the_other_readers(self):
        self.put_file(FIRST)
        listed = self.tool("readers", code=66).splitlines()
        self.assertRegex(listed[0], rf"^of-a  1 entry behind, the oldest received .* ago  last seen .* ago  collars {NAME_A}$")
        self.assertRegex(listed[1], rf"^of-b  4 entries behind, .*  collars {NAME_B}$")
        lines = [json.loads(line) for line in self.tool("readers", "-F", "json", code=66).splitlines()]
        self.assertEqual([line["collars"] for line in lines], [[NAME_A], [NAME_B]])

    def test_the_first_failure_gives_the_exit_code(self):
        for file, foreign, code in ((FIRST, LAST, 66), (LAST, FIRST, 78)):
            self.put_file(file)
            self.put_foreign(foreign)
            for command in (["metrics"], ["status"], ["history"], ["history", "--sort", "sequence"], ["history", "--verify"]):
                with self.subTest(command=command, first=FIRST if file == FIRST else foreign):
                    self.tool(*command, code=code)
                    self.assertIn(f"{self.state}/{file}", self.errors)
                    self.assertIn(f"{self.state}/{foreign}", self.errors)
            os.unlink(os.path.join(self.state, file))
            shutil.rmtree(os.path.join(self.state, foreign))

    def test_each_damaged_journal_is_told_once(self):
        self.damage(NAME_A)
        self.damage(NAME_B)
        for order in ("arrival", "sequence"):
            with self.subTest(order=order):
                lines = [json.loads(line) for line in self.tool("history", "--events", "fix", "--sort", order).splitlines()]
                self.assertEqual([sum(line["collar"] == name for line in lines) for name in (NAME_A, NAME_B)], [9, 4])
                told = [line for line in self.errors.splitlines() if "is damaged; what is whole follows." in line]
                self.assertEqual(told, [f"collar-link: The journal of collar {name} is damaged; what is whole follows."
                                        for name in (NAME_A, NAME_B)])

    def test_damage_counts_more_than_a_journal_that_cannot_be_read(self):
        self.put_file(FIRST)
        self.damage(NAME_B)
        lines = [json.loads(line) for line in self.tool("history", "--verify", code=65).splitlines()]
        self.assertEqual([(line["collar"], line["intact"]) for line in lines], [(NAME_A, True), (NAME_B, False)])
        self.assertIn(FIRST, self.errors)

    def test_a_repair_leaves_sound_journals_alone(self):
        self.damage(NAME_B)
        sound, = glob.glob(f"{self.state}/{NAME_A}/*.journal")
        before = pathlib.Path(sound).read_bytes()
        self.tool("history", "--verify", "--repair")
        self.assertIn(f"ollar {NAME_B} is asked for these again", self.errors)
        self.assertNotIn(NAME_A, self.errors)
        self.assertEqual((pathlib.Path(sound).read_bytes(), glob.glob(f"{self.state}/{NAME_A}/*.journal")), (before, [sound]))
        # Only the chosen collar is repaired.
        self.damage(NAME_A)
        self.tool("history", "--verify", "--repair", "--collar", NAME_B)
        self.tool("history", "--verify", "--collar", NAME_A, code=65)


if __name__ == "__main__":
    unittest.main()
