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

/// Decodes live fixes, with fixed probabilities.
struct LiveDecoder: EntropyCoder, ~Copyable, ~Escapable {
    static var isEncoder: Bool { false }

    /// The first field with a value out of range.
    private(set) var invalidField: WireField?
    private var input: RangeDecoder

    /// Creates a decoder that begins at bit `start` of `bytes` and reads zeros from byte `end` on.
    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>, fromBit start: Int, to end: Int) {
        input = RangeDecoder(bytes, fromBit: start, to: end)
    }

    @inline(__always)
    @_lifetime(self: copy self)
    mutating func require(_ isValid: Bool, _ field: WireField) {
        if !isValid, invalidField == nil { invalidField = field }
    }

    @_lifetime(self: copy self)
    mutating func bit(_ bit: Bool, context: Int) -> Bool {
        input.renormalized(after: input.decode(bound: (input.range &>> 8) &* LivePriors.zeroProbability(context)))
    }

    @_lifetime(self: copy self)
    mutating func evenBit(_ bit: Bool) -> Bool { input.decodeEvenBit() }

    @_lifetime(self: copy self)
    mutating func uniform(_ value: UInt32, of count: UInt32) -> UInt32 { input.decode(of: count) }
}

/// Decodes batches, with probabilities that adapt.
struct AdaptiveDecoder: EntropyCoder, ~Copyable, ~Escapable {
    static var isEncoder: Bool { false }

    /// The first field with a value out of range.
    private(set) var invalidField: WireField?
    private var input: RangeDecoder
    private var contexts = AdaptiveContexts()

    /// Creates a decoder that begins at bit `start` of `bytes` and reads zeros from byte `end` on.
    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>, fromBit start: Int, to end: Int) {
        input = RangeDecoder(bytes, fromBit: start, to: end)
        contexts.reset()
    }

    @inline(__always)
    @_lifetime(self: copy self)
    mutating func require(_ isValid: Bool, _ field: WireField) {
        if !isValid, invalidField == nil { invalidField = field }
    }

    @_lifetime(self: copy self)
    mutating func bit(_ bit: Bool, context: Int) -> Bool {
        let bit = input.decode(bound: (input.range &>> 16) &* contexts.zeroProbability(context))
        contexts.adapt(context, to: bit)
        return input.renormalized(after: bit)
    }

    @_lifetime(self: copy self)
    mutating func evenBit(_ bit: Bool) -> Bool { input.decodeEvenBit() }

    @_lifetime(self: copy self)
    mutating func uniform(_ value: UInt32, of count: UInt32) -> UInt32 { input.decode(of: count) }
}

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
