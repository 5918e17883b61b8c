@testable import CollarWire
import Testing

/// Compares the table of the fields with frames from the encoder: each field is at its place in the table.
@Suite struct AbsoluteFixLayoutTests {
    private typealias Layout = AbsoluteFixLayout

    /// A fix whose frame has 0 in every field of the payload.
    private var zero: Fix {
        Fix(
            sequence: 0, unixMilliseconds: 0, source: .watchOS, latitudeSteps: -9_000_000, longitudeSteps: -18_000_000,
            altitudeSteps: -1000, horizontalAccuracy: AccuracyCode(rawValue: 0),
            verticalAccuracy: AccuracyCode(rawValue: 0), speedDecimetersPerSecond: 0, course: AngleCode(steps: 0),
            heading: AngleCode(steps: 0), batteryPercent: 0)
    }

    /// The frame of the zero fix with one change, without its CRC.
    private func bytes(isWide: Bool = false, _ change: (inout Fix) -> Void = { _ in }) throws -> [UInt8] {
        var fix = zero
        change(&fix)
        return try frame(of: .fix(fix), log: .sample, reference: isWide ? nil : fix.sequence).dropLast(3)
    }

    /// The code at the place of a field in a frame.
    private func code(of field: BitField, in bytes: [UInt8]) -> UInt32 {
        var code: UInt32 = 0
        for bit in field.start..<field.end {
            let value = bytes[bit / 8] >> UInt8(7 - bit % 8) & 1
            code = code << 1 | UInt32(value)
        }
        return code
    }

    @Test func eachBitOfAValueIsAtItsPlace() throws {
        let fields: [(BitField, (inout Fix, UInt32) -> Void)] = [
            (Layout.lowByte, { $0.sequence = $1 }),
            (Layout.altitudeStep, { $0.altitudeStep = AltitudeStep(rawValue: UInt8($1)) ?? .meter }),
            (Layout.source, { $0.source = FixSource(rawValue: UInt8($1)) ?? .watchOS }),
            (Layout.sequence, { $0.sequence = $1 << 8 }),
            (Layout.time, { $0.unixMilliseconds = Int64($1) * 1000 }),
            (Layout.latitude, { $0.latitudeSteps += Int32($1) }),
            (Layout.longitude, { $0.longitudeSteps += Int32($1) }),
            (Layout.altitude, { $0.altitudeSteps = Int32($1) - 1000 }),
            (Layout.horizontalAccuracy, { $0.horizontalAccuracy = AccuracyCode(rawValue: UInt8($1)) }),
            (Layout.verticalAccuracy, { $0.verticalAccuracy = AccuracyCode(rawValue: UInt8($1)) }),
            (Layout.speed, { $0.speedDecimetersPerSecond = $1 }),
            (Layout.course, { $0.course = AngleCode(steps: UInt8($1)) }),
            (Layout.heading, { $0.heading = AngleCode(steps: UInt8($1)) }),
            (Layout.battery, { $0.batteryPercent = UInt8($1) }),
        ]
        for (field, set) in fields {
            for bit in 0..<field.width {
                var expected = try bytes()
                expected.flip(bit: field.end - 1 - bit)
                #expect(try bytes { set(&$0, 1 << UInt32(bit)) } == expected)
            }
        }
        #expect(try bytes().count == Layout.commonByteCount)
    }

    @Test func theFormIsAtItsPlace() throws {
        let forms: [(BitField, UInt32, [UInt8])] = [
            (Layout.partial, 1, try bytes { $0.heading = nil }),
            (Layout.timeForm, 1, try bytes { $0.unixMilliseconds = 100 }),
            (Layout.timeForm, 2, try bytes { $0.unixMilliseconds = 1 }),
            (Layout.positionStep, 1, try bytes { $0.positionStep = .e6 }),
            (Layout.positionStep, 2, try bytes { $0.positionStep = .e7 }),
            (Layout.wide, 1, try bytes(isWide: true)),
        ]
        for (field, expected, bytes) in forms {
            for other in [Layout.partial, Layout.timeForm, Layout.positionStep, Layout.wide] {
                #expect(code(of: other, in: bytes) == (other.start == field.start ? expected : 0))
            }
        }
    }

    @Test func theLargestPayloadHasEveryEscape() throws {
        let largest = try bytes(isWide: true) {
            $0.unixMilliseconds = -1
            $0.positionStep = .e7
            $0.altitudeSteps = -1001
            $0.speedDecimetersPerSecond = 511
        }
        #expect(largest.count == FrameHeader.byteCount + AbsoluteFix.maximumPayloadByteCount)
        #expect(AbsoluteFix.maximumPayloadByteCount == 31)
    }
}
