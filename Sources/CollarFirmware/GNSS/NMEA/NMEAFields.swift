import CollarWire

/// The fields of an NMEA sentence. The sentence is the bytes between "$" and "*"; field 0 is its address.
enum NMEAFields {
    /// A field; empty if the sentence ends before it.
    ///
    /// Complexity: linear in the sentence.
    @_lifetime(copy sentence)
    static func field(_ number: Int, of sentence: Span<UInt8>) -> Span<UInt8> {
        var start = 0
        var left = number
        while left > 0, start < sentence.count {
            if sentence[start] == UInt8(ascii: ",") { left &-= 1 }
            start &+= 1
        }
        var end = start
        while end < sentence.count, sentence[end] != UInt8(ascii: ",") { end &+= 1 }
        return left > 0 ? sentence.extracting(0..<0) : sentence.extracting(start..<end)
    }

    /// The only letter of a field; nil if the field has another length.
    static func letter(_ number: Int, of sentence: Span<UInt8>) -> UInt8? {
        let field = field(number, of: sentence)
        return field.count == 1 ? field[0] : nil
    }

    /// The number of a field times 10^`fractionDigits`; further digits are cut off. Nil if the field is empty or is no number, or
    /// if the result is beyond ±10¹⁵.
    static func decimal(_ number: Int, of sentence: Span<UInt8>, fractionDigits: Int) -> Int64? {
        let field = field(number, of: sentence)
        let isNegative = field.count > 0 && field[0] == UInt8(ascii: "-")
        var index = isNegative ? 1 : 0
        guard index < field.count else { return nil }
        var value: Int64 = 0
        var fractionLeft: Int?
        while index < field.count {
            let byte = field[index]
            index &+= 1
            if byte == UInt8(ascii: "."), fractionLeft == nil {
                fractionLeft = fractionDigits
                continue
            }
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            if let left = fractionLeft {
                if left == 0 { continue }
                fractionLeft = left &- 1
            }
            value = value &* 10 &+ Int64(widening: byte &- UInt8(ascii: "0"))
            guard value <= 1_000_000_000_000_000 else { return nil }
        }
        var left = fractionLeft ?? fractionDigits
        while left > 0 {
            value = value &* 10
            guard value <= 1_000_000_000_000_000 else { return nil }
            left &-= 1
        }
        return isNegative ? 0 &- value : value
    }

    /// A latitude or longitude in degrees × 10⁷, from a field of degrees and minutes ("ddmm.mmmm") and the field of its
    /// hemisphere after it. Nil if one of them is wrong.
    static func angleE7(_ number: Int, of sentence: Span<UInt8>, positive: UInt8, negative: UInt8) -> Int32? {
        guard let value = decimal(number, of: sentence, fractionDigits: 7), value >= 0,
            let hemisphere = letter(number &+ 1, of: sentence), hemisphere == positive || hemisphere == negative
        else { return nil }
        let degrees = value / 1_000_000_000
        let minutesE7 = value &- degrees &* 1_000_000_000
        guard degrees <= 180, minutesE7 < 600_000_000 else { return nil }
        let angle = Int32(truncatingIfNeeded: degrees &* 10_000_000 &+ (minutesE7 &+ 30) / 60)
        return hemisphere == positive ? angle : 0 &- angle
    }

    /// A length in millimetres from a field in metres; nil if it does not fit.
    static func millimeters(_ number: Int, of sentence: Span<UInt8>) -> Int32? {
        guard let value = decimal(number, of: sentence, fractionDigits: 3), value.magnitude <= 2_000_000_000 else { return nil }
        return Int32(truncatingIfNeeded: value)
    }
}
