import CollarARQ

/// Lets each kind of notice through once a minute, so that what somebody does over and over is not said over and over.
/// Memory for one time a kind: kinds must be few.
struct NoticeLimiter<Kind: Hashable & Sendable>: Sendable {
    /// Least time between two notices of a kind, in microseconds.
    private static var interval: Int64 { 60_000_000 }

    private var lastNotices: [Kind: Instant] = [:]

    /// Whether a notice of this kind is due. One that is counts as given.
    mutating func isDue(_ kind: Kind, at now: Instant) -> Bool {
        if let last = lastNotices[kind], now.microseconds(since: last) < NoticeLimiter.interval { return false }
        lastNotices[kind] = now
        return true
    }
}
