/// A point in time, in microseconds since an origin that the caller of a state machine chooses. The core has no clock.
///
/// Its arithmetic wraps around after 292,000 years: to check it would take 1 KB of a collar's flash.
public struct Instant: Equatable, Comparable, Sendable {
    /// Microseconds since the origin.
    public var microseconds: Int64

    /// Creates an instant.
    public init(microseconds: Int64) { self.microseconds = microseconds }

    /// The instant `microseconds` later (earlier if negative).
    public func advanced(byMicroseconds microseconds: Int64) -> Instant {
        Instant(microseconds: self.microseconds &+ microseconds)
    }

    /// Microseconds from `earlier` to this instant.
    public func microseconds(since earlier: Instant) -> Int64 { microseconds &- earlier.microseconds }

    /// Whether `left` is earlier than `right`.
    public static func < (left: Instant, right: Instant) -> Bool { left.microseconds < right.microseconds }
}
