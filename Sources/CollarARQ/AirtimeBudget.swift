/// A token bucket that keeps transmissions within a duty cycle in every window of an hour.
///
/// It fills with three quarters of the allowed airtime and holds a quarter of an hour's worth, so depth + rate × 3600 s
/// is what an hour allows. It is empty at boot: a collar that reboots again and again does not gain airtime.
public struct AirtimeBudget: Equatable, Sendable {
    private let partsPerMillion: Int64
    private var tokenMicroseconds: Int64 = 0
    /// What the tokens lack to a whole microsecond, in millionths.
    private var remainder: Int64 = 0
    private var lastRefill: Instant

    /// A budget of a collar that boots.
    /// - Parameter partsPerMillion: the duty cycle, 1 … 1,000,000; 10,000 is 1 %.
    public init(partsPerMillion: Int64, now: Instant) {
        self.partsPerMillion = partsPerMillion
        lastRefill = now
    }

    /// The most airtime it can hold, in microseconds: the largest frame must not take longer.
    public var depthMicroseconds: Int64 { partsPerMillion * 900 }

    private var refillPartsPerMillion: Int64 { partsPerMillion * 3 / 4 }

    /// Fills with what the time since the last call allows.
    public mutating func refill(now: Instant) {
        // Longer than this it is full anyway, and the product stays within 64 bits.
        let elapsed = min(max(0, now.microseconds(since: lastRefill)), 3_600_000_000)
        lastRefill = now
        let gain = elapsed * refillPartsPerMillion + remainder
        tokenMicroseconds += gain / 1_000_000
        remainder = gain % 1_000_000
        if tokenMicroseconds >= depthMicroseconds {
            tokenMicroseconds = depthMicroseconds
            remainder = 0
        }
    }

    /// Whether a frame of this airtime may be sent now; one that lasts longer than the depth never may.
    public func allows(airtimeMicroseconds: Int64) -> Bool { tokenMicroseconds >= airtimeMicroseconds }

    /// When a frame of this airtime may be sent; the budget must be refilled to now.
    public func earliest(airtimeMicroseconds: Int64, now: Instant) -> Instant {
        let missing = airtimeMicroseconds - tokenMicroseconds
        guard missing > 0 else { return now }
        return now.advanced(byMicroseconds: missing * 1_000_000 / max(1, refillPartsPerMillion) + 1)
    }

    /// Takes the airtime of a frame that was sent.
    public mutating func spend(airtimeMicroseconds: Int64) { tokenMicroseconds -= airtimeMicroseconds }
}
