extension Double {
    /// The number with so many digits behind the point, rounded; for tables. Finite and below 10^15.
    func text(decimals: Int) -> String {
        var scale = 1.0
        for _ in 0..<decimals { scale *= 10 }
        let digits = String(Int((magnitude * scale).rounded()))
        let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
        let sign = self < 0 && padded.contains { $0 != "0" } ? "-" : ""
        return sign + padded.dropLast(decimals) + (decimals > 0 ? "." + padded.suffix(decimals) : "")
    }
}

extension String {
    /// Filled with spaces on the left.
    func right(_ width: Int) -> String { String(repeating: " ", count: Swift.max(0, width - count)) + self }

    /// Filled with spaces on the right.
    func left(_ width: Int) -> String { self + String(repeating: " ", count: Swift.max(0, width - count)) }
}
