import CollarBridge
import CollarJournal
import CollarReceiver

/// `collar-link readers`: lists the named readers, and removes them.
enum ReadersCommand {
    static let spec = CommandSpec(
        name: "readers",
        title: "list the named readers and how far they lag behind",
        synopsis: "collar-link readers [--remove NAME] [-F json|text] [--state-dir DIR]",
        summary: """
            Lists the named readers of 'follow --as' and 'deliver': what they have not taken yet, since when, and when they began,
            ended or took something last. A reader that is removed holds nothing back from 'run --keep'; under the same name, a
            new one begins at the oldest entry.
            """,
        options: [
            OptionSpec("--remove", value: "NAME", is: "forget the position of this reader; it must not run"),
            OptionSpec("-F", "--format", value: "json|text", is: "a line for people (the default), or JSON, for each reader"),
            OptionSpec(
                "--state-dir", value: "DIR", is: "where journals are kept (the user's own place, else /var/lib/collar-link)"),
        ],
        maximumOperandCount: 0,
        notes: "exit codes: 0 done, 64 usage, 65 a position is damaged, 66 there is no such reader, 75 it runs, 77 permission")

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
        let stateDirectory = try arguments.readableStateDirectory()
        let files = ReaderFiles(stateDirectory: stateDirectory)
        if let text = arguments.value("--remove") {
            let name = try ParsedArguments.readerName(text)
            guard try CommandFailure.wrapping(try files.names()).contains(name) else {
                throw CommandFailure(
                    .noInput, "there is no reader '\(text)' in \(stateDirectory)", remedy: "'collar-link readers' lists them")
            }
            _ = try CommandFailure.wrapping(try files.remove(name))
            return .clean
        }
        let format = try arguments.choice("--format", of: ["json": OutputFormat.json, "text": .text]) ?? .text
        var code = ExitCode.clean
        for name in try CommandFailure.wrapping(try files.names()) {
            do throws(CommandFailure) {
                guard let state = try CommandFailure.wrapping(try files.state(of: name)) else { continue }
                let line = try line(name, state, stateDirectory)
                let now = WallClock.unixMilliseconds
                try StandardOutput.write(format == .json ? line.line(unixMilliseconds: now) : Array(text(line, now).utf8))
            } catch {
                guard !error.isOutputLost else { throw error }
                error.tell(&code)
            }
        }
        return code
    }

    /// The line of a reader, with its lag.
    static func line(
        _ name: ReaderName, _ state: ReaderState, _ stateDirectory: String
    ) throws(CommandFailure) -> ReaderLine {
        ReaderLine(
            name: name.text, collars: state.collars?.sorted(), seenUnixMilliseconds: state.seenUnixMilliseconds,
            lag: try CommandFailure.wrapping(try state.lag(stateDirectory: stateDirectory)))
    }

    private static func text(_ line: ReaderLine, _ now: Int64) -> String {
        var text = "\(line.name)  "
        if let lag = line.lag, let oldest = lag.oldestUnixMilliseconds {
            text += "\(lag.entryCount) entries behind, the oldest received \(durationText(milliseconds: now - oldest)) ago"
        } else {
            text += "has everything"
        }
        text += "  last seen \(durationText(milliseconds: now - line.seenUnixMilliseconds)) ago"
        if let collars = line.collars {
            text += "  collars \(collars.map { MessageDescription.hexadecimal($0) }.joined(separator: ", "))"
        }
        return text + "\n"
    }
}
