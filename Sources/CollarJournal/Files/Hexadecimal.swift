extension String {
    /// Bytes as lower-case hexadecimal digits, two for each byte.
    package init(hexadecimal bytes: Span<UInt8>) {
        self = bytes.indices.map { String(bytes[$0], radix: 16, minimumDigits: 2) }.joined()
    }
}

extension [UInt8] {
    /// The bytes of a text of hexadecimal digits, two for each byte; nil for any other text.
    package init?(hexadecimal text: some StringProtocol) {
        guard text.utf8.count % 2 == 0, text.allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return nil }
        let digits = text.compactMap(\.hexDigitValue)
        self = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
