/// The command that takes batches, with its placeholders: `{collar}`, `{name}` and `{count}`.
public struct DeliveryCommand: Equatable, Sendable {
    /// The program and its arguments; not empty.
    public let words: [String]

    /// Creates a command; nil if it has no word.
    public init?(words: [String]) {
        if words.isEmpty { return nil }
        self.words = words
    }

    /// The program.
    public var name: String { words[0] }

    /// Whether a batch must hold entries of one collar only.
    var splitsByCollar: Bool { contains("{collar}") }

    /// Whether a batch must hold entries of one animal only.
    var splitsByName: Bool { contains("{name}") }

    private func contains(_ placeholder: String) -> Bool { words.contains { !$0.pieces(around: placeholder).isEmpty } }

    /// The words for a batch.
    func words(collar: String, name: String, count: Int) -> [String] {
        words.map {
            $0.replacing("{collar}", by: collar).replacing("{name}", by: name).replacing("{count}", by: "\(count)")
        }
    }
}

extension String {
    /// The parts of the text before, between and after the places of a placeholder; none if it is not there.
    fileprivate func pieces(around placeholder: String) -> [String] {
        var pieces: [[UInt8]] = [[]]
        let sought = Array(placeholder.utf8)
        var rest = Array(utf8)[...]
        while let first = rest.first {
            if rest.starts(with: sought) {
                pieces.append([])
                rest = rest.dropFirst(sought.count)
            } else {
                pieces[pieces.count - 1].append(first)
                rest = rest.dropFirst()
            }
        }
        return pieces.count == 1 ? [] : pieces.map { String(decoding: $0, as: UTF8.self) }
    }

    fileprivate func replacing(_ placeholder: String, by text: String) -> String {
        let pieces = pieces(around: placeholder)
        return pieces.isEmpty ? self : pieces.joined(separator: text)
    }
}
