import CollarBridge
import CollarJournal
import CollarReceiver
import Glibc
import CollarWire

/// `collar-link history`: what is stored.
enum HistoryCommand {
    static let spec = CommandSpec(
        name: "history",
        synopsis: "collar-link history [--collar ID] [--since ID|TIME] [--verify [--repair]] [-F json|text] [--state-dir DIR]",
        summary: """
            Prints the stored positions, one collar after the other, each in the order in which they were received:
            the lines that 'run' writes, and gap lines of what is lost or was delivered elsewhere. Nothing is written to
            the state directory (but by --repair), and 'run' may go on meanwhile.
            """,
        options: [
            OptionSpec("--collar", value: "ID", is: "only this collar: 16 hexadecimal digits"),
            OptionSpec("--since", value: "ID|TIME", is: "what was stored behind this fix, or received since"),
            OptionSpec("--verify", is: "read everything, and tell what is there, lost, missing and damaged"),
            OptionSpec("--repair", is: "with --verify: have the collars asked again for what is damaged; 'run' must not run"),
            OptionSpec("-F", "--format", value: "json|text", is: "JSON lines (the default), or lines for people"),
            OptionSpec("--flavour", value: "full|compact", is: "shape of the fix lines (full)"),
            OptionSpec("--source-as", value: "watchOS|iOS", is: "give this as every fix's source"),
            OptionSpec("--state-dir", value: "DIR", is: "where journals are kept ($XDG_STATE_HOME/collar-link)"),
        ],
        maximumOperandCount: 0,
        notes: """
            --since takes \(SinceArgument.forms). Times are those of the
            host's clock at reception; a date is its midnight, UTC.
            exit codes: 0 clean, 64 usage, 65 damaged (--verify), 66 nothing is stored there, 74 I/O, 75 in use (--repair),
            77 permission, 78 configuration
            """)

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
        let format = try arguments.format()
        var printer = HistoryPrinter(format, flavour: try arguments.flavour(), sourceAs: try arguments.sourceAs())
        var since: SinceArgument?
        if let text = arguments.value("--since") {
            since = try SinceArgument(text, nowUnixMilliseconds: WallClock.unixMilliseconds)
        }
        if arguments.has("--repair"), !arguments.has("--verify") {
            throw CommandFailure(.usage, "--repair goes with --verify")
        }
        if arguments.has("--verify") {
            guard since == nil else { throw CommandFailure(.usage, "--verify reads everything: leave out --since") }
            return try HistoryVerification(try StoredJournals(arguments), format).run(repairs: arguments.has("--repair"))
        }
        let journals = try StoredJournals(arguments)
        var collars = journals.collars
        if case .fix(let fix) = since {
            // No other collar has fixes behind it.
            collars = collars.filter { $0 == fix.deviceID }
            guard !collars.isEmpty else { throw HistoryCommand.unknown(fix) }
        }
        for deviceID in collars {
            let reader = try journals.reader(of: deviceID)
            guard try printer.print(reader, since: since) else { return .clean }
        }
        try printer.flush()
        return .clean
    }

    /// What is said where a fix is not stored.
    static func unknown(_ fix: FixIdentifier) -> CommandFailure {
        CommandFailure(
            .noInput, "fix \(fix.sequence) of collar \(MessageText.hexadecimal(fix.deviceID)) is not stored here",
            remedy: "give the id of another fix line, or a time: --since 2h")
    }
}

/// The journals that a command reads.
struct StoredJournals {
    let stateDirectory: String
    /// Those that are wanted and there, in the order of their ids; at least one.
    let collars: [UInt64]

    /// - Throws: where there are none, with what to do.
    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        let directory = try arguments.stateDirectory()
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
            let names = known.prefix(8).map { MessageText.hexadecimal($0) }.joined(separator: ", ") + (known.count > 8 ? ", …" : "")
            throw CommandFailure(
                .noInput, "nothing of collar \(MessageText.hexadecimal(wanted)) is stored in \(directory)", remedy: "stored is: \(names)")
        }
        collars = [wanted]
    }

    func reader(of deviceID: UInt64) throws(CommandFailure) -> JournalReader {
        try CommandFailure.wrapping(try JournalReader(stateDirectory: stateDirectory, deviceID: deviceID))
    }
}

extension CommandFailure {
    /// Reads from a journal; what fails has an exit code and a remedy for a reader.
    static func wrapping<Result>(_ body: @autoclosure () throws(JournalError) -> Result) throws(CommandFailure) -> Result {
        do throws(JournalError) { return try body() } catch {
            guard case .file(let failure) = error else { throw CommandFailure(error) }
            switch failure.errorNumber {
            case EACCES, EPERM:
                throw CommandFailure(
                    .noPermission, failure.description, remedy: "read it as the user who runs 'collar-link run'")
            case ENOENT, ENOTDIR: throw CommandFailure(.noInput, failure.description, remedy: failure.remedy)
            default: throw CommandFailure(.inputOutput, failure.description, remedy: failure.remedy)
            }
        }
    }
}
