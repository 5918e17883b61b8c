import CollarErrors
import CollarReceiver

/// The options of a command that the commands in its remedies need, too: those that name the receiver, without which such a command would
/// look at another one.
struct RepeatedOptions {
    private let given: [(option: OptionSpec, value: String)]

    /// The options in the arguments of a command.
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
            let spec = CollarLinkTool.commands.first(where: { $0.spec.name == name ?? "run" })?.spec
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
