"""A few rounds of kill_rounds; Tools/kill-rounds runs a thousand."""

import kill_rounds
from end_to_end import EndToEndTest


class KillRoundTest(EndToEndTest):
    def test_twenty_kills(self):
        stages = kill_rounds.run(self, 20)
        print(f"{dict(stages)} ", end="", flush=True)
