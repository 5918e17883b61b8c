"""The fields of a frame in tshark's JSON, with the names that the vectors use."""

import collections


import fixes as codes

FIX, LIVE_FIX, BATCH, MESSAGE = 2, 3, 4, 13
STEPS = (10 ** 5, 10 ** 6, 10 ** 7)
SERIAL_FAULTS = ("stuffing", "too_short", "too_long")
HEADER_FAULTS = ("unsupported_version", "critical_flags", "not_opened", "sealed_malformed", "unknown_type")
PAYLOAD_FAULTS = ("truncated", "trailing_bytes", "nonzero_padding", "invalid_field")
CHECK_FAULTS = ("check_failed", "unknown_collar")
FAULTS = (*SERIAL_FAULTS, *HEADER_FAULTS, *PAYLOAD_FAULTS, *CHECK_FAULTS, "anchor_needed")


def collect(pairs, found):
    """All values of each field in a part of tshark's JSON. The fields of each fix of a batch are kept together."""
    for key, value in pairs:
        if key == "collarlink.fix_tree":
            found[key].append(collect(value, collections.defaultdict(list)))
        elif isinstance(value, list) and value and isinstance(value[0], tuple):
            collect(value, found)
        elif value != []:
            found[key].append(value)
    return found


class Packet:
    """A packet as the dissector decoded it."""

    def __init__(self, layers):
        self.fields = collect(layers, collections.defaultdict(list))
        self.frames = [collect(value, collections.defaultdict(list)) for key, value in layers if key == "collarlink"]

    def count(self, name, *layers):
        """The number of times that the dissector shows a fault."""
        layers = layers or ("collarlink", "collarlink_serial")
        return sum(len(self.fields.get(f"{layer}.{name}", ())) for layer in layers)


class Reader:
    """Gives the fields of a frame by name, in the form that the vectors use."""

    def __init__(self, fields):
        self._fields = fields
        self.unknown = fields.get("collarlink.unknown", [])

    def faults(self):
        return set(FAULTS) & {name.removeprefix("collarlink.") for name in self._fields}

    def all(self, name):
        return self._fields.get(f"collarlink.{name}", [])

    def text(self, name):
        values = self.all(name)
        if len(values) != 1:
            raise AssertionError(f"{name} stands {len(values)} times among {sorted(self._fields)}")
        return values[0]

    def number(self, name):
        return None if name in self.unknown else int(self.text(name), 0)

    def optional(self, name):
        """A field that stands only in some frames of a type; None where it does not."""
        return self.number(name) if self.all(name) else None

    def real(self, name):
        return None if name in self.unknown else float(self.text(name))

    def code(self, name):
        return None if name in self.unknown else int(self.text(f"{name}.code"))

    def flag(self, name):
        return self.text(name) == "1"

    def hexadecimal(self, name):
        return f"{int(self.text(name), 0):016x}"

    def octets(self, name):
        return "".join(self.all(name)).replace(":", "")

    def ranges(self, name):
        return [[int(first), int(last)] for first, last in
                zip(self.all(f"{name}.first"), self.all(f"{name}.last"), strict=True)]

    def version(self):
        return [int(part) for part in self.text("firmware_version").split(".")]

    def numbers(self, *names):
        return {name: self.number(name) for name in names}

    def flags(self, *names):
        return {name: self.flag(name) for name in names}


def read_fix(reader):
    return {"type": FIX, **read_codes(reader)}


def read_codes(reader):
    fix = reader.numbers("sequence", "source", "position_step", "altitude_step", "battery")
    fix["time"] = int(reader.text("time.unix_ms"))
    for name in ("latitude", "longitude", "altitude", "horizontal_accuracy", "vertical_accuracy", "speed", "course",
                 "heading"):
        fix[name] = reader.code(name)
    return fix


def fixes_of_batch(reader):
    return [Reader(fields) for fields in reader.all("fix_tree")]


def read_batch(reader):
    fixes = [read_codes(fix) for fix in fixes_of_batch(reader)]
    if reader.number("fix_count") != len(fixes):
        raise AssertionError(f"{len(fixes)} fixes, not {reader.number('fix_count')}")
    return {"type": BATCH, "fixes": fixes}


def read_identity(reader):
    elsewhere = reader.number("delivered_elsewhere") if reader.all("delivered_elsewhere") else 0
    return {**({"delivered_elsewhere": elsewhere} if elsewhere else {}), "device_id": reader.hexadecimal("device_id"), "firmware_version": reader.version(),
            "capabilities": reader.number("capabilities") & 15,
            **reader.numbers("log_id", "boot_count", "oldest_sequence", "next_sequence", "paired_receiver",
                             "largest_frame", "heartbeat")}


def read_acknowledgement(reader):
    company = reader.number("flags.company")
    return {**({"company": company} if company else {}), "poll": reader.number("answered_poll"), **reader.numbers("receiver_id", "first_missing"),
            "durable": reader.ranges("durable"), "resend": reader.ranges("resend")}


def read_status(reader):
    fields = {**reader.numbers("type", "gnss", "throttle", "battery", "voltage", "temperature", "uptime", "last_error",
                               "fixes_sent", "queue_depth", "drops", "duplicates", "retransmissions", "airtime"),
              **reader.flags("tracking", "stationary", "resting"), "clock": None,
              "since": None if "since" in reader.unknown else int(reader.text("since.unix_s"))}
    if reader.flag("clock"):
        fields["clock"] = {"time": int(reader.text("clock.time.unix_ms")), "uptime": reader.number("clock.uptime")}
    return fields


def read_power_report(reader):
    seconds = reader.real("time_to_fix")
    return {**reader.numbers("type", "mode", "supply", "uptime", "seconds_to_search", "failures_in_row", "gnss_seconds",
                             "listening_milliseconds", "awake_milliseconds", "searches", "failures"),
            "time_to_fix": None if seconds is None else round(10 * seconds)}


def read_settings(reader):
    return {**reader.numbers("type", "request_id"), "version": reader.number("settings_version"),
            "origin": reader.number("settings_origin"),
            "entries": [[int(key), int(value)] for key, value in
                        zip(reader.all("entry.key"), reader.all("entry.value"), strict=True)]}


def read_command(reader):
    return {**reader.numbers("type", "request_id", "receiver_id", "action"),
            "argument": reader.optional("argument")}


def read_application_message(reader):
    return {**reader.numbers("type", "kind", "code"), "outcome": reader.optional("outcome"),
            "time": None if "time" in reader.unknown else int(reader.text("time.unix_ms")) // 1000,
            "answered": reader.optional("answered"), "data": reader.octets("data")}


def read_radio_identity(reader):
    return {**reader.numbers("type", "largest_frame"), "radio_id": reader.hexadecimal("radio_id"),
            "firmware_version": reader.version()}


def read_modem_settings(reader):
    fields = reader.numbers("type", "modulation", "turnaround")
    if fields["modulation"] == 0:
        return {**fields, **reader.numbers("bit_rate")}
    return {**fields, **reader.numbers("frequency", "bandwidth", "spreading_factor", "coding_rate", "preamble",
                                       "power"),
            **reader.flags("explicit_header", "crc", "low_data_rate")}


def read_signal_report(reader):
    noise = reader.real("signal_to_noise")
    return {**reader.numbers("type", "packet_check", "strength"),
            "signal_to_noise": None if noise is None else round(10 * noise)}


READERS = {
    1: read_identity, FIX: read_fix, BATCH: read_batch, 6: read_status, 7: read_settings, 10: read_radio_identity,
    11: read_modem_settings, 12: read_signal_report, 15: read_power_report, 16: read_acknowledgement, 19: read_settings, 20: read_command,
    5: lambda reader: reader.numbers("tag", "next_sequence"), 17: lambda reader: reader.numbers("receiver_id"),
    8: lambda reader: reader.numbers("type", "request_id", "outcome"),
    9: lambda reader: {"ranges": reader.ranges("ranges")},
    18: lambda reader: reader.numbers("type", "request_id"),
    MESSAGE: lambda reader: {**reader.numbers("sequence"), **read_application_message(reader)},
    29: lambda reader: {**reader.numbers("request_id", "receiver_id"), **read_application_message(reader)},
}


def units_are_wrong(reader, fix):
    """Yields the values in degrees, metres and metres per second that the dissector shows wrongly for these codes."""
    degree = STEPS[fix["position_step"]]
    wanted = {"latitude": fix["latitude"] / degree, "longitude": fix["longitude"] / degree,
              "altitude": fix["altitude"], "speed": fix["speed"], "course": fix["course"], "heading": fix["heading"],
              "horizontal_accuracy": fix["horizontal_accuracy"], "vertical_accuracy": fix["vertical_accuracy"]}
    scales = {"altitude": 10 if fix["altitude_step"] else 1, "speed": 10, "course": 1 / 2, "heading": 1 / 2}
    for name, value in wanted.items():
        if value is not None and name in scales:
            value = value / scales[name]
        elif value is not None and name.endswith("accuracy"):
            value = codes.ACCURACY_TABLE[value] / 1000
        if not (reader.real(name) == value or value is not None and abs(reader.real(name) - value) < 1e-9):
            yield f"{name} is {reader.real(name)}, not {value}"
