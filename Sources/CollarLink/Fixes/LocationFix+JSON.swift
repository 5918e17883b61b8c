import CollarFormats
import FoundationEssentials

extension LocationFix: Codable {
    enum CodingKeys: String, CodingKey {
        case id
        case unixMilliseconds = "ts_unix_ms"
        case source
        case coordinate
        case latitude = "lat"
        case longitude = "lon"
        case altitude = "alt_m"
        case horizontalAccuracy = "h_accuracy_m"
        case verticalAccuracy = "v_accuracy_m"
        case speed = "speed_mps"
        case course = "course_deg"
        case heading = "heading_deg"
        case batteryPercent = "battery_pct"
        case sequence = "seq"
    }

    private enum CoordinateKeys: String, CodingKey {
        case latitude, longitude
    }

    /// Decodes either flavour: a nested `coordinate`, or `lat` and `lon` at the top level. A fix without an `id` gets a
    /// random one; a fix without a `source` counts as a collar's. Keys that do not belong to a fix are ignored.
    /// - Throws: `DecodingError` whose coding path names the field and whose description says what is wrong with it.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func number(_ key: CodingKeys) throws -> DecimalNumber? { try container.decodeIfPresent(DecimalNumber.self, forKey: key) }
        var fields = FixFields()
        fields.identifier = try container.decodeIfPresent(UUID.self, forKey: .id).map(UUIDHalves.init)
        fields.unixMilliseconds = try number(.unixMilliseconds)
        fields.source = try container.decodeIfPresent(String.self, forKey: .source)
        if container.contains(.coordinate) {
            let nested = try container.nestedContainer(keyedBy: CoordinateKeys.self, forKey: .coordinate)
            fields.hasNestedCoordinate = true
            fields.latitude = try nested.decodeIfPresent(DecimalNumber.self, forKey: .latitude)
            fields.longitude = try nested.decodeIfPresent(DecimalNumber.self, forKey: .longitude)
        } else {
            fields.latitude = try number(.latitude)
            fields.longitude = try number(.longitude)
        }
        fields.altitude = try number(.altitude)
        fields.horizontalAccuracy = try number(.horizontalAccuracy)
        fields.verticalAccuracy = try number(.verticalAccuracy)
        fields.speed = try number(.speed)
        fields.course = try number(.course)
        fields.heading = try number(.heading)
        fields.batteryPercent = try number(.batteryPercent)
        fields.sequence = try number(.sequence)
        do {
            self = LocationFix(try fields.values())
        } catch {
            throw LocationFix.decodingError(error, at: decoder.codingPath)
        }
    }

    private static func decodingError(_ error: FixFieldError, at path: [any CodingKey]) -> DecodingError {
        let parts = error.field.split(separator: ".").compactMap { part -> (any CodingKey)? in
            CodingKeys(stringValue: String(part)) ?? CoordinateKeys(stringValue: String(part))
        }
        let text = "\(error.field): \(error.problem)"
        switch error {
        case .missing:
            let context = DecodingError.Context(codingPath: path + parts.dropLast(), debugDescription: text)
            return .keyNotFound(parts.last ?? CodingKeys.coordinate, context)
        case .wrong: return .dataCorrupted(DecodingError.Context(codingPath: path + parts, debugDescription: text))
        }
    }

    /// Encodes the full flavour: every key, with null for an unknown altitude or heading and −1 for any other unknown value.
    /// - Throws: `EncodingError` when a value is not a finite number.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        func invalid(_ value: Any, _ key: CodingKeys) -> EncodingError {
            let context = EncodingError.Context(
                codingPath: encoder.codingPath + [key], debugDescription: "\(value) is not a finite number")
            return .invalidValue(value, context)
        }
        guard let unixMilliseconds = timestamp.unixMilliseconds else { throw invalid(timestamp, .unixMilliseconds) }
        guard let battery = DecimalNumber(batteryFraction) else { throw invalid(batteryFraction, .batteryPercent) }
        // The multiplication is decimal, so that 0.29 is written as 29 and reads back as 0.29.
        let batteryPercent = battery.isNegative ? battery : battery.scaled(byPowerOfTen: 2)
        try container.encode(id, forKey: .id)
        try container.encode(unixMilliseconds, forKey: .unixMilliseconds)
        try container.encode(source, forKey: .source)
        try container.encode(coordinate, forKey: .coordinate)
        try container.encode(altitudeMeters, forKey: .altitude)
        try container.encode(horizontalAccuracyMeters, forKey: .horizontalAccuracy)
        try container.encode(verticalAccuracyMeters, forKey: .verticalAccuracy)
        try container.encode(speedMetersPerSecond, forKey: .speed)
        try container.encode(courseDegrees, forKey: .course)
        try container.encode(headingDegrees, forKey: .heading)
        try container.encode(batteryPercent, forKey: .batteryPercent)
        try container.encode(sequence, forKey: .sequence)
    }
}

extension DecimalNumber: Codable {
    /// Decodes a number with all its digits through `Decimal` if the decoder supports that, else through a `Double`.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let decimal = try? container.decode(Decimal.self), let number = DecimalNumber(text: decimal.description) {
            self = number
            return
        }
        let value = try container.decode(Double.self)
        guard let number = DecimalNumber(value) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(value) is not a finite number")
        }
        self = number
    }

    /// Encodes every digit: a time in milliseconds may have more digits than a `Double` holds.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        // `Decimal` holds exponents from −128 to 127; for numbers near or beyond these limits a `Double` is good enough.
        if exponent > -100, exponent < 80, let decimal = Decimal(string: description) {
            try container.encode(decimal)
        } else {
            try container.encode(doubleValue ?? 0)
        }
    }
}

/// Reads fixes from lines of JSON. The lines are from another program's track, in the full or the compact flavour, or from
/// the output of `collar-link`.
public struct TrackLineReader: Sendable {
    /// Creates a reader, which keeps no state between lines.
    public init() {}

    /// Reads one line. It must contain the time `ts_unix_ms`, the position and, if `defaultSequence` is nil, the sequence
    /// `seq`. All other keys can be absent or null: such a `source` means `collar`, such an `id` is replaced by a random one,
    /// and any other such value is unknown. Keys that do not belong to a fix are ignored.
    ///
    /// ```swift
    /// let fix = try TrackLineReader().fix(
    ///     fromLine: #"{"ts_unix_ms":1699401234567,"lat":37.7749,"lon":-122.4194}"#.utf8, lineNumber: 1, defaultSequence: 0)
    /// ```
    /// - Parameters:
    ///   - line: the line, with or without its line terminator; it must not be blank.
    ///   - lineNumber: the number of the line in the file, from 1, for messages.
    ///   - defaultSequence: the sequence of a line that has none.
    /// - Throws: `TrackLineError` with the wrong field and the problem.
    public func fix(
        fromLine line: some Sequence<UInt8>, lineNumber: Int, defaultSequence: Int? = nil
    ) throws(TrackLineError) -> LocationFix {
        LocationFix(try TrackLine.values(of: line, lineNumber: lineNumber, defaultSequence: defaultSequence))
    }
}
