/// Which of the seven fields that may be unknown are known; seven bits, the first field the most significant.
struct FieldPresence: Equatable {
    var rawValue: UInt8

    static let bitCount = 7
    static let complete = FieldPresence(rawValue: (1 &<< 7) - 1)

    init(rawValue: UInt8) { self.rawValue = rawValue }

    var isComplete: Bool { self == .complete }
}
