import CollarARQ
import CollarFirmware
import CollarWire
import Glibc

/// How long a simulated GNSS receiver needs for a position, in microseconds.
package struct TimesToFix: Equatable, Sendable {
    /// Under an open sky, with clock and orbits.
    package var open: Int64
    /// Under trees, with clock and orbits.
    package var trees: Int64
    /// How much more a receiver needs that had no supply.
    package var cold: Int64

    package init(open: Int64 = 8_000_000, trees: Int64 = 20_000_000, cold: Int64 = 20_000_000) {
        self.open = open
        self.trees = trees
        self.cold = cold
    }
}

/// A u-blox receiver of generation 10, as the line of a simulated board sees it: it answers, and sends NAV-PVT, only while it has its
/// supply, and forgets its configuration without it. Under a roof it never has a position.
///
/// Backup supply keeps its orbits for ever: the model leaves out that they become old, because the collar renews them.
struct DayGNSS {
    private let times: TimesToFix
    private var noise: SimulatedNoise?
    private let unixStart: Int64
    private(set) var supply = GNSSSupply.off
    /// Whether it has a position now.
    private(set) var hasPosition = false
    /// Whether it saves power between positions (cyclic tracking).
    private(set) var isCyclic = false
    private var isCold = true
    private var isSpeaking = false
    private let tellsSatellites: Bool
    /// The number of positions for which it tells its satellites once; 0 for never.
    private var satelliteInterval: Int64 = 0
    private var tickCount: Int64 = 0
    private var intervalMicroseconds: Int64 = 1_000_000
    private var lastTick = Instant(microseconds: 0)
    /// The part of the time to a position that has passed, 0 … 1.
    private var progress = 0.0
    private(set) var nextTick: Instant?
    /// The bytes that the collar has not read.
    var output: [UInt8] = []

    init(times: TimesToFix, noise: SimulatedNoise?, tellsSatellites: Bool, unixStart: Int64) {
        self.times = times
        self.tellsSatellites = tellsSatellites
        self.noise = noise
        self.unixStart = unixStart
    }

    mutating func switchSupply(to new: GNSSSupply, now: Instant) {
        guard new != supply else { return }
        (isSpeaking, isCyclic, hasPosition, progress, nextTick) = (false, false, false, 0, nil)
        (satelliteInterval, tickCount) = (0, 0)
        output = []
        if new == .on {
            isCold = supply == .off
            intervalMicroseconds = 1_000_000
            lastTick = now
            planTick(after: now)
        }
        supply = new
    }

    /// Positions are aligned to UTC, as those of u-blox receivers are.
    private mutating func planTick(after now: Instant) {
        nextTick = now.advanced(byMicroseconds: intervalMicroseconds - now.microseconds % intervalMicroseconds)
    }

    /// Does what is due at ``nextTick``.
    mutating func tick(now: Instant, in surroundings: Surroundings, movingMicroseconds: Int64) {
        let elapsed = Double(now.microseconds(since: lastTick))
        lastTick = now
        planTick(after: now)
        switch surroundings.sky {
        case .roof: (progress, hasPosition) = (0, false)
        case .open, .trees:
            let needed = (surroundings.sky == .open ? times.open : times.trees) + (isCold ? times.cold : 0)
            progress += elapsed / Double(max(1, needed))
            if progress > 0.999_999 { (hasPosition, isCold) = (true, false) }
        }
        tickCount += 1
        if satelliteInterval > 0, tickCount % satelliteInterval == 0 {
            output += UBXBytes.message(1, 0x35, UBXBytes.navigationSatellites(surroundings.sky))
        }
        guard isSpeaking else { return }
        guard hasPosition else {
            output += UBXBytes.message(1, 7, [UInt8](repeating: 0, count: 92))
            return
        }
        var reading = AnimalPath.reading(afterMovingFor: movingMicroseconds, isMoving: surroundings.isMoving)
        reading.unixMilliseconds = unixStart + now.microseconds / 1000
        noise?.disturb(&reading)
        output += UBXBytes.message(1, 7, UBXBytes.navigationPVT(reading))
    }

    /// Receives a command of the collar. It is answered at once.
    mutating func receive(_ command: [UInt8]) {
        guard supply == .on, command.count > 8, command[2] == 6, command[3] == 0x8A else { return }
        var index = 10
        while index + 4 < command.count - 2 {
            let key = UInt32(command[index]) | UInt32(command[index + 1]) << 8 | UInt32(command[index + 2]) << 16
                | UInt32(command[index + 3]) << 24
            // The size of the value is a part of the key: 1, 1, 2, 4 or 8 bytes.
            let width = [0, 1, 1, 2, 4, 8, 0, 0][Int(key >> 28 & 7)]
            let value = command[index + 4..<min(index + 4 + width, command.count - 2)].reversed().reduce(0) { $0 << 8 | Int64($1) }
            set(key, to: value)
            index += 4 + width
        }
        output += UBXBytes.message(5, 1, Array(command[2...3]))
    }

    private mutating func set(_ key: UInt32, to value: Int64) {
        switch key {
        case 0x3021_0001:
            intervalMicroseconds = max(1, value) * 1000
            planTick(after: lastTick)
        case 0x2091_0007: isSpeaking = value > 0
        case 0x2091_0016: satelliteInterval = tellsSatellites ? value : 0
        case 0x20D0_0001: isCyclic = value == 2
        default: break
        }
    }
}

/// The way of a simulated animal, which goes to and fro within 200 m and depends only on how long it has moved.
enum AnimalPath {
    private static let metersPerE7 = 0.011_119_5

    static func reading(afterMovingFor microseconds: Int64, isMoving: Bool) -> GNSSReading {
        func place(_ seconds: Double) -> (north: Double, east: Double) {
            let (slow, fast) = (2 * .pi * seconds / 1700, 2 * .pi * seconds / 410)
            return (120 * sin(slow) + 50 * sin(fast), 110 * cos(slow) + 60 * cos(1.3 * fast))
        }
        let seconds = Double(microseconds) / 1e6
        let (here, before) = (place(seconds), place(seconds - 1))
        let (north, east) = (here.north - before.north, here.east - before.east)
        let course = (atan2(east, north) * 180 / .pi + 360).truncatingRemainder(dividingBy: 360)
        return GNSSReading(
            unixMilliseconds: 0, latitudeE7: 473_769_000 + Int32(here.north / metersPerE7),
            longitudeE7: 85_417_000 + Int32(here.east / metersPerE7 / 0.677), altitudeMillimeters: 408_000,
            horizontalAccuracyMillimeters: 2900, verticalAccuracyMillimeters: 4800,
            speedMillimetersPerSecond: isMoving ? UInt32(1000 * (north * north + east * east).squareRoot()) : 0,
            courseCentidegrees: isMoving ? UInt16(course * 100) : nil)
    }
}

/// Messages of a u-blox receiver.
enum UBXBytes {
    /// A message with its checksum.
    static func message(_ messageClass: UInt8, _ number: UInt8, _ payload: [UInt8]) -> [UInt8] {
        let body = [messageClass, number] + little(UInt16(payload.count)) + payload
        var sums = (first: 0 as UInt8, second: 0 as UInt8)
        for byte in body {
            sums.first &+= byte
            sums.second &+= sums.first
        }
        return [0xB5, 0x62] + body + [sums.first, sums.second]
    }

    /// The payload of NAV-PVT for a good three-dimensional position.
    static func navigationPVT(_ reading: GNSSReading) -> [UInt8] {
        let time = reading.unixMilliseconds
        let date = civil(daysSince1970: time / 86_400_000)
        let second = time / 1000 % 86_400
        var all = little(0 as UInt32) + little(UInt16(date.year)) + [UInt8(date.month), UInt8(date.day)]
        all += [UInt8(second / 3600), UInt8(second / 60 % 60), UInt8(second % 60), 0b1111_0111] + little(20 as UInt32)
        all += little(Int32(time % 1000) * 1_000_000) + [3, 1, 0, 12] + little(reading.longitudeE7) + little(reading.latitudeE7)
        let altitude = reading.altitudeMillimeters ?? 0
        all += little(altitude + 48_000) + little(altitude) + little(reading.horizontalAccuracyMillimeters ?? 0)
        all += little(reading.verticalAccuracyMillimeters ?? 0) + [UInt8](repeating: 0, count: 12)
        all += little(reading.speedMillimetersPerSecond ?? 0) + little(Int32(reading.courseCentidegrees ?? 0) * 1000)
        return all + [UInt8](repeating: 0, count: 92 - all.count)
    }

    /// The payload of NAV-SAT: twelve satellites in the sky, of which a roof leaves one that is heard.
    static func navigationSatellites(_ sky: Surroundings.Sky) -> [UInt8] {
        let (count, density): (Int, UInt8) = sky == .roof ? (1, 12) : (12, sky == .open ? 42 : 28)
        let blocks = (0..<count).flatMap { [0, UInt8($0 + 1), density] + [UInt8](repeating: 0, count: 9) }
        return little(0 as UInt32) + [1, UInt8(count), 0, 0] + blocks
    }

    private static func little(_ value: some FixedWidthInteger) -> [UInt8] {
        (0..<value.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// The day of the Gregorian calendar, from a day of the year 1970 or later.
    private static func civil(daysSince1970 days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        // Years begin with March here, so that the leap day is the last day of a year.
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let year = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * year + year / 4 - year / 100)
        let month = (5 * dayOfYear + 2) / 153
        return (year + era * 400 + (month >= 10 ? 1 : 0), month < 10 ? month + 3 : month - 9, dayOfYear - (153 * month + 2) / 5 + 1)
    }
}
