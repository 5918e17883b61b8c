import CheckedNumbers

/// A decimal number: ``significand`` × 10^``exponent``.
///
/// A `Double` is read as its shortest decimal, which is the text a person or another program wrote. So 50.163425 lies
/// exactly between two steps of 1e-5 and is rounded away from zero, although the nearest `Double` lies a little below it.
/// Rounding the exact values of the doubles would give 412 of the 7,554 latitudes in `Tests/Tracks/cats_uk` the wrong step.
package struct DecimalNumber: Equatable, Sendable {
    /// The digits and the sign, as one integer. A number read from a text keeps at most ``maximumDigitCount`` digits.
    package let significand: Int128
    /// Power of ten of the last digit.
    package let exponent: Int

    /// The most digits that are kept from a text. Further digits are far below the resolution of any stored value.
    static let maximumDigitCount = 36

    package init(significand: Int128, exponent: Int) {
        self.significand = significand
        self.exponent = exponent
    }

    /// The shortest decimal that reads back as `value`; nil when it is not finite.
    package init?(_ value: Double) {
        guard value.isFinite else { return nil }
        self.init(text: value.description)
    }

    /// Reads a decimal such as "-12.5", "1e-07" or "1.5e+20". Nil if the text is no decimal, or its exponent is outside ±100,000.
    package init?(text: some StringProtocol) {
        var digits: Int128 = 0
        var digitCount = 0
        var power = 0
        var isNegative = false
        var sawDigit = false
        var sawPoint = false
        var characters = text.utf8.makeIterator()
        var next = characters.next()
        if next == UInt8(ascii: "-") {
            isNegative = true
            next = characters.next()
        }
        while let byte = next, byte == UInt8(ascii: ".") || DecimalNumber.isDigit(byte) {
            if byte == UInt8(ascii: ".") {
                guard sawDigit, !sawPoint else { return nil }
                sawPoint = true
            } else {
                sawDigit = true
                if digitCount < DecimalNumber.maximumDigitCount {
                    digits = digits * 10 + Int128(byte - UInt8(ascii: "0"))
                    if digits != 0 { digitCount += 1 }
                    if sawPoint { power -= 1 }
                } else if !sawPoint {
                    power += 1
                }
            }
            next = characters.next()
        }
        guard sawDigit else { return nil }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            var exponentText = ""
            while let byte = characters.next() {
                exponentText.unicodeScalars.append(Unicode.Scalar(byte))
            }
            let isSigned = exponentText.hasPrefix("+")
            guard let written = Int(exponentText.dropFirst(isSigned ? 1 : 0), in: (isSigned ? 0 : -100_000)...100_000) else { return nil }
            power += written
            next = nil
        }
        guard next == nil else { return nil }
        self.init(significand: isNegative ? -digits : digits, exponent: digits == 0 ? 0 : power)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

    /// The number in steps of 10^−`fractionDigits`, rounded to the nearest step; halves are rounded away from zero.
    /// Nil if the count of steps does not fit 64 bits.
    package func rounded(toFractionDigits fractionDigits: Int) -> Int64? {
        rounded128(toFractionDigits: fractionDigits).flatMap { Int64(exactly: $0) }
    }

    /// The number if it is a whole number that fits 64 bits; else nil.
    package var wholeNumber: Int64? {
        if exponent < 0, significand != 0 {
            guard let divisor = DecimalNumber.powerOfTen(-exponent), significand % divisor == 0 else { return nil }
        }
        return rounded(toFractionDigits: 0)
    }

    private func rounded128(toFractionDigits fractionDigits: Int) -> Int128? {
        let shift = exponent + fractionDigits
        guard significand != 0 else { return 0 }
        guard shift < 0 else {
            guard let factor = DecimalNumber.powerOfTen(shift) else { return nil }
            let (product, overflow) = significand.multipliedReportingOverflow(by: factor)
            return overflow ? nil : product
        }
        // A divisor above 10^38 is at least 10^39, more than twice any significand, so the number is less than half a step.
        guard let divisor = DecimalNumber.powerOfTen(-shift) else { return 0 }
        let (quotient, remainder) = significand.quotientAndRemainder(dividingBy: divisor)
        let isHalfOrMore = remainder.magnitude >= divisor.magnitude - remainder.magnitude
        return isHalfOrMore ? quotient + significand.signum() : quotient
    }

    /// 10^`power` if `power` is 0 … 38; nil if it is larger.
    private static func powerOfTen(_ power: Int) -> Int128? {
        guard power <= 38 else { return nil }
        var result: Int128 = 1
        for _ in 0..<power { result *= 10 }
        return result
    }

    /// The sum of the number and `integer`, rounded to 24 decimal places; nil when it needs more than 38 digits.
    package func adding(_ integer: Int64) -> DecimalNumber? {
        let fractionDigits = min(max(-exponent, 0), 24)
        guard let scaled = rounded128(toFractionDigits: fractionDigits),
            let factor = DecimalNumber.powerOfTen(fractionDigits)
        else { return nil }
        let (addend, tooLarge) = Int128(integer).multipliedReportingOverflow(by: factor)
        let (sum, overflow) = scaled.addingReportingOverflow(addend)
        return tooLarge || overflow ? nil : DecimalNumber(significand: sum, exponent: -fractionDigits)
    }

    /// The number times 10^`power`, exactly.
    package func scaled(byPowerOfTen power: Int) -> DecimalNumber {
        DecimalNumber(significand: significand, exponent: significand == 0 ? 0 : exponent + power)
    }

    /// The nearest `Double`; nil when the number is beyond the range of `Double`.
    package var doubleValue: Double? {
        // The standard library converts the text exactly; a product of rounded powers of ten would not be exact.
        Double("\(significand)e\(exponent)", in: -.greatestFiniteMagnitude ... .greatestFiniteMagnitude)
    }

    package var isNegative: Bool { significand < 0 }
}

extension DecimalNumber: CustomStringConvertible {
    /// The number as a person writes it: "-12.5", "85", "0.0000001"; with an exponent if it would be long without one.
    package var description: String {
        guard significand != 0 else { return "0" }
        var digits = String(significand.magnitude)
        var power = exponent
        while power < 0, digits.count > 1, digits.last == "0" {
            digits.removeLast()
            power += 1
        }
        let sign = isNegative ? "-" : ""
        if power >= 0 {
            guard digits.count + power <= 40 else { return "\(sign)\(digits)e\(power)" }
            return sign + digits + String(repeating: "0", count: power)
        }
        guard power > -40 else { return "\(sign)\(digits)e\(power)" }
        let fractionCount = -power
        if digits.count <= fractionCount {
            digits = String(repeating: "0", count: fractionCount - digits.count + 1) + digits
        }
        let whole = digits.dropLast(fractionCount)
        let fraction = digits.suffix(fractionCount)
        return "\(sign)\(whole).\(fraction)"
    }
}
