import Testing

@testable import CollarFormats

@Suite("Decimal numbers")
struct DecimalNumberTests {
    @Test(
        "Halves go away from zero, decided in decimal",
        arguments: [
            (50.163425, 5, 5_016_343), (-5.000005, 5, -500_001), (2.675, 2, 268), (1.005, 2, 101), (-1.005, 2, -101),
            (0.5, 0, 1), (-0.5, 0, -1), (0.49999999999999994, 0, 0), (8.5, 0, 9), (1.45, 1, 15), (1e-7, 7, 1),
            (5e-8, 7, 1), (4.9e-8, 7, 0), (-180, 7, -1_800_000_000), (0.285, 2, 29), (-0.0, 3, 0),
        ] as [(Double, Int, Int64)])
    func rounding(value: Double, digits: Int, expected: Int64) {
        #expect(DecimalNumber(value)?.rounded(toFractionDigits: digits) == expected)
    }

    @Test("Exponents in the text are understood")
    func exponents() {
        #expect(DecimalNumber(text: "1e-07") == DecimalNumber(significand: 1, exponent: -7))
        #expect(DecimalNumber(text: "-1.5e+20")?.rounded(toFractionDigits: 0) == nil)
        #expect(DecimalNumber(text: "1.5E+10")?.rounded(toFractionDigits: 0) == 15_000_000_000)
        #expect(DecimalNumber(Double.leastNonzeroMagnitude)?.rounded(toFractionDigits: 7) == 0)
        #expect(DecimalNumber(Double.greatestFiniteMagnitude)?.rounded(toFractionDigits: 0) == nil)
        #expect(DecimalNumber(9_007_199_254_740_992)?.rounded(toFractionDigits: 0) == 9_007_199_254_740_992)
    }

    @Test("What is no number is refused", arguments: ["", "-", ".5", "1.2.3", "1e", "1e5x", "abc", "1 ", "0x10", "1e200000"])
    func refused(text: String) {
        #expect(DecimalNumber(text: text) == nil)
    }

    @Test("NaN and infinity have no digits")
    func notFinite() {
        #expect(DecimalNumber(Double.nan) == nil)
        #expect(DecimalNumber(-Double.infinity) == nil)
    }

    @Test("The text is the one a person writes")
    func text() {
        #expect(DecimalNumber(-12.5)?.description == "-12.5")
        #expect(DecimalNumber(85.0)?.description == "85")
        #expect(DecimalNumber(1e-7)?.description == "0.0000001")
        #expect(DecimalNumber(1.5e20)?.description == "150000000000000000000")
        #expect(DecimalNumber(0.05)?.description == "0.05")
    }

    @Test("Digits beyond the 36th are dropped, not wrapped")
    func longTexts() {
        let long = "1." + String(repeating: "3", count: 200)
        #expect(DecimalNumber(text: long)?.rounded(toFractionDigits: 5) == 133_333)
        let wide = String(repeating: "9", count: 60)
        #expect(DecimalNumber(text: wide)?.rounded(toFractionDigits: 0) == nil)
        #expect(DecimalNumber(text: wide)?.doubleValue == 1e60)
        #expect(DecimalNumber(text: "0." + String(repeating: "0", count: 50) + "7")?.doubleValue == 7e-51)
    }

    @Test("A whole number is exact, and fits 64 bits")
    func wholeNumbers() {
        for (text, whole) in [
            ("0", 0), ("-0.000", 0), ("868.1e6", 868_100_000), ("12.000", 12), ("1e3", 1000), ("-9223372036854775808", .min),
            ("9223372036854775807", .max), ("9223372036854775808", nil), ("0.5", nil), ("868.1", nil), ("1e-39", nil),
            ("1.0000000000000000000000000001", nil), ("1e19", nil), ("1e400", nil),
        ] as [(String, Int64?)] {
            #expect(DecimalNumber(text: text)?.wholeNumber == whole, "\(text)")
        }
    }

    @Test("Sums are exact")
    func sums() {
        let number = DecimalNumber(text: "0.1234567890123456789")
        #expect(number?.adding(978_307_200_000)?.description == "978307200000.1234567890123456789")
        #expect(DecimalNumber(text: "1e60")?.adding(1) == nil)
        #expect(DecimalNumber(text: "0.123456789012345678901234")?.adding(.max) == nil)
        #expect(DecimalNumber(text: "1.500")?.adding(-1)?.adding(0)?.description == "0.5")
        #expect(DecimalNumber(significand: 0, exponent: -3).description == "0")
    }
}
