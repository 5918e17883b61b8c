/// Ascon-CXOF128, a hash function of any output length with a customization (NIST SP 800-232, section 5.3).
public struct AsconCXOF128 {
    private static var initialValue: UInt64 { 0x0000_0800_00CC_0004 }
    private static var roundCount: Int { 12 }

    private var state: AsconState

    /// Hashes a message.
    /// - Parameters:
    ///   - customization: distinguishes uses of the function; at most 256 bytes.
    ///   - message: the bytes to hash.
    ///
    /// Complexity: linear in message and customization.
    public init(customization: Span<UInt8>, message: Span<UInt8>) {
        precondition(customization.count <= 256, "a customization has at most 2048 bits")
        state = AsconState(word0: AsconCXOF128.initialValue, word1: 0, word2: 0, word3: 0, word4: 0)
        state.permute(AsconCXOF128.roundCount)
        state.word0 ^= UInt64(widening: UInt32(truncatingIfNeeded: customization.count)) &<< 3
        state.permute(AsconCXOF128.roundCount)
        absorb(customization)
        absorb(message)
    }

    private mutating func absorb(_ bytes: Span<UInt8>) {
        var start = 0
        while start <= bytes.count {
            state.word0 ^= AsconBlock(bytes, from: start, count: min(bytes.count &- start, 8)).padded
            state.permute(AsconCXOF128.roundCount)
            start &+= 8
        }
    }

    /// The next eight bytes of the output, the first one lowest.
    public mutating func next() -> UInt64 {
        let word = state.word0
        state.permute(AsconCXOF128.roundCount)
        return word
    }
}
