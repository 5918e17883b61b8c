extension String {
    /// An integer in lower-case digits, with leading zeros up to `minimumDigits` digits.
    @inlinable
    package init(_ value: some BinaryInteger, radix: Int = 10, minimumDigits: Int) {
        let digits = String(value.magnitude, radix: radix)
        self = (value < 0 ? "-" : "") + String(repeating: "0", count: Swift.max(0, minimumDigits - digits.utf8.count)) + digits
    }
}
