import CollarWire

/// A code for fixes without their sequence, in which all bytes are valid: known fields (1), steps and source (3), time (6),
/// latitude (4), longitude (4), altitude (3), accuracies (2), speed (3), course and heading (2), battery (1).
public enum AnchorBytes {
    /// Bytes of an anchor.
    public static let count = 29

    /// The fix in `input` from `start` on.
    public static func fix(in input: Span<UInt8>, at start: Int) -> Fix {
        var reader = Reader(bytes: input, position: start)
        let known = reader.take(1)
        let positionStep = PositionStep(rawValue: UInt8(reader.take(1) % 3)) ?? .e5
        let altitudeStep: AltitudeStep = reader.take(1) % 2 == 0 ? .meter : .decimeter
        let source = FixSource(rawValue: UInt8(reader.take(1) % 3)) ?? .collar
        let time = Int64(bitPattern: reader.take(6) &<< 16) &>> 16
        let quarterTurn = Int64(positionStep.stepsPerQuarterTurn)
        let latitude = Int64(reader.take(4)) % (2 * quarterTurn + 1) - quarterTurn
        let longitude = Int64(reader.take(4)) % (4 * quarterTurn + 1) - 2 * quarterTurn
        var fix = Fix(
            sequence: 0, unixMilliseconds: time, source: source, positionStep: positionStep,
            latitudeSteps: Int32(latitude), longitudeSteps: Int32(longitude), altitudeStep: altitudeStep)
        let altitude = Int32(reader.take(3)) - 0x80_0000
        fix.altitudeSteps = known & 1 == 0 ? nil : altitude
        let horizontal = AccuracyCode(rawValue: UInt8(reader.take(1) % 127))
        fix.horizontalAccuracy = known & 2 == 0 ? nil : horizontal
        let vertical = AccuracyCode(rawValue: UInt8(reader.take(1) % 127))
        fix.verticalAccuracy = known & 4 == 0 ? nil : vertical
        let speed = UInt32(reader.take(3)) & 0xF_FFFF
        fix.speedDecimetersPerSecond = known & 8 == 0 ? nil : speed
        let course = AngleCode(steps: UInt8(reader.take(1) % 180))
        fix.course = known & 16 == 0 ? nil : course
        let heading = AngleCode(steps: UInt8(reader.take(1) % 180))
        fix.heading = known & 32 == 0 ? nil : heading
        let battery = UInt8(reader.take(1) % 101)
        fix.batteryPercent = known & 64 == 0 ? nil : battery
        return fix
    }

    /// The bytes of `fix`.
    public static func bytes(of fix: Fix) -> [UInt8] {
        let quarterTurn = Int64(fix.positionStep.stepsPerQuarterTurn)
        let isKnown = [
            fix.altitudeSteps != nil, fix.horizontalAccuracy != nil, fix.verticalAccuracy != nil,
            fix.speedDecimetersPerSecond != nil, fix.course != nil, fix.heading != nil, fix.batteryPercent != nil,
        ]
        let known = isKnown.enumerated().reduce(0) { $0 | ($1.element ? 1 &<< $1.offset : 0) }
        let fields: [(value: Int64, byteCount: Int)] = [
            (Int64(known), 1), (Int64(fix.positionStep.rawValue), 1), (Int64(fix.altitudeStep.rawValue), 1),
            (Int64(fix.source.rawValue), 1), (fix.unixMilliseconds, 6), (Int64(fix.latitudeSteps) + quarterTurn, 4),
            (Int64(fix.longitudeSteps) + 2 * quarterTurn, 4), (Int64(fix.altitudeSteps ?? 0) + 0x80_0000, 3),
            (Int64(fix.horizontalAccuracy?.rawValue ?? 0), 1), (Int64(fix.verticalAccuracy?.rawValue ?? 0), 1),
            (Int64(fix.speedDecimetersPerSecond ?? 0), 3), (Int64(fix.course?.steps ?? 0), 1),
            (Int64(fix.heading?.steps ?? 0), 1), (Int64(fix.batteryPercent ?? 0), 1),
        ]
        return fields.flatMap { field in
            (0..<field.byteCount).reversed().map { UInt8(truncatingIfNeeded: field.value &>> Int64(8 * $0)) }
        }
    }

    private struct Reader: ~Escapable {
        let bytes: Span<UInt8>
        var position: Int

        @_lifetime(copy bytes)
        init(bytes: Span<UInt8>, position: Int) {
            self.bytes = bytes
            self.position = position
        }

        @_lifetime(self: copy self)
        mutating func take(_ count: Int) -> UInt64 {
            var value: UInt64 = 0
            for _ in 0..<count {
                value = value &<< 8 | UInt64(bytes[position])
                position += 1
            }
            return value
        }
    }
}
