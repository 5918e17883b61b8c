/// Ascon-CXOF128, a hash function of any output length with a customization (NIST SP 800-232, section 5.3): first the message is
/// taken in, then the output is read.
public struct AsconCXOF128 {
    private static var initialValue: UInt64 { 0x0000_0800_00CC_0004 }

    private var sponge: AsconSponge

    /// Begins a message.
    /// - Parameter customization: distinguishes uses of the function; at most 256 bytes.
    public init(customization: Span<UInt8>) {
        precondition(customization.count <= 256, "a customization has at most 2048 bits")
        let zero = Words128(low: 0, high: 0)
        sponge = AsconSponge(AsconState(AsconCXOF128.initialValue, zero, zero), blockByteCount: 8, roundCount: 12)
        sponge.permute()
        sponge.state.xor(UInt64(widening: UInt32(truncatingIfNeeded: customization.count)) &<< 3, into: 0)
        sponge.permute()
        absorb(customization, from: 0, to: customization.count)
        end()
    }

    /// Takes in the bytes of a span from `start` to before `end`.
    public mutating func absorb(_ bytes: Span<UInt8>, from start: Int, to end: Int) {
        sponge.absorb(bytes, from: start, to: end)
    }

    /// Takes in the lowest `byteCount` bytes of a number, at most 4, the most significant one first.
    mutating func absorb(_ value: UInt32, byteCount: Int) { sponge.absorb(value, byteCount: byteCount) }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Takes in the first `byteCount` bytes of two words.
    mutating func absorb(_ words: Words128, byteCount: Int) {
        for index in 0..<byteCount { sponge.absorb(words.byte(at: index)) }
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Ends the message.
    public mutating func end() {
        sponge.pad()
        sponge.permute()
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// The next eight bytes of the output, the first one lowest.
    public mutating func next() -> UInt64 {
        let word = sponge.state.word(0)
        sponge.permute()
        return word
    }
}
