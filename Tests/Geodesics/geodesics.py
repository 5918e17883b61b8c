"""Prints random pairs of positions, and distance and direction between them by GeographicLib, whose errors are nanometres.

    geodesics.py COUNT SEED >geodesics.txt

Each line has latitude and longitude of both, the distance in metres, and the direction at the first one in degrees. geodesics.txt has 400
of them with the seed 1; `Tools/check sweeps` tests 10,000 others.
"""

import random
import sys

from geographiclib.geodesic import Geodesic

count, chance = int(sys.argv[1]), random.Random(int(sys.argv[2]))


def anywhere():
    return chance.uniform(-90, 90), chance.uniform(-180, 180)


def beside(position, degrees):
    latitude, longitude = position
    longitude = (longitude + chance.uniform(-degrees, degrees) + 180) % 360 - 180
    return min(90, max(-90, latitude + chance.uniform(-degrees, degrees))), longitude


def opposite(position, degrees):
    latitude, longitude = position
    return beside((-latitude, longitude - 180 if longitude > 0 else longitude + 180), degrees)


def pair(kind):
    start = anywhere()
    match kind:
        case 0 | 1: return start, anywhere()
        case 2 | 3: return start, beside(start, 10 ** chance.uniform(-6, 0))
        case 4: return (chance.choice((-90, 90)), start[1]), anywhere()
        case 5: return (chance.choice((-90, 90)), start[1]), beside((chance.choice((-90, 90)), start[1]), 0.01)
        case 6: return (start[0], chance.choice((-180, 180, 179.9999))), beside((start[0], 180), 0.001)
        case 7: return start, chance.choice((start, (start[0], chance.uniform(-180, 180)), (0, start[1])))
        case 8: return start, opposite(start, chance.choice((0, 0.01, 1)))
        case 9: return (0, start[1]), (0, chance.uniform(-180, 180))


for number in range(count):
    (a, b), (c, d) = pair(number % 10)
    texts = [f"{value:.9f}" for value in (a, b, c, d)]
    way = Geodesic.WGS84.Inverse(*map(float, texts))
    print(*texts, f"{way['s12']:.6f}", f"{way['azi1']:.9f}")
