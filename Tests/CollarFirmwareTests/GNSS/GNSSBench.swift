import CollarARQ
import CollarFirmware
import CollarWire

/// A GNSS receiver state machine, and a receiver at its line that answers as u-blox receivers do, in virtual time.
struct GNSSBench<Dialect: GNSSDialect> {
    var receiver: GNSSReceiver<Dialect>
    var now = Instant(microseconds: 0)
    /// The generation of the receiver; nil if it ignores UBX.
    var generation: Int?
    /// Whether the receiver hears and says nothing.
    var isDead = false
    /// Whether the receiver says what it has to say in NMEA, and whether in UBX.
    var isNMEAOn = true
    var isUBXOn = false
    /// The messages that the receiver refuses, by their class and number.
    var refused: Set<[UInt8]> = []
    /// Whether the receiver refuses to say the state of its antenna.
    var refusesAntenna = false
    /// Whether the receiver refuses to tell its satellites, and whether it refuses to save power (from generation 9 on).
    var refusesSatellites = false
    var refusesPowerMode = false
    /// The number of commands that the receiver does not hear.
    var unheard = 0
    /// The commands that were sent.
    var commands: [[UInt8]] = []
    var readings: [GNSSReading] = []
    /// The time of the next position in seconds since 1970.
    var second: Int64 = 1_800_000_000
    private var silencedSentences: Set<UInt8> = []

    init(generation: Int?, interval: UInt16 = 1000, isPowerSaved: Bool = true) {
        self.generation = generation
        guard let date = UTCDate(year: 2026, month: 11, day: 25) else { preconditionFailure("the calendar has this day") }
        receiver = GNSSReceiver(
            settings: GNSSSettings(intervalMilliseconds: interval, isPowerSaved: isPowerSaved, earliestDate: date))
    }

    /// Switches the receiver on, with its own defaults.
    mutating func switchOn() {
        restart()
        receiver.switchOn(now: now)
        exchange()
    }

    /// The receiver forgets its configuration.
    mutating func restart() { (isNMEAOn, isUBXOn, silencedSentences) = (true, false, []) }

    /// Sends the commands that are due, and gives the answers back, until there are none.
    mutating func exchange() {
        while true {
            var isSent = false
            let command = [UInt8](capacity: GNSSReceiver<Dialect>.longestCommandByteCount) { output in
                isSent = receiver.nextCommand(now: now, into: &output)
            }
            guard isSent else { return }
            commands.append(command)
            receive(answer(to: command))
        }
    }

    mutating func receive(_ bytes: [UInt8]) {
        for byte in bytes { if let reading = receiver.receive(byte, now: now) { readings.append(reading) } }
    }

    /// What the receiver does with a command, and its answer.
    private mutating func answer(to command: [UInt8]) -> [UInt8] {
        guard let generation, !isDead, command[2] == 6 else { return [] }
        guard unheard == 0 else {
            unheard -= 1
            return []
        }
        let kind = Array(command[2...3])
        let isKnown = (kind == [6, 0x8A]) == (generation >= 9)
        let isOfAntenna = [Self.radioStatus, Self.hardwareStatus].contains(command)
        let isOfSatellites = command[6...].starts(with: [0, 1, 0, 0, 0x16]) || command[6...].starts(with: [1, 0x35])
        let isOfPower = command[6...].starts(with: [0, 1, 0, 0, 1, 0, 0xD0])
        let isRefused = refusesAntenna && isOfAntenna || refusesSatellites && isOfSatellites || refusesPowerMode && isOfPower
        guard isKnown, !refused.contains(kind), !isRefused else { return ubx(5, 0, kind) }
        if kind == [6, 0x8A], command.count == 33 { (isUBXOn, isNMEAOn) = (true, false) }
        if kind == [6, 1] {
            if command[6] != 0xF0 { isUBXOn = true } else { silencedSentences.insert(command[7]) }
            if silencedSentences.count == 6 { isNMEAOn = false }
        }
        return ubx(5, 1, kind)
    }

    /// The commands that ask for MON-RF or MON-HW, once for 60 positions.
    static var radioStatus: [UInt8] { ubx(6, 0x8A, [0, 1, 0, 0, 0x5A, 0x03, 0x91, 0x20, 60]) }
    static var hardwareStatus: [UInt8] { ubx(6, 1, [0x0A, 0x09, 60]) }

    /// Lets the time pass; every second the receiver says a position.
    mutating func run(seconds: Int) {
        for _ in 0..<seconds {
            if !isDead {
                if isNMEAOn { receive(nmea) }
                if isUBXOn { receive(pvt) }
                second += 1
                exchange()
            }
            advance(to: now.advanced(byMicroseconds: 1_000_000))
        }
    }

    /// Lets the time pass without a position.
    mutating func advance(to end: Instant) {
        while let deadline = receiver.nextDeadline, deadline < end {
            now = max(now, deadline)
            if let reading = receiver.deadlineReached(now: now) { readings.append(reading) }
            exchange()
        }
        now = end
    }

    private var fields: PVTFields {
        var fields = PVTFields()
        let ofDay = second % 86_400
        // 1,800,000,000 is 2027-01-15.
        (fields.year, fields.month, fields.day) = (2027, 1, UInt8(15 + (second - 1_799_971_200) / 86_400))
        (fields.hour, fields.minute, fields.second) = (UInt8(ofDay / 3600), UInt8(ofDay / 60 % 60), UInt8(ofDay % 60))
        return fields
    }

    private var pvt: [UInt8] { fields.message }

    private var nmea: [UInt8] {
        func two(_ value: UInt8) -> String { (value < 10 ? "0" : "") + "\(value)" }
        let time = two(fields.hour) + two(fields.minute) + two(fields.second)
        return sentence("GPRMC,\(time).00,A,3351.4,S,01507.2,E,0.1,90,\(two(fields.day))0127,,,A")
            + sentence("GPGGA,\(time).00,3351.4,S,01507.2,E,1,8,1.0,25.4,M,30,M,,")
    }
}

/// A UBX message, made without the code under test: the second sum of the checksum weighs each byte by its distance from the end.
func ubx(_ messageClass: UInt8, _ number: UInt8, _ payload: [UInt8] = []) -> [UInt8] {
    let body = [messageClass, number, UInt8(payload.count & 0xFF), UInt8(payload.count >> 8)] + payload
    let first = body.reduce(0) { $0 + Int($1) }
    let second = body.enumerated().reduce(0) { $0 + Int($1.element) * (body.count - $1.offset) }
    return [0xB5, 0x62] + body + [UInt8(first & 0xFF), UInt8(second & 0xFF)]
}

/// NAV-SAT with a satellite for each carrier-to-noise density, in dBHz.
func satellites(_ densities: [UInt8], version: UInt8 = 1) -> [UInt8] {
    let blocks = densities.enumerated().flatMap { number, density in
        [0, UInt8(truncatingIfNeeded: number + 1), density] + [UInt8](repeating: 0x7F, count: 9)
    }
    return ubx(1, 0x35, [0, 0, 0, 0, version, UInt8(densities.count), 0, 0] + blocks)
}

/// An NMEA sentence with its checksum and its end.
func sentence(_ text: String) -> [UInt8] {
    let checksum = text.utf8.reduce(0 as UInt8) { $0 ^ $1 }
    let digits = String(checksum, radix: 16, uppercase: true)
    return Array("$\(text)*\(digits.count < 2 ? "0" : "")\(digits)\r\n".utf8)
}

/// The fields of a NAV-PVT message. The default is a good fix on 2024-02-29 at 23:59:58.
struct PVTFields {
    var year: UInt16 = 2024
    var month: UInt8 = 2
    var day: UInt8 = 29
    var hour: UInt8 = 23
    var minute: UInt8 = 59
    var second: UInt8 = 58
    var valid: UInt8 = 0b1111_0111
    var nanoseconds: Int32 = 0
    var fixType: UInt8 = 3
    var flags: UInt8 = 1
    var flags3: UInt16 = 0
    var longitude: Int32 = 151_206_990
    var latitude: Int32 = -338_567_844
    var altitude: Int32 = 25_400
    var horizontalAccuracy: UInt32 = 3210
    var verticalAccuracy: UInt32 = 4321
    var speed: Int32 = 1234
    var course: Int32 = 9_012_999
    var isOld = false

    var payload: [UInt8] {
        func bytes(_ value: some FixedWidthInteger) -> [UInt8] { (0..<value.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        var all = bytes(0 as UInt32) + bytes(year) + [month, day, hour, minute, second, valid] + bytes(40 as UInt32)
        all += bytes(nanoseconds) + [fixType, flags, 0, 7] + bytes(longitude) + bytes(latitude) + bytes(altitude + 30_000)
        all += bytes(altitude) + bytes(horizontalAccuracy) + bytes(verticalAccuracy) + [UInt8](repeating: 0x11, count: 12)
        all += bytes(speed) + bytes(course) + [UInt8](repeating: 0x22, count: 8) + bytes(150 as UInt16) + bytes(flags3)
        return all + [UInt8](repeating: 0, count: isOld ? 4 : 12)
    }

    var message: [UInt8] { ubx(1, 7, payload) }
}

extension GNSSDialect {
    /// All events of some bytes.
    mutating func events(of bytes: some Sequence<UInt8>) -> [GNSSEvent] {
        var events: [GNSSEvent] = []
        for byte in bytes {
            append(byte)
            while let event = next() { events.append(event) }
        }
        return events
    }
}

/// The only reading of some events; nil if there is none or more than one.
func onlyReading(_ events: [GNSSEvent]) -> GNSSReading? {
    let readings = events.compactMap { if case .reading(let reading) = $0 { reading } else { nil } }
    return readings.count == 1 ? readings[0] : nil
}
