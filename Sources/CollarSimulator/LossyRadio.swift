/// A radio link that loses frames and damages bytes, the same way for the same seed.
package struct LossyRadio: Sendable {
    /// What became of a frame.
    package enum Outcome: Equatable, Sendable {
        /// Nothing arrived.
        case lost
        /// These bytes arrived, as they were sent.
        case intact([UInt8])
        /// These bytes arrived; at least one is not what was sent.
        case damaged([UInt8])
    }

    /// Probability that a frame is lost, 0 … 1.
    package let lossProbability: Double
    /// Probability that a byte is changed, 0 … 1.
    package let corruptionProbability: Double
    /// Frames that are lost in a row, on the average; nil where each loss is a chance of its own.
    package let meanBurstLength: Double?
    private var isInBurst = false
    private var random: SeededRandom

    /// Creates a link.
    /// - Parameter meanBurstLength: at least 1, and at least p ÷ (1 − p) for a loss probability p, which is below 1. A
    ///   chain of a good state, in which every frame arrives, and a bad one, in which none does (E. N. Gilbert,
    ///   "Capacity of a Burst-Noise Channel", 1960); both directions share it.
    package init(
        lossProbability: Double, corruptionProbability: Double, meanBurstLength: Double? = nil, seed: UInt64
    ) {
        self.lossProbability = lossProbability
        self.corruptionProbability = corruptionProbability
        self.meanBurstLength = meanBurstLength
        random = SeededRandom(seed: seed)
    }

    /// Sends bytes over the link.
    package mutating func send(_ bytes: [UInt8]) -> Outcome {
        if losesNext() { return .lost }
        var received = bytes
        var isDamaged = false
        for index in received.indices where random.chance(corruptionProbability) {
            received[index] ^= UInt8(1 + random.next() % 255)
            isDamaged = true
        }
        return isDamaged ? .damaged(received) : .intact(received)
    }

    private mutating func losesNext() -> Bool {
        guard let length = meanBurstLength else { return random.chance(lossProbability) }
        // As many frames are lost as arrive times p / (1 - p): so often a burst begins.
        isInBurst =
            isInBurst
            ? !random.chance(1 / length) : random.chance(lossProbability / (length * (1 - lossProbability)))
        return isInBurst
    }
}
