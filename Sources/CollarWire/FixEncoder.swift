/// Towards the wire: live fixes with fixed probabilities, batches with such that adapt. One type for both, because a
/// collar has each function once then.
struct FixEncoder: EntropyCoder, ~Copyable {
    static var isEncoder: Bool { true }

    var output = RangeEncoder()
    private var contexts = AdaptiveContexts()
    private var isAdaptive = false

    #if hasFeature(Embedded)
    // Inlined, it is made in one place and copied to another: a kilobyte of stack.
    @inline(never)
    #endif
    /// With the fixed probabilities of live fixes.
    init() {}

    /// Begins the code of a batch behind the start, which ``output`` holds.
    mutating func beginBatch() {
        output.begin()
        contexts.reset()
        isAdaptive = true
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    mutating func bit(_ bit: Bool, context: Int) -> Bool {
        if isAdaptive {
            output.encode(bit, bound: (output.range &>> 16) &* contexts.zeroProbability(context))
            contexts.adapt(context, to: bit)
        } else {
            output.encode(bit, bound: (output.range &>> 8) &* UInt32(LivePriors.zeroProbabilities[context]))
        }
        return bit
    }

    mutating func evenBit(_ bit: Bool) -> Bool {
        output.encode(bit ? 1 : 0, of: 2)
        return bit
    }

    mutating func uniform(_ value: UInt32, of count: UInt32) -> UInt32 {
        output.encode(value, of: count)
        return value
    }
}
