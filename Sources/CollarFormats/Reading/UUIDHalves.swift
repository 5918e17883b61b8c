/// The 16 bytes of a UUID as two integers. The first byte is the most significant byte of ``high``.
package struct UUIDHalves: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Reads the text form of RFC 9562, in upper or lower case; nil for anything else.
    package init?(_ text: String) {
        var digits = 0
        var halves = (high: UInt64(0), low: UInt64(0))
        for (index, byte) in text.utf8.enumerated() {
            if [8, 13, 18, 23].contains(index) {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard byte < 0x80, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
            if digits < 16 { halves.high = halves.high << 4 | UInt64(digit) } else { halves.low = halves.low << 4 | UInt64(digit) }
            digits += 1
        }
        guard digits == 32, text.utf8.count == 36 else { return nil }
        (high, low) = halves
    }
}
