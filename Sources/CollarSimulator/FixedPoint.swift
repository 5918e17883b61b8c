extension Double {
    /// The number as text with this number of digits after the decimal point, rounded; for tables. It must be finite and below 10^15.
    package func text(decimals: Int) -> String {
        var scale = 1.0
        for _ in 0..<decimals { scale *= 10 }
        let digits = String(Int((magnitude * scale).rounded()))
        let padded = String(repeating: "0", count: Swift.max(0, decimals + 1 - digits.utf8.count)) + digits
        let sign = self < 0 && padded.contains { $0 != "0" } ? "-" : ""
        return sign + padded.dropLast(decimals) + (decimals > 0 ? "." + padded.suffix(decimals) : "")
    }
}

extension String {
    /// The string padded on the left with spaces.
    package func right(_ width: Int) -> String { String(repeating: " ", count: Swift.max(0, width - count)) + self }

    /// The string padded on the right with spaces.
    package func left(_ width: Int) -> String { self + String(repeating: " ", count: Swift.max(0, width - count)) }
}
