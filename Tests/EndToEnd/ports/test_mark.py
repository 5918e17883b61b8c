"""`collar-link mark`, with simulated adapters. Run these tests under umockdev-wrapper, as Tools/test does."""

import os
import pty
import subprocess
import unittest

import umockdev_testbed
from end_to_end import BINARY, WITH_OWN_ETC, EndToEndTest, can_replace_etc, give_to_ordinary_user

NAME = "69-my-collar-link.rules"
RULES_OF_A1 = [
    'SUBSYSTEM=="tty", ATTRS{idVendor}=="10c4", ATTRS{idProduct}=="ea60", ATTRS{serial}=="A1", ENV{COLLAR_LINK}="1"',
    'SUBSYSTEM=="usb", ENV{DEVTYPE}=="usb_device", ATTR{idVendor}=="10c4", ATTR{idProduct}=="ea60", ATTR{serial}=="A1", '
    'ENV{COLLAR_LINK}="1"',
]


def rules_of_socket(number):
    """The rule of the adapter in a socket of the simulated hub."""
    path = f"pci-0000:00:14.0-usb-0:{number}"
    return [
        f'SUBSYSTEM=="tty", ENV{{ID_PATH}}=="{path}:1.0", ENV{{COLLAR_LINK}}="1"',
        f'SUBSYSTEM=="usb", ENV{{DEVTYPE}}=="usb_device", ENV{{ID_PATH}}=="{path}", ENV{{COLLAR_LINK}}="1"',
    ]


@unittest.skipUnless(umockdev_testbed.is_available(), "needs umockdev-wrapper")
class MarkTest(EndToEndTest):
    def setUp(self):
        super().setUp()
        self.testbed = umockdev_testbed.Testbed()
        self.addCleanup(self.testbed.close)
        self.testbed.open_to_ordinary_user()
        self.environment = {**os.environ, "UMOCKDEV_DIR": os.path.dirname(self.testbed._dev)}
        self.rules = self.path("rules.d")
        os.mkdir(self.rules)
        give_to_ordinary_user(self.rules)

    def plug(self, name="ttyUSB0", **options):
        return self.testbed.add_usb_tty(name, **{"manufacturer": "Silicon Labs", "model": "CP2102", **options})

    def mark(self, *arguments, code=0, **options):
        program = self.start(
            [BINARY, "mark", "--rules-directory", self.rules, *arguments], environment=self.environment, **options)
        self.assertEqual(program.wait(), code, program.error_text)
        return program

    def written(self):
        """The lines of the rule file; None if there is none."""
        path = os.path.join(self.rules, NAME)
        if not os.path.exists(path):
            return None
        with open(path, encoding="utf-8") as file:
            return file.read().splitlines()

    def assert_written_for_sockets(self, number):
        """Checks that the file has the rules of `count` sockets."""
        self.assertEqual(self.written(), [line for each in range(1, number + 1) for line in rules_of_socket(each)])

    def test_the_only_adapter(self):
        """The rule and the file are shown; it is written once."""
        self.plug(serial="A1")
        self.plug("ttyUSB1", serial="A2", properties={"COLLAR_LINK": "1"})
        program = self.mark("--yes")
        self.assertEqual(self.written(), RULES_OF_A1)
        for text in [*RULES_OF_A1, os.path.join(self.rules, NAME), "by its serial number", "udevadm control --reload",
                     "udevadm trigger --subsystem-match=tty --subsystem-match=usb"]:
            self.assertIn(text, program.error_text)
        self.assertEqual(program.lines, [])
        again = self.mark("--yes")
        self.assertIn("has the rule for /dev/ttyUSB0 already", again.error_text)
        self.assertEqual(self.mark("--print").lines, [])
        self.assertEqual(self.written(), RULES_OF_A1)

    def test_print(self):
        """--print writes nothing but the rule on stdout, for tee."""
        self.plug(serial="A1")
        program = self.mark("--print")
        self.assertEqual([line.rstrip("\n") for line in program.lines], RULES_OF_A1)
        self.assertEqual(program.error_text, "")
        self.assertIsNone(self.written())
        self.mark("--print", "--yes", code=64)

    def test_a_file_of_other_rules_is_kept(self):
        with open(os.path.join(self.rules, NAME), "w", encoding="utf-8") as file:
            file.write("# mine\n" + RULES_OF_A1[0])  # No line feed at the end.
        give_to_ordinary_user(file.name)
        self.plug(serial="A1")
        self.mark("--yes")
        self.assertEqual(self.written(), ["# mine", *RULES_OF_A1])

    def test_without_agreement(self):
        self.plug(serial="A1")
        self.assertIn("--yes", self.mark(code=64).error_text)
        self.assertIsNone(self.written())

    def test_agreement_on_a_terminal(self):
        self.plug(serial="A1")
        for answer, code in ((b"n\n", 64), (b"\n", 64), (b"\x04", 64), (b"y\n", 0)):
            with self.subTest(answer=answer):
                master, slave = pty.openpty()
                program = self.start(
                    [BINARY, "mark", "--rules-directory", self.rules], environment=self.environment, stdin=slave)
                os.close(slave)
                program.wait_for_error(RULES_OF_A1[1])
                self.assertIsNone(self.written())
                os.write(master, answer)
                self.assertEqual(program.wait(), code, program.error_text)
                self.assertEqual(self.written(), RULES_OF_A1 if code == 0 else None)
                os.close(master)

    def test_several_adapters(self):
        """Without a choice, adapters are listed; a path chooses, also a symbolic link."""
        self.plug(serial="A1")
        self.plug("ttyUSB1", serial="A2")
        program = self.mark("--yes", code=64)
        for text in ("/dev/ttyUSB0", "/dev/ttyUSB1", "A1", "A2", "collar-link mark /dev/ttyUSB"):
            self.assertIn(text, program.error_text)
        self.assertIsNone(self.written())
        os.symlink("/dev/ttyUSB0", self.path("stick"))
        self.mark("--yes", self.path("stick"))
        self.assertEqual(self.written(), RULES_OF_A1)

    def test_equal_serial_numbers(self):
        self.plug(serial="A1")
        self.plug("ttyUSB1", serial="A1")
        program = self.mark("--yes", "/dev/ttyUSB1")
        self.assertIn("/dev/ttyUSB0 has the same serial number", program.error_text)
        self.assertEqual(self.written(), rules_of_socket(2))

    def test_no_serial_number(self):
        self.plug(serial=None)
        self.assertIn("it has no serial number", self.mark("--yes").error_text)
        self.assertEqual(self.written(), rules_of_socket(1))

    def test_serial_numbers_that_many_adapters_have(self):
        for number, serial in enumerate(("0001", "0000", "123456", "0123456789ABCDEF")):
            self.plug(serial=serial)
            self.assertIn(f"the serial number {serial} to many", self.mark("--yes").error_text)
            self.assert_written_for_sockets(number + 1)
            self.testbed.unplug("ttyUSB0")

    def test_serial_numbers_that_are_no_words(self):
        """A serial number from a device never becomes a part of a rule that it was not meant to be."""
        for number, serial in enumerate(('A"1', "*", "A|B", "A?", "[A]", "A\\1", "A\x1b1", 'x", RUN+="reboot', "Äh")):
            with self.subTest(serial=serial):
                self.plug(serial=serial)
                self.assertIn("characters that a rule cannot have", self.mark("--yes").error_text)
                self.assert_written_for_sockets(number + 1)
                self.testbed.unplug("ttyUSB0")

    def test_no_rule_is_possible(self):
        self.plug(serial=None, properties={"ID_PATH": ""})
        self.assertIn("No rule can tell", self.mark("--yes", code=78).error_text)
        self.testbed.unplug("ttyUSB0")
        self.plug(serial="0001", properties={"ID_PATH": 'x", RUN+="reboot'})
        self.assertIn("No rule can tell", self.mark("--yes", code=78).error_text)
        self.assertIsNone(self.written())

    def test_marked_already(self):
        node = self.plug(serial="A1", properties={"COLLAR_LINK": "1"})
        program = self.start([BINARY, "mark", "--yes", node], environment=self.environment)
        self.assertEqual(program.wait(), 0)
        self.assertIn(f"{node} is marked already", program.error_text)
        self.assertIn("Every USB serial adapter is marked already.", self.mark("--yes", code=69).error_text)
        self.assertIsNone(self.written())
        # A rule in another directory is for another machine.
        self.mark("--yes", node)
        self.assertEqual(self.written(), RULES_OF_A1)

    def test_nothing_to_mark(self):
        self.assertIn("No USB serial adapter is plugged in.", self.mark("--yes", code=69).error_text)
        self.assertIn("no serial device at /dev/ttyUSB7", self.mark("--yes", "/dev/ttyUSB7", code=69).error_text)

    def test_no_permission(self):
        """Where the file cannot be written, nothing is asked, and the command that writes it is shown."""
        node = self.plug(serial="A1")
        os.chown(self.rules, 0, 0) if os.geteuid() == 0 else os.chmod(self.rules, 0o555)
        self.addCleanup(os.chmod, self.rules, 0o755)
        program = self.mark("--yes", code=77)
        self.assertIn(f"collar-link mark --print --rules-directory {self.rules} {node} | sudo tee -a {self.rules}/{NAME}",
                      program.error_text)
        for line in RULES_OF_A1:
            self.assertIn(line, program.error_text)
        self.assertIsNone(self.written())

    def test_a_directory_that_does_not_exist(self):
        self.plug(serial="A1")
        os.rmdir(self.rules)
        self.assertIn("mkdir -p", self.mark("--yes", code=73).error_text)

    @unittest.skipUnless(can_replace_etc(), "needs namespaces")
    def test_root_applies_the_rule(self):
        """Root's rule goes to udev's directory, and udevadm runs. The directory and udevadm are replaced here."""
        self.plug(serial="A1")
        tools = self.path("tools")
        os.mkdir(tools)
        with open(os.path.join(tools, "udevadm"), "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\necho "$@" >> {self.path("calls")}\nexit $(cat {self.path("code")})\n')
        os.chmod(file.name, 0o755)
        script = f'mkdir -p /etc/udev/rules.d; "$@"; code=$?; cp /etc/udev/rules.d/{NAME} {self.rules}/; exit $code'
        environment = {**self.environment, "PATH": f"{tools}:{os.environ['PATH']}"}
        for wanted, code in (("0", 0), ("1", 74)):
            with open(self.path("code"), "w", encoding="utf-8") as file:
                file.write(wanted)
            result = subprocess.run(
                [*WITH_OWN_ETC, "sh", "-c", script, "sh", BINARY, "mark", "--yes"], capture_output=True, timeout=20,
                check=False, env=environment)
            self.assertEqual(result.returncode, code, result.stderr)
            self.assertEqual(self.written(), RULES_OF_A1)
        with open(self.path("calls"), encoding="utf-8") as file:
            self.assertEqual(file.read().splitlines(), [
                "control --reload", "trigger --subsystem-match=tty --subsystem-match=usb", "control --reload"])


if __name__ == "__main__":
    unittest.main()
