"""Tests that must be sure who holds a port: they run where there are no terminals and processes but their own.

Elsewhere another program may wait for a /dev/pts path that is gone, and open the new terminal of that name.
"""

import os
import pathlib
import subprocess
import sys
import unittest

from collarlink import ROOT, child_environment

SCRIPT = ROOT / "Tools/lib/private-terminals"
ARE_HERE = "COLLAR_LINK_PRIVATE_TERMINALS" in os.environ


def are_allowed():
    """Whether this user may have terminals of their own."""
    return subprocess.run([SCRIPT, "true"], capture_output=True, check=False).returncode == 0


class PrivatelyTest(unittest.TestCase):
    """Runs the tests of a module where terminals are private."""

    module = None

    def test_where_terminals_are_private(self):
        if not are_allowed():
            self.skipTest("needs leave to mount a /dev/pts of its own")
        result = subprocess.run(
            [SCRIPT, sys.executable, "-m", "unittest", "-v", self.module], cwd=pathlib.Path(__file__).parent, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=child_environment(), timeout=120, check=False)
        self.assertEqual(result.returncode, 0, result.stdout)
        # Success is also what no test at all gives.
        self.assertRegex(result.stdout, r"(?m)^Ran [1-9]")


def load_privately(loader, name, *classes):
    """What `load_tests` of a module returns whose classes need terminals of their own: the classes where they have them,
    elsewhere one test that runs the module there."""
    if not ARE_HERE:
        classes = [type("PrivatelyTest", (PrivatelyTest,), {"module": name, "__module__": name})]
    return unittest.TestSuite(loader.loadTestsFromTestCase(each) for each in classes)
