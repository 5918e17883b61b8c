import CollarWire
import Testing

extension Fix {
    /// The fix that a vector gives as an anchor.
    init(vectorFields fields: [String: FieldValue]) throws {
        let fields = VectorFields(fields: fields)
        let source = FixSource(rawValue: try fields.known("source"))
        let positionStep = PositionStep(rawValue: try fields.known("position_step"))
        let altitudeStep = AltitudeStep(rawValue: try fields.known("altitude_step"))
        self.init(
            sequence: try fields.known("sequence"), unixMilliseconds: try fields.known("time"),
            source: try #require(source), positionStep: try #require(positionStep),
            latitudeSteps: try fields.known("latitude"), longitudeSteps: try fields.known("longitude"),
            altitudeStep: try #require(altitudeStep), altitudeSteps: try fields.integer("altitude"),
            horizontalAccuracy: try fields.integer("horizontal_accuracy").flatMap(AccuracyCode.init(rawValue:)),
            verticalAccuracy: try fields.integer("vertical_accuracy").flatMap(AccuracyCode.init(rawValue:)),
            speedDecimetersPerSecond: try fields.integer("speed"),
            course: try fields.integer("course").flatMap(AngleCode.init(steps:)),
            heading: try fields.integer("heading").flatMap(AngleCode.init(steps:)),
            batteryPercent: try fields.integer("battery"))
    }
}

private struct VectorFields {
    let fields: [String: FieldValue]

    /// The number in a field; nil if it is unknown.
    func integer<Number: FixedWidthInteger>(_ name: String) throws -> Number? {
        let value = try #require(fields[name])
        guard case .integer(let integer) = value else { return nil }
        let number = Number(exactly: integer)
        _ = try #require(number)
        return number
    }

    func known<Number: FixedWidthInteger>(_ name: String) throws -> Number {
        let number: Number? = try integer(name)
        return try #require(number)
    }
}
