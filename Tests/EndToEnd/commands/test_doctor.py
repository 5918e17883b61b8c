"""`collar-link doctor` on this machine, and on simulated devices. Run these tests under umockdev-wrapper, as Tools/test does."""

import json
import os
import pathlib
import pwd
import re
import shutil
import signal
import struct
import subprocess
import unittest


import umockdev_testbed
from end_to_end import BINARY, IS_ROOT, ROOT, EndToEndTest, child_environment, give_to_ordinary_user, wait_until
from serial_line import SerialLine

COLLAR = "910a2dec89025cc1"
from schemas import SCHEMAS
RULE = ROOT / "hardware/udev/70-collar-link.rules"
# The start of a command, as root, that sees a machine without the marks of a container: a new root directory with the programs of
# this machine, and with directories of its own in the place of /etc and /run.
OTHER_ROOT = ["unshare", "-m", "sh", "-ec", """
    root=$1; shift
    mount -t tmpfs none "$root"
    for path in /*; do
        [ -d "$path" ] && [ "$path" != /etc ] && [ "$path" != /run ] || continue
        mkdir "$root$path" && mount --rbind "$path" "$root$path"
    done
    mkdir -p "$root/etc/udev/rules.d" "$root/run/udev"
    cp /etc/passwd /etc/group /etc/nsswitch.conf "$root/etc/"
    touch "$root/run/udev/control"
    exec chroot "$root" "$@"
    """, "sh"]


class DoctorCase(EndToEndTest):
    """Runs doctor, and carries out what it recommends."""

    def setUp(self):
        super().setUp()
        self.line = None
        self.environment = child_environment(HOME=self.folder, XDG_RUNTIME_DIR=self.folder)

    def doctor(self, *arguments, prefix=(), state=None, **options):
        """Runs doctor. Returns its findings by their codes, and its exit code. Checks every line against its schema."""
        options.setdefault("environment", self.environment)
        program = self.start(
            [*prefix, BINARY, "doctor", "-F", "json", "--state-dir", state or self.state, *arguments], **options)
        code = program.wait()
        *findings, diagnosis = program.fixes
        for line in program.fixes:
            SCHEMAS[line["type"]].validate(line)
        self.assertEqual(diagnosis["type"], "diagnosis")
        self.assertEqual(diagnosis["exit"], code)
        return {finding["code"]: finding for finding in findings}, code

    def port(self):
        """A pseudo-terminal that an ordinary user may open."""
        self.line = SerialLine()
        self.addCleanup(self.line.close)
        self.line.leave()
        return self.line.path

    def carry_out(self, finding, as_root=False):
        """Runs the command of a finding as the ordinary user, for whom doctor gave it; `as_root` gives it a sudo that asks for no
        password. Returns what it prints."""
        self.assertIsNotNone(finding["command"])
        tools = pathlib.Path(self.path("own-tools"))
        tools.mkdir(exist_ok=True)
        (tools / "sudo").write_text('#!/bin/sh\nexec "$@"\n', "ascii")
        (tools / "sudo").chmod(0o755)
        if not (tools / "collar-link").exists():
            (tools / "collar-link").symlink_to(BINARY)
        environment = {**self.environment, "PATH": f"{tools}:{os.environ['PATH']}"}
        user = {"user": "root", "group": "root"} if as_root else {}
        program = self.start(["sh", "-c", finding["command"]], environment=environment, **user)
        self.assertEqual(program.wait(), 0, program.error_text)
        return "".join(program.lines)


class MachineTest(DoctorCase):
    """On this machine."""

    def test_sound(self):
        """Where nothing is wrong with a port and a directory, there is one line of text."""
        port = self.port()
        os.mkdir(self.state)
        give_to_ordinary_user(self.state)
        found, _ = self.doctor("--port", port)
        program = self.start([BINARY, "doctor", "--state-dir", self.state, "--port", port], environment=self.environment)
        program.wait()
        # udevd does not run in every container, and a container may lose its files.
        if not found:
            self.assertEqual(len(program.lines), 1)
            self.assertIn(f"nothing to do: {port} can be used", program.lines[0])
        self.assertLessEqual(set(found), {"udev_not_running", "rule_missing", "state_volatile", "network_namespace"})
        self.assertEqual(program.error_text, "")

    def test_missing_and_wrong_paths(self):
        found, code = self.doctor("--port", self.path("nothing"))
        self.assertEqual(found["no_device"]["port"], self.path("nothing"))
        pathlib.Path(self.path("file")).write_text("x", "utf-8")
        found, code = self.doctor("--port", "file")
        self.assertEqual(found["not_a_serial_port"]["port"], self.path("file"))
        found, code = self.doctor("--port", "/dev/null")
        self.assertEqual(code, 78)
        self.carry_out(found["not_a_serial_port"])

    def test_busy(self):
        """The process that has a port open is named, and its end is the remedy."""
        port = self.port()
        holder = self.start(["sh", "-c", 'exec 9<>"$1" && echo ready && exec sleep 1000', "sh", port])
        holder.wait_for_lines(1)
        wait_until(lambda: pathlib.Path(f"/proc/{holder.pid}/comm").read_text("ascii") == "sleep\n", 5, "the holder")
        found, code = self.doctor("--port", port)
        self.assertEqual(found["device_in_use"]["command"], f"kill {holder.pid}")
        self.assertIsNone(found["device_in_use"]["remedy"])
        self.assertEqual(code, 75)
        self.carry_out(found["device_in_use"])
        holder.wait()
        self.assertNotIn("device_in_use", self.doctor("--port", port)[0])

    def node_of_dialout(self):
        """A device node that root and the group dialout may open."""
        node = self.path("radio")
        os.mknod(node, 0o020660, os.makedev(4, 64))
        shutil.chown(node, "root", "dialout")
        os.chmod(node, 0o660)
        return node

    @unittest.skipUnless(IS_ROOT and os.path.exists("/sys/dev/char/4:64"), "needs root, and a kernel with ttyS0")
    def test_only_while_seated(self):
        """An access list lets in whoever is seated at the machine, and nobody else."""
        node = self.node_of_dialout()
        self.assertNotIn("only_while_seated", self.doctor("--port", node)[0])
        # The format of linux/posix_acl_xattr.h: a version, then a tag, rights and an id for each entry. Owner, user, group, mask, others.
        entries = ((1, 6, -1), (2, 6, pwd.getpwnam("nobody").pw_uid), (4, 6, -1), (16, 6, -1), (32, 0, -1))
        access_list = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", tag, rights, id & 0xFFFFFFFF) for tag, rights, id in entries)
        try:
            os.setxattr(node, "system.posix_acl_access", access_list)
        except OSError as error:
            self.skipTest(f"needs a file system with access lists: {error}")
        found, _ = self.doctor("--port", node)
        self.assertNotIn("permission_denied", found)
        self.assertEqual(found["only_while_seated"]["severity"], "info")
        self.assertEqual(found["only_while_seated"]["command"], "sudo usermod -aG dialout nobody")
        self.assertNotIn("only_while_seated", self.doctor("--port", node, group="dialout")[0])

    @unittest.skipUnless(IS_ROOT and os.path.exists("/sys/dev/char/4:64"), "needs root, and a kernel with ttyS0")
    def test_groups(self):
        """Whoever is not in the group of a node is told so; whoever is, is not, also if the mode keeps the group out."""
        node = self.node_of_dialout()
        found, code = self.doctor("--port", node)
        self.assertEqual(found["permission_denied"]["command"], "sudo usermod -aG dialout nobody")
        self.assertEqual(code, 77)
        # The groups of a session have the effective one, too.
        session = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--groups=nogroup,tty"]
        found, code = self.doctor("--port", node, prefix=session, user="root", group="root")
        self.assertIn({"place": "groups of nobody", "value": "nogroup tty"}, found["permission_denied"]["evidence"])
        found, code = self.doctor("--port", node, group="dialout")
        self.assertNotIn("permission_denied", found)
        os.chmod(node, 0o600)
        found, code = self.doctor("--port", node, group="dialout")
        self.assertEqual(found["permission_denied"]["command"], f"sudo chmod 660 {node}")
        self.assertIn("its mode was changed to 600", found["permission_denied"]["reason"])
        self.assertEqual(code, 77)
        receiver = self.start([BINARY, "--port", node, "--state-dir", self.state], group="dialout", environment=self.environment)
        self.assertEqual(receiver.wait(), 77, receiver.error_text)
        self.assertIn(f"sudo chmod 660 {node}", receiver.error_text)

    @unittest.skipUnless(IS_ROOT and os.path.exists("/sys/dev/char/4:64"), "needs root, and a kernel with ttyS0")
    def test_stale_node(self):
        node = self.path("radio")
        os.mknod(node, 0o020666, os.makedev(188, 250))
        found, code = self.doctor("--port", node)
        self.assertEqual(found["node_stale"]["evidence"][1], {"place": "/sys/dev/char/188:250", "value": "missing"})
        self.assertEqual(code, 69)

    def test_others_may_write(self):
        os.mkdir(self.state)
        give_to_ordinary_user(self.state)
        os.chmod(self.state, 0o777)
        found, code = self.doctor("--port", self.port())
        self.assertEqual(code, 78)
        self.carry_out(found["state_unusable"])
        self.assertEqual(os.stat(self.state).st_mode & 0o777, 0o755)
        self.assertNotIn("state_unusable", self.doctor("--port", self.line.path)[0])

    @unittest.skipUnless(IS_ROOT, "needs root")
    def test_no_permission(self):
        os.mkdir(self.state, 0o755)
        found, code = self.doctor("--port", self.port())
        self.assertIn(f"chown -R nobody: {self.state}", found["permission_denied"]["command"])
        self.assertEqual(code, 77)
        found, code = self.doctor("--port", self.line.path, state=f"{self.state}/below")
        self.assertEqual(found["permission_denied"]["command"], f"sudo install -d -o nobody -m 700 {self.state}/below")
        self.carry_out(found["permission_denied"], as_root=True)
        self.assertNotIn("permission_denied", self.doctor("--port", self.line.path, state=f"{self.state}/below")[0])
        found, _ = self.doctor("--port", self.line.path)
        self.carry_out(found["permission_denied"], as_root=True)
        self.assertNotIn("permission_denied", self.doctor("--port", self.line.path)[0])

    def test_a_file_in_the_way(self):
        pathlib.Path(self.state).write_text("x", "ascii")
        found, code = self.doctor("--port", self.port())
        self.assertEqual(code, 73)
        self.carry_out(found["journal_unavailable"])
        self.assertNotIn("journal_unavailable", self.doctor("--port", self.line.path)[0])

    def test_a_process_with_a_command_as_name(self):
        """The name of a process is any 15 bytes, and reaches neither the command nor the terminal as it is."""
        port = self.port()
        for name in (b"`sudo id -un 0`", b"x\x1b[2Jy", b"'; reboot #"):
            code = ("import ctypes, sys, time; ctypes.CDLL(None).prctl(15, bytes.fromhex(sys.argv[2]), 0, 0, 0); "
                    "f = open(sys.argv[1], 'rb', 0); print('ready', flush=True); time.sleep(1000)")
            holder = self.start(["python3", "-c", code, port, name.hex()])
            holder.wait_for_lines(1)
            found, _ = self.doctor("--port", port)
            self.assertEqual(found["device_in_use"]["command"], f"kill {holder.pid}")
            shown = self.start([BINARY, "doctor", "--state-dir", self.state, "--port", port], environment=self.environment)
            shown.wait()
            for text in ("`sudo", "\x1b", "is in use by '"):
                self.assertNotIn(text, "".join(shown.lines))
            self.carry_out(found["device_in_use"])
            holder.wait()

    @unittest.skipUnless(IS_ROOT, "needs namespaces")
    def test_read_only_and_full_disks(self):
        os.mkdir(self.state)
        give_to_ordinary_user(self.state)
        for options, fill, wanted, exit_code in (
                ("ro,size=8m", "true", "journal_unavailable", 73), ("size=2m,mode=777", "head -c 1500000 /dev/zero > $0/fill", "storage_failing", 74),
                ("size=8m,mode=777", "true", "disk_nearly_full", None)):
            found, code, largest = self.in_mount(options, fill, wanted)
            self.assertIn(wanted, found)
            if "fill" in fill:
                # The command looks at the disk that is full, and names the file that fills it, not only its directory.
                self.assertEqual({line.split("\t")[1] for line in largest.splitlines()[:2]}, {self.state, f"{self.state}/fill"})
            if exit_code:
                self.assertEqual(code, exit_code)
        self.assertIn("state_volatile", found)

    def in_mount(self, options, fill, code):
        """Doctor's findings with a memory file system mounted at the state directory, and what the command of one of them prints."""
        first = self.path("first")
        command = f"""sh -c "$(python3 -c '
import json
print(next((json.loads(l)["command"] for l in open("{first}") if "\\"{code}\\"" in l and "du -" in l), "true"))')" > {self.path("largest")}"""
        script = f'mount -t tmpfs -o {options} none "$0" && {fill} && {{ "$@" > {first}; e=$?; cat {first}; {command}; exit $e; }}'
        result = subprocess.run(
            ["unshare", "-m", "sh", "-c", script, self.state, "setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups",
             BINARY, "doctor", "-F", "json", "--state-dir", f"{self.state}/journals", "--port", self.port()],
            capture_output=True, text=True, timeout=20, check=False, env=self.environment)
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertTrue(lines, result.stderr)
        largest = pathlib.Path(self.path("largest")).read_text("utf-8")
        return {line["code"]: line for line in lines[:-1]}, result.returncode, largest

    def add_key(self, *files):
        """Adds a key for a collar. Returns the path where it is stored."""
        added = self.start([BINARY, "key", "add", COLLAR, *files, "--state-dir", self.state], environment=self.environment)
        self.assertEqual(added.wait(), 0, added.error_text)
        return f"{self.state}/keys/{COLLAR}"

    @unittest.skipUnless(IS_ROOT, "needs another user")
    def test_key_of_another_user(self):
        path = self.add_key()
        shutil.chown(path, "root", "root")
        found, code = self.doctor("--port", self.port())
        self.assertEqual(found["key_unusable"]["command"], f"sudo chown nobody {path} && sudo chmod 600 {path}")
        self.assertEqual(code, 78)
        self.carry_out(found["key_unusable"], as_root=True)
        self.assertNotIn("key_unusable", self.doctor("--port", self.line.path)[0])

    @unittest.skipUnless(IS_ROOT, "needs another user")
    def test_collar_of_another_user(self):
        """A machine that is a collar, which was started with sudo once. Its GNSS receiver needs no mark either."""
        path = self.path("cat.flash")
        pathlib.Path(path).write_bytes(bytes(32_768))
        os.chmod(path, 0o600)
        arguments = ("--flash", path, "--port", self.port(), "--gnss", self.port(), "--region", "EU868")
        found, code = self.doctor(*arguments)
        self.assertEqual(found["collar_unusable"]["command"], f"sudo chown nobody {path} && sudo chmod 600 {path}")
        self.assertEqual(code, 78)
        self.carry_out(found["collar_unusable"], as_root=True)
        found, code = self.doctor(*arguments)
        # Where the tests run, the folder may be in memory.
        self.assertLessEqual(set(found), {"state_volatile"})
        self.assertLessEqual(code, 1)

    def test_missing_key(self):
        """A receiver that has no key for the sealed frames of a collar has reported that."""
        key = self.path("key")
        pathlib.Path(key).write_text("000102030405060708090a0b0c0d0e0f\n", "ascii")
        os.chmod(key, 0o644)
        track, _ = self.track("cats_uk/Felix-Tag")
        self.simulate(track, "--key-file", key, "--seed", "1", "--interval", "0.2")
        receiver = self.receive(environment=self.environment)
        receiver.wait_for_error("there is no key here")
        self.assertEqual(receiver.stop(), 0)
        found, _ = self.doctor("--port", self.link)
        self.assertIn(f"collar at {self.link}", found["key_missing"]["reason"])
        self.assertIn("collar-link key add", found["key_missing"]["remedy"])
        self.add_key(key)
        receiver = self.receive(environment=self.environment)
        receiver.wait_for_lines(1)
        self.assertEqual(receiver.stop(), 0)
        self.assertNotIn("key_missing", self.doctor("--port", self.link)[0])

    def test_key_that_others_can_read(self):
        path = self.add_key()
        self.assertNotIn("key_exposed", self.doctor("--port", self.port())[0])
        os.chmod(path, 0o644)
        found, code = self.doctor("--port", self.line.path)
        self.assertEqual(code, 77)
        self.carry_out(found["key_exposed"])
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        self.assertNotIn("key_exposed", self.doctor("--port", self.line.path)[0])

    def test_wrong_configuration(self):
        folder = self.path(".config/collar-link")
        os.makedirs(folder)
        pathlib.Path(folder, "config").write_text("region = EU868\nspreading-factor = 13\n", "utf-8")
        found, code = self.doctor("--port", self.port())
        self.assertEqual(code, 78)
        self.assertIn("line 2", found["configuration_wrong"]["reason"])
        found, code = self.doctor("--port", self.line.path, "--region", "XX")
        self.assertIn("not 'XX'", found["configuration_wrong"]["reason"])

    def test_running_receiver(self):
        """The receiver of the state directory does not count as another program. One that is stopped, and one whose program was
        replaced, are found."""
        program = self.path("collar-link")
        shutil.copyfile(BINARY, program)
        os.chmod(program, 0o755)
        port = self.port()
        receiver = self.start(
            [program, "--port", port, "--dialect", "serial", "--state-dir", self.state], environment=self.environment)
        receiver.wait_for_error("listening")
        found, _ = self.doctor("--port", port)
        self.assertLessEqual(set(found), {"udev_not_running", "rule_missing", "state_volatile", "network_namespace"})
        found, code = self.doctor("--port", port, state=self.path("other"))
        self.assertEqual(found["device_in_use"]["command"], f"kill {receiver.pid}")
        self.assertIn("--state-dir DIR", found["device_in_use"]["remedy"])
        receiver.process.send_signal(signal.SIGSTOP)
        found, _ = self.doctor("--port", port)
        self.assertEqual(found["receiver_silent"]["command"], f"kill -CONT {receiver.pid}")
        self.carry_out(found["receiver_silent"])
        os.unlink(program)
        found, _ = self.doctor("--port", port)
        self.assertNotIn("receiver_silent", found)
        self.assertEqual(found["receiver_outdated"]["command"], f"kill {receiver.pid}")
        self.carry_out(found["receiver_outdated"])
        self.assertEqual(receiver.wait(), 0)
        self.assertNotIn("receiver_outdated", self.doctor("--port", port)[0])

    @unittest.skipUnless(IS_ROOT, "needs namespaces")
    def test_network_namespace(self):
        """A new namespace has no socket of udevd."""
        script = 'mount -t tmpfs none /run && mkdir /run/udev && touch /run/udev/control && exec "$@"'
        result = subprocess.run(
            ["unshare", "-mn", "sh", "-c", script, "sh", BINARY, "doctor", "-F", "json", "--state-dir", self.state, "--port", self.port()],
            capture_output=True, text=True, timeout=20, check=False, env=self.environment)
        self.assertIn('"network_namespace"', result.stdout, result.stderr)
        self.assertNotIn('"udev_not_running"', result.stdout, result.stderr)

    @unittest.skipUnless(IS_ROOT, "needs namespaces")
    def test_no_udevd(self):
        result = subprocess.run(
            ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /run && exec "$@"', "sh", BINARY, "doctor", "-F", "json", "--port",
             self.port(), "--state-dir", self.state], capture_output=True, text=True, timeout=20, check=False, env=self.environment)
        self.assertIn('"udev_not_running"', result.stdout, result.stderr)

    def test_recorded(self):
        """A machine that was saved is diagnosed like the machine; the directory is not written twice."""
        port, copy = self.port(), self.path("copy")
        found, code = self.doctor("--port", port, "--record", copy)
        saved = self.start([BINARY, "doctor", "-F", "json", "--machine", copy])
        self.assertEqual(saved.wait(), code)
        self.assertEqual([line for line in saved.fixes if line["type"] == "finding"], list(found.values()))
        again = self.start([BINARY, "doctor", "--machine", copy, "--record", copy])
        self.assertEqual(again.wait(), 73)
        for arguments, wanted in ((["--machine", self.path("none")], 66), (["--machine", copy, "--port", port], 64), (["-F", "xml"], 64)):
            self.assertEqual(self.start([BINARY, "doctor", *arguments]).wait(), wanted)

    def test_commands_are_commands(self):
        """The commands that are expected of recorded machines can be read by a shell, and those of collar-link exist."""
        count = 0
        for path in sorted((ROOT / "Tests/Machines").glob("*/expected")):
            for line in path.read_text("utf-8").splitlines():
                code, _, command = line.partition(": ")
                if not command or command == "-":
                    continue
                count += 1
                self.assertEqual(subprocess.run(["sh", "-n", "-c", command], check=False).returncode, 0, command)
                for name in re.findall(r"collar-link ([a-z]+)", command):
                    result = subprocess.run([BINARY, name, "--help"], capture_output=True, check=False)
                    self.assertEqual(result.returncode, 0, command)
        self.assertGreater(count, 40)


@unittest.skipUnless(umockdev_testbed.is_available(), "needs umockdev-wrapper")
class SimulatedDeviceTest(DoctorCase):
    """With adapters that umockdev simulates."""

    def setUp(self):
        super().setUp()
        self.testbed = umockdev_testbed.Testbed()
        self.addCleanup(self.testbed.close)
        self.testbed.open_to_ordinary_user()
        self.environment = {**os.environ, "UMOCKDEV_DIR": os.path.dirname(self.testbed._dev), "HOME": self.folder, "XDG_RUNTIME_DIR": self.folder}
        for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME"):
            self.environment.pop(name, None)

    def plug(self, name="ttyUSB0", marked=True, **options):
        """Plugs in an adapter that the ordinary user may open."""
        properties = {"COLLAR_LINK": "1", "ID_MM_PORT_IGNORE": "1"} if marked else {}
        return self.testbed.add_usb_tty(
            name, **{"manufacturer": "Silicon Labs", "model": "CP2102N", "serial": "A1", "properties": properties,
                     "prepare": give_to_ordinary_user, **options})

    def test_devices_that_are_not_radios(self):
        self.assertIsNone(self.doctor()[0]["no_device"]["command"])
        node = self.plug(marked=False)
        found, _ = self.doctor()
        # In a container no rule can be made.
        self.assertIn(found["no_device"]["command"], (f"sudo collar-link mark {node}", f"collar-link --port {node}"))
        self.testbed.unplug("ttyUSB0")
        self.plug()
        self.assertNotIn("no_device", self.doctor()[0])

    def test_nothing_is_opened(self):
        """Neither a radio nor a stranger is opened: on most boards that would change DTR."""
        self.plug()
        self.plug("ttyUSB1", marked=False, serial="B2")
        trace = self.path("trace")
        self.doctor(prefix=["strace", "-f", "-o", trace, "-e", "trace=open,openat,openat2,ioctl"])
        text = pathlib.Path(trace).read_text("utf-8")
        self.assertIn("openat", text)
        self.assertNotRegex(text, r'"[^"]*/dev/(tty|pts)')
        self.assertNotRegex(text, r"O_(WRONLY|RDWR|CREAT)")

    def test_equal_serial_numbers(self):
        first, second = self.plug(), self.plug("ttyUSB1")
        found, _ = self.doctor()
        self.assertEqual(found["serial_shared"]["port"], first)
        self.assertIn(second, found["serial_shared"]["reason"])
        self.testbed.unplug("ttyUSB1")
        self.assertNotIn("serial_shared", self.doctor()[0])

    def test_placeholder_of_a_serial_number(self):
        self.plug(serial="0001")
        found, _ = self.doctor()
        self.assertEqual(found["serial_missing"]["severity"], "info")

    def test_autosuspend(self):
        self.plug()
        place = self.testbed.set_attribute(self.testbed.usb_device("ttyUSB0"), "power/control", "auto")
        found, _ = self.doctor()
        self.assertEqual(found["autosuspend"]["command"], f"echo on | sudo tee {place}")
        self.testbed.set_attribute(self.testbed.usb_device("ttyUSB0"), "power/control", "on")
        self.assertNotIn("autosuspend", self.doctor()[0])

    def test_region(self):
        """A stick whose firmware needs a region gets one from the command."""
        self.plug()
        os.mkdir(self.state, 0o700)
        give_to_ordinary_user(self.state)
        pathlib.Path(self.state, "sticks").write_text("kiss usb 10c4 ea60 A1 00\n", "ascii")
        for content in (None, "", "[stick serial=B2]\nregion = US915\n"):
            folder = pathlib.Path(self.path(".config"))
            shutil.rmtree(folder, ignore_errors=True)
            if content is not None:
                (folder / "collar-link").mkdir(parents=True)
                (folder / "collar-link/config").write_text(content, "ascii")
                for path in (folder, folder / "collar-link", folder / "collar-link/config"):
                    give_to_ordinary_user(path)
            found, code = self.doctor()
            self.assertEqual(code, 78)
            self.carry_out(found["region_missing"])
            self.assertEqual((folder / "collar-link/config").read_text("ascii"), "region = EU868\n" + (content or ""))
            self.assertNotIn("region_missing", self.doctor()[0])

    def test_missing_node(self):
        """A container may see the kernel's files of a device, and not its node."""
        node = self.plug()
        place = os.path.join(self.testbed._dev, os.path.basename(node))
        os.rename(place, place + ".away")
        found, code = self.doctor()
        os.rename(place + ".away", place)
        self.assertIn({"place": node, "value": "missing"}, found["node_missing"]["evidence"])
        self.assertIn(found["node_missing"]["command"], (
            "sudo udevadm trigger --action=add --subsystem-match=tty", f"docker run --device={node} …"))
        self.assertEqual(code, 69)
        self.assertNotIn("node_missing", self.doctor()[0])

    def test_usb3_noise(self):
        """A fast device at the radio's controller, which is no hub, makes noise."""
        node = self.plug()
        self.testbed.add_usb_device("usb2/2-1", speed="5000", bDeviceClass="09")
        disk = self.testbed.add_usb_device("usb2/2-1/2-1.1", speed="480", bDeviceClass="00")
        self.assertNotIn("usb3_noise", self.doctor()[0])
        place = self.testbed.set_attribute(disk, "speed", "5000")
        found, _ = self.doctor()
        self.assertEqual((found["usb3_noise"]["port"], found["usb3_noise"]["severity"]), (node, "info"))
        self.assertEqual(found["usb3_noise"]["evidence"], [{"place": place, "value": "5000"}])

    def kernel_log(self, *texts, ago=60):
        """Messages as /dev/kmsg gives them, and as a daemon writes them to a file."""
        seconds = float(pathlib.Path("/proc/uptime").read_text("ascii").split()[0]) - ago
        return ("".join(f"6,{number},{int(seconds * 1e6)},-;{text}\n" for number, text in enumerate(texts)),
                "".join(f"Nov 26 20:00:00 machine kernel: [{seconds:12.6f}] {text}\n" for text in texts))

    def test_kernel_log(self):
        """The kernel's messages about the radio's USB device count, and those about others do not."""
        node = self.plug()
        name = os.path.basename(self.testbed.usb_device("ttyUSB0"))
        log = pathlib.Path(self.testbed._dev, "kmsg")
        disconnect = "usb {}: USB disconnect, device number 7"
        log.write_text(self.kernel_log(*3 * [disconnect.format("9-9")], *2 * [disconnect.format(name)])[0], "ascii")
        self.assertNotIn("disconnect_loop", self.doctor()[0])
        log.write_text(self.kernel_log(*3 * [disconnect.format(name)])[0], "ascii")
        found, _ = self.doctor()
        self.assertEqual(found["disconnect_loop"]["port"], node)
        self.assertEqual(found["disconnect_loop"]["evidence"], [{"place": "/dev/kmsg", "value": f"usb {name}: USB disconnect × 3"}])

    @unittest.skipUnless(IS_ROOT, "needs namespaces")
    def test_file_of_the_kernel_log(self):
        """Where only root may read the kernel's log, the file to which a daemon copies it counts."""
        node = self.plug()
        name = os.path.basename(self.testbed.usb_device("ttyUSB0"))
        disconnects, _ = self.kernel_log(*3 * [f"usb {name}: USB disconnect, device number 7"])
        kernel = pathlib.Path(self.testbed._dev, "kmsg")
        kernel.write_text(disconnects, "ascii")
        kernel.chmod(0o600)
        fault = f"usb {name}: device descriptor read/64, error -71"
        folder = pathlib.Path(self.path("log"))
        folder.mkdir()
        (folder / "kern.log").write_text(self.kernel_log(fault)[1], "ascii")
        script = 'mount --bind "$1" /var/log && shift && exec setpriv --reuid=nobody --regid=nogroup --clear-groups "$@"'
        found, _ = self.doctor(prefix=["unshare", "-m", "sh", "-c", script, "sh", str(folder)], user="root", group="root")
        self.assertEqual(found["usb_errors"]["port"], node)
        self.assertEqual(found["usb_errors"]["evidence"], [{"place": "/var/log/kern.log", "value": fault}])
        self.assertNotIn("disconnect_loop", found)

    def test_bootloader(self):
        self.plug("ttyACM0", vendor="239a", product="0029")
        found, code = self.doctor()
        self.assertIn("bootloader", found["unknown_radio"]["reason"])
        self.assertEqual(code, 78)

    def test_modem_manager(self):
        """A process of that name that udev does not keep away."""
        program = self.path("ModemManager")
        shutil.copyfile(shutil.which("sleep"), program)
        os.chmod(program, 0o755)
        node = self.plug(properties={"COLLAR_LINK": "1"})
        self.assertNotIn("port_claimed", self.doctor()[0])
        manager = self.start([program, "1000"])
        wait_until(lambda: pathlib.Path(f"/proc/{manager.pid}/comm").read_text("ascii") == "ModemManager\n", 5, "the process")
        self.assertEqual(self.doctor()[0]["port_claimed"]["port"], node)
        self.testbed.unplug("ttyUSB0")
        self.plug()
        self.assertNotIn("port_claimed", self.doctor()[0])

    @unittest.skipUnless(IS_ROOT, "needs namespaces")
    def test_rules(self):
        """Outside of containers: without the rule, with an outdated one, with a misplaced one; the command installs it."""
        self.plug("ttyUSB0")
        root, tools = self.path("root"), self.path("tools")
        os.mkdir(root)
        os.mkdir(tools)
        for name in ("udevadm", "sudo"):
            pathlib.Path(tools, name).write_text("#!/bin/sh\n" + ('exec "$@"\n' if name == "sudo" else ""), "ascii")
            os.chmod(os.path.join(tools, name), 0o755)
        os.makedirs(self.path("sources/hardware/udev"))
        shutil.copy(RULE, self.path("sources/hardware/udev"))
        old = self.path("old.rules")
        pathlib.Path(old).write_text(
            "".join(line for line in RULE.read_text("utf-8").splitlines(True) if "ID_MM_DEVICE" not in line), "utf-8")
        doctor = f"{BINARY} doctor -F json --state-dir {self.state}"
        fix = f"""{doctor} > {self.path('first')}; sh -c "$(python3 -c '
import json
print(next(json.loads(l)["command"] for l in open("{self.path('first')}") if "\\"rule_" in l))')" && {doctor}"""
        for name, preparation, wanted in (
                ("missing", "true", "rule_missing"), ("outdated", f"cp {old} /etc/udev/rules.d/70-collar-link.rules", "rule_outdated"),
                ("misplaced", f"cp {RULE.name} /etc/udev/rules.d/99-collar-link.rules", "rule_misplaced")):
            with self.subTest(name):
                result = subprocess.run(
                    [*OTHER_ROOT, root, "sh", "-c", f"cd {self.path('sources/hardware/udev')} && {preparation} && cd ../.. && {fix}"],
                    capture_output=True, text=True, timeout=30, check=False,
                    env={**self.environment, "PATH": f"{tools}:{os.environ['PATH']}"})
                first = [json.loads(line) for line in pathlib.Path(self.path("first")).read_text("utf-8").splitlines()]
                self.assertIn(wanted, [line.get("code") for line in first], result.stderr)
                self.assertIn('"diagnosis"', result.stdout, result.stderr)
                self.assertNotIn('"rule_', result.stdout)


if __name__ == "__main__":
    unittest.main()
