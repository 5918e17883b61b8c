import CollarARQ

/// The two clocks of a host at one moment. ``Host`` has no clock: every input carries the time.
public struct HostTime: Equatable, Sendable {
    /// A clock that never goes back: deadlines and rates are measured with it.
    public var instant: Instant
    /// The time of day, in milliseconds since 1970: what records and lines carry. It may jump.
    public var unixMilliseconds: Int64

    /// Names a moment.
    public init(instant: Instant, unixMilliseconds: Int64) {
        self.instant = instant
        self.unixMilliseconds = unixMilliseconds
    }
}
