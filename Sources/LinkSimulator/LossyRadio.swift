/// A radio link that loses frames and damages bytes, the same way for the same seed.
public struct LossyRadio: Sendable {
    /// What became of a frame.
    public enum Outcome: Equatable, Sendable {
        /// Nothing arrived.
        case lost
        /// These bytes arrived, as they were sent.
        case intact([UInt8])
        /// These bytes arrived; at least one is not what was sent.
        case damaged([UInt8])
    }

    /// Probability that a frame is lost, 0 … 1.
    public let lossProbability: Double
    /// Probability that a byte is changed, 0 … 1.
    public let corruptionProbability: Double
    private var random: SeededRandom

    /// Creates a link.
    public init(lossProbability: Double, corruptionProbability: Double, seed: UInt64) {
        self.lossProbability = lossProbability
        self.corruptionProbability = corruptionProbability
        random = SeededRandom(seed: seed)
    }

    /// Sends bytes over the link.
    public mutating func send(_ bytes: [UInt8]) -> Outcome {
        if random.chance(lossProbability) { return .lost }
        var received = bytes
        var isDamaged = false
        for index in received.indices where random.chance(corruptionProbability) {
            received[index] ^= UInt8(1 + random.next() % 255)
            isDamaged = true
        }
        return isDamaged ? .damaged(received) : .intact(received)
    }
}
