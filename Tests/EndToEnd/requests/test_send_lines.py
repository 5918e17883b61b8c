"""The requests of `send` to a running receiver, and the output for each answer. The test is the receiver."""

import json
import os
import pathlib
import socket
import threading
import unittest

from end_to_end import IS_ROOT, child_environment, give_to_ordinary_user
from sending import SendTest
from terminals import Terminal

COLLAR, OTHER = "0123456789abcdef", "0123456789abcdee"
QUEUED = {"type": "result", "unix_ms": 1, "collar": COLLAR, "request": 812, "do": "locate", "outcome": "queued"}


def ended(outcome, **more):
    return {**QUEUED, "outcome": outcome, **more}


class FakeReceiver:
    """Listens at the control socket of a state directory, and answers each connection with the next of its scripts."""

    def __init__(self, state, *scripts):
        self.requests = []
        self._scripts = list(scripts)
        self._open = []
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        path = os.path.join(state, "control.sock")
        self._listener.bind(path)
        os.chmod(path, 0o666)
        self._listener.listen()
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        for script in self._scripts:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self.requests.append(json.loads(client.makefile("rb").readline()))
            client.sendall(b"".join(json.dumps(line).encode() + b"\n" for line in script if line))
            # A script that ends with nothing keeps the connection open.
            if script and script[-1] is None:
                self._open.append(client)
            else:
                client.close()

    def close(self):
        for each in [self._listener, *self._open]:
            each.close()


class FakeReceiverTest(SendTest):
    def setUp(self):
        super().setUp()
        os.mkdir(self.state, 0o755)
        give_to_ordinary_user(self.state)
        self.configuration = self.path("configuration")
        # No directory of the user comes before the state directory.
        self.environment = child_environment(XDG_RUNTIME_DIR=self.path("none"), XDG_CONFIG_HOME=self.configuration)

    def served(self, *scripts):
        receiver = FakeReceiver(self.state, *scripts)
        self.addCleanup(receiver.close)
        return receiver

    def ask(self, *words, script=(ended("ok"),), code=0):
        """The request that these words of `send` make. `self.program` is the program."""
        receiver = self.served(script)
        self.program = self.send(*words, environment=self.environment)
        self.assertEqual(self.program.wait(), code, self.program.error_text)
        receiver.close()
        os.unlink(self.socket_path())
        request, = receiver.requests
        self.assertEqual(request.pop("type"), "request")
        return request


@unittest.skipUnless(IS_ROOT or not os.path.exists(f"/run/user/{os.getuid()}"), "a directory of the user comes first")
class RequestLineTest(FakeReceiverTest):
    def assert_asks(self, words, request, mode="queue"):
        with self.subTest(words=words):
            self.assertEqual({"mode": "queue", **self.ask(*words)}, {"mode": mode, **request})

    def test_each_verb(self):
        for words, request in (
                ("locate", {"do": "locate"}), ("report", {"do": "report"}), ("find", {"do": "find", "seconds": 1800}),
                ("find 45s", {"do": "find", "seconds": 45}), ("find 30m", {"do": "find", "seconds": 1800}),
                ("find 2h", {"do": "find", "seconds": 7200}), ("find 65535s", {"do": "find", "seconds": 65_535}),
                ("find off", {"do": "find", "seconds": 0}),
                ("sound 0.1", {"do": "sound", "ms": 100}), ("sound 65", {"do": "sound", "ms": 65_000}),
                ("sound 2.5", {"do": "sound", "ms": 2500}), ("track on", {"do": "track_on"}), ("track off", {"do": "track_off"}),
                ("reboot", {"do": "reboot"}), ("pair", {"do": "pair"}), ("pair --to 9A3F21c0", {"do": "pair", "to": "9a3f21c0"}),
                ("unpair", {"do": "unpair"}), ("settings get", {"do": "get_settings"}),
                ("settings set heartbeat_s=5 interval_ms=10000 stationary_s=60 position_digits=6 turnaround_ms=200",
                 {"do": "set_settings", "settings": {"heartbeat_s": 5, "interval_ms": 10_000, "stationary_s": 60, "position_digits": 6,
                                                     "turnaround_ms": 200}})):
            self.assert_asks(words.split(), request)

    def test_messages(self):
        for words, request in (
                (["0"], {"code": 0}), (["255", "come home"], {"code": 255, "data": b"come home".hex()}),
                (["3", "x" * 20], {"code": 3, "data": "78" * 20}), (["3", "--data", "00fFab"], {"code": 3, "data": "00ffab"}),
                (["3", "--wants-reply"], {"code": 3, "kind": "request"}),
                (["3", "y", "--reply-to", "4294967295"], {"code": 3, "data": "79", "kind": "reply",
                                                  "reply_to": 4_294_967_295, "outcome": "ok"}),
                (["3", "--reply-to", "0", "--outcome", "refused"], {"code": 3, "kind": "reply", "reply_to": 0, "outcome": "refused"})):
            with self.subTest(words=words):
                asked = self.ask("message", *words)
                usual = {"do": "message", "mode": "queue", "data": "", "kind": "notice"}
                self.assertEqual({**usual, **asked}, {**usual, **request})

    def test_modes(self):
        self.assert_asks(["--queue", "locate"], {"do": "locate"})
        self.assert_asks(["--latest", "locate"], {"do": "locate"}, mode="latest")
        self.assert_asks(["--now", "locate"], {"do": "locate", "timeout_ms": 30_000}, mode="now")
        self.assert_asks(["--now", "--timeout", "0.001", "locate"], {"do": "locate", "timeout_ms": 1}, mode="now")
        self.assert_asks(["locate", "--now", "--timeout", "2.5"], {"do": "locate", "timeout_ms": 2500}, mode="now")

    def test_collars(self):
        """A name is that of the animal that wears the collar now."""
        folder = os.path.join(self.configuration, "collar-link")
        os.makedirs(folder)
        animals = pathlib.Path(folder) / "animals"
        animals.write_text(f"[animal Athena]\nwears = {OTHER} until 2020-01-01\nwears = {COLLAR} from 2020-01-01\n[animal Zeus]\n"
                           f"wears = {OTHER} from 2020-01-01\n", "ascii")
        for each in (self.configuration, folder, animals):
            give_to_ordinary_user(each)
        for given, collar in ((COLLAR.upper(), COLLAR), ("Athena", COLLAR), ("Zeus", OTHER), (COLLAR[:-1] + "E", OTHER)):
            self.assert_asks(["--collar", given, "reboot"], {"do": "reboot", "collar": collar})
        for verb in (["pair"], ["unpair"], ["message", "1"]):
            self.assertEqual(self.ask("--collar", "Athena", *verb)["collar"], COLLAR)


@unittest.skipUnless(IS_ROOT or not os.path.exists(f"/run/user/{os.getuid()}"), "a directory of the user comes first")
class FindTest(FakeReceiverTest):
    """Within what time `find` reaches the collar, and the bell that rings when the collar has answered."""

    def find(self, *words, figures=(), outcome="ok", code=0, **options):
        told = {"type": "figures", "unix_ms": 1, "collars": [{"collar": COLLAR, **dict(figures)}, {"collar": OTHER, "heartbeat_s": 9}]}
        receiver = self.served(({**QUEUED, "do": "find"}, ended(outcome, do="find")), (told,))
        program = self.send(*words, environment=self.environment, **options)
        if "stdout" in options:
            self.terminal.started()
        self.assertEqual(program.wait(), code, program.error_text)
        receiver.close()
        os.unlink(self.socket_path())
        self.assertEqual([each["do"] for each in receiver.requests], ["find", "figures"])
        return program

    def test_within_what_time_it_reaches_the_collar(self):
        for figures, text in (
                ({"heartbeat_s": 300, "fix_interval_ms": 180_000}, "within 3 min if it is in range."),
                ({"heartbeat_s": 60, "fix_interval_ms": 3_600_000}, "within 60 s if"), ({"heartbeat_s": 270}, "within 5 min if"),
                ({"heartbeat_s": 7201}, "within 3 h if"), ({"fix_interval_ms": 1500}, "within 2 s if"),
                # Searches that fail send nothing.
                ({"heartbeat_s": 300, "fix_interval_ms": 180_000, "search_failures_in_row": 1}, "within 5 min if"),
                ({}, "It is not known yet within what time")):
            with self.subTest(figures=figures):
                program = self.find("find", figures=figures)
                self.assertIn(text, program.error_text)
                self.assertIn(f"collar {COLLAR}", program.error_text)
                self.assertEqual(program.lines, [f"collar {COLLAR}: find: done\n"])

    def at_terminal(self, *words, **options):
        self.terminal = Terminal(self)
        self.find(*words, stdout=self.terminal.descriptor, **options)
        return self.terminal.whole_text()

    def test_the_bell(self):
        self.assertEqual(self.at_terminal("find", "2h"), f"collar {COLLAR}: find: done\n\a")
        for words, outcome, code in ((["find", "off"], "ok", 0), (["find"], "refused", 77), (["-F", "json", "find"], "ok", 0)):
            with self.subTest(words=words, outcome=outcome):
                text = self.at_terminal(*words, outcome=outcome, code=code)
                self.assertNotIn("\a", text)
                self.assertNotEqual(text, "")


@unittest.skipUnless(IS_ROOT or not os.path.exists(f"/run/user/{os.getuid()}"), "a directory of the user comes first")
class AnswerTest(FakeReceiverTest):
    def test_exit_codes(self):
        for outcome, code in (("ok", 0), ("unknown", 69), ("unsupported", 69), ("invalid", 65),
                              ("refused", 77), ("conflict", 78), ("busy", 75),
                              ("timeout", 75), ("failed", 74), ("expired", 75), ("replaced", 75)):
            with self.subTest(outcome=outcome):
                self.ask("-F", "json", "locate", script=(QUEUED, ended(outcome)), code=code)
                self.assertEqual([line["outcome"] for line in self.program.fixes], [outcome])

    def test_a_rejection_is_a_message_for_people(self):
        line = {"type": "result", "unix_ms": 1, "do": "locate", "outcome": "rejected", "code": "not_paired",
                "reason": "It belongs to nobody."}
        self.ask("locate", script=(line,), code=77)
        self.assertEqual(self.program.lines, [])
        self.assertEqual(self.program.errors, ["collar-link: It belongs to nobody.\n",
                                               f"collar-link:   Run `collar-link send pair --state-dir {self.state}`.\n"])
        self.ask("-F", "json", "locate", script=(line,), code=77)
        self.assertEqual(self.program.fixes[0]["code"], "not_paired")

    def test_waiting_ends_with_the_time(self):
        """A request that waits is told, and one that may not wait has expired. Without any time, nothing is said of waiting."""
        for words, outcome, is_said in (("--timeout 0.2", "queued", True), ("--timeout 0", "queued", False),
                                        ("--now --timeout 0.1", "expired", True)):
            with self.subTest(words=words):
                self.ask("-F", "json", *words.split(), "locate", script=(QUEUED, None), code=75)
                line, = self.program.fixes
                self.assertEqual((line["outcome"], line["request"]), (outcome, 812))
                self.assertEqual("waiting for collar" in self.program.error_text, is_said)

    def test_a_receiver_that_says_nothing(self):
        self.ask("locate", script=(), code=75)
        self.assertIn("it is not known whether the request is queued", self.program.error_text)
        self.assertEqual(self.program.lines, [])

    def test_a_queued_request_is_not_given_twice(self):
        """The receiver goes away and comes back, twice: each time it is asked for the result of the request that it has queued."""
        receiver = self.served((QUEUED,), (QUEUED,), (QUEUED, ended("ok")))
        program = self.send("-F", "json", "--timeout", "10", "locate", environment=self.environment)
        self.assertEqual(program.wait(), 0, program.error_text)
        self.assertEqual(program.error_text.count("waiting for collar"), 1)
        self.assertEqual([(request["do"], request.get("request"), request.get("collar")) for request in receiver.requests],
                         [("locate", None, None), ("await", 812, COLLAR), ("await", 812, COLLAR)])

    def test_settings_for_people(self):
        line = ended("ok", do="get_settings", settings={"heartbeat_s": 60}, settings_version=0, settings_origin="00000")
        self.ask("settings", "get", script=(line,))
        self.assertEqual(self.program.lines[0], f"collar {COLLAR}: get settings: the defaults\n")
        changed = {**line, "settings_version": 1_763_719_200_000, "settings_origin": "f21c0", "name": "Athena"}
        self.ask("settings", "get", script=(changed,))
        self.assertEqual(self.program.lines[0], f"collar {COLLAR} (Athena): get settings: version 1763719200000, "
                         "of 2025-11-21T10:00:00.000Z, by the receiver …f21c0\n")
        self.assertRegex(self.program.lines[1], "^  heartbeat_s=60  ")
        # Only a message for the application has an id that a reply will name.
        self.ask("message", "1", script=(ended("ok", do="message"),))
        self.assertIn(": request 812, ", self.program.lines[0])


if __name__ == "__main__":
    unittest.main()
