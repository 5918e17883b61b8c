"""Messages between a collar's application and programs at the host, through the real program at both ends."""

import json
import unittest

import jsonschema

from end_to_end import BINARY, ROOT
from sending import SCHEMA as RESULT_SCHEMA, SendTest

SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "Protocol/schema/message.schema.json").read_text()))


class MessageTest(SendTest):
    def begin(self, *arguments, events="fix,message,result"):
        track, _ = self.track("cats_uk/Felix-Tag")
        self.collar = self.simulate(track, "--interval", "0.2", *arguments)
        receiver = self.receive("--events", events)
        receiver.wait_for_error("is heard at")
        return receiver

    def messages(self, receiver):
        lines = [line for line in receiver.fixes if line["type"] == "message"]
        for line in lines:
            SCHEMA.validate(line)
        return lines

    def test_schema(self):
        """The schema is valid, and rejects wrong lines."""
        SCHEMA.check_schema(SCHEMA.schema)
        notice = {"type": "message", "id": "910a2dec-8902-85cc-842d-8ccb00000001", "kind": "notice", "code": 1,
                  "ts_unix_ms": None, "data": "00ff", "seq": 1, "collar": "910a2dec89025cc1", "log": 2985163, "rx_unix_ms": 5}
        reply = {**notice, "kind": "reply", "reply_to": 7, "outcome": "busy"}
        for good, changes in (
                (notice, ({"kind": "reply"}, {"kind": "x"}, {"code": 256}, {"data": "0"}, {"data": "00" * 21}, {"reply_to": 7},
                          {"outcome": "ok"}, {"snr_db": 1.5}, {"more": 1})),
                (reply, ({"kind": "notice"}, {"outcome": "queued"}, {"reply_to": -1}))):
            self.assertTrue(SCHEMA.is_valid(good))
            for key in good:
                self.assertFalse(SCHEMA.is_valid({each: good[each] for each in good if each != key}), key)
            for change in changes:
                self.assertFalse(SCHEMA.is_valid({**good, **change}), change)

    def test_both_directions(self):
        receiver = self.begin("--request", "1", "--loss", "0.2")
        line = self.result(self.send("-F", "json", "message", "200", "--wants-reply", "--data", "00ff10"), 0)
        self.assertEqual((line["do"], line["outcome"]), ("message", "ok"))
        receiver.wait_for_lines(20)
        self.wait_for(receiver, "reply")
        asked = self.wait_for(receiver, "request")
        self.collar.wait_for_error("request of code 200, data 00ff10")
        program = self.send("-F", "json", "message", "1", "--reply-to", str(asked["seq"]), "--outcome", "busy", "not now")
        self.assertEqual(self.result(program, 0)["outcome"], "ok")
        receiver.stop()
        reply, = [each for each in self.messages(receiver) if each["kind"] == "reply"]
        self.assertEqual((reply["code"], reply["data"], reply["reply_to"], reply["outcome"]), (200, "00ff10", line["request"], "ok"))
        for asked in (each for each in self.messages(receiver) if each["kind"] == "request"):
            self.assertEqual(bytes.fromhex(asked["data"]).decode(), f"request {asked['seq']}")
        # Fixes and messages share one sequence, and nothing is missing.
        sequences = sorted(each["seq"] for each in receiver.fixes if each["type"] in ("fix", "message"))
        self.assertEqual(sequences, sorted(set(sequences)))
        for each in receiver.fixes:
            if each["type"] == "result":
                RESULT_SCHEMA.validate(each)

    def wait_for(self, receiver, kind):
        """The newest message of a kind, once there is one."""
        count = len(receiver.lines)
        while True:
            found = [line for line in self.messages(receiver) if line["kind"] == kind]
            if found:
                return found[-1]
            count += 1
            receiver.wait_for_lines(count)

    def test_history_and_restarts(self):
        """A message is stored although nobody reads messages; history prints it, and --since takes its id."""
        receiver = self.begin("--request", "0.5", events="fix")
        receiver.wait_for_lines(15)
        receiver.stop()
        self.assertEqual({line["type"] for line in receiver.fixes}, {"fix"})

        def history(*arguments, code=0):
            program = self.start([BINARY, "history", "--state-dir", self.state, *arguments])
            self.assertEqual(program.wait(10), code, program.error_text)
            return program

        self.assertEqual({line["type"] for line in history().fixes}, {"fix"})
        messages = history("--events", "message").fixes
        self.assertGreater(len(messages), 2)
        for line in messages:
            SCHEMA.validate(line)
        everything = history("--events", "all").fixes
        self.assertEqual(sorted(line["seq"] for line in everything), list(range(len(everything))))
        after = history("--events", "message", "--since", messages[1]["id"]).fixes
        self.assertEqual(after, messages[2:])
        self.assertIn("request of code 1: 'request", history("--events", "message", "-F", "text").lines[0])
        self.assertEqual(history("--verify").fixes[0]["missing"], [])
        self.assertIn("fix, message, gap", history("--events", "status", code=64).error_text)

    def test_a_restart_of_the_collar(self):
        """The simulation goes on with its track where its log ends, although messages use sequences, too."""
        track, sent = self.track("cats_uk/Felix-Tag", 60)
        flash = self.path("flash")
        begin = ("--interval", "0.05", "--request", "0.12", "--flash", flash)
        receiver = self.receive("--events", "fix,message")
        collar = self.simulate(track, *begin)
        receiver.wait_for_lines(30)
        collar.stop()
        collar = self.simulate(track, *begin, "--until-delivered")
        self.assertEqual(collar.wait(30), 0)
        receiver.stop()
        fixes = [line for line in receiver.fixes if line["type"] == "fix"]
        self.assertEqual(sorted(fix["ts_unix_ms"] for fix in fixes), sorted(fix["ts_unix_ms"] for fix in sent))
        self.assertGreater(len(self.messages(receiver)), 5)

    def test_the_latest(self):
        """--latest replaces what was not sent yet and has the same code, but no reply."""
        receiver = self.begin()
        self.collar.stop()
        receiver.wait_for_error("was unplugged")
        for words in (["message", "1", "a"], ["message", "2", "b"], ["message", "3", "--reply-to", "5"]):
            self.assertEqual(self.result(self.send("-F", "json", "--timeout", "0", *words), 75)["outcome"], "queued")
        for words in (["message", "1", "c"], ["message", "3", "--reply-to", "5"]):
            self.result(self.send("-F", "json", "--timeout", "0", "--latest", *words), 75)
        receiver.stop()
        ended = [line["outcome"] for line in receiver.fixes if line["type"] == "result"]
        self.assertEqual(ended, ["replaced"])

    def test_the_socket(self):
        receiver = self.begin()
        client, lines = self.connect()
        for text, reason in (
                ('{"do":"message"}', "code"), ('{"do":"message","code":256}', "code"),
                ('{"do":"message","code":1,"data":"0"}', "data"), ('{"do":"message","code":1,"data":"' + "00" * 21 + '"}', "data"),
                ('{"do":"message","code":1,"data":5}', "data"), ('{"do":"message","code":1,"kind":"x"}', "kind"),
                ('{"do":"message","code":1,"kind":"reply"}', "reply_to"),
                ('{"do":"message","code":1,"kind":"notice","reply_to":5}', "reply_to"),
                ('{"do":"message","code":1,"kind":"reply","reply_to":5,"outcome":"queued"}', "outcome"),
                ('{"do":"locate","code":1}', "code")):
            line = self.ask(client, lines, text)
            self.assertEqual(line["code"], "bad_request", text)
            self.assertIn(reason, line["reason"])
        line = self.ask(client, lines, '{"do":"message","code":7,"kind":"reply","reply_to":5,"outcome":"refused","data":"6f6b"}')
        self.assertEqual(line["outcome"], "queued")
        self.assertEqual(json.loads(lines.readline())["outcome"], "ok")
        receiver.stop()

    def test_arguments(self):
        for words in (["message"], ["message", "256"], ["message", "x"], ["message", "1", "a", "b"],
                      ["message", "1", "x" * 21], ["message", "1", "é" * 11], ["message", "1", "--data", "0g"],
                      ["message", "1", "a", "--data", "00"], ["message", "1", "--outcome", "ok"],
                      ["message", "1", "--reply-to", "5", "--outcome", "queued"],
                      ["message", "1", "--reply-to", "5", "--wants-reply"], ["message", "1", "--reply-to", "-1"],
                      ["locate", "--data", "00"], ["locate", "--wants-reply"], ["message", "1", "--to", "9a3f21c0"]):
            program = self.send(*words)
            self.assertEqual(program.wait(5), 64, words)


if __name__ == "__main__":
    unittest.main()
