import CollarWire

/// The texts of numbers that lines often contain. They are made once, so that a text costs one load, not fifty instructions.
struct NumberBytes {
    /// For 0 … 999: up to three characters in the lower bytes, and their count in the highest byte.
    private let small: [UInt32]
    /// For each accuracy code: its value in metres.
    private let accuracies: [InlineWord]

    init() {
        small = (0..<1000).map { number in
            let text = InlineWord("\(number)")
            return UInt32(truncatingIfNeeded: text.bytes) | UInt32(text.count) << 24
        }
        accuracies = (0...AccuracyCode.top).map { code in
            InlineWord(NumberBytes.meters(AccuracyCode(rawValue: code)?.millimeters ?? 0))
        }
    }

    /// A length in metres as decimal text, without trailing zeros in the fraction.
    private static func meters(_ millimeters: UInt32) -> String {
        let (whole, fraction) = millimeters.quotientAndRemainder(dividingBy: 1000)
        var digits = String(String(1000 + fraction).dropFirst())
        while digits.last == "0" { digits.removeLast() }
        return digits.isEmpty ? "\(whole)" : "\(whole).\(digits)"
    }

    /// The text of an integer below 1000.
    @inline(__always)
    func text(below1000 number: UInt32) -> InlineWord {
        let entry = small[Int(number)]
        // The byte that holds the count is copied to the line with the text; the line's next piece overwrites it.
        return InlineWord(bytes: UInt64(entry), count: Int(entry >> 24))
    }

    /// The text of an accuracy in metres.
    @inline(__always)
    func text(of accuracy: AccuracyCode) -> InlineWord { accuracies[Int(accuracy.rawValue)] }
}
