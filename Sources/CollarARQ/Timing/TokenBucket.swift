import CollarWire

/// How often something may happen: a number of times at once, then at a rate. It holds no clock.
public struct TokenBucket: Equatable, Sendable {
    /// The most tokens.
    public let capacity: Int
    /// Time after which one token is added, in microseconds.
    public let microsecondsPerToken: Int64
    private var tokens: Int
    /// The time up to which tokens were added; nil while the bucket is full.
    private var countedSince: Instant?

    /// A full bucket.
    /// - Parameters:
    ///   - capacity: the most tokens, at least 1.
    ///   - microsecondsPerToken: time after which one token is added, at least 1.
    public init(capacity: Int, microsecondsPerToken: Int64) {
        precondition(capacity > 0 && microsecondsPerToken > 0, "a bucket that never gives")
        self.capacity = capacity
        self.microsecondsPerToken = microsecondsPerToken
        tokens = capacity
    }

    /// Takes one token.
    /// - Returns: false if there is none.
    public mutating func take(at now: Instant) -> Bool {
        refill(now)
        guard tokens > 0 else { return false }
        tokens -= 1
        if countedSince == nil { countedSince = now }
        return true
    }

    /// Adds tokens, up to the capacity.
    public mutating func earn(_ count: Int) {
        tokens = min(capacity, tokens + count)
        if tokens == capacity { countedSince = nil }
    }

    private mutating func refill(_ now: Instant) {
        guard let since = countedSince else { return }
        let count = max(0, now.microseconds(since: since)) / microsecondsPerToken
        guard count < Int64(widening: Int32(truncatingIfNeeded: capacity - tokens)) else {
            tokens = capacity
            countedSince = nil
            return
        }
        tokens += Int(truncatingIfNeeded: count)
        countedSince = since.advanced(byMicroseconds: count * microsecondsPerToken)
    }
}
