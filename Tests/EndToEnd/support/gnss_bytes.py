"""The bytes of a GNSS receiver, made from a track: UBX NAV-PVT, or NMEA sentences (RMC, GGA, GST).

It is written from the receivers' manuals, without the firmware's parsers. `FakeReceiver` has no input or output of its own: bytes
and fixes go in, bytes come out. `ReceiverAtLine` plays it at a file descriptor. As a program it plays a track at a
pseudo-terminal or another file:

    gnss_bytes.py TRACK.ndjson[.gz] --port PATH [--speed N] [--generation 8|9|10|none] [--now]
"""

import argparse
import datetime
import functools
import gzip
import json
import math
import operator
import os
import select
import struct
import sys
import threading
import time
import tty

SYNCHRONISATION = b"\xb5\x62"
UNKNOWN_ACCURACY = 0xFFFFFFFF

# Class and number of the messages.
NAV_PVT, NAV_SAT, PMREQ, NAK, ACK, MON_HW, MON_RF = (1, 0x07), (1, 0x35), (2, 0x41), (5, 0), (5, 1), (0x0A, 0x09), (0x0A, 0x38)
MESSAGE_RATE, RATE, RECEIVER_MANAGER, NAVIGATION, POWER, SET_VALUES = (6, 1), (6, 8), (6, 0x11), (6, 0x24), (6, 0x3B), (6, 0x8A)
OLD_CONFIGURATION = {MESSAGE_RATE: 3, RATE: 6, RECEIVER_MANAGER: 2, NAVIGATION: 36, POWER: 44}

# The keys that the fake receiver knows, with the names under which it keeps their values.
KEYS = {0x30210001: "interval_ms", 0x20110021: "model", 0x20910007: "pvt", 0x10740001: "ubx", 0x10740002: "nmea",
        0x20D00001: "power_mode", 0x2091035A: "mon_rf", 0x20910016: "nav_sat"}
# States of an antenna, in MON-HW and MON-RF.
ANTENNA_GOOD, ANTENNA_OPEN = 2, 4
# Bytes of a value, by the upper four bits of its key.
SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8}


def ubx(kind, payload=b""):
    """A UBX message. The checksum is computed by its closed form: the second sum weighs each byte by its distance from the end."""
    body = bytes(kind) + struct.pack("<H", len(payload)) + payload
    first = sum(body) & 0xFF
    second = sum(byte * (len(body) - index) for index, byte in enumerate(body)) & 0xFF
    return SYNCHRONISATION + body + bytes((first, second))


def sentence(text):
    """An NMEA sentence with its checksum and its end."""
    return b"$%s*%02X\r\n" % (text.encode(), functools.reduce(operator.xor, text.encode(), 0))


def _moment(unix_ms):
    return datetime.datetime(1970, 1, 1) + datetime.timedelta(milliseconds=unix_ms)


def _scaled(value, factor):
    return round(value * factor)


def nav_pvt(fix, valid=7, fix_type=None, flags=1):
    """NAV-PVT of a fix with the keys of `LocationFix`. An unknown altitude makes the fix two-dimensional."""
    moment = _moment(fix["ts_unix_ms"])
    altitude = fix.get("alt_m")
    if fix_type is None:
        fix_type = 2 if altitude is None else 3
    accuracies = [UNKNOWN_ACCURACY if fix.get(key, -1) <= 0 else _scaled(fix[key], 1000)
                  for key in ("h_accuracy_m", "v_accuracy_m")]
    height = _scaled(altitude or 0, 1000)
    speed, course = (fix.get(key, -1) for key in ("speed_mps", "course_deg"))
    north, east = ((speed * operation(math.radians(course)) if speed >= 0 and course >= 0 else 0)
                   for operation in (math.cos, math.sin))
    # Times of the week are those of GPS, which is 18 s ahead of UTC.
    week_ms = (int(fix["ts_unix_ms"]) - 315964800000 + 18000) % 604800000
    return ubx(NAV_PVT, struct.pack(
        "<IHBBBBBBIiBBBBiiiiIIiiiiiIIHH4xihH",
        week_ms, moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second, valid, 25,
        moment.microsecond * 1000, fix_type, flags, 0xE0, 9,
        _scaled(fix["coordinate"]["longitude"], 1e7), _scaled(fix["coordinate"]["latitude"], 1e7), height + 47_000, height,
        *accuracies, _scaled(north, 1000), _scaled(east, 1000), 0,
        _scaled(speed, 1000) if speed >= 0 else -1, _scaled(course, 1e5) if course >= 0 else -1, 500, 500_000, 150, 0, 0, 0, 0))


def mon_rf(antenna):
    """MON-RF of a receiver with one band."""
    return ubx(MON_RF, struct.pack("<BB2xBBBBI4xHHBbBbB3x", 0, 1, 0, 0, antenna, 1, 0, 90, 5000, 10, 0, 150, 0, 150))


def mon_hw(antenna):
    """MON-HW, which is 60 bytes long."""
    return ubx(MON_HW, struct.pack("<IIIIHHBB", 0, 0, 0, 0, 90, 5000, antenna, 1) + bytes(38))


def nav_sat(densities):
    """NAV-SAT of satellites of GPS with these carrier-to-noise densities in dBHz; 0 is a satellite that is only searched."""
    blocks = b"".join(struct.pack("<BBBbhhI", 0, number, density, 40, 120, 0, 0x1F if density else 0x11)
                      for number, density in enumerate(densities, 1))
    return ubx(NAV_SAT, struct.pack("<IBB2x", 0, 1, len(densities)) + blocks)


def _angle(degrees, width, letters):
    """Degrees and minutes with seven decimal places, which keep 1e-7 degree exactly; and the hemisphere."""
    e7 = _scaled(abs(degrees), 1e7)
    whole, rest = divmod(e7, 10_000_000)
    minutes, fraction = divmod(rest * 60, 10_000_000)
    return f"{whole:0{width}}{minutes:02}.{fraction:07},{letters[degrees < 0]}"


def _known(value, text):
    return "" if value is None or value < 0 else format(value, text)


def nmea(fix, talker="GN", status="A", kinds=("RMC", "GGA", "GST")):
    """The sentences of a fix, in this order; the accuracy of each axis is the horizontal accuracy / √2."""
    moment = _moment(fix["ts_unix_ms"])
    clock = f"{moment:%H%M%S}.{moment.microsecond // 1000:03}"
    position = (_angle(fix["coordinate"]["latitude"], 2, "NS") + "," + _angle(fix["coordinate"]["longitude"], 3, "EW"))
    speed = fix.get("speed_mps", -1)
    altitude = fix.get("alt_m")
    horizontal, vertical = fix.get("h_accuracy_m", -1), fix.get("v_accuracy_m", -1)
    axis = _known(horizontal / math.sqrt(2), ".3f")
    is_fix = status == "A"
    texts = {
        "RMC": f"RMC,{clock},{status},{position},{_known(speed * 3600 / 1852, '.3f')},"
               f"{_known(fix.get('course_deg', -1), '.2f')},{moment:%d%m%y},,,{'A' if is_fix else 'N'}",
        "GGA": f"GGA,{clock},{position},{int(is_fix)},09,0.9,{'' if altitude is None else format(altitude, '.3f')},M,47.0,M,,",
        "GST": f"GST,{clock},12.0,,,,{axis},{axis},{_known(vertical, '.3f')}",
    }
    return b"".join(sentence(talker + texts[kind]) for kind in kinds)


class FakeReceiver:
    """A receiver as u-blox makes them: NMEA until it is configured, answers to every configuration message.

    `generation` is 8, 9 or 10; None is a receiver of another make, which ignores UBX. It forgets its configuration in `restart`
    and when it is switched off.
    """

    def __init__(self, generation=10, refused=(), unheard=0):
        self.generation, self.refused, self.unheard = generation, set(refused), unheard
        # The configuration messages that it received, as (kind, payload).
        self.commands = []
        self.restarts = -1
        self.is_off = False
        self.antenna = ANTENNA_GOOD
        # The signals of the satellites that it hears, in dBHz.
        self.densities = [44, 41, 38, 35, 30, 25, 0, 0]
        self.restart()

    def restart(self):
        """Begins as after power came on."""
        self.interval_ms, self.model, self.pvt, self.ubx, self.nmea, self.power_mode = 1000, 0, 0, 1, 1, 0
        # The number of positions for which it says the state of its antenna once, and the number of positions.
        self.mon_rf, self.mon_hw, self.positions = 0, 0, 0
        # The same for its satellites.
        self.nav_sat = 0
        # NMEA sentences that are switched off one by one, and the time of the last fix.
        self.silent_sentences, self.last_ms = set(), None
        self.restarts += 1
        self._received = b""

    @property
    def is_configured(self):
        """Whether it sends NAV-PVT and no NMEA."""
        return bool(self.pvt) and (not self.nmea or self.silent_sentences == set(range(6)))

    def receive(self, data):
        """Takes bytes and returns the bytes of the answers."""
        if self.generation is None or not data:
            return b""
        if self.is_off:
            # The first byte wakes the receiver; it does not hear the rest of the message.
            self.is_off = False
            self.restart()
            return b""
        self._received += data
        answers = b""
        while (start := self._received.find(SYNCHRONISATION)) >= 0:
            self._received = self._received[start:]
            if len(self._received) < 8:
                break
            end = 8 + int.from_bytes(self._received[4:6], "little")
            if len(self._received) < end:
                break
            message, self._received = self._received[:end], self._received[end:]
            kind, payload = tuple(message[2:4]), message[6:-2]
            if ubx(kind, payload) == message:
                answers += self._obey(kind, payload)
        return answers

    def _obey(self, kind, payload):
        if self.unheard > 0:
            self.unheard -= 1
            return b""
        self.commands.append((kind, payload))
        if kind == PMREQ:
            self.is_off = len(payload) in (8, 16)
            return b""
        if kind[0] != 6:
            return b""
        is_done = kind not in self.refused and (
            self._set_values(payload) if kind == SET_VALUES else self._set_old(kind, payload))
        return ubx(ACK if is_done else NAK, bytes(kind))

    def _set_values(self, payload):
        """Sets values by their keys: all or, if one of them is wrong, none."""
        if self.generation < 9 or len(payload) < 4 or payload[0] != 0 or not payload[1] & 1:
            return False
        values, rest = {}, payload[4:]
        while rest:
            key = int.from_bytes(rest[:4], "little")
            size = SIZES.get(key >> 28 & 7)
            if key not in KEYS or len(rest) < 4 + size or key in self.refused:
                return False
            values[KEYS[key]] = int.from_bytes(rest[4:4 + size], "little")
            rest = rest[4 + size:]
        self.__dict__.update(values)
        return True

    def _set_old(self, kind, payload):
        if self.generation > 9 or len(payload) != OLD_CONFIGURATION.get(kind):
            return False
        if kind == RATE:
            self.interval_ms, cycles, _ = struct.unpack("<HHH", payload)
            return cycles == 1
        if kind == NAVIGATION:
            mask, self.model = struct.unpack_from("<HB", payload)
            return mask == 1
        if kind == RECEIVER_MANAGER:
            self.power_mode = 2 * payload[1]
        if kind == MESSAGE_RATE:
            if tuple(payload[:2]) == NAV_PVT:
                self.pvt = payload[2]
            elif tuple(payload[:2]) == MON_HW:
                self.mon_hw = payload[2]
            elif tuple(payload[:2]) == NAV_SAT:
                self.nav_sat = payload[2]
            elif payload[0] == 0xF0:
                (self.silent_sentences.discard if payload[2] else self.silent_sentences.add)(payload[1])
        return True

    def bytes_of(self, fix, **changes):
        """What it sends for a fix: nothing if it is off, or if the interval since the last one is not over."""
        if self.is_off or (self.last_ms is not None and 0 <= fix["ts_unix_ms"] - self.last_ms < 0.9 * self.interval_ms):
            return b""
        self.last_ms = fix["ts_unix_ms"]
        out = b""
        # GGA has number 0 and RMC number 4. GST is off until it is asked for.
        kinds = [kind for kind, number in (("RMC", 4), ("GGA", 0)) if number not in self.silent_sentences]
        if self.nmea and kinds:
            out += nmea(fix, kinds=kinds)
        if self.pvt and self.ubx:
            out += nav_pvt(fix, **changes)
        for interval, message in ((self.mon_rf, mon_rf), (self.mon_hw, mon_hw)):
            if self.ubx and interval and self.positions % interval == 0:
                out += message(self.antenna)
        if self.ubx and self.nav_sat and self.positions % self.nav_sat == 0:
            out += nav_sat(self.densities)
        self.positions += 1
        return out


class ReceiverAtLine(threading.Thread):
    """Plays the fixes of a track at a file descriptor, at the pace of their times or `speed` times as fast, and answers."""

    def __init__(self, descriptor, fixes, receiver=None, speed=1.0):
        super().__init__(daemon=True)
        self.descriptor, self.fixes, self.speed = descriptor, list(fixes), speed
        self.receiver = receiver or FakeReceiver()
        # The fixes that were sent.
        self.sent = []
        self._wake, self._wake_writer = os.pipe()

    def run(self):
        begin = time.monotonic()
        try:
            for fix in self.fixes:
                due = begin + (fix["ts_unix_ms"] - self.fixes[0]["ts_unix_ms"]) / 1000 / self.speed
                if not self._listen_until(due):
                    return
                data = self.receiver.bytes_of(fix)
                if data:
                    self._write(data)
                    self.sent.append(fix)
            self._listen_until(math.inf)
        except OSError:
            # The other end is gone.
            return

    def _listen_until(self, due):
        """Answers commands until a moment; false if it was stopped."""
        while True:
            left = due - time.monotonic()
            ready, _, _ = select.select([self.descriptor, self._wake], [], [], max(0, min(left, 3600)))
            if self._wake in ready:
                return False
            if self.descriptor in ready:
                data = os.read(self.descriptor, 4096)
                if not data:
                    return False
                self._write(self.receiver.receive(data))
            elif left <= 0:
                return True

    def _write(self, data):
        while data:
            data = data[os.write(self.descriptor, data):]

    def close(self):
        """Stops the thread. The descriptor stays open."""
        os.write(self._wake_writer, b"x")
        self.join(5)
        os.close(self._wake)
        os.close(self._wake_writer)


def track(path, begin_unix_ms=None):
    """The fixes of a track; moved in time so that the first one is at `begin_unix_ms`, if that is given."""
    with (gzip.open if str(path).endswith(".gz") else open)(path, "rt") as lines:
        fixes = [json.loads(line) for line in lines if line.strip()]
    if begin_unix_ms is not None and fixes:
        difference = begin_unix_ms - fixes[0]["ts_unix_ms"]
        fixes = [fix | {"ts_unix_ms": fix["ts_unix_ms"] + difference} for fix in fixes]
    return fixes


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("track", help="newline JSON of LocationFix, may be compressed with gzip")
    options.add_argument("--port", required=True, help="the terminal at which the firmware reads its receiver")
    options.add_argument("--speed", type=float, default=1.0, help="how many times as fast as the track")
    options.add_argument("--generation", choices=["8", "9", "10", "none"], default="10", help="of the receiver; none: not u-blox")
    options.add_argument("--now", action="store_true", help="move the track in time so that it begins now")
    given = options.parse_args()
    descriptor = os.open(given.port, os.O_RDWR | os.O_NOCTTY)
    if os.isatty(descriptor):
        tty.setraw(descriptor)
    receiver = FakeReceiver(None if given.generation == "none" else int(given.generation))
    fixes = track(given.track, int(time.time() * 1000) if given.now else None)
    player = ReceiverAtLine(descriptor, fixes, receiver, given.speed)
    player.start()
    try:
        player.join()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
