import Testing

extension [UInt8] {
    /// The bytes of a text of hexadecimal digits, two for each byte. Any other text fails the test.
    init(hexadecimal text: String) throws {
        let digits = text.compactMap(\.hexDigitValue)
        try #require(digits.count == text.count && digits.count.isMultiple(of: 2), "not whole bytes in hexadecimal: \(text)")
        self = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
