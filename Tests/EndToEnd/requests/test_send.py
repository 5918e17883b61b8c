"""Requests to a simulated collar: over the control socket of a running receiver, or by a receiver that send runs itself."""

import glob
import os
import random
import signal
import time
import unittest

from end_to_end import BINARY, give_to_ordinary_user, wait_until
from sending import SCHEMA, SendTest


class SimulatedCollarTest(SendTest):
    """Tests in which the collar's own code answers."""

    def begin(self, *arguments, interval="0.5"):
        self.collar = self.simulate(
            self.all_cats()[0], "--interval", interval, "--flash", self.path("flash"), *arguments)
        receiver = self.receive("--events", "all")
        receiver.wait_for_error("is heard at")
        return receiver

    def test_every_verb(self):
        receiver = self.begin()
        # A collar that makes no fixes is heard, and can be asked, once per heartbeat.
        self.assertEqual(self.result(self.send("-F", "json", "settings", "set", "heartbeat_s=5"), 0)["outcome"], "ok")
        for words, verb in ((["locate"], "locate"), (["find", "20s"], "find"), (["find", "off"], "find"), (["report"], "report"),
                            (["sound", "0.5"], "sound"), (["track", "off"], "track_off"),
                            (["track", "on"], "track_on"), (["reboot"], "reboot"), (["pair"], "pair"),
                            (["settings", "get"], "get_settings"),
                            (["settings", "set", "heartbeat_s=31", "position_digits=6"], "set_settings")):
            with self.subTest(verb=verb):
                line = self.result(self.send("-F", "json", *words), 0)
                self.assertEqual((line["do"], line["outcome"]), (verb, "ok"))
        line = self.result(self.send("-F", "json", "settings", "get"), 0)
        self.assertEqual((line["settings"]["heartbeat_s"], line["settings"]["position_digits"]), (31, 6))
        self.assertEqual(line["settings"]["interval_ms"], 500)
        self.assertEqual(len(line["settings"]), 23)
        self.assertEqual(self.result(self.send("-F", "json", "unpair"), 0)["outcome"], "ok")
        receiver.stop()
        ended = [each for each in receiver.fixes if each["type"] == "result"]
        for each in ended:
            SCHEMA.validate(each)
        self.assertEqual([each["do"] for each in ended],
                         ["set_settings", "locate", "find", "find", "report", "sound", "track_off", "track_on", "reboot", "pair",
                          "get_settings", "set_settings", "get_settings", "unpair"])
        ids = [each["request"] for each in ended]
        self.assertEqual([(b - a) % 65_536 for a, b in zip(ids, ids[1:])], [1] * 13)
        self.assertRegex(receiver.error_text, r"Request \d+ \(locate\) to collar [0-9a-f]{16} has ended: done\.")

    def test_a_collar_that_was_unpaired(self):
        """It belongs to nobody, and obeys nothing but `pair`: that is told at once. After a restart of the receiver it is told as
        soon as the collar says so."""
        receiver = self.begin()
        self.assertEqual(self.result(self.send("-F", "json", "unpair"), 0)["outcome"], "ok")
        line = self.result(self.send("-F", "json", "locate"), 77, seconds=5)
        self.assertEqual((line["outcome"], line["code"]), ("rejected", "not_paired"))
        program = self.send("locate")
        self.assertEqual(program.wait(), 77)
        self.assertIn("belongs to nobody: it must be paired first", program.error_text)
        self.assertIn(f"Run `collar-link send pair --state-dir {self.state}`.", program.error_text)
        self.assertEqual(receiver.stop(), 0)
        self.receive().wait_for_error("is heard at")
        # A collar that has already named itself is not asked again: then its next poll brings the refusal.
        line = self.result(self.send("--timeout", "90", "-F", "json", "locate"), 77, seconds=100)
        self.assertIn((line["outcome"], line.get("code")), [("rejected", "not_paired"), ("refused", None)])
        self.assertEqual(self.result(self.send("-F", "json", "pair"), 0)["outcome"], "ok")
        self.assertEqual(self.result(self.send("-F", "json", "locate"), 0)["outcome"], "ok")

    def test_the_sound_of_a_simulated_collar(self):
        self.begin()
        self.assertEqual(self.send("sound", "2.5").wait(), 0)
        self.collar.wait_for_error("The collar gives a signal: a sound of 2.5 s.")

    def test_texts_for_people(self):
        receiver = self.begin()
        program = self.send("settings", "get")
        self.assertEqual(program.wait(), 0)
        self.assertRegex(program.lines[0], "^collar [0-9a-f]{16}: get settings: the defaults\n$")
        self.assertEqual(len(program.lines), 24)
        self.assertIn("heartbeat_s=60", "".join(program.lines))
        program = self.send("locate")
        self.assertEqual(program.wait(), 0)
        self.assertRegex("".join(program.lines), "^collar [0-9a-f]{16}: locate: done\n$")
        receiver.stop()

    def test_without_a_running_receiver(self):
        """send opens the radio itself. Fixes that it receives are stored and acknowledged; a later run writes them."""
        first = self.begin()
        first.stop()
        program = self.send("-F", "json", "-p", self.link, "settings", "set", "heartbeat_s=20")
        self.assertEqual(self.result(program, 0)["outcome"], "ok")
        program = self.send("-F", "json", "-p", self.link, "--now", "--timeout", "10", "locate")
        self.assertEqual(self.result(program, 0)["outcome"], "ok")
        time.sleep(1)
        receiver = self.receive()
        receiver.wait_for_lines(10)
        receiver.stop()
        wait_until(lambda: not os.path.exists(self.socket_path()), 5, "the socket file goes with its receiver")
        # On a loaded machine the first receiver has written some of them.
        sequences = sorted(line["seq"] for line in first.fixes + receiver.fixes if line["type"] == "fix")
        self.assertEqual(sequences, list(range(len(sequences))))

    def test_another_request_ends_first(self):
        """send tells the result of its own request, not that of an earlier one to the same collar."""
        self.begin().stop()
        earlier = self.result(self.send("-F", "json", "--timeout", "0", "locate"), 75)
        line = self.result(self.send("-F", "json", "-p", self.link, "settings", "get"), 0)
        self.assertEqual((line["outcome"], line["request"] == earlier["request"]), ("ok", False))
        self.assertIn("settings", line)

    def test_a_killed_receiver(self):
        """A request that waits survives kill -9, and is carried out once the collar is heard."""
        receiver = self.begin()
        self.collar.process.send_signal(signal.SIGSTOP)
        time.sleep(0.7)
        line = self.result(self.send("-F", "json", "--timeout", "0.3", "settings", "set", "heartbeat_s=77"), 75)
        self.assertEqual(line["outcome"], "queued")
        receiver.kill_now()
        self.assertTrue(os.path.exists(self.socket_path()))
        self.collar.process.send_signal(signal.SIGCONT)
        receiver = self.receive("--events", "result")
        receiver.wait_for_lines(1)
        ended, = receiver.fixes
        self.assertEqual((ended["request"], ended["outcome"]), (line["request"], "ok"))
        self.assertEqual(self.result(self.send("-F", "json", "settings", "get"), 0)["settings"]["heartbeat_s"], 77)
        receiver.stop()

    def test_killed_again_and_again(self):
        """Each queued request takes effect, in order, although the receiver is killed and the link loses frames."""
        receiver = self.begin("--loss", "0.2", "--corrupt", "0.002", "--seed", "7", interval="0.2")
        chance = random.Random(9)
        given = []
        for number in range(10):
            line = self.result(self.send("-F", "json", "--timeout", "0", "settings", "set", f"stationary_s={100 + number}"), 75)
            given.append(line["request"])
            time.sleep(chance.choice([0, 0.02, 0.1, 0.5]))
            receiver.kill_now()
            receiver = self.receive("--events", "result")
            receiver.wait_for_error("is heard at")
            wait_until(lambda: os.path.exists(self.socket_path()), 5, "the socket")
            # The queue has eight places; only a pair may take the last one.
            wait_until(lambda: len(self.open_requests()) < 7, 60, "room for another request")
        wait_until(lambda: not self.open_requests(), 60, "the end of all requests")
        self.assertEqual(self.ended_requests(given), {"ok"})
        line = self.result(self.send("-F", "json", "--timeout", "60", "settings", "get"), 0, 70)
        self.assertEqual(line["settings"]["stationary_s"], 109)
        receiver.stop()

    def requests_file(self):
        path, = glob.glob(f"{self.state}/*/requests")
        with open(path, encoding="ascii") as file:
            return [line.split() for line in file]

    def open_requests(self):
        return [words for words in self.requests_file() if words[0] == "open"]

    def ended_requests(self, given):
        """The outcomes of requests, queried at the socket."""
        client, lines = self.connect()
        return {self.ask(client, lines, f'{{"do":"await","request":{one}}}')["outcome"] for one in given}

    def test_send_survives_its_receiver(self):
        """The receiver is killed and started again while send waits: send still gets its result."""
        receiver = self.begin()
        self.collar.process.send_signal(signal.SIGSTOP)
        time.sleep(0.7)
        program = self.send("-F", "json", "--timeout", "20", "track", "off")
        program.wait_for_error("waiting for collar")
        receiver.kill_now()
        receiver = self.receive()
        self.collar.process.send_signal(signal.SIGCONT)
        self.assertEqual(self.result(program, 0)["outcome"], "ok")
        kept = [words for words in self.requests_file() if words[0] in ("open", "ended")]
        self.assertEqual(len(kept), 1, "it is given once")
        receiver.stop()

    def test_send_takes_over(self):
        """While send waits, the receiver is stopped in good order, and none follows: send opens the radio itself."""
        receiver = self.begin()
        self.collar.process.send_signal(signal.SIGSTOP)
        time.sleep(0.7)
        program = self.send("-F", "json", "-p", self.link, "--timeout", "20", "track", "off")
        program.wait_for_error("waiting for collar")
        receiver.stop()
        self.collar.process.send_signal(signal.SIGCONT)
        line = self.result(program, 0)
        self.assertEqual((line["do"], line["outcome"]), ("track_off", "ok"))

    def test_two_at_once(self):
        receiver = self.begin()
        programs = [self.send("-F", "json", *words) for words in (
            ["locate"], ["track", "on"], ["settings", "get"], ["sound", "1"], ["sound", "2"], ["settings", "get"])]
        lines = [self.result(program, 0) for program in programs]
        self.assertEqual(len({line["request"] for line in lines}), len(lines))
        receiver.stop()

    def test_two_at_once_without_a_receiver(self):
        """The first send opens the radio; the second hands its request to the first."""
        self.begin().stop()
        programs = [self.send("-F", "json", "-p", self.link, "settings", "get") for _ in range(2)]
        for program in programs:
            self.assertEqual(self.result(program, 0)["outcome"], "ok")

    def test_a_second_machine_pairs(self):
        """Within a minute after power-on another receiver may take the collar; after a reboot it may not."""
        first = self.begin()
        first.wait_for_lines(2)
        collar = next(each["collar"] for each in first.fixes if each["type"] == "link" and "collar" in each)
        first.stop()
        other = self.path("other")
        line = self.result(self.send("-F", "json", "--collar", collar, "-p", self.link, "pair", state=other), 0)
        self.assertEqual(line["outcome"], "ok")
        # Now the first receiver is not the collar's receiver any more.
        program = self.send("-p", self.link, "--timeout", "4", "locate")
        self.assertEqual(program.wait(), 75)
        first = self.receive()
        first.wait_for_error("belongs to receiver")
        first.wait_for_error(f"`collar-link send pair --collar {collar} --state-dir {self.state} --port {self.link}`")
        program = self.send("locate")
        self.assertEqual(program.wait(), 77)
        self.assertIn("collar-link send pair", program.error_text)
        first.stop()
        # A start with the old flash is a reboot: the button was not pressed.
        self.collar.stop()
        self.collar = self.simulate(self.all_cats()[0], "--interval", "0.5", "--flash", self.path("flash"))
        # The collar would send its refusal if the other receiver answered its polls now.
        line = self.result(self.send("-F", "json", "-p", self.link, "--now", "--timeout", "3", "pair"), 75)
        self.assertEqual(line["outcome"], "expired")
        line = self.result(self.send("-F", "json", "-p", self.link, "locate", state=other), 0)
        self.assertEqual(line["outcome"], "ok")


class CommandLineTest(SendTest):
    def test_what_makes_no_sense(self):
        for words, text in (
                ([], "What shall be sent?"), (["fly"], "'fly'"), (["track"], "'track'"), (["track", "maybe"], "'track maybe'"),
                (["sound"], "'sound' is not a request: type `sound SECONDS`."), (["locate", "now"], "'locate now' is not a request: type `locate`."),
                (["find", "0s"], "a duration from 1s to 65535s"), (["find", "65536s"], "a duration"), (["find", "30"], "a duration"),
                (["find", "1.5h"], "a duration"), (["find", "1h", "2h"], "type `find [DURATION]`"), (["report", "now"], "type `report`"),
                (["message"], "CODE"), (["sound", "0"], "0.1 to 65"), (["sound", "nan"], "0.1 to 65"),
                (["settings"], "'settings'"), (["settings", "set"], "'settings set'"),
                (["settings", "set", "speed=5"], "heartbeat_s"), (["settings", "set", "heartbeat_s"], "KEY=VALUE"),
                (["settings", "set", "heartbeat_s=4"], "5 to 65535"), (["settings", "set", "heartbeat_s=60s"], "5 to 65535"),
                (["settings", "set", "heartbeat_s=6", "heartbeat_s=7"], "given twice"),
                (["settings", "set", *(f"{key}=1" for key in "abcdefg")], "at most 5"),
                (["--now", "--latest", "locate"], "exclude each other"), (["--now", "--timeout", "0", "locate"], "no time"),
                (["--collar", "12", "locate"], "16 hexadecimal digits"),
                (["--collar", "+123456789abcdef", "locate"], "16 hexadecimal digits"),
                (["--timeout", "-1", "locate"], "--timeout")):
            with self.subTest(words=words):
                program = self.send(*words)
                self.assertEqual(program.wait(), 64)
                self.assertIn(text, program.error_text)
                self.assertEqual(program.lines, [])

    def test_help(self):
        program = self.start([BINARY, "send", "--help"])
        self.assertEqual(program.wait(), 0)
        text = "".join(program.lines)
        for word in ("locate", "critical_battery_interval_ms", "exit codes", "The control socket", "--latest"):
            self.assertIn(word, text)

    def test_nothing_is_known(self):
        os.mkdir(self.state, 0o700)
        give_to_ordinary_user(self.state)
        program = self.send("--timeout", "1", "-p", self.link, "locate")
        self.assertEqual(program.wait(), 66)
        self.assertIn("No collar was ever heard here.", program.error_text)
        program = self.send("--timeout", "1", "-p", self.link, "--collar", "00000000000000aa", "pair")
        self.assertEqual(program.wait(), 66)
        self.assertIn("Collar 00000000000000aa was never heard here, nor was any other collar. This program is waiting for collar 00000000000000aa to be heard.",
                      program.error_text)

    def test_a_collar_that_cannot_be_heard(self):
        """Without a radio nobody waits for a collar that was never heard."""
        os.mkdir(self.state, 0o700)
        give_to_ordinary_user(self.state)
        program = self.send("--collar", "00000000000000aa", "-p", self.path("none"), "locate")
        self.assertEqual(program.wait(5), 66)
        self.assertIn("was never heard here", program.error_text)

    def test_a_mistyped_directory(self):
        """A command that makes no state directory refuses one that is named and missing."""
        for words in (["send", "locate"], ["readers"], ["metrics"], ["status"], ["follow"], ["key", "list"],
                      ["key", "show", "00000000000000aa"], ["receiver", "show"], ["receiver", "export"]):
            with self.subTest(words=words):
                program = self.start([BINARY, *words, "--state-dir", self.path("none")])
                self.assertEqual(program.wait(5), 66, program.error_text)
                self.assertIn("There is no directory", program.error_text)
                self.assertEqual(program.lines, [])
        self.assertFalse(os.path.exists(self.path("none")))

if __name__ == "__main__":
    unittest.main()
