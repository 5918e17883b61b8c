/// Ascon-AEAD128, authenticated encryption with associated data (NIST SP 800-232, section 4), for one text: first the associated
/// data are taken in, then the text is encrypted or decrypted.
public struct AsconAEAD128 {
    private static var initialValue: UInt64 { 0x0000_1000_808C_0001 }
    /// Rounds at the beginning and at the end.
    private static var fullRoundCount: UInt32 { 12 }

    private var sponge: AsconSponge
    private let key: Words128

    /// Begins a text.
    /// - Parameters:
    ///   - key: the key.
    ///   - nonce: must never be used again with the same key for another text or other associated data.
    public init(key: Words128, nonce: Words128) {
        self.key = key
        sponge = AsconSponge(AsconState(Self.initialValue, key, nonce), blockByteCount: 16, roundCount: 8)
        sponge.state.permute(Self.fullRoundCount)
        sponge.state.xor(key, into: 3)
    }

    /// Takes in associated data: the bytes of a span from `start` to before `end`. They are authenticated and not encrypted.
    public mutating func absorb(_ bytes: Span<UInt8>, from start: Int, to end: Int) {
        sponge.absorb(bytes, from: start, to: end)
    }

    /// Takes in associated data: the lowest `byteCount` bytes of a number, 1 … 4, the most significant one first.
    mutating func absorb(_ value: UInt32, byteCount: Int) { sponge.absorb(value, byteCount: byteCount) }

    /// Encrypts a text in place.
    /// - Parameters:
    ///   - bytes: end with the plaintext, which becomes the ciphertext of the same length.
    ///   - start: where the plaintext begins; the bytes before it are left alone.
    /// - Returns: the tag of 128 bits.
    ///
    /// Complexity: linear in the text.
    public consuming func seal(_ bytes: inout MutableSpan<UInt8>, from start: Int) -> Words128 {
        process(&bytes, from: start, isSealing: true)
    }

    /// Decrypts a text in place.
    ///
    /// Do not use any of the plaintext before you have compared the returned tag with the tag of the ciphertext.
    /// `isEqual(to:byteCount:)` of ``Words128`` compares tags that are cut to at most 8 bytes.
    /// - Parameters:
    ///   - bytes: end with the ciphertext, which becomes the plaintext of the same length.
    ///   - start: where the ciphertext begins; the bytes before it are left alone.
    /// - Returns: the tag that a sender with this key would have sent.
    ///
    /// Complexity: linear in the text.
    public consuming func open(_ bytes: inout MutableSpan<UInt8>, from start: Int) -> Words128 {
        process(&bytes, from: start, isSealing: false)
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    private mutating func process(_ bytes: inout MutableSpan<UInt8>, from start: Int, isSealing: Bool) -> Words128 {
        if sponge.hasData {
            sponge.pad()
            sponge.permute()
        }
        // Separates associated data from text.
        sponge.state.xor(1 &<< 63, into: 4)
        var index = start
        while index < bytes.count {
            let given = bytes[index]
            let converted = sponge.state.xor(given, at: sponge.place)
            bytes[index] = converted
            // The state takes in the ciphertext, whichever way the text is converted.
            if !isSealing { sponge.state.xor(given ^ converted, at: sponge.place) }
            sponge.advance()
            index &+= 1
        }
        sponge.pad()
        sponge.state.xor(key, into: 2)
        sponge.state.permute(Self.fullRoundCount)
        return Words128(low: sponge.state.word(3) ^ key.low, high: sponge.state.word(4) ^ key.high)
    }
}
