/// The version of a collar's settings. The highest version wins.
///
/// A version has 64 bits: a number (44 bits), which is also a time, and the origin (20 bits), which tells apart two versions
/// that two receivers gave in the same millisecond.
public struct SettingsVersion: RawRepresentable, Comparable, Hashable, Sendable {
    /// The number in the upper 44 bits, the origin in the lower 20.
    public var rawValue: UInt64

    /// Creates a version from its 64 bits.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Creates a version from its parts.
    /// - Returns: nil if the number needs more than 44 bits, or the origin more than 20.
    public init?(number: UInt64, origin: UInt32) {
        guard number < 1 &<< 44, origin < 1 &<< 20 else { return nil }
        rawValue = number &<< 20 | UInt64(widening: origin)
    }

    /// The version of the default settings.
    public static var defaults: SettingsVersion { SettingsVersion(rawValue: 0) }

    /// The version that a receiver gives to a change of settings.
    /// - Parameters:
    ///   - previous: the highest version that the receiver knows.
    ///   - unixMilliseconds: the time of the change, in milliseconds since 1970. It becomes the number if it is above the
    ///     previous one; otherwise the number is the previous one + 1.
    ///   - receiverID: the receiver. Its lower 20 bits are the origin.
    /// - Returns: nil if there is no higher number, or if a collar with the previous version would find the new one invalid.
    public init?(after previous: SettingsVersion, unixMilliseconds: Int64, receiverID: UInt32) {
        let time = UInt64(bitPattern: max(unixMilliseconds, 0))
        let number = max(previous.number &+ 1, min(time, SettingsVersion.timeLimit))
        self.init(number: number, origin: receiverID & 0xF_FFFF)
    }

    /// The number: milliseconds since 1970, but higher than that where the clock of the origin was not above the version before.
    public var number: UInt64 { rawValue &>> 20 }

    /// The lower 20 bits of the id of the receiver that gave the version; 0 for the defaults.
    public var origin: UInt32 { UInt32(truncatingIfNeeded: rawValue) & 0xF_FFFF }

    /// Whether a collar or a receiver that knows `current` believes this version. A number above max(current number, 2⁴²) + 2²⁰
    /// is invalid: it would leave no higher one.
    public func isPlausible(after current: SettingsVersion) -> Bool {
        number <= max(current.number, SettingsVersion.timeLimit) &+ 1 &<< 20
    }

    /// 2⁴² ms since 1970, in the year 2109: no clock is trusted above it.
    private static var timeLimit: UInt64 { 1 &<< 42 }

    /// Whether the left version loses.
    public static func < (left: SettingsVersion, right: SettingsVersion) -> Bool { left.rawValue < right.rawValue }
}
