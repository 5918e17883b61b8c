"""Shared parts of the tests of requests: `send`, its results, and a collar whose frames the test writes."""

import json
import os
import socket
import time

import jsonschema

from end_to_end import BINARY, ROOT, EndToEndTest, wait_until
from radio import IDENTITY_REQUEST, Radio
from serial_line import SerialLine

import frames
from session_parts import A
from wire import ProtocolError

RESULT, SETTINGS_REPORT, SETTINGS_REQUEST, SETTINGS_UPDATE, COMMAND = 8, 7, 18, 19, 20
LOCATE, SOUND, PAIR = 3, 4, 6
SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "Protocol/schema/result.schema.json").read_text()))
OUTCOMES = ["ok", "unknown", "unsupported", "invalid", "refused", "conflict", "busy", "timeout", "failed"]


def name(collar):
    """The name of a collar in lines and options."""
    return f"{collar.log.device_id:016x}"


class SendTest(EndToEndTest):
    """Runs `send` and talks to the control socket."""

    def send(self, *arguments, state=None, **options):
        return self.start([BINARY, "send", "--state-dir", state or self.state, *arguments], **options)

    def result(self, program, code, seconds=20):
        """Checks the exit code of `send`, and returns the line of JSON that it printed."""
        self.assertEqual(program.wait(seconds), code, program.error_text)
        line, = program.fixes
        SCHEMA.validate(line)
        return line

    def socket_path(self, state=None):
        state = state or self.state
        return os.path.join(state, "control.sock")

    def connect(self, state=None):
        client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.addCleanup(client.close)
        client.settimeout(5)
        client.connect(self.socket_path(state))
        return client, client.makefile("rb")

    def ask(self, client, lines, text):
        client.sendall(text if isinstance(text, bytes) else text.encode() + b"\n")
        line = json.loads(lines.readline())
        SCHEMA.validate(line)
        return line


class WrittenCollarTest(SendTest):
    """The test writes the frames of the collar."""

    def begin(self, *arguments, paired=None):
        line = SerialLine()
        self.addCleanup(line.close)
        receiver = self.receive("--events", "all", *arguments, port=line.path)
        self.radio = Radio(line)
        wait_until(lambda: self.radio.count(IDENTITY_REQUEST), 10, "the identity request of the opening")
        self.own = frames.decode(self.radio.answers[0]).decoded["receiver_id"]
        self.radio.send(A.identity(1, paired=self.own if paired is None else paired))
        receiver.wait_for_error("is heard at")
        if paired in (None, 0):
            wait_until(lambda: self.radio.acknowledgement(A), 5, "an answer")
        self.radio.answers.clear()
        return receiver

    def requests(self, collar=A):
        """The requests to the collar that have come since `answers` was last cleared."""
        self.radio.hear()
        found = []
        for frame in self.radio.answers:
            if frame[0] & 0x1F in (SETTINGS_REQUEST, SETTINGS_UPDATE, COMMAND):
                try:
                    found.append((frame[0] & 0x1F, frames.decode(frame, collar.log).decoded))
                except ProtocolError:
                    continue
        return found

    def window(self, seconds=5):
        """Polls, and returns the requests that came before the answer."""
        self.radio.hear()
        self.radio.poll(A, 0, seconds)
        return self.requests()

    def next_request(self, number=COMMAND, seconds=10):
        """Polls until a request of the type comes."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for kind, decoded in self.window():
                if kind == number:
                    return decoded
            time.sleep(0.05)
        raise AssertionError(f"no request of type {number} within {seconds} s")

    def answer(self, request, outcome):
        self.radio.send(A.send(RESULT, {"request_id": request["request_id"], "outcome": outcome}))
