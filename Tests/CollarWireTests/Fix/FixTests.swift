import CollarWire
import Testing

/// Encoding a value that the protocol cannot carry throws an error. The value is never clamped.
@Suite struct FixRangeTests {
    /// Changes of a fix: each sets a field to a limit, or beyond a limit. A change beyond a limit has an error.
    private func limits(_ step: PositionStep) -> [(set: (inout Fix) -> Void, error: EncodeError?)] {
        let quarter = step.stepsPerQuarterTurn
        return [
            ({ $0.sequence = 0xFFFF_FFFE }, nil),
            ({ $0.sequence = 0xFFFF_FFFF }, .field(.sequence, value: 0xFFFF_FFFF)),
            ({ $0.unixMilliseconds = 0x7FFF_FFFF_FFFF }, nil),
            ({ $0.unixMilliseconds = 0x8000_0000_0000 }, .field(.time, value: 0)),
            ({ $0.unixMilliseconds = -0x8000_0000_0000 }, nil),
            ({ $0.unixMilliseconds = -0x8000_0000_0001 }, .field(.time, value: 0)),
            ({ $0.unixMilliseconds = .max }, .field(.time, value: 0)),
            ({ $0.unixMilliseconds = .min }, .field(.time, value: 0)),
            ({ $0.latitudeSteps = quarter }, nil),
            ({ $0.latitudeSteps = quarter + 1 }, .field(.latitude, value: UInt32(bitPattern: quarter + 1))),
            ({ $0.latitudeSteps = -quarter }, nil),
            ({ $0.latitudeSteps = -quarter - 1 }, .field(.latitude, value: UInt32(bitPattern: -quarter - 1))),
            ({ $0.latitudeSteps = .min }, .field(.latitude, value: UInt32(bitPattern: .min))),
            ({ $0.longitudeSteps = 2 * quarter }, nil),
            ({ $0.longitudeSteps = 2 * quarter + 1 }, .field(.longitude, value: UInt32(bitPattern: 2 * quarter + 1))),
            ({ $0.longitudeSteps = -2 * quarter }, nil),
            ({ $0.longitudeSteps = -2 * quarter - 1 }, .field(.longitude, value: UInt32(bitPattern: -2 * quarter - 1))),
            ({ $0.longitudeSteps = .max }, .field(.longitude, value: UInt32(bitPattern: .max))),
            ({ $0.altitudeSteps = 0x7F_FFFF }, nil),
            ({ $0.altitudeSteps = 0x80_0000 }, .field(.altitude, value: UInt32(bitPattern: 0x80_0000))),
            ({ $0.altitudeSteps = -0x80_0000 }, nil),
            ({ $0.altitudeSteps = -0x80_0001 }, .field(.altitude, value: UInt32(bitPattern: -0x80_0001))),
            ({ $0.altitudeSteps = .max }, .field(.altitude, value: UInt32(bitPattern: .max))),
            ({ $0.speedDecimetersPerSecond = 0xF_FFFF }, nil),
            ({ $0.speedDecimetersPerSecond = 0x10_0000 }, .field(.speed, value: 0x10_0000)),
            ({ $0.speedDecimetersPerSecond = .max }, .field(.speed, value: .max)),
            ({ $0.batteryPercent = 100 }, nil),
            ({ $0.batteryPercent = 101 }, .field(.battery, value: 101)),
        ]
    }

    @Test(arguments: [PositionStep.e5, .e6, .e7])
    func eachLimitIsTheLastThatCanBeWritten(_ step: PositionStep) throws {
        for (set, error) in limits(step) {
            var fix = Fix.sample
            fix.positionStep = step
            set(&fix)
            if let error {
                #expect(throws: error) { try fix.validate() }
                #expect(throws: error) { try frame(of: .fix(fix), log: .sample) }
            } else {
                try fix.validate()
                let bytes = try frame(of: .fix(fix), log: .sample)
                #expect(try decoded(bytes) == .fix(fix))
            }
        }
    }

    @Test func unknownFieldsAreInRange() throws {
        let fix = Fix(sequence: 0, unixMilliseconds: 0, latitudeSteps: 0, longitudeSteps: 0)
        try fix.validate()
        let bytes = try frame(of: .fix(fix), log: .sample, reference: 0)
        #expect(try decoded(bytes) == .fix(fix))
    }
}

/// Directions in steps of 2°.
@Suite struct AngleCodeTests {
    @Test func thereAre180Codes() {
        for steps in 0..<180 as Range<UInt8> { #expect(AngleCode(steps: steps)?.degrees == 2 * Int(steps)) }
        for steps in 180...255 as ClosedRange<UInt8> { #expect(AngleCode(steps: steps) == nil) }
    }

    @Test func everyAngleGetsTheNearestCodeAndHalvesGoUp() {
        for angle in 0...36_000 {
            // A half is rounded up. 180 steps are a full turn.
            let (whole, rest) = angle.quotientAndRemainder(dividingBy: 200)
            let nearest = rest < 100 ? whole : whole + 1
            let steps = AngleCode(nearestToCentidegrees: angle)?.steps
            if steps.map(Int.init) != nearest % 180 { Issue.record("\(angle) hundredths of a degree become \(String(describing: steps))") }
        }
    }

    @Test func halvesGoUpAndAFullTurnIsNorth() {
        #expect(AngleCode(nearestToCentidegrees: 99)?.degrees == 0)
        #expect(AngleCode(nearestToCentidegrees: 100)?.degrees == 2)
        #expect(AngleCode(nearestToCentidegrees: 35_899)?.degrees == 358)
        #expect(AngleCode(nearestToCentidegrees: 35_900)?.degrees == 0)
        #expect(AngleCode(nearestToCentidegrees: 36_000)?.degrees == 0)
    }

    @Test func outsideATurnThereIsNoCode() {
        #expect(AngleCode(nearestToCentidegrees: -1) == nil)
        #expect(AngleCode(nearestToCentidegrees: 36_001) == nil)
        #expect(AngleCode(nearestToCentidegrees: .min) == nil)
        #expect(AngleCode(nearestToCentidegrees: .max) == nil)
    }
}
