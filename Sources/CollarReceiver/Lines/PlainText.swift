/// Text of others (arguments, files, frames, devices) as it may be shown to a person: on a line, and never an order to the
/// terminal.
public enum PlainText {
    /// Characters of the longest text. With four bytes each it still goes to a pipe in one piece.
    private static let limit = 960

    /// The text with control characters written out, and without its middle where it is too long.
    public static func line(_ text: String) -> String {
        // Most texts; Unicode's tables would take memory.
        if text.utf8.count <= limit, text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text }
        var scalars: [Unicode.Scalar] = []
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            // Format characters turn the direction of what follows.
            case .control, .format, .lineSeparator, .paragraphSeparator: scalars += scalar.escaped(asASCII: true).unicodeScalars
            default: scalars.append(scalar)
            }
        }
        guard scalars.count > limit else { return string(scalars[...]) }
        return string(scalars.prefix(limit * 2 / 3)) + " […] " + string(scalars.suffix(limit / 3))
    }

    private static func string(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        return String(text)
    }
}
