import CheckedNumbers

/// The factory id of a collar as text.
package enum CollarID {
    /// What ``deviceID(_:)`` takes, for messages.
    package static let form = "16 hexadecimal digits"

    /// Reads the id of a collar from 16 hexadecimal digits; nil for any other text.
    package static func deviceID(_ text: some StringProtocol) -> UInt64? {
        text.utf8.count == 16 ? UInt64(hexadecimal: text) : nil
    }

    /// Whether a text can be the beginning of an id that a person gives in place of the whole: 4 to 15 hexadecimal digits.
    package static func isPrefix(_ text: some StringProtocol) -> Bool {
        (4...15).contains(text.utf8.count) && text.allSatisfy { $0.isASCII && $0.isHexDigit }
    }
}
