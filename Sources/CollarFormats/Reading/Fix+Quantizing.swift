import CollarWire

extension Fix {
    /// Rounds a fix to the codes in which it is logged and sent, as the library's `Fix.init(quantizing:)` of a `LocationFix` documents.
    /// - Parameter previousStep: the position step of the fix before, which a slightly worse accuracy keeps; nil for none.
    /// - Throws: an error for the first field whose value the protocol cannot carry. Only accuracies are clamped instead.
    package init(
        quantizing values: FixValues, positionStep: PositionStep? = nil, previousStep: PositionStep? = nil,
        altitudeStep: AltitudeStep = .meter
    ) throws(QuantizationError) {
        let step =
            positionStep
            ?? PositionStep(forHorizontalAccuracyMillimeters: values.horizontalAccuracyMeters * 1000, previousStep: previousStep)
        self.init(
            sequence: try quantizedSequence(values.sequence),
            unixMilliseconds: try quantizedTime(values.unixMilliseconds),
            source: values.source, positionStep: step,
            latitudeSteps: try quantizedAngle(values.latitude, "coordinate.latitude", limit: 90, step: step),
            longitudeSteps: try quantizedAngle(values.longitude, "coordinate.longitude", limit: 180, step: step),
            altitudeStep: altitudeStep,
            altitudeSteps: try quantizedAltitude(values.altitudeMeters, step: altitudeStep),
            horizontalAccuracy: try quantizedAccuracy(values.horizontalAccuracyMeters, "h_accuracy_m"),
            verticalAccuracy: try quantizedAccuracy(values.verticalAccuracyMeters, "v_accuracy_m"),
            speedDecimetersPerSecond: try quantizedSpeed(values.speedMetersPerSecond),
            course: try quantizedDirection(values.courseDegrees, "course_deg"),
            heading: try quantizedDirection(values.headingDegrees ?? FixValues.unknown, "heading_deg"),
            batteryPercent: try quantizedBattery(values.batteryFraction))
    }
}

private func quantizedSequence(_ sequence: Int) throws(QuantizationError) -> UInt32 {
    guard let code = UInt32(exactly: sequence), code <= Fix.maximumSequence else {
        throw QuantizationError(field: "seq", value: "\(sequence)", range: "0…\(Fix.maximumSequence)")
    }
    return code
}

private func quantizedTime(_ exact: DecimalNumber) throws(QuantizationError) -> Int64 {
    guard let code = exact.rounded(toFractionDigits: 0), Fix.timeRange.contains(code) else {
        throw QuantizationError(
            field: "ts_unix_ms", value: "\(exact)", range: "\(Fix.timeRange.lowerBound)…\(Fix.timeRange.upperBound)")
    }
    return code
}

private func quantizedAngle(
    _ degrees: Double, _ field: String, limit: Int, step: PositionStep
) throws(QuantizationError) -> Int32 {
    guard degrees.magnitude <= Double(limit),
        let steps = DecimalNumber(degrees)?.rounded(toFractionDigits: step.fractionDigits),
        let code = Int32(exactly: steps)
    else { throw QuantizationError(field: field, value: "\(degrees)", range: "-\(limit)…\(limit)") }
    return code
}

private func quantizedAltitude(_ meters: Double?, step: AltitudeStep) throws(QuantizationError) -> Int32? {
    guard let meters else { return nil }
    guard let steps = DecimalNumber(meters)?.rounded(toFractionDigits: step.fractionDigits),
        let code = Int32(exactly: steps), Fix.altitudeStepsRange.contains(code)
    else {
        let lowest = DecimalNumber(significand: Int128(Fix.altitudeStepsRange.lowerBound), exponent: -step.fractionDigits)
        let highest = DecimalNumber(significand: Int128(Fix.altitudeStepsRange.upperBound), exponent: -step.fractionDigits)
        throw QuantizationError(field: "alt_m", value: "\(meters)", range: "\(lowest)…\(highest)")
    }
    return code
}

private func quantizedAccuracy(_ meters: Double, _ field: String) throws(QuantizationError) -> AccuracyCode? {
    guard !(meters < 0) else { return nil }
    guard let exact = DecimalNumber(meters) else {
        throw QuantizationError(field: field, value: "\(meters)", range: "0 or more")
    }
    // A value that does not fit `UInt32` is above the last code, which means "this or more".
    let millimeters = exact.rounded(toFractionDigits: 3).flatMap { UInt32(exactly: $0) } ?? .max
    // 0.0004 m is rounded to 0 mm, but is a positive accuracy.
    return AccuracyCode(roundingMillimeters: exact.significand == 0 ? 0 : max(millimeters, 1))
}

private func quantizedSpeed(_ metersPerSecond: Double) throws(QuantizationError) -> UInt32? {
    guard !(metersPerSecond < 0) else { return nil }
    guard let steps = DecimalNumber(metersPerSecond)?.rounded(toFractionDigits: 1),
        let code = UInt32(exactly: steps), code <= Fix.maximumSpeedDecimetersPerSecond
    else {
        let highest = DecimalNumber(significand: Int128(Fix.maximumSpeedDecimetersPerSecond), exponent: -1)
        throw QuantizationError(field: "speed_mps", value: "\(metersPerSecond)", range: "0…\(highest)")
    }
    return code
}

private func quantizedDirection(_ degrees: Double, _ field: String) throws(QuantizationError) -> AngleCode? {
    guard !(degrees < 0) else { return nil }
    guard degrees <= 360 else { throw QuantizationError(field: field, value: "\(degrees)", range: "0…360") }
    // Codes change at odd whole degrees, so the fraction of a degree can be cut off. Rounding to hundredths instead would
    // round 0.995° twice: to 1° and then to 2°.
    return AngleCode(nearestToCentidegrees: 100 * Int(degrees))
}

private func quantizedBattery(_ fraction: Double) throws(QuantizationError) -> UInt8? {
    guard !(fraction < 0) else { return nil }
    guard fraction <= 1, let percent = DecimalNumber(fraction)?.rounded(toFractionDigits: 2),
        let code = UInt8(exactly: percent)
    else {
        let value = DecimalNumber(fraction).map { "\($0.scaled(byPowerOfTen: 2))" } ?? "\(fraction)"
        throw QuantizationError(field: "battery_pct", value: value, range: "0…100")
    }
    return code
}

/// A value of a fix that the protocol cannot carry.
public struct QuantizationError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The JSON key of the field, with a dot before a nested part: `speed_mps`, `coordinate.latitude`.
    public let field: String
    /// The value of the field, in the unit of that key.
    public let value: String
    /// The values that can be carried, in the same unit.
    public let range: String

    /// Creates an error.
    public init(field: String, value: String, range: String) {
        self.field = field
        self.value = value
        self.range = range
    }

    /// The error in one sentence: "speed_mps: 200000 is outside 0…104857.5".
    public var description: String { "\(field): \(value) is outside \(range)" }
}
