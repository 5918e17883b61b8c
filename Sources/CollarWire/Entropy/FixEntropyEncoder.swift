/// Encodes live fixes with fixed probabilities, and batches with probabilities that adapt. One type serves both, so that a
/// collar's code has each function only once.
struct FixEntropyEncoder: EntropyCoder, ~Copyable {
    static var isEncoder: Bool { true }

    var output = RangeEncoder()
    private var contexts = AdaptiveContexts()
    private var isAdaptive = false

    #if hasFeature(Embedded)
    // If inlined, the initializer makes the value in one place and copies it to another, which takes a kilobyte of stack.
    @inline(never)
    #endif
    /// Creates an encoder with the fixed probabilities of live fixes.
    init() {}

    /// Begins the entropy-coded part of a batch; ``output`` already holds the start of the batch, which precedes that part.
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
