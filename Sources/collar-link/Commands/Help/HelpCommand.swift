import CBuildInformation
import CollarErrors
import CollarWire
import RadioModems

enum HelpCommand: Command {
    static let spec = CommandSpec(
        name: "help",
        title: "list the commands, or explain one",
        synopsis: "collar-link help [COMMAND]",
        summary: "Lists the commands, or prints the help of one: `collar-link help send` is `collar-link send --help`.",
        options: [],
        maximumOperandCount: 1,
        notes: """
            examples:
              collar-link help
              collar-link help send

            exit codes:
              0   done
              64  no such command
              74  stdout cannot be written
            """)

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
        guard !arguments.has("--help"), let name = arguments.operands.first else {
            try StandardOutput.write(overview(.standardOutput))
            return .clean
        }
        try StandardOutput.write(try CollarLinkTool.command(named: name).spec.help(.standardOutput))
        return .clean
    }

    private static func overview(_ style: TerminalStyle) -> String {
        var text = style.painted("usage:", as: .heading) + " collar-link [COMMAND] [options]\n\n"
        text += HelpText.paragraphs(
            """
            Receives the positions of GPS collars from a radio in a USB port, stores them, acknowledges them, and passes them on to
            people and programs. Without a command it runs: it waits for a radio and receives.
            """, style)
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
