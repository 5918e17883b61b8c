import CollarWire
import Testing

@testable import CollarFormats

@Suite("Digits")
struct DigitsTests {
    private func text(_ write: (inout LineScratch) -> Void) -> String {
        var scratch = LineScratch()
        write(&scratch)
        var bytes: [UInt8] = []
        scratch.copy(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("Every four digits in either half of the word")
    func fours() {
        for value in 0..<10_000 as Range<UInt32> {
            let digits = String(String(10_000 + value).dropFirst())
            let lower = DecimalDigits.eight(of: value) | DecimalDigits.ascii
            let upper = DecimalDigits.eight(of: value * 10_000) | DecimalDigits.ascii
            #expect(characters(lower) == "0000" + digits)
            #expect(characters(upper) == digits + "0000")
        }
    }

    @Test("Hexadecimal digits")
    func hexadecimal() {
        #expect(characters(HexadecimalDigits.eight(of: 0x0123_4567)) == "01234567")
        #expect(characters(HexadecimalDigits.eight(of: 0x89AB_CDEF)) == "89abcdef")
        #expect(characters(HexadecimalDigits.eight(of: 0xA09F_F90A)) == "a09ff90a")
    }

    private func characters(_ word: UInt64) -> String {
        String(decoding: (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }, as: UTF8.self)
    }

    @Test(
        "Integers of every length",
        arguments: [
            0, 1, -1, 9, 10, 99_999_999, 100_000_000, 100_000_001, 1_699_401_234_567, -2_500, 9_999_999_999_999_999,
            10_000_000_000_000_000, .max, .min, .min + 1,
        ] as [Int64])
    func integers(value: Int64) {
        #expect(text { $0.append(value) } == "\(value)")
    }

    @Test("Fractions lose their trailing zeros")
    func fractions() {
        let numbers = NumberBytes()
        #expect(text { $0.append(tenMillionths: 1_800_000_000, numbers: numbers) } == "180")
        #expect(text { $0.append(tenMillionths: 1, numbers: numbers) } == "0.0000001")
        #expect(text { $0.append(tenMillionths: 377_749_000, numbers: numbers) } == "37.7749")
        #expect(text { $0.append(tenMillionths: 0, numbers: numbers) } == "0")
        #expect(text { $0.append(tenths: 10_485_75, numbers: numbers) } == "104857.5")
        #expect(text { $0.append(tenths: 9_999, numbers: numbers) } == "999.9")
        #expect(text { $0.append(tenths: 10_000, numbers: numbers) } == "1000")
    }

    @Test("Small numbers")
    func smallNumbers() {
        let numbers = NumberBytes()
        for value in 0..<1000 as Range<UInt32> {
            #expect(text { $0.append(value, numbers: numbers) } == "\(value)")
        }
        #expect(text { $0.append(1000, numbers: numbers) } == "1000")
    }

    private func row(_ write: (inout OutputSpan<UInt8>) -> Void) -> String {
        var bytes: [UInt8] = []
        bytes.appendRow(write)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("Fixed-point numbers of every length, with and without zeros at the end", arguments: [
        (0, 0, "0", "0"), (0, 7, "0", "0.0000000"), (1, 7, "0.0000001", "0.0000001"), (-4, 1, "-0.4", "-0.4"),
        (-122_419_400, 6, "-122.4194", "-122.419400"), (1_800_000_000, 7, "180", "180.0000000"), (5300, 3, "5.3", "5.300"),
        (.max, 0, "9223372036854775807", "9223372036854775807"), (.min, 7, "-922337203685.4775808", "-922337203685.4775808"),
    ] as [(Int64, Int, String, String)])
    func fixedPoint(value: Int64, fractionDigits: Int, short: String, long: String) {
        let number = FixedPoint(value, fractionDigits: fractionDigits)
        #expect(number.text == short)
        #expect(number.keepingZeros.text == long)
        #expect(MessageDescription.decimal(value, fractionDigits) == long)
    }

    @Test("Numbers between constant texts, and what stands for unknown ones")
    func unknownNumbers() {
        #expect(row { $0.append(",a=", FixedPoint(15, fractionDigits: 1), orUnknown: "?") } == ",a=1.5")
        #expect(row { $0.append(",a=", nil, orUnknown: "?") } == ",a=?")
        #expect(row { $0.append(",a=", ifKnown: FixedPoint(7), "i") } == ",a=7i")
        #expect(row { $0.append(",a=", ifKnown: nil, "i") } == "")
        #expect(row { $0.append(7, digits: 2) } == "07")
        #expect(row { $0.append(99_999_999, digits: 8) } == "99999999")
    }

    @Test("The accuracy of every code")
    func accuracies() {
        for code in (0...AccuracyCode.top).compactMap({ AccuracyCode(rawValue: $0) }) {
            #expect(code.knownMillimeters == code.millimeters)
            let text = code.meters.text
            #expect(Double(text).map { ($0 * 1000).rounded() } == Double(code.millimeters))
            #expect(!text.contains(".") || !text.hasSuffix("0"))
        }
    }

    @Test("Quotients are rounded down", arguments: [(17, 1, 7), (-1, -1, 9), (-10, -1, 0), (.min, -922_337_203_685_477_581, 2)] as [(Int64, Int64, Int64)])
    func quotients(value: Int64, quotient: Int64, remainder: Int64) {
        let result = value.dividedDown(by: 10)
        #expect(result == (quotient, remainder))
    }
}
