/// Decimal digits of an integer, eight at a time in one 64-bit word.
enum DecimalDigits {
    /// What turns eight digits into eight characters.
    static let ascii: UInt64 = 0x3030_3030_3030_3030

    /// The eight digits of an integer below 10^8, the first in the lowest byte.
    ///
    /// The word is halved three times: into two numbers of four digits, four of two, eight of one. All numbers of a
    /// step are divided at once by multiplying with a rounded reciprocal, which is exact for numbers this small.
    @inline(__always)
    static func eight(of value: UInt32) -> UInt64 {
        let upper = value / 10_000
        let fours = UInt64(upper) | UInt64(value &- upper &* 10_000) << 32
        let hundreds = ((fours &* 10_486) >> 20) & 0x0000_007F_0000_007F
        let twos = hundreds | (fours &- hundreds &* 100) << 16
        let tens = ((twos &* 103) >> 10) & 0x000F_000F_000F_000F
        return tens | (twos &- tens &* 10) << 8
    }
}

/// Hexadecimal digits of an integer, eight at a time in one 64-bit word.
enum HexadecimalDigits {
    /// The eight lower-case digits of an integer as characters, the first in the lowest byte.
    @inline(__always)
    static func eight(of value: UInt32) -> UInt64 {
        // Bytes are spread to two bytes each, then nibbles to one byte each.
        var word = UInt64(value.byteSwapped)
        word = (word | word << 16) & 0x0000_FFFF_0000_FFFF
        word = (word | word << 8) & 0x00FF_00FF_00FF_00FF
        word = (word >> 4 | word << 8) & 0x0F0F_0F0F_0F0F_0F0F
        // 1 in each byte that holds more than 9; those characters come 39 later, at "a".
        let letters = ((word &+ 0x0606_0606_0606_0606) >> 4) & 0x0101_0101_0101_0101
        return word &+ 0x3030_3030_3030_3030 &+ letters &* 39
    }
}
