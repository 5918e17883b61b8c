extension FixedWidthInteger {
    /// Reads a whole number in decimal digits.
    /// - Parameters:
    ///   - text: ASCII digits and nothing else. A minus sign may precede them if `range` has negative numbers.
    ///   - range: the numbers that have a meaning where the text is from.
    /// - Returns: nil for any other text, and for a number outside the range.
    package init?(_ text: some StringProtocol, in range: ClosedRange<Self>) {
        self.init(digits: text.utf8, radix: 10, in: range)
    }

    /// Reads a whole number in hexadecimal digits of either case.
    /// - Returns: nil for any other text, and for a number outside the range.
    package init?(hexadecimal text: some StringProtocol, in range: ClosedRange<Self> = 0 ... .max) {
        self.init(digits: text.utf8, radix: 16, in: range)
    }

    /// Reads a whole number in octal digits.
    /// - Returns: nil for any other text, and for a number outside the range.
    package init?(octal text: some StringProtocol, in range: ClosedRange<Self>) {
        self.init(digits: text.utf8, radix: 8, in: range)
    }

    /// Reads a whole number from the bytes of a text.
    /// - Parameter radix: 2 … 16.
    /// - Returns: nil for bytes that are not digits, and for a number outside the range.
    package init?(digits: some Sequence<UInt8>, radix: UInt8, in range: ClosedRange<Self>) {
        var digits = digits.makeIterator()
        var next = digits.next()
        let isNegative = next == UInt8(ascii: "-") && range.lowerBound < 0
        if isNegative { next = digits.next() }
        guard next != nil else { return nil }
        var value: Self = 0
        while let byte = next {
            // The lower-case letter of a letter, and no letter of a digit.
            guard let digit = byte <= UInt8(ascii: "9") ? byte.less(UInt8(ascii: "0")) : (byte | 0x20).less(UInt8(ascii: "a"), 10),
                digit < radix
            else { return nil }
            let (product, isTooLarge) = value.multipliedReportingOverflow(by: Self(radix))
            let (sum, overflows) =
                isNegative ? product.subtractingReportingOverflow(Self(digit)) : product.addingReportingOverflow(Self(digit))
            guard !isTooLarge, !overflows else { return nil }
            value = sum
            next = digits.next()
        }
        guard range.contains(value) else { return nil }
        self = value
    }
}

extension UInt8 {
    /// The distance from a first character, plus the value of that character; nil before it.
    fileprivate func less(_ first: UInt8, _ value: UInt8 = 0) -> UInt8? { self < first ? nil : self - first + value }
}
