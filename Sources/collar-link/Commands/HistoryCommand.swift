import CollarBridge
import CollarJournal
import CollarReceiver
import CollarWire
import Glibc

/// `collar-link history`: prints what is stored.
enum HistoryCommand {
    static let spec = CommandSpec(
        name: "history",
        synopsis: "collar-link history [--collar ID] [--since ID|TIME] [--events LIST] [--verify [--repair]] [-F json|text] [--state-dir DIR]",
        summary: """
            Prints the stored positions, one collar after the other, each in the order in which they were received:
            the fix lines that 'run' writes, and gap lines of what is lost or was delivered elsewhere. --events selects
            other kinds: 'message' is what the collars' applications said. Nothing is written to the state directory (but
            by --repair), and 'run' may go on meanwhile.
            """,
        options: [
            OptionSpec("--collar", value: "ID", is: "only this collar: 16 hexadecimal digits"),
            OptionSpec("--since", value: "ID|TIME", is: "what was stored after this fix or message, or received since"),
            OptionSpec(
                "--events", value: "LIST", is: "kinds of lines, with commas: fix, message, gap; or all (fix,gap)"),
            OptionSpec("--verify", is: "read everything, and tell what is there, lost, missing and damaged"),
            OptionSpec("--repair", is: "with --verify: have the collars asked again for what is damaged; 'run' must not run"),
            OptionSpec("-F", "--format", value: "json|text", is: "JSON lines (the default), or lines for people"),
            OptionSpec("--flavour", value: "full|compact", is: "shape of the fix lines (full)"),
            OptionSpec("--source-as", value: "watchOS|iOS", is: "give this as every fix's source"),
            OptionSpec(
                "--state-dir", value: "DIR", is: "where journals are kept (the user's own place, else /var/lib/collar-link)"),
        ],
        maximumOperandCount: 0,
        notes: """
            --since takes \(SinceArgument.forms). Times are those of the
            host's clock at reception; a date is its midnight, UTC.
            exit codes: 0 clean, 64 usage, 65 damaged (--verify), 66 nothing is stored there, 74 I/O, 75 in use (--repair),
            77 permission, 78 configuration
            """)

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
        let format = try arguments.formatOptions()
        let kinds = try arguments.lineKinds(of: [.fix, .message, .gap]) ?? [.fix, .gap]
        var printer = HistoryPrinter(format, kinds)
        var since: SinceArgument?
        if let text = arguments.value("--since") {
            since = try SinceArgument(text, nowUnixMilliseconds: WallClock.unixMilliseconds)
        }
        if arguments.has("--repair"), !arguments.has("--verify") {
            throw CommandFailure(.usage, "--repair goes with --verify")
        }
        if arguments.has("--verify") {
            for option in ["--since", "--events"] where arguments.has(option) {
                throw CommandFailure(.usage, "--verify reads everything: leave out \(option)")
            }
            return try HistoryVerification(try StoredJournals(arguments), format.format).run(repairs: arguments.has("--repair"))
        }
        let journals = try StoredJournals(arguments)
        var collars = journals.collars
        if case .fix(let fix) = since {
            // Only the journal of this fix's collar has a position after the fix.
            collars = collars.filter { $0 == fix.deviceID }
            guard !collars.isEmpty else { throw HistoryCommand.unknown(fix) }
        }
        let code = try journals.forEach(of: collars) { (deviceID) throws(CommandFailure) in
            try printer.print(try journals.reader(of: deviceID), since: since)
        }
        try printer.finish()
        return code
    }

    /// The failure for a fix that is not stored.
    static func unknown(_ fix: FixIdentifier) -> CommandFailure {
        CommandFailure(
            .noInput, "fix \(fix.sequence) of collar \(MessageDescription.hexadecimal(fix.deviceID)) is not stored here",
            remedy: "give the id of another fix line, or a time: --since 2h")
    }
}

/// The journals that a command reads.
struct StoredJournals {
    let stateDirectory: String
    /// The wanted collars that have a journal, in the order of their ids; at least one.
    let collars: [UInt64]

    /// - Throws: a failure with a remedy, if no wanted collar has a journal.
    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        let directory = try arguments.readableStateDirectory()
        let wanted = try arguments.deviceID()
        stateDirectory = directory
        let known = try CommandFailure.wrapping(
            try JournalDirectory.knownCollars(stateDirectory: directory, fileSystem: POSIXFileSystem()))
        guard !known.isEmpty else {
            throw CommandFailure(
                .noInput, "nothing is stored in \(directory)",
                remedy: "name the directory that 'collar-link run' uses: --state-dir DIR")
        }
        guard let wanted else {
            collars = known
            return
        }
        guard known.contains(wanted) else {
            let names = known.prefix(8).map { MessageDescription.hexadecimal($0) }.joined(separator: ", ") + (known.count > 8 ? ", …" : "")
            throw CommandFailure(
                .noInput, "nothing of collar \(MessageDescription.hexadecimal(wanted)) is stored in \(directory)", remedy: "stored is: \(names)")
        }
        collars = [wanted]
    }

    /// Runs `body` for each of the collars, until it returns false. If the journal of one of several collars cannot be read, that
    /// is said, and the others follow.
    /// - Returns: the exit code of the first failure; ``ExitCode/clean`` if there was none.
    func forEach(
        of collars: [UInt64], _ body: (UInt64) throws(CommandFailure) -> Bool
    ) throws(CommandFailure) -> ExitCode {
        var code = ExitCode.clean
        for deviceID in collars {
            do throws(CommandFailure) {
                guard try body(deviceID) else { break }
            } catch {
                guard collars.count > 1, !error.isOutputLost else { throw error }
                StandardError.say(error.message, remedy: error.remedy)
                if code == .clean { code = error.code }
            }
        }
        return code
    }

    func reader(of deviceID: UInt64) throws(CommandFailure) -> JournalReader {
        try CommandFailure.wrapping(try JournalReader(stateDirectory: stateDirectory, deviceID: deviceID))
    }
}

extension CommandFailure {
    /// Runs `body`; a failure gets the exit code and remedy for a command that reads journals.
    static func wrapping<Result>(_ body: @autoclosure () throws(JournalError) -> Result) throws(CommandFailure) -> Result {
        do throws(JournalError) { return try body() } catch {
            guard case .file(let failure) = error else { throw CommandFailure(error.message) }
            switch failure.errorNumber {
            case EACCES, EPERM:
                throw CommandFailure(
                    .noPermission, failure.message.reason, remedy: "read it as the user who runs 'collar-link run'")
            case ENOENT, ENOTDIR: throw CommandFailure(.noInput, failure.message.reason, remedy: failure.message.remedy)
            default: throw CommandFailure(.inputOutput, failure.message.reason, remedy: failure.message.remedy)
            }
        }
    }
}
