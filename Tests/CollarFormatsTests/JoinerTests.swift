import Testing

@testable import CollarFormats

@Suite("Joiners in names")
struct JoinerTests {
    @Test("A joiner in its context is a part of the text", arguments: [
        "\u{634}\u{200C}\u{645}", "\u{645}\u{64A}\u{650}\u{200C}\u{62E}", "\u{1F408}\u{200D}\u{2B1B}",
        "\u{1F469}\u{1F3FD}\u{200D}\u{1F33E}", "\u{2764}\u{FE0F}\u{200D}\u{1F525}", "\u{915}\u{94D}\u{200D}\u{937}",
        "\u{915}\u{94D}\u{200C}", "plain",
    ])
    func inContext(text: String) {
        #expect(!text.controlsText)
        #expect(text.withEscapedControls == text)
    }

    @Test("Elsewhere it is a format character", arguments: [
        "a\u{200D}b", "a\u{200C}b", "1\u{200D}2", "\u{200D}\u{1F408}", "\u{1F408}\u{200D}", "\u{634}\u{200C}", "\u{634}\u{200C}b",
        "\u{1F408}\u{200C}\u{2B1B}", "\u{634}\u{200D}\u{645}", "\u{202E}a", "a\u{1B}",
    ])
    func elsewhere(text: String) {
        #expect(text.controlsText)
        #expect(text.withEscapedControls.utf8.contains(UInt8(ascii: "\\")))
    }
}
