import CollarWire
import FoundationEssentials

extension LocationFix {
    /// The fix that a collar's codes stand for. Each value is the `Double` nearest to the decimal number of its code,
    /// so the JSON made from it has no stray digits.
    /// - Parameters:
    ///   - id: its identifier, from ``FixIdentifier``.
    ///   - fix: the codes.
    public init(id: UUID, fix: Fix) {
        // Dividing one exact integer by another gives the nearest Double; multiplying by 1e-5 would not.
        let stepsPerDegree = Double(fix.positionStep.stepsPerQuarterTurn / 90)
        let stepsPerMeter: Double = fix.altitudeStep == .meter ? 1 : 10
        self.init(
            id: id, timestamp: Date(unixMilliseconds: fix.unixMilliseconds), source: Source.allCases.first { FixSource($0) == fix.source } ?? .collar,
            coordinate: Coordinate(
                latitude: Double(fix.latitudeSteps) / stepsPerDegree,
                longitude: Double(fix.longitudeSteps) / stepsPerDegree),
            altitudeMeters: fix.altitudeSteps.map { Double($0) / stepsPerMeter },
            horizontalAccuracyMeters: fix.horizontalAccuracy.map { Double($0.millimeters) / 1000 } ?? Self.unknown,
            verticalAccuracyMeters: fix.verticalAccuracy.map { Double($0.millimeters) / 1000 } ?? Self.unknown,
            speedMetersPerSecond: fix.speedDecimetersPerSecond.map { Double($0) / 10 } ?? Self.unknown,
            courseDegrees: fix.course.map { Double($0.degrees) } ?? Self.unknown,
            headingDegrees: fix.heading.map { Double($0.degrees) },
            batteryFraction: fix.batteryPercent.map { Double($0) / 100 } ?? Self.unknown,
            sequence: Int(fix.sequence))
    }
}
