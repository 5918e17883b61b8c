"""Options as they are typed: forms, limits and combinations. Each command ends before it does anything."""

import os
import pathlib
import subprocess
import unittest

from end_to_end import BINARY, ORDINARY_USER, EndToEndTest, child_environment, give_to_ordinary_user

COLLAR = "0123456789abcdef"


class ArgumentCase(EndToEndTest):
    def setUp(self):
        super().setUp()
        self.environment = child_environment(HOME=self.folder, XDG_RUNTIME_DIR=self.folder)
        os.mkdir(self.path("empty"))
        give_to_ordinary_user(self.path("empty"))

    def call(self, *arguments, code):
        """What a command writes on stderr."""
        done = subprocess.run([BINARY, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20, check=False,
                              env=self.environment, cwd=self.folder, **ORDINARY_USER)
        self.assertEqual(done.returncode, code, f"{arguments}: {done.stderr}")
        return done.stderr

    def assert_refused(self, *arguments, says=""):
        with self.subTest(arguments=arguments):
            self.assertIn(says, self.call(*arguments, code=64))


class FormTest(ArgumentCase):
    def test_forms_of_an_option(self):
        """With valid options, the error is that of the missing journal."""
        for words in (["-F", "csv"], ["-Fcsv"], ["--format", "csv"], ["--format=csv"],
                      ["--utc"], ["--utc", "--utc"], ["--verify", "-Ftext"]):
            with self.subTest(words=words):
                self.assertIn("Nothing is stored in empty.", self.call("history", *words, "--state-dir", "empty", code=66))
        self.assert_refused("history", "-F=csv", says="not '=csv'.")
        self.assert_refused("history", "--utc=yes", says="`--utc` takes no value.")
        self.assert_refused("history", "--state-dir=", says="`--state-dir` needs a value: `--state-dir DIR`.")
        self.assert_refused("history", "--state-dir", "", says="`--state-dir` needs a value")
        self.assert_refused("history", "-F", "csv", "--format", "csv", says="`--format` is given twice.")
        self.assert_refused("decode", "one", "two", says="`decode` takes no further operand: 'two'.")

    def test_words_after_two_hyphens_are_operands(self):
        for word in ("-F", "--bare", "--help"):
            self.assertIn(f"{word} cannot be opened: No such file", self.call("decode", "--", word, code=66))
        self.assert_refused("decode", "--", "one", "--bare", says="takes no further operand: '--bare'.")

    def test_kinds_of_lines(self):
        for words in ("fix,,gap", "", "fix,", "all,fix", "none", "Fix", "link", "fix, gap"):
            self.assert_refused("history", f"--events={words}", "--state-dir", "empty", says="`--events`")
        for words in ("none,fix", "fix,none", "fixes"):
            self.assert_refused("run", "--events", words)
        for words in ("all", "gap", "fix,fix", "message,gap,fix"):
            self.assertIn("Nothing is stored", self.call("history", "--events", words, "--state-dir", "empty", code=66))
        # Each kind of events is for lines of JSON only, also beside kinds that are not.
        for kind in ("link", "error", "stats", "status", "result"):
            self.assert_refused("run", "--events", f"fix,{kind}", "-F", "csv", says=f"`--events {kind}` has no use")
            self.assert_refused("follow", "--events", f"{kind},gap", "-F", "text", "--state-dir", "empty",
                                says=f"`--events {kind}` has no use")

    def test_the_help_of_the_tool_takes_no_command(self):
        for option in ("-h", "--help", "-V", "--version"):
            self.assert_refused(option, "--port", "x", says="There is no option '--port'.")
        self.assertIn("To receive from this port: `collar-link --port tcp://box:1`.", self.call("tcp://box:1", code=64))


class RemedyTest(ArgumentCase):
    """The options that commands in remedies get."""

    def test_a_cable_is_no_radio(self):
        errors = self.call("run", "--key-file", "x", "--port", "/dev/radio", "--state-dir", "empty", code=64)
        self.assertIn("`collar-link key add --state-dir empty`", errors)

    def test_a_command_for_another_machine_is_left_as_it_is(self):
        errors = self.call("send", "--state-dir", "empty", "--port", "x", "pair", "--to", "9a3f21c", code=64)
        self.assertIn("`--to` takes 8 hexadecimal digits, not '9a3f21c'.", errors)
        self.assertIn("`collar-link receiver show` prints them", errors)


class LimitTest(ArgumentCase):
    def test_of_run(self):
        """Values at a limit are accepted: the error is that of the missing port."""
        pathlib.Path(self.path("file")).touch()
        for option, good, bad in (
                ("--max-size", ("65536", "64K", "1M", "1G", "1048576G"),
                 ("65535", "63K", "1048577G", "9999999999999G", "1.5M", "K", "64k", "-1")),
                ("--keep", ("1", "36500"), ("0", "36501", "1.5")), ("--keep-at-most", ("1", "36500"), ("0", "36501")),
                ("--count", ("1", "9223372036854775807"), ("0", "9223372036854775808", "1.0")),
                ("--duration", ("0.5", "1e9"), ("-1", "1.1e9", "nan", "inf")),
                ("--port", ("tcp://[::1]:1", "tcp://box:65535"), ("tcp://box", "tcp://box:0", "tcp://box:65536", "tcp://:1"))):
            for value in good:
                with self.subTest(option=option, value=value):
                    errors = self.call("--port", "none", "--no-reconnect", "--state-dir", "file", f"{option}={value}", code=73)
                    self.assertIn("file", errors)
            for value in bad:
                self.assert_refused("--port", "none", "--no-reconnect", "--state-dir", "file", f"{option}={value}", says=value)

    def test_of_readers(self):
        """With valid options, the error is that of the missing journal."""
        missing = ["--state-dir", "empty", "--", "cat"]
        for option, good, bad in (("--batch", ("1", "100000"), ("0", "100001")), ("--every", ("0", "86400"), ("-1", "86401"))):
            for value in good:
                self.assertIn("Nothing is stored", self.call("deliver", "db", "--once", option, value, *missing, code=66))
            for value in bad:
                self.assert_refused("deliver", "db", "--once", f"{option}={value}", *missing, says=f"`{option}` takes ")
        for name in ("a" * 65, "a b", "", ".", "a/b"):
            self.assert_refused("follow", f"--as={name}", "--state-dir", "empty")
        for value in ("0", "100001"):
            self.assert_refused("decode", "-F", "homeassistant", "--unknown-accuracy", value, says="from 1 to 100000")
        self.assert_refused("decode", "-F", "owntracks", "--unknown-accuracy", "5", says="`--unknown-accuracy` has no use")

    def test_of_encode(self):
        for option, good, bad in (
                ("--batch", ("1", "64"), ("0", "65")), ("--anchor-lag", ("1", "127"), ("0", "128")),
                ("--precision", ("5", "7"), ("4", "8")),
                ("--max-frame", ("51", "253"), ("50", "254")), ("--log-id", ("0", "67108863"), ("-1", "67108864")),
                ("--address", ("1", "254"), ("0", "255")), ("--device", (COLLAR.upper(),), (COLLAR[:-1], COLLAR + "0", "0x" + COLLAR[2:]))):
            for value in good:
                with self.subTest(option=option, value=value):
                    self.assertIn("missing cannot be opened", self.call("encode", option, value, "missing", code=66))
            for value in bad:
                self.assert_refused("encode", f"{option}={value}", "missing", says=f"`{option}` takes ")


class TogetherTest(ArgumentCase):
    def test_of_a_playback(self):
        for option, *value in (["--write", "x"], ["--no-reconnect"], ["--dialect", "kiss"], ["--region", "EU868"], ["--frequency", "868.1"],
                               ["--bandwidth", "125"], ["--spreading-factor", "7"], ["--coding-rate", "4/5"], ["--tx-power", "1"]):
            self.assert_refused("--read", "missing", option, *value, says=f"`{option}` and `--read` exclude each other.")
        pathlib.Path(self.path("key")).write_text("00" * 16)
        self.assert_refused("--read", "missing", "--key-file", "key", says="`--key-file` needs the collar whose key it is")
        self.assert_refused("decode", "missing", "--key-file", "key", "--log-id", "5", says="`--key-file` needs the collar whose key it is")
        self.assert_refused("--write", "-", says="`--write` takes no '-'")

    def test_of_a_check_of_the_journals(self):
        for option, value in (("--since", "1h"), ("--events", "fix"), ("--sort", "sequence")):
            self.assert_refused("history", "--verify", option, value, "--state-dir", "empty",
                                says=f"`--verify` and `{option}` exclude each other.")
        for form in ("csv", "gpx", "nmea"):
            self.assert_refused("history", "--verify", "-F", form, "--state-dir", "empty", says=f"not as {form}.")

    def test_of_a_saved_machine(self):
        for option, value in (("--state-dir", "x"), ("--region", "EU868"), ("--dialect", "kiss"),
                              ("--frequency", "868.1"), ("--bandwidth", "125"),
                              ("--spreading-factor", "7"), ("--coding-rate", "4/5"), ("--tx-power", "1")):
            self.assert_refused("doctor", "--machine", "x", option, value, says=f"`{option}` and `--machine` exclude each other.")

    def test_of_acknowledged_lines(self):
        follow = ("follow", "--as", "db", "--acknowledge", "--state-dir", "empty")
        for form in ("text", "csv", "geojson"):
            self.assert_refused(*follow, "-F", form, says="`--acknowledge` and `--format` exclude each other.")
        for more in ([], ["-F", "json"]):
            self.assert_refused(*follow, "--flavour", "compact", *more, says="`--acknowledge` and `--flavour` exclude each other.")

    def test_of_requests(self):
        for verb in (["locate"], ["find"], ["report"], ["sound", "1"], ["track", "on"], ["reboot"], ["unpair"],
                     ["settings", "get"], ["settings", "set", "heartbeat_s=60"]):
            for option, *value in (["--data", "00"], ["--wants-reply"], ["--reply-to", "1"], ["--outcome", "ok"]):
                self.assert_refused("send", *verb, option, *value, says=f"`{option}` goes with `message`.")
            self.assert_refused("send", *verb, "--to", "9a3f21c0", says="`--to` goes with `pair`.")
        for one, other in (("--queue", "--now"), ("--queue", "--latest"), ("--now", "--latest")):
            self.assert_refused("send", one, other, "locate", says=f"`{one}` and `{other}` exclude each other.")
        self.assert_refused("send", "--now", "--timeout", "0.0009", "locate", says="leaves no time for an answer")


if __name__ == "__main__":
    unittest.main()
