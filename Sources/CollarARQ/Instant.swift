/// A point in time of whoever drives a state machine: microseconds since an origin of its own. The core has no clock.
public struct Instant: Equatable, Comparable, Sendable {
    /// Microseconds since the origin.
    public var microseconds: Int64

    /// Creates an instant.
    public init(microseconds: Int64) { self.microseconds = microseconds }

    /// The instant `microseconds` later (earlier where negative).
    public func advanced(byMicroseconds microseconds: Int64) -> Instant {
        Instant(microseconds: self.microseconds + microseconds)
    }

    /// Microseconds from `earlier` to this instant.
    public func microseconds(since earlier: Instant) -> Int64 { microseconds - earlier.microseconds }

    /// Earlier than.
    public static func < (left: Instant, right: Instant) -> Bool { left.microseconds < right.microseconds }
}
