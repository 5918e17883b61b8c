import CheckedNumbers
import Testing

/// Numbers in text from outside.
@Suite struct NumberTextTests {
    @Test func decimalDigitsAreRead() {
        #expect(Int("0", in: 0...10) == 0)
        #expect(Int64("-128", in: -200...0) == -128)
        #expect(UInt8("0255", in: 0 ... .max) == 255)
        #expect(Int8("-128", in: .min ... .max) == -128)
        #expect(Int64("-9223372036854775808", in: .min ... .max) == .min)
        #expect(UInt64("18446744073709551615", in: 0 ... .max) == .max)
    }

    @Test(arguments: ["", "-", "+1", " 1", "1 ", "1_000", "1.0", "١", "0x1", "--1", "1-", "nan", ":", "/"])
    func otherTextIsRefused(_ text: String) {
        #expect(Int64(text, in: .min ... .max) == nil)
        #expect(Double(text, in: -1...1) == (text == "1.0" ? 1 : nil))
    }

    @Test func numbersOutsideTheRangeAreRefused() {
        #expect(Int("11", in: 0...10) == nil)
        #expect(Int("-1", in: 0...10) == nil)
        #expect(Int("-0", in: 0...10) == nil)
        #expect(UInt8("256", in: 0 ... .max) == nil)
        #expect(Int64("9223372036854775808", in: .min ... .max) == nil)
        #expect(Int64("-9223372036854775809", in: .min ... .max) == nil)
        #expect(Int64("100000000000000000000", in: .min ... .max) == nil)
        #expect(Int64("140737488355328", in: .unixMilliseconds) == nil)
        #expect(Int64("-140737488355328", in: .unixMilliseconds) == -140_737_488_355_328)
    }

    @Test func otherRadixes() {
        #expect(UInt64(hexadecimal: "910A2b3c4d5e6f70") == 0x910A_2B3C_4D5E_6F70)
        #expect(UInt64(hexadecimal: "10000000000000000") == nil)
        #expect(UInt32(hexadecimal: "0", in: 1 ... .max) == nil)
        #expect(UInt8(hexadecimal: "+f") == nil)
        #expect(UInt8(hexadecimal: "fg") == nil)
        #expect(UInt8(hexadecimal: "f@") == nil)
        #expect(UInt32(digits: "0660".utf8, radix: 8, in: 0 ... .max) == 0o660)
        #expect(UInt32(digits: "8".utf8, radix: 8, in: 0 ... .max) == nil)
        #expect(UInt8(digits: [0x66, 0x46], radix: 16, in: 0 ... .max) == 255)
    }

    @Test func decimalFractions() {
        #expect(Double("0.5", in: 0...1) == 0.5)
        #expect(Double("-2.5e-1", in: -1...1) == -0.25)
        for text in ["inf", "infinity", "nan", "0x1p3", "1e999", "1.5", " 0.5", "+0.5", ""] { #expect(Double(text, in: 0...1) == nil) }
    }
}
