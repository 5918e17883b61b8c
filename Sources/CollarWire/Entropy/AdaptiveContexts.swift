/// The contexts of one batch. Each has a probability, which adapts to every decision, and a count of its adaptations.
///
/// The more often a context was adapted, the less it changes: the rate falls like that of a running mean (F. Rubin,
/// "Arithmetic stream coding using fixed precision registers", 1979), but not below 1/31.5.
struct AdaptiveContexts {
    private static let countLimit: UInt8 = 30

    /// Probabilities that a decision is 0, in 65,536ths: 1 … 65,535.
    private var zeroProbabilities = InlineArray<312, UInt16>(repeating: 0)
    /// How often each probability was adapted; 30 means 30 times or more.
    private var counts = InlineArray<312, UInt8>(repeating: 0)

    /// Sets the contexts to their state at the beginning of a batch.
    mutating func reset() {
        var index = 0
        while index < BatchPriors.count {
            let state = BatchPriors.states[index]
            zeroProbabilities[index] = state & ~31
            counts[index] = UInt8(truncatingIfNeeded: state & 31)
            index += 1
        }
    }

    /// Probability that the next decision is 0, in 65,536ths. It is mutating, because a collar would copy all contexts otherwise.
    @inline(__always)
    mutating func zeroProbability(_ context: Int) -> UInt32 { UInt32(zeroProbabilities[context]) }

    /// Adapts a context to a decision.
    @inline(__always)
    mutating func adapt(_ context: Int, to bit: Bool) {
        let count = counts[context]
        let rate = AdaptiveContexts.rate(count)
        let probability = UInt32(zeroProbabilities[context])
        // The products stay below 2³².
        let adapted =
            bit ? probability &- (probability &* rate) &>> 16
            : probability &+ ((65_536 &- probability) &* rate) &>> 16
        zeroProbabilities[context] = UInt16(truncatingIfNeeded: adapted)
        if count < AdaptiveContexts.countLimit { counts[context] = count &+ 1 }
    }

    /// The rate 131,072 / (2n + 3) for the count n, in 65,536ths. A table spares a host the division, and its absence spares a
    /// collar flash.
    @inline(__always)
    private static func rate(_ count: UInt8) -> UInt32 {
        #if hasFeature(Embedded)
        131_072 / (2 &* UInt32(count) &+ 3)
        #else
        UInt32(rates[Int(truncatingIfNeeded: count)])
        #endif
    }

    #if !hasFeature(Embedded)
    private static let rates: InlineArray<31, UInt16> = [
        43690, 26214, 18724, 14563, 11915, 10082, 8738, 7710, 6898, 6241, 5698,
        5242, 4854, 4519, 4228, 3971, 3744, 3542, 3360, 3196, 3048, 2912,
        2788, 2674, 2570, 2473, 2383, 2299, 2221, 2148, 2080,
    ]
    #endif
}
