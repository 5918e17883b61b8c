"""A few rounds of kill_rounds; Tools/kill-rounds runs a thousand."""

import kill_rounds
from collarlink import EndToEndTest
from tapped_line import Promise


class KillRoundTest(EndToEndTest):
    def test_twenty_kills(self):
        stages = kill_rounds.run(self, 20)
        print(f"{dict(stages)} ", end="", flush=True)
