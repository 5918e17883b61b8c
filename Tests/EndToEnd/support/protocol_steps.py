"""The largest error that the protocol may add to a value: half a step. Computed from the text, not from the code."""

from decimal import Decimal

#: Accuracies in metres: 0, 1 to 9 cm, then steps of 9 % from 0.1 m on, rounded to the millimetre.
ACCURACIES = [Decimal(0)] + [Decimal(c) / 100 for c in range(1, 10)] + [
    Decimal(round(100 * 1.09 ** exponent)) / 1000 for exponent in range(117)]


def position_step(horizontal_accuracy):
    if horizontal_accuracy is None or horizontal_accuracy <= 0 or horizontal_accuracy >= 1:
        return Decimal("1e-5")
    return Decimal("1e-6") if horizontal_accuracy >= Decimal("0.1") else Decimal("1e-7")


def accuracy_problem(sent, received):
    if sent is None or sent < 0:
        return None if received == -1 else "invented"
    if received not in ACCURACIES:
        return "not on the scale"
    if sent >= ACCURACIES[-1]:
        return None if received == ACCURACIES[-1] else "expected the top"
    if sent > 0 and received == 0:
        return "looks like an unknown one"
    index = ACCURACIES.index(received)
    low = ACCURACIES[max(index - 1, 0)]
    high = ACCURACIES[min(index + 1, len(ACCURACIES) - 1)]
    # A small positive accuracy never becomes 0, so code 1 covers all values down to 0.
    low_bound = Decimal(0) if index == 1 else (low + received) / 2
    return None if low_bound <= sent <= (received + high) / 2 else "another step is nearer"


def direction_problem(sent, received, unknown):
    if sent is None or sent < 0:
        return None if received == unknown else "invented"
    if received is None or received < 0:
        return "lost"
    away = abs(sent - received) % 360
    return None if min(away, 360 - away) <= 1 else "off"


def scalar_problem(sent, received, tolerance, unknown):
    if sent is None or (unknown == -1 and sent < 0):
        return None if received == unknown else "invented"
    if received is None or (unknown == -1 and received == -1):
        return "lost"
    return None if abs(sent - received) <= tolerance else "off"


def problems(sent, received):
    """The errors of a received fix: (field, why, sent, received). Numbers must have been read as Decimal."""
    half_step = position_step(sent.get("h_accuracy_m")) / 2
    found = {
        "ts_unix_ms": None if sent["ts_unix_ms"] == received["ts_unix_ms"] else "off",
        "source": None if sent["source"] == received["source"] else "changed",
        "alt_m": scalar_problem(sent.get("alt_m"), received["alt_m"], Decimal("0.5"), None),
        "h_accuracy_m": accuracy_problem(sent.get("h_accuracy_m"), received["h_accuracy_m"]),
        "v_accuracy_m": accuracy_problem(sent.get("v_accuracy_m"), received["v_accuracy_m"]),
        "speed_mps": scalar_problem(sent.get("speed_mps"), received["speed_mps"], Decimal("0.05"), -1),
        "course_deg": direction_problem(sent.get("course_deg"), received["course_deg"], -1),
        "heading_deg": direction_problem(sent.get("heading_deg"), received["heading_deg"], None),
        "battery_pct": scalar_problem(sent.get("battery_pct"), received["battery_pct"], Decimal("0.5"), -1),
    }
    for name in ("latitude", "longitude"):
        found[name] = scalar_problem(sent["coordinate"][name], received["coordinate"][name], half_step, None)
    return [(field, why, sent.get(field), received.get(field)) for field, why in found.items() if why]
