/// The parts of a line in a file that a person edits: `[section]`, `key = value` or nothing, and perhaps a comment.
///
/// Spaces and tabs around words have no meaning. `#` begins a comment at the start of a line, and after a space or tab.
package enum ConfigurationLine {
    /// The line up to its comment.
    package static func withoutComment(_ line: Substring) -> Substring {
        var previous: Character = " "
        for index in line.indices {
            if line[index] == "#", previous.isSpaceOrTab { return line[..<index] }
            previous = line[index]
        }
        return line
    }

    /// The words of a line: what is left of it without its comment, its carriage return and the spaces around.
    package static func words(of line: String) -> Substring {
        withoutComment(line.last == "\r" ? line.dropLast() : line[...]).trimmed
    }

    /// The key and the value of `key = value`; nil for a line without an equals sign.
    package static func assignment(_ line: Substring) -> (key: Substring, value: Substring)? {
        guard let equals = line.firstIndex(of: "=") else { return nil }
        return (line[..<equals].trimmed, line[line.index(after: equals)...].trimmed)
    }

    /// What follows a word in the header `[word …]` of a section; nil for any other line.
    static func section(_ line: Substring, of word: String) -> Substring? {
        guard line.hasPrefix("["), line.hasSuffix("]") else { return nil }
        let words = line.dropFirst().dropLast().trimmed
        guard words.hasPrefix(word), words.dropFirst(word.count).first?.isSpaceOrTab == true else { return nil }
        return words.dropFirst(word.count).trimmed
    }
}

extension Character {
    /// Whether the character is a space or a tab: what may stand around the words of a line.
    package var isSpaceOrTab: Bool { self == " " || self == "\t" }
}

extension StringProtocol {
    /// The text without the spaces and tabs around it.
    package var trimmed: SubSequence {
        var text = self[...]
        while let first = text.first, first.isSpaceOrTab { text = text.dropFirst() }
        while let last = text.last, last.isSpaceOrTab { text = text.dropLast() }
        return text
    }
}
