/// Bytes and numbers in hexadecimal digits.
enum Hexadecimal {
    private static let digits = Array("0123456789abcdef")

    static func text(of bytes: [UInt8]) -> String {
        String(bytes.flatMap { [digits[Int($0 / 16)], digits[Int($0 % 16)]] })
    }

    /// The 16 digits of a number.
    static func text(of number: UInt64) -> String {
        text(of: (0..<8).reversed().map { UInt8(truncatingIfNeeded: number &>> UInt64(8 * $0)) })
    }

    /// The bytes of a text; nil if the text has other characters or an odd number of digits.
    static func bytes(of text: String) -> [UInt8]? {
        let values = text.compactMap(\.hexDigitValue)
        guard values.count == text.count, values.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: values.count, by: 2).map { UInt8(16 * values[$0] + values[$0 + 1]) }
    }
}
