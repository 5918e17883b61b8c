/// Encodes live fixes with fixed probabilities, and batches with probabilities that adapt. One type serves both, so that a
/// collar's code has each function only once.
struct FixEntropyEncoder: EntropyCoder, ~Copyable, ~Escapable {
    static var isEncoder: Bool { true }

    @inline(__always)
    @_lifetime(self: copy self)
    mutating func require(_ isValid: Bool, _ field: WireField) {}

    var output = RangeEncoder()
    /// The contexts of a batch, as the only element; empty for a live fix, which thus does without their kilobyte of stack.
    private var contexts: MutableSpan<AdaptiveContexts>

    #if hasFeature(Embedded)
    // If inlined, the initializer makes the value in one place and copies it to another, which takes stack.
    @inline(never)
    #endif
    /// Creates an encoder.
    /// - Parameter contexts: one element for a batch; none for a live fix.
    @_lifetime(copy contexts)
    init(_ contexts: consuming MutableSpan<AdaptiveContexts>) { self.contexts = contexts }

    /// Begins the entropy-coded part of a batch; ``output`` already holds the start of the batch, which precedes that part.
    @_lifetime(self: copy self)
    mutating func beginBatch() {
        output.begin()
        contexts[0].reset()
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    @_lifetime(self: copy self)
    mutating func bit(_ bit: Bool, context: Int) -> Bool {
        let bound: UInt32
        if contexts.isEmpty {
            bound = (output.range &>> 8) &* LivePriors.zeroProbability(context)
        } else {
            bound = (output.range &>> 16) &* contexts[0].zeroProbability(context)
            contexts[0].adapt(context, to: bit)
        }
        output.encode(bit, bound: bound)
        return bit
    }

    @_lifetime(self: copy self)
    mutating func evenBit(_ bit: Bool) -> Bool {
        output.encode(bit ? 1 : 0, of: 2)
        return bit
    }

    @_lifetime(self: copy self)
    mutating func uniform(_ value: UInt32, of count: UInt32) -> UInt32 {
        output.encode(value, of: count)
        return value
    }
}
