import CollarFirmware
import CollarWire
import Testing

/// UBX messages of a u-blox receiver.
@Suite struct UBXParserTests {
    private func events(_ bytes: [UInt8]) -> [GNSSEvent] {
        var parser = UBXParser()
        return parser.events(of: bytes)
    }

    private func event(_ change: (inout PVTFields) -> Void) -> GNSSEvent? {
        var fields = PVTFields()
        change(&fields)
        return events(fields.message).first
    }

    private func reading(_ change: (inout PVTFields) -> Void) throws -> GNSSReading {
        try #require(onlyReading([event(change) ?? .other]))
    }

    /// The checksums were computed by hand.
    @Test func answers() throws {
        let accepted = events([0xB5, 0x62, 0x05, 0x01, 0x02, 0x00, 0x06, 0x01, 0x0F, 0x38])
        guard case .answer(let type, isAccepted: true) = accepted.first else { Issue.record("\(accepted)"); return }
        #expect(type.messageClass == 6 && type.number == 1)
        let refused = events([0xB5, 0x62, 0x05, 0x00, 0x02, 0x00, 0x06, 0x8A, 0x97, 0xBC])
        guard case .answer(let other, isAccepted: false) = refused.first else { Issue.record("\(refused)"); return }
        #expect(other.messageClass == 6 && other.number == 0x8A)
        #expect(events([0xB5, 0x62, 0x05, 0x00, 0x02, 0x00, 0x06, 0x8A, 0x98, 0xBC]).isEmpty)
        #expect(events([0xB5, 0x62, 0x05, 0x00, 0x02, 0x00, 0x06, 0x8A, 0x97, 0xBD]).isEmpty)
    }

    @Test(arguments: [false, true]) func aGoodFix(isOld: Bool) throws {
        let reading = try reading { $0.isOld = isOld }
        #expect(
            reading
                == GNSSReading(
                    unixMilliseconds: 1_709_251_198_000, latitudeE7: -338_567_844, longitudeE7: 151_206_990,
                    altitudeMillimeters: 25_400, horizontalAccuracyMillimeters: 3210, verticalAccuracyMillimeters: 4321,
                    speedMillimetersPerSecond: 1234, courseCentidegrees: 9012))
    }

    @Test(arguments: [
        (0, 0), (499_999, 0), (500_000, 1), (-500_000, 0), (-500_001, -1), (-499_999, 0), (999_999_999, 1000),
        (-1_000_000_000, -1000), (1_000_000_000, 1000), (123_456_789, 123),
    ] as [(Int32, Int64)])
    func nanosecondsAreRounded(_ nanoseconds: Int32, _ milliseconds: Int64) throws {
        #expect(try reading { $0.nanoseconds = nanoseconds }.unixMilliseconds == 1_709_251_198_000 + milliseconds)
    }

    @Test func aLeapSecondHasTheValueOfTheSecondAfterIt() throws {
        func time(second: UInt8, hour: UInt8 = 23) -> Int64? {
            onlyReading([event { ($0.year, $0.month, $0.day, $0.second, $0.hour) = (2016, 12, 31, second, hour) } ?? .other])?.unixMilliseconds
        }
        #expect(time(second: 59) == 1_483_228_799_000)
        #expect(time(second: 60) == 1_483_228_800_000)
        #expect(time(second: 61) == nil)
        #expect(time(second: 60, hour: 22) == nil)
    }

    @Test func noFixWithoutResolvedTimeOrPosition() {
        for bit in 0..<3 as Range<UInt8> { #expect(event { $0.valid &= ~(1 << bit) } == .noFix) }
        for type in [0, 1, 5, 6, 255] as [UInt8] { #expect(event { $0.fixType = type } == .noFix) }
        #expect(event { $0.flags = 0xFE } == .noFix)
        #expect(event { $0.flags3 = 1 } == .noFix)
        for (month, day) in [(0, 1), (13, 1), (2, 30), (4, 31), (1, 0), (1, 32)] as [(UInt8, UInt8)] {
            #expect(event { ($0.month, $0.day) = (month, day) } == .noFix)
        }
        #expect(event { ($0.year, $0.month, $0.day) = (2023, 2, 29) } == .noFix)
        #expect(event { $0.nanoseconds = 1_000_000_001 } == .noFix)
        #expect(event { $0.hour = 24 } == .noFix)
        #expect(event { $0.minute = 60 } == .noFix)
    }

    @Test func aTwoDimensionalFixHasNoAltitude() throws {
        let reading = try reading { $0.fixType = 2 }
        #expect(reading.altitudeMillimeters == nil && reading.verticalAccuracyMillimeters == nil)
        #expect(reading.horizontalAccuracyMillimeters == 3210)
        #expect(try self.reading { $0.fixType = 4 }.altitudeMillimeters == 25_400)
    }

    @Test func whatTheReceiverDoesNotKnow() throws {
        for accuracy in [0, .max] as [UInt32] {
            let reading = try reading { ($0.horizontalAccuracy, $0.verticalAccuracy) = (accuracy, accuracy) }
            #expect(reading.horizontalAccuracyMillimeters == nil && reading.verticalAccuracyMillimeters == nil)
        }
        #expect(try reading { $0.speed = -1 }.speedMillimetersPerSecond == nil)
        for course in [-1, 36_000_001] as [Int32] { #expect(try reading { $0.course = course }.courseCentidegrees == nil) }
        #expect(try reading { $0.course = 36_000_000 }.courseCentidegrees == 36_000)
    }

    @Test func theStateOfTheAntenna() {
        for state in 0...5 as ClosedRange<UInt8> {
            let expected = [GNSSEvent.antenna(isFaulty: state == 3 || state == 4)]
            #expect(events(ubx(0x0A, 0x38, [0, 2, 0, 0, 0, 0, state])) == expected)
            #expect(events(ubx(0x0A, 0x09, [UInt8](repeating: 0, count: 20) + [state])) == expected)
        }
        #expect(events(ubx(0x0A, 0x38, [0, 0, 0, 0, 0, 3])) == [.other])
        #expect(events(ubx(0x0A, 0x09, [UInt8](repeating: 3, count: 20))) == [.other])
    }

    @Test func messagesThatTheCollarDoesNotNeed() {
        #expect(events(ubx(0x0A, 0x04, [1, 2, 3])) == [.other])
        #expect(events(ubx(1, 7, [UInt8](repeating: 0, count: 83))) == [.other])
        #expect(events(ubx(5, 1, [6])) == [.other])
        #expect(events(ubx(1, 0x36, [UInt8](repeating: 0, count: 93))).isEmpty)
    }

    /// Every cut, every doubled first byte, and every damaged byte before a message.
    @Test func aMessageAfterDamageIsFound() throws {
        let message = PVTFields().message
        var missed: [Int] = []
        for length in 0..<message.count where onlyReading(events(message.prefix(length) + message)) == nil { missed.append(length) }
        for index in message.indices {
            var damaged = message
            damaged[index] ^= 0x55
            if onlyReading(events(damaged + message)) == nil { missed.append(1000 + index) }
        }
        #expect(missed.isEmpty)
        // A length that is too large by as many bytes as the next message has.
        let header: [UInt8] = [0xB5, 0x62, 1, 7, 92, 0]
        #expect(onlyReading(events(header + message)) != nil)
        #expect(onlyReading(events(header + header + [0xB5] + message)) != nil)
    }

    /// A false beginning hides several short messages: all come out once its checksum is known to be wrong.
    @Test func shortMessagesInsideAFalseOne() {
        let answer = ubx(5, 1, [6, 8])
        let bytes = [0xB5, 0x62, 1, 7, 84, 0] + Array(repeating: answer, count: 9).joined()
        #expect(events(bytes).count == 9)
    }

    @Test func noMessageInsideAMessage() {
        let inner = ubx(5, 1, [6, 8])
        #expect(events(ubx(0x0A, 0x04, inner)) == [.other])
    }
}
