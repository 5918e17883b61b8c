/// Makes bytes such as come from a GNSS receiver: messages with any values, damaged messages, and noise. The checksums of most
/// messages are correct.
struct GNSSStream {
    /// The protocols of the messages.
    enum Content {
        case ubx
        case nmea
        case both
    }

    private var random: SplitMix
    private let content: Content
    private(set) var bytes: [UInt8] = []

    init(_ content: Content, seed: UInt64) {
        random = SplitMix(seed: seed)
        self.content = content
        for _ in 0...random.below(6) { appendPiece() }
    }

    private mutating func appendPiece() {
        var piece: [UInt8]
        switch content {
        case .ubx: piece = ubx()
        case .nmea: piece = sentences()
        case .both: piece = random.oneIn(2) ? ubx() : sentences()
        }
        switch random.below(8) {
        case 0: piece[random.below(piece.count)] ^= 1 &<< UInt8(random.below(8))
        case 1: piece.removeLast(random.below(piece.count))
        case 2: piece.removeFirst(random.below(piece.count))
        case 3: noise()
        default: break
        }
        bytes += piece
    }

    private mutating func noise() {
        for _ in 0...random.below(40) {
            switch random.below(6) {
            case 0: bytes += [0xB5, 0x62]
            case 1: bytes += [0xB5, 0x62, 1, random.oneIn(2) ? 7 : 0x35, random.byte() % 100, 0]
            case 2: bytes.append(UInt8(ascii: "$"))
            default: bytes.append(random.byte())
            }
        }
    }

    // MARK: UBX

    private mutating func ubx() -> [UInt8] {
        switch random.below(6) {
        case 0: return antenna()
        case 5: return satellites()
        case 1: return UBXModel.message([5, random.byte() % 2], [6, random.byte()])
        case 2: return UBXModel.message([random.byte(), random.byte()], (0..<random.below(110)).map { _ in random.byte() })
        default: return UBXModel.message([1, 7], solution())
        }
    }

    /// MON-HW or MON-RF of any length, with small values.
    private mutating func antenna() -> [UInt8] {
        UBXModel.message([10, random.oneIn(2) ? 9 : 56], (0..<random.below(40)).map { _ in random.byte() % 6 })
    }

    /// NAV-SAT with any signals; sometimes its length, its version or the number in it is another one.
    private mutating func satellites() -> [UInt8] {
        let count = random.below(random.oneIn(4) ? 160 : 12)
        var payload = (0..<(8 + 12 * count)).map { _ in random.byte() }
        (payload[4], payload[5]) = (1, UInt8(count))
        if random.oneIn(4) { payload[random.below(8)] = random.byte() % 4 }
        if random.oneIn(8) { payload.removeLast(random.below(payload.count)) }
        return UBXModel.message([1, 0x35], payload)
    }

    /// The payload of NAV-PVT: a good fix, in which some bytes are any.
    private mutating func solution() -> [UInt8] {
        var payload = (0..<(random.oneIn(4) ? 84 : 92)).map { _ in random.byte() }
        let year = UInt16(random.oneIn(4) ? 1970 + random.below(1100) : 2026 + random.below(4))
        payload.replaceSubrange(4..<12, with: [
            UInt8(year & 0xFF), UInt8(year >> 8), UInt8(1 + random.below(12)), UInt8(1 + random.below(28)), UInt8(random.below(24)),
            UInt8(random.below(60)), UInt8(random.below(61)), 7,
        ])
        payload.replaceSubrange(16..<22, with: [random.byte(), random.byte(), random.byte(), random.byte() % 0x20, 3, 1])
        (payload[27], payload[31], payload[78]) = (random.byte() % 0x60, random.byte() % 0x30, 0)
        if random.oneIn(3) { payload[random.below(payload.count)] = random.byte() }
        return payload
    }

    // MARK: NMEA

    private mutating func sentences() -> [UInt8] {
        var time = digits(2 + 4)
        if random.oneIn(2) { time = "\(random.below(3))\(random.below(4))\(random.below(6))\(random.below(10))\(random.below(6))\(random.below(10))" }
        if random.oneIn(2) { time += "." + digits(random.below(4)) }
        let north = "\(digits(4)).\(digits(random.below(9))),\(oneOf("N", "S", "N", "E"))"
        let east = "0\(digits(4)).\(digits(random.below(9))),\(oneOf("E", "W", "W", ""))"
        let date = "\(random.below(3))\(1 + random.below(8))0\(1 + random.below(9))\(digits(2))"
        let all = [
            "RMC,\(time),\(oneOf("A", "A", "A", "V")),\(north),\(east),\(number()),\(number()),\(date),,,\(oneOf("A", "D", "", "N"))",
            "GGA,\(time),\(north),\(east),\(oneOf("1", "2", "4", "0")),08,1.0,\(number()),M,\(number()),M,,",
            "GST,\(time),\(number()),,,,\(number()),\(number()),\(number())",
            "GSA,A,3,\(number()),\(number())",
        ]
        var out: [UInt8] = []
        for _ in 0...random.below(4) { out += NMEAModel.sentence(oneOf("GP", "GN") + all[random.below(all.count)]) }
        return out
    }

    private mutating func digits(_ count: Int) -> String { String(decoding: (0..<count).map { _ in 48 + random.byte() % 10 }, as: UTF8.self) }

    private mutating func number() -> String {
        switch random.below(6) {
        case 0: return ""
        case 1: return "-\(digits(1 + random.below(3)))"
        case 2: return digits(random.below(20))
        case 3: return "\(digits(2)).\(digits(random.below(20)))"
        default: return "\(random.below(360)).\(random.below(10))"
        }
    }

    private mutating func oneOf(_ texts: String...) -> String { texts[random.below(texts.count)] }
}
