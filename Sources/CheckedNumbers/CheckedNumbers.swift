extension FixedWidthInteger {
    /// Reads a whole number in decimal digits.
    /// - Parameters:
    ///   - text: ASCII digits and nothing else. A minus sign may precede them if `range` has negative numbers.
    ///   - range: the numbers that have a meaning where the text is from.
    /// - Returns: nil for any other text, and for a number outside the range.
    package init?(_ text: some StringProtocol, in range: ClosedRange<Self>) { self.init(digits: text.utf8, radix: 10, in: range) }

    /// Reads a whole number in hexadecimal digits of either case.
    /// - Returns: nil for any other text, and for a number outside the range.
    package init?(hexadecimal text: some StringProtocol, in range: ClosedRange<Self> = 0 ... .max) {
        self.init(digits: text.utf8, radix: 16, in: range)
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

extension Double {
    /// Reads a number in decimal: `12`, `-0.5` or `1e-3`.
    /// - Parameter range: the numbers that have a meaning where the text is from.
    /// - Returns: nil for any other text, such as "inf", and for a number outside the range.
    package init?(_ text: some StringProtocol, in range: ClosedRange<Double>) {
        guard text.utf8.first != UInt8(ascii: "+"), text.utf8.allSatisfy({ "0123456789.eE+-".utf8.contains($0) }),
            let value = Double(String(text)), range.contains(value)
        else { return nil }
        self = value
    }
}

/// The ranges of quantities that come from outside. Sums and differences of some of their values fit 64 bits, as do their multiples by
/// the factors between units.
extension ClosedRange<Int64> {
    /// Times in milliseconds since 1970: the 48 bits in which a journal stores them.
    package static var unixMilliseconds: Self { -1 << 47...(1 << 47) - 1 }

    /// Times in seconds since 1970, as far as ``unixMilliseconds`` has them.
    package static var unixSeconds: Self { unixMilliseconds.lowerBound / 1000...unixMilliseconds.upperBound / 1000 }

    /// Instants and durations in microseconds, and counts: what a number of JSON holds exactly.
    package static var exactNumbers: Self { 0...1 << 53 }
}

extension StringProtocol {
    /// Whether `part` stands somewhere in this text, compared byte by byte.
    ///
    /// The standard library searches for texts with its regular-expression engine, which adds a megabyte to a program.
    ///
    /// Complexity: at most the product of both lengths.
    @inlinable package func contains(text part: String) -> Bool {
        let bytes = Array(utf8)
        let wanted = Array(part.utf8)
        guard let first = wanted.first else { return true }
        guard bytes.count >= wanted.count else { return false }
        return (0...bytes.count - wanted.count).contains { start in
            bytes[start] == first && bytes[start..<start + wanted.count].elementsEqual(wanted)
        }
    }
}
