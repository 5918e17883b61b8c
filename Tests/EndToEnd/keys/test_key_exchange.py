"""Keys over a cable through the real program: simulated collars, and a collar of the reference in Python."""

import os
import signal
import subprocess
import time

from end_to_end import BINARY, Program, child_environment, wait_until
from radio import IDENTITY_REQUEST, Radio
from serial_line import SerialLine
from key_case import KeyTest

import exchange
import sealing
from sealing_keys import Known, derive
from session_parts import A
from wire import SerialDecoder, stuff

KEY_REQUEST, KEY_ACTIVATION = 21, 22
OLD_KEY = bytes(range(16))
NEW_KEY = bytes(range(0x40, 0x50))
NAME = f"{A.log.device_id:016x}"
SIGNAL_REPORT = 12


class CableTest(KeyTest):
    def exchange(self, port, state=None):
        program = Program([BINARY, "key", "exchange", "--port", port, "--state-dir", state or self.state],
                          environment=child_environment())
        self.addCleanup(program.kill_now)
        return program

    def keys_of(self, name, state=None):
        """The lines of a key file, without the line ends."""
        with open(os.path.join(state or self.state, "keys", name)) as file:
            return file.read().split("\n")[:-1]


class SimulatedCableTest(CableTest):
    def test_a_key_is_made_and_changed_while_fixes_arrive(self):
        cable = self.path("cable")
        track, _ = self.track("cats_uk/Athena", limit=60)
        collar = self.simulate(track, "--interval", "0.2", "--cable", cable)
        receiver = self.receive()
        receiver.wait_for_error("in clear: without a key anybody can read it")
        receiver.wait_for_lines(2)
        first = self.exchange(cable)
        self.assertEqual(first.wait(), 0, first.error_text)
        name = first.lines[0].strip()
        [key] = self.keys_of(name)
        self.assertRegex(key, r"\A[0-9a-f]{32}\Z")
        self.assertEqual(os.stat(os.path.join(self.state, "keys", name)).st_mode & 0o777, 0o600)
        taken = len(receiver.lines)
        receiver.wait_for_lines(taken + 3)
        second = self.exchange(cable)
        second.wait_for_error(f"Press the button of collar {name} twice")
        collar.process.send_signal(signal.SIGUSR2)
        self.assertEqual(second.wait(), 0, second.error_text)
        [changed] = self.keys_of(name)
        self.assertNotEqual(changed, key)
        taken = len(receiver.lines)
        receiver.wait_for_lines(taken + 3)
        receiver.stop()
        fixes = [fix for fix in receiver.fixes if fix["type"] == "fix"]
        # The first key began a new log, the second one did not.
        self.assertEqual(len({fix["log"] for fix in fixes}), 2)
        self.assertEqual(len({fix["id"] for fix in fixes}), len(fixes))
        self.assertNotIn("no key here opens", receiver.error_text)

    def test_a_stranger_needs_the_button_and_gets_no_old_fix(self):
        cable, other = self.path("cable"), self.path("other-state")
        track, made = self.track("cats_uk/Athena", limit=40)
        collar = self.simulate(track, "--interval", "0.2", "--cable", cable, "--key-file", self.key_file())
        stranger = self.exchange(cable, state=other)
        stranger.wait_for_error("has a key that is not stored here. Switch it on, or press its button", seconds=15)
        time.sleep(0.5)
        self.assertIsNone(stranger.process.poll())
        collar.process.send_signal(signal.SIGUSR2)
        self.assertEqual(stranger.wait(), 0, stranger.error_text)
        receiver = self.receive(state=other)
        receiver.wait_for_lines(2)
        receiver.stop()
        # The exchange took more than two seconds, in which the collar recorded six fixes and more.
        times = [fix["ts_unix_ms"] for fix in made]
        self.assertGreater(min(fix["ts_unix_ms"] for fix in receiver.fixes), times[5])


class ReferenceCableTest(CableTest):
    """The collar is the reference: what it is sent, and what its host stores, is checked byte by byte."""

    def setUp(self):
        super().setUp()
        self.line = SerialLine()
        self.addCleanup(self.line.close)
        self.cable = Radio(self.line)

    def heard(self, number):
        return [frame for frame in self.cable.answers if frame[0] & 0x1F == number]

    def identity(self, key, counter, boot=3):
        [frame] = SerialDecoder().feed(A.identity(boot=boot))
        return stuff(sealing.seal(frame, derive(key, A.log.device_id), Known(A.log, boot, counter)))

    def offer(self, key=None, counter=None, new_key=NEW_KEY):
        return stuff(exchange.build_offer(exchange.Offer(17, A.log, 3, counter, new_key), key))

    def wait_for(self, number, what):
        wait_until(lambda: self.cable.count(number), 10, what)

    def proven_request(self):
        """An exchange whose host has the key of the collar, up to the key request."""
        self.key_command("add", NAME, "-", stdin=OLD_KEY.hex())
        self.hand_over()
        program = self.exchange(self.line.path)
        self.wait_for(IDENTITY_REQUEST, "the identity request")
        self.cable.send(self.identity(OLD_KEY, 0))
        self.wait_for(KEY_REQUEST, "the key request")
        return program

    def test_a_receiver_holds_the_port(self):
        receiver = self.receive(port=self.line.path)
        receiver.wait_for_error("listening")
        # The test itself must not appear as a holder of the port.
        self.line.leave()
        program = self.exchange(self.line.path)
        self.assertEqual(program.wait(), 75, program.error_text)
        self.assertIn(f"{self.line.path} is in use by collar-link (process {receiver.pid})", program.error_text)
        self.assertIn(f"kill {receiver.pid}", program.error_text)
        self.assertEqual(program.lines, [])

    def test_a_proven_exchange(self):
        program = self.proven_request()
        exchange.check_request(self.heard(KEY_REQUEST)[0], 17, A.log.device_id, OLD_KEY)
        # An offer in clear is none of this collar: anybody at the cable could make it.
        self.cable.send(self.offer(new_key=bytes(16)))
        self.cable.send(self.offer(OLD_KEY, counter=1))
        self.wait_for(KEY_ACTIVATION, "the activation")
        exchange.check_activation(self.heard(KEY_ACTIVATION)[0], 17, A.log.device_id, NEW_KEY)
        # The key is on the disk before the activation is on the cable.
        self.assertEqual(self.keys_of(NAME), [OLD_KEY.hex(), "pending " + NEW_KEY.hex()])
        self.cable.send(self.identity(OLD_KEY, 2))
        self.cable.send(self.identity(NEW_KEY, 0, boot=4))
        self.assertEqual(program.wait(), 0, program.error_text)
        self.assertEqual(program.lines, [NAME + "\n"])
        self.assertEqual(self.keys_of(NAME), [NEW_KEY.hex()])

    def cut_off(self):
        """An exchange whose program is killed after the activation."""
        program = self.proven_request()
        self.cable.send(self.offer(OLD_KEY, counter=1))
        self.wait_for(KEY_ACTIVATION, "the activation")
        program.kill_now()
        self.assertEqual(self.keys_of(NAME), [OLD_KEY.hex(), "pending " + NEW_KEY.hex()])

    def test_a_receiver_takes_up_a_pending_key(self):
        self.cut_off()
        self.assertIn("has not confirmed it", self.key_command("list").stderr)
        line = SerialLine()
        self.addCleanup(line.close)
        receiver = self.receive(port=line.path)
        radio = Radio(line)
        wait_until(lambda: radio.count(IDENTITY_REQUEST), 10, "the identity request of the opening")
        # The collar has not taken the key over: the old one still opens its frames, and the host keeps both.
        radio.send(self.identity(OLD_KEY, 5))
        time.sleep(0.5)
        self.assertEqual(len(self.keys_of(NAME)), 2)
        radio.send(self.identity(NEW_KEY, 0, boot=4))
        wait_until(lambda: self.keys_of(NAME) == [NEW_KEY.hex()], 10, "the new key")
        # The receiver does not accept frames that are sealed with the old key any more.
        [fix] = SerialDecoder().feed(A.fix(0))
        for key, counter in ((OLD_KEY, 6), (NEW_KEY, 1)):
            radio.send(stuff(sealing.seal(fix, derive(key, A.log.device_id), Known(A.log, 4, counter, sequence=0))))
        receiver.wait_for_lines(1)
        receiver.stop()

    def test_the_next_exchange_finds_a_pending_key(self):
        self.cut_off()
        program = self.exchange(self.line.path)
        self.cable.answers.clear()
        self.wait_for(IDENTITY_REQUEST, "the identity request")
        self.cable.send(self.identity(NEW_KEY, 0, boot=4))
        self.assertEqual(program.wait(), 0, program.error_text)
        self.assertEqual(self.keys_of(NAME), [NEW_KEY.hex()])
        self.assertEqual(self.heard(KEY_REQUEST), [])

    def test_a_base_radio_is_no_cable(self):
        program = self.exchange(self.line.path)
        self.wait_for(IDENTITY_REQUEST, "the identity request")
        self.cable.send(A.identity())
        self.wait_for(KEY_REQUEST, "the key request")
        self.cable.send(stuff(exchange.clear_frame(SIGNAL_REPORT, bytes.fromhex("123456ff9fffdd"), address=0)))
        self.assertEqual(program.wait(), 64)
        self.assertIn("keys do not travel by radio", program.error_text)
        self.assertEqual(self.heard(KEY_ACTIVATION), [])

    def test_a_polling_collar_is_behind_a_radio(self):
        program = self.exchange(self.line.path)
        self.wait_for(IDENTITY_REQUEST, "the identity request")
        self.cable.send(A.identity(1))
        self.assertEqual(program.wait(), 64)
        self.assertEqual(self.heard(KEY_REQUEST), [])

    def test_a_key_is_not_replaced_by_a_device_that_says_it_has_none(self):
        self.key_command("add", NAME, "-", stdin=OLD_KEY.hex())
        self.hand_over()
        program = self.exchange(self.line.path)
        self.wait_for(IDENTITY_REQUEST, "the identity request")
        self.cable.send(A.identity())
        self.assertEqual(program.wait(), 65)
        self.assertIn(f"If its memory was erased: `collar-link key remove {NAME} --state-dir {self.state}`", program.error_text)
        program = self.exchange(self.line.path)
        # It hides its identity.
        self.wait_for(KEY_REQUEST, "the key request")
        self.cable.send(self.offer())
        self.assertEqual(program.wait(), 65)
        self.assertEqual(self.keys_of(NAME), [OLD_KEY.hex()])
        self.assertEqual(self.heard(KEY_ACTIVATION), [])

    def test_a_collar_that_is_switched_on_late_is_asked_with_a_proof(self):
        self.key_command("add", NAME, "-", stdin=OLD_KEY.hex())
        self.hand_over()
        program = self.exchange(self.line.path)
        program.wait_for_error("Switch it on, or press its button")
        self.cable.hear()
        self.cable.answers.clear()
        self.wait_for(IDENTITY_REQUEST, "another identity request")
        self.cable.send(self.identity(OLD_KEY, 0))
        program.wait_for_error(f"Press the button of collar {NAME} twice, or switch the collar off and on")
        self.cable.answers.clear()
        self.wait_for(KEY_REQUEST, "the key request")
        exchange.check_request(self.heard(KEY_REQUEST)[-1], 17, A.log.device_id, OLD_KEY)
        self.cable.send(self.offer(OLD_KEY, counter=1))
        self.wait_for(KEY_ACTIVATION, "the activation")
        # It was switched off and has forgotten the key that it offered: it is asked for another one.
        self.cable.answers.clear()
        for counter in range(2, 5):
            self.cable.send(self.identity(OLD_KEY, counter))
        self.wait_for(KEY_REQUEST, "another key request")

    def test_a_cable_that_vanishes_while_the_collar_starts(self):
        """The cable is the collar's own USB port. It comes back under its name, at another terminal."""
        self.key_command("add", NAME, "-", stdin=OLD_KEY.hex())
        self.hand_over()
        link = self.path("usb-port")
        first, second = SerialLine(), SerialLine()
        self.addCleanup(second.close)
        os.symlink(first.path, link)
        program = self.exchange(link)
        collar = Radio(first)
        wait_until(lambda: collar.count(IDENTITY_REQUEST), 10, "the identity request")
        collar.send(self.identity(OLD_KEY, 0))
        wait_until(lambda: collar.count(KEY_REQUEST), 10, "the key request")
        collar.send(self.offer(OLD_KEY, counter=1))
        wait_until(lambda: collar.count(KEY_ACTIVATION), 10, "the activation")
        os.unlink(link)
        first.close()
        program.wait_for_error("was unplugged; the exchange is waiting for it.")
        time.sleep(0.3)
        os.symlink(second.path, link)
        started = Radio(second)
        wait_until(lambda: started.count(IDENTITY_REQUEST), 10, "the identity request at the cable that is back")
        started.send(self.identity(NEW_KEY, 0, boot=4))
        self.assertEqual(program.wait(), 0, program.error_text)
        self.assertEqual(self.keys_of(NAME), [NEW_KEY.hex()])

    def test_a_damaged_key_file_is_not_replaced(self):
        self.key_command("add", NAME, "-", stdin=OLD_KEY.hex())
        path = os.path.join(self.state, "keys", NAME)
        with open(path, "w") as file:
            file.write(OLD_KEY.hex() + " \n")
        self.hand_over()
        program = self.exchange(self.line.path)
        program.wait_for_error("does not hold a key")
        self.wait_for(IDENTITY_REQUEST, "the identity request")
        self.cable.send(self.identity(OLD_KEY, 0))
        program.wait_for_error("Switch it on, or press its button")
        self.wait_for(KEY_REQUEST, "the key request")
        self.cable.send(self.offer())
        self.assertEqual(program.wait(), 78)
        self.assertEqual(self.keys_of(NAME), [OLD_KEY.hex() + " "])
        self.assertEqual(self.heard(KEY_ACTIVATION), [])

    def test_a_key_that_is_given_again_leaves_the_pending_ones(self):
        self.cut_off()
        self.key_command("add", NAME, "-", stdin=OLD_KEY.hex())
        self.assertEqual(self.keys_of(NAME), [OLD_KEY.hex(), "pending " + NEW_KEY.hex()])
        self.key_command("remove", NAME)
        self.assertEqual(os.listdir(os.path.join(self.state, "keys")), [NAME])
        self.assertEqual(self.keys_of(NAME), ["removed"])

    def test_an_unplugged_cable_and_a_wrong_command_line(self):
        done = subprocess.run([BINARY, "key", "exchange"], capture_output=True, text=True, timeout=20)
        self.assertEqual(done.returncode, 64)
        self.assertIn("needs the port of the cable", done.stderr)
        program = self.exchange(self.path("none"))
        self.assertEqual(program.wait(), 69)
        cable = SerialLine()
        program = self.exchange(cable.path)
        program.wait_for_error("looking for a collar")
        cable.close()
        self.assertEqual(program.wait(), 69)
        self.assertIn("The cable at ", program.error_text)
