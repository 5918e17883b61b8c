import CollarFormats
import CollarErrors
import CollarReceiver
import Glibc
import LinuxSystem
import SerialDevices

/// The tool: runs a command, and turns its outcome into an exit code.
@main
enum CollarLinkTool {
    /// The commands, in the order of the list of commands.
    static let commands: [(spec: CommandSpec, run: @Sendable (ParsedArguments) throws(CommandFailure) -> ExitCode)] = [
        (RunCommand.spec, RunCommand.run),
        (StatusCommand.spec, StatusCommand.run),
        (DevicesCommand.spec, DevicesCommand.run),
        (MarkCommand.spec, MarkCommand.run),
        (DoctorCommand.spec, DoctorCommand.run),
        (HistoryCommand.spec, HistoryCommand.run),
        (FollowCommand.spec, FollowCommand.run),
        (DeliverCommand.spec, DeliverCommand.run),
        (ReadersCommand.spec, ReadersCommand.run),
        (MetricsCommand.spec, MetricsCommand.run),
        (SendCommand.spec, SendCommand.run),
        (NameCommand.spec, NameCommand.run),
        (KeyCommand.spec, KeyCommand.run),
        (ReceiverCommand.spec, ReceiverCommand.run),
        (DecodeCommand.spec, DecodeCommand.run),
        (EncodeCommand.spec, EncodeCommand.run),
        (SimulateCommand.spec, SimulateCommand.run),
        (HelpCommand.spec, HelpCommand.run),
        (VersionCommand.spec, VersionCommand.run),
    ]

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
        var chosen = commands[0]
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

    /// The command with a name.
    /// - Throws: a usage failure that names the nearest command; for a path, how to name a port.
    static func command(
        named name: String
    ) throws(CommandFailure) -> (spec: CommandSpec, run: @Sendable (ParsedArguments) throws(CommandFailure) -> ExitCode) {
        if let command = commands.first(where: { $0.spec.name == name }) { return command }
        let isPort = name.hasPrefix("/") || name.hasPrefix(NetworkAddress.scheme)
        throw CommandFailure(
            .usage, "unknown command '\(name)'" + Suggestion.text(for: name, among: commands.map(\.spec.name)),
            remedy: isPort
                ? "To receive from this port: `\(ShellCommand("collar-link", "--port", name).text)`." : "`collar-link help` lists the commands.")
    }
}

/// Text for people. A message for which stderr has no room is dropped, so that the program does not wait for a reader.
enum StandardError {
    // Only the main thread writes.
    private nonisolated(unsafe) static let output = NonblockingOutput(STDERR_FILENO)
    private nonisolated(unsafe) static var droppedCount = 0
    private nonisolated(unsafe) static var isStateShown = false
    /// The options that the commands in remedies repeat. They are set before the first message.
    nonisolated(unsafe) static var repeatedOptions = RepeatedOptions()
    /// The journal, if it reads stderr; else nil.
    private static let journal = JournalSocket()

    /// Writes a message, its details, and what the person can do about it.
    static func say(_ message: String, details: [String] = [], remedy: String? = nil, as mark: LogMark = LogMark()) {
        let remedy = remedy.map { unsafe repeatedOptions.added(to: $0) }
        if let journal {
            let lines = [message] + details + [remedy].compactMap { $0 }
            if journal.send(lines.map(PlainText.line), mark) { return }
            // The journal takes a priority at the start of a line, too.
            return put("<\(mark.level.priority)>", lines.joined(separator: "; "))
        }
        put(TerminalStyle.standardError.painted("collar-link:", as: mark.level.role) + " ", message)
        for detail in details { put("  ", detail) }
        if let remedy { put("collar-link:   ", remedy) }
    }

    /// Writes a notice of a receiver.
    static func say(_ notice: ReceiverNotice) {
        let message = notice.message
        say(message.reason, details: notice.details, remedy: message.remedy, as: notice.mark)
    }

    /// Writes what a format has left out, if that is anything.
    static func say(_ omission: Omission?) {
        guard let message = omission?.message else { return }
        say(message.reason, remedy: message.remedy, as: LogMark(.warning, .collarLocation))
    }

    /// Shows a short state on the last line of the terminal, in the place of the one that is shown.
    /// - Parameter state: the state; nil to clear the line.
    static func show(_ state: String?) {
        guard Terminal.canMoveCursor, unsafe isStateShown || state != nil else { return }
        // To the start of the line, and clear it.
        _ = isTaken("\r\u{1B}[K" + (state ?? ""))
        unsafe isStateShown = state != nil
    }

    private static func put(_ start: String, _ text: String) {
        show(nil)
        if unsafe droppedCount > 0, unsafe isTaken("collar-link: \(droppedCount) lines are missing here: nobody read them\n") {
            unsafe droppedCount = 0
        }
        if unsafe droppedCount > 0 || !isTaken(start + PlainText.line(text) + "\n") { unsafe droppedCount += 1 }
    }

    private static func isTaken(_ line: String) -> Bool { unsafe output.write(Array(line.utf8)[...]) > 0 }

    /// Writes a text for programs, unchanged.
    static func write(_ text: String) {
        finish()
        let bytes = Array(text.utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// Waits until a terminal has accepted the last message, but only for a short time.
    static func finish() { unsafe output.drain() }
}

/// The output of a command.
enum StandardOutput {
    /// Writes a text as a whole; a reader that went away is not an error.
    static func write(_ text: String) throws(CommandFailure) { try write(Array(text.utf8)) }

    /// Writes bytes as a whole; a reader that went away is not an error.
    /// - Returns: false where the reader went away.
    @discardableResult
    static func write(_ all: [UInt8]) throws(CommandFailure) -> Bool {
        var bytes = all[...]
        while !bytes.isEmpty {
            let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                if errno == EPIPE { return false }
                var failure = CommandFailure(.inputOutput, "stdout cannot be written: \(SystemError.text(errno))")
                failure.isOutputLost = true
                throw failure
            }
            bytes.removeFirst(count)
        }
        return true
    }
}
