import CollarWire

/// Sentences of NMEA 0183: GGA and RMC for each fix, in UTC. A field is empty where its value is unknown.
///
/// RMC, which has the date, comes last, because gpsbabel gives the point of a GGA the time of the RMC behind it.
/// The year has two digits, so a fix outside 1980 to 2079 is left out. Sentences do not name the collar.
struct NMEAWriter: FormatWriter {
    private struct Keys {
        let minimum = InlineBytes("$GPRMC,")
        let valid = InlineBytes(",A,")
        let fixData = InlineBytes("$GPGGA,")
        let north = InlineBytes(",N,")
        let south = InlineBytes(",S,")
        let east = InlineBytes(",E,")
        let west = InlineBytes(",W,")
        /// Nothing about the magnetic variation; the receiver works autonomously.
        let autonomous = InlineBytes(",,,A")
        /// A fix, of an unknown number of satellites and an unknown dilution.
        let quality = InlineBytes("1,,,")
        /// The unit of the altitude, and nothing about the geoid.
        let meters = InlineBytes(",M,,,,")
        let noAltitude = InlineBytes(",,,,,")
    }

    private static let years: ClosedRange<Int64> = 1980...2079

    private let keys = Keys()
    private let numbers = NumberBytes()
    private var times = TimeTexts()
    private var scratch = LineScratch()

    mutating func append(_ received: ReceivedFix, to bytes: inout [UInt8]) {
        let fix = received.fix
        _ = times.split(fix.unixMilliseconds)
        guard NMEAWriter.years.contains(times.calendarDay.year) else { return }
        scratch.removeAll()
        scratch.append(keys.fixData)
        times.append(timeOfDay: fix.unixMilliseconds, to: &scratch)
        scratch.append(character: UInt8(ascii: ","))
        appendPosition(fix)
        scratch.append(keys.quality)
        if let steps = fix.altitudeSteps {
            scratch.append(altitude: steps, fix.altitudeStep, numbers: numbers)
            scratch.append(keys.meters)
        } else {
            scratch.append(keys.noAltitude)
        }
        appendChecksum(ofSentenceAt: 0)
        let second = scratch.count
        scratch.append(keys.minimum)
        times.append(timeOfDay: fix.unixMilliseconds, to: &scratch)
        scratch.append(keys.valid)
        appendPosition(fix)
        if let speed = fix.speedDecimetersPerSecond { appendKnots(decimetersPerSecond: speed) }
        scratch.append(character: UInt8(ascii: ","))
        if let course = fix.course { scratch.append(course, numbers: numbers) }
        scratch.append(character: UInt8(ascii: ","))
        let date = times.calendarDay
        scratch.append(
            DecimalDigits.two(of: date.day) | DecimalDigits.two(of: date.month) << 16
                | DecimalDigits.two(of: UInt32(date.year % 100)) << 32, byteCount: 6)
        scratch.append(keys.autonomous)
        appendChecksum(ofSentenceAt: second)
        scratch.copy(to: &bytes)
    }

    @inline(__always)
    private mutating func appendPosition(_ fix: Fix) {
        let scale = LineScratch.tenMillionths(in: fix.positionStep)
        append(tenMillionths: fix.latitudeSteps.magnitude &* scale, degreeDigits: 2)
        scratch.append(fix.latitudeSteps < 0 ? keys.south : keys.north)
        append(tenMillionths: fix.longitudeSteps.magnitude &* scale, degreeDigits: 3)
        scratch.append(fix.longitudeSteps < 0 ? keys.west : keys.east)
    }

    /// Appends an angle as `ddmm.mmmmmm` or `dddmm.mmmmmm`. Six decimal places of a minute express every step exactly.
    @inline(__always)
    private mutating func append(tenMillionths angle: UInt32, degreeDigits: Int) {
        let degrees = angle / 10_000_000
        // 10^-7 degree is 6 × 10^-6 minute.
        let millionths = (angle &- degrees &* 10_000_000) &* 6
        let minutes = millionths / 1_000_000
        if degreeDigits == 3 { scratch.append(character: degrees >= 100 ? UInt8(ascii: "1") : UInt8(ascii: "0")) }
        let point = UInt64(UInt8(ascii: "."))
        scratch.append(
            DecimalDigits.two(of: degrees % 100) | DecimalDigits.two(of: minutes) << 16 | point << 32, byteCount: 5)
        let fraction = DecimalDigits.eight(of: (millionths &- minutes &* 1_000_000) &* 100)
        scratch.append(fraction | DecimalDigits.ascii, byteCount: 6)
    }

    /// Appends a speed in knots, with three decimal places.
    @inline(__always)
    private mutating func appendKnots(decimetersPerSecond speed: UInt32) {
        // A knot is 1852 m an hour, so that a decimetre a second is 360/1852 knots.
        let thousandths = UInt32((UInt64(speed) * 360_000 + 926) / 1852)
        let whole = thousandths / 1000
        scratch.append(whole, numbers: numbers)
        let fraction = DecimalDigits.eight(of: (thousandths &- whole &* 1000) &* 100_000)
        scratch.append(character: UInt8(ascii: "."))
        scratch.append(fraction | DecimalDigits.ascii, byteCount: 3)
    }

    /// Appends the checksum of a sentence, over everything between `$` and `*`, and the end of the line.
    @inline(__always)
    private mutating func appendChecksum(ofSentenceAt start: Int) {
        let parity = scratch.parity(from: start + 1)
        let end = UInt64(UInt8(ascii: "\r")) | UInt64(UInt8(ascii: "\n")) << 8
        scratch.append(
            UInt64(UInt8(ascii: "*")) | UInt64(NMEAWriter.hexadecimal(parity >> 4)) << 8
                | UInt64(NMEAWriter.hexadecimal(parity & 15)) << 16 | end << 24, byteCount: 5)
    }

    @inline(__always)
    private static func hexadecimal(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "A") + nibble - 10
    }

    mutating func setDeployments(_ deployments: DeploymentTable) {}
}
