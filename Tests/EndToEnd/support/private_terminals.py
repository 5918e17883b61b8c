"""Runs tests of port holders in namespaces that contain only the tests' own terminals and processes.

Otherwise another program may wait for a /dev/pts path that is gone, and open the new terminal of that name.
"""

import os
import pathlib
import subprocess
import sys
import unittest

from end_to_end import ROOT, child_environment

SCRIPT = ROOT / "Tools/lib/private-terminals"
ARE_HERE = "COLLAR_LINK_PRIVATE_TERMINALS" in os.environ


def are_allowed():
    """Whether this user may make private terminals."""
    return subprocess.run([SCRIPT, "true"], capture_output=True, check=False).returncode == 0


class PrivatelyTest(unittest.TestCase):
    """Runs the tests of a module with private terminals."""

    module = None

    def test_where_terminals_are_private(self):
        if not are_allowed():
            self.skipTest("needs leave to mount a /dev/pts of its own")
        result = subprocess.run(
            [SCRIPT, sys.executable, "-m", "unittest", "-v", self.module], cwd=pathlib.Path(__file__).parent, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=child_environment(), timeout=120, check=False)
        self.assertEqual(result.returncode, 0, result.stdout)
        # A run without any test may succeed too.
        self.assertRegex(result.stdout, r"(?m)^Ran [1-9]")


def load_privately(loader, name, *classes):
    """The result of `load_tests` for a module whose classes need private terminals. Where terminals are private, it has
    the tests of the classes; elsewhere it has one test that runs the module with private terminals."""
    if not ARE_HERE:
        classes = [type("PrivatelyTest", (PrivatelyTest,), {"module": name, "__module__": name})]
    return unittest.TestSuite(loader.loadTestsFromTestCase(each) for each in classes)
