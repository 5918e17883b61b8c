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

/// A position in the integers of a GNSS receiver, before a ``FixQuantizer`` rounds it to the codes of a ``Fix``.
///
/// Time and position are always known; every other value is nil when the receiver does not report it.
public struct GNSSReading: Equatable, Sendable {
    /// Time of the position in UTC, in milliseconds since 1970-01-01T00:00:00Z. Within ``Fix/timeRange``.
    public var unixMilliseconds: Int64
    /// Latitude in degrees × 10⁷, −900,000,000 … 900,000,000, north positive.
    public var latitudeE7: Int32
    /// Longitude in degrees × 10⁷, −1,800,000,000 … 1,800,000,000, east positive.
    public var longitudeE7: Int32
    /// Altitude above mean sea level in millimetres.
    public var altitudeMillimeters: Int32?
    /// Horizontal accuracy (a radius) in millimetres.
    public var horizontalAccuracyMillimeters: UInt32?
    /// Vertical accuracy in millimetres.
    public var verticalAccuracyMillimeters: UInt32?
    /// Speed over ground in mm/s.
    public var speedMillimetersPerSecond: UInt32?
    /// Course over ground from true north in hundredths of a degree, 0 … 36,000. A finer fraction is cut off, not rounded: the
    /// codes of a course change at whole degrees.
    public var courseCentidegrees: UInt16?

    /// Creates a reading without checking it; ``FixQuantizer/fix(from:batteryPercent:heading:)`` checks it.
    public init(
        unixMilliseconds: Int64, latitudeE7: Int32, longitudeE7: Int32, altitudeMillimeters: Int32? = nil,
        horizontalAccuracyMillimeters: UInt32? = nil, verticalAccuracyMillimeters: UInt32? = nil,
        speedMillimetersPerSecond: UInt32? = nil, courseCentidegrees: UInt16? = nil
    ) {
        self.unixMilliseconds = unixMilliseconds
        self.latitudeE7 = latitudeE7
        self.longitudeE7 = longitudeE7
        self.altitudeMillimeters = altitudeMillimeters
        self.horizontalAccuracyMillimeters = horizontalAccuracyMillimeters
        self.verticalAccuracyMillimeters = verticalAccuracyMillimeters
        self.speedMillimetersPerSecond = speedMillimetersPerSecond
        self.courseCentidegrees = courseCentidegrees
    }
}

extension PositionStep {
    /// Selects the step of a fix's position by its horizontal accuracy: 1e-7° below 0.1 m, 1e-6° below 1 m, else 1e-5°. An
    /// accuracy of 0 or less counts as unknown and selects 1e-5°, because GNSS receivers report 0 for an unknown accuracy.
    ///
    /// Source of the limits: section 5 of PROTOCOL.md.
    /// - Parameters:
    ///   - accuracy: the horizontal accuracy in millimetres. It may have a fraction, which counts.
    ///   - previousStep: the step of the fix before; nil for none. A finer step is kept up to 1.2 times its limit, as each change
    ///     of the step costs about half a byte.
    ///   - coarsest: the result is never coarser than this step.
    public init<Millimeters: Comparable & ExpressibleByIntegerLiteral>(
        forHorizontalAccuracyMillimeters accuracy: Millimeters, previousStep: PositionStep?, coarsest: PositionStep = .e5
    ) {
        if coarsest == .e7 || accuracy > 0 && (accuracy < 100 || previousStep == .e7 && accuracy <= 120) {
            self = .e7
        } else if coarsest == .e6
            || accuracy > 0 && (accuracy < 1000 || previousStep != nil && previousStep != .e5 && accuracy <= 1200)
        {
            self = .e6
        } else {
            self = .e5
        }
    }
}
