/// The id that a collar has from its factory, 64 bits. In text: 16 hexadecimal digits.
public struct DeviceID: RawRepresentable, Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral {
    /// The id as an integer; each of its values is an id.
    public let rawValue: UInt64

    /// The id that is `rawValue`.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The id that is a literal.
    public init(integerLiteral value: UInt64) { rawValue = value }

    /// The order of the integers, and of their texts.
    public static func < (left: DeviceID, right: DeviceID) -> Bool { left.rawValue < right.rawValue }
}

/// The id of a log, 26 random bits that a collar draws when it formats the log. In text: a decimal number.
public struct LogID: RawRepresentable, Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral {
    /// The id as an integer, 0 … 67,108,863.
    public let rawValue: UInt32

    /// The greatest id.
    public static var max: LogID { 0x3FF_FFFF }

    /// The id that is `rawValue`; nil if that has more than 26 bits.
    public init?(rawValue: UInt32) {
        guard rawValue <= 0x3FF_FFFF else { return nil }
        self.rawValue = rawValue
    }

    /// The id in the low 26 bits of a word.
    public init(lowBitsOf word: UInt32) { rawValue = word & 0x3FF_FFFF }

    /// The id that is a literal, of at most 26 bits.
    public init(integerLiteral value: UInt32) {
        precondition(value <= 0x3FF_FFFF, "a log id has 26 bits")
        rawValue = value
    }

    /// The order of the integers.
    public static func < (left: LogID, right: LogID) -> Bool { left.rawValue < right.rawValue }
}
