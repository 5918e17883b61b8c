/// An option of a command.
struct OptionSpec: Sendable {
    /// Its names, as typed: `-p`, `--port`.
    let names: [String]
    /// What its value is called in the help; nil for an option without one.
    let valueName: String?
    /// One line about it.
    let summary: String
    /// Whether it may be given more than once.
    let isRepeatable: Bool

    init(_ names: String..., value: String? = nil, repeatable: Bool = false, is summary: String) {
        self.names = names
        valueName = value
        isRepeatable = repeatable
        self.summary = summary
    }

    /// The name under which its value is looked up: the longest.
    var key: String { names.max { $0.utf8.count < $1.utf8.count } ?? "" }
}

/// A command: what it is called, what it takes, what its help says.
struct CommandSpec: Sendable {
    let name: String
    let synopsis: String
    let summary: String
    let options: [OptionSpec]
    let maximumOperandCount: Int
    let notes: String

    /// The text of `--help`.
    var help: String {
        var text = "usage: \(synopsis)\n\n\(summary)\n\noptions:\n"
        let labels = (options + CommandSpec.commonOptions).map { option in
            (option.names.joined(separator: ", ") + (option.valueName.map { " \($0)" } ?? ""), option.summary)
        }
        let width = (labels.map { $0.0.count }.max() ?? 0) + 2
        for (label, summary) in labels {
            text += "  " + label + String(repeating: " ", count: width - label.count) + summary + "\n"
        }
        if !notes.isEmpty { text += "\n" + notes + "\n" }
        return text
    }

    /// Options that every command knows.
    static let commonOptions = [
        OptionSpec("-h", "--help", is: "print this help and exit"),
        OptionSpec("--version", is: "print the version and exit"),
    ]
}

/// What was typed behind a command.
struct ParsedArguments {
    private(set) var values: [String: [String]] = [:]
    private(set) var operands: [String] = []

    /// Sorts words into options and operands.
    /// - Throws: a usage failure that names the word and where help is.
    init(_ words: some Sequence<String>, for command: CommandSpec) throws(CommandFailure) {
        let options = command.options + CommandSpec.commonOptions
        var rest = Array(words)[...]
        var onlyOperands = false
        while let word = rest.popFirst() {
            if onlyOperands || word == "-" || !word.hasPrefix("-") {
                guard operands.count < command.maximumOperandCount else {
                    throw Self.failure("'\(word)': \(command.name) takes no further operand", command)
                }
                operands.append(word)
                continue
            }
            if word == "--" {
                onlyOperands = true
                continue
            }
            let (name, attached) = Self.split(word)
            guard let option = options.first(where: { $0.names.contains(name) }) else {
                throw Self.failure("unknown option '\(name)'", command)
            }
            var value = ""
            if option.valueName != nil {
                guard let given = attached ?? rest.popFirst() else {
                    throw Self.failure("'\(name)' wants a value: \(name) \(option.valueName ?? "")", command)
                }
                value = given
            } else if attached != nil {
                throw Self.failure("'\(name)' takes no value", command)
            }
            if !option.isRepeatable, option.valueName != nil, values[option.key] != nil {
                throw Self.failure("'\(name)' is given twice", command)
            }
            values[option.key, default: []].append(value)
        }
    }

    /// `--name=value` and `-nvalue` come apart.
    private static func split(_ word: String) -> (name: String, value: String?) {
        if word.hasPrefix("--") {
            guard let equals = word.firstIndex(of: "=") else { return (word, nil) }
            return (String(word[..<equals]), String(word[word.index(after: equals)...]))
        }
        guard word.count > 2 else { return (word, nil) }
        return (String(word.prefix(2)), String(word.dropFirst(2)))
    }

    /// Whether an option was given.
    func has(_ key: String) -> Bool { values[key] != nil }

    /// The value of an option that is given at most once.
    func value(_ key: String) -> String? { values[key]?.first }

    /// An integer option.
    func integer(_ key: String, in range: ClosedRange<Int>) throws(CommandFailure) -> Int? {
        guard let text = value(key) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            let bounds =
                range.upperBound == .max
                ? "a whole number from \(range.lowerBound) up"
                : "a whole number from \(range.lowerBound) to \(range.upperBound)"
            throw CommandFailure(.usage, "\(key) \(text): \(bounds) is wanted")
        }
        return number
    }

    /// A number option.
    func number(_ key: String, in range: ClosedRange<Double>) throws(CommandFailure) -> Double? {
        guard let text = value(key) else { return nil }
        guard let number = Double(text), range.contains(number) else {
            throw CommandFailure(
                .usage, "\(key) \(text): a number from \(range.lowerBound) to \(range.upperBound) is wanted")
        }
        return number
    }

    /// An option whose value is one of some words.
    func choice<Value>(_ key: String, of values: KeyValuePairs<String, Value>) throws(CommandFailure) -> Value? {
        guard let text = value(key) else { return nil }
        guard let chosen = values.first(where: { $0.key == text }) else {
            let words = values.map(\.key)
            let list = words.dropLast().joined(separator: ", ") + " or \(words[words.count - 1])"
            throw CommandFailure(.usage, "\(key) \(text): \(list) is wanted")
        }
        return chosen.value
    }

    private static func failure(_ message: String, _ command: CommandSpec) -> CommandFailure {
        let help = command.name == "run" ? "collar-link --help" : "collar-link \(command.name) --help"
        return CommandFailure(.usage, message, remedy: "'\(help)' lists what it takes")
    }
}
