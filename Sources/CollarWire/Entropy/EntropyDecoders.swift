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
        input.decode(bound: (input.range &>> 8) &* LivePriors.zeroProbability(context))
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
        return bit
    }

    @_lifetime(self: copy self)
    mutating func evenBit(_ bit: Bool) -> Bool { input.decodeEvenBit() }

    @_lifetime(self: copy self)
    mutating func uniform(_ value: UInt32, of count: UInt32) -> UInt32 { input.decode(of: count) }
}
