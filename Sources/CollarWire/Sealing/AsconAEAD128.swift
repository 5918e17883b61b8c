/// Ascon-AEAD128, authenticated encryption with associated data (NIST SP 800-232, section 4).
public enum AsconAEAD128 {
    private static var initialValue: UInt64 { 0x0000_1000_808C_0001 }
    /// Rounds between two blocks.
    private static var blockRounds: Int { 8 }
    /// Rounds at the beginning and at the end.
    private static var fullRounds: Int { 12 }

    /// Encrypts a text in place.
    /// - Parameters:
    ///   - text: the plaintext, which becomes the ciphertext of the same length.
    ///   - key: the key.
    ///   - nonce: must never be used again with the same key for another text or other associated data.
    ///   - associatedData: is authenticated and not encrypted.
    /// - Returns: the tag of 128 bits.
    ///
    /// Complexity: linear in text and associated data.
    public static func seal(
        _ text: inout MutableSpan<UInt8>, key: Words128, nonce: Words128, associatedData: Span<UInt8>
    ) -> Words128 {
        process(&text, key: key, nonce: nonce, associatedData: associatedData, isSealing: true)
    }

    /// Decrypts a text in place.
    ///
    /// Do not use any of the plaintext before you have compared the returned tag with the tag of the ciphertext.
    /// `isEqual(to:byteCount:)` of ``Words128`` compares tags that are cut to at most 8 bytes.
    /// - Parameters:
    ///   - text: the ciphertext, which becomes the plaintext of the same length.
    ///   - key: the key.
    ///   - nonce: the nonce of the sender.
    ///   - associatedData: the associated data of the sender.
    /// - Returns: the tag that a sender with this key would have sent.
    ///
    /// Complexity: linear in text and associated data.
    public static func open(
        _ text: inout MutableSpan<UInt8>, key: Words128, nonce: Words128, associatedData: Span<UInt8>
    ) -> Words128 {
        process(&text, key: key, nonce: nonce, associatedData: associatedData, isSealing: false)
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    private static func process(
        _ text: inout MutableSpan<UInt8>, key: Words128, nonce: Words128, associatedData: Span<UInt8>, isSealing: Bool
    ) -> Words128 {
        var state = AsconState(word0: initialValue, word1: key.low, word2: key.high, word3: nonce.low, word4: nonce.high)
        state.permute(fullRounds)
        state.word3 ^= key.low
        state.word4 ^= key.high
        absorb(associatedData, into: &state)
        // Separates associated data from text.
        state.word4 ^= 1 &<< 63
        var start = 0
        while start <= text.count {
            let rest = text.count &- start
            state.word0 = convert(&text, from: start, count: min(rest, 8), with: state.word0, isSealing: isSealing)
            if rest >= 8 {
                state.word1 = convert(
                    &text, from: start &+ 8, count: min(rest &- 8, 8), with: state.word1, isSealing: isSealing)
            }
            start &+= 16
            if start <= text.count { state.permute(blockRounds) }
        }
        state.word2 ^= key.low
        state.word3 ^= key.high
        state.permute(fullRounds)
        return Words128(low: state.word3 ^ key.low, high: state.word4 ^ key.high)
    }

    private static func absorb(_ data: Span<UInt8>, into state: inout AsconState) {
        guard data.count > 0 else { return }
        var start = 0
        while start <= data.count {
            let rest = data.count &- start
            state.word0 ^= AsconBlock(data, from: start, count: min(rest, 8)).padded
            if rest >= 8 { state.word1 ^= AsconBlock(data, from: start &+ 8, count: min(rest &- 8, 8)).padded }
            state.permute(blockRounds)
            start &+= 16
        }
    }

    /// Encrypts or decrypts `count` bytes, 0 … 8, with a word of the state. A block of fewer than eight bytes is the last
    /// one of the text, and is padded.
    /// - Returns: the word after the block: the state takes in the plaintext, whichever way the block is converted.
    private static func convert(
        _ text: inout MutableSpan<UInt8>, from start: Int, count: Int, with word: UInt64, isSealing: Bool
    ) -> UInt64 {
        let given = AsconBlock(text.span, from: start, count: count)
        let converted = (given.word ^ word) & given.mask
        var rest = converted
        for index in 0..<count {
            text[start &+ index] = UInt8(truncatingIfNeeded: rest)
            rest = rest &>> 8
        }
        return word ^ (isSealing ? given.word : converted) ^ given.padding
    }
}
