import CollarFormats
import CollarErrors
import CollarJournal
import CollarReceiver
import LinuxSystem

enum ReadersCommand: Command {
    static let spec = CommandSpec(
        name: "readers",
        title: "list the named readers and their lag",
        synopsis: """
            collar-link readers [-F text|json] [--state-dir DIR]
            collar-link readers --remove NAME [--state-dir DIR]
            """,
        summary: """
            Lists the named readers of `follow --as` and `deliver`. For each it prints how many entries of its kinds it has not taken,
            how long ago the oldest of them was received, and when the reader was last active.
            """,
        options: [
            OptionSpec("--remove", value: "NAME", is: "forget the position of this reader; stop the reader first"),
            OptionSpec("-F", "--format", value: "text|json", is: "output format; `json` is one line per reader (default text)"),
            .readStateDirectory,
        ],
        notes: """
            `run --keep` deletes nothing that a named reader has not taken. Remove a reader that you no longer need. A new reader of the
            same name starts with the oldest entry.

            A reader whose file cannot be read is named on stderr, and the others are listed.

            examples:
              collar-link readers
              collar-link readers --remove map

            exit codes:
              0   done, also if there are no readers
              64  wrong usage
              65  a journal is damaged
              66  no such reader or state directory
              74  I/O error
              75  the reader is running
              77  no permission
              78  wrong configuration
            """)

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
        let stateDirectory = try arguments.existingStateDirectory()
        let files = ReaderFiles(stateDirectory: stateDirectory)
        if let text = arguments.value("--remove") {
            let name = try ParsedArguments.readerName(text)
            guard try CommandFailure.wrapping(try files.names()).contains(name) else {
                throw CommandFailure(
                    .noInput, "There is no reader '\(text)' in \(stateDirectory).", remedy: "`collar-link readers` lists them.")
            }
            _ = try CommandFailure.wrapping(try files.remove(name))
            return .clean
        }
        let format = try arguments.choice("--format", of: ["json": OutputFormat.json, "text": .text]) ?? .text
        var code = ExitCode.clean
        for (name, state) in try states(files).readable {
            do throws(CommandFailure) {
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

    /// The readers and their states. A file that cannot be read is named on stderr, and is no failure of the command: any member of the
    /// group `collar-link` may have made it.
    static func states(
        _ files: ReaderFiles
    ) throws(CommandFailure) -> (readable: [(ReaderName, ReaderState)], unreadable: [ReaderName]) {
        var found: (readable: [(ReaderName, ReaderState)], unreadable: [ReaderName]) = ([], [])
        for name in try CommandFailure.wrapping(try files.names()) {
            do throws(JournalError) {
                if let state = try files.state(of: name) { found.readable.append((name, state)) }
            } catch {
                StandardError.say(error.message)
                found.unreadable.append(name)
            }
        }
        return found
    }

    static func line(_ name: ReaderName, _ state: ReaderState, _ stateDirectory: String) throws(CommandFailure) -> ReaderLine {
        ReaderLine(
            name: name.text, collars: state.collars?.sorted(), seenUnixMilliseconds: state.seenUnixMilliseconds,
            lag: try CommandFailure.wrapping(try state.lag(stateDirectory: stateDirectory)))
    }

    private static func text(_ line: ReaderLine, _ now: Int64) -> String {
        var text = "\(line.name)  "
        if let lag = line.lag, let oldest = lag.oldestUnixMilliseconds {
            text += "\(counted(lag.entryCount, "entry", "entries")) behind, the oldest received \(durationText(milliseconds: now - oldest)) ago"
        } else {
            text += "has everything"
        }
        text += "  last seen \(durationText(milliseconds: now - line.seenUnixMilliseconds)) ago"
        if let collars = line.collars {
            text += "  collars \(collars.map(\.description).joined(separator: ", "))"
        }
        return text + "\n"
    }
}
