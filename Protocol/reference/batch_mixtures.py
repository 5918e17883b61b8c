"""Fixes in which everything changes by small and by large steps, so that every context of a batch is used."""

from batch_parts import SECOND, START
from fixes import OPTIONAL_FIELDS, POSITION_STEPS

# Lowest and highest code, and the largest step in bits.
FIELDS = {"altitude": (-1 << 23, (1 << 23) - 1, 9), "horizontal_accuracy": (0, 126, 6), "vertical_accuracy": (0, 126, 6),
          "speed": (0, (1 << 20) - 1, 9), "course": (0, 179, 7), "heading": (0, 179, 7), "battery": (0, 100, 6)}


class Chance:
    """Pseudorandom numbers, the same on every machine: a linear congruential generator."""

    def __init__(self, seed):
        self._state = seed

    def below(self, count):
        """A number below count."""
        self._state = (1_664_525 * self._state + 1_013_904_223) % (1 << 32)
        return (self._state >> 8) * count >> 24

    def step(self, bits):
        """A signed number of 0 to `bits` bits. Each number of bits is equally probable."""
        size = self.below(bits + 1)
        magnitude = (1 << size) + self.below(1 << size) >> 1
        return magnitude if self.below(2) else -magnitude


def mixture(seed, count=64, steps=False):
    """Fixes that depend on a seed. With half of the seeds the fields change often, with the other half seldom.

    If `steps`, the position step changes, too.
    """
    chance = Chance(seed)
    often = (2, 3, 8, 30)[seed % 4]
    limits = {**FIELDS, **_position_limits(seed % 3)}
    fix = {**START, "position_step": seed % 3, "altitude_step": seed // 3 % 2, "sequence": chance.below(1 << 24)}
    for field in OPTIONAL_FIELDS:
        if chance.below(6) == 0:
            fix[field] = None
    pace, fixes = SECOND, [fix]
    while len(fixes) < count:
        if chance.below(2 * often) == 0:
            pace = (250, 333, 1000, 1001, 5000, 17_000, 60_000, 200_000, 1_800_000, 0)[chance.below(10)]
        fix = _moved(fix, chance, often, limits)
        if steps and fix["source"] == fixes[-1]["source"] and chance.below(often) == 0:
            fix = _converted(fix, chance.below(3))
            limits = {**FIELDS, **_position_limits(fix["position_step"])}
        fix["time"] += pace
        if chance.below(4 * often) == 0:
            fix["time"] += chance.step(10 + chance.below(30))
        fixes.append(fix)
    return fixes


def _position_limits(step):
    degree = POSITION_STEPS[step][0]
    return {"latitude": (-90 * degree, 90 * degree, 14), "longitude": (-180 * degree, 180 * degree, 14)}


def _converted(fix, step):
    """The fix in another position step."""
    power = POSITION_STEPS[step][0] / POSITION_STEPS[fix["position_step"]][0]
    return {**fix, "position_step": step, "latitude": int(fix["latitude"] * power), "longitude": int(fix["longitude"] * power)}


def _moved(fix, chance, often, limits):
    """The next fix, with the time of this one."""
    fix = {**fix, "sequence": fix["sequence"] + 1}
    if chance.below(4 * often) == 0:
        fix["sequence"] += abs(chance.step(8))
    if chance.below(6 * often) == 0:
        fix["source"] = chance.below(3)
    for field, (low, high, bits) in limits.items():
        if field in OPTIONAL_FIELDS and chance.below(8 * often) == 0:
            fix[field] = None if fix[field] is not None else START[field]
        elif fix[field] is not None and chance.below(often) == 0:
            fix[field] = min(max(fix[field] + chance.step(bits), low), high)
    return fix
