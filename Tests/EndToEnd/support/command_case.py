"""Commands of a user who has a configuration of their own."""

import subprocess

from end_to_end import BINARY, ORDINARY_USER, EndToEndTest, child_environment


class CommandTest(EndToEndTest):
    def setUp(self):
        super().setUp()
        self.configuration = self.path("configuration")
        self.environment = child_environment(XDG_CONFIG_HOME=self.configuration)

    def call(self, *arguments, code=0, **environment):
        """The output of a command on stdout; `self.errors` is what it writes on stderr."""
        done = subprocess.run([BINARY, *arguments], capture_output=True, text=True, timeout=60, check=False,
                              env={**self.environment, **environment}, **ORDINARY_USER)
        self.errors = done.stderr
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout
