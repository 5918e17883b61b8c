import CollarFirmware
import CollarWire

/// Reads UBX messages in a plain way: all bytes are there at once, and checksums have a closed form.
enum UBXModel {
    /// The numbers of satellites in the messages NAV-SAT. What begins as one ends with the fourth byte of the
    /// next one, which shows that it is one.
    static func satelliteCounts(_ bytes: [UInt8]) -> [UInt8] {
        let beginning: [UInt8] = [0xB5, 0x62, 1, 0x35]
        let starts = bytes.indices.filter { bytes[$0...].starts(with: beginning) }
        return zip(starts, starts.dropFirst().map { $0 + 3 } + [bytes.count]).compactMap { start, end in
            guard end - start >= 16 else { return nil }
            let length = Int(bytes[start + 4]) + 256 * Int(bytes[start + 5])
            let satellites = Int(bytes[start + 11])
            guard bytes[start + 10] == 1, length == 8 + 12 * satellites, end - start >= length + 8,
                checksum(Array(bytes[(start + 2)..<(start + 6 + length)])) == Array(bytes[(start + 6 + length)..<(start + 8 + length)])
            else { return nil }
            return UInt8((0..<satellites).count { bytes[start + 16 + 12 * $0] >= 10 })
        }
    }

    /// The events of a whole stream, but for the numbers of satellites.
    static func events(_ bytes: [UInt8]) -> [GNSSEvent] {
        var events: [GNSSEvent] = []
        var start = 0
        while start < bytes.count {
            let rest = bytes.count - start
            if bytes[start] != 0xB5 || rest > 1 && bytes[start + 1] != 0x62 {
                start += 1
                continue
            }
            guard rest >= 6 else { break }
            let length = Int(bytes[start + 4]) + 256 * Int(bytes[start + 5])
            if length > 92 {
                start += 1
                continue
            }
            guard rest >= length + 8 else { break }
            let body = Array(bytes[(start + 2)..<(start + 6 + length)])
            if checksum(body) != Array(bytes[(start + 6 + length)..<(start + 8 + length)]) {
                start += 1
                continue
            }
            events.append(event(body))
            start += length + 8
        }
        return events
    }

    /// A whole message.
    static func message(_ kind: [UInt8], _ payload: [UInt8]) -> [UInt8] {
        let body = kind + [UInt8(payload.count & 0xFF), UInt8(payload.count >> 8)] + payload
        return [0xB5, 0x62] + body + checksum(body)
    }

    /// The second sum weighs each byte by its distance from the end.
    private static func checksum(_ body: [UInt8]) -> [UInt8] {
        var first = 0
        var second = 0
        for (index, byte) in body.enumerated() {
            first += Int(byte)
            second += Int(byte) * (body.count - index)
        }
        return [UInt8(first & 0xFF), UInt8(second & 0xFF)]
    }

    private static func event(_ body: [UInt8]) -> GNSSEvent {
        if body[0] == 5, body[1] < 2, body.count == 6 {
            // The type has no public initialiser: a parser that reads nothing but this message makes it.
            var parser = UBXParser()
            var found: GNSSEvent?
            for byte in [0xB5, 0x62] + body + checksum(body) {
                parser.append(byte)
                found = parser.next() ?? found
            }
            if case .answer(let type, let isAccepted) = found, type.messageClass == body[4], type.number == body[5],
                isAccepted == (body[1] == 1)
            {
                return .answer(type, isAccepted: isAccepted)
            }
            return .noFix
        }
        // The state of the antenna: 3 is short-circuited, 4 open.
        if body[0] == 10, body[1] == 9, body.count > 4 + 20 { return .antenna(isFaulty: body[24] == 3 || body[24] == 4) }
        if body[0] == 10, body[1] == 56, body.count > 4 + 6 { return .antenna(isFaulty: body[10] == 3 || body[10] == 4) }
        guard body[0] == 1, body[1] == 7, body.count >= 4 + 84 else { return .other }
        return solution(Array(body.dropFirst(4)))
    }

    private static func solution(_ payload: [UInt8]) -> GNSSEvent {
        func unsigned(_ offset: Int) -> Int { (0..<4).reduce(0) { $0 + Int(payload[offset + $1]) << (8 * $1) } }
        func signed(_ offset: Int) -> Int { unsigned(offset) - (payload[offset + 3] >= 0x80 ? 1 << 32 : 0) }
        let nanoseconds = signed(16)
        guard payload[11] & 7 == 7, (2...4).contains(payload[20]), payload[21] % 2 == 1, payload[78] % 2 == 0,
            abs(nanoseconds) <= 1_000_000_000,
            let seconds = seconds(
                year: Int(payload[4]) + 256 * Int(payload[5]), month: Int(payload[6]), day: Int(payload[7]), hour: Int(payload[8]),
                minute: Int(payload[9]), second: Int(payload[10]))
        else { return .noFix }
        // Rounded to the nearest, halves up.
        let shifted = nanoseconds + 500_000
        let milliseconds = shifted >= 0 ? shifted / 1_000_000 : -((999_999 - shifted) / 1_000_000)
        let hasAltitude = payload[20] > 2
        func accuracy(_ offset: Int) -> UInt32? { [0, 0xFFFF_FFFF].contains(unsigned(offset)) ? nil : UInt32(unsigned(offset)) }
        let course = signed(64)
        return .reading(
            GNSSReading(
                unixMilliseconds: Int64(seconds * 1000 + milliseconds), latitudeE7: Int32(signed(28)), longitudeE7: Int32(signed(24)),
                altitudeMillimeters: hasAltitude ? Int32(signed(36)) : nil, horizontalAccuracyMillimeters: accuracy(40),
                verticalAccuracyMillimeters: hasAltitude ? accuracy(44) : nil,
                speedMillimetersPerSecond: signed(60) < 0 ? nil : UInt32(signed(60)),
                courseCentidegrees: (0...36_000_000).contains(course) ? UInt16(course / 1000) : nil))
    }

    /// Seconds since 1970, counted year by year; nil if there is no such time.
    private static func seconds(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) -> Int? {
        func isLeap(_ year: Int) -> Bool { year % 4 == 0 && year % 100 != 0 || year % 400 == 0 }
        guard (1970...2999).contains(year), (1...12).contains(month), hour < 24, minute < 60,
            second < 60 || (hour, minute, second) == (23, 59, 60)
        else { return nil }
        let lengths = [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard (1...lengths[month - 1]).contains(day) else { return nil }
        var days = lengths.prefix(month - 1).reduce(day - 1, +)
        for earlier in 1970..<year { days += isLeap(earlier) ? 366 : 365 }
        return ((days * 24 + hour) * 60 + minute) * 60 + second
    }
}
