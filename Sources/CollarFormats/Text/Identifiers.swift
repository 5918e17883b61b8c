import CheckedNumbers
import CollarWire

/// The factory id of a collar as text.
package enum CollarID {
    /// What ``deviceID(_:)`` takes, for messages.
    package static let form = "16 hexadecimal digits"

    /// Reads the id of a collar from 16 hexadecimal digits; nil for any other text.
    package static func deviceID(_ text: some StringProtocol) -> UInt64? {
        text.utf8.count == 16 ? UInt64(hexadecimal: text) : nil
    }

    /// Whether a text can be the beginning of an id that a person gives in place of the whole: 4 to 15 hexadecimal digits.
    package static func isPrefix(_ text: some StringProtocol) -> Bool {
        (4...15).contains(text.utf8.count) && text.allSatisfy { $0.isASCII && $0.isHexDigit }
    }
}

extension FixIdentifier {
    /// The identifier in the text form of RFC 9562, in lower case.
    package var text: String {
        String(decoding: [UInt8](capacity: 36) { $0.append(self) }, as: UTF8.self)
    }
}

extension OutputSpan<UInt8> {
    /// Appends an identifier in the text form of RFC 9562, in lower case.
    mutating func append(_ identifier: FixIdentifier) {
        let second = HexadecimalDigits.eight(of: UInt32(truncatingIfNeeded: identifier.high))
        let third = HexadecimalDigits.eight(of: UInt32(truncatingIfNeeded: identifier.low >> 32))
        append(hexadecimal: UInt32(truncatingIfNeeded: identifier.high >> 32))
        append("-")
        append(second, byteCount: 4)
        append("-")
        append(second >> 32, byteCount: 4)
        append("-")
        append(third, byteCount: 4)
        append("-")
        append(third >> 32, byteCount: 4)
        append(hexadecimal: UInt32(truncatingIfNeeded: identifier.low))
    }

    /// Appends the factory id of a collar as sixteen hexadecimal digits.
    mutating func append(collar deviceID: UInt64) {
        append(hexadecimal: UInt32(truncatingIfNeeded: deviceID >> 32))
        append(hexadecimal: UInt32(truncatingIfNeeded: deviceID))
    }
}

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
