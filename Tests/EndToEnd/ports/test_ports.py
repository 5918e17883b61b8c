"""Ports that cannot be used give one message with a remedy and a fixed exit code. Also noise, and bad tracks."""

import os
import random
import select
import shutil
import time

from end_to_end import BINARY, IS_ROOT, EndToEndTest
from serial_line import Bridge, SerialLine, drain


class BadPortTest(EndToEndTest):
    def line(self, **options):
        line = SerialLine(**options)
        self.addCleanup(line.close)
        return line

    def refuse(self, port, code, *arguments):
        """Checks that the receiver ends at once with this code and one message. Returns the message."""
        receiver = self.receive(*arguments, port=port, state=self.path("refused"))
        self.assertEqual(receiver.wait(5), code, receiver.error_text)
        self.assertEqual(receiver.lines, [])
        self.assert_one_message(receiver)
        return receiver.error_text

    def test_a_device_that_is_no_terminal(self):
        self.assertIn("/dev/null is not a serial port", self.refuse("/dev/null", 78))

    def test_a_file(self):
        path = self.path("file")
        with open(path, "wb"):
            pass
        os.chmod(path, 0o666)
        self.assertIn("not a serial port", self.refuse(path, 78))

    def test_a_folder(self):
        self.assertIn("not a serial port", self.refuse(self.folder, 78))

    def test_missing_without_reconnect(self):
        self.assertIn("no device at /dev/nothing-here", self.refuse("/dev/nothing-here", 69, "--no-reconnect"))

    def test_an_empty_name(self):
        for arguments in (["--port="], ["--port", ""], ["--state-dir="]):
            program = self.start([BINARY, *arguments])
            self.assertEqual(program.wait(5), 64, program.error_text)
            self.assertIn("needs a value", program.error_text)

    def open_by_two_names(self):
        """A line, its second name, and a receiver that was given both names. The first name is `self.link`."""
        line = SerialLine()
        other = self.path("alias")
        os.symlink(line.path, self.link)
        os.symlink(line.path, other)
        receiver = self.receive("--port", other)
        receiver.wait_for_error("listening on")
        return line, other, receiver

    def test_one_port_by_two_names(self):
        """A port with two names is opened once, also after it was unplugged."""
        line, other, receiver = self.open_by_two_names()
        for count in range(1, 4):
            line.close()
            receiver.wait_for_errors("was unplugged", count)
            line = SerialLine()
            for name in (self.link, other):
                os.remove(name)
                os.symlink(line.path, name)
            receiver.wait_for_errors("listening on", count + 1)
        self.assertEqual(receiver.stop(), 0, receiver.error_text)
        line.close()
        self.assertNotIn("in use", receiver.error_text)
        self.assertEqual(receiver.error_text.count("listening on"), 4)

    def test_the_other_name_alone_comes_back(self):
        """Of two names of one port, the port was opened by the first. After it was unplugged, only the second leads to it."""
        line, other, receiver = self.open_by_two_names()
        os.remove(self.link)
        line.close()
        receiver.wait_for_error("was unplugged")
        line = SerialLine()
        os.remove(other)
        os.symlink(line.path, other)
        receiver.wait_for_errors("listening on", 2)
        self.assertEqual(receiver.stop(), 0, receiver.error_text)
        line.close()

    def another_of_that_number(self, path):
        """A new terminal with the number of a terminal that is gone."""
        lines = []
        try:
            for _ in range(64):
                lines.append(SerialLine())
                if lines[-1].path == path:
                    return lines.pop()
        finally:
            for line in lines:
                line.close()
        self.skipTest(f"somebody else has {path} by now")

    def test_the_next_terminal_of_that_number(self):
        """A later terminal with the number of a lost port is not opened, whether its path or a link was named."""
        for is_link in (False, True):
            line = SerialLine()
            if is_link:
                os.symlink(line.path, self.link)
            receiver = self.receive(port=self.link if is_link else line.path)
            receiver.wait_for_error("listening on")
            line.close()
            receiver.wait_for_error("was unplugged")
            stranger = self.another_of_that_number(line.path)
            self.addCleanup(stranger.close)
            time.sleep(1)
            self.assertEqual(receiver.error_text.count("listening on"), 1)
            if is_link:
                os.remove(self.link)
                os.symlink(stranger.path, self.link)
                receiver.wait_for_errors("listening on", 2)
            else:
                self.assertIn("is not reopened", receiver.error_text)
            self.assertEqual(receiver.stop(), 0)

    def test_missing_is_waited_for(self):
        receiver = self.receive("-n", "1")
        receiver.wait_for_error(f"waiting for {self.link} to appear")
        self.simulate(self.track("cats_uk/Felix-Tag")[0], "--speed", "max")
        self.assertEqual(receiver.wait(10), 0)
        self.assertEqual(len(receiver.lines), 1)

    def test_missing_until_it_may_be_opened(self):
        """The directories of the port are made later, and then the port may not be opened at first."""
        port = self.path("made/later/radio")
        receiver = self.receive(port=port)
        receiver.wait_for_error(f"waiting for {port} to appear")
        os.makedirs(os.path.dirname(port))
        line = self.line(ordinary=False)
        os.chmod(line.path, 0)
        os.symlink(line.path, port)
        receiver.wait_for_error("may open")
        os.chmod(line.path, 0o666)
        receiver.wait_for_error("listening on")
        self.assertEqual(receiver.stop(), 0)
        self.assertEqual(receiver.error_text.count("to appear"), 1)

    def test_unplugged_without_reconnect(self):
        line = SerialLine()
        receiver = self.receive("--no-reconnect", "--events", "link", port=line.path)
        receiver.wait_for_error("listening")
        line.close()
        self.assertEqual(receiver.wait(5), 69)
        self.assertEqual(receiver.error_text.count("was unplugged"), 1, receiver.error_text)
        self.assertNotIn("waiting", receiver.error_text)
        self.assertEqual([line["event"] for line in receiver.fixes], ["opened", "unplugged"])

    def test_no_permission(self):
        line = self.line(ordinary=False)
        if not IS_ROOT:
            os.chmod(line.path, 0)
        text = self.refuse(line.path, 77)
        self.assertIn("may open" if IS_ROOT else line.path, text)

    def test_a_state_directory_that_may_not_be_written(self):
        folder = self.path("locked")
        os.mkdir(folder, 0o555)
        if IS_ROOT:
            shutil.chown(folder, "root", "root")
        receiver = self.receive(port=self.line().path, state=os.path.join(folder, "state"))
        self.assertEqual(receiver.wait(5), 77, receiver.error_text)
        self.assert_one_message(receiver)


class NoiseTest(EndToEndTest):
    def test_a_megabyte_of_noise(self):
        """Random bytes are skipped: they yield no fix, and the fixes after them are received."""
        line = SerialLine()
        self.addCleanup(line.close)
        receiver = self.receive("-v", port=line.path)
        receiver.wait_for_error("listening")
        noise = random.Random(1).randbytes(1 << 20)
        while noise:
            drain(line.master)
            if select.select([], [line.master], [], 5)[1]:
                noise = noise[os.write(line.master, noise[:4096]):]
            else:
                self.fail("the receiver does not read any more")
        self.assertIsNone(receiver.process.poll(), receiver.error_text)
        self.assertEqual(receiver.lines, [])
        track, sent = self.track("cats_uk/Felix-Tag")
        collar = self.simulate(track, "--speed", "max", "--until-delivered")
        bridge = Bridge(line.master, os.path.realpath(self.link))
        self.addCleanup(bridge.close)
        receiver.wait_for_lines(len(sent), 30)
        self.assertEqual(collar.wait(30), 0)
        self.assertEqual(receiver.stop(), 0)
        self.assert_each_once(receiver.fixes, len(sent))
        damaged = int(receiver.error_text.split(" damaged")[0].split()[-1])
        self.assertGreater(damaged, 1000, "noise was not counted")


class BadTrackTest(EndToEndTest):
    GOOD = ('{"ts_unix_ms":1000,"source":"iOS","coordinate":{"latitude":1,"longitude":2},"alt_m":null,"h_accuracy_m":-1,'
            '"v_accuracy_m":-1,"speed_mps":-1,"course_deg":-1,"heading_deg":null,"battery_pct":-1,"seq":0}')

    def refuse(self, line):
        """Checks that a track with a bad third line gives exit code 65 and a message that names the line."""
        path = self.path("track")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"{self.GOOD}\n{self.GOOD}\n{line}\n{self.GOOD}\n")
        os.chmod(path, 0o644)
        program = self.start([BINARY, "simulate", "--track", path])
        self.assertEqual(program.wait(5), 65, program.error_text)
        self.assertIn("line 3", program.error_text)
        self.assertEqual(len(program.error_text.splitlines()), 1)
        return program.error_text

    def test_fields_are_named(self):
        for old, new, field in [
            ('"latitude":1', '"latitude":95.2', "latitude"), ('"latitude":1,', "", "latitude"),
            ('"ts_unix_ms":1000', '"ts_unix_ms":"now"', "ts_unix_ms"), ('"source":"iOS"', '"source":"dog"', "source"),
            ('"battery_pct":-1', '"battery_pct":101', "battery_pct"), ('"course_deg":-1', '"course_deg":400', "course_deg"),
        ]:
            with self.subTest(new=new or f"without {field}"):
                self.assertIn(field, self.refuse(self.GOOD.replace(old, new)))

    def test_no_json(self):
        self.assertIn("not JSON", self.refuse("latitude 1, longitude 2"))

    def test_a_good_track_is_taken(self):
        """Proves the tests above: the same track without the bad line is accepted."""
        path = self.path("track")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.GOOD + "\n")
        os.chmod(path, 0o644)
        self.simulate(path)

    def test_no_such_track(self):
        program = self.start([BINARY, "simulate", "--track", self.path("nothing")])
        self.assertEqual(program.wait(5), 66)

    def test_an_empty_track(self):
        program = self.start([BINARY, "simulate", "--track", "/dev/null"])
        self.assertEqual(program.wait(5), 65)
