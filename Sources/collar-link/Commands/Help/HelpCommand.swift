import CBuildInformation
import CollarErrors
import CollarWire
import RadioModems

enum HelpCommand: Command {
    static let spec = CommandSpec(
        name: "help",
        title: "list the commands, or explain one",
        synopsis: """
            collar-link help [COMMAND]
            collar-link help --man PAGE | --completions SHELL
            """,
        summary: """
            Lists the commands, or prints the help of one: `collar-link help send` is `collar-link send --help`. The manual and the
            completions of shells, which a package installs, come from the same text.
            """,
        options: [
            OptionSpec(
                "--man", value: "PAGE",
                is: "print the source of a page of the manual: collar-link, collar-link-COMMAND or collar-link.conf; `all` lists them"),
            OptionSpec("--completions", value: "bash|zsh|fish", is: "print the completions for a shell"),
        ],
        maximumOperandCount: 1,
        notes: """
            examples:
              collar-link help
              collar-link help send
              collar-link help --man collar-link-send | man -l -
              source <(collar-link help --completions bash)

            exit codes:
              0   done
              64  no such command or page
              74  stdout cannot be written
            """)

    /// How the tool is called.
    static let synopsis = "collar-link [COMMAND] [options]"
    /// What the tool does.
    static let summary = """
        Receives the positions of GPS collars from a radio in a USB port, stores them, acknowledges them, and passes them on to
        people and programs. Without a command it runs: it waits for a radio and receives.
        """

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
        try StandardOutput.write(try text(for: arguments))
        return .clean
    }

    private static func text(for arguments: ParsedArguments) throws(CommandFailure) -> String {
        if let page = arguments.value("--man") { return try manual(page) }
        if let shell: ShellCompletions = try arguments.choice("--completions") { return shell.script }
        guard !arguments.has("--help"), let name = arguments.operands.first else { return overview(.standardOutput) }
        return try CollarLinkTool.command(named: name).spec.help(.standardOutput)
    }

    private static func manual(_ name: String) throws(CommandFailure) -> String {
        let names = ["collar-link", "collar-link.conf"] + CollarLinkTool.groups.flatMap(\.commands).map { "collar-link-\($0.spec.name)" }
        if name == "all" { return names.map { $0 + "\n" }.joined() }
        guard let page = ManualPage.named(name) else {
            throw CommandFailure(
                .usage, "The manual has no page '\(name)'." + Suggestion.text(for: name, among: names),
                remedy: "`collar-link help --man all` lists the pages.")
        }
        return page.text
    }

    private static func overview(_ style: TerminalStyle) -> String {
        var text = style.painted("usage:", as: .heading) + " \(synopsis)\n\n"
        text += HelpText.paragraphs(summary, style)
        let groups = CollarLinkTool.groups.map { (title: $0.title, commands: $0.commands.map { $0.spec }) }
        let width = (groups.flatMap(\.commands).map(\.name.count).max() ?? 0) + 2
        for group in groups {
            text += "\n" + style.painted("\(group.title):", as: .heading) + "\n"
            for command in group.commands {
                text += "  " + command.name + String(repeating: " ", count: width - command.name.count) + command.title + "\n"
            }
        }
        return text
            + """

            `collar-link help COMMAND` explains a command. No collar at hand? `./Tools/run`
            in a checkout shows a simulated one; so does `collar-link simulate`. The
            environment variable NO_COLOR=1 turns colours off.

            """
    }
}

enum VersionCommand: Command {
    static let version = "0.1.0"
    /// When the version was released, for the manual.
    static let date = "2026-11-30"

    static let spec = CommandSpec(
        name: "version",
        title: "print version, commit, protocol version and dialects",
        synopsis: "collar-link version",
        summary: "Prints the version of the tool, the commit that it was built from, the version of the protocol, and the dialects of sticks.",
        options: [],
        notes: """
            exit codes:
              0   done
              64  wrong usage
              74  stdout cannot be written
            """)

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
        guard !arguments.has("--help") else {
            try StandardOutput.write(spec.help(.standardOutput))
            return .clean
        }
        let commit = unsafe String(cString: collar_link_commit)
        try StandardOutput.write(
            """
            collar-link \(version)\(commit.isEmpty ? "" : " (commit \(commit))")
            protocol version \(Frame.protocolVersion)
            dialects: \(Dialect.allCases.map(\.rawValue).joined(separator: ", "))

            """)
        return .clean
    }
}
