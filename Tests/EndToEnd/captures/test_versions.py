"""Journals, captures and lines of earlier versions (Tests/Versions) stay readable."""

import json
import os
import shutil
import subprocess
import unittest

from end_to_end import BINARY, ROOT, EndToEndTest, give_to_ordinary_user

VERSIONS = sorted(path for path in (ROOT / "Tests/Versions").iterdir() if path.is_dir())


class VersionsTest(EndToEndTest):
    def lines(self, path):
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    def printed(self, *arguments):
        program = self.start([BINARY, *arguments])
        self.assertEqual(program.wait(), 0, program.error_text)
        return [json.loads(line) for line in program.lines]

    def assert_same(self, present, former):
        """Every line of the former version is there, in its place, with its keys; there may be more keys."""
        self.assertGreater(len(former), 20)
        self.assertEqual([{key: line.get(key) for key in old} for line, old in zip(present, former, strict=True)], former)

    def test_the_journal(self):
        for version in VERSIONS:
            with self.subTest(version=version.name):
                state = self.path(f"state-{version.name}")
                shutil.copytree(version / "state", state)
                for folder, _, files in os.walk(state):
                    os.chmod(folder, 0o700)
                    give_to_ordinary_user(folder)
                    for name in files:
                        os.chmod(os.path.join(folder, name), 0o600)
                        give_to_ordinary_user(os.path.join(folder, name))
                history = ("history", "--state-dir", state, "--events", "fix,message,gap")
                self.assert_same(self.printed(*history), self.lines(version / "history.jsonl"))
                # A receiver goes on with it, and changes nothing that was stored.
                self.assertEqual(self.printed("run", "--state-dir", state, "--port", self.path("no-port"), "--events", "none", "-T", "0.2"), [])
                self.assert_same(self.printed(*history), self.lines(version / "history.jsonl"))

    def test_the_capture(self):
        for version in VERSIONS:
            with self.subTest(version=version.name):
                shown = subprocess.run([BINARY, "decode", version / "session.pcapng"], capture_output=True, text=True, check=True)
                self.assert_same([json.loads(line) for line in shown.stdout.splitlines()], self.lines(version / "capture.jsonl"))


if __name__ == "__main__":
    unittest.main()
