"""The files of keys, as `key` reads, changes and prints them."""

import os
import pathlib
import unittest

from end_to_end import give_to_ordinary_user
from key_case import KEY, KeyTest

NAME, OTHER = "0123456789abcdef", "00000000000000ff"
SECOND, THIRD = "ff" + KEY[2:], "fe" + KEY[2:]


class KeyFileTest(KeyTest):
    def stored(self, name=NAME):
        return pathlib.Path(self.state, "keys", name).read_text("ascii")

    def store(self, text, name=NAME):
        """A key file as an earlier command or a receiver has left it."""
        self.key_command("add", name, "-", "--replace", stdin=THIRD)
        pathlib.Path(self.state, "keys", name).write_text(text, "ascii")

    def test_a_key_in_a_file(self):
        """White space is no part of it, and neither is a second line."""
        for number, text in enumerate((KEY, KEY + "\r\n",
                                       f"\n \n{KEY.upper()}\n", f"{KEY[:16]} {KEY[16:]}\n", f"\t{KEY}\n{SECOND}\n", f"\ufeff{KEY}\n")):
            with self.subTest(text=text):
                name = f"{number:016x}"
                path = self.path("key of a collar")
                pathlib.Path(path).write_text(text, "utf-8")
                # The key is in the file already, and is not printed again.
                self.assertEqual(self.key_command("add", name, path).stdout, "")
                self.assertEqual(self.key_command("show", name).stdout, KEY + "\n")
        for text, line in (("", 1), ("\n\n", 2), (f"\nkey: {KEY}\n", 2), (KEY[:-2], 1)):
            with self.subTest(text=text):
                pathlib.Path(path).write_text(text, "utf-8")
                self.assertIn(f"{path}, line {line}: ", self.key_command("add", NAME, path, code=65).stderr)
        self.assertNotIn(NAME, self.key_command("list").stdout)

    def test_keys_that_are_not_confirmed(self):
        """`key show` prints the newest of them. `key list` does not list the collar."""
        self.store(f"pending {KEY}\npending {SECOND}\n")
        self.key_command("add", OTHER, "-", stdin=KEY)
        listed = self.key_command("list")
        self.assertEqual(listed.stdout, OTHER + "\n")
        self.assertIn(f"Collar {NAME} has a new key and has not confirmed it.", listed.stderr)
        shown = self.key_command("show", NAME)
        self.assertEqual((shown.stdout, shown.stderr), (SECOND + "\n", "collar-link: The collar has not confirmed this key.\n"))
        # A key that is given takes no other's place, so nothing must be replaced.
        self.key_command("add", NAME, "-", stdin=THIRD)
        self.assertEqual(self.stored(), f"{THIRD}\npending {KEY}\npending {SECOND}\n")

    def test_each_replacement_is_kept_until_one_is_used(self):
        self.key_command("add", NAME, "-", stdin=KEY)
        for key in (SECOND, THIRD, SECOND):
            self.key_command("add", NAME, "-", "--replace", stdin=key)
            self.assertIn(f"pending {key}\n", self.stored())
        self.assertEqual(self.stored().splitlines()[0], KEY)
        self.assertEqual(self.key_command("show", NAME).stdout, KEY + "\n")
        # The key in use is no replacement of itself.
        before = self.stored()
        self.key_command("add", NAME, "-", "--replace", stdin=KEY)
        self.assertEqual(self.stored(), before)

    def test_a_permission_to_restart(self):
        """It is for one log, the last one that was given, and stays where the same key is given again."""
        self.key_command("add", NAME, "-", stdin=KEY)
        for log in ("0", "67108863", "77"):
            self.key_command("accept-restart", NAME, log)
            self.assertEqual(self.stored(), f"{KEY}\naccept-restart {log}\n")
        self.key_command("add", NAME, "-", stdin=KEY)
        self.assertIn("accept-restart 77\n", self.stored())
        self.key_command("add", NAME, "-", "--replace", stdin=SECOND)
        self.assertNotIn("accept-restart", self.stored())
        for log in ("-1", "x", "1.0", ""):
            self.key_command("accept-restart", NAME, log, code=64)

    def test_words_of_a_verb(self):
        self.key_command("add", NAME, "-", stdin=KEY)
        for words in (["list", NAME], ["show"], ["show", NAME, "x"], ["remove"], ["remove", NAME, OTHER], ["add"], ["exchange", NAME],
                      ["accept-restart", NAME], ["lst"]):
            with self.subTest(words=words):
                self.assertIn("`key` needs one of: ", self.key_command(*words, code=64).stderr)
        self.assertEqual(self.key_command("list").stdout, NAME + "\n")

    def test_a_removed_key_is_no_key(self):
        self.key_command("add", NAME, "-", stdin=KEY)
        self.key_command("add", OTHER, "-", stdin=SECOND)
        self.key_command("remove", NAME.upper())
        for words in (["show", NAME], ["remove", NAME], ["accept-restart", NAME, "5"]):
            self.assertIn(f"There is no key of collar {NAME}.", self.key_command(*words, code=66).stderr)
        self.assertEqual(self.key_command("show", OTHER).stdout, SECOND + "\n")
        # A new key is made without another word.
        self.assertRegex(self.key_command("add", NAME).stdout, r"\A[0-9a-f]{32}\n\Z")

    def test_keys_that_are_made_differ(self):
        made = {self.key_command("add", f"{number:016x}").stdout for number in range(4)}
        self.assertEqual(len(made), 4)

    def test_a_damaged_key_of_another_collar_stops_no_exchange(self):
        """The error is reported, and the exchange with the collar at the cable goes on."""
        self.store("not a key\n", OTHER)
        self.hand_over()
        give_to_ordinary_user(self.state)
        track, _ = self.track("cats_uk/Athena", limit=5)
        cable = self.path("cable")
        self.simulate(track, *("--seed", "7"), "--cable", cable)
        done = self.key_command("exchange", "--port", cable)
        self.assertIn(f"{os.path.join(self.state, 'keys', OTHER)} does not hold a key", done.stderr)
        name = done.stdout.strip()
        self.assertRegex(self.stored(name), r"\A[0-9a-f]{32}\n\Z")
        self.assertEqual(self.stored(OTHER), "not a key\n")


if __name__ == "__main__":
    unittest.main()
