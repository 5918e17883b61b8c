import CollarReceiver

/// An option of a command.
struct OptionSpec: Sendable {
    /// Its names, as typed: `-p`, `--port`.
    let names: [String]
    /// A former name of the option, which is still accepted for older scripts; the help does not list it.
    let formerName: String?
    /// The name of its value in the help; nil for an option without a value.
    let valueName: String?
    /// Its description, in one line.
    let summary: String
    /// Whether the option can be given more than once.
    let isRepeatable: Bool

    init(
        _ names: String..., formerly formerName: String? = nil, value: String? = nil, repeatable: Bool = false,
        is summary: String
    ) {
        self.names = names
        self.formerName = formerName
        valueName = value
        isRepeatable = repeatable
        self.summary = summary
    }

    /// The name by which the option's value is looked up: the longest of its names.
    var key: String { names.max { $0.utf8.count < $1.utf8.count } ?? "" }

    /// Whether a word is one of the option's names or its former name.
    func isNamed(_ word: String) -> Bool { names.contains(word) || formerName == word }
}

/// A command: its name, its options and operands, and the text of its help.
struct CommandSpec: Sendable {
    let name: String
    let synopsis: String
    let summary: String
    let options: [OptionSpec]
    let maximumOperandCount: Int
    let notes: String

    /// The text of `--help`.
    func help(_ style: TerminalStyle) -> String {
        var text = style.painted("usage:", as: .heading) + " \(synopsis)\n\n\(summary)\n\n"
        text += style.painted("options:", as: .heading) + "\n"
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

    /// The options that every command accepts.
    static let commonOptions = [
        OptionSpec("-h", "--help", is: "print this help and exit"),
        OptionSpec("--version", is: "print the version and exit"),
    ]
}

extension String {
    /// Whether the string contains U+FFFD, the character that replaces invalid bytes when a string is made from UTF-8.
    var isRepaired: Bool { unicodeScalars.contains("\u{FFFD}") }
}

/// The options and operands that were typed after a command.
struct ParsedArguments {
    private(set) var values: [String: [String]] = [:]
    private(set) var operands: [String] = []

    /// Sorts words into options and operands.
    /// - Throws: a usage failure that names the wrong word and the help to read.
    init(_ words: some Sequence<String>, for command: CommandSpec) throws(CommandFailure) {
        let options = command.options + CommandSpec.commonOptions
        var rest = Array(words)[...]
        var onlyOperands = false
        // A path with replaced bytes would lead to another file than the one that the user named.
        if let word = rest.first(where: \.isRepaired) {
            throw Self.failure("'\(word)' is not UTF-8: give the file a name that is, or a symbolic link to it", command)
        }
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
            guard let option = options.first(where: { $0.isNamed(name) }) else {
                let suggestion = Suggestion.text(for: name, among: options.map(\.key))
                throw Self.failure("unknown option '\(name)'" + suggestion, command)
            }
            var value = ""
            if option.valueName != nil {
                guard let given = attached ?? rest.popFirst(), !given.isEmpty else {
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

    /// Splits `--name=value` and `-nvalue` into name and value.
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

    /// The value of an option, read as an integer; nil if the option is not given.
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

    /// The value of an option, read as a number; nil if the option is not given.
    func number(_ key: String, in range: ClosedRange<Double>) throws(CommandFailure) -> Double? {
        guard let text = value(key) else { return nil }
        guard let number = Double(text), range.contains(number) else {
            throw CommandFailure(
                .usage, "\(key) \(text): a number from \(range.lowerBound) to \(range.upperBound) is wanted")
        }
        return number
    }

    /// The value that belongs to the word given for an option; nil if the option is not given.
    func choice<Value>(_ key: String, of values: KeyValuePairs<String, Value>) throws(CommandFailure) -> Value? {
        guard let text = value(key) else { return nil }
        guard let chosen = values.first(where: { $0.key == text }) else { throw Self.unknownChoice(key, text, values.map(\.key)) }
        return chosen.value
    }

    /// The value whose raw value is the word given for an option; nil if the option is not given.
    func choice<Value: CaseIterable & RawRepresentable<String>>(_ key: String) throws(CommandFailure) -> Value? {
        guard let text = value(key) else { return nil }
        guard let chosen = Value(rawValue: text) else { throw Self.unknownChoice(key, text, Value.allCases.map(\.rawValue)) }
        return chosen
    }

    private static func unknownChoice(_ key: String, _ text: String, _ words: [String]) -> CommandFailure {
        let list = words.dropLast().joined(separator: ", ") + " or \(words[words.count - 1])"
        return CommandFailure(.usage, "\(key) \(text): \(list) is wanted" + Suggestion.text(for: text, among: words))
    }

    private static func failure(_ message: String, _ command: CommandSpec) -> CommandFailure {
        let help = command.name == "run" ? "collar-link --help" : "collar-link \(command.name) --help"
        return CommandFailure(.usage, message, remedy: "'\(help)' lists what it takes")
    }
}
