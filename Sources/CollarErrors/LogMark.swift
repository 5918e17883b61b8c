/// The subject of a message, for filters. The raw values are the names that a person types.
package enum LogCategory: String, CaseIterable, Sendable {
    /// Positions of collars, from the collar to the disk.
    case collarLocation = "collar-location"
    /// The position of an owner who moves, and its source.
    case ownerLocation = "owner-location"
    /// Ports, radios, links to collars, keys and requests.
    case connectivity
    /// Batteries of collars.
    case power
    /// Latencies, counts and limits.
    case performance
    /// The end of an earlier run that nobody wanted.
    case crash
}

/// How much a message matters. The raw values are the names that a person types.
package enum LogLevel: String, CaseIterable, Comparable, Sendable {
    /// What happens, in every detail.
    case debug
    /// Worth knowing; everything works.
    case info
    /// It should pass by itself; if it does not, the user must do something.
    case warning
    /// Something failed.
    case error
    /// Nothing works until the user does something.
    case fault

    package static func < (left: LogLevel, right: LogLevel) -> Bool { left.priority > right.priority }

    /// The priority of syslog and of the journal, 2 to 7; a lower one matters more.
    package var priority: Int {
        switch self {
        case .debug: 7
        case .info: 6
        case .warning: 4
        case .error: 3
        case .fault: 2
        }
    }

    package init(_ severity: ErrorCode.Severity) {
        switch severity {
        case .info: self = .info
        case .warning: self = .warning
        case .error: self = .error
        case .critical: self = .fault
        }
    }
}

/// The properties of a message by which a filter chooses.
package struct LogMark: Equatable, Sendable {
    package var level: LogLevel
    package var category: LogCategory
    /// The code of the error; nil if the message reports none.
    package var code: ErrorCode?

    package init(_ level: LogLevel = .info, _ category: LogCategory = .connectivity, code: ErrorCode? = nil) {
        self.level = level
        self.category = category
        self.code = code
    }

    /// The mark of a message: the level follows from the severity of its error, the category from the code.
    /// - Parameter category: the category if the message reports no error.
    package init(_ message: UserMessage, otherwise category: LogCategory = .connectivity) {
        self.init(message.code, otherwise: category)
    }

    /// The mark of a message with this code.
    package init(_ code: ErrorCode?, otherwise category: LogCategory) {
        self.init(LogLevel(code?.severity ?? .info), code?.category ?? category, code: code)
    }
}

package struct LogFilter: Equatable, Sendable {
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

    /// Takes the text of `--log`: `LEVEL` for every category, or `CATEGORY:LEVEL` for one of them, which overrides the former.
    package mutating func set(_ text: String) throws(Problem) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let word = parts.last, let level = LogLevel(rawValue: word) else { throw .level(parts.last ?? "") }
        guard parts.count == 2 else { return general = level }
        guard let category = LogCategory(rawValue: parts[0]) else { throw .category(parts[0]) }
        levels[category] = level
    }

    package func passes(_ mark: LogMark) -> Bool { mark.level >= level(of: mark.category) }

    /// The lowest level that passes of a category.
    package func level(of category: LogCategory) -> LogLevel { levels[category] ?? general }
}
