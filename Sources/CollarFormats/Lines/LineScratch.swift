import CollarWire

/// Scratch memory in which ``FixLineWriter`` builds a line; the whole line is then appended to a buffer.
///
/// Each piece is stored as a whole word of 1, 8 or 32 bytes. Only the first bytes of the word belong to the line; the next
/// piece overwrites the rest. So a piece costs one bounds check instead of one per byte. The capacity is constant: a
/// line that does not fit would trap, but the longest line is known (``longestLine``). Texts of any length, such as names, are
/// appended to the buffer, not to the scratch memory.
struct LineScratch {
    /// An upper bound of a line's length in bytes; a test compares it with the longest line. The rest is room
    /// for the unused bytes of the last word.
    static let longestLine = 512 - 32

    private var storage = InlineArray<512, UInt8>(repeating: 0)
    private(set) var count = 0

    @inline(__always)
    mutating func removeAll() { count = 0 }

    @inline(__always)
    private mutating func store<Word: BitwiseCopyable>(_ word: Word, at offset: Int) {
        var span = storage.mutableSpan
        // Unsafe because raw bytes are not valid elements of every type; here every byte is a valid `UInt8`. The store
        // itself is bounds-checked.
        var bytes = unsafe span.mutableBytes
        bytes.storeBytes(of: word, toByteOffset: offset, as: Word.self)
    }

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
        let leadingZeroBits = DecimalDigits.leadingZeroBits(in: digits)
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

    /// Appends `magnitude` / 10 in decimal.
    @inline(__always)
    mutating func append(tenths magnitude: UInt32, numbers: NumberBytes) {
        let whole = magnitude / 10
        append(whole, numbers: numbers)
        let tenth = magnitude &- whole &* 10
        guard tenth != 0 else { return }
        append(UInt64(UInt8(ascii: ".")) | UInt64(tenth | 0x30) << 8, byteCount: 2)
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

    @inline(__always)
    mutating func append(_ text: InlineWord) {
        append(text.bytes, byteCount: text.count)
    }

    /// Appends eight lower-case hexadecimal digits.
    @inline(__always)
    mutating func append(hexadecimal value: UInt32) {
        append(HexadecimalDigits.eight(of: value), byteCount: 8)
    }

    @inline(__always)
    mutating func copy(to bytes: inout [UInt8]) {
        // The span is mutable, because with an immutable span the compiler first copies all of the storage.
        let span = storage.mutableSpan
        // Unsafe because Array has no safe way yet to append a whole span; appending byte by byte costs more than writing
        // the line. The pointer does not leave the closure, and count is at most the capacity.
        unsafe span.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0.prefix(count)) }
    }
}

/// A constant text of at most 32 bytes. It is kept in a 32-byte vector, so that a single store writes the whole text.
struct InlineBytes {
    let bytes: SIMD32<UInt8>
    let count: Int

    init(_ text: String) {
        let utf8 = Array(text.utf8)
        precondition(utf8.count <= 32, "a constant of a line has at most 32 bytes")
        var bytes = SIMD32<UInt8>(repeating: 0)
        for index in utf8.indices { bytes[index] = utf8[index] }
        self.bytes = bytes
        count = utf8.count
    }
}

/// A text of at most eight bytes in one word.
struct InlineWord {
    /// The text's bytes, with the first one in the lowest byte of the word. Bytes above the first `count` have no meaning.
    let bytes: UInt64
    let count: Int

    @inline(__always)
    init(bytes: UInt64, count: Int) {
        self.bytes = bytes
        self.count = count
    }

    init(_ text: String) {
        precondition(text.utf8.count <= 8, "a short word has at most 8 bytes")
        bytes = text.utf8.reversed().reduce(0) { $0 << 8 | UInt64($1) }
        count = text.utf8.count
    }
}

/// The texts of numbers that lines often contain. They are made once, so that a text costs one load, not fifty instructions.
struct NumberBytes {
    /// For 0 … 999: up to three characters in the lower bytes, and their count in the highest byte.
    private let small: [UInt32]
    /// For each accuracy code.
    private let accuracies: [InlineWord]

    init() {
        small = (0..<1000).map { number in
            let text = InlineWord("\(number)")
            return UInt32(truncatingIfNeeded: text.bytes) | UInt32(text.count) << 24
        }
        accuracies = (0...AccuracyCode.top).map { InlineWord(AccuracyCode(rawValue: $0)?.meters.text ?? "") }
    }

    @inline(__always)
    func text(below1000 number: UInt32) -> InlineWord {
        let entry = small[Int(number)]
        // The byte that holds the count is copied to the line with the text; the line's next piece overwrites it.
        return InlineWord(bytes: UInt64(entry), count: Int(entry >> 24))
    }

    @inline(__always)
    func text(of accuracy: AccuracyCode) -> InlineWord { accuracies[Int(accuracy.rawValue)] }
}

/// Decimal digits of an integer, eight at a time in one 64-bit word.
enum DecimalDigits {
    /// OR with this value turns eight digits into eight ASCII characters.
    static let ascii: UInt64 = 0x3030_3030_3030_3030

    /// The eight digits of an integer below 10^8, with the first digit in the lowest byte.
    ///
    /// The integer is split three times: into two numbers of four digits, then four of two digits, then eight of one digit.
    /// The last two steps divide all their numbers at once, by multiplication with a rounded reciprocal. The quotients are
    /// exact for numbers this small.
    @inline(__always)
    static func eight(of value: UInt32) -> UInt64 {
        let upper = value / 10_000
        let fours = UInt64(upper) | UInt64(value &- upper &* 10_000) << 32
        let hundreds = ((fours &* 10_486) >> 20) & 0x0000_007F_0000_007F
        let twos = hundreds | (fours &- hundreds &* 100) << 16
        let tens = ((twos &* 103) >> 10) & 0x000F_000F_000F_000F
        return tens | (twos &- tens &* 10) << 8
    }

    /// The bits of the zeros before the first of eight digits; the integer 0 keeps one digit.
    @inline(__always)
    static func leadingZeroBits(in digits: UInt64) -> Int {
        // The extra bit is in the byte of the last digit.
        (digits | 1 << 56).trailingZeroBitCount & ~7
    }
}

/// Hexadecimal digits of an integer, eight at a time in one 64-bit word.
enum HexadecimalDigits {
    /// The eight lower-case digits of an integer as characters, with the first character in the lowest byte.
    @inline(__always)
    static func eight(of value: UInt32) -> UInt64 {
        // Each byte is spread over two bytes, then each nibble moves to a byte of its own.
        var word = UInt64(value.byteSwapped)
        word = (word | word << 16) & 0x0000_FFFF_0000_FFFF
        word = (word | word << 8) & 0x00FF_00FF_00FF_00FF
        word = (word >> 4 | word << 8) & 0x0F0F_0F0F_0F0F_0F0F
        // `letters` has a 1 for each digit above 9. The character "a" is 39 higher than the character that follows "9".
        let letters = ((word &+ 0x0606_0606_0606_0606) >> 4) & 0x0101_0101_0101_0101
        return word &+ 0x3030_3030_3030_3030 &+ letters &* 39
    }
}
