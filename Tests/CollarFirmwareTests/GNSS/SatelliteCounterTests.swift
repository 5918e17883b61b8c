import CollarFirmware
import CollarWire
import Testing

/// The number of satellites in NAV-SAT, a message that is longer than what the parser keeps.
@Suite struct SatelliteCounterTests {
    private func counts(_ bytes: [UInt8]) -> [UInt8] {
        var parser = UBXParser()
        return parser.events(of: bytes).compactMap { if case .satellites(let count) = $0 { count } else { nil } }
    }

    /// 255 satellites are as many as the message has room for.
    @Test(arguments: [0, 1, 3, 7, 8, 40, 255]) func satellitesWithASignal(_ total: Int) {
        let densities: [UInt8] = (0..<total).map { (number: Int) -> UInt8 in number % 3 == 0 ? 0 : UInt8(8 + number % 50) }
        let expected = densities.count { $0 >= 10 }
        #expect(counts(satellites(densities)) == [UInt8(expected)])
    }

    @Test func theLimit() { #expect(counts(satellites([0, 9, 10, 11, 255])) == [3]) }

    /// The bytes were written by hand from the interface description, with two satellites; the checksum too.
    @Test func theBytesOfTheDescription() {
        let message: [UInt8] = [
            0xB5, 0x62, 0x01, 0x35, 0x20, 0x00, 0x10, 0x27, 0x00, 0x00, 0x01, 0x02, 0x00, 0x00,
            0x00, 0x05, 0x26, 0x2D, 0x7B, 0x00, 0x00, 0x00, 0x1F, 0x19, 0x00, 0x00,
            0x02, 0x0B, 0x00, 0xA5, 0x00, 0x00, 0x00, 0x00, 0x11, 0x00, 0x00, 0x00,
        ]
        let body = message.dropFirst(2)
        let first = body.reduce(0) { $0 + Int($1) } & 0xFF
        let second = body.indices.reduce(0) { $0 + Int(body[$1]) * (body.endIndex - $1) } & 0xFF
        #expect(counts(message + [UInt8(first), UInt8(second)]) == [1])
        #expect(counts(message + [UInt8(first), UInt8(second) ^ 1]).isEmpty)
        #expect(counts(message + [UInt8(first) ^ 1, UInt8(second)]).isEmpty)
    }

    /// A length that is no number of blocks, or not the number that the message names; and another version.
    @Test func messagesThatAreNotValid() {
        #expect(counts(satellites([40, 40], version: 2)).isEmpty)
        for length in 0..<300 {
            for named in [0, 1, 2, 24] as [UInt8] where length != 8 + 12 * Int(named) {
                var payload = [UInt8](repeating: 0x30, count: length)
                if length > 5 { (payload[4], payload[5]) = (1, named) }
                #expect(counts(ubx(1, 0x35, payload)).isEmpty, "\(length) bytes with \(named) satellites")
            }
        }
    }

    /// A hostile length reaches over everything that follows: the next messages are read nevertheless.
    @Test(arguments: [8, 20, 92, 93, 104, 3068, 3069, 32_768, 65_535] as [UInt16]) func aFalseBeginningHidesNothing(_ length: UInt16) {
        let named = UInt8(truncatingIfNeeded: (Int(length) - 8) / 12)
        let beginning: [UInt8] = [0xB5, 0x62, 1, 0x35, UInt8(length & 0xFF), UInt8(length >> 8), 0, 0, 0, 0, 1, named, 0, 0]
        let message = satellites([40, 41, 0])
        var parser = UBXParser()
        let events = parser.events(of: beginning + PVTFields().message + message + PVTFields().message + message)
        let readings = events.count { if case .reading = $0 { true } else { false } }
        let numbers = events.count { $0 == .satellites(2) }
        // A beginning that fits the memory of the parser, and is not over yet, can only delay.
        #expect(readings == 2 && numbers == 2, "\(events)")
    }

    /// Every cut and every damaged byte of a message: the next one counts, and the damaged one does not.
    @Test func aMessageAfterDamageCounts() {
        let message = satellites([40, 0, 30, 20, 10, 50, 41, 42, 43, 44])
        var wrong: [Int] = []
        for length in 0..<message.count where counts(message.prefix(length) + message) != [9] { wrong.append(length) }
        for index in message.indices {
            var damaged = message
            damaged[index] ^= 0x55
            if counts(damaged + message) != [9] { wrong.append(1000 + index) }
        }
        #expect(wrong.isEmpty, "\(wrong)")
    }

    /// Other messages come out as before, between two parts of a stream and after it.
    @Test func nothingElseIsLost() {
        var parser = UBXParser()
        let events = parser.events(of: PVTFields().message + satellites([UInt8](repeating: 30, count: 30)) + PVTFields().message)
        #expect(events.count { if case .reading = $0 { true } else { false } } == 2)
        #expect(events.contains(.satellites(30)))
    }
}
