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
}
