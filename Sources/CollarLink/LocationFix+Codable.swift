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
        func number(_ key: CodingKeys) throws -> DecimalNumber? {
            try container.decodeIfPresent(DecimalNumber.self, forKey: key)
        }
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
        case .wrong:
            return .dataCorrupted(DecodingError.Context(codingPath: path + parts, debugDescription: text))
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
