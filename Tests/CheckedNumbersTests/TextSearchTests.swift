import Testing

@testable import CheckedNumbers

@Suite struct TextSearchTests {
    @Test(arguments: [
        ("usb 1-1: USB disconnect", "USB disconnect", true), ("USB disconnec", "USB disconnect", false), ("aab", "ab", true),
        ("abcabd", "abd", true), ("", "a", false), ("", "", true), ("a", "", true), ("käse", "ä", true), ("ab", "abc", false),
    ])
    func aPartIsFoundAnywhere(text: String, part: String, isThere: Bool) {
        #expect(text.contains(text: part) == isThere)
        #expect(text[...].contains(text: part) == isThere)
    }
}
