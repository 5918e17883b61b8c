"""The package for Debian, in a virtual machine with a running systemd and udevd: it is installed, receives, is upgraded and purged.

Two members of a group see the fixes of a simulated collar behind an emulated adapter; a program that runs as the service does tries what an
attacker inside would try. It is started by Tools/virtual-machine.
"""

import json
import pathlib
import re
import shutil
import sys
import unittest

from end_to_end import EndToEndTest, wait_until
from virtual_machine import VirtualMachine

# What an attacker in the service would try: a line for each attempt, with "done" or the reason why not.
PROBE = r"""
use Socket; use Fcntl;
sub try_ { my ($name, $result) = @_; print "$name: ", ($result ? "done" : $! || "no"), "\n"; }
try_("inet", socket(my $a, AF_INET, SOCK_STREAM, 0));
try_("inet6", socket(my $b, AF_INET6, SOCK_STREAM, 0));
try_("packet", socket(my $c, 17, SOCK_RAW, 0));
try_("unix", socket(my $d, AF_UNIX, SOCK_STREAM, 0));
try_("netlink", socket(my $e, 16, SOCK_RAW, 15));
try_("write /etc", open(my $f, ">", "/etc/written"));
try_("write /var", open(my $g, ">", "/var/lib/written"));
try_("write /home", open(my $h, ">", "/home/owner/written"));
try_("write state", open(my $i, ">", "/var/lib/collar-link/written"));
try_("read /home", opendir(my $j, "/home/owner"));
try_("disk", open(my $k, "<", "/dev/vda"));
try_("memory", open(my $l, "<", "/dev/mem"));
try_("adapter", sysopen(my $m, "/dev/ttyUSB0", O_RDWR | O_NONBLOCK));
try_("other terminal", sysopen(my $n, "/dev/ttyS0", O_RDWR | O_NONBLOCK));
try_("become root", ($> = 0) && $> == 0);
try_("see others", grep { !/\/(?:self|thread-self)$/ && (stat "/proc/$_")[4] != $> } map { m|/proc/(\d+)$| } glob "/proc/[0-9]*");
"""


class PackageTest(EndToEndTest):
    emulator = packages = disk = package = ""

    def in_guest(self, script, **options):
        return self.machine.run(script, **{"seconds": 300, **options})

    def as_owner(self, command, **options):
        """Runs a command as a user who is logged in."""
        return self.in_guest(f"setpriv --reuid=1000 --regid=1000 --init-groups env HOME=/home/owner {command}", **options)

    def stored(self):
        # Before the first fix, the exit code says that nothing is stored.
        lines = self.in_guest("collar-link history --state-dir /var/lib/collar-link --events fix 2>/dev/null || [ $? -eq 66 ]")
        return [json.loads(line)["seq"] for line in lines.splitlines()]

    def wait_for_fixes(self, count):
        wait_until(lambda: len(self.stored()) >= count, 120, f"{count} fixes")

    def restart_of_the_service(self):
        return self.in_guest("systemctl show -p NRestarts,ActiveState,SubState collar-link")

    def test_package(self):
        disk = self.path("disk")
        shutil.copyfile(self.disk, disk)
        kernel = next(pathlib.Path(self.packages, "boot").glob("vmlinuz-*"))
        self.machine = VirtualMachine(self.emulator, kernel, f"{self.packages}/image", adapters=1, disk=disk, is_system=True)
        self.addCleanup(self.machine.close)
        self.machine.wait_for_start(900)
        shutil.copy(self.package, self.machine.share / "collar-link.deb")
        install = "DEBIAN_FRONTEND=noninteractive apt-get install -y --allow-downgrades --reinstall /share/collar-link.deb"

        # Installed: it runs, as its own user.
        print(self.in_guest(install))
        self.assertIn("ActiveState=active\nSubState=running", self.restart_of_the_service())
        self.assertEqual(self.in_guest("stat -c '%U %G %a' /var/lib/collar-link").split(), ["collar-link", "collar-link", "750"])
        self.in_guest("usermod -a -G collar-link owner")
        print(self.in_guest("systemd-analyze security collar-link | tail -n 1; man -w collar-link-run || true"))

        # Plugged and marked: the service finds it.
        track, _ = self.track("cats_uk/Athena", 400)
        self.simulate(track, "--interval", "1", "--seed", "1")
        self.machine.adapters[0].plug("0123456789", collar=self.link)
        wait_until(lambda: "ttyUSB0" in self.in_guest("ls /dev"), 60, "the adapter")
        print(self.in_guest("collar-link mark /dev/ttyUSB0 --yes"))
        self.wait_for_fixes(3)
        shown = self.as_owner("collar-link follow -F text --events fix -n 3")
        self.assertEqual(len(shown.splitlines()), 3, shown)
        self.assertIn("910a2dec89025cc1", self.as_owner("collar-link status"))
        self.assertIn("locate: done", self.as_owner("collar-link send --timeout 60 locate"))
        outsider = self.in_guest("setpriv --reuid=1001 --regid=1001 --clear-groups collar-link follow -n 1; echo code $?")
        self.assertIn("code 77", outsider)

        # An attacker inside.
        (self.machine.share / "probe.pl").write_text(PROBE)
        attempts = self.in_guest("""
            cp /share/probe.pl /usr/local/lib && chmod 644 /usr/local/lib/probe.pl
            sed -e 's|^ExecStart=.*|ExecStart=/usr/bin/perl /usr/local/lib/probe.pl|' -e 's/^Type=.*/Type=oneshot/' -e '/^Restart/d' \\
                -e '/^\\[Install/,$d' /lib/systemd/system/collar-link.service > /run/systemd/system/probe.service
            systemctl daemon-reload && systemctl start probe
            journalctl -u probe -o cat""")
        print(attempts)
        found = dict(re.findall(r"(?m)^([a-z /]+\d?): (.*)$", attempts))
        self.assertEqual(
            {name for name, result in found.items() if result == "done"}, {"unix", "netlink", "write state"}, attempts)
        # The service has it for itself.
        self.assertEqual(found["adapter"], "Device or resource busy")
        self.assertEqual(len(found), 16)

        # An upgrade with the journal in use loses nothing.
        self.in_guest(install)
        self.wait_for_fixes(len(self.stored()) + 5)
        sequences = sorted(self.stored())
        self.assertEqual(sequences, list(range(len(sequences))))

        # Removed and purged: the positions stay, and the package says where.
        self.in_guest("apt-get remove -y collar-link")
        purged = self.in_guest("apt-get purge -y collar-link")
        self.assertIn("/var/lib/collar-link", purged)
        left = self.in_guest("find / -xdev -name '*collar-link*' -not -path '/share/*' -not -path '/proc/*' 2>/dev/null").split()
        self.assertEqual({path for path in left if not path.startswith(("/var/lib/collar-link", "/var/log/"))}, {
            "/etc/udev/rules.d/69-my-collar-link.rules"}, left)
        self.assertTrue(self.in_guest("ls /var/lib/collar-link/*/*.journal"))


if __name__ == "__main__":
    PackageTest.emulator, PackageTest.packages, PackageTest.disk, PackageTest.package = sys.argv[1:5]
    unittest.main(argv=sys.argv[:1], verbosity=2)
