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
