/// A radio link that loses frames and damages bytes, in the same way for the same seed.
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
    /// The average number of frames that are lost in a row; nil if each loss is independent of the others.
    package let meanBurstLength: Double?
    private var isInBurst = false
    private var random: SeededRandom

    /// Creates a link.
    /// - Parameter meanBurstLength: nil, or at least 1 and at least p ÷ (1 − p), where p is the loss probability, which must be
    ///   below 1. Losses then follow a Markov chain of a good state, in which every frame arrives, and a bad state, in which
    ///   none does (E. N. Gilbert, "Capacity of a Burst-Noise Channel", 1960). Both directions share the state.
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
        // On average, p / (1 - p) frames are lost for each frame that arrives, and `length` frames in each burst. The
        // quotient of the two is the probability that a burst begins.
        isInBurst =
            isInBurst
            ? !random.chance(1 / length) : random.chance(lossProbability / (length * (1 - lossProbability)))
        return isInBurst
    }
}
