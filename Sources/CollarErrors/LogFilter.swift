/// Which messages a person wants to see.
package struct LogFilter: Equatable, Sendable {
    /// Why a text is no filter.
    package enum Problem: Error, Equatable, Sendable {
        /// There is no such category.
        case category(String)
        /// There is no such level.
        case level(String)
    }

    private var general: LogLevel
    private var levels: [LogCategory: LogLevel] = [:]

    /// A filter that lets messages of a level and above pass.
    package init(_ level: LogLevel = .info) { general = level }

    /// Takes the text of `--log`: `LEVEL` for every category, or `CATEGORY:LEVEL` for one of them, which goes before the former.
    package mutating func set(_ text: String) throws(Problem) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let word = parts.last, let level = LogLevel(rawValue: word) else { throw .level(parts.last ?? "") }
        guard parts.count == 2 else { return general = level }
        guard let category = LogCategory(rawValue: parts[0]) else { throw .category(parts[0]) }
        levels[category] = level
    }

    /// Whether a message passes.
    package func passes(_ mark: LogMark) -> Bool { mark.level >= level(of: mark.category) }

    /// The lowest level that passes of a category.
    package func level(of category: LogCategory) -> LogLevel { levels[category] ?? general }
}
