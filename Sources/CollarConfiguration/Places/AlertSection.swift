import CheckedNumbers
import CollarTracking

/// The section `[alerts]` of a places file.
struct AlertSection {
    private enum Key: String, CaseIterable {
        case farther, silent, quiet
    }

    /// Times without reception in seconds: from a minute to a year.
    private static let silence: ClosedRange<Int64> = 60...31_536_000

    /// The line of its header, from 1.
    let line: Int
    private(set) var rules = AlertRules()
    private var keyLines: [Key: Int] = [:]

    init(line: Int) { self.line = line }

    static func isHeader(_ words: Substring) -> Bool {
        words.hasPrefix("[") && words.hasSuffix("]") && words.dropFirst().dropLast().trimmed == "alerts"
    }

    mutating func take(_ word: String, _ value: Substring, line: Int) throws(PlaceFileError.Problem) {
        guard let key = Key(rawValue: word) else { throw .unknownAlertKey(word, keys: Key.allCases.map(\.rawValue)) }
        if let earlier = keyLines.updateValue(line, forKey: key) { throw .repeatedKey(word, line: earlier) }
        switch key {
        case .farther:
            guard let limit = Double(value, in: PlaceFile.radiusRange) else { throw .wrongDistance(String(value)) }
            rules.fartherMeters = limit
        case .silent:
            if value == "off" { return rules.silentMilliseconds = nil }
            let units: [Character: Int64] = ["m": 60, "h": 3600, "d": 86_400]
            guard let unit = value.last.flatMap({ units[$0] }), let count = Int64(value.dropLast().trimmed, in: 0...1_000_000),
                AlertSection.silence.contains(count * unit)
            else { throw .wrongSilence(String(value)) }
            rules.silentMilliseconds = count * unit * 1000
        case .quiet:
            guard let hours = QuietHours(text: value) else { throw .wrongQuietHours(String(value)) }
            rules.quietHours = hours
        }
    }
}

extension QuietHours {
    /// Reads two times of day, such as `22:00-07:00`.
    fileprivate init?(text: Substring) {
        let minutes = text.split(separator: "-", omittingEmptySubsequences: false).map { time -> Int? in
            let parts = time.trimmed.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, let hour = Int(parts[0], in: 0...23), let minute = Int(parts[1], in: 0...59), parts[1].count == 2 else {
                return nil
            }
            return hour * 60 + minute
        }
        guard minutes.count == 2, let start = minutes[0], let end = minutes[1] else { return nil }
        self.init(startMinute: start, endMinute: end)
    }
}
