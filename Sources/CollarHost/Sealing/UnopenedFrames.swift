import CollarARQ

/// The sealed frames from one address that do not open: how many are tried, and when the sender is asked for its identity.
struct UnopenedFrames {
    /// Frames that may fail to open: 100 at once, then 100 a second.
    private var failures = TokenBucket(capacity: 100, microsecondsPerToken: 10_000)
    private static let firstInterval: Int64 = 1_000_000
    private static let longestInterval: Int64 = 3_600_000_000

    private var interval = UnopenedFrames.firstInterval
    private var lastRequest: Instant?

    /// Whether another frame is tried. It counts as one that does not open until ``opened()`` is called.
    mutating func mayTry(at now: Instant) -> Bool { failures.take(at: now) }

    /// The frame opened.
    mutating func opened() {
        failures.earn(1)
        interval = Self.firstInterval
        lastRequest = nil
    }

    /// Whether to ask for the identity now: 1 s after the first frame that does not open, then 2 s, 4 s … after the last request,
    /// up to an hour.
    mutating func isRequestDue(at now: Instant) -> Bool {
        guard let last = lastRequest else {
            lastRequest = now
            return false
        }
        guard now.microseconds(since: last) >= interval else { return false }
        lastRequest = now
        interval = min(2 * interval, Self.longestInterval)
        return true
    }
}
