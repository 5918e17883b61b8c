import CheckedNumbers
import CollarErrors
import CollarFormats

struct OptionSpec: Sendable {
    /// Its names, as typed: `-p`, `--port`.
    let names: [String]
    /// The name of its value in the help; nil for an option without a value.
    let valueName: String?
    let summary: String
    let isRepeatable: Bool
    /// The words that its value may be, where ``valueName`` does not list them; for completions.
    let words: [String]

    init(_ names: String..., value: String? = nil, words: [String] = [], repeatable: Bool = false, is summary: String) {
        self.names = names
        valueName = value
        self.words = words
        isRepeatable = repeatable
        self.summary = summary
    }

    /// The name by which the option's value is looked up: the longest of its names.
    var key: String { names.max { $0.utf8.count < $1.utf8.count } ?? "" }

    /// The option with a value, as it is typed.
    func words(_ value: String) -> [String] { value.hasPrefix("-") && value != "-" ? ["\(key)=\(value)"] : [key, value] }
}

/// A command: its name, its options and operands, and the text of its help.
struct CommandSpec: Sendable {
    let name: String
    /// Its purpose in a few words, for the list of commands.
    let title: String
    /// How it is called: a line for each form.
    let synopsis: String
    let summary: String
    let options: [OptionSpec]
    var maximumOperandCount = 0
    let notes: String

    /// The text of `--help`, at most 80 columns wide.
    func help(_ style: TerminalStyle) -> String {
        let forms = synopsis.split(separator: "\n").map { HelpText.wrapped($0, indent: 7, hanging: 11) }
        var text = style.painted("usage:", as: .heading) + " " + forms.joined(separator: "\n       ") + "\n"
        text += "\n" + HelpText.paragraphs(summary, style) + "\n"
        text += style.painted("options:", as: .heading) + "\n"
        text += (options + CommandSpec.commonOptions).map(\.help).joined()
        if !notes.isEmpty { text += "\n" + HelpText.paragraphs(notes, style) }
        return text
    }

    static let commonOptions = [OptionSpec("-h", "--help", is: "print this help and exit")]
}

extension OptionSpec {
    /// The column in which the description begins.
    private static let column = 24

    /// The line of the option in the help, and the further lines of its description.
    fileprivate var help: String {
        let label = "  " + names.joined(separator: ", ") + (valueName.map { " \($0)" } ?? "")
        let description = HelpText.wrapped(summary, indent: OptionSpec.column, hanging: OptionSpec.column)
        guard label.count <= OptionSpec.column - 2 else {
            return label + "\n" + String(repeating: " ", count: OptionSpec.column) + description + "\n"
        }
        return label + String(repeating: " ", count: OptionSpec.column - label.count) + description + "\n"
    }
}

/// Text that fits a terminal of 80 columns.
enum HelpText {
    /// The widest line, in characters.
    static let width = 80

    /// A part of a text.
    enum Block: Equatable {
        /// Words before a colon.
        case heading(String)
        case paragraph(String)
        /// A table, commands, or empty lines between other parts.
        case literal([String])
    }

    /// The parts of a text. Lines that begin with a space are literal; the others are joined to paragraphs, which empty lines separate.
    /// A heading is a line of at most three words that ends with a colon, at the start of a paragraph.
    static func blocks(_ text: String) -> [Block] {
        var blocks: [Block] = []
        var isOpen = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if line.isEmpty || line.hasPrefix(" ") {
                isOpen = false
                if case .literal(let lines) = blocks.last {
                    blocks[blocks.count - 1] = .literal(lines + [line])
                } else {
                    blocks.append(.literal([line]))
                }
            } else if isOpen, case .paragraph(let words) = blocks.last {
                blocks[blocks.count - 1] = .paragraph(words + " " + line)
            } else if line.hasSuffix(":"), line.split(separator: " ").count <= 3 {
                blocks.append(.heading(String(line.dropLast())))
            } else {
                blocks.append(.paragraph(line))
                isOpen = true
            }
        }
        return blocks
    }

    /// Breaks the paragraphs of a text into lines, and paints its headings.
    static func paragraphs(_ text: String, _ style: TerminalStyle) -> String {
        blocks(text).map { block in
            switch block {
            case .heading(let words): style.painted(words + ":", as: .heading)
            case .paragraph(let words): wrapped(words, indent: 0, hanging: 0)
            case .literal(let lines): lines.joined(separator: "\n")
            }
        }.joined(separator: "\n") + "\n"
    }

    /// Breaks a text between words.
    /// - Parameter indent: the column in which its first line begins.
    static func wrapped(_ text: some StringProtocol, indent: Int, hanging: Int) -> String {
        TextFlow.joined(text.split(separator: " "), separator: " ", column: indent, hanging: hanging, width: width)
    }
}

extension String {
    /// Whether the string contains U+FFFD, the character that replaces invalid bytes when a string is made from UTF-8.
    var isRepaired: Bool { unicodeScalars.contains("\u{FFFD}") }
}

/// The options and operands that were typed after a command.
struct ParsedArguments {
    private(set) var values: [String: [String]] = [:]
    private(set) var operands: [String] = []
    let command: CommandSpec
    /// How many operands precede `--`; nil without that.
    private(set) var operandCountBeforeDashes: Int?

    /// Sorts words into options and operands.
    init(_ words: some Sequence<String>, for command: CommandSpec) throws(CommandFailure) {
        self.command = command
        let options = command.options + CommandSpec.commonOptions
        var rest = Array(words)[...]
        var onlyOperands = false
        // A path with replaced bytes would lead to another file than the one that the user named.
        if let word = rest.first(where: \.isRepaired) {
            throw CommandFailure(
                .usage, "'\(word)' is not UTF-8.",
                remedy: "Type it in UTF-8. A file with such a name needs another name, or a symbolic link to it.")
        }
        while let word = rest.popFirst() {
            // Southern latitudes begin with a hyphen, and no option has a digit after it.
            if onlyOperands || word == "-" || !word.hasPrefix("-") || word.dropFirst().first?.isNumber == true {
                guard operands.count < command.maximumOperandCount else {
                    throw Self.failure("`\(command.name)` takes no further operand: '\(word)'.", command)
                }
                operands.append(word)
                continue
            }
            if word == "--" {
                onlyOperands = true
                operandCountBeforeDashes = operands.count
                continue
            }
            let (name, attached) = Self.split(word)
            guard let option = options.first(where: { $0.names.contains(name) }) else {
                let suggestion = Suggestion.text(for: name, among: options.map(\.key), quote: "`")
                throw Self.failure("There is no option '\(name)'." + suggestion, command)
            }
            var value = ""
            if let valueName = option.valueName {
                // If the value was forgotten, the next option must not be taken for it.
                if attached == nil, let next = rest.first, next.hasPrefix("--") || options.contains(where: { $0.names.contains(next) }) {
                    throw CommandFailure(
                        .usage, "`\(name)` needs a value, \(valueName), and '\(next)' is an option.",
                        remedy: "A value that begins with a hyphen is written so: `\(option.key)=VALUE`.")
                }
                guard let given = attached ?? rest.popFirst(), !given.isEmpty else {
                    throw Self.failure("`\(name)` needs a value: `\(name) \(valueName)`.", command)
                }
                value = given
            } else if attached != nil {
                throw Self.failure("`\(name)` takes no value.", command)
            }
            if !option.isRepeatable, option.valueName != nil, values[option.key] != nil {
                throw Self.failure("`\(name)` is given twice.", command)
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

    /// The command as it was typed, except that it reads stdin.
    /// - Parameter key: the option that names its input; nil if that is its operand.
    func readingStdin(insteadOf key: String? = nil) -> ShellCommand {
        var words = ["collar-link", command.name]
        for option in command.options {
            for given in values[option.key] ?? [] {
                words += option.valueName == nil ? [option.key] : option.words(option.key == key ? "-" : given)
            }
        }
        return ShellCommand(words: words)
    }

    func has(_ key: String) -> Bool { values[key] != nil }

    /// The value of an option that is given at most once.
    func value(_ key: String) -> String? { values[key]?.first }

    /// The value of an option, read as an integer; nil if the option is not given.
    func integer(_ key: String, in range: ClosedRange<Int>) throws(CommandFailure) -> Int? {
        guard let text = value(key) else { return nil }
        guard let number = Int(text, in: range) else {
            let bounds =
                range.upperBound == .max
                ? "a whole number from \(range.lowerBound) up"
                : "a whole number from \(range.lowerBound) to \(range.upperBound)"
            throw CommandFailure(.usage, "`\(key)` takes \(bounds), not '\(text)'.")
        }
        return number
    }

    /// The value of an option, read as a number; nil if the option is not given.
    func number(_ key: String, in range: ClosedRange<Double>) throws(CommandFailure) -> Double? {
        guard let text = value(key) else { return nil }
        guard let number = Double(text, in: range) else {
            throw CommandFailure(.usage, "`\(key)` takes a number from \(range.lowerBound) to \(range.upperBound), not '\(text)'.")
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
        return CommandFailure(.usage, "`\(key)` takes \(list), not '\(text)'." + Suggestion.text(for: text, among: words))
    }

    private static func failure(_ message: String, _ command: CommandSpec) -> CommandFailure {
        CommandFailure(.usage, message, remedy: "`collar-link \(command.name) --help` lists what it takes.")
    }
}

/// The options of a command that the commands in its remedies need, too: those that name the receiver, without which such a command would
/// look at another one.
struct RepeatedOptions {
    private let given: [(option: OptionSpec, value: String)]

    init(_ arguments: ParsedArguments? = nil) {
        given = [OptionSpec.stateDirectory, .port].flatMap { option in
            guard let arguments, arguments.command.takes(option) else { return [(option: OptionSpec, value: String)]() }
            return (arguments.values[option.key] ?? []).map { (option, $0) }
        }
    }

    /// A text for a person, in which each command of the tool in backticks has the options that it takes and does not name itself.
    func added(to text: String) -> String {
        guard !given.isEmpty else { return text }
        let pieces = text.split(separator: "`", omittingEmptySubsequences: false)
        return pieces.enumerated().map { index, piece in
            index % 2 == 1 && index < pieces.count - 1 ? added(toCommand: String(piece)) : String(piece)
        }.joined(separator: "`")
    }

    private func added(toCommand text: String) -> String {
        var words = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard words.first == "collar-link", !words.contains("--help") else { return text }
        let name = words.dropFirst().first.flatMap { $0.hasPrefix("-") ? nil : $0 }
        // Where `run` is named, it is the receiver that runs, and no command to type; `receiver` may be for another machine.
        guard name != "run", name != "receiver",
            let spec = CollarLinkTool.groups.flatMap(\.commands).first(where: { $0.spec.name == name ?? "run" })?.spec
        else { return text }
        let missing = given.filter { option, _ in spec.takes(option) && !words.contains(option.key) }
        let end = words.firstIndex { ["--", "|", ">", "&&"].contains($0) } ?? words.count
        words.insert(contentsOf: missing.map { ShellCommand(words: $0.option.words($0.value)).text }, at: end)
        return words.joined(separator: " ")
    }
}

extension CommandSpec {
    /// Whether the command takes an option with the same meaning. The name of its value tells the port of a radio from that of a cable.
    fileprivate func takes(_ option: OptionSpec) -> Bool {
        options.contains { $0.key == option.key && $0.valueName == option.valueName }
    }
}
