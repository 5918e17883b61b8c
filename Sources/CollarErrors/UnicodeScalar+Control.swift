extension Unicode.Scalar {
    /// Whether the character controls how a terminal shows a text: a control character, a separator of lines, or a format
    /// character, which can reverse the direction of the text after it.
    package var controlsText: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}

extension String {
    /// Whether the text has a character that controls how a terminal shows it. The joiners U+200C and U+200D do not count where they
    /// belong to the spelling of a word or an emoji.
    package var controlsText: Bool {
        if isPlainASCII { return false }
        let scalars = Array(unicodeScalars)
        return scalars.indices.contains { scalars[$0].controlsText && !Joiner.belongs(at: $0, in: scalars) }
    }

    /// The text with an escape for each character that controls how a terminal shows it, see ``controlsText``.
    package var withEscapedControls: String {
        if isPlainASCII { return self }
        let scalars = Array(unicodeScalars)
        return scalars.indices.map { index in
            scalars[index].controlsText && !Joiner.belongs(at: index, in: scalars)
                ? scalars[index].escaped(asASCII: true) : String(scalars[index])
        }.joined()
    }

    /// Most texts are; for them Unicode's tables need not be loaded into memory.
    private var isPlainASCII: Bool { utf8.allSatisfy { (0x20..<0x7F).contains($0) } }
}

/// The contexts in which joiners belong to a text, after UAX #31, section 2.3, and RFC 5892, appendix A. Elsewhere a joiner cannot be
/// seen, and makes two texts differ that look the same.
private enum Joiner {
    private static let zeroWidthNonJoiner: Unicode.Scalar = "\u{200C}"
    private static let zeroWidthJoiner: Unicode.Scalar = "\u{200D}"

    /// Letters that join their neighbours: Arabic, Syriac, Thaana, N'Ko, Mandaic, Mongolian, Phags-pa and Adlam. The standard library does not
    /// know the property Joining_Type, so a letter that joins only the one before it counts, too.
    private static let joiningScripts: [ClosedRange<UInt32>] = [
        0x600...0x7FF, 0x840...0x8FF, 0x1800...0x18AF, 0xA840...0xA877, 0xFB50...0xFDFF, 0xFE70...0xFEFE, 0x1E900...0x1E95F,
    ]

    package static func belongs(at index: Int, in scalars: [Unicode.Scalar]) -> Bool {
        guard [zeroWidthJoiner, zeroWidthNonJoiner].contains(scalars[index]), index > 0 else { return false }
        // In the scripts of India, both decide how a consonant with a virama before them is written.
        if scalars[index - 1].properties.canonicalCombiningClass == .virama { return true }
        guard index + 1 < scalars.count else { return false }
        let before = scalars[..<index].last { !isMark($0) }
        let after = scalars[index + 1]
        guard let before else { return false }
        return scalars[index] == zeroWidthJoiner ? isEmoji(before) && isEmoji(after) : isJoining(before) && isJoining(after)
    }

    /// Whether a character changes the one before it: an accent, a choice of presentation, or the colour of an emoji's skin.
    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .nonspacingMark || scalar.properties.isEmojiModifier
    }

    /// Digits, which can be emoji, do not count.
    private static func isEmoji(_ scalar: Unicode.Scalar) -> Bool { !scalar.isASCII && scalar.properties.isEmoji }

    private static func isJoining(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic && joiningScripts.contains { $0.contains(scalar.value) }
    }
}
