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

/// A token bucket that keeps transmissions within a duty cycle in every window of an hour.
///
/// Its depth is a quarter of the airtime that an hour allows, or the airtime of the largest frame if that is more. In an hour it
/// gains the rest of the allowed airtime, so that depth + rate × 3600 s is what an hour allows. It is empty at boot, so that a
/// collar gains no airtime by rebooting.
public struct AirtimeBudget: Equatable, Sendable {
    private let refillPartsPerMillion: Int64
    /// The most airtime that the budget can hold, in microseconds.
    public let depthMicroseconds: Int64
    /// The airtime that the budget holds, in microseconds.
    public private(set) var tokenMicroseconds: Int64 = 0
    /// The fraction of a microsecond gained beyond the tokens, in millionths.
    private var remainder: Int64 = 0
    private var lastRefill: Instant

    /// Creates the empty budget of a collar that boots.
    /// - Parameters:
    ///   - partsPerMillion: the duty cycle, 1 … 1,000,000; 10,000 is 1 %.
    ///   - largestFrameMicroseconds: airtime of the largest frame. If it is more than an hour allows, the budget never covers
    ///     it.
    ///   - now: the time of the boot.
    public init(partsPerMillion: Int64, largestFrameMicroseconds: Int64, now: Instant) {
        let hour = partsPerMillion * 3600
        depthMicroseconds = min(max(AirtimeBudget.quarterMicroseconds(partsPerMillion), largestFrameMicroseconds), hour)
        refillPartsPerMillion = (hour - depthMicroseconds) / 3600
        lastRefill = now
    }

    /// A quarter of what an hour allows, in microseconds.
    static func quarterMicroseconds(_ partsPerMillion: Int64) -> Int64 { partsPerMillion * 900 }

    /// Fills the budget of a sender that has sent nothing for an hour.
    public mutating func fill() { tokenMicroseconds = depthMicroseconds }

    /// Adds the airtime that the time since the last call allows.
    public mutating func refill(now: Instant) {
        // The limit of two hours keeps the product within 64 bits. An empty budget whose depth is a quarter fills in 20 minutes.
        let elapsed = min(max(0, now.microseconds(since: lastRefill)), 7_200_000_000)
        lastRefill = now
        let gain = elapsed * refillPartsPerMillion + remainder
        tokenMicroseconds += gain / 1_000_000
        remainder = gain % 1_000_000
        if tokenMicroseconds >= depthMicroseconds {
            tokenMicroseconds = depthMicroseconds
            remainder = 0
        }
    }

    /// When a frame of this airtime may be sent; the budget must have been refilled at `now`.
    public func earliest(airtimeMicroseconds: Int64, now: Instant) -> Instant {
        let missing = airtimeMicroseconds - tokenMicroseconds
        guard missing > 0 else { return now }
        return now.advanced(byMicroseconds: missing * 1_000_000 / max(1, refillPartsPerMillion) + 1)
    }

    /// Deducts the airtime of a frame that was sent.
    public mutating func spend(airtimeMicroseconds: Int64) { tokenMicroseconds -= airtimeMicroseconds }
}
