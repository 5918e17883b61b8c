import CollarARQ

/// The sealed frames from one address that do not open: how many are tried, and when the sender is asked for its identity.
struct UnopenedFrames {
    /// Frames that may fail to open: 100 at once, then 100 a second.
    private var failures = TokenBucket(capacity: 100, microsecondsPerToken: 10_000)
    private static let firstInterval: Int64 = 1_000_000
    private static let longestInterval: Int64 = 3_600_000_000

    /// So many frames in a row, over so long a time, are no damage: they come from a collar whose key the host does not have. A
    /// collar whose key is just being changed is taken up sooner.
    private static let certainCount = 4
    private static let certainInterval: Int64 = 3_000_000

    private var count = 0
    private var firstFailure: Instant?
    private var interval = UnopenedFrames.firstInterval
    private var lastRequest: Instant?

    /// Whether another frame is tried. It counts as one that does not open until ``opened()`` is called.
    mutating func mayTry(at now: Instant) -> Bool { failures.take(at: now) }

    /// The frame opened.
    mutating func opened() {
        failures.earn(1)
        count = 0
        firstFailure = nil
        interval = Self.firstInterval
        lastRequest = nil
    }

    /// The frame did not open.
    /// - Returns: whether so many frames in a row did not open that this cannot be damage.
    mutating func failed(at now: Instant) -> Bool {
        count = min(count + 1, Self.certainCount)
        let first = firstFailure ?? now
        firstFailure = first
        return count == Self.certainCount && now.microseconds(since: first) >= Self.certainInterval
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
