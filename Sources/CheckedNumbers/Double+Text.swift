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
