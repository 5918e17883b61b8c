import CollarFormats
import CollarWire
import FoundationEssentials

extension LocationFix {
    /// Creates a fix from a collar's codes. Each value is the `Double` nearest to the decimal number of its code, so
    /// the JSON made from it has no stray digits.
    /// - Parameters:
    ///   - id: the identifier of the fix, from `FixIdentifier`.
    ///   - fix: the codes.
    public init(id: UUID, fix: Fix) {
        // Dividing one exact integer by another gives the nearest Double; multiplying by 1e-5 would not always give it.
        let stepsPerDegree = Double(fix.positionStep.stepsPerQuarterTurn / 90)
        let stepsPerMeter: Double = fix.altitudeStep == .meter ? 1 : 10
        self.init(
            id: id, timestamp: Date(unixMilliseconds: fix.unixMilliseconds), source: Source(fix.source),
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

extension LocationFix {
    /// Creates the fix with these values. It gets a random `id` if they contain no identifier.
    init(_ values: FixValues) {
        self.init(
            id: values.identifier.map(UUID.init) ?? UUID(), timestamp: Date(unixMilliseconds: values.unixMilliseconds),
            source: Source(values.source), coordinate: Coordinate(latitude: values.latitude, longitude: values.longitude),
            altitudeMeters: values.altitudeMeters, horizontalAccuracyMeters: values.horizontalAccuracyMeters,
            verticalAccuracyMeters: values.verticalAccuracyMeters, speedMetersPerSecond: values.speedMetersPerSecond,
            courseDegrees: values.courseDegrees, headingDegrees: values.headingDegrees,
            batteryFraction: values.batteryFraction, sequence: values.sequence)
    }
}

extension Fix {
    /// Rounds a fix to the codes in which it is logged and sent.
    ///
    /// Position, altitude, speed, battery and time are rounded in decimal arithmetic to the nearest step, with halves
    /// rounded away from zero. Course and heading are rounded to the nearest 2°; 360° becomes 0°. Accuracies are rounded to
    /// millimetres and then to the nearest code. An accuracy above the last code becomes the last code, which means "this
    /// or more"; a positive accuracy never becomes the code for exactly 0.
    ///
    /// - Parameters:
    ///   - location: the fix.
    ///   - positionStep: the step of the position. If nil, the horizontal accuracy selects the step: 1e-7° below 0.1 m, 1e-6°
    ///     below 1 m, else 1e-5°. An accuracy of 0 selects 1e-5°, because GNSS receivers report 0 for an unknown accuracy.
    ///   - altitudeStep: the step of the altitude.
    /// - Throws: an error for the first field whose value the protocol cannot carry. Only accuracies are clamped instead.
    public init(
        quantizing location: LocationFix, positionStep: PositionStep? = nil, altitudeStep: AltitudeStep = .meter
    ) throws(QuantizationError) {
        guard let unixMilliseconds = location.timestamp.unixMilliseconds else {
            let seconds = location.timestamp.timeIntervalSince1970
            throw QuantizationError(field: "ts_unix_ms", value: "\(seconds * 1000)", range: "\(Fix.timeRange.lowerBound)…\(Fix.timeRange.upperBound)")
        }
        let values = FixValues(
            identifier: nil, unixMilliseconds: unixMilliseconds, source: FixSource(location.source),
            latitude: location.coordinate.latitude, longitude: location.coordinate.longitude,
            altitudeMeters: location.altitudeMeters, horizontalAccuracyMeters: location.horizontalAccuracyMeters,
            verticalAccuracyMeters: location.verticalAccuracyMeters, speedMetersPerSecond: location.speedMetersPerSecond,
            courseDegrees: location.courseDegrees, headingDegrees: location.headingDegrees,
            batteryFraction: location.batteryFraction, sequence: location.sequence)
        try self.init(quantizing: values, positionStep: positionStep, altitudeStep: altitudeStep)
    }
}

extension FixSource {
    /// The code that stands for a source in a frame.
    public init(_ source: LocationFix.Source) {
        switch source {
        case .watchOS: self = .watchOS
        case .iOS: self = .iOS
        case .collar: self = .collar
        }
    }
}

extension LocationFix.Source {
    /// The source that a code in a frame stands for.
    public init(_ source: FixSource) {
        switch source {
        case .watchOS: self = .watchOS
        case .iOS: self = .iOS
        case .collar: self = .collar
        }
    }
}

extension FixIdentifier {
    /// The identifier as a UUID of version 8.
    public var uuid: UUID { UUID(UUIDHalves(high: high, low: low)) }

    /// Reads an identifier from a UUID; nil unless `uuid` has version 8 and the variant of RFC 9562, as every identifier does.
    public init?(_ uuid: UUID) {
        let halves = UUIDHalves(uuid)
        self.init(high: halves.high, low: halves.low)
    }
}

extension UUID {
    init(_ halves: UUIDHalves) {
        func byte(_ index: Int) -> UInt8 {
            UInt8(truncatingIfNeeded: (index < 8 ? halves.high : halves.low) >> (56 - 8 * (index % 8)))
        }
        self.init(
            uuid: (
                byte(0), byte(1), byte(2), byte(3), byte(4), byte(5), byte(6), byte(7), byte(8), byte(9), byte(10), byte(11),
                byte(12), byte(13), byte(14), byte(15)
            ))
    }
}

extension UUIDHalves {
    init(_ uuid: UUID) {
        let b = uuid.uuid
        func integer(_ bytes: [UInt8]) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        self.init(
            high: integer([b.0, b.1, b.2, b.3, b.4, b.5, b.6, b.7]),
            low: integer([b.8, b.9, b.10, b.11, b.12, b.13, b.14, b.15]))
    }
}

/// Milliseconds from 1970-01-01 to 2001-01-01, the zero of `Date`.
private let millisecondsTo2001: Int64 = 978_307_200_000

extension Date {
    /// The `Date` nearest to a time in milliseconds since 1970-01-01T00:00:00Z.
    public init(unixMilliseconds: Int64) {
        // The difference and the divisor are exact below 2^53 ms, so the quotient is the nearest Double.
        self.init(timeIntervalSinceReferenceDate: Double(unixMilliseconds - millisecondsTo2001) / 1000)
    }

    /// The `Date` nearest to a decimal number of milliseconds since 1970. A number made by ``unixMilliseconds`` gives the
    /// same `Date` back. If the number needs more than 38 digits, the `Date` is at positive infinity.
    init(unixMilliseconds: DecimalNumber) {
        let seconds = unixMilliseconds.adding(-millisecondsTo2001)?.scaled(byPowerOfTen: -3).doubleValue
        self.init(timeIntervalSinceReferenceDate: seconds ?? .infinity)
    }

    /// Milliseconds since 1970 with every decimal place the `Date` has; nil when the `Date` is not finite or the number
    /// needs more than 38 digits.
    ///
    /// A `Date` counts seconds from 2001 in a `Double`, whose steps are 0.12 µs today. In a `Double` of milliseconds
    /// since 1970 the steps are twice as large, so the milliseconds are decimal.
    var unixMilliseconds: DecimalNumber? {
        DecimalNumber(timeIntervalSinceReferenceDate)?.scaled(byPowerOfTen: 3).adding(millisecondsTo2001)
    }
}
