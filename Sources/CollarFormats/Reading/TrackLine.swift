import CollarWire

/// Reads the fix from one line of JSON. The line is from another program's track, in the full or the compact flavour, or
/// from the output of `collar-link`.
package enum TrackLine {
    /// Reads a line, as the library's `TrackLineReader` documents. A fix without an `id` has no identifier.
    package static func values(
        of line: some Sequence<UInt8>, lineNumber: Int, defaultSequence: Int? = nil
    ) throws(TrackLineError) -> FixValues {
        let value: JSONValue
        do {
            value = try JSONScanner.value(of: Array(line))
        } catch {
            throw TrackLineError(lineNumber: lineNumber, field: nil, byteOffset: error.byteOffset, problem: error.problem)
        }
        guard case .object(let members) = value else {
            throw TrackLineError(
                lineNumber: lineNumber, field: nil, byteOffset: nil,
                problem: "\(value.kind), where an object {…} is expected")
        }
        do {
            return try FixFields(members: members).values(defaultSequence: defaultSequence)
        } catch {
            throw TrackLineError(lineNumber: lineNumber, field: error.field, byteOffset: nil, problem: error.problem)
        }
    }
}

/// The value of a key; nil when it is absent. A key given twice is an error, as neither value can be trusted.
private func value(_ key: String, in members: [JSONValue.Member], prefix: String = "") throws(FixFieldError) -> JSONValue? {
    var found: JSONValue?
    for member in members where member.key == key {
        guard found == nil else { throw .wrong(prefix + key, "it is given twice") }
        found = member.value
    }
    return found
}

/// The number of a key; nil when it is absent or null.
private func number(_ key: String, in members: [JSONValue.Member], prefix: String = "") throws(FixFieldError) -> DecimalNumber? {
    guard let value = try value(key, in: members, prefix: prefix), value != .null else { return nil }
    guard case .number(let text) = value else {
        throw .wrong(prefix + key, "it is \(value.kind), where a number is expected")
    }
    guard let number = DecimalNumber(text: text) else { throw .wrong(prefix + key, "\(text) is too long a number") }
    return number
}

/// The string of a key; nil when it is absent or null.
private func string(_ key: String, in members: [JSONValue.Member]) throws(FixFieldError) -> String? {
    guard let value = try value(key, in: members), value != .null else { return nil }
    guard case .string(let text) = value else { throw .wrong(key, "it is \(value.kind), where a string is expected") }
    return text
}

/// The error for a line of a track that does not contain a valid fix, with the reason.
public struct TrackLineError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Number of the line, from 1.
    public let lineNumber: Int
    /// The JSON key at fault, with a dot before a nested part; nil when the line is not a JSON object.
    public let field: String?
    /// Byte offset at which the line stops being JSON; nil when the line is valid JSON.
    public let byteOffset: Int?
    /// The problem, and the expected value.
    public let problem: String

    /// Creates an error.
    public init(lineNumber: Int, field: String?, byteOffset: Int?, problem: String) {
        self.lineNumber = lineNumber
        self.field = field
        self.byteOffset = byteOffset
        self.problem = problem
    }

    /// The error in a sentence: `The field coordinate.latitude in line 7 is wrong: 95.2 is outside -90…90.`
    public var description: String {
        if let field { return "The field \(field) in line \(lineNumber) is wrong: \(problem)." }
        if let byteOffset { return "Line \(lineNumber) is not JSON: \(problem) (byte offset \(byteOffset))." }
        return "Line \(lineNumber) is \(problem)."
    }
}

/// The JSON fields of a fix as they were read, before any of them is checked.
///
/// ``TrackLine`` and the `Decodable` conformance of the library's `LocationFix` both fill in this structure, so that they
/// reject the same input with the same message.
package struct FixFields {
    package var identifier: UUIDHalves?
    package var unixMilliseconds: DecimalNumber?
    package var source: String?
    package var latitude: DecimalNumber?
    package var longitude: DecimalNumber?
    /// Whether the position was in a nested `coordinate`. A message about the position names the keys accordingly.
    package var hasNestedCoordinate = false
    package var altitude: DecimalNumber?
    package var horizontalAccuracy: DecimalNumber?
    package var verticalAccuracy: DecimalNumber?
    package var speed: DecimalNumber?
    package var course: DecimalNumber?
    package var heading: DecimalNumber?
    package var batteryPercent: DecimalNumber?
    package var sequence: DecimalNumber?

    package init() {}

    /// The fix, if every required field is present and each field is in its range.
    /// - Throws: the first field that is missing or wrong.
    package func values(defaultSequence: Int? = nil) throws(FixFieldError) -> FixValues {
        guard let unixMilliseconds else { throw .missing("ts_unix_ms") }
        guard unixMilliseconds.rounded(toFractionDigits: 0) != nil else {
            throw .wrong("ts_unix_ms", "\(unixMilliseconds) is not a time in milliseconds since 1970")
        }
        let source = try checkedSource()
        if latitude == nil, longitude == nil, !hasNestedCoordinate { throw .missing("coordinate") }
        return FixValues(
            identifier: identifier, unixMilliseconds: unixMilliseconds, source: source,
            latitude: try angle(latitude, hasNestedCoordinate ? "coordinate.latitude" : "lat", limit: 90),
            longitude: try angle(longitude, hasNestedCoordinate ? "coordinate.longitude" : "lon", limit: 180),
            altitudeMeters: try double(altitude, "alt_m"),
            horizontalAccuracyMeters: try known(horizontalAccuracy, "h_accuracy_m") ?? FixValues.unknown,
            verticalAccuracyMeters: try known(verticalAccuracy, "v_accuracy_m") ?? FixValues.unknown,
            speedMetersPerSecond: try known(speed, "speed_mps") ?? FixValues.unknown,
            courseDegrees: try known(course, "course_deg", atMost: 360) ?? FixValues.unknown,
            headingDegrees: try known(heading, "heading_deg", atMost: 360),
            batteryFraction: try checkedBatteryFraction(), sequence: try checkedSequence(default: defaultSequence))
    }

    private func checkedSource() throws(FixFieldError) -> FixSource {
        // Other programs' tracks do not always contain `source`. A fix without a source counts as a collar's.
        guard let source else { return .collar }
        guard let known = FixSource.names.first(where: { $0.name == source }) else {
            throw .wrong("source", "\"\(source)\" is not one of \(FixSource.names.map(\.name).joined(separator: ", "))")
        }
        return known.source
    }

    /// The number as a `Double`; nil if it is absent or negative, which both mean unknown.
    private func known(_ number: DecimalNumber?, _ key: String, atMost limit: Int? = nil) throws(FixFieldError) -> Double? {
        try double(number, key, atMost: limit).flatMap { $0 < 0 ? nil : $0 }
    }

    private func angle(_ number: DecimalNumber?, _ key: String, limit: Int) throws(FixFieldError) -> Double {
        guard let number else { throw .missing(key) }
        guard let value = number.doubleValue, value.magnitude <= Double(limit) else {
            throw .wrong(key, "\(number) is outside -\(limit)…\(limit)")
        }
        return value
    }

    private func double(_ number: DecimalNumber?, _ key: String, atMost limit: Int? = nil) throws(FixFieldError) -> Double? {
        guard let number else { return nil }
        guard let value = number.doubleValue else { throw .wrong(key, "\(number) is too large") }
        if let limit, value > Double(limit) { throw .wrong(key, "\(number) is outside 0…\(limit)") }
        return value
    }

    private func checkedBatteryFraction() throws(FixFieldError) -> Double {
        guard let batteryPercent, !batteryPercent.isNegative else { return FixValues.unknown }
        // The division is decimal, so that 85.3 becomes the `Double` nearest to 0.853; a division of doubles is less exact.
        guard let fraction = batteryPercent.scaled(byPowerOfTen: -2).doubleValue, fraction <= 1 else {
            throw .wrong("battery_pct", "\(batteryPercent) is outside 0…100")
        }
        return fraction
    }

    private func checkedSequence(default defaultSequence: Int?) throws(FixFieldError) -> Int {
        guard let sequence else {
            guard let defaultSequence else { throw .missing("seq") }
            return defaultSequence
        }
        guard let whole = sequence.rounded(toFractionDigits: 0) else { throw .wrong("seq", "\(sequence) is too large") }
        guard sequence.wholeNumber != nil else {
            throw .wrong("seq", "\(sequence) is not a whole number")
        }
        guard whole >= 0 else { throw .wrong("seq", "\(sequence) is negative") }
        return Int(whole)
    }

    /// Reads the fields from an object's members. Whether they make a fix is checked later.
    fileprivate init(members: [JSONValue.Member]) throws(FixFieldError) {
        self.init()
        if let type = try string("type", in: members), type != "fix" {
            throw .wrong("type", "\"\(type)\" is not \"fix\"")
        }
        if let text = try string("id", in: members) {
            guard let uuid = UUIDHalves(text) else { throw .wrong("id", "\"\(text)\" is not a UUID") }
            identifier = uuid
        }
        source = try string("source", in: members)
        if let coordinate = try value("coordinate", in: members) {
            guard case .object(let parts) = coordinate else {
                throw .wrong("coordinate", "it is \(coordinate.kind), where an object is expected")
            }
            hasNestedCoordinate = true
            latitude = try number("latitude", in: parts, prefix: "coordinate.")
            longitude = try number("longitude", in: parts, prefix: "coordinate.")
        } else {
            latitude = try number("lat", in: members)
            longitude = try number("lon", in: members)
        }
        unixMilliseconds = try number("ts_unix_ms", in: members)
        altitude = try number("alt_m", in: members)
        horizontalAccuracy = try number("h_accuracy_m", in: members)
        verticalAccuracy = try number("v_accuracy_m", in: members)
        speed = try number("speed_mps", in: members)
        course = try number("course_deg", in: members)
        heading = try number("heading_deg", in: members)
        batteryPercent = try number("battery_pct", in: members)
        sequence = try number("seq", in: members)
    }
}

/// A field of a fix's JSON that is missing or wrong.
package enum FixFieldError: Error, Equatable {
    /// A required key is absent. The value is that key, with a dot before a nested part.
    case missing(String)
    /// A key has a wrong value. The values are that key, and what is wrong.
    case wrong(String, String)

    /// The JSON key, with a dot before a nested part.
    package var field: String {
        switch self {
        case .missing(let field), .wrong(let field, _): field
        }
    }

    package var problem: String {
        switch self {
        case .missing: "it is missing"
        case .wrong(_, let problem): problem
        }
    }
}

/// A fix before it is rounded to codes, in the units of its JSON, except that the battery charge is a fraction instead of
/// a percentage. An unknown altitude or heading is nil; every other unknown value is negative.
package struct FixValues: Equatable, Sendable {
    /// The fix's UUID; nil where it has none.
    package var identifier: UUIDHalves?
    /// Milliseconds since 1970, with all their digits.
    package var unixMilliseconds: DecimalNumber
    package var source: FixSource
    /// Degrees north of the equator, −90 … 90.
    package var latitude: Double
    /// Degrees east of Greenwich, −180 … 180.
    package var longitude: Double
    package var altitudeMeters: Double?
    package var horizontalAccuracyMeters: Double
    package var verticalAccuracyMeters: Double
    package var speedMetersPerSecond: Double
    package var courseDegrees: Double
    package var headingDegrees: Double?
    /// 0 … 1.
    package var batteryFraction: Double
    package var sequence: Int

    /// The value of an unknown accuracy, speed, course or battery charge.
    package static let unknown: Double = -1

    package init(
        identifier: UUIDHalves?, unixMilliseconds: DecimalNumber, source: FixSource, latitude: Double, longitude: Double,
        altitudeMeters: Double?, horizontalAccuracyMeters: Double, verticalAccuracyMeters: Double,
        speedMetersPerSecond: Double, courseDegrees: Double, headingDegrees: Double?, batteryFraction: Double, sequence: Int
    ) {
        self.identifier = identifier
        self.unixMilliseconds = unixMilliseconds
        self.source = source
        self.latitude = latitude
        self.longitude = longitude
        self.altitudeMeters = altitudeMeters
        self.horizontalAccuracyMeters = horizontalAccuracyMeters
        self.verticalAccuracyMeters = verticalAccuracyMeters
        self.speedMetersPerSecond = speedMetersPerSecond
        self.courseDegrees = courseDegrees
        self.headingDegrees = headingDegrees
        self.batteryFraction = batteryFraction
        self.sequence = sequence
    }
}

extension FixSource {
    package static let names: [(source: FixSource, name: String)] = [.watchOS, .iOS, .collar].map { ($0, "\($0.name)") }

    /// The name in JSON and CSV.
    var name: StaticString {
        switch self {
        case .watchOS: "watchOS"
        case .iOS: "iOS"
        case .collar: "collar"
        }
    }
}
