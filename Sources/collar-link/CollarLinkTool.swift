import Glibc
import SerialDevices

/// The tool: picks a command and turns what ends it into an exit code.
@main
enum CollarLinkTool {
    /// Version of the tool.
    static let version = "0.1.0"

    private static let commands: [(spec: CommandSpec, run: @Sendable (ParsedArguments) throws(CommandFailure) -> ExitCode)] = [
        (RunCommand.spec, RunCommand.run),
        (DevicesCommand.spec, DevicesCommand.run),
        (SendCommand.spec, SendCommand.run),
        (SimulateCommand.spec, SimulateCommand.run),
        (EncodeCommand.spec, EncodeCommand.run),
        (DecodeCommand.spec, DecodeCommand.run),
        (HistoryCommand.spec, HistoryCommand.run),
    ]

    static func main() {
        // A reader of stdout that goes away is an ordinary end, found by the failing write.
        signal(SIGPIPE, SIG_IGN)
        do throws(CommandFailure) {
            exit(try dispatch(Array(CommandLine.arguments.dropFirst())).rawValue)
        } catch {
            StandardError.say(error.message, remedy: error.remedy)
            exit(error.code.rawValue)
        }
    }

    private static func dispatch(_ words: [String]) throws(CommandFailure) -> ExitCode {
        var words = words[...]
        var chosen = commands[0]
        if let first = words.first, !first.hasPrefix("-") {
            guard let named = commands.first(where: { $0.spec.name == first }) else {
                let names = commands.map(\.spec.name).joined(separator: ", ")
                throw CommandFailure(.usage, "unknown command '\(first)'", remedy: "commands are: \(names)")
            }
            words.removeFirst()
            chosen = named
        }
        let arguments = try ParsedArguments(words, for: chosen.spec)
        if arguments.has("--help") {
            try StandardOutput.write(chosen.spec.help)
            return .clean
        }
        if arguments.has("--version") {
            try StandardOutput.write("collar-link \(version)\n")
            return .clean
        }
        return try chosen.run(arguments)
    }
}

/// Text for people.
enum StandardError {
    /// Writes one message, and what the person can do about it.
    static func say(_ message: String, remedy: String? = nil) {
        var text = "collar-link: \(message)\n"
        if let remedy { text += "collar-link:   \(remedy)\n" }
        write(text)
    }

    /// Writes a text as it is.
    static func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

/// What a command gives as its result.
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
                throw CommandFailure(.inputOutput, "stdout cannot be written: \(SystemError.text(errno))")
            }
            bytes.removeFirst(count)
        }
        return true
    }
}
