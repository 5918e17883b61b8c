/// The command that takes batches, with its placeholders: `{collar}`, `{name}` and `{count}`.
package struct DeliveryCommand: Equatable, Sendable {
    /// The program and its arguments; not empty.
    package let words: [String]

    /// Creates a command; nil if it has no word.
    package init?(words: [String]) {
        if words.isEmpty { return nil }
        self.words = words
    }

    /// The program.
    package var name: String { words[0] }

    /// Whether a batch must hold entries of one collar only.
    package var splitsByCollar: Bool { contains("{collar}") }

    /// Whether a batch must hold entries of one animal only.
    package var splitsByName: Bool { contains("{name}") }

    private func contains(_ placeholder: String) -> Bool {
        words.contains { word in word.replacing { $0 == placeholder ? "" : nil } != word }
    }

    /// A name as a part of an argument: one file name that leads nowhere else, and no option, whatever a person has put into it.
    /// Different names stay different.
    private static func argument(_ name: String) -> String {
        let text = name.map { $0 == "%" ? "%25" : $0 == "/" ? "%2F" : String($0) }.joined()
        return switch text.first {
        case "-": "%2D" + text.dropFirst()
        case ".": "%2E" + text.dropFirst()
        default: text
        }
    }

    /// The words for a batch.
    package func words(collar: String, name: String, count: Int) -> [String] {
        words.map { word in
            word.replacing { placeholder in
                switch placeholder {
                case "{collar}": collar
                case "{name}": DeliveryCommand.argument(name)
                case "{count}": "\(count)"
                default: nil
                }
            }
        }
    }
}

extension String {
    /// The text with its parts in braces replaced, in one pass: what is put in is not searched.
    /// - Parameter replacement: gives the text for a part with its braces; nil to leave it as it is.
    fileprivate func replacing(_ replacement: (String) -> String?) -> String {
        var result = ""
        var rest = self[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            let part = String(rest[open...close])
            if let text = replacement(part) {
                result += rest[..<open] + text
                rest = rest[rest.index(after: close)...]
            } else {
                result += rest[...open]
                rest = rest[rest.index(after: open)...]
            }
        }
        return result + rest
    }
}
