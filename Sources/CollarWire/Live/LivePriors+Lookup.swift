extension LivePriors {
    #if hasFeature(Embedded)
    /// The probability that a decision is 0, in 256ths.
    static func zeroProbability(_ context: Int) -> UInt32 { look(up: context) }
    #else
    /// The probability that a decision is 0, in 256ths.
    static func zeroProbability(_ context: Int) -> UInt32 { UInt32(zeroProbabilities[context]) }

    /// The table of all contexts, for speed.
    private static let zeroProbabilities = InlineArray<1486, UInt8> { UInt8(truncatingIfNeeded: look(up: $0)) }
    #endif

    /// Finds the probability of a context by counting the contexts before it that are not 128.
    private static func look(up context: Int) -> UInt32 {
        var word = context &>> 5
        let bit: UInt32 = 1 &<< UInt32(truncatingIfNeeded: context & 31)
        var rest = known[word]
        if rest & bit == 0 { return 128 }
        rest &= bit &- 1
        var index = 0
        while true {
            while rest != 0 {
                rest &= rest &- 1
                index &+= 1
            }
            if word == 0 { return UInt32(knownZeroProbabilities[index]) }
            word &-= 1
            rest = known[word]
        }
    }
}
