"""The places of the state directory and the user's files, and the errors if they are missing."""

import json
import os
import pathlib
import shutil
import subprocess
import unittest

from end_to_end import BINARY, IS_ROOT, ORDINARY_USER, EndToEndTest, can_replace_etc, child_environment, give_to_ordinary_user

COLLAR = "0123456789abcdef"
# The start of a command, as root, that sees an empty folder in the place of /var/lib.
WITH_OWN_VAR_LIB = ["unshare", "-m" if IS_ROOT else "-rm", "sh", "-ec", 'mount -t tmpfs none /var/lib && exec "$@"', "sh"]


class PlaceCase(EndToEndTest):
    def setUp(self):
        super().setUp()
        self.environment = child_environment(HOME=self.path("home"), XDG_RUNTIME_DIR=self.folder)
        for name in ("home", "state home"):
            os.mkdir(self.path(name))
            give_to_ordinary_user(self.path(name))

    def call(self, *arguments, code=0, prefix=(), user=None, **variables):
        """The output of a command in the test's folder; `self.errors` is what it writes on stderr. None removes a variable."""
        environment = {key: value for key, value in {**self.environment, **variables}.items() if value is not None}
        done = subprocess.run([*prefix, BINARY, *arguments], capture_output=True, text=True, timeout=20, check=False, env=environment,
                              cwd=self.folder, **(ORDINARY_USER if user is None else user))
        self.errors = done.stderr
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout


class StateDirectoryTest(PlaceCase):
    def place(self, **variables):
        """The state directory that `status` names."""
        return json.loads(self.call("status", "-F", "json", **variables))["state_dir"]

    def test_only_an_absolute_variable_names_a_place(self):
        home, state = self.path("home"), self.path("state home")
        usual = f"{home}/.local/state/collar-link"
        self.assertEqual(self.place(XDG_STATE_HOME=state), f"{state}/collar-link")
        for unusable in ("state home", "", "./state home", "~"):
            with self.subTest(unusable=unusable):
                self.assertEqual(self.place(XDG_STATE_HOME=unusable), usual)
        # A relative HOME names no place either, beside a variable that does and alone.
        self.assertEqual(self.place(XDG_STATE_HOME=state, HOME="home"), f"{state}/collar-link")
        for unusable in ("home", "", None):
            with self.subTest(unusable=unusable):
                self.call("--port", "none", "-T", "0.1", code=78, HOME=unusable, XDG_STATE_HOME="state home")
                self.assertIn("neither XDG_STATE_HOME nor HOME is set", self.errors)
        self.assertEqual(os.listdir(home) + os.listdir(state), [])

    @unittest.skipUnless(can_replace_etc(), "needs user namespaces")
    def test_the_directory_of_the_service_is_read_where_there_is_no_own_one(self):
        def place(service, **variables):
            prepared = ["sh", "-ec", ("mkdir /var/lib/collar-link; " if service else "") + 'exec "$@"', "sh"]
            return json.loads(self.call("status", "-F", "json", prefix=[*WITH_OWN_VAR_LIB, *prepared], user={}, **variables))["state_dir"]

        own = self.path("state home/collar-link")
        variables = {"XDG_STATE_HOME": self.path("state home")}
        self.assertEqual(place(False, **variables), own)
        self.assertEqual(place(True, **variables), "/var/lib/collar-link")
        self.assertEqual(place(True, HOME=None), "/var/lib/collar-link")
        # A file is no directory.
        pathlib.Path(own).touch()
        self.assertEqual(place(True, **variables), "/var/lib/collar-link")
        os.unlink(own)
        os.mkdir(own)
        self.assertEqual(place(True, **variables), own)

    def test_a_named_directory_must_be_one(self):
        pathlib.Path(self.path("file")).touch()
        for command in (["status"], ["metrics"], ["readers"], ["readers", "--remove", "x"], ["key", "list"], ["key", "show", COLLAR],
                        ["key", "remove", COLLAR], ["key", "accept-restart", COLLAR, "1"], ["receiver", "show"], ["receiver", "export"],
                        ["send", "locate"], ["send", "unpair"], ["follow"]):
            for name in ("missing", "file", "file/below"):
                with self.subTest(command=command, name=name):
                    self.assertEqual(self.call(*command, "--state-dir", name, code=66), "")
                    self.assertIn(f"There is no directory {name}.", self.errors)
        self.assertFalse(os.path.exists(self.path("missing")))

    @unittest.skipUnless(IS_ROOT, "only root can close a directory to the ordinary user")
    def test_a_directory_behind_a_closed_one_is_not_missing(self):
        os.makedirs(self.path("closed/state"))
        os.chmod(self.path("closed"), 0o700)
        self.call("metrics", "--state-dir", "closed/state", code=77)
        self.assertNotIn("There is no directory", self.errors)

    def test_commands_that_make_the_directory(self):
        self.assertRegex(self.call("key", "add", COLLAR, "--state-dir", "for a key"), r"\A[0-9a-f]{32}\n\Z")
        self.assertEqual(self.call("key", "list", "--state-dir", "for a key"), COLLAR + "\n")
        # `pair` comes before anything is stored, and finds no collar in the time that it has.
        self.call("send", "--state-dir", "for a pair", "--port", self.path("none"), "--timeout", "0", "--collar", COLLAR, "pair", code=66)
        self.assertIn(f"Collar {COLLAR} was never heard here", self.errors)
        self.assertTrue(os.path.isdir(self.path("for a pair")))


class UserFileTest(PlaceCase):
    def test_only_an_absolute_variable_names_the_place_of_the_names(self):
        for place, variables in (("state home/collar-link", {"XDG_CONFIG_HOME": self.path("state home")}),
                                 ("home/.config/collar-link", {"XDG_CONFIG_HOME": "state home"}),
                                 ("home/.config/collar-link", {"XDG_CONFIG_HOME": ""})):
            with self.subTest(variables=variables):
                self.call("name", COLLAR, "Athena", **variables)
                animals = pathlib.Path(self.path(place)) / "animals"
                self.assertEqual(animals.read_text("ascii"), f"[animal Athena]\nwears = {COLLAR}\n")
                animals.unlink()
        for unusable in ("home", ""):
            self.call("name", COLLAR, "Athena", HOME=unusable, code=78)


class ScratchDirectoryTest(PlaceCase):
    def setUp(self):
        super().setUp()
        shutil.copy(pathlib.Path(__file__).resolve().parents[2] / "Captures/rnode-stick.pcapng", self.path("capture"))
        os.chmod(self.path("capture"), 0o644)

    def test_a_playback_leaves_nothing_where_it_stored(self):
        place = self.path("scratch")
        os.mkdir(place)
        give_to_ordinary_user(place)
        lines = self.call("--read", "capture", TMPDIR=place)
        self.assertGreater(lines.count("\n"), 1)
        self.assertEqual(os.listdir(place), [])
        # What TMPDIR names is used, and a relative path is no place.
        self.call("--read", "capture", code=73, TMPDIR=self.path("missing"))
        self.assertIn(f"No directory can be made in {self.path('missing')}", self.errors)
        self.assertEqual(self.call("--read", "capture", TMPDIR="missing").count("\n"), lines.count("\n"))
        # A named directory keeps all of it, and needs no other place.
        self.call("--read", "capture", "--state-dir", "kept", TMPDIR=self.path("missing"))
        self.assertEqual(self.call("history", "--events", "fix", "--state-dir", "kept").count("\n"), lines.count("\n"))


if __name__ == "__main__":
    unittest.main()
