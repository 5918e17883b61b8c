import CollarErrors
import Glibc
import LinuxSystem

protocol Command {
    static var spec: CommandSpec { get }

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode
}

/// The tool: runs a command, and turns its outcome into an exit code.
@main
enum CollarLinkTool {
    /// The commands, in the groups and the order of the list of commands.
    static var groups: [(title: String, commands: [any Command.Type])] {
        [
            ("receive", [RunCommand.self, StatusCommand.self, DevicesCommand.self, MarkCommand.self, DoctorCommand.self]),
            ("read what was received", [
                HistoryCommand.self, FollowCommand.self, DeliverCommand.self, ReadersCommand.self, MetricsCommand.self,
            ]),
            ("collars", [SendCommand.self, NameCommand.self, PlaceCommand.self, KeyCommand.self, ReceiverCommand.self, CollarCommand.self]),
            ("files and tests", [DecodeCommand.self, EncodeCommand.self, SimulateCommand.self]),
            ("about", [HelpCommand.self, VersionCommand.self]),
        ]
    }

    static func main() {
        // If one of these descriptors were closed, the next file to be opened would get its number, and the text for people
        // or programs would be written to that file.
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            _ = unsafe open("/dev/null", O_RDWR)
        }
        // Without the signal, a write beyond the file-size limit fails with an error, which is reported.
        signal(SIGXFSZ, SIG_IGN)
        // Without the signal, a write fails if the reader of stdout has gone away, and the program ends normally.
        signal(SIGPIPE, SIG_IGN)
        var code = ExitCode.clean
        do throws(CommandFailure) { code = try dispatch(Array(CommandLine.arguments.dropFirst())) } catch {
            StandardError.say(error.message, remedy: error.remedy, as: LogMark(.error, .connectivity))
            code = error.code
        }
        StandardError.finish()
        exit(code.rawValue)
    }

    private static func dispatch(_ words: [String]) throws(CommandFailure) -> ExitCode {
        var words = words[...]
        var chosen: any Command.Type = RunCommand.self
        switch words.first {
        // Without a command, these are about the whole tool.
        case "-h", "--help": return try HelpCommand.run(try ParsedArguments(words.dropFirst(), for: HelpCommand.spec))
        case "-V", "--version": return try VersionCommand.run(try ParsedArguments(words.dropFirst(), for: VersionCommand.spec))
        case let first? where !first.hasPrefix("-"):
            chosen = try command(named: first)
            words.removeFirst()
        default: break
        }
        let arguments = try ParsedArguments(words, for: chosen.spec)
        unsafe StandardError.repeatedOptions = RepeatedOptions(arguments)
        if arguments.has("--help") {
            try StandardOutput.write(chosen.spec.help(.standardOutput))
            return .clean
        }
        return try chosen.run(arguments)
    }

    static func command(named name: String) throws(CommandFailure) -> any Command.Type {
        let commands = groups.flatMap(\.commands)
        if let command = commands.first(where: { $0.spec.name == name }) { return command }
        let isPort = name.hasPrefix("/") || name.hasPrefix(NetworkAddress.scheme)
        throw CommandFailure(
            .usage, "There is no command '\(name)'." + Suggestion.text(for: name, among: commands.map { $0.spec.name }, quote: "`"),
            remedy: isPort
                ? "To receive from this port: `\(ShellCommand("collar-link", "--port", name).text)`." : "`collar-link help` lists the commands.")
    }
}

/// The failure that ends a command: a message for a person, and a code for a script.
struct CommandFailure: Error {
    var code: ExitCode
    var message: String
    var remedy: String?
    /// Whether stdout cannot be written, so that nothing more can be printed.
    var isOutputLost = false

    /// Creates the failure for a message; the exit code follows from the message's error code.
    init(_ message: UserMessage) { self.init(message.code?.exitCode ?? .software, message) }

    init(_ code: ExitCode, _ message: UserMessage) { self.init(code, message.reason, remedy: message.remedy) }

    init(_ code: ExitCode, _ message: String, remedy: String? = nil) {
        self.code = code
        self.message = message
        self.remedy = remedy
    }

    /// The failure of two options that exclude each other.
    /// - Parameter remedy: which of them to leave out.
    static func excluding(_ option: String, _ other: String, remedy: String) -> CommandFailure {
        CommandFailure(.usage, "`\(option)` and `\(other)` exclude each other.", remedy: remedy)
    }

    /// Says the failure where a command goes on after it, and keeps the exit code of the first failure.
    func tell(_ code: inout ExitCode) {
        StandardError.say(message, remedy: remedy)
        if code == .clean { code = self.code }
    }
}
