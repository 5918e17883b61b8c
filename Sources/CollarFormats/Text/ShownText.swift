import CollarErrors

/// Text from elsewhere (arguments, files, frames, devices), made safe to show to a person: it stays on one line and
/// cannot control the terminal.
package enum PlainText {
    /// The length above which a text is cut, in Unicode scalars. Even with four bytes per scalar, a text of this length is
    /// written to a pipe in one piece.
    private static let limit = 960

    /// The text with control characters escaped, and without its middle where it is too long.
    package static func line(_ text: String) -> String {
        // Most texts are plain ASCII; for them Unicode's tables need not be loaded into memory.
        if text.utf8.count <= limit, text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text }
        let shown = text.withEscapedControls
        guard shown.unicodeScalars.count > limit else { return shown }
        return String(shown.unicodeScalars.prefix(limit * 2 / 3)) + " […] " + String(shown.unicodeScalars.suffix(limit / 3))
    }
}

/// Texts of any content, such as names, in the spellings of the formats.
extension [UInt8] {
    /// A string of JSON, see ``append(jsonString:)``.
    init(jsonString text: String) {
        self = []
        append(jsonString: text)
    }

    /// Appends a string of JSON (RFC 8259) with its quotation marks. It has no character that controls a terminal.
    mutating func append(jsonString text: String) {
        append(UInt8(ascii: "\""))
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\":
                append(UInt8(ascii: "\\"))
                append(UInt8(ascii: scalar))
            case " "..."~": append(UInt8(ascii: scalar))
            default:
                // A line may be shown in a terminal.
                guard scalar.controlsText else {
                    self += String(scalar).utf8
                    continue
                }
                for unit in String(scalar).utf16 { self += "\\u\(MessageDescription.hexadecimal(UInt64(unit), digits: 4))".utf8 }
            }
        }
        append(UInt8(ascii: "\""))
    }

    /// Appends a field of CSV (RFC 4180), in quotation marks where it needs them. A text that a spreadsheet would calculate as a
    /// formula gets an apostrophe before it, as OWASP recommends against CSV injection.
    mutating func append(csvField text: String) {
        let isFormula = text.utf8.first.map { [9, 10, 13].contains($0) } ?? false
            || text.utf8.first { $0 != UInt8(ascii: " ") }.map { "=+-@".utf8.contains($0) } ?? false
        guard isFormula || text.utf8.contains(where: { [UInt8(ascii: ","), UInt8(ascii: "\""), 10, 13].contains($0) }) else {
            self += text.utf8
            return
        }
        append(UInt8(ascii: "\""))
        if isFormula { append(UInt8(ascii: "'")) }
        for byte in text.utf8 {
            if byte == UInt8(ascii: "\"") { append(byte) }
            append(byte)
        }
        append(UInt8(ascii: "\""))
    }

    /// Appends the content of an element of XML 1.0. Characters that XML cannot express are left out.
    mutating func append(xmlText text: String) {
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": self += "&amp;".utf8
            case "<": self += "&lt;".utf8
            case ">": self += "&gt;".utf8
            case "\t", "\n", "\r": self += "&#\(scalar.value);".utf8
            case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": continue
            default: self += String(scalar).utf8
            }
        }
    }
}

extension [String] {
    /// `a, b or c`.
    package var alternatives: String { dropLast().joined(separator: ", ") + " or " + (last ?? "") }
}

package enum TextFlow {
    /// Joins items to lines. An item that does not fit begins the next line; no item is broken.
    /// - Parameters:
    ///   - items: the items; empty ones are left out.
    ///   - separator: the text between two items on a line.
    ///   - column: the column in which the first line begins.
    ///   - hanging: how many spaces precede each further line.
    ///   - width: the width of a line, in characters.
    package static func joined(
        _ items: [some StringProtocol], separator: String = "  ", column: Int = 0, hanging: Int, width: Int
    ) -> String {
        var text = ""
        var column = column
        for item in items where !item.isEmpty {
            if !text.isEmpty {
                if column + separator.count + item.count > width {
                    text += "\n" + String(repeating: " ", count: hanging)
                    column = hanging
                } else {
                    text += separator
                    column += separator.count
                }
            }
            text += item
            column += item.count
        }
        return text
    }
}
