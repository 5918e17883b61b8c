import CollarFormats
import CollarTracking

/// Changes of the text of a places file. They keep the comments, blank lines and order of the rest.
extension PlaceFile {
    /// The text with a circle in it. If a place has this name already, its lines `at`, `radius` and `area` are replaced. A private place
    /// stays private.
    /// - Parameter isPrivate: whether the place becomes private, if it is not.
    /// - Precondition: the text is that of a places file, and the name is ``isName(_:)``.
    package static func text(_ lines: [String], putting name: String, center: Position, radiusMeters: Double, isPrivate: Bool) -> [String] {
        var keys = ["at = \(center.latitudeDegrees) \(center.longitudeDegrees)", "radius = \(number(radiusMeters))"]
        if isPrivate { keys.append("private = yes") }
        guard let section = section(of: name, in: lines) else {
            var text = lines
            // A file ends with a line feed, after which nothing stands.
            while text.last?.isEmpty == true { text.removeLast() }
            return text + (text.isEmpty ? [] : [""]) + ["[place \(name)]"] + keys + [""]
        }
        let kept = lines[section].dropFirst().filter { line in
            guard let (key, _) = ConfigurationLine.assignment(ConfigurationLine.words(of: line)) else { return true }
            return !(["at", "radius", "area"].contains(key) || key == "private" && isPrivate)
        }
        return lines[..<section.lowerBound] + [lines[section.lowerBound]] + keys + kept + lines[section.upperBound...]
    }

    /// The text without a place; nil if it has none of this name.
    package static func text(_ lines: [String], removing name: String) -> [String]? {
        section(of: name, in: lines).map { Array(lines[..<$0.lowerBound] + lines[$0.upperBound...]) }
    }

    /// Whether a text can be the name of a place.
    package static func isName(_ text: String) -> Bool {
        guard !text.isEmpty, text.utf8.count <= nameByteLimit, !text.controlsText, text.trimmed == text[...] else { return false }
        return ConfigurationLine.section(ConfigurationLine.withoutComment("[place \(text)]"), of: "place") == text[...]
    }

    /// The lines of a place, from its header to the next one.
    private static func section(of name: String, in lines: [String]) -> Range<Int>? {
        let start = lines.firstIndex { ConfigurationLine.section(ConfigurationLine.words(of: $0), of: "place") == name[...] }
        guard let start else { return nil }
        let end = lines[(start + 1)...].firstIndex { ConfigurationLine.words(of: $0).hasPrefix("[") } ?? lines.count
        return start..<end
    }

    private static func number(_ meters: Double) -> String {
        let whole = Int(meters.rounded())
        return Double(whole) == meters ? "\(whole)" : "\(meters)"
    }
}
