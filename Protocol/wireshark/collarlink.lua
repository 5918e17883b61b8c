-- Wireshark dissector of the Collar Link Protocol, version 1 (PROTOCOL.md; section numbers below are its).
--
-- Link type USER0 (147): a packet is one bare frame. USER1 (148): packets are the bytes of a serial line, cut
-- anywhere. USER3 (150): a packet is one record of a capture of collar-link (CAPTURE.md). The first two are also offered by "Decode As" for UDP, and the serial line for TCP (a networked serial port).
--
-- Runs with Lua 5.2 (Wireshark 4.0) and later, so bits are taken apart with arithmetic: the libraries for them went
-- when the operators came. Numbers are exact to 53 bits; longer fields stay bytes.

local VERSION = 1
local HEADER, CHECK = 4, 3
local SHORTEST_FRAME, LONGEST_FRAME = 7, 253
local LONGEST_ENCODING = 254
local MAX_SEQUENCE = 4294967294
local IDENTITY, ABSOLUTE_FIX, LIVE_FIX, TOMBSTONE, ACKNOWLEDGEMENT = 1, 2, 3, 9, 16
local DELIVERED_ELSEWHERE, LONG, CRITICAL, SEALED = 0x08, 0x10, 0x20, 0x80
local REPLY = 2
local MOST_RANGES, MOST_ENTRIES, MOST_DATA = 32, 6, 20

local floor = math.floor
local number = string.format

local function spaced(name)
    return (name:gsub("_", " "))
end

local bare = Proto("collarlink", "Collar Link Protocol")
local serial = Proto("collarlink_serial", "Collar Link Protocol, serial line")

bare.prefs.device_id = Pref.string("Device id", "", "16 hexadecimal digits: for a capture without an identity frame")
bare.prefs.log_id = Pref.string("Log id", "", "A number: the log of this device id")

-- Names of values ---------------------------------------------------------------------------------------------------

local SOURCES = {[0] = "watchOS", "iOS", "collar", "invalid"}
local TIME_FORMS = {[0] = "seconds", "seconds and tenths", "seconds and milliseconds", "milliseconds since 1970"}
local POSITION_STEPS = {[0] = "0.00001 degree", "0.000001 degree", "0.0000001 degree", "invalid"}
local ALTITUDE_STEPS = {[0] = "1 m", "0.1 m"}
local COMPANIES = {[0] = "one collar", "2 to 4 collars", "5 to 16 collars",
    "more than 16 collars, or the base's airtime runs short"}
local GNSS = {[0] = "off", "searching", "fix", "fault"}
-- Of a power report: why fixes are made as they are, and the supply of the GNSS receiver.
local POWER = {modes = {[0] = "stopped", "continuous", "moving", "resting", "no sky", "find"},
    supplies = {[0] = "off", "backup", "searching", "settling", "collecting", "tracking"}}
local THROTTLES = {[0] = "nothing", "low battery", "critical battery", "duty cycle"}
local ACTIONS = {"start tracking", "stop tracking", "make and send a fix", "sound", "reboot",
    "pair with another receiver", "unpair", "find", "send a power report"}
local OUTCOMES = {[0] = "ok", "unknown", "unsupported", "invalid", "refused", "conflict", "busy", "timeout", "failed"}
local KINDS = {[0] = "notice", "request", [REPLY] = "reply"}
local MODULATIONS = {[0] = "serial", "LoRa"}
local CODING_RATES = {[0] = "4/5", "4/6", "4/7", "4/8"}
local SETTINGS = {
    {"interval between sent fixes above 20 % battery, moving", "ms"},
    {"interval at 10 to 20 % battery, moving", "ms"},
    {"interval at 10 to 20 % battery, stationary", "ms"},
    {"interval below 10 % battery", "ms"},
    {"change of horizontal accuracy that is always sent", "cm"},
    {"stationary: distance", "cm"},
    {"stationary: time", "s"},
    {"heartbeat", "s"},
    {"decimal places of a degree", nil},
    {"decimal places of a metre of altitude", nil},
    {"interval between sent fixes above 20 % battery, stationary", "ms"},
    {"shortest interval between fixes that are made, at 20 % battery or less", "ms"},
    {"spreading factor", nil},
    {"turnaround of the modem", "ms"},
    {"bytes that the modems add to a frame", nil},
    {"interval between fixes that are made, moving", "ms"},
    {"interval between fixes that are made, stationary", "ms"},
    {"longest search without a position", "s"},
    {"horizontal accuracy that is enough", "cm"},
    {"heartbeat of a stationary collar", "s"},
    {"longest time-out of a poll", "s"},
    {"longest time from the beginning of a search without a position to the next", "s"},
    {"longest wait for enough accuracy", "s"},
}
local CHECK_STATUS = {[0] = "Bad", "Good", "Unverified"} -- the numbers Wireshark itself uses
local BAD, GOOD, UNVERIFIED = 0, 1, 2

-- Fields ------------------------------------------------------------------------------------------------------------

local F = {}   -- by the name behind "collarlink."
local MESSAGES = {} -- by type; filled below, each beside its code
local TYPE_NAMES = {}

local function field(kind, name, label, ...)
    F[name] = ProtoField[kind]("collarlink." .. name, label, ...)
end

local function flag_field(name, label)
    field("bool", name, label, base.NONE, {"yes", "no"})
end

-- header, check
field("uint8", "version", "Version")
field("uint8", "flags", "Flags", base.HEX)
field("bool", "flags.sealed", "Sealed", 8, {"yes", "no"}, 0x80)
field("uint8", "flags.critical", "Reserved, critical", base.HEX, nil, 0x60)
field("uint8", "flags.reserved", "Reserved", base.HEX, nil, 0x18)
field("bool", "flags.delivered_elsewhere", "Delivered elsewhere", 8, {"yes", "no"}, 0x08)
field("uint8", "flags.company", "Company", base.DEC, COMPANIES, 0x18)
field("uint8", "flags.bit_4", "Reserved", base.HEX, nil, 0x10)
field("uint8", "flags.bit_3", "Reserved", base.HEX, nil, 0x08)
field("bool", "flags.long", "Long: all of the counter is sent", 8, {"yes", "no"}, LONG)
field("bool", "flags.wide", "Wide sequence", 8, {"yes", "no"}, 0x08)
field("uint8", "poll_number", "Poll number", base.DEC, nil, 0x07)
field("uint8", "index", "Index", base.DEC, nil, 0x07)
field("uint8", "address", "Address")
field("uint8", "low_byte", "Low byte")
field("bytes", "payload", "Payload")
field("uint24", "check", "Check", base.HEX)
field("uint8", "check.status", "Check status", base.DEC, CHECK_STATUS)
field("uint64", "check.device_id", "Fits device id", base.HEX)
field("uint32", "check.log_id", "Fits log id")
field("string", "unknown", "Unknown")
field("bytes", "ignored", "Ignored bytes")
-- fixes
flag_field("partial", "Partial")
field("uint8", "time_form", "Time form", base.DEC, TIME_FORMS)
field("uint8", "position_step", "Position step", base.DEC, POSITION_STEPS)
field("uint8", "altitude_step", "Altitude step", base.DEC, ALTITUDE_STEPS)
field("uint8", "source", "Source", base.DEC, SOURCES)
flag_field("wide", "Wide sequence")
field("uint8", "mask", "Mask of known fields", base.HEX)
field("uint32", "sequence", "Sequence")
field("absolute_time", "time", "Time", base.UTC)
field("int64", "time.unix_ms", "Milliseconds since 1970")
for name, label in pairs {latitude = "Latitude", longitude = "Longitude", altitude = "Altitude",
        horizontal_accuracy = "Horizontal accuracy", vertical_accuracy = "Vertical accuracy", speed = "Speed"} do
    field("double", name, label)
    field("int32", name .. ".code", "Code")
end
for name, label in pairs {course = "Course", heading = "Heading"} do
    field("uint16", name, label)
    field("uint8", name .. ".code", "Code")
end
field("uint8", "battery", "Battery")
field("uint32", "distance", "Distance to the anchor")
field("uint32", "anchor", "Anchor's sequence")
field("uint8", "fix_count", "Fixes")
field("uint8", "fix", "Fix")
field("bytes", "coded", "Coded part")
-- identity, probe, acknowledgement, tombstone
field("uint64", "device_id", "Device id", base.HEX)
field("uint32", "log_id", "Log id")
field("uint32", "boot_count", "Boot count")
field("uint32", "oldest_sequence", "Oldest sequence")
field("uint32", "next_sequence", "Next sequence")
field("uint32", "paired_receiver", "Paired receiver")
field("uint8", "largest_frame", "Largest frame")
field("string", "firmware_version", "Firmware version")
field("uint16", "capabilities", "Capabilities", base.HEX)
field("bool", "capabilities.compass", "Compass", 16, {"yes", "no"}, 0x0001)
field("bool", "capabilities.sounder", "Sounder", 16, {"yes", "no"}, 0x0002)
field("bool", "capabilities.listens", "Listens before it talks", 16, {"yes", "no"}, 0x0004)
field("bool", "capabilities.messages", "Takes messages", 16, {"yes", "no"}, 0x0008)
field("uint16", "heartbeat", "Heartbeat")
field("uint32", "delivered_elsewhere", "Delivered elsewhere below")
field("uint24", "tag", "Tag", base.HEX)
field("uint32", "receiver_id", "Receiver id")
field("uint8", "answered_poll", "Answered poll")
field("uint32", "first_missing", "First missing")
field("uint8", "durable_count", "Durable ranges")
field("uint8", "resend_count", "Resend ranges")
field("uint8", "range_count", "Ranges that are gone")
for name, label in pairs {durable = "Durable", resend = "Resend", ranges = "Gone"} do
    field("string", name, label)
    field("uint32", name .. ".first", "First")
    field("uint32", name .. ".last", "Last")
end
-- sealed frames
field("uint8", "counter_low", "Counter, low 8 bits")
field("uint24", "counter_upper", "Counter, upper 24 bits")
field("uint32", "counter", "Counter")
field("bytes", "masked", "Log id, boot count and counter, masked")
field("uint8", "anchor_low", "Anchor's sequence, low 8 bits")
field("bytes", "salt", "Salt")
field("bytes", "ciphertext", "Ciphertext")
field("bytes", "authentication_tag", "Authentication tag")
-- status
flag_field("tracking", "Tracking")
field("uint8", "gnss", "GNSS", base.DEC, GNSS)
field("uint8", "throttle", "Sending is limited by", base.DEC, THROTTLES)
flag_field("stationary", "Stationary")
flag_field("clock", "Clock mapping")
flag_field("resting", "Resting: GNSS is off until the next search")
field("absolute_time", "since", "Tracking has this value since", base.UTC)
field("uint32", "since.unix_s", "Seconds since 1970")
field("uint16", "voltage", "Voltage")
field("int8", "temperature", "Temperature")
field("uint32", "uptime", "Uptime")
field("uint8", "last_error", "Last error", base.DEC, {[0] = "none", "GNSS receiver does not answer",
    "fault of the GNSS receiver or its antenna", "flash memory fails", "radio failed", "boot after too low a voltage",
    "boot after the firmware hung", "boot after a fault of the firmware", "settings were lost",
    "GNSS receiver works although its supply is off"})
field("uint32", "fixes_sent", "Fixes sent")
field("uint24", "queue_depth", "Queue depth")
field("uint24", "drops", "Drops")
field("uint24", "duplicates", "Duplicates")
field("uint24", "retransmissions", "Retransmissions")
field("uint32", "airtime", "Airtime")
field("absolute_time", "clock.time", "Clock: time", base.UTC)
field("int64", "clock.time.unix_ms", "Milliseconds since 1970")
field("uint16", "clock.uptime", "Clock: milliseconds of the uptime at it")
-- power report
field("uint8", "mode", "Mode", base.DEC, POWER.modes)
field("uint8", "supply", "Supply of the GNSS receiver", base.DEC, POWER.supplies)
field("uint24", "seconds_to_search", "Time to the next search")
field("uint8", "failures_in_row", "Searches without a position in a row")
field("double", "time_to_fix", "Last time to a position")
field("uint32", "gnss_seconds", "GNSS was on")
field("uint32", "listening_milliseconds", "The radio listened")
field("uint32", "awake_milliseconds", "The processor was awake")
field("uint24", "searches", "Searches")
field("uint24", "failures", "Searches without a position")
-- settings, commands, application messages
field("uint16", "request_id", "Request id")
field("uint64", "settings_version", "Version of the settings")
field("uint32", "settings_origin", "Origin of the settings", base.HEX)
field("uint8", "entry_count", "Entries")
field("string", "entry", "Entry")
field("uint8", "entry.key", "Key")
field("uint32", "entry.value", "Value")
field("uint8", "action", "Action", base.DEC, ACTIONS)
field("uint32", "argument", "Argument")
field("uint8", "outcome", "Outcome", base.DEC, OUTCOMES)
field("uint8", "kind", "Kind", base.DEC, KINDS)
field("uint8", "code", "Code")
field("uint32", "answered", "Answered request")
field("bytes", "data", "Data")
-- base radio
field("uint64", "radio_id", "Radio id", base.HEX)
field("uint8", "modulation", "Modulation", base.DEC, MODULATIONS)
field("uint16", "turnaround", "Turnaround")
field("uint32", "bit_rate", "Bit rate")
field("uint32", "frequency", "Frequency")
field("uint32", "bandwidth", "Bandwidth")
field("uint8", "spreading_factor", "Spreading factor")
field("uint8", "coding_rate", "Coding rate", base.DEC, CODING_RATES)
flag_field("explicit_header", "Explicit header")
flag_field("crc", "CRC of the modem")
flag_field("low_data_rate", "Low data rate optimisation")
field("uint16", "preamble", "Preamble")
field("int8", "power", "Power")
field("uint24", "packet_check", "Check of the packet", base.HEX)
field("framenum", "reported_packet", "The packet it is about")
field("int16", "strength", "Strength")
field("double", "signal_to_noise", "Signal to noise")
local S = {
    encoded = ProtoField.bytes("collarlink_serial.encoded", "Encoded frame"),
    began_in = ProtoField.framenum("collarlink_serial.began_in", "Began in packet"),
    carried = ProtoField.uint32("collarlink_serial.carried", "Bytes that go on in a later packet"),
}
serial.fields = S

-- Faults, by the names of section 21. The first fault of a frame is the one that is shown.
local X, XS = {}, {}

local function fault(where, prefix, name, label, group, severity)
    where[name] = ProtoExpert.new(prefix .. name, label, group, severity)
end

for name, label in pairs {
    too_short = "Fewer than 7 bytes: not a frame", too_long = "More than 253 bytes: not a frame",
    unsupported_version = "Another version", critical_flags = "A critical flag that is not known",
    unknown_type = "An unknown type", truncated = "The payload ends early",
    trailing_bytes = "Bytes behind the last field", nonzero_padding = "The padding is not zero",
    invalid_field = "Invalid field", sealed_malformed = "Sealed, but no key can open it",
} do
    fault(X, "collarlink.", name, label, expert.group.MALFORMED, expert.severity.WARN)
end
fault(X, "collarlink.", "check_failed", "The check fails: damaged", expert.group.CHECKSUM, expert.severity.ERROR)
fault(X, "collarlink.", "unknown_collar", "Of an unknown collar or log: cannot be checked", expert.group.UNDECODED,
    expert.severity.NOTE)
fault(X, "collarlink.", "anchor_needed", "Bound to its anchor: neither checked nor decoded further",
    expert.group.UNDECODED, expert.severity.CHAT)
fault(X, "collarlink.", "not_opened", "Sealed: neither verified nor decoded further", expert.group.UNDECODED,
    expert.severity.CHAT)
bare.experts = X
for name, label in pairs {
    stuffing = "A block reaches beyond the delimiter", too_short = "Fewer than 7 decoded bytes",
    too_long = "More than 254 bytes between two delimiters",
} do
    fault(XS, "collarlink_serial.", name, label, expert.group.MALFORMED, expert.severity.WARN)
end
serial.experts = XS

-- The check (section 3) ---------------------------------------------------------------------------------------------

-- Lua 5.2 has a library for it, later ones an operator that 5.2 could not even read.
local xor = bit32 and bit32.bxor or load("return function(a, b) return a ~ b end")()

local CRC_TABLE = {}
for byte = 0, 255 do
    local register = byte * 65536
    for _ = 1, 8 do
        register = register * 2
        if register >= 16777216 then register = xor(register - 16777216, 0x7B01BD) end
    end
    CRC_TABLE[byte] = register
end

local CRC_INITIAL = 0xB704CE

local function crc(register, data)
    for i = 1, #data do
        register = xor((register % 65536) * 256, CRC_TABLE[xor(floor(register / 65536), data:byte(i))])
    end
    return register
end

-- The check of a frame without its check, from the register behind step 1; `unsent` is what step 4 adds.
local function check_of(register, body, unsent)
    return 16777215 - crc(crc(crc(register, string.char((#body + CHECK) % 256)), body), unsent or "")
end

-- The number ending in these bits that is nearest to the reference, of two equally near ones the lower.
local function complete_sequence(low, bits, reference)
    local period = floor(2 ^ bits)
    local middle = reference - reference % period + low
    local best
    for _, candidate in ipairs {middle - period, middle, middle + period} do
        if candidate >= 0 and candidate <= 4294967295
            and (not best or math.abs(candidate - reference) < math.abs(best - reference)) then
            best = candidate
        end
    end
    return best
end

-- The low 16 bits of an absolute fix's sequence; nil where all of it is sent, or the frame ends before it.
local function short_sequence(body)
    if body:byte(1) % 32 ~= 2 or #body < HEADER + 3 then return nil end
    local first, second, third = body:byte(HEADER + 1, HEADER + 3)
    if second >= 128 then return nil end
    local high = first >= 128 and third or second * 2 + floor(third / 128)
    return high * 256 + body:byte(HEADER)
end

-- What a capture tells: logs, and what was known when each frame came -----------------------------------------------

local state -- of the capture; set by init below

local function binding_of(device, log_id)
    local bytes = {}
    for i = 4, 1, -1 do
        bytes[i] = string.char(log_id % 256)
        log_id = floor(log_id / 256)
    end
    return device .. table.concat(bytes)
end

-- The log of a device id (8 bytes); a log that is not known yet is added.
local function know_log(device, log_id)
    local binding = binding_of(device, log_id)
    for _, log in ipairs(state.logs) do
        if log.binding == binding then return log end
    end
    local log = {binding = binding, device = device, log_id = log_id, register = crc(CRC_INITIAL, binding),
        highest = 0,        -- the highest sequence that a bound frame told of
        first_missing = 0,  -- of the newest acknowledgement
        named = 0,          -- the newest sequence of the last identity
        live = 0}           -- the same, or that of a later probe, or of the live fixes after it: for these alone
    log.tag = 16777215 - log.register
    table.insert(state.logs, log)
    return log
end

local function know_log_of_preferences()
    local digits, log_id = bare.prefs.device_id:gsub("^0[xX]", ""), tonumber(bare.prefs.log_id)
    if not digits:match("^%x+$") or #digits ~= 16 or not log_id then return end
    if log_id < 0 or log_id >= 2 ^ 26 or log_id ~= floor(log_id) then return end
    local device = digits:gsub("%x%x", function(byte) return string.char(tonumber(byte, 16)) end)
    state.preferred = device
    know_log(device, log_id)
end

local function hear(log, address)
    state.last_at[address] = log
    state.users[address] = state.users[address] or {}
    state.users[address][log.device] = true
end

local function know_sequence(log, sequence)
    if log and sequence > log.highest and sequence <= MAX_SEQUENCE then log.highest = sequence end
end

-- A new capture, or other preferences.
function bare.init()
    state = {
        logs = {},     -- in the order in which they were heard of
        last_at = {},  -- by address: the log whose frame was received there last
        users = {},    -- by address: the collars that were heard there
        preferred = nil,  -- the collar of the preferences
        memos = {},    -- by frame: what was known when it came; a packet that is shown again needs the same
        checks = {},   -- by check: the packet that had it, for signal reports
    }
    know_log_of_preferences()
end

local function log_of_tag(tag)
    for _, log in ipairs(state.logs) do
        if log.tag == tag then return log end
    end
end

-- Around which of the sequences known of a log that of a frame is completed so that its check fits; nil for none.
local function reference_that_fits(log, body, check)
    local low = short_sequence(body)
    for _, reference in ipairs {log.highest, log.first_missing, log.named} do
        local upper = low and floor(complete_sequence(low, 16, reference) / 65536) or 0
        local unsent = upper > 0 and string.char(floor(upper / 256), upper % 256) or ""
        if check_of(log.register, body, unsent) == check then return reference end
        if not low then return nil end
    end
end

-- The log that a bound frame's check fits, of a collar that uses the address: the one heard last there is tried first. And around
-- which reference. The collar of the preferences may use any address.
local function log_that_fits(address, body, check)
    local last = state.last_at[address]
    local reference = last and reference_that_fits(last, body, check)
    if reference then return last, reference end
    local users = state.users[address] or {}
    for _, log in ipairs(state.logs) do
        reference = (users[log.device] or log.device == state.preferred) and reference_that_fits(log, body, check)
        if reference then return log, reference end
    end
end

-- Payloads ----------------------------------------------------------------------------------------------------------

-- Reads a payload from its most significant bit on and adds what it reads to the tree.
local Payload = {}
Payload.__index = Payload

local function new_payload(tvb, tree, frame)
    local range = tvb:len() > HEADER + CHECK and tvb(HEADER, tvb:len() - HEADER - CHECK) or nil
    return setmetatable({range = range, data = range and range:bytes():raw() or "", tree = tree, frame = frame,
        position = 0, first = 0}, Payload)
end

-- A fault ends the reading of a payload. It travels as a table, so that a mistake in this file is told from it.
local function reject(name, what)
    error({fault = name, what = what}, 0)
end

local function require_field(condition, what)
    if not condition then reject("invalid_field", what) end
end

function Payload:left()
    return 8 * #self.data - self.position
end

-- The next bits as a number, at most 48 of them. `first` stays at the first bit until the field is added.
function Payload:bits(count)
    if count > self:left() then reject("truncated") end
    local value = 0
    while count > 0 do
        local byte, offset = self.data:byte(floor(self.position / 8) + 1), self.position % 8
        local take = math.min(8 - offset, count)
        value = value * 2 ^ take + floor(byte / 2 ^ (8 - offset - take)) % 2 ^ take
        self.position, count = self.position + take, count - take
    end
    return floor(value)
end

function Payload:signed_bits(count)
    local value = self:bits(count)
    return value < 2 ^ (count - 1) and value or floor(value - 2 ^ count)
end

function Payload:gamma(what)
    local zeros = 0
    while self:bits(1) == 0 do
        zeros = zeros + 1
        require_field(zeros < 32, what)
    end
    return floor(2 ^ zeros) + self:bits(zeros)
end

-- The bytes that hold what was read since the last field was added.
function Payload:bytes_of_field()
    local first, last = floor(self.first / 8), floor((self.position - 1) / 8)
    self.first = self.position
    if not self.range or last < first then return nil end
    return self.range(first, last - first + 1)
end

-- Adds a value that was read; without one, the field takes it from the bytes.
function Payload:add(name, value, unit)
    local range, item = self:bytes_of_field()
    if not range then
        item = self.tree:add(F[name], value)
        item:set_generated()
    elseif value == nil then
        item = self.tree:add(F[name], range)
    else
        item = self.tree:add(F[name], range, value)
    end
    if unit then item:append_text(" " .. unit) end
    return item
end

-- Reads and adds. Returns the value and its item.
function Payload:uint(name, bits, unit)
    local value = self:bits(bits)
    return value, self:add(name, value, unit)
end

function Payload:signed(name, bits, unit)
    local value = self:signed_bits(bits)
    return value, self:add(name, value, unit)
end

function Payload:flag(name)
    local value = self:bits(1) == 1
    self:add(name, value)
    return value
end

-- A field of whole bytes at a byte's beginning, of any size.
function Payload:bytes(name, count)
    if 8 * count > self:left() then reject("truncated") end
    self.position = self.position + 8 * count
    return self:add(name)
end

-- A field that the sender does not know: said in words, and found by collarlink.unknown == "name".
function Payload:unknown(name)
    local range = self:bytes_of_field()
    local item = range and self.tree:add(F.unknown, range, name) or self.tree:add(F.unknown, name)
    local words = spaced(name)
    item:set_text(words:sub(1, 1):upper() .. words:sub(2) .. ": unknown")
    return item
end

-- A field one value of which means that it is unknown. Returns nil for that.
function Payload:known(name, value, unknown, unit)
    if value == unknown then
        self:unknown(name)
        return nil
    end
    self:add(name, value, unit)
    return value
end

function Payload:skip(bits)
    self:bits(bits)
    self.first = self.position
end

-- What follows the last field: nothing, or what a receiver ignores.
function Payload:finish(ignores_trailing)
    if ignores_trailing then
        local bytes = floor(self:left() / 8)
        self:skip(self:left() % 8)
        if bytes > 0 then self:bytes("ignored", bytes) end
        return
    end
    if self:bits(self:left() % 8) ~= 0 then reject("nonzero_padding") end
    if self:left() > 0 then reject("trailing_bytes", number("%d", self:left() / 8)) end
end

-- Adds a time in milliseconds, and the number itself below it.
function Payload:time(name, milliseconds)
    local seconds = floor(milliseconds / 1000)
    local item = self:add(name, NSTime.new(seconds, (milliseconds - 1000 * seconds) * 1000000))
    item:add(F[name .. ".unix_ms"], Int64.new(milliseconds))
end

-- Defines a type: one call, beside the code that reads it.
--   bound: the check is bound to the log. ignores_trailing: a receiver ignores what follows the last field.
--   read(payload): adds the fields, returns the words for the info column, and what `learn` wants to know.
--   learn(frame, told): takes over what a frame that is all right tells of its log.
--   anchored: the check needs the anchor as well.
local function message(number_of_type, name, definition)
    definition.name = name
    MESSAGES[number_of_type] = definition
    TYPE_NAMES[number_of_type] = name
end

-- Fixes (sections 5, 6, 11) -----------------------------------------------------------------------------------------

-- By position step: decimal places, bits of the latitude, of the longitude.
local POSITIONS = {[0] = {5, 25, 26}, {6, 28, 29}, {7, 31, 32}}
local ACCURACIES = {}
for code = 0, 126 do
    ACCURACIES[code] = (code < 10 and 10 * code or floor(100 * 1.09 ^ (code - 10) + 0.5)) / 1000
end

-- Adds a sequence of which only the low bits were sent. Where the log is unknown these are all there is.
local function add_short_sequence(payload, low, bits)
    local frame = payload.frame
    local sequence = complete_sequence(low, bits, frame.reference)
    require_field(sequence <= MAX_SEQUENCE, "sequence")
    local item = payload:add("sequence", sequence)
    if frame.log then
        item:append_text(number(frame.status == GOOD and " (low %d bits sent)" or " (low %d bits sent, not verified)", bits))
        return sequence, number("%d", sequence)
    end
    item:append_text(number(" (only its low %d bits: the log is unknown)", bits))
    return sequence, number("..%d", sequence)
end

local function read_sequence(payload, wide)
    if not wide then return add_short_sequence(payload, payload:bits(8) * 256 + payload.frame.low_byte, 16) end
    local sequence = payload:bits(24) * 256 + payload.frame.low_byte
    require_field(sequence <= MAX_SEQUENCE, "sequence")
    payload:add("sequence", sequence)
    return sequence, number("%d", sequence)
end

local function read_fix_time(payload, form)
    if form == 3 then return payload:signed_bits(48) end
    local time = 1000 * payload:bits(32)
    if form == 1 then
        local tenths = payload:bits(4)
        require_field(tenths <= 9, "time")
        time = time + 100 * tenths
    elseif form == 2 then
        local milliseconds = payload:bits(10)
        require_field(milliseconds <= 999, "time")
        time = time + milliseconds
    end
    return time
end

local function add_coordinate(payload, name, code, places)
    local text = number("%." .. places .. "f", code / 10 ^ places)
    local item = payload:add(name, code / 10 ^ places)
    item:set_text(number("%s: %s degrees", name == "latitude" and "Latitude" or "Longitude", text))
    item:add(F[name .. ".code"], code)
    return text
end

local function read_coordinate(payload, name, degrees, places, bits)
    local unit = floor(10 ^ places)
    local code = payload:bits(bits) - degrees * unit
    require_field(code <= degrees * unit, name)
    return code, add_coordinate(payload, name, code, places)
end

local function add_accuracy(payload, name, code)
    local metres = ACCURACIES[code]
    local item = payload:add(name, metres, "m")
    if code == 126 then item:append_text(" or more") end
    item:add(F[name .. ".code"], code)
    return number(metres >= 10 and "%.0f m" or metres >= 1 and "%.1f m" or "%.2f m", metres)
end

local function add_direction(payload, name, code)
    payload:add(name, 2 * code, "degrees"):add(F[name .. ".code"], code)
end

-- Reads a code of `count` bits, up to the largest that is valid.
local function code_reader(bits, largest)
    return function(payload, name)
        local code = payload:bits(bits)
        require_field(code <= largest, name)
        return code
    end
end

-- The fields that may be unknown, in the order of the mask and of the payload: how a code is read, its limits, and how
-- it is added. What that returns is for the info.
local OPTIONAL = {
    {name = "altitude", lowest = -8388608, highest = 8388607, read = function(payload)
        local code = payload:bits(14)
        return code == 16383 and payload:signed_bits(24) or code - 1000
    end, add = function(payload, _, code, altitude_step)
        payload:add("altitude", altitude_step == 1 and code / 10 or code, "m"):add(F["altitude.code"], code)
    end},
    {name = "horizontal_accuracy", lowest = 0, highest = 126, read = code_reader(7, 126), add = add_accuracy},
    {name = "vertical_accuracy", lowest = 0, highest = 126, read = code_reader(7, 126),
        add = function(...) add_accuracy(...) end},
    {name = "speed", lowest = 0, highest = 1048575, read = function(payload)
        local code = payload:bits(9)
        return code == 511 and payload:bits(20) or code
    end, add = function(payload, _, code)
        payload:add("speed", code / 10, "m/s"):add(F["speed.code"], code)
    end},
    {name = "course", lowest = 0, highest = 179, read = code_reader(8, 179), add = add_direction},
    {name = "heading", lowest = 0, highest = 179, read = code_reader(8, 179), add = add_direction},
    {name = "battery", lowest = 0, highest = 100, read = code_reader(7, 100), add = function(payload, _, code)
        payload:add("battery", code, "%")
        return number("%d %%", code)
    end},
}

local function add_unknown(payload, name)
    payload:unknown(name):set_generated()
end

-- The fields from partial to source. Returns partial, the time form, and a fix with the others.
local function read_head(payload)
    local partial = payload:flag("partial")
    local form = payload:uint("time_form", 2)
    local fix = {position_step = payload:uint("position_step", 2)}
    require_field(fix.position_step < 3, "position_step")
    fix.altitude_step = payload:uint("altitude_step", 1)
    fix.source = payload:uint("source", 2)
    require_field(fix.source < 3, "source")
    return partial, form, fix
end

-- The fields from time to battery, into the fix. Returns the words for the info column.
local function read_body(payload, fix, form, mask)
    fix.time = read_fix_time(payload, form)
    payload:time("time", fix.time)
    local places, latitude_bits, longitude_bits = table.unpack(POSITIONS[fix.position_step])
    local words = {}
    fix.latitude, words[1] = read_coordinate(payload, "latitude", 90, places, latitude_bits)
    fix.longitude, words[2] = read_coordinate(payload, "longitude", 180, places, longitude_bits)
    for index, optional in ipairs(OPTIONAL) do
        local name = optional.name
        if floor(mask / 2 ^ (7 - index)) % 2 == 1 then
            fix[name] = optional.read(payload, name)
            words[#words + 1] = optional.add(payload, name, fix[name], fix.altitude_step)
        else
            add_unknown(payload, name)
        end
    end
    return words
end

message(2, "Absolute fix", {
    bound = true,
    read = function(payload)
        local partial, form, fix = read_head(payload)
        local wide = payload:flag("wide")
        local mask = partial and payload:uint("mask", 7) or 127
        local sequence, name = read_sequence(payload, wide)
        local words = read_body(payload, fix, form, mask)
        return table.concat({"fix", name, table.unpack(words)}, " "), sequence
    end,
    learn = function(frame, sequence) know_sequence(frame.log, sequence) end,
})

-- The distance of a live fix: a gamma code of uniform values of 2, each half of the range that is left.
local function read_live_distance(data)
    local range, code, position = 4294967295, 0, 0
    local function next_byte()
        position = position + 1
        return data:byte(position) or 0
    end
    for _ = 1, 4 do code = code * 256 + next_byte() end
    local function bit()
        range = floor(range / 2)
        local value = math.min(floor(code / range), 1)
        code = code - value * range
        while range < 16777216 do
            range = range * 256
            code = (code * 256 + next_byte()) % 4294967296
        end
        return value
    end
    local zeros, distance = 0, 1
    while bit() == 0 do
        zeros = zeros + 1
        require_field(zeros <= 30, "distance")
    end
    for _ = 1, zeros do distance = 2 * distance + bit() end
    return distance
end

message(3, "Live fix", {
    bound = true,
    anchored = true,
    read = function(payload)
        local sequence, name = add_short_sequence(payload, payload.frame.low_byte, 8)
        local distance = read_live_distance(payload.data)
        payload:add("distance", distance)
        -- Where the log is unknown the sequence is, and with it the anchor's.
        if payload.frame.log then
            require_field(distance <= sequence, "anchor")
            payload:add("anchor", sequence - distance)
        end
        if #payload.data > 0 then payload:bytes("payload", #payload.data) end
        return number("live fix %s, %d behind its anchor", name, distance), sequence
    end,
    -- Nothing vouches for the sequence; but where acknowledgements are not captured, only live fixes tell that the
    -- log grows. So the next ones count, and a damaged one leads astray at most by a burst.
    learn = function(frame, sequence)
        local log = frame.log
        if log and sequence - frame.reference <= 16 then log.live = math.max(log.live, sequence) end
    end,
})

-- Batch (section 12) ------------------------------------------------------------------------------------------------

-- What the contexts begin with: the probability of 0, and in its lower 5 bits how often it was adapted.
local WORDS = {
    224, 32768, 32768, 32768, 32768, 65379, 50912, 48384, 51488, 51488, 51488, 31712, 51488, 51488, 1280, 18868,
    39828, 57216, 32768, 32768, 57216, 32768, 32768, 32768, 48020, 22996, 43316, 59392, 32768, 32768, 59392, 32768,
    32768, 32768, 6452, 2528, 63008, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 34656, 41824, 62881, 65024,
    12672, 5216, 12386, 9954, 31714, 31715, 19956, 22260, 23732, 37268, 4288, 43764, 15552, 44916, 41844, 41844,
    41364, 38068, 46708, 64896, 7748, 17152, 61668, 43764, 46272, 32768, 35138, 62278, 26228, 39818, 32768, 32768,
    59104, 53684, 3124, 7764, 22260, 31732, 60480, 32768, 62022, 33044, 3540, 6612, 11412, 24212, 63200, 32768, 11108,
    30420, 61680, 49012, 34676, 33024, 40576, 17160, 36456, 55594, 47362, 45620, 39808, 36448, 19266, 36451, 37252,
    41348, 39810, 47380, 53162, 59124, 9332, 22992, 35988, 40596, 49012, 35988, 40596, 43316, 44464, 43764, 12387,
    35142, 64116, 53172, 35136, 33024, 35136, 32768, 32768, 32768, 18182, 33044, 61392, 59700, 40576, 32512, 29568,
    33824, 31712, 33824, 28308, 32532, 58952, 60500, 49984, 35968, 32768, 32768, 32768, 32768, 30892, 34676, 55972,
    58964, 50918, 39808, 32768, 32768, 32768, 32768, 30408, 33844, 48396, 55604, 57574, 43296, 32768, 32768, 32768,
    32768, 32515, 33040, 39818, 49396, 55988, 39808, 41824, 33024, 32768, 32768, 36450, 34676, 32522, 40596, 46292,
    52866, 48384, 30880, 30400, 35136, 55988, 33844, 17164, 30900, 44468, 51508, 43744, 30400, 34656, 33024, 61684,
    32532, 7752, 12678, 16166, 21798, 27494, 30882, 29571, 37268, 7750, 29091, 55137, 59700, 51828, 35968, 32768,
    32768, 9955, 30402, 49382, 53665, 48992, 35968, 32512, 32532, 15554, 30882, 35144, 33824, 18848, 20660, 30400,
    38548, 41350, 38529, 35156, 48992, 44896, 30880, 35968, 33024, 58116, 33044, 10659, 15554, 11124, 18868, 30420,
    42580, 14049, 28300, 27489, 30402, 46689, 49396, 12384, 33844, 26216, 43754, 44897, 26208, 17152, 36468, 22976,
    35156, 17160, 29092, 39811, 35976, 37268, 37268, 788, 2464, 63072, 32768, 32768, 32768, 28308, 4163, 61379, 24192,
    24192, 23732, 61060, 2484, 19936, 62548, 11872, 19284, 61856, 3892, 3680, 22979, 59860, 21108, 60832, 20660, 5697,
    3875, 6164, 30420, 32768, 49152,
}
local SHAPE, SAME, BACKWARD, STEP = 5, 44, 47, 310

-- Where the contexts of an integer stand. (The depth of a batch's blocks is 0 or 1.)
local function block(first, exponents, depth, signed)
    local head = signed and 2 or 1
    return {first = first, head = head, e = exponents, d = depth, size = head + (1 + depth) * exponents}
end

local GAP, REST, MINUTES, SECONDS = block(0, 4, 0), block(14, 4, 1, true), block(48, 9, 1), block(67, 6, 1)
local SECOND_REST, SPEED_CHANGE, SPEED = block(80, 6, 0, true), block(96, 5, 0, true), block(117, 5, 1)
local POSITION, ALTITUDE, ACCURACY = block(128, 8, 0, true), block(218, 6, 0, true), block(258, 4, 0, true)
local ANGLE, BATTERY = block(264, 6, 0, true), block(280, 4, 0, true)

-- Reads the number of the range coder that begins at a bit; behind the end there are zeros.
local Coded = {}
Coded.__index = Coded

local function new_coded(data, position)
    local self = setmetatable({data = data, position = position, range = 4294967295, code = 0, p = {}, n = {}}, Coded)
    for index, word in ipairs(WORDS) do
        self.p[index - 1], self.n[index - 1] = word - word % 32, word % 32
    end
    for _ = 1, 4 do self:shift() end
    return self
end

function Coded:shift()
    local index, offset = floor(self.position / 8) + 1, self.position % 8
    local two = (self.data:byte(index) or 0) * 256 + (self.data:byte(index + 1) or 0)
    self.code = (self.code * 256 + floor(two / 2 ^ (8 - offset)) % 256) % 4294967296
    self.position = self.position + 8
end

-- What is left of the range lies above what was taken off.
function Coded:narrow(below, range)
    self.code, self.range = self.code - below, range
    while self.range < 16777216 do
        self.range = self.range * 256
        self:shift()
    end
end

function Coded:decision(context)
    local p, n = self.p[context], self.n[context]
    local bound, rate = floor(self.range / 65536) * p, floor(131072 / (2 * n + 3))
    self.n[context] = math.min(n + 1, 30)
    if self.code < bound then
        self.p[context] = p + floor((65536 - p) * rate / 65536)
        self:narrow(0, bound)
        return 0
    end
    self.p[context] = p - floor(p * rate / 65536)
    self:narrow(bound, self.range - bound)
    return 1
end

function Coded:uniform(count)
    local part = floor(self.range / count)
    local value = math.min(floor(self.code / part), count - 1)
    self:narrow(value * part, part)
    return value
end

function Coded:integer(of, instance)
    local start = of.first + (instance or 0) * of.size
    if self:decision(start) == 1 then return 0 end
    local sign = of.head == 2 and self:decision(start + 1) == 1 and -1 or 1
    local exponents, exponent, magnitude = start + of.head, 0, 1
    while exponent < 48 and self:decision(exponents + math.min(exponent, of.e - 1)) == 1 do exponent = exponent + 1 end
    for place = 1, exponent do
        local context = place <= of.d and exponents + of.e + math.min(exponent, of.e) - 1
        magnitude = 2 * magnitude + (context and self:decision(context) or self:uniform(2))
    end
    return sign * magnitude
end

local function rest_of(time)
    return (time + 500) % 1000 - 500
end

-- The class of a size in parts, at most the highest instance there is.
local function class_of(size, parts, highest)
    local head, doubled = floor(size / parts), 0
    while head >= 4 do head, doubled = floor(head / 2), doubled + 2 end
    return math.min(highest, head + doubled)
end

local function limited(difference)
    return 16 * math.min(math.abs(difference), 4095)
end

local function grow(memory, name, difference)
    memory.size[name] = floor((memory.size[name] + limited(difference)) / 2)
    return difference
end

local function within(value, lowest, highest)
    require_field(value >= lowest and value <= highest, "difference")
    return value
end

-- Another position step: what is remembered in steps is converted.
local function change_step(memory, step)
    local size, ratio = memory.size, 10 ^ (step - memory.step)
    size.latitude, size.longitude = floor(size.latitude * ratio + 1e-9), floor(size.longitude * ratio + 1e-9)
    memory.step = step
    if step <= memory.finest then return end
    ratio = floor(10 ^ (step - memory.finest))
    memory.finest = step
    for name, place in pairs(memory.place) do memory.place[name] = place * ratio end
    for name, velocity in pairs(memory.velocity) do
        memory.velocity[name] = math.max(-67108864, math.min(67108864, velocity * ratio))
    end
end

-- The source, the position step and which fields are known change only where the shape says so.
local function decode_shape(coded, memory, fix)
    if coded:decision(SHAPE) == 0 then return end
    if coded:decision(SHAPE + 1) == 1 then
        if coded:decision(STEP) == 1 then
            local lower, higher = fix.position_step == 0 and 1 or 0, fix.position_step == 2 and 1 or 2
            fix.position_step = coded:decision(STEP + 1) == 1 and higher or lower
            change_step(memory, fix.position_step)
        else
            fix.source = coded:uniform(4)
        end
    end
    require_field(fix.source < 3, "source")
    for index, optional in ipairs(OPTIONAL) do
        if coded:decision(SHAPE + 1 + index) == 1 then memory.known[optional.name] = not memory.known[optional.name] end
    end
end

local function decode_interval(coded)
    local backward = coded:decision(BACKWARD) == 1
    local minutes = coded:integer(MINUTES)
    local seconds = minutes == 0 and coded:integer(SECONDS)
        or 60 * minutes + coded:integer(SECOND_REST, minutes <= 4 and 0 or 1)
    within(seconds, 0, 2 ^ 40)
    return backward and -seconds or seconds
end

local function decode_time(coded, memory)
    local before = memory.before.time
    local rest = rest_of(before)
    local kind, origin = rest == 0 and 0 or 1, before - rest
    if memory.rest_step ~= 0 or math.abs(rest) > 8 then kind, origin = 2, before + memory.rest_step end
    rest = within(coded:integer(REST, kind), -500, 499)
    local same = coded:decision(SAME + memory.history) == 0
    if not same then memory.interval = decode_interval(coded) end
    local time = floor(within(origin + rest + 1000 * memory.interval, -2 ^ 47, 2 ^ 47 - 1))
    local step = rest_of(time - before)
    memory.rest_step = math.abs(step) > 8 and step or 0
    memory.near = memory.interval >= 0 and memory.interval <= 20
    if memory.history == 0 and not memory.near then memory.size.latitude, memory.size.longitude = 1000, 1000 end
    memory.history = same and 2 or 1
    return time
end

-- A longitude, a turn of which is 2 * half, brought to -half to half.
local function wrapped(longitude, half)
    if longitude > half then return longitude - 2 * half end
    return longitude < -half and longitude + 2 * half or longitude
end

-- A number divided by 1, 10 or 100 and rounded to the nearest, halves away from zero.
local function divided(number_of_steps, ratio)
    local magnitude = floor((2 * math.abs(number_of_steps) + ratio) / (2 * ratio))
    return number_of_steps < 0 and -magnitude or magnitude
end

-- A coordinate. Returns the difference that was coded, and the velocity from now on.
local function decode_coordinate(coded, memory, fix, name, degrees, size)
    local before, interval, velocity = memory.place[name], memory.interval, memory.velocity[name]
    local place = before + (velocity and memory.near and floor((velocity * interval + 32) / 64) or 0)
    local ratio = floor(10 ^ (memory.finest - memory.step))
    local expected = divided(place, ratio)
    local difference = coded:integer(POSITION, class_of(size, 16, 8))
    local limit = floor(degrees * 10 ^ POSITIONS[fix.position_step][1])
    local reached = expected + difference
    local half = floor(ratio / 2)
    place = math.max(reached * ratio - half, math.min(reached * ratio + half, place))
    local moved = math.max(-1048576, math.min(1048576, place - before))
    if degrees == 180 then reached, place = wrapped(reached, limit), wrapped(place, limit * ratio) end
    fix[name], memory.place[name] = within(reached, -limit, limit), place
    if interval < 1 or interval > 20 then return difference, nil end
    local now = (moved < 0 and -1 or 1) * floor(64 * math.abs(moved) / interval)
    return difference, velocity and velocity + floor(3 * (now - velocity) / 8) or now
end

local function decode_position(coded, memory, fix)
    local size, velocity, north, east = memory.size, memory.velocity, nil, nil
    north, velocity.latitude = decode_coordinate(coded, memory, fix, "latitude", 90,
        3 * size.latitude + size.longitude)
    east, velocity.longitude = decode_coordinate(coded, memory, fix, "longitude", 180,
        2 * size.longitude + size.latitude + limited(north))
    grow(memory, "latitude", north)
    grow(memory, "longitude", east)
end

-- What the code of a field becomes, before its limits are looked at.
local function decode_code(coded, memory, name)
    local last, size, interval = memory.last[name], memory.size[name], memory.interval
    if name == "altitude" then return last + grow(memory, name, coded:integer(ALTITUDE, class_of(size, 8, 4))) end
    if name == "battery" then
        local instance = interval > 3000 and 4 or interval > 1000 and 3 or interval > 250 and 2 or interval > 20 and 1
        return last + coded:integer(BATTERY, instance or 0)
    end
    if name == "speed" then
        if not memory.near then return coded:integer(SPEED) end
        return last + grow(memory, name, coded:integer(SPEED_CHANGE, class_of(size, 8, 2)))
    end
    if not size then return last + coded:integer(ACCURACY) end
    if not memory.near then return coded:uniform(180) end
    return (last + grow(memory, name, coded:integer(ANGLE, size >= 32 and 1 or 0))) % 180
end

local function decode_field(coded, memory, fix, optional)
    if not memory.known[optional.name] then return end
    local code = within(decode_code(coded, memory, optional.name), optional.lowest, optional.highest)
    fix[optional.name], memory.last[optional.name] = code, code
end

local function decode_fix(coded, memory)
    local before = memory.before
    local fix = {sequence = before.sequence + 1 + coded:integer(GAP), source = before.source,
        position_step = before.position_step, altitude_step = before.altitude_step}
    require_field(fix.sequence <= MAX_SEQUENCE, "sequence")
    decode_shape(coded, memory, fix)
    fix.time = decode_time(coded, memory)
    -- The speed stands before the position, the other fields behind it.
    decode_field(coded, memory, fix, OPTIONAL[4])
    decode_position(coded, memory, fix)
    for index, optional in ipairs(OPTIONAL) do
        if index ~= 4 then decode_field(coded, memory, fix, optional) end
    end
    memory.before = fix
    return fix
end

-- What is remembered from fix to fix.
local function new_memory(start)
    local memory = {before = start, last = {}, known = {}, rest_step = 0, interval = 1, history = 0, velocity = {},
        step = start.position_step, finest = start.position_step,
        place = {latitude = start.latitude, longitude = start.longitude},
        size = {latitude = 32, longitude = 32, altitude = 16, speed = 32, course = 64, heading = 64}}
    for _, optional in ipairs(OPTIONAL) do
        local code = start[optional.name]
        memory.last[optional.name], memory.known[optional.name] = code or 0, code ~= nil
    end
    return memory
end

-- A coded fix has no bytes of its own.
local function add_coded_fix(item, fix)
    local part = setmetatable({data = "", tree = item, position = 0, first = 0}, Payload)
    for _, name in ipairs {"sequence", "source", "position_step", "altitude_step"} do part:add(name, fix[name]) end
    part:time("time", fix.time)
    local places = POSITIONS[fix.position_step][1]
    add_coordinate(part, "latitude", fix.latitude, places)
    add_coordinate(part, "longitude", fix.longitude, places)
    for _, optional in ipairs(OPTIONAL) do
        local name = optional.name
        if fix[name] then
            optional.add(part, name, fix[name], fix.altitude_step)
        else
            add_unknown(part, name)
        end
    end
    item:append_text(number(", sequence %d", fix.sequence))
    item:set_generated()
end

local function read_start(payload, item)
    local tree = payload.tree
    payload.tree = item
    local partial, form, fix = read_head(payload)
    local mask = partial and payload:uint("mask", 7) or 127
    fix.sequence = read_sequence(payload, true)
    read_body(payload, fix, form, mask)
    item:append_text(number(", sequence %d", fix.sequence))
    payload.tree = tree
    return fix
end

message(4, "Batch", {
    bound = true,
    ignores_trailing = true,
    read = function(payload)
        local count = payload:bits(6) + 1
        payload:add("fix_count", count)
        local start = read_start(payload, payload.tree:add(F.fix, 1))
        local coded, memory = new_coded(payload.data, payload.position), new_memory(start)
        if count > 1 and payload:left() > 0 then
            payload.position = 8 * #payload.data
            payload:add("coded")
        end
        for index = 2, count do
            local fix = decode_fix(coded, memory)
            add_coded_fix(payload.tree:add(F.fix, index), fix)
        end
        local last = memory.before.sequence
        return number("batch of %d fixes, %d to %d", count, start.sequence, last), last
    end,
    learn = function(frame, sequence) know_sequence(frame.log, sequence) end,
})

-- Identity, probe, identity request (sections 7, 8) -----------------------------------------------------------------

local function read_largest_frame(payload)
    local largest = payload:uint("largest_frame", 8, "bytes")
    require_field(largest >= 51 and largest <= 253, "largest_frame")
end

local function read_firmware_version(payload)
    payload:add("firmware_version", number("%d.%d.%d", payload:bits(8), payload:bits(8), payload:bits(8)))
end

local function hex(data)
    return (data:gsub(".", function(byte) return number("%02x", byte:byte()) end))
end

local function uint64(data)
    local halves = {0, 0}
    for i = 1, 8 do
        local half = i <= 4 and 1 or 2
        halves[half] = halves[half] * 256 + data:byte(i)
    end
    return UInt64.new(halves[2], halves[1])
end

-- Left out, above the next sequence, or 0: there is none.
local function read_delivered_elsewhere(payload, next_sequence)
    if payload:left() < 32 then return end
    local start = payload.position
    local value = payload:bits(32)
    if value <= next_sequence then
        local item = payload:add("delivered_elsewhere", value)
        if value == 0 then item:append_text(" (none)") end
    else
        payload.position = start -- ignored, as what follows is
    end
end

message(1, "Identity", {
    ignores_trailing = true,
    read = function(payload)
        payload:bytes("device_id", 8)
        local device = payload.data:sub(1, 8)
        local log_id = payload:uint("log_id", 26)
        payload:skip(6)
        local boots = payload:uint("boot_count", 32)
        local oldest = payload:uint("oldest_sequence", 32)
        local next_sequence, item = payload:uint("next_sequence", 32)
        if next_sequence > MAX_SEQUENCE then item:append_text(" (the log is full)") end
        require_field(oldest <= next_sequence, "oldest_sequence")
        local paired, receiver = payload:uint("paired_receiver", 32)
        if paired == 0 then receiver:append_text(" (not paired)") end
        read_largest_frame(payload)
        read_firmware_version(payload)
        local _, capabilities = payload:uint("capabilities", 16)
        local bytes = payload.range(floor(payload.position / 8) - 2, 2)
        for _, name in ipairs {"compass", "sounder", "listens", "messages"} do
            capabilities:add(F["capabilities." .. name], bytes)
        end
        payload:uint("heartbeat", 16, "s")
        read_delivered_elsewhere(payload, next_sequence)
        return number("identity %s log %d, boot %d, next sequence %d", hex(device), log_id, boots, next_sequence),
            {device = device, log_id = log_id, next_sequence = next_sequence}
    end,
    learn = function(frame, told)
        local log = know_log(told.device, told.log_id)
        hear(log, frame.address)
        log.named = math.max(told.next_sequence, 1) - 1
        log.live = log.named
    end,
})

message(5, "Probe", {
    read = function(payload)
        local tag, item = payload:uint("tag", 24)
        local log = payload.frame.log
        if log then
            item:append_text(number(" (device %s, log %d)", hex(log.device), log.log_id))
        else
            item:append_text(" (of no known log)")
            payload.frame.unknown_tag = true
        end
        local next_sequence = payload:uint("next_sequence", 32)
        return number("probe, next sequence %d", next_sequence), next_sequence
    end,
    find_log = function(data)
        if #data < 3 then return nil end
        local first, second, third = data:byte(1, 3)
        return log_of_tag(first * 65536 + second * 256 + third)
    end,
    learn = function(frame, next_sequence)
        if frame.log then frame.log.live = math.max(next_sequence, 1) - 1 end
    end,
})

local function read_receiver_id(payload)
    local receiver = payload:uint("receiver_id", 32)
    require_field(receiver ~= 0, "receiver_id")
    return receiver
end

message(17, "Identity request", {
    read = function(payload)
        return number("identity request of receiver %d", read_receiver_id(payload))
    end,
})

-- Acknowledgement and tombstone (sections 9, 10) --------------------------------------------------------------------

local function add_range(payload, name, first, last)
    local text = first == last and number("%d", first) or number("%d to %d", first, last)
    local item = payload:add(name, text)
    item:add(F[name .. ".first"], first)
    item:add(F[name .. ".last"], last)
    return text
end

-- Newest first. Returns the newest durable sequence, nil without ranges.
local function read_durable(payload, count, first_missing)
    local newest, before
    for _ = 1, count do
        local distance = payload:gamma("durable")
        local last = before and before - 1 - distance or first_missing + distance
        require_field(last <= MAX_SEQUENCE, "durable")
        local first = last - payload:gamma("durable") + 1
        require_field(first > first_missing, "durable")
        add_range(payload, "durable", first, last)
        newest, before = newest or last, first
    end
    return newest
end

-- The info column has room for a few ranges.
local function few(texts)
    if #texts <= 3 then return table.concat(texts, ", ") end
    return number("%s and %d more ranges", table.concat(texts, ", ", 1, 3), #texts - 3)
end

-- Oldest first. Returns the text of each range and the newest sequence.
local function read_ascending(payload, count, name)
    local texts, last = {}, nil
    for _ = 1, count do
        local first = last and last + 1 + payload:gamma(name) or payload:bits(32)
        require_field(first <= MAX_SEQUENCE, name)
        last = first + payload:gamma(name) - 1
        require_field(last <= MAX_SEQUENCE, name)
        table.insert(texts, add_range(payload, name, first, last))
    end
    return texts, last
end

message(16, "Acknowledgement", {
    bound = true,
    read = function(payload)
        require_field(payload.frame.low_byte <= 7, "poll_number")
        read_receiver_id(payload)
        local first_missing, item = payload:uint("first_missing", 32)
        if first_missing > MAX_SEQUENCE then item:append_text(" (nothing is missing of a full log)") end
        local durable = payload:uint("durable_count", 6)
        require_field(durable <= MOST_RANGES, "durable")
        local resend = payload:uint("resend_count", 6)
        require_field(resend <= MOST_RANGES, "resend")
        local newest = read_durable(payload, durable, first_missing)
        local again = read_ascending(payload, resend, "resend")
        local words = {number("acknowledgement below %d", first_missing)}
        if durable > 0 then
            table.insert(words, number("%d durable range%s to %d", durable, durable > 1 and "s" or "", newest))
        end
        if resend > 0 then table.insert(words, "resend " .. few(again)) end
        local company = floor(payload.frame.flags / 8) % 4 -- bits 4 and 3
        if company > 0 then table.insert(words, COMPANIES[company]) end
        return table.concat(words, ", "), {newest = newest or first_missing - 1, first_missing = first_missing}
    end,
    -- What the host has, the collar has sent, whether or not this capture saw it.
    learn = function(frame, told)
        know_sequence(frame.log, told.newest)
        frame.log.first_missing = told.first_missing
    end,
})

message(TOMBSTONE, "Tombstone", {
    bound = true,
    read = function(payload)
        local count = payload:uint("range_count", 6)
        require_field(count >= 1 and count <= MOST_RANGES, "ranges")
        local texts, newest = read_ascending(payload, count, "ranges")
        local elsewhere = floor(payload.frame.flags / DELIVERED_ELSEWHERE) % 2 == 1
        return "tombstone " .. few(texts) .. (elsewhere and ", delivered elsewhere" or ""), newest
    end,
    learn = function(frame, newest) know_sequence(frame.log, newest) end,
})

-- Status and power report (section 13) ------------------------------------------------------------------------------

-- A block of its own: Lua has at most 200 local names in one.
do
    local COUNTERS = {{"uptime", 32, "s"}, {"last_error", 8}, {"fixes_sent", 32}, {"queue_depth", 24}, {"drops", 24},
        {"duplicates", 24}, {"retransmissions", 24}, {"airtime", 32, "ms"}}

    local function read_since(payload)
        local since = payload:bits(32)
        if since == 0 then return payload:unknown("since") end
        payload:add("since", NSTime.new(since, 0)):add(F["since.unix_s"], since)
    end

    message(6, "Status", {
        bound = true,
        ignores_trailing = true,
        read = function(payload)
            local tracking = payload:flag("tracking")
            local gnss = payload:uint("gnss", 2)
            payload:uint("throttle", 2)
            payload:flag("stationary")
            local clock = payload:flag("clock")
            local resting = payload:flag("resting")
            read_since(payload)
            local percent = payload:bits(7)
            require_field(percent <= 100 or percent == 127, "battery")
            local battery = payload:known("battery", percent, 127, "%")
            payload:known("voltage", payload:bits(13), 8191, "mV")
            payload:known("temperature", payload:signed_bits(8), -128, "degrees Celsius")
            for _, counter in ipairs(COUNTERS) do
                local value, item = payload:uint(table.unpack(counter))
                if counter[1] == "queue_depth" and value == 16777215 then item:append_text(" or more") end
            end
            if clock then
                payload:time("clock.time", payload:signed_bits(48))
                local milliseconds = payload:uint("clock.uptime", 10, "ms")
                require_field(milliseconds < 1000, "uptime")
            end
            return number("status, tracking %s, GNSS %s%s%s", tracking and "on" or "off", GNSS[gnss], resting and ", resting" or "",
                battery and number(", %d %%", battery) or "")
        end,
    })

    message(15, "Power report", {
        bound = true,
        ignores_trailing = true,
        read = function(payload)
            local mode = payload:uint("mode", 4)
            require_field(POWER.modes[mode], "mode")
            local supply = payload:uint("supply", 3)
            require_field(POWER.supplies[supply], "supply")
            payload:skip(1)
            payload:uint("uptime", 32, "s")
            payload:known("seconds_to_search", payload:bits(24), 16777215, "s")
            local in_row, item = payload:uint("failures_in_row", 8)
            if in_row == 255 then item:append_text(" or more") end
            local tenths = payload:bits(16)
            payload:known("time_to_fix", tenths == 65535 and tenths or tenths / 10, 65535, tenths == 65534 and "s or more" or "s")
            payload:uint("gnss_seconds", 32, "s")
            payload:uint("listening_milliseconds", 32, "ms")
            payload:uint("awake_milliseconds", 32, "ms")
            local searches = payload:uint("searches", 24)
            local failures = payload:uint("failures", 24)
            return number("power report, %s, GNSS %s, %d of %d searches without a position", POWER.modes[mode],
                POWER.supplies[supply], failures, searches)
        end,
    })
end

-- Settings, commands, application messages (sections 14 to 16) ------------------------------------------------------

local function add_entry(payload, key, value)
    local setting = SETTINGS[key] or {"unknown key " .. number("%d", key)}
    local text = number("%s: %d%s", setting[1], value, setting[2] and " " .. setting[2] or "")
    local item = payload:add("entry", text)
    item:add(F["entry.key"], key)
    item:add(F["entry.value"], value)
end

local function settings_reader(words)
    return function(payload)
        local request = payload:uint("request_id", 16)
        local version = payload:bits(44)
        payload:add("settings_version", UInt64(floor(version % 2 ^ 32), floor(version / 2 ^ 32)))
        payload:uint("settings_origin", 20)
        local count = payload:uint("entry_count", 8)
        require_field(count <= MOST_ENTRIES, "entry_count")
        for _ = 1, count do add_entry(payload, payload:bits(8), payload:bits(32)) end
        return number("%s %d, version %d, %d entries", words, request, version, count)
    end
end

message(7, "Settings report", {bound = true, read = settings_reader("settings report")})
message(19, "Settings update", {bound = true, read = settings_reader("settings update")})
message(18, "Settings request", {
    bound = true,
    read = function(payload) return number("settings request %d", payload:uint("request_id", 16)) end,
})

-- By action: reads the argument.
local ARGUMENTS = {
    [4] = function(payload) payload:uint("argument", 16, "ms") end,
    [6] = function(payload)
        local receiver, item = payload:uint("argument", 32)
        item:append_text(" (receiver id)")
        require_field(receiver ~= 0, "receiver_id")
    end,
    [8] = function(payload) payload:uint("argument", 16, "s") end,
}

message(20, "Command", {
    bound = true,
    read = function(payload)
        local request = payload:uint("request_id", 16)
        read_receiver_id(payload)
        local action = payload:uint("action", 8)
        require_field(ACTIONS[action], "command")
        if ARGUMENTS[action] then ARGUMENTS[action](payload) end
        return number("command %d: %s", request, ACTIONS[action])
    end,
})

local function read_outcome(payload, bits)
    local outcome = payload:uint("outcome", bits)
    require_field(OUTCOMES[outcome], "outcome")
    return OUTCOMES[outcome]
end

message(8, "Result", {
    bound = true,
    read = function(payload)
        local request = payload:uint("request_id", 16)
        return number("result of %d: %s", request, read_outcome(payload, 8))
    end,
})

local function read_message_time(payload)
    local seconds = payload:bits(32)
    if seconds == 0 then return payload:unknown("time") end
    payload:time("time", 1000 * seconds)
end

-- The message itself, the same in both directions. `id` says which number of the request a reply names. Returns the
-- words for the info column.
local function read_application_message(payload, id)
    local kind = payload:uint("kind", 2)
    require_field(KINDS[kind], "message_kind")
    payload:skip(2)
    local outcome
    if kind == REPLY then outcome = read_outcome(payload, 4) else payload:skip(4) end
    local code = payload:uint("code", 8)
    read_message_time(payload)
    local words = KINDS[kind]
    if kind == REPLY then
        local request, item = payload:uint("answered", 32)
        item:append_text(number(" (%s)", id))
        words = number("reply to %d, %s", request, outcome)
    end
    local size = floor(payload:left() / 8)
    require_field(size <= MOST_DATA, "message_length")
    if size > 0 then payload:bytes("data", size) end
    return number("%s, code %d, %d bytes", words, code, size)
end

message(13, "Application message of a collar", {
    bound = true,
    read = function(payload)
        local sequence = payload:uint("sequence", 32)
        require_field(sequence <= MAX_SEQUENCE, "sequence")
        local words = read_application_message(payload, "request id")
        return number("application message %d: %s", sequence, words), sequence
    end,
    learn = function(frame, sequence) know_sequence(frame.log, sequence) end,
})

message(29, "Application message of a host", {
    bound = true,
    read = function(payload)
        local request = payload:uint("request_id", 16)
        read_receiver_id(payload)
        return number("application message %d: %s", request, read_application_message(payload, "sequence"))
    end,
})

-- Base radio (section 17) -------------------------------------------------------------------------------------------

message(10, "Radio identity", {
    ignores_trailing = true,
    read = function(payload)
        payload:bytes("radio_id", 8)
        read_firmware_version(payload)
        read_largest_frame(payload)
        return "radio identity " .. hex(payload.data:sub(1, 8))
    end,
})

local function read_lora(payload)
    local frequency = payload:uint("frequency", 32, "Hz")
    local bandwidth = payload:uint("bandwidth", 32, "Hz")
    require_field(bandwidth ~= 0, "modulation")
    local factor = payload:uint("spreading_factor", 4)
    require_field(factor >= 5 and factor <= 12, "modulation")
    payload:uint("coding_rate", 2)
    payload:flag("explicit_header")
    payload:flag("crc")
    payload:flag("low_data_rate")
    payload:skip(7)
    payload:uint("preamble", 16, "symbols")
    payload:signed("power", 8, "dBm")
    return number("LoRa, %.3f MHz, SF%d", frequency / 1000000, factor)
end

local function read_serial_modem(payload)
    local rate = payload:uint("bit_rate", 32, "bit/s")
    require_field(rate ~= 0, "modulation")
    return number("serial, %d bit/s", rate)
end

message(11, "Modem settings", {
    read = function(payload)
        local modulation = payload:uint("modulation", 8)
        require_field(MODULATIONS[modulation], "modulation")
        payload:uint("turnaround", 16, "ms")
        return "modem settings, " .. (modulation == 0 and read_serial_modem or read_lora)(payload)
    end,
})

message(12, "Signal report", {
    read = function(payload)
        payload:uint("packet_check", 24)
        if payload.frame.reported then
            payload.tree:add(F.reported_packet, payload.frame.reported):set_generated()
        end
        local strength = payload:signed("strength", 16, "dBm")
        local tenths = payload:signed_bits(16)
        local noise = payload:known("signal_to_noise", tenths == -32768 and tenths or tenths / 10, -32768, "dB")
        return number("signal report, %d dBm%s", strength, noise and number(", %.1f dB above noise", noise) or "")
    end,
    find_packet = function(data) return #data >= 3 and state.checks[data:sub(1, 3)] or nil end,
})

-- Only now are all types known by name.
field("uint8", "type", "Type", base.DEC, TYPE_NAMES)
bare.fields = F

-- Sealed frames (section 22) ----------------------------------------------------------------------------------------

-- This file knows no keys. What it shows of a sealed frame may be forged, so nothing is learned from it.

-- A part: its field and its bytes.
local COUNTER_UPPER, ANCHOR_LOW, MASKED = {"counter_upper", 3}, {"anchor_low", 1}, {"masked", 11}
local RECEIVER_ID, SALT = {"receiver_id", 4}, {"salt", 3}

-- By type that can be sealed: the clear part, without what *long* adds to it, and the bytes of the tag.
local LAYOUTS = {[IDENTITY] = {MASKED, tag = 8}, [LIVE_FIX] = {ANCHOR_LOW, tag = 6}}
for _, code in ipairs {ABSOLUTE_FIX, 4, 5, 6, 7, 8, TOMBSTONE, 13, 15} do LAYOUTS[code] = {tag = 6} end
for _, code in ipairs {ACKNOWLEDGEMENT, 20, 29} do LAYOUTS[code] = {RECEIVER_ID, SALT, tag = 8} end
for _, code in ipairs {18, 19} do LAYOUTS[code] = {SALT, tag = 8} end

-- What flag bit 3 means, by type.
local FLAG_BIT_3 = {[ABSOLUTE_FIX] = "flags.wide", [TOMBSTONE] = "flags.delivered_elsewhere"}

-- In another version, or beside a critical flag that is not known, flag bit 7 may mean anything.
local function is_sealed(frame)
    return frame.version == VERSION and frame.flags >= SEALED and frame.flags % SEALED < CRITICAL
end

local function is_from_host(frame)
    return frame.type >= 16
end

local function is_long(frame)
    return floor(frame.flags / LONG) % 2 == 1
end

-- The parts of a frame that is sealed; nil if it is not, or if its type has none.
local function layout_of(frame)
    return is_sealed(frame) and LAYOUTS[frame.type] or nil
end

-- In a sealed frame of a host an index stands in the place of the poll number.
local function has_index(frame)
    return is_from_host(frame) and layout_of(frame) ~= nil
end

local function flags_of_sealed(frame)
    if has_index(frame) then
        return {"flags.sealed", "flags.critical", frame.type == ACKNOWLEDGEMENT and "flags.company" or "flags.reserved", "index"}
    end
    return {"flags.sealed", "flags.critical", "flags.long", FLAG_BIT_3[frame.type] or "flags.bit_3", "poll_number"}
end

local function add_low_byte_of_counter(tvb, tree, frame)
    local item = tree:add(F.counter_low, tvb(3, 1))
    if has_index(frame) then item:append_text(" (of the poll)") end
end

local function clear_parts(frame)
    local parts = {table.unpack(LAYOUTS[frame.type])}
    local may_be_long = not is_from_host(frame) and frame.type ~= IDENTITY
    if may_be_long and is_long(frame) then table.insert(parts, 1, COUNTER_UPPER) end
    return parts
end

local function has_all_parts(frame, length)
    local layout = LAYOUTS[frame.type]
    if not layout then return false end
    local size = HEADER + layout.tag
    for _, part in ipairs(clear_parts(frame)) do size = size + part[2] end
    return size <= length
end

-- An acknowledgement has the index 0, the two requests before it have 1 and 2.
local function is_right_index(frame)
    local index = frame.flags % 8
    if frame.type == ACKNOWLEDGEMENT then return index == 0 end
    return index == 1 or index == 2
end

-- Why a sealed frame opens with no key at all; nil if it may open.
local function fault_of_sealed(frame, length)
    if not MESSAGES[frame.type] then return "unknown type" end
    if not LAYOUTS[frame.type] then return "a type that is never sealed" end
    if not has_all_parts(frame, length) then return "too short for its parts" end
    if has_index(frame) and not is_right_index(frame) then return "wrong index" end
    if frame.type == IDENTITY and is_long(frame) then return "an identity is never long" end
end

local function add_parts(tvb, tree, frame)
    local position = HEADER
    local function add(name, size)
        local item = tree:add(F[name], tvb(position, size))
        position = position + size
        return item
    end
    for _, part in ipairs(clear_parts(frame)) do
        local item = add(table.unpack(part))
        if part == COUNTER_UPPER then
            item:add(F.counter, tvb(HEADER, 3):uint() * 256 + frame.low_byte):set_generated()
        end
    end
    local tag = LAYOUTS[frame.type].tag
    local ciphertext = tvb:len() - tag - position
    if ciphertext > 0 then add("ciphertext", ciphertext) end
    add("authentication_tag", tag)
end

-- What follows the header; in one piece where it cannot be taken apart.
local function add_sealed(tvb, tree, frame)
    if has_all_parts(frame, tvb:len()) then return add_parts(tvb, tree, frame) end
    tree:add(F.payload, tvb(HEADER))
end

-- Frames (section 2) ------------------------------------------------------------------------------------------------

-- By type, if bits 4 and 3 have a meaning.
local FLAGS = {
    other = {"flags.sealed", "flags.critical", "flags.reserved", "poll_number"},
    [TOMBSTONE] = {"flags.sealed", "flags.critical", "flags.bit_4", "flags.delivered_elsewhere", "poll_number"},
    [ACKNOWLEDGEMENT] = {"flags.sealed", "flags.critical", "flags.company", "poll_number"},
}

local function flags_of(frame)
    if layout_of(frame) then return flags_of_sealed(frame) end
    return FLAGS[frame.type] or FLAGS.other
end

local function add_flags(tvb, tree, frame)
    local flags = tree:add(F.flags, tvb(1, 1))
    for _, name in ipairs(flags_of(frame)) do
        local item = flags:add(F[name], tvb(1, 1))
        if name == "poll_number" and frame.flags % 8 == 0 then item:append_text(" (wants no answer)") end
    end
end

local function add_low_byte(tvb, tree, frame)
    if layout_of(frame) then return add_low_byte_of_counter(tvb, tree, frame) end
    -- In an acknowledgement it is the number of the poll it answers; in a fix a part of the sequence.
    local is_answer = frame.type == ACKNOWLEDGEMENT
    local item = tree:add(is_answer and F.answered_poll or F.low_byte, tvb(3, 1))
    if is_answer and frame.low_byte == 0 then item:append_text(" (none)") end
end

local function add_header(tvb, tree)
    local byte, address = tvb(0, 1):uint(), tvb(2, 1):uint()
    local frame = {version = floor(byte / 32), type = byte % 32, flags = tvb(1, 1):uint(), address = address,
        low_byte = tvb(3, 1):uint()}
    tree:add(F.version, tvb(0, 1), frame.version)
    tree:add(F.type, tvb(0, 1), frame.type)
    add_flags(tvb, tree, frame)
    tree:add(F.address, tvb(2, 1)):append_text(address == 0 and " (base radio)" or address == 255 and " (every collar)"
        or "")
    add_low_byte(tvb, tree, frame)
    return frame
end

-- What makes a frame unusable before its check, in the order of section 2. In a sealed frame that is only half of it.
local function fault_of_header(frame)
    if frame.version ~= VERSION then return "unsupported_version" end
    if frame.flags % SEALED >= CRITICAL then return "critical_flags" end
    if not is_sealed(frame) and not MESSAGES[frame.type] then return "unknown_type" end
end

-- Finds out what the check says, and of which log the frame is.
local function verify(frame, data)
    local definition = MESSAGES[frame.type]
    local body, check = data:sub(1, -CHECK - 1), data:sub(-CHECK)
    local value = check:byte(1) * 65536 + check:byte(2) * 256 + check:byte(3)
    local payload = body:sub(HEADER + 1)
    if definition.anchored then
        -- The log heard last at the address is the best guess; the check cannot confirm it.
        return {status = UNVERIFIED, log = state.last_at[frame.address] or (#state.logs == 1 and state.logs[1]) or nil}
    end
    if not definition.bound then
        local good = check_of(CRC_INITIAL, body) == value
        return {status = good and GOOD or BAD, log = good and definition.find_log and definition.find_log(payload),
            reported = definition.find_packet and definition.find_packet(payload)}
    end
    local log, reference = log_that_fits(frame.address, body, value)
    if log then return {status = GOOD, log = log, reference = reference} end
    return {status = state.last_at[frame.address] and BAD or UNVERIFIED}
end

-- A signal report names a packet by its last bytes, sealed or not.
local function know_packet(data, pinfo)
    state.checks[data:sub(-CHECK)] = pinfo.number
end

-- What was known when the frame came. A packet that is shown again must not learn from what came later.
local function memo_of(frame, data, pinfo, key)
    if not pinfo.visited or not state.memos[key] then
        local memo = verify(frame, data)
        memo.log = memo.log or nil
        memo.reference = memo.reference or memo.log and math.max(memo.log.highest, memo.log.live) or 0
        state.memos[key] = memo
        know_packet(data, pinfo)
    end
    return state.memos[key]
end

local function add_check(tvb, tree, frame)
    local item = tree:add(F.check, tvb(tvb:len() - CHECK, CHECK))
    item:append_text(frame.status and number(" [%s]", frame.verdict) or "")
    local status = tree:add(F["check.status"], frame.status or UNVERIFIED)
    status:set_generated()
    if frame.status == GOOD and frame.log and MESSAGES[frame.type].bound then
        tree:add(F["check.device_id"], uint64(frame.log.device)):set_generated()
        tree:add(F["check.log_id"], frame.log.log_id):set_generated()
    end
    return item
end

-- Reads the payload. Returns the words for the info column, what it tells, and the fault that ended it.
local function read_payload(definition, payload)
    local ok, words, told = pcall(function()
        local words, told = definition.read(payload)
        if not definition.anchored then payload:finish(definition.ignores_trailing) end
        return words, told
    end)
    if ok then return words, told end
    -- A mistake in this file is shown as one.
    if type(words) ~= "table" then error(words, 0) end
    return nil, nil, words
end

local function add_fault(tree, name, what)
    tree:add_proto_expert_info(X[name])
    if what then tree:append_text(number(" [%s]", what)) end
end

-- Says in words what came of the check. The first fault of a frame counts: where the check does not hold, what is
-- wrong with the payload is no news.
local function verdict_of(frame)
    if MESSAGES[frame.type].anchored then return "bound to its anchor, not verified" end
    if frame.status == GOOD then return "correct" end
    return frame.status == BAD and "incorrect" or "unknown log"
end

local function fault_of_check(frame)
    if frame.status == BAD then return "check_failed" end
    if frame.status == UNVERIFIED and not MESSAGES[frame.type].anchored then return "unknown_collar" end
end

-- A frame that is all right tells of its log; only the first time it is seen.
local function learn(frame, definition, told, pinfo)
    if pinfo.visited then return end
    if frame.log and frame.status == GOOD then hear(frame.log, frame.address) end
    if definition.learn and told then definition.learn(frame, told) end
end

-- A type's name within a sentence.
local function name_of(code)
    local name = MESSAGES[code].name
    return name:sub(1, 1):lower() .. name:sub(2)
end

local function dissect_message(tvb, pinfo, tree, frame, key)
    local definition = MESSAGES[frame.type]
    local memo = memo_of(frame, tvb():bytes():raw(), pinfo, key)
    frame.status, frame.log, frame.reference, frame.reported = memo.status, memo.log, memo.reference, memo.reported
    frame.verdict = verdict_of(frame)
    local payload = new_payload(tvb, tree, frame)
    local words, told, wrong = read_payload(definition, payload)
    local check = add_check(tvb, tree, frame)
    words = words or name_of(frame.type)
    local name = fault_of_check(frame)
    if name then
        add_fault(check, name)
        return number("%s [%s]", words, frame.verdict)
    end
    if wrong then
        local what = spaced(wrong.fault) .. (wrong.what and ": " .. spaced(wrong.what) or "")
        add_fault(tree, wrong.fault, what)
        -- The check was right, so this was a frame of that log.
        if not pinfo.visited and frame.log and frame.status == GOOD then hear(frame.log, frame.address) end
        return number("%s [%s]", words, what)
    end
    if definition.anchored then add_fault(check, "anchor_needed") end
    learn(frame, definition, told, pinfo)
    if not frame.unknown_tag then return words end
    add_fault(tree, "unknown_collar")
    return words .. " [unknown log]"
end

local function dissect_sealed(tvb, pinfo, tree, frame)
    add_sealed(tvb, tree, frame)
    if not pinfo.visited then know_packet(tvb():bytes():raw(), pinfo) end
    local words = MESSAGES[frame.type] and name_of(frame.type) .. ", sealed" or "sealed"
    local why = fault_of_sealed(frame, tvb:len())
    if not why then
        add_fault(tree, "not_opened")
        return words .. ", not verified"
    end
    add_fault(tree, "sealed_malformed")
    return number("%s [malformed: %s]", words, why)
end

-- The number in the flags, for the info column.
local function number_in_flags(frame)
    local value = frame.flags % 8
    return value > 0 and number(", %s %d", has_index(frame) and "index" or "poll", value) or ""
end

local function dissect_whole_frame(tvb, pinfo, tree, key)
    local frame = add_header(tvb, tree)
    local name = fault_of_header(frame)
    local words
    if name then
        words = spaced(name)
        if tvb:len() > HEADER + CHECK then tree:add(F.payload, tvb(HEADER, tvb:len() - HEADER - CHECK)) end
        add_check(tvb, tree, frame)
        add_fault(tree, name)
    elseif is_sealed(frame) then
        words = dissect_sealed(tvb, pinfo, tree, frame)
    else
        words = dissect_message(tvb, pinfo, tree, frame, key)
    end
    tree:append_text(", " .. words)
    return words .. number_in_flags(frame), frame
end

-- Source and destination are columns of a link that has no addresses of its own.
local function set_columns(pinfo, frame)
    local collar = frame.address == 255 and "every collar" or frame.address == 0 and "base radio"
        or number("collar %d", frame.address)
    local from_host = is_from_host(frame)
    pinfo.cols.src = from_host and "host" or collar
    pinfo.cols.dst = from_host and collar or "host"
end

-- One frame. Returns its words for the info column, and its header where it has one.
local function dissect_frame(tvb, pinfo, tree, key)
    local subtree = tree:add(bare, tvb())
    if tvb:len() >= SHORTEST_FRAME and tvb:len() <= LONGEST_FRAME then
        return dissect_whole_frame(tvb, pinfo, subtree, key)
    end
    local name = tvb:len() < SHORTEST_FRAME and "too_short" or "too_long"
    add_fault(subtree, name)
    return spaced(name)
end

local function has_link_addresses(pinfo)
    return tostring(pinfo.src) ~= "" and tostring(pinfo.src) ~= "NONE"
end

function bare.dissector(tvb, pinfo, tree)
    if tvb:len() == 0 then return 0 end
    pinfo.cols.protocol = "CollarLink"
    local words, frame = dissect_frame(tvb, pinfo, tree, number("%d", pinfo.number))
    pinfo.cols.info = words
    if frame and not has_link_addresses(pinfo) then set_columns(pinfo, frame) end
    return tvb:len()
end

-- Serial lines (section 4) ------------------------------------------------------------------------------------------

-- Each interface and direction is a line of its own, and so is each conversation.
local interface_field = Field.new("frame.interface_id")
local streams = {}

function serial.init()
    streams = {}
end

local function stream_of(pinfo)
    local interface = interface_field()
    local key = table.concat({interface and tostring(interface.value) or "", tostring(pinfo.p2p_dir),
        tostring(pinfo.src), tostring(pinfo.src_port), tostring(pinfo.dst), tostring(pinfo.dst_port)}, "|")
    streams[key] = streams[key] or {rest = {data = "", length = 0}, starts = {}}
    return streams[key]
end

-- What stood before this packet without a delimiter behind it. As first seen: packets are shown in any order later.
local function start_of(stream, pinfo)
    if not pinfo.visited then stream.starts[pinfo.number] = stream.rest end
    return stream.starts[pinfo.number] or {data = "", length = 0}
end

-- A piece is bytes between two delimiters: its data (no more than shows that it is too long), its true length, where
-- it begins in the packet, and in which earlier packet it began, if in one.
local function extend(piece, data, offset)
    local kept = data:sub(1, math.max(0, LONGEST_ENCODING + 1 - #piece.data))
    return {data = piece.data .. kept, length = piece.length + #data, began_in = piece.began_in, offset = offset,
        size = #data}
end

-- Cuts a packet at its delimiters. Returns the pieces that end in it, and the rest.
local function cut(start, data)
    local pieces, piece, position = {}, start, 1
    while true do
        local zero = data:find("\0", position, true)
        if not zero then break end
        table.insert(pieces, extend(piece, data:sub(position, zero - 1), position - 1))
        piece, position = {data = "", length = 0}, zero + 1
    end
    return pieces, extend(piece, data:sub(position), position - 1)
end

-- Undoes the stuffing; nil where a block reaches beyond the delimiter.
local function unstuff(data)
    local blocks, position = {}, 1
    while position <= #data do
        local length = data:byte(position)
        if position + length - 1 > #data then return nil end
        table.insert(blocks, data:sub(position + 1, position + length - 1))
        position = position + length
    end
    return table.concat(blocks, "\0")
end

local function fault_of_piece(piece, frame)
    if piece.length > LONGEST_ENCODING then return "too_long" end
    if not frame then return "stuffing" end
    if #frame < SHORTEST_FRAME then return "too_short" end
end

-- A piece stands in the tree of the line, the frame in it beside that.
local function dissect_piece(tvb, pinfo, tree, line, piece, key)
    local frame = unstuff(piece.data)
    local name = fault_of_piece(piece, frame)
    local item = piece.size > 0 and line:add(S.encoded, tvb(piece.offset, piece.size)) or line:add(S.encoded, tvb(0, 1))
    item:set_text(number("Between two delimiters: %d bytes", piece.length))
    if piece.began_in then item:add(S.began_in, piece.began_in):set_generated() end
    if name then
        item:add_proto_expert_info(XS[name])
        return number("%d bytes dropped: %s", piece.length, spaced(name))
    end
    return dissect_frame(ByteArray.new(hex(frame)):tvb("Frame"), pinfo, tree, key)
end

-- Keeps the rest for the next packet of the line, and says that there is one.
local function carry(stream, rest, pinfo, tree, tvb, words)
    if not pinfo.visited then
        rest.began_in = rest.length > 0 and (rest.began_in or pinfo.number) or nil
        stream.rest = rest
    end
    if rest.size == 0 then return end
    tree:add(S.carried, tvb(rest.offset, rest.size), rest.size)
    table.insert(words, number("%d bytes carried over", rest.size))
end

function serial.dissector(tvb, pinfo, tree)
    if tvb:len() == 0 then return 0 end
    pinfo.cols.protocol = "CollarLink"
    local line = tree:add(serial, tvb())
    local stream = stream_of(pinfo)
    local pieces, rest = cut(start_of(stream, pinfo), tvb():bytes():raw())
    local words, header = {}, nil
    for index, piece in ipairs(pieces) do
        -- Nothing between two delimiters is nothing.
        if piece.length > 0 then
            local text, frame = dissect_piece(tvb, pinfo, tree, line, piece, number("%d/%d", pinfo.number, index))
            table.insert(words, text)
            header = header or frame
        end
    end
    carry(stream, rest, pinfo, line, tvb, words)
    pinfo.cols.info = #words > 0 and table.concat(words, "; ") or "delimiters only"
    if header and not has_link_addresses(pinfo) then set_columns(pinfo, header) end
    return tvb:len()
end

-- Where it applies --------------------------------------------------------------------------------------------------

DissectorTable.get("wtap_encap"):add(wtap_encaps.USER0, bare)
DissectorTable.get("wtap_encap"):add(wtap_encaps.USER1, serial)
DissectorTable.get("udp.port"):add_for_decode_as(bare)
DissectorTable.get("udp.port"):add_for_decode_as(serial)
DissectorTable.get("tcp.port"):add_for_decode_as(serial)

-- Captures of collar-link (CAPTURE.md) ------------------------------------------------------------------------------

-- A function of its own: Lua has at most 200 local names in one.
;(function()
    local capture = Proto("collarlink_capture", "Collar Link capture")
    local EVENTS = {[0] = "began", "opened", "read", "wrote", "closed", "unplugged", "plugged", "removed", "ended", "found",
        "due"}
    local OPENED, READ, WROTE, FOUND = 1, 2, 3, 9
    local RECORD_HEADER = 12
    local R = {
        version = ProtoField.uint8("collarlink_capture.version", "Version"),
        event = ProtoField.uint8("collarlink_capture.event", "Event", base.DEC, EVENTS),
        round = ProtoField.uint16("collarlink_capture.round", "Round"),
        time = ProtoField.absolute_time("collarlink_capture.time", "Time of day", base.UTC),
        unix_ms = ProtoField.int64("collarlink_capture.time.unix_ms", "Milliseconds since 1970"),
        text = ProtoField.string("collarlink_capture.text", "Text"),
        bytes = ProtoField.bytes("collarlink_capture.bytes", "Bytes"),
    }
    capture.fields = R
    capture.experts = {
        short = ProtoExpert.new("collarlink_capture.short", "Too short for a record", expert.group.MALFORMED, expert.severity.WARN),
        version = ProtoExpert.new("collarlink_capture.unsupported_version", "Another version", expert.group.MALFORMED,
            expert.severity.WARN),
    }

    -- The dialect of the stick at each port, as the records before a packet tell it. Nothing is known of a packet's future.
    local dialects, dialect_of = {}, {}

    function capture.init()
        dialects, dialect_of = {}, {}
    end

    local function dialect_in(text)
        for line in text:gmatch("[^\n]+") do
            local name = line:match("^dialect=(.*)$")
            if name then return name end
        end
    end

    -- Bytes of a stick of another dialect hold no frames of the serial line.
    local function add_line_bytes(tvb, pinfo, tree, event, words)
        local name = dialect_of[pinfo.number]
        if name and name ~= "serial" then
            tree:add(R.bytes, tvb)
            pinfo.cols.info = number("%s %d bytes, %s", words, tvb:len(), name)
        else
            pinfo.p2p_dir = event == READ and P2P_DIR_RECV or P2P_DIR_SENT
            serial.dissector(tvb, pinfo, tree)
            pinfo.cols.info:prepend(words .. " ")
        end
    end

    function capture.dissector(tvb, pinfo, tree)
        pinfo.cols.protocol = "CollarLink"
        local record = tree:add(capture, tvb(0, math.min(tvb:len(), RECORD_HEADER)))
        if tvb:len() < RECORD_HEADER then
            record:add_proto_expert_info(capture.experts.short)
            return tvb:len()
        end
        local event = tvb(1, 1):uint()
        record:add(R.version, tvb(0, 1))
        if tvb(0, 1):uint() ~= 1 then
            record:add_proto_expert_info(capture.experts.version)
            return tvb:len()
        end
        record:add(R.event, tvb(1, 1))
        record:add(R.round, tvb(2, 2))
        local milliseconds = tvb(4, 8):int64()
        local seconds = (milliseconds / 1000):tonumber()
        record:add(R.time, tvb(4, 8), NSTime(seconds, (milliseconds % 1000):tonumber() * 1000000))
        record:add(R.unix_ms, tvb(4, 8))
        local words = EVENTS[event] or number("event %d", event)
        record:append_text(", " .. words)
        pinfo.cols.info = words
        if tvb:len() == RECORD_HEADER then return tvb:len() end
        local content = tvb(RECORD_HEADER)
        local interface = tostring(interface_field() and interface_field().value)
        if not pinfo.visited then
            if event == OPENED then dialects[interface] = nil end
            if event == OPENED or event == FOUND then dialects[interface] = dialect_in(content:string()) or dialects[interface] end
            dialect_of[pinfo.number] = dialects[interface]
        end
        if event == READ or event == WROTE then
            add_line_bytes(content:tvb(), pinfo, tree, event, words)
        else
            record:add(R.text, content)
            pinfo.cols.info = words .. ": " .. content:string():gsub("\n", " ")
        end
        return tvb:len()
    end

    DissectorTable.get("wtap_encap"):add(wtap_encaps.USER3, capture)
end)()
