import CollarWire

/// The texts of numbers that lines often contain. They are made once, so that a text costs one load, not fifty instructions.
struct NumberBytes {
    /// For 0 … 999: up to three characters in the lower bytes, and their count in the highest byte.
    private let small: [UInt32]
    private let accuracies = AccuracyTexts { NumberBytes.meters($0) }

    init() {
        small = (0..<1000).map { number in
            let text = InlineWord("\(number)")
            return UInt32(truncatingIfNeeded: text.bytes) | UInt32(text.count) << 24
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
    func text(of accuracy: AccuracyCode) -> InlineWord { accuracies[accuracy] }
}

/// A text for each accuracy code.
struct AccuracyTexts {
    private let texts: [InlineWord]

    /// - Parameter text: the text of an accuracy in millimetres, at most eight bytes.
    init(_ text: (_ millimeters: UInt32) -> String) {
        texts = (0...AccuracyCode.top).map { InlineWord(text(AccuracyCode(rawValue: $0)?.millimeters ?? 0)) }
    }

    @inline(__always)
    subscript(accuracy: AccuracyCode) -> InlineWord { texts[Int(accuracy.rawValue)] }
}
