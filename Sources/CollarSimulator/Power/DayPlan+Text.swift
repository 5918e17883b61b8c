import CheckedNumbers

/// A line of a text that cannot be read.
package struct LineFault: Error, Equatable, Sendable {
    /// The number of the line, from 1.
    package let line: Int
    /// The fault, as the end of a sentence that begins with the line.
    package let reason: String
}

extension DayPlan {
    /// Reads the spells of a day: a line for each, `HH:MM` and words, in the order of their times. The words are `open` (the default),
    /// `trees` or `roof`, `out-of-reach`, and `rest` or `moving` (the default). Empty lines, and what follows `#`, have no meaning.
    package init(_ text: String) throws(LineFault) {
        var spells: [Spell] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let words = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" }.map(String.init)
            guard let first = words.first else { continue }
            do throws(Reason) {
                let start = try DayPlan.microseconds(of: first)
                if let last = spells.last, last.startMicroseconds >= start { throw Reason("is not later than the one before it: \(first)") }
                spells.append(Spell(startMicroseconds: start, try Surroundings(words.dropFirst())))
            } catch { throw LineFault(line: index + 1, reason: error.text) }
        }
        self.init(spells)
    }

    private static func microseconds(of text: String) throws(Reason) -> Int64 {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 }), let hours = Int64(parts[0], in: 0...23),
            let minutes = Int64(parts[1], in: 0...59)
        else { throw Reason("begins with '\(text)', which is no time of day from 00:00 to 23:59") }
        return (hours * 60 + minutes) * 60_000_000
    }
}

private struct Reason: Error {
    let text: String

    init(_ text: String) { self.text = text }
}

extension Surroundings {
    fileprivate init(_ words: ArraySlice<String>) throws(Reason) {
        var kinds: Set<String> = []
        for word in words {
            let kind: String
            if let sky = Sky(rawValue: word) {
                (self.sky, kind) = (sky, "sky")
            } else if word == "out-of-reach" {
                (isInReach, kind) = (false, "reach")
            } else if word == "rest" || word == "moving" {
                (isMoving, kind) = (word == "moving", "motion")
            } else {
                throw Reason("has the word '\(word)', which is none of open, trees, roof, out-of-reach, rest and moving")
            }
            guard kinds.insert(kind).inserted else { throw Reason("has two words for the \(kind)") }
        }
    }
}
