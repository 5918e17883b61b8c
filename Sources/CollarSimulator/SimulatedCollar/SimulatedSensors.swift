import CollarFirmware
import CollarWire
import Glibc

/// The battery of a simulated collar, whose charge falls evenly.
package struct SimulatedBattery: Equatable, Sendable {
    /// The charge at the first fix, 0 … 100 percent.
    package let startPercent: Double
    /// How much the charge falls in an hour of the track, in percent.
    package let percentPerHour: Double

    package init(startPercent: Double, percentPerHour: Double = 0) {
        self.startPercent = startPercent
        self.percentPerHour = percentPerHour
    }

    /// The reading of a battery gauge at this time after the first fix.
    package func reading(afterMilliseconds milliseconds: Int64) -> BatteryReading {
        let percent = min(max(startPercent - percentPerHour * Double(milliseconds) / 3_600_000, 0), 100)
        // A cell of lithium has 3.3 V when it is empty and 4.2 V when it is full.
        return BatteryReading(percent: UInt8(percent.rounded()), millivolts: UInt16((3300 + 9 * percent).rounded()), celsius: 20)
    }
}

/// The error of a simulated GNSS receiver. It varies slowly, as that of a real one does, because the satellites and the air above
/// change slowly.
package struct SimulatedNoise: Sendable {
    /// The standard deviation along each axis, in metres.
    package let meters: Double
    private var random: SeededRandom
    private var north = 0.0
    private var east = 0.0
    private var lastMilliseconds: Int64?

    /// The time in which most of an error is forgotten, in milliseconds.
    private static let memoryMilliseconds = 60_000.0

    /// Creates the error of a receiver; equal seeds give equal errors.
    package init(meters: Double, seed: UInt64) {
        self.meters = meters
        random = SeededRandom(seed: seed)
    }

    /// Displaces a reading, and makes it tell how accurate it is.
    package mutating func disturb(_ reading: inout GNSSReading) {
        let elapsed = lastMilliseconds.map { max(0, reading.unixMilliseconds - $0) }
        lastMilliseconds = reading.unixMilliseconds
        // A first-order Gauss-Markov process: its deviation is the same at all times.
        let kept = elapsed.map { exp(-Double($0) / Self.memoryMilliseconds) } ?? 0
        let added = (1 - kept * kept).squareRoot() * meters
        north = kept * north + added * nextNormal()
        east = kept * east + added * nextNormal()
        let metersPerE7 = 0.011_119_5
        let latitude = Double(reading.latitudeE7) / 1e7 * .pi / 180
        let quarter = Int32(900_000_000)
        reading.latitudeE7 = min(max(reading.latitudeE7 + Int32(north / metersPerE7), -quarter), quarter)
        let shift = Int32(clamping: Int64(east / (metersPerE7 * max(cos(latitude), 0.01))))
        reading.longitudeE7 = min(max(reading.longitudeE7, shift - 2 * quarter), 2 * quarter - abs(shift)) + shift
        reading.horizontalAccuracyMillimeters = UInt32(meters * 1000)
    }

    /// A number of the standard normal distribution (G. Box and M. Muller, 1958).
    private mutating func nextNormal() -> Double {
        let first = Double(random.next() >> 11 + 1) * 0x1p-53
        let second = Double(random.next() >> 11) * 0x1p-53
        return (-2 * log(first)).squareRoot() * cos(2 * .pi * second)
    }
}

extension GNSSReading {
    /// The reading that is quantised to a fix.
    init(_ fix: Fix) {
        let factor = PositionStep.e7.stepsPerQuarterTurn / fix.positionStep.stepsPerQuarterTurn
        self.init(
            unixMilliseconds: fix.unixMilliseconds, latitudeE7: fix.latitudeSteps * factor,
            longitudeE7: fix.longitudeSteps * factor,
            altitudeMillimeters: fix.altitudeSteps.map { $0 * (fix.altitudeStep == .meter ? 1000 : 100) },
            horizontalAccuracyMillimeters: fix.horizontalAccuracy?.millimeters,
            verticalAccuracyMillimeters: fix.verticalAccuracy?.millimeters,
            speedMillimetersPerSecond: fix.speedDecimetersPerSecond.map { $0 * 100 },
            courseCentidegrees: fix.course.map { UInt16($0.degrees * 100) })
    }
}
