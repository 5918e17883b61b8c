/// Reads the fix from one line of JSON. The line is from another program's track, in the full or the compact flavour, or
/// from the output of `collar-link`.
package enum TrackLine {
    /// Reads a line. It must contain the time `ts_unix_ms`, the position and, if `defaultSequence` is nil, the sequence
    /// `seq`. Every other key can be absent or null: then the source is `collar`, and any other value is
    /// unknown. Keys that do not belong to a fix are ignored.
    /// - Parameters:
    ///   - line: the line, with or without its line terminator; it must not be blank.
    ///   - lineNumber: the number of the line in the file, from 1, for messages.
    ///   - defaultSequence: the sequence of a line that has none.
    /// - Throws: ``TrackLineError`` with the wrong field and the problem.
    package static func values(
        of line: some Sequence<UInt8>, lineNumber: Int, defaultSequence: Int? = nil
    ) throws(TrackLineError) -> FixValues {
        let value: JSONValue
        do {
            value = try JSONScanner.value(of: Array(line))
        } catch {
            throw TrackLineError(
                lineNumber: lineNumber, field: nil, byteOffset: error.byteOffset, problem: error.problem)
        }
        guard case .object(let members) = value else {
            throw TrackLineError(
                lineNumber: lineNumber, field: nil, byteOffset: nil,
                problem: "\(value.kind), where an object {…} is expected")
        }
        do {
            return try FixFields(members: members).values(defaultSequence: defaultSequence)
        } catch {
            throw TrackLineError(
                lineNumber: lineNumber, field: error.field, byteOffset: nil, problem: error.problem)
        }
    }
}

extension FixFields {
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
                throw .wrong("coordinate", "\(coordinate.kind), where an object is expected")
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

/// The value of a key; nil when it is absent. A key given twice is an error, as neither value can be trusted.
private func value(
    _ key: String, in members: [JSONValue.Member], prefix: String = ""
) throws(FixFieldError) -> JSONValue? {
    var found: JSONValue?
    for member in members where member.key == key {
        guard found == nil else { throw .wrong(prefix + key, "given twice") }
        found = member.value
    }
    return found
}

/// The number of a key; nil when it is absent or null.
private func number(
    _ key: String, in members: [JSONValue.Member], prefix: String = ""
) throws(FixFieldError) -> DecimalNumber? {
    guard let value = try value(key, in: members, prefix: prefix), value != .null else { return nil }
    guard case .number(let text) = value else {
        throw .wrong(prefix + key, "\(value.kind), where a number is expected")
    }
    guard let number = DecimalNumber(text: text) else { throw .wrong(prefix + key, "\(text) is too long a number") }
    return number
}

/// The string of a key; nil when it is absent or null.
private func string(_ key: String, in members: [JSONValue.Member]) throws(FixFieldError) -> String? {
    guard let value = try value(key, in: members), value != .null else { return nil }
    guard case .string(let text) = value else { throw .wrong(key, "\(value.kind), where a string is expected") }
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
    /// What is wrong, and what was expected.
    public let problem: String

    /// Creates an error.
    public init(lineNumber: Int, field: String?, byteOffset: Int?, problem: String) {
        self.lineNumber = lineNumber
        self.field = field
        self.byteOffset = byteOffset
        self.problem = problem
    }

    /// The error in one line: `line 7: coordinate.latitude: 95.2 is outside -90…90`.
    public var description: String {
        if let field { return "line \(lineNumber): \(field): \(problem)" }
        if let byteOffset { return "line \(lineNumber): not JSON: \(problem) (byte offset \(byteOffset))" }
        return "line \(lineNumber): \(problem)"
    }
}
