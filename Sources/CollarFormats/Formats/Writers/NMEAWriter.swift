import CollarWire

/// Sentences of NMEA 0183: GGA and RMC for each fix, in UTC. A field is empty where its value is unknown.
///
/// RMC, which has the date, comes last, because gpsbabel gives the point of a GGA the time of the RMC after it.
/// The year has two digits, so a fix outside 1980 to 2079 is left out. Sentences do not name the collar.
struct NMEAWriter: FormatWriter {
    private static let years: ClosedRange<Int64> = 1980...2079

    var deployments: DeploymentTable

    func append(_ received: ReceivedFix, to bytes: inout [UInt8]) {
        let fix = received.fix
        let time = UTCTime(unixMilliseconds: fix.unixMilliseconds)
        guard NMEAWriter.years.contains(time.year) else { return }
        bytes.appendRow { sentence in
            sentence.append("$GPGGA,")
            append(time, to: &sentence)
            sentence.append(",")
            append(positionOf: fix, to: &sentence)
            // A fix, of an unknown number of satellites and an unknown dilution.
            sentence.append("1,,,")
            if let altitude = fix.altitudeMeters { sentence.append(altitude) }
            // The unit of the altitude, and nothing about the geoid.
            sentence.append(fix.altitudeSteps == nil ? ",,,,," : ",M,,,,")
            end(&sentence)
        }
        bytes.appendRow { sentence in
            sentence.append("$GPRMC,")
            append(time, to: &sentence)
            sentence.append(",A,")
            append(positionOf: fix, to: &sentence)
            if let speed = fix.speedDecimetersPerSecond {
                // A knot is 1852 m an hour, so that a decimetre a second is 360/1852 knots.
                sentence.append(FixedPoint((UInt64(speed) * 360_000 + 926) / 1852, fractionDigits: 3).keepingZeros)
            }
            sentence.append(",")
            if let course = fix.courseDegrees { sentence.append(course) }
            sentence.append(",")
            sentence.append(time.day, digits: 2)
            sentence.append(time.month, digits: 2)
            sentence.append(UInt32(time.year % 100), digits: 2)
            // Nothing about the magnetic variation; the receiver works autonomously.
            sentence.append(",,,A")
            end(&sentence)
        }
    }

    /// Appends the time of day as `011926.000`.
    private func append(_ time: UTCTime, to sentence: inout OutputSpan<UInt8>) {
        sentence.append(time.hour, digits: 2)
        sentence.append(time.minute, digits: 2)
        sentence.append(time.second, digits: 2)
        sentence.append(".")
        sentence.append(time.millisecond, digits: 3)
    }

    private func append(positionOf fix: Fix, to sentence: inout OutputSpan<UInt8>) {
        append(angle: fix.latitudeSteps, fix.positionStep, degreeDigits: 2, to: &sentence)
        sentence.append(fix.latitudeSteps < 0 ? ",S," : ",N,")
        append(angle: fix.longitudeSteps, fix.positionStep, degreeDigits: 3, to: &sentence)
        sentence.append(fix.longitudeSteps < 0 ? ",W," : ",E,")
    }

    /// Appends an angle without its sign, as `ddmm.mmmmmm` or `dddmm.mmmmmm`. Six decimal places of a minute express every step
    /// exactly.
    private func append(angle steps: Int32, _ step: PositionStep, degreeDigits: Int, to sentence: inout OutputSpan<UInt8>) {
        // A degree has 6 × 10^7 millionths of a minute.
        let millionthsPerStep: UInt64 =
            switch step {
            case .e5: 600
            case .e6: 60
            case .e7: 6
            }
        let (minutes, millionths) = (UInt64(steps.magnitude) * millionthsPerStep).quotientAndRemainder(dividingBy: 1_000_000)
        sentence.append(UInt32(minutes / 60), digits: degreeDigits)
        sentence.append(UInt32(minutes % 60), digits: 2)
        sentence.append(".")
        sentence.append(UInt32(millionths), digits: 6)
    }

    /// Appends the checksum of a sentence, over everything between `$` and `*`, and the end of the line.
    private func end(_ sentence: inout OutputSpan<UInt8>) {
        var parity: UInt8 = 0
        for index in 1..<sentence.count { parity ^= sentence[index] }
        sentence.append("*")
        for digit in [parity >> 4, parity & 15] {
            sentence.append(digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "A") - 10))
        }
        sentence.append("\r\n")
    }
}
