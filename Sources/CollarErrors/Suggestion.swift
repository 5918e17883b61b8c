/// Finds the known word that a person most likely meant by an unknown one.
package enum Suggestion {
    /// The fewest letters of a word that counts as the beginning of a longer one.
    private static let shortestBeginning = 3

    /// ` Did you mean history?` for the known word that is nearest to an unknown one; empty if none is near.
    /// - Parameter quote: what stands before and after the word: a backtick for an option or a command.
    package static func text(for word: String, among known: [String], quote: String = "") -> String {
        nearest(to: word, among: known).map { " Did you mean \(quote)\($0)\(quote)?" } ?? ""
    }

    /// The same, in backticks, for the first operand of a command; empty if there is none, or if it is a known word.
    package static func text(forVerb word: String?, among known: [String]) -> String {
        word.map { known.contains($0) ? "" : text(for: $0, among: known, quote: "`") } ?? ""
    }

    /// The known word that is nearest to an unknown one, of equally near ones the first; nil if none is near. Near is a word that
    /// differs by at most one typing error for every three letters, or the only one that begins with the unknown word. Case and
    /// leading hyphens make no difference.
    ///
    /// Complexity: the product of the lengths of the words, for each known word.
    package static func nearest(to word: String, among known: [String]) -> String? {
        let typed = letters(of: word)
        var best: (word: String, distance: Int)?
        for candidate in known {
            let letters = letters(of: candidate)
            let distance = distance(from: typed, to: letters)
            guard distance <= min(typed.count, letters.count) / 3 || distance == 0 else { continue }
            if distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        if let best { return best.word }
        guard typed.count >= shortestBeginning else { return nil }
        let longer = known.filter { letters(of: $0).starts(with: typed) }
        return longer.count == 1 ? longer[0] : nil
    }

    private static func letters(of word: String) -> [UInt8] { Array(word.lowercased().utf8.drop { $0 == UInt8(ascii: "-") }) }

    /// The Damerau–Levenshtein distance (in its restricted form): how many letters must be inserted, removed, replaced or swapped with
    /// their neighbour.
    package static func distance(from first: [UInt8], to second: [UInt8]) -> Int {
        guard !first.isEmpty, !second.isEmpty else { return max(first.count, second.count) }
        // The rows of the table for the letters before the previous one, for the previous one, and for the present one.
        var older = [Int](repeating: 0, count: second.count + 1)
        var previous = Array(0...second.count)
        for row in 1...first.count {
            var present = [row]
            for column in 1...second.count {
                let isSame = first[row - 1] == second[column - 1]
                var least = min(previous[column] + 1, present[column - 1] + 1, previous[column - 1] + (isSame ? 0 : 1))
                if row > 1, column > 1, first[row - 1] == second[column - 2], first[row - 2] == second[column - 1] {
                    least = min(least, older[column - 2] + 1)
                }
                present.append(least)
            }
            (older, previous) = (previous, present)
        }
        return previous[second.count]
    }
}
