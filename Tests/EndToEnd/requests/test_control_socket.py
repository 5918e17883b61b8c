"""The socket for requests of other programs: its permissions, its place, and clients that misbehave."""

import glob
import json
import os
import random
import socket
import stat
import unittest

from end_to_end import IS_ROOT, child_environment, give_to_ordinary_user, wait_until
from radio import IDENTITY_REQUEST, Radio
from sending import SCHEMA, WrittenCollarTest, name
from serial_line import SerialLine

from session_parts import A


class ControlSocketTest(WrittenCollarTest):
    def test_schema(self):
        """The schema is valid, and rejects wrong lines."""
        SCHEMA.check_schema(SCHEMA.schema)
        ended = {"type": "result", "unix_ms": 1, "collar": "0123456789abcdef", "request": 5, "do": "locate", "outcome": "ok"}
        rejected = {"type": "result", "unix_ms": 1, "outcome": "rejected", "code": "bad_request", "reason": "r"}
        told = {**ended, "do": "get_settings", "settings_version": 0, "settings_origin": "00000", "settings": {"heartbeat_s": 60}}
        for good, changes in (
                (ended, ({"collar": "1"}, {"request": 0}, {"do": "fly"}, {"do": "await"}, {"outcome": "fine"}, {"more": 1},
                         {"code": "bad_request", "reason": "r"}, {"settings_version": 4}, {"outcome": "rejected"})),
                (rejected, ({"code": "what"}, {"reason": ""}, {"request": 5}, {"outcome": "ok"}, {"settings_version": 1})),
                (told, ({"settings": {}}, {"settings": {"heartbeat": 60}}, {"settings": {"heartbeat_s": -1}},
                        {"outcome": "busy"}, {"do": "locate"}, {"do": "set_settings"}))):
            self.assertTrue(SCHEMA.is_valid(good))
            for key in good.keys() - {"settings"}:
                self.assertFalse(SCHEMA.is_valid({each: good[each] for each in good if each != key}), (good, key))
            for change in changes:
                self.assertFalse(SCHEMA.is_valid({**good, **change}), change)

    def test_garbage_at_the_socket(self):
        receiver = self.begin()
        client, lines = self.connect()
        for text in ("", "hello", "{", '{"do":"locate","moed":"now"}', "[" * 3000, '{"do":"await","request":1}'):
            self.assertEqual(self.ask(client, lines, text)["outcome"], "rejected")
        # A line in many parts.
        for byte in b'{"do":"locate","mode":"now","timeout_ms":60000}':
            client.sendall(bytes([byte]))
        waits = self.ask(client, lines, "")
        self.assertEqual(waits["outcome"], "queued")
        # A line that is too long.
        long, long_lines = self.connect()
        self.assertEqual(self.ask(long, long_lines, b"x" * 4096)["code"], "bad_request")
        self.assertEqual(long_lines.read(), b"")
        chance = random.Random(5)
        for _ in range(50):
            other, _ = self.connect()
            try:
                other.sendall(chance.randbytes(chance.randrange(9000)))
            except (BrokenPipeError, ConnectionResetError):
                pass
            other.close()
        # Many lines at once from a client that does not read.
        deaf, _ = self.connect()
        deaf.setblocking(False)
        try:
            for _ in range(1000):
                deaf.sendall(b"nonsense\n" * 100)
        except BlockingIOError:
            pass
        self.answer(self.next_request(), 0)
        self.assertEqual(json.loads(lines.readline())["outcome"], "ok")
        receiver.stop()

    def test_one_that_says_no_more(self):
        """A client that has closed its end for writing still gets the result of its request."""
        receiver = self.begin()
        client, lines = self.connect()
        client.sendall(b'{"do":"locate"}\n')
        client.shutdown(socket.SHUT_WR)
        self.assertEqual(json.loads(lines.readline())["outcome"], "queued")
        self.answer(self.next_request(), 0)
        self.assertEqual(json.loads(lines.readline())["outcome"], "ok")
        self.assertEqual(lines.read(), b"")
        receiver.stop()

    def test_a_thousand_connections(self):
        """Idle clients are dropped for new ones. A client that waits for a result stays; polls are still answered."""
        receiver = self.begin()
        client, lines = self.connect()
        waits = self.ask(client, lines, '{"do":"sound","ms":7}')
        self.assertEqual(waits["outcome"], "queued")
        held = []
        for _ in range(1000):
            one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            one.connect(self.socket_path())
            held.append(one)
            if len(held) > 100:
                held.pop(0).close()
        self.assertEqual(self.radio.poll(A, 0)[0]["first_missing"], 0)
        self.assertLess(len(os.listdir(f"/proc/{receiver.pid}/fd")), 60)
        with open(f"/proc/{receiver.pid}/status", encoding="ascii") as file:
            own = next(int(line.split()[1]) for line in file if line.startswith("RssAnon"))
        self.assertLessEqual(own, 2048)
        program = self.send("-F", "json", "--timeout", "0", "locate")
        self.assertEqual(self.result(program, 75)["outcome"], "queued")
        self.answer(self.next_request(), 0)
        self.assertEqual(json.loads(lines.readline())["outcome"], "ok")
        for one in held:
            one.close()
        receiver.stop()

    def test_all_wait_for_results(self):
        """While sixteen clients wait for results, a seventeenth is rejected and gets the reason."""
        receiver = self.begin()
        client, lines = self.connect()
        waits = self.ask(client, lines, '{"do":"locate"}')
        clients = []
        for _ in range(15):
            one, its_lines = self.connect()
            self.ask(one, its_lines, f'{{"do":"await","request":{waits["request"]}}}')
            clients.append((one, its_lines))
        _, its_lines = self.connect()
        self.assertEqual(json.loads(its_lines.readline())["code"], "too_many_clients")
        self.answer(self.next_request(), 0)
        for _, its_lines in [(client, lines), *clients]:
            self.assertEqual(json.loads(its_lines.readline())["outcome"], "ok")
        receiver.stop()

    def test_who_may_use_it(self):
        receiver = self.begin()
        mode = os.stat(self.socket_path()).st_mode
        self.assertTrue(stat.S_ISSOCK(mode))
        self.assertEqual(stat.S_IMODE(mode), 0o600)
        if not IS_ROOT:
            self.skipTest("only root can be two users")
        os.chmod(self.folder, 0o755)
        os.chmod(self.state, 0o755)
        program = self.send("locate", user="daemon", group="daemon")
        self.assertEqual(program.wait(), 77)
        self.assertIn("takes no requests of this user", program.error_text)
        # The user is refused even if the mode of the socket file admits everybody.
        os.chmod(self.socket_path(), 0o666)
        program = self.send("locate", user="daemon", group="daemon")
        self.assertEqual(program.wait(), 77)
        self.assertIn("Only the user who runs collar-link", program.error_text)
        program = self.send("-F", "json", "locate", user="root", group="root")
        self.answer(self.next_request(), 0)
        self.assertEqual(self.result(program, 0)["outcome"], "ok")
        receiver.stop()

    def test_the_runtime_directory(self):
        """If there is a runtime directory, the socket is in it, under a name that depends on the state directory."""
        runtime = self.path("runtime")
        os.mkdir(runtime, 0o700)
        give_to_ordinary_user(runtime)
        environment = child_environment(XDG_RUNTIME_DIR=runtime)
        line = SerialLine()
        self.addCleanup(line.close)
        receiver = self.receive(port=line.path, environment=environment)
        receiver.wait_for_error("listening")
        path, = glob.glob(f"{runtime}/collar-link/*.sock")
        self.assertFalse(os.path.exists(self.socket_path()))
        self.assertEqual(stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode), 0o700)
        # A second receiver does not touch the socket.
        second = self.receive(port=self.link, environment=environment)
        self.assertEqual(second.wait(), 75, second.error_text)
        self.assertTrue(os.path.exists(path))
        program = self.send("--timeout", "1", "locate", environment=environment)
        self.assertEqual(program.wait(), 66)
        self.assertIn("No collar was ever heard here.", program.error_text)
        receiver.stop()
        self.assertEqual(os.listdir(os.path.dirname(path)), [])

    def test_requests_that_cannot_be_stored(self):
        """A request that cannot be stored is rejected, and nothing is sent."""
        receiver = self.begin()
        folder = f"{self.state}/{name(A)}"
        os.chmod(folder, 0o500)
        program = self.send("-F", "json", "locate")
        line = self.result(program, 74)
        self.assertEqual((line["outcome"], line["code"]), ("rejected", "storage_failing"))
        self.assertIn("requests.new", line["reason"])
        self.assertEqual(self.window(), [])
        os.chmod(folder, 0o700)
        self.assertEqual(self.result(self.send("-F", "json", "--timeout", "0", "locate"), 75)["outcome"], "queued")
        self.assertEqual(len(self.window()), 1)
        receiver.stop()

    def test_no_place_for_a_socket(self):
        """If the socket cannot be made, everything else works."""
        state = self.path("s" * 100)
        line = SerialLine()
        self.addCleanup(line.close)
        receiver = self.receive(port=line.path, state=state)
        receiver.wait_for_error("cannot reach this receiver")
        receiver.wait_for_error("listening")
        radio = Radio(line)
        wait_until(lambda: radio.count(IDENTITY_REQUEST), 10, "the identity request of the opening")
        radio.send(A.identity(1))
        wait_until(lambda: radio.acknowledgement(A), 5, "an answer")
        program = self.send("-p", line.path, "--dialect", "serial", "locate", state=state)
        self.assertEqual(program.wait(), 75)
        self.assertIn(f"is in use by process {receiver.pid}", program.error_text)
        receiver.stop()

if __name__ == "__main__":
    unittest.main()
