import CollarFormats
import CollarLink
import CollarWire
import FoundationEssentials
import Testing

@Suite("Quantising a fix")
struct QuantizingTests {
    @Test(
        "Positions go to the nearest step in decimal, halves away from zero",
        arguments: [
            (50.163425, PositionStep.e5, 5_016_343), (-5.000005, .e5, -500_001), (-5.204854, .e5, -520_485),
            (37.7749, .e6, 37_774_900), (0.00000005, .e7, 1), (-0.000004, .e5, 0), (1.000015, .e5, 100_002),
        ] as [(Double, PositionStep, Int32)])
    func positions(degrees: Double, step: PositionStep, expected: Int32) throws {
        let fix = try Fix(quantizing: makeFix(latitude: degrees, longitude: degrees), positionStep: step)
        #expect(fix.latitudeSteps == expected)
        #expect(fix.longitudeSteps == expected)
        #expect(fix.positionStep == step)
    }

    @Test("Poles and both ends of the longitude are kept", arguments: [PositionStep.e5, .e6, .e7])
    func extremes(step: PositionStep) throws {
        for sign in [1.0, -1] {
            let fix = try Fix(quantizing: makeFix(latitude: 90 * sign, longitude: 180 * sign), positionStep: step)
            #expect(fix.latitudeSteps == Int32(sign) * step.stepsPerQuarterTurn)
            #expect(fix.longitudeSteps == 2 * Int32(sign) * step.stepsPerQuarterTurn)
            try fix.validate()
            let back = LocationFix(id: UUID(), fix: fix)
            #expect(back.coordinate == LocationFix.Coordinate(latitude: 90 * sign, longitude: 180 * sign))
        }
    }

    @Test(
        "The step follows a good accuracy",
        arguments: [
            (-1, PositionStep.e5), (0, .e5), (5, .e5), (1, .e5), (0.999, .e6), (0.1, .e6), (0.0999, .e7), (0.001, .e7),
        ] as [(Double, PositionStep)])
    func refinement(accuracy: Double, step: PositionStep) throws {
        #expect(try Fix(quantizing: makeFix(horizontal: accuracy)).positionStep == step)
        #expect(try Fix(quantizing: makeFix(horizontal: accuracy), positionStep: .e5).positionStep == .e5)
    }

    @Test(
        "A finer step is kept up to 1.2 times its limit",
        arguments: [
            (.e6, 1.2, .e6), (.e6, 1.201, .e5), (.e6, 0.11, .e6), (.e7, 0.12, .e7), (.e7, 0.121, .e6), (.e7, 1.2, .e6),
            (.e7, 1.3, .e5), (.e5, 1, .e5), (.e5, 0.99, .e6), (.e5, 0.11, .e6), (.e7, 0, .e5), (.e6, -1, .e5),
        ] as [(PositionStep, Double, PositionStep)])
    func hysteresis(previous: PositionStep, accuracy: Double, step: PositionStep) {
        #expect(PositionStep(forHorizontalAccuracyMillimeters: accuracy * 1000, previousStep: previous) == step)
    }

    @Test("Altitude in both steps")
    func altitude() throws {
        #expect(try Fix(quantizing: makeFix(altitude: -0.5)).altitudeSteps == -1)
        #expect(try Fix(quantizing: makeFix(altitude: 153.35), altitudeStep: .decimeter).altitudeSteps == 1534)
        #expect(try Fix(quantizing: makeFix(altitude: nil)).altitudeSteps == nil)
        #expect(try Fix(quantizing: makeFix(altitude: -8_388_608)).altitudeSteps == -8_388_608)
    }

    @Test("Accuracies go to the nearest code, and a positive one stays positive")
    func accuracies() throws {
        func code(_ meters: Double) throws -> UInt8? {
            try Fix(quantizing: makeFix(vertical: meters)).verticalAccuracy?.rawValue
        }
        #expect(try code(-1) == nil)
        #expect(try code(0) == 0)
        #expect(try code(0.004) == 1)
        #expect(try code(1e-20) == 1)
        #expect(try code(0.02) == 2)
        #expect(try code(5) == 55)
        #expect(try code(4.833) == 55)
        #expect(try code(2195.198) == 126)
        #expect(try code(1e300) == 126)
    }

    @Test(
        "Directions go to the nearest even degree, 360 to 0",
        arguments: [
            (0, 0), (0.995, 0), (0.9999999, 0), (1, 1), (2.9, 1), (3, 2), (180, 90), (358.99, 179), (359, 0), (360, 0),
        ] as [(Double, UInt8)])
    func directions(degrees: Double, steps: UInt8) throws {
        let fix = try Fix(quantizing: makeFix(course: degrees, heading: degrees))
        #expect(fix.course?.steps == steps)
        #expect(fix.heading?.steps == steps)
    }

    @Test("Speed, battery and time")
    func others() throws {
        let halfMillisecond = try LocationFixDecoding.fix(milliseconds: "1699401234567.5")
        #expect(try Fix(quantizing: halfMillisecond).unixMilliseconds == 1_699_401_234_568)
        let before1970 = try LocationFixDecoding.fix(milliseconds: "-2.5")
        #expect(try Fix(quantizing: before1970).unixMilliseconds == -3)
        let fix = try Fix(quantizing: makeFix(speed: 0.25, battery: 0.285, sequence: 7))
        #expect(fix.speedDecimetersPerSecond == 3)
        #expect(fix.batteryPercent == 29)
        #expect(fix.unixMilliseconds == 1_699_401_234_567)
        #expect(fix.sequence == 7)
        #expect(fix.source == .collar)
        #expect(try Fix(quantizing: makeFix(speed: 104857.5)).speedDecimetersPerSecond == 1_048_575)
    }

    @Test("Unknown values stay unknown, both ways")
    func unknowns() throws {
        let location = makeFix()
        let fix = try Fix(quantizing: location)
        #expect(fix.altitudeSteps == nil && fix.horizontalAccuracy == nil && fix.verticalAccuracy == nil)
        #expect(fix.speedDecimetersPerSecond == nil && fix.course == nil && fix.heading == nil)
        #expect(fix.batteryPercent == nil)
        #expect(LocationFix(id: location.id, fix: fix) == location)
    }

    @Test("Codes come back as the nearest doubles, and quantise to themselves")
    func backAgain() throws {
        let fix = Fix(
            sequence: 4_294_967_294, unixMilliseconds: 1_699_401_234_567, source: .iOS, positionStep: .e7,
            latitudeSteps: 377_749_001, longitudeSteps: -1_224_194_003, altitudeStep: .decimeter, altitudeSteps: -13,
            horizontalAccuracy: AccuracyCode(rawValue: 56), verticalAccuracy: AccuracyCode(rawValue: 0),
            speedDecimetersPerSecond: 3, course: AngleCode(steps: 179), heading: AngleCode(steps: 0), batteryPercent: 29)
        let location = LocationFix(id: UUID(), fix: fix)
        #expect(location.coordinate == LocationFix.Coordinate(latitude: 37.7749001, longitude: -122.4194003))
        #expect(location.altitudeMeters == -1.3 && location.speedMetersPerSecond == 0.3)
        #expect(location.horizontalAccuracyMeters == 5.268 && location.verticalAccuracyMeters == 0)
        #expect(location.courseDegrees == 358 && location.headingDegrees == 0 && location.batteryFraction == 0.29)
        #expect(location.source == .iOS && location.sequence == 4_294_967_294)
        #expect(try Fix(quantizing: location, positionStep: .e7, altitudeStep: .decimeter) == fix)
    }

    @Test(
        "What the protocol cannot carry is refused by name",
        arguments: [
            (makeFix(speed: 104857.55), "speed_mps: 104857.55 is outside 0…104857.5"),
            (makeFix(speed: .infinity), "speed_mps: inf is outside 0…104857.5"),
            (makeFix(altitude: 8_388_607.5), "alt_m: 8388607.5 is outside -8388608…8388607"),
            (makeFix(altitude: .nan), "alt_m: nan is outside -8388608…8388607"),
            (makeFix(sequence: 0xFFFF_FFFF), "seq: 4294967295 is outside 0…4294967294"),
            (makeFix(sequence: -1), "seq: -1 is outside 0…4294967294"),
            (makeFix(latitude: 90.000001), "coordinate.latitude: 90.000001 is outside -90…90"),
            (makeFix(longitude: .nan), "coordinate.longitude: nan is outside -180…180"),
            (makeFix(course: 361), "course_deg: 361.0 is outside 0…360"),
            (makeFix(heading: .nan), "heading_deg: nan is outside 0…360"),
            (makeFix(battery: 1.01), "battery_pct: 101 is outside 0…100"),
            (makeFix(horizontal: .nan), "h_accuracy_m: nan is outside 0 or more"),
            (
                makeFix(timestamp: Date(unixMilliseconds: 1 << 47)),
                "ts_unix_ms: 140737488355328 is outside -140737488355328…140737488355327"
            ),
        ])
    func refused(location: LocationFix, message: String) throws {
        let error = try #require(throws: QuantizationError.self) { try Fix(quantizing: location) }
        #expect("\(error)" == message)
    }

    @Test("The range of an altitude is in its own step")
    func decimeterRange() throws {
        let error = try #require(throws: QuantizationError.self) {
            try Fix(quantizing: makeFix(altitude: 900_000), altitudeStep: .decimeter)
        }
        #expect(error.range == "-838860.8…838860.7")
    }
}

/// Makes fixes whose times have fractions of a millisecond, by decoding JSON.
enum LocationFixDecoding {
    static func fix(milliseconds: String) throws -> LocationFix {
        let text = "{\"ts_unix_ms\":\(milliseconds),\"lat\":0,\"lon\":0,\"seq\":0}"
        return try JSONDecoder().decode(LocationFix.self, from: Data(text.utf8))
    }
}

@Suite("Identifiers of fixes")
struct FixIdentifierTests {
    /// Worked out by hand: device 0123456789ab|cde|f, version 8, variant and last nibble 10 1111, log 12345678 =
    /// 00 1011 1100 0110 0001 0100 1110 in 26 bits, sequence 42.
    @Test("The layout, bit by bit")
    func layout() {
        let identifier = FixIdentifier(deviceID: 0x0123_4567_89AB_CDEF, logID: 12_345_678, sequence: 42)
        #expect(identifier.uuid.uuidString == "01234567-89AB-8CDE-BCBC-614E0000002A")
        #expect(identifier.bytes[0] == 0x01 && identifier.bytes[6] == 0x8C && identifier.bytes[15] == 0x2A)
    }

    @Test("Each part has its own bits")
    func parts() {
        func uuid(_ device: DeviceID, _ log: LogID, _ sequence: UInt32) -> String {
            FixIdentifier(deviceID: device, logID: log, sequence: sequence).uuid.uuidString
        }
        #expect(uuid(0, 0, 0) == "00000000-0000-8000-8000-000000000000")
        #expect(uuid(0xFFFF_FFFF_FFFF_FFFF, 0, 0) == "FFFFFFFF-FFFF-8FFF-BC00-000000000000")
        #expect(uuid(0, .max, 0) == "00000000-0000-8000-83FF-FFFF00000000")
        #expect(uuid(0, 0, .max) == "00000000-0000-8000-8000-0000FFFFFFFF")
    }

    @Test("It reads back")
    func readsBack() {
        for _ in 0..<1000 {
            let identifier = FixIdentifier(
                deviceID: DeviceID(rawValue: .random(in: 0 ... .max)), logID: LogID(lowBitsOf: .random(in: 0 ... .max)),
                sequence: .random(in: 0 ... .max))
            #expect(FixIdentifier(identifier.uuid) == identifier)
            #expect(FixIdentifier(high: identifier.high, low: identifier.low) == identifier)
        }
    }

    @Test(
        "Another version or variant is not ours",
        arguments: ["01234567-89AB-4CDE-BCBC-614E0000002A", "01234567-89AB-8CDE-7CBC-614E0000002A", "01234567-89AB-8CDE-CCBC-614E0000002A"])
    func foreign(text: String) throws {
        #expect(FixIdentifier(try #require(UUID(uuidString: text))) == nil)
    }
}
