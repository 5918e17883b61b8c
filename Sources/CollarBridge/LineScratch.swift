/// A place to write one line of JSON before it is appended to a buffer as a whole.
///
/// Everything is written in words of 4, 8 or 32 bytes, of which only the first few count: the next piece overwrites the
/// rest. That costs one bounds check a piece instead of one a byte. The room is a constant, so a line that did not fit
/// would trap, and the longest line is known (``longestLine``).
struct LineScratch {
    /// Room for ``longestLine`` bytes and for the word that sticks out behind the last piece.
    private static let capacity = 512
    /// An upper bound of a fix line's bytes; a test writes the longest one.
    static let longestLine = 470

    private var storage = InlineArray<512, UInt8>(repeating: 0)
    /// Bytes written.
    private(set) var count = 0

    @inline(__always)
    mutating func removeAll() { count = 0 }

    @inline(__always)
    private mutating func store<Word: BitwiseCopyable>(_ word: Word, at offset: Int) {
        var span = storage.mutableSpan
        // Unsafe only in that bytes may be stored that are no valid elements; every byte is a valid UInt8. The store
        // itself is bounds-checked.
        var bytes = unsafe span.mutableBytes
        bytes.storeBytes(of: word, toByteOffset: offset, as: Word.self)
    }

    /// Appends a constant text.
    @inline(__always)
    mutating func append(_ text: ShortText) {
        store(text.bytes, at: count)
        count &+= text.count
    }

    /// Appends the first `byteCount` bytes of a word, lowest byte first.
    @inline(__always)
    mutating func append(_ word: UInt64, byteCount: Int) {
        store(word.littleEndian, at: count)
        count &+= byteCount
    }

    /// Appends a minus sign if `condition` holds, without a branch.
    @inline(__always)
    mutating func appendMinus(if condition: Bool) {
        store(UInt8(ascii: "-"), at: count)
        count &+= condition ? 1 : 0
    }

    /// Appends an integer below 10^8 without leading zeros.
    @inline(__always)
    mutating func append(below100Million value: UInt32) {
        let digits = DecimalDigits.eight(of: value)
        // The bit in the last digit's byte makes zero itself keep that digit.
        let leadingZeroBits = (digits | 1 << 56).trailingZeroBitCount & ~7
        append((digits | DecimalDigits.ascii) &>> UInt64(leadingZeroBits), byteCount: 8 &- leadingZeroBits &>> 3)
    }

    /// Appends an integer without leading zeros.
    @inline(__always)
    mutating func append(_ value: Int64) {
        appendMinus(if: value < 0)
        let magnitude = value.magnitude
        if magnitude < 100_000_000 {
            append(below100Million: UInt32(truncatingIfNeeded: magnitude))
            return
        }
        let (upper, lower) = magnitude.quotientAndRemainder(dividingBy: 100_000_000)
        if upper < 100_000_000 {
            append(below100Million: UInt32(truncatingIfNeeded: upper))
        } else {
            let (top, middle) = upper.quotientAndRemainder(dividingBy: 100_000_000)
            append(below100Million: UInt32(truncatingIfNeeded: top))
            append(eightDigits: UInt32(truncatingIfNeeded: middle))
        }
        append(eightDigits: UInt32(truncatingIfNeeded: lower))
    }

    /// Appends exactly eight digits of an integer below 10^8.
    @inline(__always)
    private mutating func append(eightDigits value: UInt32) {
        append(DecimalDigits.eight(of: value) | DecimalDigits.ascii, byteCount: 8)
    }

    /// Appends `magnitude` / 10^7 in decimal, trailing zeros of the fraction trimmed.
    @inline(__always)
    mutating func append(tenMillionths magnitude: UInt32, numbers: NumberTexts) {
        let whole = magnitude / 10_000_000
        append(numbers.text(below1000: whole))
        let fraction = magnitude &- whole &* 10_000_000
        guard fraction != 0 else { return }
        let digits = DecimalDigits.eight(of: fraction &* 10)
        append(UInt64(UInt8(ascii: ".")), byteCount: 1)
        append(digits | DecimalDigits.ascii, byteCount: 8 &- digits.leadingZeroBitCount &>> 3)
    }

    /// Appends `magnitude` / 10 in decimal.
    @inline(__always)
    mutating func append(tenths magnitude: UInt32, numbers: NumberTexts) {
        let whole = magnitude / 10
        append(whole, numbers: numbers)
        let tenth = magnitude &- whole &* 10
        guard tenth != 0 else { return }
        append(UInt64(UInt8(ascii: ".")) | UInt64(tenth | 0x30) << 8, byteCount: 2)
    }

    /// Appends an integer below 10^8 that is usually below 1000, without leading zeros.
    @inline(__always)
    mutating func append(_ value: UInt32, numbers: NumberTexts) {
        if value < 1000 {
            append(numbers.text(below1000: value))
        } else {
            append(below100Million: value)
        }
    }

    /// Appends a text of at most eight bytes.
    @inline(__always)
    mutating func append(_ text: ShortWord) {
        append(text.bytes, byteCount: text.count)
    }

    /// Appends eight lower-case hexadecimal digits.
    @inline(__always)
    mutating func append(hexadecimal value: UInt32) {
        append(HexadecimalDigits.eight(of: value), byteCount: 8)
    }

    /// Appends the line to a buffer.
    @inline(__always)
    mutating func copy(to bytes: inout [UInt8]) {
        // Through the mutable span, because a plain one makes the compiler copy all of the storage first.
        let span = storage.mutableSpan
        // Unsafe because Array has no safe way yet to append a span at once; a byte at a time costs more than writing
        // the line did. The pointer does not leave the closure, and count is at most the capacity.
        unsafe span.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0.prefix(count)) }
    }
}
