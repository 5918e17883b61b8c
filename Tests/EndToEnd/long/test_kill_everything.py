"""A few rounds of kill_everything; Tools/kill-everything runs hundreds."""

import json
import unittest

import kill_everything
import servers
from end_to_end import EndToEndTest


@unittest.skipUnless(servers.ARE_HERE, "needs PostgreSQL and mosquitto, which Tools/test unpacks")
class KillEverythingTest(EndToEndTest):
    def test_twelve_rounds(self):
        kills = kill_everything.run(self, 12, hurries=True)
        print(f"{json.dumps(kills)} ", end="", flush=True)


if __name__ == "__main__":
    unittest.main()
