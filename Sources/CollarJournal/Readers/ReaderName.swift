/// The name of a named reader: 1 to 64 letters, digits, `.`, `_` and `-` of ASCII, the first a letter or digit. So it is the name of
/// a file too.
package struct ReaderName: Hashable, Sendable {
    /// The name.
    package let text: String

    /// The form of a name, for messages.
    package static let form = "1 to 64 letters, digits, '.', '_' or '-', beginning with a letter or a digit"

    /// Checks a name; nil if it does not have the form.
    package init?(_ text: String) {
        guard (1...64).contains(text.utf8.count), let first = text.utf8.first, ReaderName.isAlphanumeric(first),
            text.utf8.allSatisfy({ ReaderName.isAlphanumeric($0) || [0x2D, 0x2E, 0x5F].contains($0) })
        else { return nil }
        self.text = text
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
}
