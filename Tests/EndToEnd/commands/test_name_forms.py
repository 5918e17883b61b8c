"""The forms of `name`: combinations of options, ends of wearings, lists and times."""

import json
import os
import time
import unittest

from test_names import ID_A, ID_B, NameTest

ID_C = "00c011a200000003"
DAY = 86_400_000


class EndTest(NameTest):
    def worn(self):
        """Collar, begin and end of each row of the list, by animal."""
        rows = {}
        for line in self.name("-F", "json").splitlines():
            row = json.loads(line)
            rows.setdefault(row["name"], []).append((row["collar"], row["from_unix_ms"], row["until_unix_ms"]))
        return rows

    def test_a_collar_ends_at_the_given_time(self):
        """The collar may be named by its id, in digits of either case, instead of by its animal."""
        for word in (ID_A, ID_A.upper(), "Athena"):
            with self.subTest(word=word):
                self.write(f"[animal Athena]\nwears = {ID_A} from 1970-01-02\n[animal Zeus]\nwears = {ID_B}\n")
                self.name(word, "--end", "--until", "1970-01-04")
                self.assertEqual(self.worn(), {"Athena": [(ID_A, DAY, 3 * DAY)], "Zeus": [(ID_B, None, None)]})

    def test_a_collar_ends_now_without_a_time(self):
        for word in (ID_A, "Athena"):
            with self.subTest(word=word):
                self.write(f"[animal Zeus]\nwears = {ID_B}\n[animal Athena]\nwears = {ID_A}\n")
                before = int(time.time()) * 1000
                self.name(word, "--end")
                worn = self.worn()
                self.assertTrue(before <= worn["Athena"][0][2] <= time.time() * 1000, worn)
                self.assertEqual(worn["Zeus"], [(ID_B, None, None)])

    def test_a_collar_that_is_worn_for_a_time(self):
        for options, begin, end in ((("--from", "1970-01-02", "--until", "1970-01-04"), DAY, 3 * DAY),
                                        (("--until", "1970-01-03"), None, 2 * DAY)):
            with self.subTest(options=options):
                self.write("")
                self.name(ID_A, "Athena", *options)
                self.assertEqual(self.worn(), {"Athena": [(ID_A, begin, end)]})

    def test_only_collars_that_are_still_worn_are_told(self):
        self.write(f"[animal Athena]\nwears = {ID_A} from 2020-01-01 until 2021-01-01\nwears = {ID_B} from 2021-01-01\n"
                   f"wears = {ID_C} from 2022-01-01\n")
        self.name("00000000000000d4", "Athena", "--from", "2023-01-01")
        told = [line for line in self.errors.splitlines() if "too" in line]
        self.assertEqual(told, [f"collar-link: Athena wears collar {collar}, too." for collar in (ID_B, ID_C)])
        self.assertIn(f"`collar-link name {ID_C} --end`", self.errors)

    def test_the_former_wearer_is_told_with_the_end_that_the_file_has(self):
        self.write(f"[animal Athena]\nwears = {ID_A} from 2020-01-01 until 2020-02-01\nwears = {ID_A} from 2021-01-01\nwears = {ID_B}\n")
        self.name(ID_A, "Zeus", "--from", "2022-03-04")
        self.assertEqual(self.errors, "collar-link: Athena wore the collar until 2022-03-04.\n")


class ListTest(NameTest):
    def test_a_list_has_the_rows_of_its_word_only(self):
        self.write(f"[animal Athena]\nwears = {ID_A} until 2021-01-01\nwears = {ID_B} from 2021-01-01\n"
                   f"[animal Zeus]\nwears = {ID_A} from 2021-01-01\n[animal Hera]\n")

        def rows(*words):
            found = [json.loads(line) for line in self.name(*words, "-F", "json").splitlines()]
            return [(row["name"], row["collar"]) for row in found]

        self.assertEqual(rows("Athena"), [("Athena", ID_A), ("Athena", ID_B)])
        for collar in (ID_A, ID_A.upper()):
            self.assertEqual(rows(collar), [("Athena", ID_A), ("Zeus", ID_A)])
        self.assertEqual(rows("Hera"), [("Hera", None)])
        self.assertEqual(len(rows()), 4)
        # Names keep their case, and an animal without a collar is no answer to an id.
        self.name("athena", code=64)
        self.name(ID_C, code=64)

    def test_columns_are_as_wide_as_their_widest_cell(self):
        self.write(f"[animal Zoë]\n[animal The long one]\nwears = {ID_A} until 2021-01-01T10:00:00Z\nspecies = Felis catus\n")
        self.assertEqual(self.name().splitlines(), [
            "NAME          COLLAR            FROM  UNTIL                 SPECIES",
            "Zoë           -                 -     -                     -",
            f"The long one  {ID_A}  -     2021-01-01T10:00:00Z  Felis catus"])


class FormTest(NameTest):
    def test_options_that_belong_to_another_form(self):
        content = f"[animal Athena]\nwears = {ID_A}\n"
        self.write(content)
        until, start = ("--until", "2026-01-01"), ("--from", "2026-01-01")
        for arguments in (
                ("Athena", *until), ("Athena", *start), (ID_A, *until), ("--species", "x"), ("--notes", "x"), (*until,),
                ("Athena", "--end", *start), ("Athena", "--end", "--species", "x"), ("Athena", "--end", "--rename", "B"),
                ("Athena", "--end", "--remove"), ("Athena", "--end", "-F", "json"), ("Athena", "--rename", "B", *until),
                ("Athena", "--rename", "B", "--notes", "x"), ("Athena", "--rename", "B", "-F", "text"), ("Athena", "--remove", *until),
                ("Athena", "--remove", "--rename", "B"), ("Athena", "--species", "x", *until), ("Athena", "--notes", "x", *start),
                ("Athena", "--notes", "x", "-F", "json"), (ID_B, "Hera", "--end"), (ID_B, "Hera", "--remove"),
                (ID_B, "Hera", "--rename", "B"), (ID_B, "Hera", "-F", "json")):
            with self.subTest(arguments=arguments):
                self.assertEqual(self.name(*arguments, code=64), "")
                self.assertIn("Leave out `-", self.errors)
                self.assertEqual(self.read(), content)

    def test_a_description_is_changed_in_parts(self):
        self.write(f"[animal Athena]\nwears = {ID_A}\n")

        def described():
            row = json.loads(self.name("Athena", "-F", "json"))
            return row["species"], row["notes"]

        self.name("Athena", "--notes", "grey")
        self.assertEqual(described(), (None, "grey"))
        self.name("Athena", "--species", "Felis catus")
        self.assertEqual(described(), ("Felis catus", "grey"))
        self.name(ID_B, "Athena", "--notes", "old")
        self.assertEqual([json.loads(line)["notes"] for line in self.name("Athena", "-F", "json").splitlines()], ["old", "old"])

    def test_what_changes_nothing_leaves_the_file_alone(self):
        self.write("# mine\n[animal Athena]\nnotes = grey\n")
        before = os.stat(self.animals)
        self.name("Athena", "--notes", "grey")
        after = os.stat(self.animals)
        self.assertEqual((after.st_ino, after.st_mtime_ns), (before.st_ino, before.st_mtime_ns))

    def test_the_first_digits_of_a_collar_that_only_the_file_knows(self):
        self.write(f"[animal Athena]\nwears = {ID_A} until 2020-01-01\n[animal 0123]\nwears = {ID_C}\n")
        for given in (ID_A[:6], ID_A[:7].upper()):
            self.name(given, "Zeus", "--from", "2021-01-01")
            self.assertEqual(json.loads(self.name("Zeus", "-F", "json"))["collar"], ID_A)
            self.name("Zeus", "--remove")
        # Digits that are the name of an animal are no collar, and neither are three.
        for given in ("0123", ID_A[:3], ID_A[1:6]):
            with self.subTest(given=given):
                self.name(given, "Zeus", code=64)
                self.assertIn(f"'{given}' is not the id of a collar", self.errors)


class TimeTest(NameTest):
    def begin_of(self, text):
        self.write("")
        self.name(ID_A, "Athena", "--from", text)
        return json.loads(self.name("-F", "json"))["from_unix_ms"]

    def test_ages_count_back_from_now(self):
        for text, seconds in (("90s", 90), ("30m", 1800), ("2h", 7200), ("3d", 259_200), ("2w", 1_209_600), ("0s", 0)):
            with self.subTest(text=text):
                before = int(time.time())
                begin = self.begin_of(text)
                self.assertTrue((before - seconds) * 1000 <= begin <= (time.time() - seconds) * 1000, begin)
                self.assertEqual(begin % 1000, 0)

    def test_seconds_dates_and_times(self):
        for text, milliseconds in (("@1763719200", 1_763_719_200_000), ("2025-11-21", 1_763_683_200_000),
                                   ("2025-11-21T11:00:00+01:00", 1_763_719_200_000)):
            with self.subTest(text=text):
                self.assertEqual(self.begin_of(text), milliseconds)

    def test_milliseconds_are_recognised(self):
        """Times in lines have milliseconds. As seconds, they would be far in the future."""
        for option, *command in (("--from", "name", ID_A, "Athena"), ("--since", "history", "--state-dir", self.folder)):
            for text in ("1763719200000", "@1763719200000", "100000000000"):
                with self.subTest(option=option, text=text):
                    self.call(*command, option, text, code=64)
                    self.assertIn(f"These are milliseconds. As seconds: @{int(text.lstrip('@')) // 1000}.", self.errors)
            self.call(*command, option, "99999999999", code=64)
            self.assertNotIn("milliseconds", self.errors)




if __name__ == "__main__":
    unittest.main()
