/// A fix as the models code it: all numbers alike, whether their fields are known or not.
struct FixCodes {
    var sequence: UInt32
    var unixMilliseconds: Int64
    /// Raw value of a ``FixSource``.
    var source: UInt8
    /// Raw value of a ``PositionStep``.
    var positionStep: UInt8
    /// Raw value of an ``AltitudeStep``.
    var altitudeStep: UInt8
    var presence: FieldPresence
    var latitudeSteps: Int32
    var longitudeSteps: Int32
    /// The fields of ``FieldPresence`` in its order, by ``Field``.
    var fields: InlineArray<7, Int32>

    /// Places in ``fields``.
    enum Field {
        static let altitude = 0
        static let horizontalAccuracy = 1
        static let verticalAccuracy = 2
        static let speed = 3
        static let course = 4
        static let heading = 5
        static let battery = 6
    }

    /// The codes of a fix, 0 where a field is unknown.
    init(of fix: Fix) {
        sequence = fix.sequence
        unixMilliseconds = fix.unixMilliseconds
        source = fix.source.rawValue
        positionStep = fix.positionStep.rawValue
        altitudeStep = fix.altitudeStep.rawValue
        presence = FieldPresence(of: fix)
        latitudeSteps = fix.latitudeSteps
        longitudeSteps = fix.longitudeSteps
        fields = InlineArray(repeating: 0)
        fields[Field.altitude] = fix.altitudeSteps ?? 0
        fields[Field.horizontalAccuracy] = Int32(fix.horizontalAccuracy?.rawValue ?? 0)
        fields[Field.verticalAccuracy] = Int32(fix.verticalAccuracy?.rawValue ?? 0)
        fields[Field.speed] = Int32(truncatingIfNeeded: fix.speedDecimetersPerSecond ?? 0)
        fields[Field.course] = Int32(fix.course?.steps ?? 0)
        fields[Field.heading] = Int32(fix.heading?.steps ?? 0)
        fields[Field.battery] = Int32(fix.batteryPercent ?? 0)
    }

    /// Whether a field is known.
    @inline(__always)
    func isKnown(_ field: Int) -> Bool { presence.rawValue &<< UInt8(truncatingIfNeeded: field) & 0x40 != 0 }

    /// The fix with these codes, which lie in their ranges.
    var fix: Fix {
        Fix(
            sequence: sequence, unixMilliseconds: unixMilliseconds, source: FixSource(rawValue: source) ?? .collar,
            positionStep: PositionStep(rawValue: positionStep) ?? .e5, latitudeSteps: latitudeSteps,
            longitudeSteps: longitudeSteps, altitudeStep: AltitudeStep(rawValue: altitudeStep) ?? .meter,
            altitudeSteps: isKnown(Field.altitude) ? fields[Field.altitude] : nil,
            horizontalAccuracy: byte(Field.horizontalAccuracy).flatMap(AccuracyCode.init(rawValue:)),
            verticalAccuracy: byte(Field.verticalAccuracy).flatMap(AccuracyCode.init(rawValue:)),
            speedDecimetersPerSecond: isKnown(Field.speed) ? UInt32(bitPattern: fields[Field.speed]) : nil,
            course: byte(Field.course).flatMap(AngleCode.init(steps:)),
            heading: byte(Field.heading).flatMap(AngleCode.init(steps:)), batteryPercent: byte(Field.battery))
    }

    private func byte(_ field: Int) -> UInt8? {
        isKnown(field) ? UInt8(truncatingIfNeeded: fields[field]) : nil
    }

    /// Steps in 90 degrees.
    var stepsPerQuarterTurn: Int32 {
        positionStep == 0 ? 9_000_000 : positionStep == 1 ? 90_000_000 : 900_000_000
    }

    /// The same number with so many more decimals, or fewer where it is negative; halves away from zero.
    static func rescale(_ value: Int32, decimals: Int) -> Int32 {
        let factor: Int32 = abs(decimals) == 0 ? 1 : abs(decimals) == 1 ? 10 : 100
        guard decimals < 0 else { return value &* factor }
        return (value &+ (value < 0 ? 0 &- factor : factor) / 2) / factor
    }

    /// The nearest second of a time (halves up) and what is left, −500 … 499 ms.
    static func splitSeconds(_ milliseconds: Int64) -> (seconds: Int64, rest: Int32) {
        let shifted = milliseconds &+ 500
        let remainder = shifted % 1000
        let seconds = (shifted &- remainder) / 1000 &- (remainder < 0 ? 1 : 0)
        return (seconds, Int32(truncatingIfNeeded: milliseconds &- seconds &* 1000))
    }
}
