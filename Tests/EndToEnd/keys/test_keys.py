"""Keys and sealed frames through the real program: the command, a sealed collar, and forged frames."""

import json
import os
import select
import shutil
import subprocess
import time
import tty
import unittest

from end_to_end import BINARY, IS_ROOT, give_to_ordinary_user, wait_until
from key_case import KEY, SEED, KeyTest
from radio import IDENTITY_REQUEST, Radio
from serial_line import SerialLine

import frames
import sealing
from frames import Log
from sealing_keys import Known, derive, expand
from session_parts import A, B, Collar, codes_of
from wire import ProtocolError, SerialDecoder, stuff

STRANGER = 0xBADBAD01


class CommandTest(KeyTest):
    def test_keys_are_added_listed_and_removed(self):
        made = self.key_command("add", "0123456789abcdef").stdout
        self.assertRegex(made, r"\A[0-9a-f]{32}\n\Z")
        self.assertEqual(self.key_command("add", "00000000000000ff", "-", stdin=KEY + "\n").stdout, "")
        self.assertEqual(self.key_command("list").stdout, "00000000000000ff\n0123456789abcdef\n")
        for name, key in (("0123456789abcdef", made), ("00000000000000ff", KEY + "\n")):
            path = os.path.join(self.state, "keys", name)
            self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
            with open(path) as file:
                self.assertEqual(file.read(), key)
        refused = self.key_command("add", "0123456789abcdef", code=73)
        self.assertEqual(refused.stdout, "")
        self.assertIn("has a key already", refused.stderr)
        self.key_command("add", "00000000000000ff", "-", stdin=KEY)
        self.key_command("add", "00000000000000ff", "-", stdin="ff" + KEY[2:], code=73)
        with open(os.path.join(self.state, "keys/0123456789abcdef"), encoding="ascii") as file:
            self.assertEqual(file.read(), made)
        self.assertNotIn(self.key_command("add", "0123456789abcdef", "--replace").stdout, ("", made))
        self.key_command("accept-restart", "00000000000000ff", "77")
        self.assertIn("accept-restart 77\n", self.stored("00000000000000ff"))
        # The permission was for the old key.
        self.key_command("add", "00000000000000ff", "-", "--replace", stdin="ff" + KEY[2:])
        self.assertEqual(self.stored("00000000000000ff"), f"{KEY}\npending ff{KEY[2:]}\n")
        self.key_command("remove", "0123456789abcdef")
        self.assertEqual(self.key_command("list").stdout, "00000000000000ff\n")

    def stored(self, name):
        with open(os.path.join(self.state, "keys", name), encoding="ascii") as file:
            return file.read()

    def test_a_key_is_shown_and_stays_until_the_collar_has_the_new_one(self):
        """A key that is replaced by mistake is not lost, and is told to whoever may read its file."""
        name = "0123456789abcdef"
        made = self.key_command("add", name).stdout
        shown = self.key_command("show", name)
        self.assertEqual((shown.stdout, shown.stderr), (made, ""))
        new = self.key_command("add", name, "--replace").stdout
        shown = self.key_command("show", name)
        self.assertEqual(shown.stdout, made)
        self.assertIn("has a new one and has not confirmed it", shown.stderr)
        self.assertEqual(self.stored(name), f"{made}pending {new}")
        self.assertIn("There is no key", self.key_command("show", "00000000000000ff", code=66).stderr)
        if IS_ROOT:
            self.hand_over()
            os.chown(os.path.join(self.state, "keys", name), 0, 0)
            program = self.start([BINARY, "key", "show", name, "--state-dir", self.state])
            self.assertEqual((program.wait(), program.lines), (77, []))

    @unittest.skipUnless(IS_ROOT, "needs root")
    def test_a_key_that_root_stores_is_the_receivers(self):
        os.mkdir(self.state, 0o700)
        give_to_ordinary_user(self.state)
        self.key_command("add", "0123456789abcdef", "-", stdin=KEY)
        line = SerialLine()
        self.addCleanup(line.close)
        receiver = self.receive(port=line.path)
        receiver.wait_for_error("listening")
        self.assertEqual(receiver.stop(), 0, receiver.error_text)

    def test_what_is_wrong_is_said(self):
        os.mkdir(self.state, 0o700)
        give_to_ordinary_user(self.state)
        for arguments, code, text in (
                (("add", "1234"), 64, "16 hexadecimal digits"), (("remove", "0123456789abcdef"), 66, "There is no key"),
                (("accept-restart", "0123456789abcdef", "7"), 66, "There is no key"), (("list", "x"), 64, "needs one of"),
                (("accept-restart", "0123456789abcdef"), 64, "needs one of"),
                (("accept-restart", "0123456789abcdef", "67108864"), 64, "is not the number of a log"),
                ((), 64, "needs one of"), (("add", "0123456789abcdef", self.path("none")), 66, "No such file")):
            self.assertIn(text, self.key_command(*arguments, code=code).stderr)
        for text in ("", "00", KEY + "0", KEY[:-1] + "g"):
            done = self.key_command("add", "0123456789abcdef", "-", stdin=text, code=65)
            self.assertIn("32 hexadecimal digits", done.stderr)
        self.assertEqual(self.key_command("list").stdout, "")

    def test_the_list_names_keys_that_cannot_be_used(self):
        names = ("00000000000000ff", "0123456789abcdef", "fedcba9876543210")
        for name in names:
            self.key_command("add", name, "-", stdin=KEY)
        self.assertEqual(self.key_command("list").stderr, "")
        path = os.path.join(self.state, "keys", names[1])
        for damaged in ("not a key\n", KEY[:-1] + "\n", ""):
            with open(path, "w") as file:
                file.write(damaged)
            done = self.key_command("list", code=78)
            self.assertEqual(done.stdout.split(), list(names))
            self.assertEqual(done.stderr.splitlines(), [
                f"collar-link: {path} does not hold a key of 32 hexadecimal digits.",
                f"collar-link:   Restore {path} from a backup, or give the key again: `collar-link key add ID FILE --state-dir {self.state}`."])
        self.key_command("add", names[1], "-", stdin=KEY)
        self.assertEqual(self.key_command("list").stderr, "")

    def test_a_receiver_does_not_start_with_a_damaged_key(self):
        """Otherwise it would take forged frames in clear."""
        self.key_command("add", "0123456789abcdef", "-", stdin=KEY)
        path = os.path.join(self.state, "keys", "0123456789abcdef")
        line = SerialLine()
        self.addCleanup(line.close)
        for damaged in ("not a key\n", ""):
            with open(path, "w") as file:
                file.write(damaged)
            self.hand_over()
            receiver = self.receive(port=line.path)
            self.assertEqual(receiver.wait(), 78)
            self.assertIn(f"{path} does not hold a key", receiver.error_text)


class SealedCollarTest(KeyTest):
    def give_key(self, device_id, key=KEY):
        self.key_command("add", device_id, "-", "--replace", stdin=key)
        self.hand_over()

    def test_everything_arrives_as_without_a_key(self):
        track, fixes = self.track("gpsd_rx/ublox-8")
        device_id = self.device_id(track)
        self.give_key(device_id)
        self.simulate(track, *SEED, "--key-file", self.key_file(), "--speed", "60", "--loss", "0.1")
        first = self.receive()
        first.wait_for_lines(20)
        first.kill_now()
        second = self.receive()
        second.wait_for_lines(1)
        wait_until(lambda: len({fix["id"] for fix in first.fixes + second.fixes}) == len(fixes), 30, "every fix")
        second.stop()
        self.assert_union_complete(first.fixes + second.fixes, len(fixes))
        for each in (first, second):
            self.assertIn(f"Collar {device_id} is heard at {self.link}, with its key.", each.error_text)
            self.assertNotIn("ealed frames", each.error_text)
        clear = self.simulate(track, *SEED, "--speed", "max", link=self.path("clear"))
        third = self.receive(port=self.path("clear"), state=self.path("clear-state"))
        third.wait_for_lines(len(fixes))
        third.stop()
        clear.kill_now()

        def content(programs):
            return sorted((json.dumps({key: value for key, value in fix.items() if key not in ("rx_unix_ms", "log", "id")})
                           for fix in {fix["id"]: fix for program in programs for fix in program.fixes}.values()))
        self.assertEqual(content([first, second]), content([third]))

    def test_a_key_is_given_while_the_receiver_runs(self):
        track, fixes = self.track("gpsd_rx/ublox-8", 40)
        device_id = self.device_id(track)
        self.simulate(track, *SEED, "--key-file", self.key_file(), "--speed", "60")
        receiver = self.receive()
        receiver.wait_for_error("sends sealed frames, and there is no key here")
        self.assertEqual(receiver.fixes, [])
        self.give_key(device_id, "ff" + KEY[2:])
        time.sleep(1.2)
        self.give_key(device_id)
        receiver.wait_for_lines(len(fixes), seconds=40)
        receiver.stop()
        self.assert_each_once(receiver.fixes, len(fixes))

    def test_a_wrong_key_in_its_place_loses_nothing(self):
        """The key in use is replaced by a wrong one while the receiver runs, and the collar is received as before."""
        track, fixes = self.track("gpsd_rx/ublox-8", 40)
        device_id = self.device_id(track)
        self.give_key(device_id)
        self.simulate(track, *SEED, "--key-file", self.key_file(), "--speed", "60")
        receiver = self.receive()
        receiver.wait_for_lines(5)
        self.give_key(device_id, "ff" + KEY[2:])
        receiver.wait_for_lines(len(fixes), seconds=40)
        self.assertEqual(receiver.stop(), 0)
        self.assert_each_once(receiver.fixes, len(fixes))
        self.assertNotIn("ealed frames", receiver.error_text)
        self.assertEqual(self.key_command("show", device_id).stdout, KEY + "\n")

    def test_commands_reach_a_sealed_collar(self):
        track, _ = self.track("gpsd_rx/ublox-8")
        self.give_key(self.device_id(track))
        self.simulate(track, *SEED, "--key-file", self.key_file(), "--interval", "0.1")
        receiver = self.receive()
        receiver.wait_for_lines(2)
        for words in (("locate",), ("settings", "set", "heartbeat_s=30"), ("settings", "get"), ("message", "7", "hello")):
            done = subprocess.run([BINARY, "send", *words, "--state-dir", self.state, "--timeout", "15"],
                                  capture_output=True, text=True, timeout=30)
            self.assertEqual(done.returncode, 0, f"{words}: {done.stderr}")

    def test_a_capture_that_began_late_has_no_wrong_key(self):
        """Its live fixes refer to earlier fixes. The key is right, so no message asks for another one."""
        track, _ = self.track("cats_uk/Amber-Tag")
        name = self.device_id(track)
        self.give_key(name)
        # Between the receivers the collar makes a fix or two: after more without an answer it would send some that refer to none.
        self.simulate(track, *SEED, "--key-file", self.key_file(), "--interval", "1.5")
        receiver = self.receive()
        receiver.wait_for_lines(3)
        receiver.stop()
        capture = self.path("late.pcapng")
        receiver = self.receive("--write", capture)
        receiver.wait_for_lines(6)
        receiver.stop()
        played = self.start([BINARY, "--read", capture, "--collar", name, "--key-file", self.key_file()])
        self.assertEqual(played.wait(), 0, played.error_text)
        self.assertIn("refer to fixes that are not stored here", played.error_text)
        self.assertNotIn("no key here opens", played.error_text)

    def test_a_collar_that_forgot_its_counts_is_told(self):
        """A simulated collar without a file for its flash begins at its first frame again, and is not listened to."""
        track, _ = self.track("gpsd_rx/ublox-8")
        self.give_key(self.device_id(track))
        options = (*SEED, "--key-file", self.key_file(), "--interval", "0.05")
        collar = self.simulate(track, *options)
        receiver = self.receive()
        # More frames than the collar sends in the second until the receiver opens its port again.
        receiver.wait_for_lines(60)
        collar.kill_now()
        collar = self.simulate(track, *options)
        receiver.wait_for_error("sends only frames that were received before", 30)
        receiver.wait_for_error("--flash FILE")
        self.assertEqual(receiver.error_text.count("received before"), 1)

    def test_decode_opens_a_capture(self):
        keys = derive(bytes.fromhex(KEY), A.log.device_id)
        decoder = SerialDecoder()
        clear = [decoder.feed(serial)[0] for serial in (A.identity(1, following=8, boot=3), A.fix(5), A.live(7, 5), A.batch([0, 1, 2]))]
        known = [{}, {"sequence": 5}, {"anchor": codes_of(5)}, {}]
        capture = b"".join(
            stuff(sealing.seal(frame, keys, Known(A.log, 3, counter, **more)))
            for counter, (frame, more) in enumerate(zip(clear, known)))
        name = f"{A.log.device_id:016x}"

        def decode(*arguments):
            return subprocess.run([BINARY, "decode", *arguments], input=capture, capture_output=True, timeout=20)
        opened = decode("--device", name, "--key-file", self.key_file())
        self.assertEqual([json.loads(line)["seq"] for line in opened.stdout.splitlines()], [5, 7, 0, 1, 2])
        text = decode("--device", name, "--key-file", self.key_file(), "-F", "text").stdout.decode()
        self.assertEqual(text.count("bytes, sealed:"), 4)
        shut = decode()
        self.assertEqual((shut.returncode, shut.stdout), (65, b""))
        self.assertIn(b"4 sealed, not verified", shut.stderr)


class LostKeyTest(KeyTest):
    """The key of collar A is gone, and its journal knows of sealed frames."""

    def setUp(self):
        super().setUp()
        self.line = SerialLine()
        self.addCleanup(self.line.close)
        self.radio = Radio(self.line)
        self.name = f"{A.log.device_id:016x}"
        self.key_command("add", self.name, "-", stdin=KEY)
        self.hand_over()
        receiver = self.begin()
        keys = derive(bytes.fromhex(KEY), A.log.device_id)
        decoder = SerialDecoder()
        for counter, (serial, more) in enumerate(((A.identity(1, following=1, boot=3), {}), (A.fix(0), {"sequence": 0}),
                                                  (A.probe(1, 1), {}))):
            self.radio.send(stuff(sealing.seal(decoder.feed(serial)[0], keys, Known(A.log, 3, counter, **more))))
        receiver.wait_for_lines(1)
        self.assertEqual(receiver.stop(), 0, receiver.error_text)

    def begin(self):
        receiver = self.receive(port=self.line.path)
        receiver.wait_for_error("listening on")
        return receiver

    def assert_not_taken_in_clear(self, receiver):
        """Another collar is received, and frames of A in clear are not."""
        receiver.wait_for_error(f"{self.name} had a key, and the key is gone")
        self.radio.send(A.identity(following=2) + A.fix(1) + A.probe(1, 2) + B.identity() + B.fix(0))
        receiver.wait_for_lines(1)
        self.assertEqual(self.radio.poll(B, 1)[0]["first_missing"], 1)
        self.assertEqual([fix["collar"] for fix in receiver.fixes], [f"{B.log.device_id:016x}"])
        self.assertIn(f"collar-link key remove {self.name}", receiver.error_text)
        self.assertNotIn(f"Collar {self.name} is heard at", receiver.error_text)

    def test_a_collar_is_not_taken_in_clear_until_its_key_is_removed(self):
        shutil.rmtree(f"{self.state}/keys")
        receiver = self.begin()
        self.assert_not_taken_in_clear(receiver)
        found = subprocess.run([BINARY, "doctor", "-F", "json", "--state-dir", self.state], capture_output=True, text=True, timeout=30)
        self.assertIn('"key_lost"', found.stdout)
        # The removal is noted, also for a receiver that runs.
        self.key_command("remove", self.name)
        self.hand_over()
        self.assertEqual(self.key_command("list").stdout, "")
        self.assertIn("There is no key", self.key_command("remove", self.name, code=66).stderr)
        time.sleep(1.1)
        self.radio.send(A.identity(following=2) + A.fix(1))
        receiver.wait_for_lines(2)
        self.assertEqual(receiver.stop(), 0, receiver.error_text)
        again = self.begin()
        self.radio.send(A.identity(following=3) + A.fix(2))
        again.wait_for_lines(1)
        self.assertNotIn("the key is gone", again.error_text)
        again.stop()
        # A key takes the place of the note.
        self.key_command("add", self.name, "-", stdin=KEY)
        self.assertEqual(self.key_command("list").stdout, f"{self.name}\n")

    def test_a_key_file_that_vanishes_while_the_receiver_runs(self):
        receiver = self.begin()
        os.unlink(f"{self.state}/keys/{self.name}")
        time.sleep(1.1)  # Keys are read at most once a second.
        self.radio.send(B.identity())
        self.assert_not_taken_in_clear(receiver)
        self.key_command("add", self.name, "-", stdin=KEY)
        self.hand_over()
        receiver.stop()
        self.assertNotIn("the key is gone", self.begin().error_text)

    def test_a_removed_key_file_leaves_no_other_collar_in_clear(self):
        """`key remove` of another collar changes nothing for this one."""
        os.unlink(f"{self.state}/keys/{self.name}")
        self.key_command("add", "00000000000000ff", "-", stdin=KEY)
        self.key_command("remove", "00000000000000ff")
        self.hand_over()
        self.assert_not_taken_in_clear(self.begin())

    def test_something_else_in_the_place_of_the_keys(self):
        keys = f"{self.state}/keys"
        shutil.rmtree(keys)
        for make, said in ((lambda: os.symlink(self.path("unmounted"), keys), "it is a symbolic link"),
                           (lambda: open(keys, "w", encoding="ascii").close(), "Not a directory")):
            make()
            receiver = self.receive(port=self.line.path)
            self.assertNotEqual(receiver.wait(), 0)
            self.assertIn(f"{keys}: {said}", receiver.error_text)
            self.assertIn(f"Remove what is in the way at {keys}", receiver.error_text)
            self.assertEqual(receiver.fixes, [])
            os.unlink(keys)

    def test_a_name_with_capitals(self):
        keys = f"{self.state}/keys"
        wrong, right = f"{keys}/00000000000000FF", f"{keys}/00000000000000ff"
        self.key_command("add", "00000000000000ff", "-", stdin=KEY)
        os.rename(right, wrong)
        self.hand_over()
        self.assertIn("has capitals", self.key_command("list", code=78).stderr)
        receiver = self.receive(port=self.line.path)
        self.assertEqual(receiver.wait(), 78)
        self.assertIn(f"The name of the key file {wrong} has capitals", receiver.error_text)
        self.assertIn("Rename it to 00000000000000ff", receiver.error_text)
        found = subprocess.run([BINARY, "doctor", "--state-dir", self.state], capture_output=True, text=True, timeout=30)
        self.assertIn(f"mv {wrong} {right}", found.stdout)


class Attacker:
    """Sends frames to a simulated collar in the place of its base radio, and hears the collar."""

    def __init__(self, path):
        self._line = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        tty.setraw(self._line)
        self._decoder = SerialDecoder()

    def close(self):
        os.close(self._line)

    def send(self, frame):
        os.write(self._line, stuff(frame))

    def hear(self, seconds, is_over=lambda frame: False):
        """The frames that come in a time, or until one of them ends it."""
        heard = []
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self._line], [], [], left)[0]:
                heard += [frame for frame in self._decoder.feed(os.read(self._line, 4096))
                          if not isinstance(frame, ProtocolError)]
                if any(map(is_over, heard)):
                    break
        return heard


class ForgeryTest(KeyTest):
    """One attack takes over a collar without a key, and has no effect on a collar with a key."""

    def attack(self, identity_of, *arguments):
        """Attacks a simulated collar.
        Returns the types of the frames that it sends, and the receiver that its last identity names."""
        track, _ = self.track("gpsd_rx/ublox-8")
        self.simulate(track, *SEED, *arguments)
        attacker = Attacker(self.link)
        self.addCleanup(attacker.close)
        identity = next(filter(None, map(identity_of, attacker.hear(5, identity_of))))
        address = identity.address
        log = Log(int(identity.decoded["device_id"], 16), identity.decoded["log_id"])
        pair = frames.encode(20, {"request_id": 1, "receiver_id": STRANGER, "action": 6, "argument": STRANGER}, address, log=log)
        update = frames.encode(19, {"request_id": 2, "version": 2 ** 42 + 5, "origin": 7, "entries": [[1, 86_400_000]]},
                               address, log=log)
        attacker.send(pair)
        heard = []
        end = time.monotonic() + 2
        while time.monotonic() < end and not {7, 8} <= {frame[0] & 0x1F for frame in heard}:
            for frame in attacker.hear(0.05):
                heard.append(frame)
                if frame[1] & 7:
                    answer = {"poll": frame[1] & 7, "receiver_id": STRANGER, "first_missing": 0, "durable": [], "resend": []}
                    attacker.send(update)
                    attacker.send(frames.encode(16, answer, address, log=log))
        attacker.send(frames.encode(17, {"receiver_id": STRANGER}, address))
        heard += attacker.hear(5, identity_of)
        identities = [each for each in map(identity_of, heard) if each]
        return {frame[0] & 0x1F for frame in heard}, identities[-1].decoded["paired_receiver"]

    def test_a_collar_in_clear_is_taken_over(self):
        def identity_of(frame):
            return frames.decode(frame) if frame[0] & 0x1F == 1 else None
        replies, paired = self.attack(identity_of)
        self.assertEqual(paired, STRANGER)
        self.assertLessEqual({7, 8}, replies)

    def test_a_collar_with_a_key_is_not_taken_over(self):
        track, _ = self.track("gpsd_rx/ublox-8")
        device_id = int(self.device_id(track), 16)
        keys = derive(bytes.fromhex(KEY), device_id)

        def identity_of(frame):
            """Opens an identity with the key. The attacker may know its fields from the time before the collar had a key."""
            self.assertTrue(frame[1] & 0x80)
            if frame[0] & 0x1F != 1:
                return None
            log = Log(device_id, self.log_id(frame, keys))
            return frames.decode(sealing.open_sealed(frame, keys, Known(log, 1, frame[3])))
        replies, paired = self.attack(identity_of, "--key-file", self.key_file())
        self.assertEqual(paired, 0)
        self.assertEqual(replies & {7, 8}, set())

    def log_id(self, frame, keys):
        """The log id in a sealed identity, without its mask."""
        mask = expand(keys.mask + frame[-8:], 11)
        return int.from_bytes(bytes(a ^ b for a, b in zip(frame[4:8], mask)), "big") >> 6

    def begin(self, *arguments):
        """A receiver at a line, with a key of collar A. Returns the name of A, the receiver, the radio, and what the key gives."""
        name = f"{A.log.device_id:016x}"
        self.key_command("add", name, "-", stdin=KEY)
        self.hand_over()
        line = SerialLine()
        self.addCleanup(line.close)
        receiver = self.receive(*arguments, port=line.path)
        radio = Radio(line)
        wait_until(lambda: radio.count(IDENTITY_REQUEST), 10, "the identity request of the opening")
        keys = derive(bytes.fromhex(KEY), A.log.device_id)
        return name, receiver, radio, keys

    def test_the_owner_is_told(self):
        """Frames in clear that name a collar with a key are dropped, and not answered."""
        name, receiver, radio, keys = self.begin("--events", "fix,error")
        decoder = SerialDecoder()

        def sealed(serial, counter, **more):
            return stuff(sealing.seal(decoder.feed(serial)[0], keys, Known(A.log, 3, counter, **more)))
        radio.send(sealed(A.identity(1, following=2, boot=3), 0) + sealed(A.fix(0), 1, sequence=0))
        receiver.wait_for_lines(1)
        radio.send(A.identity(2, following=9, boot=4) + A.fix(5, 3) + A.probe(9, 4) + A.tombstone([(0, 8)], 5))
        receiver.wait_for_error(f"name collar {name}, which has a key: they are dropped")
        # A frame that was heard before is dropped without alarm.
        radio.send(sealed(A.fix(0), 1, sequence=0) + sealed(A.fix(1), 2, sequence=1))
        receiver.wait_for_lines(3)
        receiver.stop()
        self.assertEqual([each.get("seq", each.get("code")) for each in receiver.fixes], [0, "forgery_attempted", 1])
        answers = [frame for frame in radio.answers if frame[0] & 0x1F == 16]
        self.assertEqual([frame[1] & 0x80 for frame in answers], [0x80])

    def test_a_restart_of_a_stored_log_cannot_be_accepted(self):
        """Somebody repeats an identity of an earlier boot: no command is advised, and the permission is refused or taken back."""
        name, receiver, radio, keys = self.begin("--events", "fix,error")
        decoder = SerialDecoder()

        def sealed(serial, boot, counter, **more):
            return stuff(sealing.seal(decoder.feed(serial)[0], keys, Known(A.log, boot, counter, **more)))
        radio.send(sealed(A.identity(1, boot=9), 9, 0) + sealed(A.fix(0), 9, 1, sequence=0))
        receiver.wait_for_lines(1)
        radio.send(sealed(A.identity(1, boot=2), 2, 0))
        receiver.wait_for_lines(2)
        report = receiver.fixes[1]
        self.assertEqual((report["code"], report["remedy"]), ("collar_restarted", None))
        self.assertNotIn("accept-restart", receiver.error_text)
        refused = self.key_command("accept-restart", name, str(A.log.log_id), code=64)
        self.assertIn("is stored", refused.stderr)
        path = os.path.join(self.state, "keys", name)
        with open(path, "a", encoding="ascii") as file:
            file.write(f"accept-restart {A.log.log_id}\n")

        def is_removed():
            radio.send(sealed(A.identity(1, boot=2), 2, 0))
            with open(path, encoding="ascii") as file:
                return file.read() == KEY + "\n"
        wait_until(is_removed, 10, "the removal of a permission that cannot hold")
        receiver.stop()

    def test_a_restart_below_is_told_and_may_be_accepted(self):
        name, receiver, radio, keys = self.begin()
        erased = Collar(A.log.device_id, 77, 17)
        decoder = SerialDecoder()

        def identity(collar, boot, counter):
            return stuff(sealing.seal(decoder.feed(collar.identity(1, boot=boot))[0], keys, Known(collar.log, boot, counter)))
        radio.send(identity(A, 9, 0))
        wait_until(lambda: radio.count(16), 10, "an answer")
        radio.send(identity(erased, 1, 0))
        receiver.wait_for_error(f"Collar {name}, log 77, counts 1 boots, fewer than before")
        self.key_command("accept-restart", name, "77")
        self.hand_over()
        radio.answers.clear()
        # The permission is for this log alone: an old identity of another one does not use it up.
        time.sleep(1.2)
        radio.send(identity(Collar(A.log.device_id, 78, 17), 2, 0))
        for counter in range(1, 160):
            radio.send(identity(erased, 1, counter))
            time.sleep(0.05)
            if radio.count(16):
                break
        self.assertTrue(radio.count(16), "the erased collar is not answered")
        # The boots before the erasure are retired: what was recorded then is not believed.
        time.sleep(0.2)
        radio.hear()
        radio.answers.clear()
        radio.send(identity(A, 9, 5))
        time.sleep(0.2)
        self.assertEqual(radio.count(16), 0)
        receiver.stop()


if __name__ == "__main__":
    unittest.main()
