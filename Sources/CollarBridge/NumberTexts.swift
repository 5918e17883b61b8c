import CollarWire

/// The texts of numbers that a line holds again and again, made once: one load instead of fifty instructions.
struct NumberTexts {
    /// 0 … 999: three characters in the lower bytes and their count in the highest.
    private let small: [UInt32]
    /// The value of each accuracy code in metres.
    private let accuracies: [ShortWord]

    init() {
        small = (0..<1000).map { number in
            let text = ShortWord("\(number)")
            return UInt32(truncatingIfNeeded: text.bytes) | UInt32(text.count) << 24
        }
        accuracies = (0...AccuracyCode.top).map { code in
            ShortWord(NumberTexts.meters(AccuracyCode(rawValue: code)?.millimeters ?? 0))
        }
    }

    /// Millimetres in metres, trailing zeros of the fraction trimmed.
    private static func meters(_ millimeters: UInt32) -> String {
        let (whole, fraction) = millimeters.quotientAndRemainder(dividingBy: 1000)
        var digits = String(String(1000 + fraction).dropFirst())
        while digits.last == "0" { digits.removeLast() }
        return digits.isEmpty ? "\(whole)" : "\(whole).\(digits)"
    }

    /// The text of an integer below 1000.
    @inline(__always)
    func text(below1000 number: UInt32) -> ShortWord {
        let entry = small[Int(number)]
        // The count's byte is stored too; the next piece overwrites it.
        return ShortWord(bytes: UInt64(entry), count: Int(entry >> 24))
    }

    /// The text of an accuracy in metres.
    @inline(__always)
    func text(of accuracy: AccuracyCode) -> ShortWord { accuracies[Int(accuracy.rawValue)] }
}
