"""Power cuts of a machine that is a collar: what was logged is there when the power is back.

The collar runs in a virtual machine, with its file on ext4; its stick and its GNSS receiver are emulated adapters. The machine is killed
at random times, also while the disk is written, and starts again: what the kernel had not yet written is lost. Before every second cut the
disk fails all writes (dm-flakey), and the collar must send nothing that is not stored. (A disk that reports success and stores nothing, as
dm-flakey can also be, leaves no program a chance.) A receiver outside, over a second stick and with a fifth of all packets lost, must get
every fix once: the sequences of one log without a gap. It is started by Tools/virtual-machine.
"""

import os
import pathlib
import random
import re
import subprocess
import sys
import time
import unittest

from end_to_end import BINARY, ROOT, wait_until
from linux_collar import RADIO, LinuxCollarTest
from virtual_case import PREPARE, GuestProgram
from virtual_machine import VirtualMachine

# Size of the disk, in units of 512 bytes.
SECTORS = 131_072


class PowerCuts(LinuxCollarTest):
    emulator = packages = ""
    count = 20

    def start_machine(self):
        kernel = next(pathlib.Path(self.packages, "boot").glob("vmlinuz-*"))
        machine = VirtualMachine(self.emulator, kernel, f"{self.packages}/image", adapters=2, disk=self.disk)
        self.addCleanup(machine.close)
        machine.wait_for_start()
        for name in (BINARY, ROOT / "hardware/udev/70-collar-link.rules"):
            subprocess.run(["cp", name, machine.share / os.path.basename(name)], check=True)
        machine.run(PREPARE)
        machine.adapters[0].plug("STICK", collar=os.path.realpath(self.link))
        machine.adapters[1].plug("RECEIVER", collar=self.gnss)
        machine.run(f"""dmsetup create --noudevsync disk --table '0 {SECTORS} linear /dev/vda 0'
            mkdir -p /data && mount -t ext4 /dev/dm-0 /data && chown owner /data
            while [ ! -e /dev/ttyUSB1 ]; do sleep 0.1; done""")
        return machine

    def run_collar(self, machine, *arguments):
        return GuestProgram(
            machine, " ".join(["collar-link collar --flash /data/cat.flash --radio /dev/ttyUSB0 --gnss /dev/ttyUSB1", *RADIO, *arguments]))

    def test(self):
        chance = random.Random(self.count)
        self.disk = self.path("disk")
        with open(self.disk, "wb") as disk:
            disk.truncate(SECTORS * 512)
        subprocess.run(["/sbin/mke2fs", "-q", "-t", "ext4", "-F", self.disk], check=True)
        self.join_sticks("kiss")
        self.play(3600)
        machine = self.start_machine()
        collar = self.run_collar(machine, "--key-file /data/cat.key")
        collar.wait_for_error("This is collar")
        self.identity = re.search("This is collar ([0-9a-f]{16})", collar.error_text)[1]
        machine.run("cp /data/cat.key /share && chmod 644 /share/cat.key && sync")
        self.add_key(machine.share / "cat.key")
        base = self.base_radio()
        for number in range(self.count):
            seen = len(self.fixes_of(base))
            wait_until(lambda: len(self.fixes_of(base)) > seen + 5, 180, f"fixes after {number} power cuts; {collar.error_text}")
            time.sleep(chance.uniform(0, 3))
            if number % 2:
                machine.run(f"""dmsetup load disk --table '0 {SECTORS} flakey /dev/vda 0 0 60 1 error_writes'
                    dmsetup suspend --noflush --nolockfs --noudevsync disk; dmsetup resume --noudevsync disk""")
                time.sleep(chance.uniform(0, 3))
            machine.close()
            machine = self.start_machine()
            collar = self.run_collar(machine)
            collar.wait_for_error(f"This is collar {self.identity}", 60)
        wait_until(lambda: len(self.fixes_of(base)) > seen + 10, 180, "fixes after the last power cut")
        machine.adapters[1].unplug()
        # What is still on its way comes in this time.
        time.sleep(15)
        wait_until(lambda: len(self.fixes_of(base)) > max(fix["seq"] for fix in self.fixes_of(base)), 120, "every fix before the newest one")
        fixes = self.fixes_of(base)
        self.assert_each_once(fixes, len(fixes))
        print(f"{self.count} power cuts, {len(fixes)} fixes, each once")


if __name__ == "__main__":
    PowerCuts.emulator, PowerCuts.packages = sys.argv[1:3]
    PowerCuts.count = int(sys.argv[3]) if len(sys.argv) > 3 else PowerCuts.count
    unittest.main(argv=sys.argv[:1], verbosity=2)
