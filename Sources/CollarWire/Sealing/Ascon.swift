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
    public mutating func absorb(_ bytes: Span<UInt8>, from start: Int, to end: Int) { sponge.absorb(bytes, from: start, to: end) }

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
    public mutating func absorb(_ bytes: Span<UInt8>, from start: Int, to end: Int) { sponge.absorb(bytes, from: start, to: end) }

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

/// A state that takes in bytes, block by block.
struct AsconSponge {
    var state: AsconState
    /// Bytes of a block, 8 or 16.
    let blockByteCount: Int
    /// Rounds of the permutation after each block.
    let roundCount: UInt32
    /// Where the next byte enters the block.
    private(set) var place = 0
    /// Whether a byte was taken in.
    private(set) var hasData = false

    init(_ state: AsconState, blockByteCount: Int, roundCount: UInt32) {
        self.state = state
        self.blockByteCount = blockByteCount
        self.roundCount = roundCount
    }

    /// Moves on by a byte; after a whole block, the state is permuted.
    mutating func advance() {
        place &+= 1
        if place == blockByteCount { permute() }
    }

    /// Permutes the state. The next byte begins a block.
    mutating func permute() {
        state.permute(roundCount)
        place = 0
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    mutating func absorb(_ byte: UInt8) {
        hasData = true
        state.xor(byte, at: place)
        advance()
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Takes in the lowest `byteCount` bytes of a number, at most 4, the most significant one first.
    mutating func absorb(_ value: UInt32, byteCount: Int) {
        var rest = byteCount
        while rest > 0 {
            rest &-= 1
            absorb(UInt8(truncatingIfNeeded: value &>> UInt32(truncatingIfNeeded: 8 &* rest)))
        }
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Takes in the bytes of a span from `start` to before `end`.
    mutating func absorb(_ bytes: Span<UInt8>, from start: Int, to end: Int) {
        var index = start
        while index < end {
            absorb(bytes[index])
            index &+= 1
        }
    }

    /// Ends what was taken in: adds a bit after the last byte.
    mutating func pad() { state.xor(1, at: place) }
}
