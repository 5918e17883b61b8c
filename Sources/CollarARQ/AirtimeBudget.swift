/// A token bucket that keeps transmissions within a duty cycle in every window of an hour.
///
/// It holds a quarter of what an hour allows, or one frame where that is more, and fills with the rest in an hour, so
/// depth + rate × 3600 s is what an hour allows. It is empty at boot: a collar that reboots again and again does not gain
/// airtime.
public struct AirtimeBudget: Equatable, Sendable {
    private let refillPartsPerMillion: Int64
    /// The most airtime it can hold, in microseconds.
    public let depthMicroseconds: Int64
    private var tokenMicroseconds: Int64 = 0
    /// What the tokens lack to a whole microsecond, in millionths.
    private var remainder: Int64 = 0
    private var lastRefill: Instant

    /// A budget of a collar that boots.
    /// - Parameters:
    ///   - partsPerMillion: the duty cycle, 1 … 1,000,000; 10,000 is 1 %.
    ///   - largestFrameMicroseconds: airtime of the largest frame. Where an hour does not allow it, nothing ever is.
    public init(partsPerMillion: Int64, largestFrameMicroseconds: Int64, now: Instant) {
        let hour = partsPerMillion * 3600
        depthMicroseconds = min(max(AirtimeBudget.quarterMicroseconds(partsPerMillion), largestFrameMicroseconds), hour)
        refillPartsPerMillion = (hour - depthMicroseconds) / 3600
        lastRefill = now
    }

    /// A quarter of what an hour allows, in microseconds.
    static func quarterMicroseconds(_ partsPerMillion: Int64) -> Int64 { partsPerMillion * 900 }

    /// Fills with what the time since the last call allows.
    public mutating func refill(now: Instant) {
        // Longer than this it is full anyway, and the product stays within 64 bits.
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

    /// When a frame of this airtime may be sent; the budget must be refilled to now.
    public func earliest(airtimeMicroseconds: Int64, now: Instant) -> Instant {
        let missing = airtimeMicroseconds - tokenMicroseconds
        guard missing > 0 else { return now }
        return now.advanced(byMicroseconds: missing * 1_000_000 / max(1, refillPartsPerMillion) + 1)
    }

    /// Takes the airtime of a frame that was sent.
    public mutating func spend(airtimeMicroseconds: Int64) { tokenMicroseconds -= airtimeMicroseconds }
}
