/// The state of the permutation Ascon-p: 320 bits in five words (NIST SP 800-232, section 3). Bytes enter a word with the first
/// one lowest.
///
/// No branch, no memory address and no shift depends on the state.
struct AsconState {
    var word0: UInt64
    var word1: UInt64
    var word2: UInt64
    var word3: UInt64
    var word4: UInt64

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Applies the last `roundCount` of the twelve rounds of the permutation.
    mutating func permute(_ roundCount: Int) {
        var constant: UInt64 = 0xF0 &- 0xF &* UInt64(widening: UInt32(truncatingIfNeeded: 12 &- roundCount))
        for _ in 0..<roundCount {
            word2 ^= constant
            constant &-= 0xF
            substitute()
            diffuse()
        }
    }

    /// The substitution layer: a box of five bits in bit-sliced form.
    @inline(__always)
    private mutating func substitute() {
        word0 ^= word4
        word4 ^= word3
        word2 ^= word1
        let masked0 = ~word0 & word1
        let masked1 = ~word1 & word2
        let masked2 = ~word2 & word3
        let masked3 = ~word3 & word4
        let masked4 = ~word4 & word0
        word0 ^= masked1
        word1 ^= masked2
        word2 ^= masked3
        word3 ^= masked4
        word4 ^= masked0
        word1 ^= word0
        word0 ^= word4
        word3 ^= word2
        word2 = ~word2
    }

    /// The linear layer: each word is mixed with two rotations of itself.
    @inline(__always)
    private mutating func diffuse() {
        word0 ^= AsconState.rotated(word0, 19) ^ AsconState.rotated(word0, 28)
        word1 ^= AsconState.rotated(word1, 61) ^ AsconState.rotated(word1, 39)
        word2 ^= AsconState.rotated(word2, 1) ^ AsconState.rotated(word2, 6)
        word3 ^= AsconState.rotated(word3, 10) ^ AsconState.rotated(word3, 17)
        word4 ^= AsconState.rotated(word4, 7) ^ AsconState.rotated(word4, 41)
    }

    /// A word rotated to the right by a constant number of bits.
    @inline(__always)
    private static func rotated(_ word: UInt64, _ count: UInt64) -> UInt64 { word &>> count | word &<< (64 &- count) }
}

/// A block of at most eight bytes, as a word of the state.
struct AsconBlock {
    /// The bytes, the first one lowest; the others are 0.
    let word: UInt64
    /// The padding: a bit after the last byte. 0 if the block has eight bytes.
    let padding: UInt64

    /// Reads `count` bytes, 0 … 8, from `start` on.
    init(_ bytes: Span<UInt8>, from start: Int, count: Int) {
        var word: UInt64 = 0
        var padding: UInt64 = 1
        var index = start &+ count
        while index > start {
            index &-= 1
            word = word &<< 8 | UInt64(widening: bytes[index])
            padding = padding &<< 8
        }
        self.word = word
        self.padding = padding
    }

    /// The bytes with the padding.
    var padded: UInt64 { word | padding }

    /// The bits that the bytes fill.
    var mask: UInt64 { padding &- 1 }
}
