import CollarWire
import Testing

/// Rounding of a GNSS receiver's readings, section 5.
@Suite struct FixQuantizerTests {
    private let reading = GNSSReading(
        unixMilliseconds: 1_700_000_000_123, latitudeE7: 377_749_049, longitudeE7: -1_224_194_050,
        altitudeMillimeters: -1500, horizontalAccuracyMillimeters: 4200, verticalAccuracyMillimeters: 6000,
        speedMillimetersPerSecond: 1250, courseCentidegrees: 18_099)

    private func fix(_ change: (inout GNSSReading) -> Void, altitudeStep: AltitudeStep = .meter) throws -> Fix {
        var changed = reading
        change(&changed)
        var quantizer = FixQuantizer(altitudeStep: altitudeStep)
        return try quantizer.fix(from: changed)
    }

    @Test func everyFieldIsRounded() throws {
        var quantizer = FixQuantizer()
        let fix = try quantizer.fix(from: reading, batteryPercent: 87, heading: AngleCode(steps: 12))
        #expect(
            fix
                == Fix(
                    sequence: 0, unixMilliseconds: 1_700_000_000_123, positionStep: .e5, latitudeSteps: 3_777_490,
                    longitudeSteps: -12_241_941, altitudeStep: .meter, altitudeSteps: -2,
                    horizontalAccuracy: AccuracyCode(rawValue: 53), verticalAccuracy: AccuracyCode(rawValue: 57),
                    speedDecimetersPerSecond: 13, course: AngleCode(steps: 90), heading: AngleCode(steps: 12),
                    batteryPercent: 87))
    }

    @Test func whatTheReceiverDoesNotSayStaysUnknown() throws {
        var quantizer = FixQuantizer()
        let fix = try quantizer.fix(from: GNSSReading(unixMilliseconds: 5, latitudeE7: 1, longitudeE7: 2))
        #expect(fix == Fix(sequence: 0, unixMilliseconds: 5, latitudeSteps: 0, longitudeSteps: 0))
    }

    @Test(arguments: [
        (.e5, 50, 1), (.e5, 49, 0), (.e5, -50, -1), (.e5, -49, 0), (.e5, 150, 2), (.e6, 5, 1), (.e6, 4, 0), (.e6, -15, -2),
        (.e7, 1, 1), (.e7, -1, -1), (.e5, 900_000_000, 9_000_000), (.e7, -900_000_000, -900_000_000),
    ] as [(PositionStep, Int32, Int32)])
    func positionsGoToTheNearestStepAndHalvesAwayFromZero(_ step: PositionStep, _ e7: Int32, _ steps: Int32) throws {
        var quantizer = FixQuantizer(coarsestPositionStep: step)
        let fix = try quantizer.fix(from: GNSSReading(unixMilliseconds: 0, latitudeE7: e7, longitudeE7: 2 * e7))
        #expect(fix.positionStep == step)
        #expect(fix.latitudeSteps == steps)
        let longitude = Double(2 * e7) / Double(PositionStep.e7.stepsPerQuarterTurn / step.stepsPerQuarterTurn)
        #expect(Double(fix.longitudeSteps) == longitude.rounded(.toNearestOrAwayFromZero))
    }

    /// Accuracies in millimetres one after the other, with the step that each gets.
    @Test func aFinerStepIsKeptUpToOnePointTwoTimesItsLimit() throws {
        var quantizer = FixQuantizer()
        let steps: [(UInt32?, PositionStep)] = [
            (1100, .e5), (1000, .e5), (999, .e6), (1000, .e6), (1200, .e6), (1201, .e5), (1200, .e5), (99, .e7), (120, .e7),
            (121, .e6), (120, .e6), (100, .e6), (99, .e7), (1200, .e6), (50, .e7), (1201, .e5), (500, .e6), (0, .e5),
            (500, .e6), (nil, .e5), (1100, .e5),
        ]
        for (accuracy, step) in steps {
            var next = reading
            next.horizontalAccuracyMillimeters = accuracy
            #expect(try quantizer.fix(from: next).positionStep == step)
        }
    }

    @Test func theCoarsestStepHoldsForEveryAccuracy() throws {
        for (coarsest, expected) in [(.e6, [.e6, .e6, .e7]), (.e7, [.e7, .e7, .e7])] as [(PositionStep, [PositionStep])] {
            var quantizer = FixQuantizer(coarsestPositionStep: coarsest)
            for (accuracy, step) in zip([5000, 900, 20] as [UInt32], expected) {
                var next = reading
                next.horizontalAccuracyMillimeters = accuracy
                #expect(try quantizer.fix(from: next).positionStep == step)
            }
        }
    }

    @Test(arguments: [
        (.meter, 499, 0), (.meter, 500, 1), (.meter, -499, 0), (.meter, -500, -1), (.decimeter, 149, 1), (.decimeter, 150, 2),
        (.decimeter, 838_860_749, 8_388_607), (.decimeter, 838_860_750, nil), (.decimeter, -838_860_849, -8_388_608),
        (.decimeter, -838_860_850, nil), (.meter, 2_000_000_000, 2_000_000), (.meter, .max, nil), (.meter, .min, nil),
    ] as [(AltitudeStep, Int32, Int32?)])
    func altitudes(_ step: AltitudeStep, _ millimeters: Int32, _ steps: Int32?) throws {
        let fix = try fix({ $0.altitudeMillimeters = millimeters }, altitudeStep: step)
        #expect(fix.altitudeSteps == steps)
        #expect(fix.altitudeStep == step)
    }

    @Test(arguments: [
        (0, 0), (49, 0), (50, 1), (104_857_549, 1_048_575), (104_857_550, nil), (.max, nil),
    ] as [(UInt32, UInt32?)])
    func speeds(_ millimeters: UInt32, _ decimeters: UInt32?) throws {
        #expect(try fix { $0.speedMillimetersPerSecond = millimeters }.speedDecimetersPerSecond == decimeters)
    }

    @Test(arguments: [(0, 0), (99, 0), (100, 1), (35_899, 179), (35_900, 0), (36_000, 0), (36_001, nil), (.max, nil)] as [
        (UInt16, UInt8?)
    ])
    func courses(_ centidegrees: UInt16, _ steps: UInt8?) throws {
        #expect(try fix { $0.courseCentidegrees = centidegrees }.course?.steps == steps)
    }

    @Test(arguments: [(0, 0), (1, 1), (5, 1), (15, 1), (16, 2), (5000, 55), (.max, 126)] as [(UInt32, UInt8)])
    func aPositiveAccuracyStaysPositive(_ millimeters: UInt32, _ code: UInt8) throws {
        #expect(try fix { $0.verticalAccuracyMillimeters = millimeters }.verticalAccuracy?.rawValue == code)
        #expect(try fix { $0.horizontalAccuracyMillimeters = millimeters }.horizontalAccuracy?.rawValue == code)
    }

    @Test func aBatteryAboveAHundredPercentIsUnknown() throws {
        var quantizer = FixQuantizer()
        #expect(try quantizer.fix(from: reading, batteryPercent: 100).batteryPercent == 100)
        #expect(try quantizer.fix(from: reading, batteryPercent: 101).batteryPercent == nil)
    }

    @Test func aReadingOutOfRangeIsRefusedAndChangesNothing() throws {
        var quantizer = FixQuantizer()
        var fine = reading
        fine.horizontalAccuracyMillimeters = 900
        #expect(try quantizer.fix(from: fine).positionStep == .e6)
        for (field, change) in [
            (.latitude, { $0.latitudeE7 = 900_000_001 }), (.latitude, { $0.latitudeE7 = .min }),
            (.longitude, { $0.longitudeE7 = -1_800_000_001 }), (.longitude, { $0.longitudeE7 = .max }),
            (.time, { $0.unixMilliseconds = 1 << 47 }), (.time, { $0.unixMilliseconds = -1 << 47 - 1 }),
        ] as [(WireField, (inout GNSSReading) -> Void)] {
            var wrong = reading
            change(&wrong)
            let error = #expect(throws: EncodeError.self) { try quantizer.fix(from: wrong) }
            guard case .field(field, _) = error else { Issue.record("\(String(describing: error))"); continue }
        }
        fine.horizontalAccuracyMillimeters = 1100
        #expect(try quantizer.fix(from: fine).positionStep == .e6, "the step before the wrong readings still counts")
    }
}
