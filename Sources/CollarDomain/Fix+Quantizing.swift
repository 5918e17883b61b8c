import CollarWire
import FoundationEssentials

extension Fix {
    /// Rounds a fix to the codes in which it is logged and sent.
    ///
    /// Position, altitude, speed, battery and time go to the nearest step, halves away from zero, computed in decimal
    /// integers. Course and heading go to the nearest 2°, 360° to 0°. Accuracies go to the nearest code in
    /// millimetres; above the last code they become the last one, which means "this or more", and a positive one never
    /// becomes the code for exactly 0.
    ///
    /// - Parameters:
    ///   - location: the fix.
    ///   - positionStep: the step of the position. By default 1e-5°, refined where the horizontal accuracy is
    ///     better than 1 m: 1e-6° from 0.1 m, 1e-7° below. An accuracy of exactly 0 says nothing and refines nothing.
    ///   - altitudeStep: the step of the altitude.
    /// - Throws: the first field the protocol cannot carry. Nothing is clamped.
    public init(
        quantizing location: LocationFix, positionStep: PositionStep? = nil, altitudeStep: AltitudeStep = .meter
    ) throws(QuantizationError) {
        let step = positionStep ?? PositionStep(forHorizontalAccuracyMeters: location.horizontalAccuracyMeters)
        self.init(
            sequence: try quantizedSequence(location.sequence),
            unixMilliseconds: try quantizedTime(location.timestamp),
            source: FixSource(location.source), positionStep: step,
            latitudeSteps: try quantizedAngle(
                location.coordinate.latitude, "coordinate.latitude", limit: 90, step: step),
            longitudeSteps: try quantizedAngle(
                location.coordinate.longitude, "coordinate.longitude", limit: 180, step: step),
            altitudeStep: altitudeStep,
            altitudeSteps: try quantizedAltitude(location.altitudeMeters, step: altitudeStep),
            horizontalAccuracy: try quantizedAccuracy(location.horizontalAccuracyMeters, "h_accuracy_m"),
            verticalAccuracy: try quantizedAccuracy(location.verticalAccuracyMeters, "v_accuracy_m"),
            speedDecimetersPerSecond: try quantizedSpeed(location.speedMetersPerSecond),
            course: try quantizedDirection(location.courseDegrees, "course_deg"),
            heading: try quantizedDirection(location.headingDegrees ?? LocationFix.unknown, "heading_deg"),
            batteryPercent: try quantizedBattery(location.batteryFraction))
    }
}

extension PositionStep {
    /// The coarsest step that loses nothing worth having at an accuracy in metres; any negative one is unknown.
    public init(forHorizontalAccuracyMeters accuracy: Double) {
        switch accuracy {
        case 0.1..<1: self = .e6
        case Double.leastNonzeroMagnitude..<0.1: self = .e7
        default: self = .e5
        }
    }
}

extension FixSource {
    /// The wire's code of a source.
    public init(_ source: LocationFix.Source) {
        switch source {
        case .watchOS: self = .watchOS
        case .iOS: self = .iOS
        case .collar: self = .collar
        }
    }
}

private func quantizedSequence(_ sequence: Int) throws(QuantizationError) -> UInt32 {
    guard let code = UInt32(exactly: sequence), code <= Fix.maximumSequence else {
        throw QuantizationError(field: "seq", value: "\(sequence)", range: "0…\(Fix.maximumSequence)")
    }
    return code
}

private func quantizedTime(_ timestamp: Date) throws(QuantizationError) -> Int64 {
    let exact = timestamp.unixMilliseconds
    guard let code = exact?.rounded(toFractionDigits: 0), Fix.timeRange.contains(code) else {
        let seconds = timestamp.timeIntervalSince1970
        throw QuantizationError(
            field: "ts_unix_ms", value: exact.map { "\($0)" } ?? "\(seconds * 1000)",
            range: "\(Fix.timeRange.lowerBound)…\(Fix.timeRange.upperBound)")
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
        let lowest = DecimalNumber(
            significand: Int128(Fix.altitudeStepsRange.lowerBound), exponent: -step.fractionDigits)
        let highest = DecimalNumber(
            significand: Int128(Fix.altitudeStepsRange.upperBound), exponent: -step.fractionDigits)
        throw QuantizationError(field: "alt_m", value: "\(meters)", range: "\(lowest)…\(highest)")
    }
    return code
}

private func quantizedAccuracy(_ meters: Double, _ field: String) throws(QuantizationError) -> AccuracyCode? {
    guard !(meters < 0) else { return nil }
    guard let exact = DecimalNumber(meters) else {
        throw QuantizationError(field: field, value: "\(meters)", range: "0 or more")
    }
    // What does not fit is above the last code, which means "this or more".
    let millimeters = exact.rounded(toFractionDigits: 3).flatMap { UInt32(exactly: $0) } ?? .max
    let nearest = AccuracyCode(nearestToMillimeters: millimeters)
    // Receivers say 0 when they do not know; a real accuracy of 4 mm must not come to look like that.
    if nearest.rawValue == 0, exact.significand != 0 { return AccuracyCode(rawValue: 1) }
    return nearest
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
    // Codes change at odd whole degrees, so the whole degrees decide; hundredths would round 0.995 twice.
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
