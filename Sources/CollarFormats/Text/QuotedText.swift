import CollarErrors

/// Texts of any content, such as names, in the spellings of the formats.
extension [UInt8] {
    /// Appends a string of JSON (RFC 8259) with its quotation marks. It has no character that controls a terminal.
    mutating func append(jsonString text: String) {
        append(UInt8(ascii: "\""))
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\":
                append(UInt8(ascii: "\\"))
                append(UInt8(ascii: scalar))
            case " "..."~":
                append(UInt8(ascii: scalar))
            default:
                // A line may be shown in a terminal.
                if scalar.controlsText { append(jsonEscapeOf: scalar) } else { self += String(scalar).utf8 }
            }
        }
        append(UInt8(ascii: "\""))
    }

    private mutating func append(jsonEscapeOf scalar: Unicode.Scalar) {
        for unit in String(scalar).utf16 {
            self += "\\u".utf8
            self += MessageDescription.hexadecimal(UInt64(unit), digits: 4).utf8
        }
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

    /// Appends a text for a person: it stays on its line and cannot control the terminal.
    mutating func append(shownText text: String) { self += text.withEscapedControls.utf8 }
}
