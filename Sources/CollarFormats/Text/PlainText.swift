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
        let scalars = Array(text.withEscapedControls.unicodeScalars)
        guard scalars.count > limit else { return string(scalars[...]) }
        return string(scalars.prefix(limit * 2 / 3)) + " […] " + string(scalars.suffix(limit / 3))
    }

    private static func string(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        return String(text)
    }
}
