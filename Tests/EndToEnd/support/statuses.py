"""Fields of statuses and power reports, for the encoder of the independent decoder."""


STATUS, POWER = 6, 15
KNOWN = {"tracking": True, "gnss": 2, "throttle": 3, "stationary": True, "resting": False, "since": 1_700_000_000, "battery": 71,
         "voltage": 3912, "temperature": -7, "uptime": 86_400, "last_error": 17, "fixes_sent": 4_000_000_000,
         "queue_depth": 12, "drops": 1, "duplicates": 2, "retransmissions": 16_777_215, "airtime": 60_001,
         "clock": {"time": 1_700_000_123_456, "uptime": 999}}
UNKNOWN = {"tracking": False, "gnss": 0, "throttle": 0, "stationary": False, "resting": False, "since": None, "battery": None,
           "voltage": None, "temperature": None, "uptime": 0, "last_error": 0, "fixes_sent": 0, "queue_depth": 0,
           "drops": 0, "duplicates": 0, "retransmissions": 0, "airtime": 0, "clock": None}
# A day of a collar that makes a fix every three minutes.
POWER_KNOWN = {"mode": 2, "supply": 1, "uptime": 86_400, "seconds_to_search": 170, "failures_in_row": 3, "time_to_fix": 42,
               "gnss_seconds": 1037, "listening_milliseconds": 86_000, "awake_milliseconds": 1_201_250, "searches": 480, "failures": 9}
POWER_UNKNOWN = {"mode": 0, "supply": 0, "uptime": 0, "seconds_to_search": None, "failures_in_row": 0, "time_to_fix": None,
                 "gnss_seconds": 0, "listening_milliseconds": 0, "awake_milliseconds": 0, "searches": 0, "failures": 0}
