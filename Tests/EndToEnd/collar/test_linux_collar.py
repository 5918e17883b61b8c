"""A collar on a Linux machine and a receiver, each with a stick; a fifth of all packets is lost."""

import os
import pathlib
import shutil
import signal
import stat
import time
import unittest

from end_to_end import BINARY, child_environment, give_to_ordinary_user, wait_until
from gnss_bytes import FakeReceiver, nmea
from linux_collar import LinuxCollarTest, fixes_from_now
from readers import GPSD


class DialectTest(LinuxCollarTest):
    """The other dialects take longer: test_linux_collar_long has all of them."""

    def check(self, dialect):
        self.join_sticks(dialect)
        player = self.play(22)
        collar = self.new_collar()
        base = self.base_radio()
        wait_until(lambda: len(player.sent) > 6, 30, "fixes")
        self.pull(collar=True)
        wait_until(lambda: len(player.sent) > 11, 30, "fixes")
        self.assertIn("was unplugged; the collar is waiting for it", collar.error_text)
        collar.kill_now()
        collar = self.collar()
        wait_until(lambda: len(player.sent) > 16, 30, "fixes")
        self.pull()
        wait_until(lambda: len(player.sent) == 22, 60, "all fixes")
        logged = self.sequence_of(player.sent[-1], base)
        wait_until(lambda: len(self.fixes_of(base)) > logged, 90, f"{logged + 1} fixes")
        self.assert_each_once(self.fixes_of(base), logged + 1)
        # The collar makes none while it is killed and its receiver is found again.
        self.assertGreater(logged, 13)
        self.assertEqual(collar.stop(), 0, collar.error_text)
        self.assertNotIn("in clear", base.error_text)

    def sequence_of(self, made, base):
        """Waits until the receiver has a fix, and returns the sequence of it."""
        def found():
            return [fix["seq"] for fix in self.fixes_of(base) if fix["ts_unix_ms"] == made["ts_unix_ms"]]
        wait_until(found, 90, "the last fix")
        return found()[0]

    def test_meshcore(self):
        self.check("kiss")

    def test_rnode(self):
        self.check("rnode")


class BoardTest(LinuxCollarTest):
    loss = 0

    def test_a_schedule_without_a_switch(self):
        """A fix each half a minute, of a receiver that says a position each second: that its supply cannot be switched is no error."""
        self.join_sticks("serial")
        self.play(150, FakeReceiver(generation=None))
        collar = self.new_collar()
        base = self.base_radio(events="fix,status")
        wait_until(lambda: self.fixes_of(base), 30, "a fix")
        sent = self.start([BINARY, "send", "--state-dir", self.state, "settings", "set", "fix_interval_ms=30000"])
        self.assertEqual(sent.wait(30), 0, sent.error_text)
        changed = int(time.time()) * 1000
        wait_until(lambda: sum(fix["ts_unix_ms"] > changed + 2000 for fix in self.fixes_of(base)) >= 3, 120, "three fixes of the schedule")
        times = [fix["ts_unix_ms"] for fix in self.fixes_of(base) if fix["ts_unix_ms"] > changed + 2000]
        self.assertGreaterEqual(min(later - earlier for earlier, later in zip(times, times[1:])), 28_000, times)
        self.assertEqual([line["last_error_name"] for line in base.fixes if line["type"] == "status" and line["last_error_name"]], [])
        self.assertEqual(collar.stop(), 0, collar.error_text)

    def test_battery_button_light_and_sounder(self):
        self.join_sticks("serial")
        self.play(60)
        log = self.path("signals.log")
        collar = self.new_collar(
            "--battery", "echo 61 3900 -4", "--light", f'echo light "$1" >>{log}', "--sounder", f'echo sounder "$1" >>{log}')
        base = self.base_radio(events="fix,status")
        wait_until(lambda: any(line.get("battery_pct") == 61 for line in base.fixes), 30, "the battery in a fix")
        wait_until(lambda: any(line["type"] == "status" and line.get("battery_mv") == 3900 for line in base.fixes), 90, "a status")
        before = pathlib.Path(log).read_text().count("light on")
        self.assertGreater(before, 0)
        collar.process.send_signal(signal.SIGUSR2)
        wait_until(lambda: pathlib.Path(log).read_text().count("sounder on") >= before + 3, 15, "three long signals: tracking has ended")

    @unittest.skipUnless(shutil.which("socat"), "socat is not unpacked")
    def test_a_new_key_over_a_cable(self):
        """The first start is a power-on, so the button need not be pressed."""
        self.join_sticks("serial")
        self.play(60)
        ends = [self.path("cable"), self.path("cable-of-the-host")]
        # Libraries of a package that is not installed.
        libraries = os.environ.get("PRIVATE_LIBRARIES", "")
        self.start(
            ["socat", *(f"pty,raw,echo=0,link={end}" for end in ends)], environment=child_environment(LD_LIBRARY_PATH=libraries))
        wait_until(lambda: all(os.path.exists(end) for end in ends), 5, "a cable")
        self.new_collar("--cable", ends[0])
        key = pathlib.Path(self.state, "keys", self.identity)
        before = key.read_text()
        base = self.base_radio()
        wait_until(lambda: len(self.fixes_of(base)) > 2, 30, "fixes with the first key")
        exchange = self.start([BINARY, "key", "exchange", "--port", ends[1], "--state-dir", self.state])
        self.assertEqual(exchange.wait(30), 0, exchange.error_text)
        self.assertEqual(exchange.lines, [self.identity + "\n"])
        self.assertNotEqual(key.read_text(), before)
        seen = len(self.fixes_of(base))
        wait_until(lambda: len(self.fixes_of(base)) > seen + 3, 30, "fixes with the second key")
        self.assertNotIn("no key here opens", base.error_text)

    @unittest.skipUnless(shutil.which("gpsd") and shutil.which("gpspipe"), "needs gpsd and gpspipe")
    def test_positions_of_gpsd(self):
        """gpsd has the receiver, and passes its sentences on."""
        self.join_sticks("serial")
        gpsd = GPSD(self)
        self.gnss = gpsd.address
        self.new_collar()
        base = self.base_radio()
        made = {}
        for fix in fixes_from_now(15):
            time.sleep(max(0, fix["ts_unix_ms"] / 1000 - time.time()))
            gpsd.send(nmea(fix))
            made[fix["ts_unix_ms"]] = fix["coordinate"]
        wait_until(lambda: len(self.fixes_of(base)) > 5, 30, "fixes")
        for fix in self.fixes_of(base):
            for key, degrees in made[fix["ts_unix_ms"]].items():
                self.assertAlmostEqual(fix["coordinate"][key], degrees, delta=1e-5)

    def test_a_new_collar_and_its_key(self):
        self.join_sticks("serial")
        self.play(1)
        missing = self.start([BINARY, "collar", "--flash", self.flash, "--radio", self.link, "--gnss", self.gnss])
        self.assertEqual(missing.wait(), 64)
        self.assertIn("--key-file FILE", missing.error_text)
        collar = self.new_collar()
        for path in (self.flash, self.key):
            self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        second = self.start([BINARY, "collar", "--flash", self.flash, "--radio", self.link, "--gnss", self.gnss])
        self.assertEqual(second.wait(), 75)
        self.assertIn("another collar uses it", second.error_text)
        self.assertEqual(collar.stop(), 0)
        again = self.start([BINARY, "collar", "--flash", self.flash, "--key-file", self.key, "--radio", self.link, "--gnss", self.gnss])
        self.assertEqual(again.wait(), 64)
        key = pathlib.Path(self.key).read_bytes()
        other = self.start(
            [BINARY, "collar", "--flash", self.path("dog.flash"), "--key-file", self.key, "--radio", self.link, "--gnss", self.gnss])
        self.assertEqual(other.wait(), 73)
        self.assertEqual(pathlib.Path(self.key).read_bytes(), key)
        self.assertFalse(os.path.exists(self.path("dog.flash")))

    def test_what_cannot_be_a_collar(self):
        """The message names the option or the file, and the exit code tells the kind."""
        pathlib.Path(self.flash).write_bytes(b"CLFB")
        give_to_ordinary_user(self.flash)
        denied = self.path("denied.flash")
        shutil.copy(self.flash, denied)
        os.chown(denied, 0, 0)
        os.chmod(denied, 0o600)
        whole = ["--flash", self.path("new.flash"), "--key-file", self.key, "--radio", self.link, "--gnss", "gpsd"]
        for arguments, code, says in [
                ([], 64, "`collar` needs `--flash`"),
                (["--flash", "a"], 64, "`collar` needs `--radio`"),
                (["--flash", "a", "--radio", "b"], 64, "`collar` needs `--gnss`"),
                ([*whole, "--gnss-speed", "9601"], 64, "`--gnss-speed` takes no 9601"),
                ([*whole, "--movement", "flying"], 64, "portable"),
                ([*whole, "--device", "12"], 64, "--device"),
                ([*whole, "--button", "/dev/input/none"], 69, "/dev/input/none cannot be opened"),
                (["--flash", self.flash, *whole[4:]], 74, "it is no flash of a collar"),
                (["--flash", denied, *whole[4:]], 77, "Permission denied"),
                ([*whole[2:4], "--flash", self.path("none/new.flash"), *whole[4:]], 73, "No such file")]:
            with self.subTest(arguments=arguments):
                for left in ("new.flash", "cat.key"):
                    pathlib.Path(self.path(left)).unlink(missing_ok=True)
                refused = self.start([BINARY, "collar", *arguments])
                self.assertEqual(refused.wait(10), code, refused.error_text)
                self.assertIn(says, refused.error_text)
        self.assertFalse(os.path.exists(self.key), "the key of a collar that was not made")


if __name__ == "__main__":
    unittest.main()
