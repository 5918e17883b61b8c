import CollarARQ

extension Instant {
    /// The earlier of two deadlines, of which each may be missing.
    package static func earliest(_ first: Instant?, _ second: Instant?) -> Instant? {
        guard let first, let second else { return first ?? second }
        return min(first, second)
    }
}

/// The two clocks of a host at one moment. ``Host`` has no clock: every input carries the time.
package struct HostTime: Equatable, Sendable {
    /// A clock that never goes back: deadlines and rates are measured with it.
    package var instant: Instant
    /// The time of day in milliseconds since 1970, which records and lines carry. It may jump.
    package var unixMilliseconds: Int64

    /// Creates a moment.
    package init(instant: Instant, unixMilliseconds: Int64) {
        self.instant = instant
        self.unixMilliseconds = unixMilliseconds
    }
}
