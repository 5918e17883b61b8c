"""A receiver, simulated collars and the command `key`."""

import os
import subprocess

from end_to_end import BINARY, EndToEndTest, give_to_ordinary_user

KEY = "000102030405060708090a0b0c0d0e0f"
SEED = ("--seed", "7")


class KeyTest(EndToEndTest):
    simulated_id = None  # of the collar with this seed, once a test has heard it

    def key_command(self, *arguments, stdin="", code=0, state=None):
        done = subprocess.run([BINARY, "key", *arguments, "--state-dir", state or self.state], input=stdin, text=True,
                              capture_output=True, timeout=20)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def hand_over(self):
        """Gives the state directory to the user who runs the receiver."""
        give_to_ordinary_user(self.state)
        for folder, _, names in os.walk(self.state):
            for each in [folder, *(os.path.join(folder, name) for name in names)]:
                give_to_ordinary_user(each)

    def key_file(self, key=KEY):
        path = self.path("key")
        with open(path, "w") as file:
            file.write(key + "\n")
        os.chmod(path, 0o644)
        return path

    def device_id(self, track):
        """The id of the simulated collar, which depends on the seed alone: heard from its twin without a key."""
        if KeyTest.simulated_id:
            return KeyTest.simulated_id
        twin = self.simulate(track, *SEED, link=self.path("twin"))
        receiver = self.receive(port=self.path("twin"), state=self.path("twin-state"))
        receiver.wait_for_lines(1)
        receiver.kill_now()
        twin.kill_now()
        KeyTest.simulated_id = receiver.fixes[0]["collar"]
        return KeyTest.simulated_id
