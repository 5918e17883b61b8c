"""The vectors of sealed frames: name -> vector."""

import frames
import sealed_faults
import sealing
from batch_parts import START, fixes_of, walk
from fixes import OPTIONAL_FIELDS
from frames import Log
from power_vectors import NONE, POWER
from report_vectors import COMMAND, KINDS, MESSAGES, SCHEDULE, SETTINGS, STATUS, defaults
from sealed_parts import COLLAR, COUNTER, HOST, KEY, RECEIVER, keys_of, vector_of
from vector_parts import ACKNOWLEDGEMENT, ADDRESS, FIX, IDENTITY, LOG

MAX = 4_294_967_294
TOP = MAX + 1
ORIGIN = "values written by hand, frame encoded and sealed by the reference implementation"
UNKNOWN = dict.fromkeys(OPTIONAL_FIELDS)
REPORT = {**SETTINGS, "type": 7, "entries": [[key, 1000 * key] for key in range(1, 7)]}
UPDATE = {**SETTINGS, "type": 19}
PROBE = {"tag": LOG.tag(), "next_sequence": 4661}
MESSAGE_DATA = bytes(range(20)).hex()
# Fields and steps with the longest codes.
LONGEST = {"time": -1, "position_step": 2, "latitude": -900_000_000, "longitude": 1_800_000_000, "altitude_step": 1,
           "altitude": -(1 << 23), "speed": (1 << 20) - 1}


class SealedVectors:
    """Collects vectors of sealed frames."""

    def __init__(self):
        self.vectors = {}

    def add(self, name, meaning, number, fields, known, sizes=None, flags=0, address=ADDRESS, key=KEY, long=False,
            index=None, **hints):
        """A vector of a message. `sizes` are the bytes that the clear and the sealed frame must have."""
        clear = frames.encode(number, fields, address, flags, known.log, anchor=known.anchor, **hints)
        keys = keys_of(known, key)
        sealed = sealing.seal(clear, keys, known, long, index)
        if sealing.open_sealed(sealed, keys, known) != clear:
            raise AssertionError(f"{name} opens to something else")
        if sizes is not None:
            if (len(clear), len(sealed)) != sizes:
                raise AssertionError(f"{name} has {len(clear)} and {len(sealed)} bytes")
            meaning += f"; {sizes[0]} bytes, sealed {sizes[1]}"
        self.put(name, {**vector_of(f"{meaning}.", ORIGIN, sealed, known, key), "clear": clear.hex()})

    def put(self, name, vector):
        """Add a vector."""
        if name in self.vectors:
            raise AssertionError(f"{name} twice")
        self.vectors[name] = vector

    def collar(self, name, meaning, number, fields, sizes=None, log=LOG, boot_count=COLLAR.boot_count, counter=COUNTER, **more):
        """A vector of a frame of a collar that needs neither a sequence nor an anchor."""
        self.add(name, meaning, number, fields, COLLAR._replace(log=log, boot_count=boot_count, counter=counter), sizes, **more)

    def fix(self, name, meaning, sizes=None, wide=False, changes=None, known=COLLAR, **more):
        """An absolute fix: FIX with some fields changed."""
        fields = {**FIX, **(changes or {})}
        self.add(f"absolute-fix-{name}", f"Absolute fix: {meaning}", 2, fields, known._replace(sequence=fields["sequence"]),
                 sizes, wide=wide, **more)

    def live(self, name, meaning, sizes=None, changes=None, anchor=None, known=COLLAR, **more):
        """A live fix: its anchor, one sequence and one second later, with some fields changed."""
        before = {**FIX, **(anchor or {})}
        fields = {**before, "type": 3, "sequence": before["sequence"] + 1, "time": before["time"] + 1000, **(changes or {})}
        self.add(f"live-fix-{name}", f"Live fix: {meaning}", 3, fields, known._replace(anchor=before), sizes, **more)

    def identity(self, name, meaning, sizes=None, changes=None, counter=COUNTER, **more):
        """An identity, of whose log and boot it is."""
        fields = {**IDENTITY, **(changes or {})}
        log = Log(int(fields["device_id"], 16), fields["log_id"])
        self.collar(f"identity-{name}", f"Identity: {meaning}", 1, fields, sizes, log=log, boot_count=fields["boot_count"],
                    counter=counter, **more)

    def host(self, name, meaning, number, fields, sizes=None, index=1, known=HOST, **more):
        """A vector of a frame of a host."""
        self.add(name, meaning, number, fields, known, sizes, index=index, **more)

    def acknowledgement(self, name, meaning, sizes=None, known=HOST, changes=None, **more):
        """An acknowledgement of the poll."""
        self.host(f"acknowledgement-{name}", f"Acknowledgement: {meaning}", 16,
                  {**ACKNOWLEDGEMENT, **(changes or {}), "poll": known.poll}, sizes, 0, known, **more)


def add_fixes(v):
    """Absolute fixes: forms of the sequence, and fields."""
    v.fix("plain", "all fields known, whole seconds", (27, 31))
    v.fix("poll", "wants an answer", flags=5)
    v.fix("long", "the whole counter", (27, 34), long=True)
    v.fix("wide", "the wide form", wide=True)
    v.fix("wide-long-poll", "the wide form and the whole counter; wants an answer", flags=7, wide=True, long=True)
    v.fix("mask", "speed and course unknown", changes={"speed": None, "course": None})
    v.fix("mask-wide", "no optional field known, the wide form", wide=True, changes=UNKNOWN)
    v.fix("mask-upper-half", "heading unknown; the upper half of the short sequence is not 0",
          changes={"heading": None, "sequence": 200_000})
    v.fix("longest", "the longest codes", (38, 42), wide=True, changes=LONGEST)
    for sequence in (0, 65_536, MAX):
        v.fix(f"short-{sequence}", f"sequence {sequence}, the short form", changes={"sequence": sequence})
    v.fix(f"wide-{MAX}", f"sequence {MAX}, the wide form", wide=True, changes={"sequence": MAX})


def add_places(v):
    """Counters, boot counts, logs, keys and addresses."""
    for counter in (0, 255, 256, 1 << 24, TOP):
        known = COLLAR._replace(counter=counter)
        v.fix(f"counter-{counter}", f"counter {counter}", known=known)
        if counter != 256:
            v.fix(f"counter-{counter}-long", f"counter {counter}, whole", known=known, long=True)
    for boot_count in (1, TOP):
        v.fix(f"boot-count-{boot_count}", f"boot count {boot_count}", known=COLLAR._replace(boot_count=boot_count))
    for log_id in (0, (1 << 26) - 1):
        v.fix(f"log-{log_id}", f"log id {log_id}", known=COLLAR._replace(log=Log(LOG.device_id, log_id)))
    for name, device_id, key in (("zeros", 0, bytes(16)), ("ones", (1 << 64) - 1, b"\xff" * 16)):
        v.fix(f"key-{name}", f"all bits of the key and of the device id are {name}", key=key,
              known=COLLAR._replace(log=Log(device_id, LOG.log_id)))
    for address in (1, 254):
        v.fix(f"address-{address}", f"collar at address {address}", address=address)


def add_live_fixes(v):
    """Live fixes: anchors and distances."""
    v.live("plain", "one second later, nothing else changed")
    v.live("poll", "wants an answer", flags=1)
    v.live("long-poll", "the whole counter; wants an answer", long=True, flags=7)
    for before, sequence in ((0, 1), (250, 300), (255, 256), (65_535, 65_662), (MAX - 1, MAX)):
        v.live(f"anchor-{before}-to-{sequence}", f"sequence {sequence}, its anchor has {before}",
               changes={"sequence": sequence}, anchor={"sequence": before})
    v.live("anchor-mask", "an anchor without its optional fields", changes={"battery": 50}, anchor=UNKNOWN)
    v.live("anchor-longest", "an anchor with the longest codes", anchor=LONGEST)


def add_batches(v):
    """Batches."""
    def add(name, meaning, fixes, sizes=None, **more):
        v.collar(f"batch-{name}", f"Batch: {meaning}", 4, {"type": 4, "fixes": fixes}, sizes, **more)

    add("one", "one fix", fixes_of())
    add("three", "three fixes; wants an answer", walk(3), flags=2)
    add("low-byte", "the low byte of the first sequence is not that of the counter, and wraps",
        walk(3, sequence=70_000 | 0xFF))
    add("long", "the whole counter", walk(5), long=True)
    # Its payload has 4 bytes less than that of a clear batch of the largest frame, or 7 less with the whole counter.
    leaps = fixes_of(*[{"latitude": START["latitude"] + number * 7919 % 5000,
                        "longitude": START["longitude"] - number * 104_729 % 9000} for number in range(1, 64)])
    for name, long, limit in (("largest", False, 249), ("largest-long", True, 246)):
        taken = frames.encode_batch(leaps, ADDRESS, log=LOG, limit=limit)[1]
        add(name, f"{taken} fixes, as many as fit the largest frame", leaps[:taken], long=long)
    add("64", "64 fixes", walk(64))


def add_collar_messages(v):
    """Identity, probe, tombstone, status, power report, settings report, result and application messages."""
    elsewhere = {"delivered_elsewhere": 900}
    v.identity("plain", "the first frame of a boot, with a poll", (43, 43), flags=1, counter=0)
    v.identity("no-poll", "without a poll", (43, 43))
    v.identity("elsewhere", "delivered elsewhere below 900", (47, 47), elsewhere)
    v.identity("elsewhere-poll", "delivered elsewhere below 900, with a poll", (47, 47), elsewhere, flags=7)
    v.identity("counter-4294967295", "the highest counter", counter=TOP, flags=2)
    v.identity("highest", "boot count and log id at their highest", changes={"boot_count": TOP, "log_id": (1 << 26) - 1})
    v.identity("lowest", "boot count 1, log id 0, an empty log", flags=4, changes={
        "boot_count": 1, "log_id": 0, "oldest_sequence": 0, "next_sequence": 0, "paired_receiver": 0})

    v.collar("probe-plain", "Probe", 5, PROBE, (14, 14), flags=4)
    v.collar("probe-long", "Probe: the whole counter", 5, PROBE, (14, 17), flags=4, long=True)

    ranges = {"ranges": [[0, 0], [10, 20], [22, 22], [MAX, MAX]]}
    v.collar("tombstone-plain", "Tombstone", 9, ranges)
    v.collar("tombstone-elsewhere", "Tombstone: delivered elsewhere", 9, ranges, flags=8)
    v.collar("tombstone-long-elsewhere", "Tombstone: delivered elsewhere, the whole counter; wants an answer", 9, ranges,
             long=True, flags=8 | 2)

    v.collar("status-clock", "Status: with the clock", 6, STATUS, (48, 51))
    v.collar("status-clock-long", "Status: with the clock and the whole counter", 6, STATUS, (48, 54), long=True)
    v.collar("status-no-clock", "Status: without the clock; wants an answer", 6, {**STATUS, "clock": None}, flags=6)
    v.collar("status-resting", "Status: the GNSS receiver rests", 6, {**STATUS, "resting": True}, (48, 51))
    v.collar("power-report-plain", "Power report", 15, POWER, (36, 39))
    v.collar("power-report-poll", "Power report: no search is planned, no position since the boot; wants an answer", 15,
             {**POWER, **NONE}, (36, 39), flags=4)
    v.collar("power-report-long", "Power report: the whole counter, the longest form", 15, POWER, (36, 42), long=True)
    v.collar("power-report-long-poll", "Power report: the whole counter; wants an answer", 15, POWER, (36, 42), long=True, flags=7)
    v.collar("power-report-counter-4294967294-long", "Power report: the highest counter, whole", 15, POWER, (36, 42),
             counter=TOP - 1, long=True)
    v.collar("settings-report-keys-13-to-18", "Settings report: keys 13 to 18 with their defaults", 7,
             {**REPORT, "entries": defaults(13, 18)}, (48, 51))
    v.collar("settings-report-keys-19-to-23-long", "Settings report: keys 19 to 23 with their defaults, the whole counter", 7,
             {**REPORT, "entries": defaults(19, 23)}, (43, 49), long=True)
    v.collar("settings-report-6-entries", "Settings report: 6 keys", 7, REPORT, (48, 51))
    v.collar("settings-report-empty-long", "Settings report: no keys, the whole counter", 7, {**REPORT, "entries": []},
             long=True)
    result = {"type": 8, "request_id": 0x4321, "outcome": 5}
    v.collar("result-plain", "Result", 8, result, (10, 13))
    v.collar("result-long-poll", "Result: the whole counter; wants an answer", 8, result, (10, 16), long=True, flags=3)

    notice, reply = ({**MESSAGES[13], **KINDS[kind]} for kind in ("notice", "reply"))
    v.collar("application-13-no-data", "Application message of a collar: no data", 13, {**notice, "data": ""}, (17, 20))
    v.collar("application-13-20", "Application message of a collar: a reply with 20 bytes; wants an answer", 13,
             {**reply, "data": MESSAGE_DATA}, (41, 44), flags=1)
    v.collar("application-13-20-long", "Application message of a collar: a reply with 20 bytes, the whole counter", 13,
             {**reply, "data": MESSAGE_DATA}, (41, 47), long=True)


def add_host_messages(v):
    """Acknowledgements and requests."""
    v.acknowledgement("plain", "ranges and resends")
    v.acknowledgement("first", "nothing stored yet, no ranges", (17, 25),
                      changes={"first_missing": 0, "durable": [], "resend": []})
    v.acknowledgement("resend-only", "resend ranges only", changes={"durable": [], "resend": [[0, 9], [11, 11]]})
    ranges = {"durable": [[5000 - 10 * number, 5003 - 10 * number] for number in range(32)], "resend": []}
    v.acknowledgement("fitted-to-51", "as many ranges as fit 51 bytes", (43, 51), changes=frames.fit_acknowledgement(
        {**ACKNOWLEDGEMENT, **ranges}, 43))
    v.acknowledgement("poll-7", "of poll 7", known=HOST._replace(poll=7))
    for company, collars in ((1, "2 to 4"), (2, "5 to 16"), (3, "more than 16")):
        v.acknowledgement(f"company-{company}", f"the host hears {collars} collars", changes={"company": company})
    for counter in (0, 255, 256, 1 << 24, TOP):
        v.acknowledgement(f"counter-{counter}", f"the poll has counter {counter}", known=HOST._replace(counter=counter))
    for name, boot_count, log_id, receiver in (("lowest", 1, 0, 1), ("highest", TOP, (1 << 26) - 1, TOP)):
        v.acknowledgement(name, f"boot count, log id and receiver id at their {name}", changes={"receiver_id": receiver},
                          known=HOST._replace(boot_count=boot_count, log=Log(LOG.device_id, log_id), receiver_id=receiver))
    v.acknowledgement("address-254", "to the collar at address 254", address=254)

    for index in (1, 2):
        v.host(f"settings-request-index-{index}", f"Settings request: index {index}", 18,
               {"type": 18, "request_id": 0x1234}, (9, 17), index)
        v.host(f"settings-update-index-{index}", f"Settings update: 5 keys, index {index}", 19, UPDATE, (43, 51), index)
        v.host(f"command-index-{index}", f"Command: a fix now, index {index}", 20, COMMAND, (14, 22), index)
    v.host("settings-request-other-receiver", "Settings request: the receiver, which the frame does not name, is 1", 18,
           {"type": 18, "request_id": 0x1234}, known=HOST._replace(receiver_id=1))
    v.host("command-pair", "Command: pair", 20, {**COMMAND, "action": 6, "argument": RECEIVER}, (18, 26))
    v.host("command-pair-other-receiver", "Command: pair, of another receiver than the collar's", 20,
           {**COMMAND, "receiver_id": 7, "action": 6, "argument": 7}, (18, 26))
    v.host("command-sound", "Command: sound for 1500 ms", 20, {**COMMAND, "action": 4, "argument": 1500})
    v.host("settings-update-schedule", "Settings update: keys 16 to 20", 19, {**UPDATE, "entries": SCHEDULE}, (43, 51))
    for name, duration, said in (("find", 3600, "for an hour"), ("find-0", 0, "no longer")):
        v.host(f"command-{name}", f"Command: find, {said}", 20, {**COMMAND, "action": 8, "argument": duration}, (16, 24))
    v.host("command-power-report", "Command: send a power report", 20, {**COMMAND, "action": 9}, (14, 22), 2)
    request, reply = ({**MESSAGES[29], **KINDS[kind]} for kind in ("request", "reply"))
    v.host("application-29-no-data", "Application message of a host: no data", 29, {**request, "data": ""}, (19, 27))
    v.host("application-29-20", "Application message of a host: a reply with 20 bytes", 29, {**reply, "data": MESSAGE_DATA},
           (43, 51), 2)


def all_vectors():
    """Every vector of a sealed frame."""
    v = SealedVectors()
    add_fixes(v)
    add_places(v)
    add_live_fixes(v)
    add_batches(v)
    add_collar_messages(v)
    add_host_messages(v)
    sealed_faults.add_faults(v)
    return v.vectors
