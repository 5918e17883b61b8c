/// Which of the seven optional fields are known: seven bits, with the first field in the most significant bit.
struct FieldPresence: Equatable {
    var rawValue: UInt8

    static let bitCount = 7
    static let complete = FieldPresence(rawValue: (1 &<< 7) - 1)

    init(rawValue: UInt8) { self.rawValue = rawValue }

    var isComplete: Bool { self == .complete }
}
