/// Scratch memory in which one line of a format is built; the whole line is then appended to a buffer.
///
/// Each piece is stored as a whole word of 1, 8 or 32 bytes. Only the first bytes of the word belong to the line; the next
/// piece overwrites the rest. So a piece costs one bounds check instead of one per byte. The capacity is constant: a
/// line that does not fit would trap, but the longest line is known (``longestLine``). Texts of any length, such as names, are
/// appended to the buffer, not to the scratch memory.
struct LineScratch {
    /// An upper bound of a line's length in bytes; tests compare it with the longest line of each format. The rest is room
    /// for the unused bytes of the last word.
    static let longestLine = 512 - 32

    private var storage = InlineArray<512, UInt8>(repeating: 0)
    /// Bytes written.
    private(set) var count = 0

    @inline(__always)
    mutating func removeAll() { count = 0 }

    /// Removes so many bytes at the end.
    @inline(__always)
    mutating func removeLast(_ byteCount: Int) { count -= byteCount }

    @inline(__always)
    private mutating func store<Word: BitwiseCopyable>(_ word: Word, at offset: Int) {
        var span = storage.mutableSpan
        // Unsafe because raw bytes are not valid elements of every type; here every byte is a valid `UInt8`. The store
        // itself is bounds-checked.
        var bytes = unsafe span.mutableBytes
        bytes.storeBytes(of: word, toByteOffset: offset, as: Word.self)
    }

    /// Appends a constant text.
    @inline(__always)
    mutating func append(_ text: InlineBytes) {
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
        // The extra bit is in the byte of the last digit, so that the integer 0 keeps one digit.
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

    /// Appends an integer below 10^8 as exactly eight digits, with leading zeros.
    @inline(__always)
    private mutating func append(eightDigits value: UInt32) {
        append(DecimalDigits.eight(of: value) | DecimalDigits.ascii, byteCount: 8)
    }

    /// Appends `magnitude` / 10^7 in decimal, without trailing zeros in the fraction.
    @inline(__always)
    mutating func append(tenMillionths magnitude: UInt32, numbers: NumberBytes) {
        let whole = magnitude / 10_000_000
        append(numbers.text(below1000: whole))
        let fraction = magnitude &- whole &* 10_000_000
        guard fraction != 0 else { return }
        let digits = DecimalDigits.eight(of: fraction &* 10)
        append(UInt64(UInt8(ascii: ".")), byteCount: 1)
        append(digits | DecimalDigits.ascii, byteCount: 8 &- digits.leadingZeroBitCount &>> 3)
    }

    /// Appends `magnitude` / 10^7 in decimal, with so many digits in the fraction, 1 … 7.
    @inline(__always)
    mutating func append(tenMillionths magnitude: UInt32, fractionDigits: Int, numbers: NumberBytes) {
        let whole = magnitude / 10_000_000
        append(numbers.text(below1000: whole))
        let digits = DecimalDigits.eight(of: (magnitude &- whole &* 10_000_000) &* 10)
        append(UInt64(UInt8(ascii: ".")), byteCount: 1)
        append(digits | DecimalDigits.ascii, byteCount: fractionDigits)
    }

    /// Appends `magnitude` / 10 in decimal.
    @inline(__always)
    mutating func append(tenths magnitude: UInt32, numbers: NumberBytes) {
        let whole = magnitude / 10
        append(whole, numbers: numbers)
        let tenth = magnitude &- whole &* 10
        guard tenth != 0 else { return }
        append(fraction: tenth)
    }

    /// Appends a point and one digit.
    @inline(__always)
    mutating func append(fraction digit: UInt32) {
        append(UInt64(UInt8(ascii: ".")) | UInt64(digit | 0x30) << 8, byteCount: 2)
    }

    /// Appends an integer below 10^8 without leading zeros; this is fastest for an integer below 1000.
    @inline(__always)
    mutating func append(_ value: UInt32, numbers: NumberBytes) {
        if value < 1000 {
            append(numbers.text(below1000: value))
        } else {
            append(below100Million: value)
        }
    }

    /// Appends a text of at most eight bytes.
    @inline(__always)
    mutating func append(_ text: InlineWord) {
        append(text.bytes, byteCount: text.count)
    }

    /// Appends eight lower-case hexadecimal digits.
    @inline(__always)
    mutating func append(hexadecimal value: UInt32) {
        append(HexadecimalDigits.eight(of: value), byteCount: 8)
    }

    /// Appends one ASCII character.
    @inline(__always)
    mutating func append(character: UInt8) {
        store(character, at: count)
        count &+= 1
    }

    /// All bytes from an offset to the end of the line, combined by exclusive or.
    @inline(__always)
    mutating func parity(from offset: Int) -> UInt8 {
        // The span is mutable for the same reason as in ``copy(to:)``.
        let span = storage.mutableSpan
        var parity: UInt8 = 0
        for index in offset..<count { parity ^= span[index] }
        return parity
    }

    /// Appends the line to a buffer.
    @inline(__always)
    mutating func copy(to bytes: inout [UInt8]) {
        // The span is mutable, because with an immutable span the compiler first copies all of the storage.
        let span = storage.mutableSpan
        // Unsafe because Array has no safe way yet to append a whole span; appending byte by byte costs more than writing
        // the line. The pointer does not leave the closure, and count is at most the capacity.
        unsafe span.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0.prefix(count)) }
    }
}
