/// The state of the permutation Ascon-p: 320 bits in five words (NIST SP 800-232, section 3). Bytes enter a word with the first
/// one lowest.
///
/// No branch, no memory address and no shift depends on the state.
struct AsconState {
    /// The words, each as its lower and its upper 32 bits: XORing in a byte then takes shifts of 32 bits, one instruction each on a
    /// microcontroller.
    private var halves: InlineArray<10, UInt32>

    init(_ word0: UInt64, _ words12: Words128, _ words34: Words128) {
        halves = .init(repeating: 0)
        set(word0, at: 0)
        set(words12.low, at: 1)
        set(words12.high, at: 2)
        set(words34.low, at: 3)
        set(words34.high, at: 4)
    }

    /// A word; `index` is 0 … 4.
    @inline(__always)
    func word(_ index: Int) -> UInt64 { UInt64(widening: halves[2 &* index &+ 1]) &<< 32 | UInt64(widening: halves[2 &* index]) }

    @inline(__always)
    private mutating func set(_ word: UInt64, at index: Int) {
        halves[2 &* index] = UInt32(truncatingIfNeeded: word)
        halves[2 &* index &+ 1] = UInt32(truncatingIfNeeded: word &>> 32)
    }

    /// XORs a word into the word of this index.
    mutating func xor(_ word: UInt64, into index: Int) {
        halves[2 &* index] ^= UInt32(truncatingIfNeeded: word)
        halves[2 &* index &+ 1] ^= UInt32(truncatingIfNeeded: word &>> 32)
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// XORs two words into the word of this index and into the one after it.
    mutating func xor(_ words: Words128, into index: Int) {
        xor(words.low, into: index)
        xor(words.high, into: index &+ 1)
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// XORs a byte into the byte at `place`, 0 … 15, of the first two words.
    /// - Returns: the result.
    @discardableResult
    mutating func xor(_ byte: UInt8, at place: Int) -> UInt8 {
        let shift = UInt32(truncatingIfNeeded: 8 &* (place & 3))
        halves[place &>> 2] ^= UInt32(byte) &<< shift
        return UInt8(truncatingIfNeeded: halves[place &>> 2] &>> shift)
    }

    #if hasFeature(Embedded)
    @inline(never)
    /// Applies the last `roundCount` of the twelve rounds of the permutation. It works on halves of words and in loops, which
    /// takes less than half of the flash.
    mutating func permute(_ roundCount: UInt32) {
        var constant: UInt32 = 0xF0 &- 0xF &* (12 &- roundCount)
        while constant >= 0x4B {
            halves[4] ^= constant
            constant &-= 0xF
            substitute(0)
            substitute(1)
            diffuse()
        }
    }

    /// The substitution layer in the lower (0) or the upper (1) halves of the words.
    @inline(never)
    private mutating func substitute(_ half: Int) {
        // The mask tells the compiler that every index is in range.
        let first = half & 1
        var words = AsconWords(
            word0: halves[first], word1: halves[first &+ 2], word2: halves[first &+ 4], word3: halves[first &+ 6],
            word4: halves[first &+ 8])
        words.substitute()
        halves[first] = words.word0
        halves[first &+ 2] = words.word1
        halves[first &+ 4] = words.word2
        halves[first &+ 6] = words.word3
        halves[first &+ 8] = words.word4
    }

    /// The linear layer: each word is mixed with two rotations of itself.
    @inline(never)
    private mutating func diffuse() {
        // The rotations of the words, six bits each, those of the first word lowest.
        var first: UInt32 = 19 | 61 &<< 6 | 1 &<< 12 | 10 &<< 18 | 7 &<< 24
        var second: UInt32 = 28 | 39 &<< 6 | 6 &<< 12 | 17 &<< 18 | 41 &<< 24
        var index = 0
        while first != 0 {
            let word = UInt64(widening: halves.span[2 &* index &+ 1]) &<< 32 | UInt64(widening: halves.span[2 &* index])
            xor(AsconState.rotated(word, first & 63) ^ AsconState.rotated(word, second & 63), into: index)
            first = first &>> 6
            second = second &>> 6
            index &+= 1
        }
    }

    /// A word rotated to the right by a number of bits that is no multiple of 32 and does not depend on the state.
    @inline(never)
    private static func rotated(_ word: UInt64, _ count: UInt32) -> UInt64 {
        var low = UInt32(truncatingIfNeeded: word)
        var high = UInt32(truncatingIfNeeded: word &>> 32)
        if count >= 32 { (low, high) = (high, low) }
        return UInt64(widening: high &>> count | low &<< (32 &- count)) &<< 32
            | UInt64(widening: low &>> count | high &<< (32 &- count))
    }
    #else
    /// Applies the last `roundCount` of the twelve rounds of the permutation.
    mutating func permute(_ roundCount: UInt32) {
        var words = AsconWords(word0: word(0), word1: word(1), word2: word(2), word3: word(3), word4: word(4))
        var constant: UInt32 = 0xF0 &- 0xF &* (12 &- roundCount)
        while constant >= 0x4B {
            words.word2 ^= UInt64(widening: constant)
            constant &-= 0xF
            words.substitute()
            words.diffuse()
        }
        set(words.word0, at: 0)
        set(words.word1, at: 1)
        set(words.word2, at: 2)
        set(words.word3, at: 3)
        set(words.word4, at: 4)
    }
    #endif
}

/// The words of a state, or the halves of them, while they are permuted.
private struct AsconWords<Word: FixedWidthInteger> {
    var word0: Word
    var word1: Word
    var word2: Word
    var word3: Word
    var word4: Word

    /// The substitution layer: a box of five bits in bit-sliced form.
    @inline(__always)
    mutating func substitute() {
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

}

#if !hasFeature(Embedded)
extension AsconWords<UInt64> {
    /// The linear layer: each word is mixed with two rotations of itself.
    @inline(__always)
    mutating func diffuse() {
        word0 ^= AsconWords.rotated(word0, 19) ^ AsconWords.rotated(word0, 28)
        word1 ^= AsconWords.rotated(word1, 61) ^ AsconWords.rotated(word1, 39)
        word2 ^= AsconWords.rotated(word2, 1) ^ AsconWords.rotated(word2, 6)
        word3 ^= AsconWords.rotated(word3, 10) ^ AsconWords.rotated(word3, 17)
        word4 ^= AsconWords.rotated(word4, 7) ^ AsconWords.rotated(word4, 41)
    }

    /// A word rotated to the right by a constant number of bits.
    @inline(__always)
    private static func rotated(_ word: UInt64, _ count: UInt64) -> UInt64 { word &>> count | word &<< (64 &- count) }
}
#endif

/// 128 bits: a key, a nonce or a tag of Ascon. The first byte is the lowest one of ``low``.
public struct Words128: Sendable {
    /// The first eight bytes.
    public var low: UInt64
    /// The last eight bytes.
    public var high: UInt64

    /// Creates a value from its words.
    public init(low: UInt64, high: UInt64) {
        self.low = low
        self.high = high
    }

    /// Creates a value from four numbers of four bytes each, the most significant byte first.
    init(_ first: UInt32, _ second: UInt32, _ third: UInt32, _ fourth: UInt32) {
        low = UInt64(widening: second.byteSwapped) &<< 32 | UInt64(widening: first.byteSwapped)
        high = UInt64(widening: fourth.byteSwapped) &<< 32 | UInt64(widening: third.byteSwapped)
    }

    /// Reads at most 16 bytes of a span, from `start` on; the others are 0.
    public init(_ bytes: Span<UInt8>, from start: Int = 0, byteCount: Int = 16) {
        precondition(byteCount <= 16, "a key, a nonce or a tag has at most 16 bytes")
        self.init(low: 0, high: 0)
        var rest = byteCount
        while rest > 0 {
            rest &-= 1
            if rest == 7 { (low, high) = (0, low) }
            low = low &<< 8 | UInt64(widening: bytes[start &+ rest])
        }
    }

    /// A byte; `index` is 0 … 15.
    func byte(at index: Int) -> UInt8 {
        // Without shifts of 64 bits by a variable count, which are calls on a microcontroller.
        let half: UInt32
        switch index &>> 2 {
        case 0: half = UInt32(truncatingIfNeeded: low)
        case 1: half = UInt32(truncatingIfNeeded: low &>> 32)
        case 2: half = UInt32(truncatingIfNeeded: high)
        default: half = UInt32(truncatingIfNeeded: high &>> 32)
        }
        return UInt8(truncatingIfNeeded: half &>> UInt32(truncatingIfNeeded: 8 &* (index & 3)))
    }

    /// Whether the first `byteCount` bytes, at most 8, are those of `other`. The time does not depend on the bytes.
    public func isEqual(to other: Words128, byteCount: Int) -> Bool {
        var difference = low ^ other.low
        for _ in byteCount..<8 { difference = difference &<< 8 }
        return difference == 0
    }
}
