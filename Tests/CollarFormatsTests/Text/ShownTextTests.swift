import Testing

@testable import CollarFormats

@Suite("Items on the lines of a terminal")
struct TextFlowTests {
    @Test("items that fit stay on one line")
    func oneLine() {
        #expect(TextFlow.joined(["one", "two", "three"], hanging: 2, width: 15) == "one  two  three")
    }

    @Test("an item that does not fit begins the next line, after the hanging spaces")
    func nextLine() {
        #expect(TextFlow.joined(["one", "two", "three"], hanging: 2, width: 14) == "one  two\n  three")
        #expect(TextFlow.joined(["one", "two", "three"], hanging: 4, width: 7) == "one\n    two\n    three")
    }

    @Test("the hanging spaces count as part of the width")
    func hangingSpacesCount() {
        #expect(TextFlow.joined(["first", "abc", "de"], hanging: 3, width: 10) == "first  abc\n   de")
        #expect(TextFlow.joined(["first", "abcd", "e"], hanging: 3, width: 10) == "first\n   abcd  e")
        #expect(TextFlow.joined(["first", "abcd", "ef"], hanging: 3, width: 10) == "first\n   abcd\n   ef")
    }

    @Test("an item that is wider than the line is not broken")
    func wideItem() {
        #expect(TextFlow.joined(["a", "much-too-wide", "b"], hanging: 1, width: 5) == "a\n much-too-wide\n b")
        #expect(TextFlow.joined(["much-too-wide"], hanging: 1, width: 5) == "much-too-wide")
    }

    @Test("empty items are left out, with their separators")
    func emptyItems() {
        #expect(TextFlow.joined(["", "one", "", "two", ""], hanging: 2, width: 80) == "one  two")
        #expect(TextFlow.joined([String](), hanging: 2, width: 80) == "")
        #expect(TextFlow.joined(["", ""], hanging: 2, width: 80) == "")
    }

    @Test("the first line may begin in a later column")
    func column() {
        #expect(TextFlow.joined(["one", "two"], column: 2, hanging: 2, width: 10) == "one  two")
        #expect(TextFlow.joined(["one", "two"], column: 3, hanging: 2, width: 10) == "one\n  two")
    }

    @Test("the separator is chosen by the caller")
    func separator() {
        #expect(TextFlow.joined(["one", "two", "six"], separator: " ", hanging: 0, width: 7) == "one two\nsix")
    }

    @Test("the width counts characters, not bytes")
    func characters() {
        #expect(TextFlow.joined(["±5 m", "Zoë"], hanging: 2, width: 9) == "±5 m  Zoë")
    }
}

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
