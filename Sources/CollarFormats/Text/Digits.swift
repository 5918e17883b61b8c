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
