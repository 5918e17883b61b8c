/// Rounds the readings of a GNSS receiver to fixes, as section 5 of PROTOCOL.md says. It remembers the position step of the fix
/// before, because a finer step is kept while the accuracy gets only slightly worse.
public struct FixQuantizer: Sendable {
    /// The coarsest step of positions; a good accuracy selects a finer one.
    public var coarsestPositionStep: PositionStep
    /// The step of altitudes.
    public var altitudeStep: AltitudeStep
    private var previousStep: PositionStep?

    /// Creates a quantiser that has made no fix.
    public init(coarsestPositionStep: PositionStep = .e5, altitudeStep: AltitudeStep = .meter) {
        self.coarsestPositionStep = coarsestPositionStep
        self.altitudeStep = altitudeStep
    }

    /// Rounds a reading to the codes of a fix of the source `collar`; its sequence is 0, and the log gives it another one.
    ///
    /// Position and altitude are rounded to the nearest step, halves away from zero; speed and course to the nearest code,
    /// halves up; accuracies to the nearest code, and a positive one never to 0. An altitude, speed or course out of the range
    /// of its field is unknown in the fix.
    /// - Parameters:
    ///   - reading: the reading.
    ///   - batteryPercent: the charge of the battery, 0 … 100; nil, or a value out of range, is unknown.
    ///   - heading: the direction of the collar's compass; nil without one.
    /// - Throws: ``EncodeError/field(_:value:)`` if time, latitude or longitude is out of range; the quantiser does not change then.
    public mutating func fix(
        from reading: GNSSReading, batteryPercent: UInt8? = nil, heading: AngleCode? = nil
    ) throws(EncodeError) -> Fix {
        let step = PositionStep(
            forHorizontalAccuracyMillimeters: reading.horizontalAccuracyMillimeters ?? 0, previousStep: previousStep,
            coarsest: coarsestPositionStep)
        let divisor = PositionStep.e7.stepsPerQuarterTurn / step.stepsPerQuarterTurn
        // The range is checked before the rounding, which overflows for the largest integers.
        guard reading.latitudeE7.magnitude <= PositionStep.e7.stepsPerQuarterTurn.magnitude else {
            throw .field(.latitude, value: UInt32(bitPattern: reading.latitudeE7))
        }
        guard reading.longitudeE7.magnitude <= 2 * PositionStep.e7.stepsPerQuarterTurn.magnitude else {
            throw .field(.longitude, value: UInt32(bitPattern: reading.longitudeE7))
        }
        var fix = Fix(
            sequence: 0, unixMilliseconds: reading.unixMilliseconds, positionStep: step,
            latitudeSteps: reading.latitudeE7.roundedQuotient(by: divisor),
            longitudeSteps: reading.longitudeE7.roundedQuotient(by: divisor), altitudeStep: altitudeStep)
        guard Fix.timeRange.contains(fix.unixMilliseconds) else { throw .field(.time, value: 0) }
        fix.altitudeSteps = reading.altitudeMillimeters.flatMap { altitudeSteps($0) }
        fix.horizontalAccuracy = reading.horizontalAccuracyMillimeters.map { AccuracyCode(roundingMillimeters: $0) }
        fix.verticalAccuracy = reading.verticalAccuracyMillimeters.map { AccuracyCode(roundingMillimeters: $0) }
        fix.speedDecimetersPerSecond = reading.speedMillimetersPerSecond.flatMap { speed in
            let decimeters = speed / 100 &+ (speed % 100 < 50 ? 0 : 1)
            return decimeters <= Fix.maximumSpeedDecimetersPerSecond ? decimeters : nil
        }
        fix.course = reading.courseCentidegrees.flatMap { AngleCode(nearestToCentidegrees: Int($0)) }
        fix.heading = heading
        fix.batteryPercent = batteryPercent.flatMap { $0 <= Fix.maximumBatteryPercent ? $0 : nil }
        previousStep = step
        return fix
    }

    private func altitudeSteps(_ millimeters: Int32) -> Int32? {
        let divisor: Int32 = altitudeStep == .meter ? 1000 : 100
        // Altitudes are limited to the range that has room for the rounding.
        guard millimeters.magnitude <= 2_000_000_000 else { return nil }
        let steps = millimeters.roundedQuotient(by: divisor)
        return Fix.altitudeStepsRange.contains(steps) ? steps : nil
    }
}
