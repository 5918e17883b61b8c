import CollarARQ

/// Lets each kind of notice through at most once a minute, so that repeated events do not repeat their notice. It stores one
/// time for each kind, so there must be few kinds.
struct NoticeLimiter<Kind: Hashable & Sendable>: Sendable {
    /// The least time between two notices of a kind, in microseconds.
    private static var interval: Int64 { 60_000_000 }

    private var lastNotices: [Kind: Instant] = [:]

    /// Whether a notice of this kind is due. If so, it counts as given.
    mutating func isDue(_ kind: Kind, at now: Instant) -> Bool {
        if let last = lastNotices[kind], now.microseconds(since: last) < NoticeLimiter.interval { return false }
        lastNotices[kind] = now
        return true
    }
}
