"""A few rounds of kill_alerts; Tools/kill-alerts runs two hundred."""

import unittest

import kill_alerts


class KillAlertsTest(kill_alerts.KillAlerts):
    round_count = 8


if __name__ == "__main__":
    unittest.main()
