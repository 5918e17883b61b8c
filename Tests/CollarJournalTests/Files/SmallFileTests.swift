import CollarJournal
import Testing

/// Numbers as padded digits, for file names and texts.
@Suite struct DigitsTests {
    @Test(arguments: [(0, 1, "0"), (0, 3, "000"), (7, 3, "007"), (-7, 3, "-007"), (1234, 3, "1234"), (.min, 2, "\(Int.min)")])
    func decimalDigitsArePadded(number: Int, count: Int, text: String) {
        #expect(String(number, minimumDigits: count) == text)
    }

    @Test(arguments: [(0, "0000000000000000"), (0xAB, "00000000000000ab"), (.max, "ffffffffffffffff")] as [(UInt64, String)])
    func hexadecimalDigitsArePadded(number: UInt64, text: String) {
        #expect(String(number, radix: 16, minimumDigits: 16) == text)
    }
}
