"""The Wireshark dissector, run by tshark."""

import itertools
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from captures import FRAMES, pcapng
from end_to_end import ORDINARY_USER, ROOT, child_environment, give_to_ordinary_user
from dissected_fields import Packet
import frames  # of Protocol/reference, which dissected_fields adds to the path

VECTORS = ROOT / "Protocol/vectors"
WIRESHARK = ROOT / "Protocol/wireshark"
LOG = frames.Log(0x0123456789ABCDEF, 44813807)


def identity(log, next_sequence, address=17):
    """An identity frame: from it the dissector learns a log and the highest sequence in that log."""
    fields = {"device_id": f"{log.device_id:016x}", "log_id": log.log_id, "boot_count": 1, "oldest_sequence": 0,
              "next_sequence": next_sequence, "paired_receiver": 0, "largest_frame": 253,
              "firmware_version": [1, 0, 0], "capabilities": 0, "heartbeat": 60}
    return frames.encode(1, fields, address)


def load(kind):
    return {path.stem: json.loads(path.read_text()) for path in sorted((VECTORS / kind).glob("*.json"))}


@unittest.skipUnless(shutil.which("tshark"), "needs tshark: apt install tshark")
class DissectorTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Every user may read this folder; a checkout may be in a private home directory. tshark gets the folder as its
        # HOME, so the settings of the user do not interfere.
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="collar-link-dissector-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        give_to_ordinary_user(cls.folder)
        cls.script = cls.folder / "collarlink.lua"
        shutil.copyfile(WIRESHARK / "collarlink.lua", cls.script)
        cls.script.chmod(0o644)
        cls.environment = child_environment(HOME=str(cls.folder), XDG_CONFIG_HOME=str(cls.folder), LC_ALL="C.UTF-8")
        cls.leave_out_lists_of_vendors()

    @classmethod
    def leave_out_lists_of_vendors(cls):
        """Gives tshark a data folder with its scripts alone. It reads the lists there at each start and at each reset."""
        data = pathlib.Path(shutil.which("tshark")).resolve().parents[1] / "share/wireshark"
        scripts = list(data.glob("*.lua"))
        for script in scripts:
            shutil.copy(script, cls.folder)
        if scripts:
            cls.environment["WIRESHARK_DATA_DIR"] = str(cls.folder)

    def tshark(self, capture, *options, resets=0):
        """The output of tshark for a capture. Fails if tshark or the dissector reports an error."""
        file = tempfile.NamedTemporaryFile(dir=self.folder, suffix=".pcap", delete=False)
        with file:
            file.write(capture)
        pathlib.Path(file.name).chmod(0o644)
        done = subprocess.run(
            ["tshark", "-n", "-X", f"lua_script:{self.script}", "-r", file.name, *options], capture_output=True,
            text=True, cwd=self.folder, timeout=120, env=self.environment, **ORDINARY_USER)
        self.assertEqual((done.returncode, done.stderr), (0, resets * "resetting session.\n"))
        self.assertNotRegex(done.stdout, re.compile("lua error", re.IGNORECASE))
        return done.stdout

    def dissect(self, capture, *options, resets=0):
        packets = json.loads(self.tshark(capture, "-T", "json", *options, resets=resets), object_pairs_hook=list)
        return [Packet(dict(dict(packet)["_source"])["layers"]) for packet in packets]

    def dissect_each(self, captures):
        """The packets of each capture. A capture is a list of pairs (interface, bytes), none of which is empty.

        tshark starts once. It resets after a fixed number of packets, and so forgets a capture before the next one: empty
        packets fill each capture up to that number.
        """
        size = max(map(len, captures))
        filled = [packet for capture in captures for packet in capture + (size - len(capture)) * [(FRAMES, b"")]]
        packets = self.dissect(pcapng(filled), "-M", str(size), "-Y", "frame.len > 0", resets=len(captures) - 1)
        self.assertEqual(len(packets), sum(map(len, captures)))
        rest = iter(packets)
        return [list(itertools.islice(rest, len(capture))) for capture in captures]

    def assert_no_problems(self, problems):
        found = list(problems)
        self.assertEqual(found, [], "\n".join(found[:20]))
