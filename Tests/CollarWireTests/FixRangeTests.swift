import CollarWire
import Testing

/// What the protocol cannot carry is an error of the caller, never clamped.
@Suite struct FixRangeTests {
    /// Limits of each field, and the error just beyond them.
    private func limits(_ step: PositionStep) -> [(set: (inout Fix) -> Void, error: FixRangeError?)] {
        let quarter = step.stepsPerQuarterTurn
        return [
            ({ $0.sequence = 0xFFFF_FFFE }, nil),
            ({ $0.sequence = 0xFFFF_FFFF }, .sequence(0xFFFF_FFFF)),
            ({ $0.unixMilliseconds = 0x7FFF_FFFF_FFFF }, nil),
            ({ $0.unixMilliseconds = 0x8000_0000_0000 }, .time(0x8000_0000_0000)),
            ({ $0.unixMilliseconds = -0x8000_0000_0000 }, nil),
            ({ $0.unixMilliseconds = -0x8000_0000_0001 }, .time(-0x8000_0000_0001)),
            ({ $0.unixMilliseconds = .max }, .time(.max)),
            ({ $0.unixMilliseconds = .min }, .time(.min)),
            ({ $0.latitudeSteps = quarter }, nil),
            ({ $0.latitudeSteps = quarter + 1 }, .latitude(quarter + 1)),
            ({ $0.latitudeSteps = -quarter }, nil),
            ({ $0.latitudeSteps = -quarter - 1 }, .latitude(-quarter - 1)),
            ({ $0.latitudeSteps = .min }, .latitude(.min)),
            ({ $0.longitudeSteps = 2 * quarter }, nil),
            ({ $0.longitudeSteps = 2 * quarter + 1 }, .longitude(2 * quarter + 1)),
            ({ $0.longitudeSteps = -2 * quarter }, nil),
            ({ $0.longitudeSteps = -2 * quarter - 1 }, .longitude(-2 * quarter - 1)),
            ({ $0.longitudeSteps = .max }, .longitude(.max)),
            ({ $0.altitudeSteps = 0x7F_FFFF }, nil),
            ({ $0.altitudeSteps = 0x80_0000 }, .altitude(0x80_0000)),
            ({ $0.altitudeSteps = -0x80_0000 }, nil),
            ({ $0.altitudeSteps = -0x80_0001 }, .altitude(-0x80_0001)),
            ({ $0.altitudeSteps = .max }, .altitude(.max)),
            ({ $0.speedDecimetersPerSecond = 0xF_FFFF }, nil),
            ({ $0.speedDecimetersPerSecond = 0x10_0000 }, .speed(0x10_0000)),
            ({ $0.speedDecimetersPerSecond = .max }, .speed(.max)),
            ({ $0.batteryPercent = 100 }, nil),
            ({ $0.batteryPercent = 101 }, .battery(101)),
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
                #expect(throws: EncodeError.fix(error)) { try frame(of: .fix(fix), log: .sample) }
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
