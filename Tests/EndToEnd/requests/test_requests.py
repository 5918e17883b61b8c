"""The frames and the results of requests, with a collar whose frames the test writes."""

import json
import os
import time
import unittest

from end_to_end import give_to_ordinary_user, wait_until
from radio import IDENTITY_REQUEST, Radio
from sending import (COMMAND, LOCATE, OUTCOMES, PAIR, SETTINGS_REPORT, SETTINGS_REQUEST, SETTINGS_UPDATE, SOUND, WrittenCollarTest,
                     name)
from serial_line import SerialLine

from session_parts import A, B


class RequestTest(WrittenCollarTest):
    def test_outcomes(self):
        """Each outcome has its word and its exit code."""
        codes = [0, 69, 69, 65, 77, 78, 75, 75, 74]
        receiver = self.begin()
        for outcome, (word, code) in enumerate(zip(OUTCOMES, codes)):
            with self.subTest(outcome=word):
                program = self.send("-F", "json", "locate")
                request = self.next_request()
                self.assertEqual((request["action"], request["receiver_id"]), (LOCATE, self.own))
                self.answer(request, outcome)
                line = self.result(program, code)
                self.assertEqual((line["outcome"], line["request"]), (word, request["request_id"]))
                self.assertEqual(line["collar"], name(A))
        receiver.stop()

    def test_now_that_is_not_answered(self):
        """The request is sent in the first, second, fourth and eighth window, and in none after its time."""
        receiver = self.begin()
        program = self.send("-F", "json", "--now", "--timeout", "5", "sound", "1.5")
        request = self.next_request()
        self.assertEqual((request["action"], request["argument"]), (SOUND, 1500))
        sent = [1] + [number for number in range(2, 13) if self.window()]
        self.assertEqual(sent, [1, 2, 4, 8])
        line = self.result(program, 75)
        self.assertEqual((line["outcome"], line["request"]), ("expired", request["request_id"]))
        self.assertEqual([self.window() for _ in range(10)], [[]] * 10)
        # A result that comes too late has no effect.
        self.answer(request, 0)
        receiver.wait_for_error("no answer in time")
        receiver.stop()
        self.assertEqual(sum(1 for each in receiver.fixes if each["type"] == "result"), 1)

    def test_queued_and_not_answered(self):
        receiver = self.begin()
        program = self.send("--timeout", "0.5", "locate")
        self.assertEqual(program.wait(), 75)
        self.assertIn("still queued; it is sent when the collar is heard", "".join(program.lines))
        request = self.next_request()
        client, lines = self.connect()
        waits = self.ask(client, lines, f'{{"do":"await","request":{request["request_id"]}}}')
        self.assertEqual(waits["outcome"], "queued")
        self.answer(request, 6)
        self.assertEqual(json.loads(lines.readline())["outcome"], "busy")
        waits = self.ask(client, lines, f'{{"do":"await","request":{request["request_id"]}}}')
        self.assertEqual(waits["outcome"], "busy")
        receiver.stop()

    def test_queued_without_a_receiver(self):
        """send opens the radio itself, and the collar is unknown until it is heard. The request stays queued at the end."""
        line = SerialLine()
        self.addCleanup(line.close)
        os.mkdir(self.state, 0o700)
        give_to_ordinary_user(self.state)
        program = self.send("--timeout", "3", "-p", line.path, "--dialect", "serial", "--collar", name(A), "locate")
        program.wait_for_error("to be heard")
        self.radio = Radio(line)
        wait_until(lambda: self.radio.count(IDENTITY_REQUEST), 10, "the identity request of the opening")
        self.radio.send(A.identity(1, paired=0))
        self.assertEqual(program.wait(), 75, program.error_text)
        self.assertIn("still queued; it is sent when the collar is heard", "".join(program.lines))

    def test_latest(self):
        """--latest replaces only requests that were never sent."""
        receiver = self.begin()
        for _ in range(2):
            self.assertEqual(self.send("--timeout", "0.2", "settings", "set", "heartbeat_s=10").wait(), 75)
        line = self.result(self.send("-F", "json", "--latest", "--timeout", "0.2", "settings", "set", "heartbeat_s=11"), 75)
        update, = self.window()
        self.assertEqual(update[0], SETTINGS_UPDATE)
        self.assertEqual((update[1]["request_id"], update[1]["entries"]), (line["request"], [[8, 11]]))
        replaced = [each for each in receiver.fixes if each.get("outcome") == "replaced"]
        self.assertEqual(len(replaced), 2)
        line = self.result(self.send("-F", "json", "--latest", "--timeout", "0.2", "settings", "set", "heartbeat_s=12"), 75)
        self.assertEqual(len([each for each in receiver.fixes if each.get("outcome") == "replaced"]), 2)
        receiver.stop()

    def test_versions_of_settings_grow(self):
        """Versions also grow above the version that the collar reported, and over a restart."""
        receiver = self.begin()
        high = 1 << 42
        program = self.send("-F", "json", "settings", "get")
        asked = self.next_request(SETTINGS_REQUEST)
        for keys in (range(1, 7), range(7, 13), range(13, 19), range(19, 24)):
            self.radio.send(A.send(SETTINGS_REPORT, {
                "request_id": asked["request_id"], "version": high, "origin": 5, "entries": [[key, 7] for key in keys]}))
        line = self.result(program, 0)
        self.assertEqual((line["settings_version"], line["settings_origin"], set(line["settings"].values())), (high, "00005", {7}))
        self.assertEqual(self.send("--timeout", "0.1", "settings", "set", "stationary_s=9").wait(), 75)
        update = self.next_request(SETTINGS_UPDATE)
        receiver_id = self.radio.acknowledgement(A)["receiver_id"]
        self.assertEqual((update["version"], update["origin"]), (high + 1, receiver_id & 0xFFFFF))
        receiver.kill_now()
        receiver = self.begin()
        self.assertEqual(self.next_request(SETTINGS_UPDATE), update)
        program = self.send("-F", "json", "settings", "set", "stationary_s=10")
        program.wait_for_error("waiting")
        # The second update is sent when the first has ended.
        self.assertNotIn(10, [each["entries"][0][1] for _ in range(9) for _, each in self.window()])
        for done in (update, None):
            done = done or self.next_request(SETTINGS_UPDATE)
            self.radio.send(A.send(SETTINGS_REPORT, done))
        self.assertEqual(done["version"] - high, 2)
        self.assertEqual(self.result(program, 0)["settings_version"], high + 2)
        receiver.stop()

    def test_a_full_queue(self):
        receiver = self.begin()
        for _ in range(7):
            self.assertEqual(self.send("--timeout", "0", "locate").wait(), 75)
        program = self.send("locate")
        self.assertEqual(program.wait(), 75)
        self.assertIn("Too many requests", program.error_text)
        receiver.stop()

    def test_a_collar_of_another_receiver(self):
        """A collar of another receiver gets no request but pair, and no acknowledgement with it."""
        receiver = self.begin(paired=77)
        program = self.send("locate")
        self.assertEqual(program.wait(), 77)
        self.radio.send(A.probe(0, 2))
        time.sleep(0.3)
        self.radio.hear()
        self.assertEqual(self.radio.answers, [])
        program = self.send("-F", "json", "pair")
        program.wait_for_error("waiting")
        self.radio.send(A.probe(0, 3))
        wait_until(self.requests, 5, "a command to pair")
        self.assertEqual([(kind, each["action"], each["argument"]) for kind, each in self.requests()],
                         [(COMMAND, PAIR, self.own)])
        self.assertEqual(len(self.radio.answers), 1)
        # The identity of the collar shows that it has obeyed.
        self.radio.send(A.identity(4, paired=self.own))
        self.assertEqual(self.result(program, 0)["outcome"], "ok")
        receiver.stop()

    def test_a_collar_that_refuses_to_pair(self):
        """The collar refuses. It can send that result because its own receiver answers its poll."""
        receiver = self.begin(paired=77)
        program = self.send("-F", "json", "pair")
        program.wait_for_error("waiting")
        self.radio.send(A.probe(0, 3))
        wait_until(self.requests, 5, "a command to pair")
        self.answer(self.requests()[0][1], 4)
        self.assertEqual(self.result(program, 77)["outcome"], "refused")
        receiver.stop()

    def test_a_collar_that_has_no_receiver_yet(self):
        """A collar without a receiver takes this receiver with the first answer; before, it would refuse requests."""
        receiver = self.begin(paired=0)
        program = self.send("-F", "json", "locate")
        program.wait_for_error("waiting")
        self.radio.answers.clear()
        self.radio.send(A.identity(2, paired=0))
        wait_until(lambda: self.radio.acknowledgement(A), 5, "an answer")
        self.assertEqual(self.requests(), [])
        self.answer(self.next_request(), 0)
        self.assertEqual(self.result(program, 0)["outcome"], "ok")
        receiver.stop()

    def test_which_collar(self):
        receiver = self.begin()
        program = self.send("--collar", "00000000000000aa", "locate")
        self.assertEqual(program.wait(), 66)
        self.assertIn(name(A), program.error_text)
        self.radio.send(B.identity(paired=self.own))
        wait_until(lambda: receiver.error_text.count("is heard at") == 2, 5, "the second collar")
        program = self.send("locate")
        self.assertEqual(program.wait(), 64)
        self.assertIn(name(A), program.error_text)
        self.assertIn(name(B), program.error_text)
        program = self.send("-F", "json", "--collar", name(A), "locate")
        self.answer(self.next_request(), 0)
        self.assertEqual(self.result(program, 0)["collar"], name(A))
        receiver.stop()

    def test_damaged_requests(self):
        """Damaged requests are set aside, which is reported. Ids do not begin again where they began before."""
        receiver = self.begin()
        line = self.result(self.send("-F", "json", "--timeout", "0", "locate"), 75)
        receiver.kill_now()
        path = f"{self.state}/{name(A)}/requests"
        with open(path, "r+b") as file:
            file.seek(30)
            file.write(b"#")
        receiver = self.begin()
        receiver.wait_for_error("requests.unusable")
        self.assertTrue(os.path.exists(f"{path}.unusable"))
        self.assertEqual(self.window(), [])
        self.assertNotEqual(self.result(self.send("-F", "json", "--timeout", "0", "locate"), 75)["request"], line["request"])
        receiver.stop()
        self.assertIn("requests_damaged", [each.get("code") for each in receiver.fixes])

if __name__ == "__main__":
    unittest.main()
