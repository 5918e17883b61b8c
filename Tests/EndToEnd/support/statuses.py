"""Fields of statuses, for the encoder of the independent decoder."""


STATUS = 6
KNOWN = {"tracking": True, "gnss": 2, "throttle": 3, "stationary": True, "since": 1_700_000_000, "battery": 71,
         "voltage": 3912, "temperature": -7, "uptime": 86_400, "last_error": 17, "fixes_sent": 4_000_000_000,
         "queue_depth": 12, "drops": 1, "duplicates": 2, "retransmissions": 16_777_215, "airtime": 60_001,
         "clock": {"time": 1_700_000_123_456, "uptime": 999}}
UNKNOWN = {"tracking": False, "gnss": 0, "throttle": 0, "stationary": False, "since": None, "battery": None,
           "voltage": None, "temperature": None, "uptime": 0, "last_error": 0, "fixes_sent": 0, "queue_depth": 0,
           "drops": 0, "duplicates": 0, "retransmissions": 0, "airtime": 0, "clock": None}
