import CollarFormats
import CollarErrors
import CollarJournal
import CollarConfiguration
import CollarWire
import Glibc

enum HistoryCommand: Command {
    static let spec = CommandSpec(
        name: "history",
        title: "print stored positions, in any format",
        synopsis: """
            collar-link history [options]
            collar-link history --by day [-F json|text] [options]
            collar-link history --verify [--repair] [-F json|text] [options]
            """,
        summary: """
            Prints the stored positions, one collar after the other, each in the order of reception. The default is the fix lines of
            `run`, and gap lines for fixes that are lost or were delivered to another receiver.

            `history` only reads, except with `--repair`. It works while `run` is running.
            """,
        options: [
            .collarKinds,
            OptionSpec("--verify", is: "read everything, and report for each log what is stored, lost, elsewhere, missing or damaged"),
            OptionSpec("--until", value: "TIME", is: "end before this time of reception"),
            OptionSpec("--last", value: "N", is: "only the newest N entries of each collar, in the order of their sequences"),
            OptionSpec("--by", value: "day", is: "sum by day, with days of local time or, with `--utc`, of UTC"),
            OptionSpec("--exact", is: "print the positions in private places, too"),
            OptionSpec("--repair", is: "with `--verify`: mark damaged fixes, so that `run` requests them again; stop `run` first"),
        ] + ParsedArguments.readingOptions,
        notes: """
            formats:
            \(formatList())

            \(formatNotes)

            GPX contains accuracy, speed, course and battery as extensions. NMEA does not name the collar.

            values of --since:
            \(SinceArgument.table)

            days:
            `--by day` sums the fixes of each collar by the day on which they were made: how many, how many of them were received over a
            minute later, missing and lost ones, the distance without the noise of positions, the greatest distance from the place `home`,
            the time at each place, and the battery. LINES.md says how they are computed.

            Times are times of reception, by the clock of this machine. After an ID, `history` prints only the collar of that fix.

            storage:
            Everything that `run` has acknowledged is on disk, and `history` prints it until `run --keep` deletes it. If stdout is a
            file or a pipe, `history` shows its progress on the terminal.

            A running `run` requests damaged fixes again by itself when it finds them. A collar can resend a fix only while its memory still holds it.

            examples:
              collar-link history --since 3d -F text
              collar-link history --since 7d -F gpx > week.gpx
              collar-link history --collar Athena --events message
              collar-link history --last 1 -F text
              collar-link history --by day --since 1w -F text
              collar-link history --verify

            exit codes:
              0   done
              64  wrong usage
              65  a journal is damaged
              66  nothing is stored, or not this fix or collar
              74  I/O error
              75  `--repair`: the state directory is in use
              77  no permission
              78  wrong configuration
            """)

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
        var format = try arguments.formatOptions()
        let kinds = try arguments.lineKinds(of: [.fix, .message, .gap, .alert]) ?? format.usualKinds(in: [.fix, .gap])
        let last = try arguments.integer("--last", in: 1...1_000_000)
        let isSorted = try arguments.isSorted(unlessGiven: format.format.isPath || last != nil || kinds.contains(.alert))
        let since = try arguments.since() ?? .all
        let until = try arguments.receptionTime("--until") ?? .max
        let isByDay = try arguments.choice("--by", of: ["day": true]) ?? false
        if isByDay { try check(arguments, format) }
        if last != nil, !isSorted {
            throw CommandFailure.excluding("--last", "--sort", remedy: "Leave out `--sort`: `--last` sorts by sequence.")
        }
        try arguments.checkAlerts(kinds, format.format, isSorted: isSorted)
        if last != nil, kinds.contains(.alert) {
            throw CommandFailure.excluding("--last", "--events alert", remedy: "Leave out `--last`, and give `--since`.")
        }
        if arguments.has("--repair"), !arguments.has("--verify") { throw CommandFailure(.usage, "`--repair` goes with `--verify`.") }
        if arguments.has("--verify") {
            for option in ["--since", "--until", "--last", "--by", "--events", "--sort"] where arguments.has(option) {
                throw CommandFailure.excluding(
                    "--verify", option, remedy: "Leave out `\(option)`, because `--verify` reads everything, or `--verify` to print lines.")
            }
            guard format.format.hasEvents else {
                throw CommandFailure(.usage, "`--verify` reports as json or text, not as \(format.format.rawValue).")
            }
            return try HistoryVerification(journals: try StoredJournals(arguments), format: format.format).run(repairs: arguments.has("--repair"))
        }
        let journals = try StoredJournals(arguments)
        format.annotations = journals.annotations
        format.showsExactPositions = arguments.has("--exact")
        if isByDay { return try HistoryDays(journals: journals, format: format, start: since, until: until).run() }
        var printer = HistoryPrinter(format, kinds, journals.selection, until: until)
        var collars = journals.collars
        if case .after(let fix) = since {
            // Only the journal of this fix's collar has a position after the fix.
            collars = collars.filter { $0 == fix.deviceID }
            guard !collars.isEmpty else { throw HistoryCommand.unknown(fix) }
        }
        var progress = ProgressLine { collars.compactMap { try? journals.reader(of: $0) } }
        defer { StandardError.show(nil) }
        let code = try journals.forEach(of: collars) { (deviceID) throws(CommandFailure) in
            let reader = try journals.reader(of: deviceID)
            progress.begin(reader)
            return try isSorted
                ? printer.printSorted(reader, since: since, last: last, &progress) : printer.print(reader, since: since, &progress)
        }
        try printer.finish()
        return code
    }

    private static func check(_ arguments: ParsedArguments, _ format: FormatOptions) throws(CommandFailure) {
        for option in ["--events", "--sort", "--last", "--flavour", "--source-as", "--owner"] where arguments.has(option) {
            throw CommandFailure.excluding("--by", option, remedy: "Leave out `\(option)`: `--by day` prints sums.")
        }
        guard format.format.hasEvents else {
            throw CommandFailure(.usage, "`--by day` prints json or text, not \(format.format.rawValue).")
        }
    }

    static func unknown(_ fix: FixIdentifier) -> CommandFailure {
        CommandFailure(
            .noInput, "Fix \(fix.sequence) of collar \(fix.deviceID) is not stored here.",
            remedy: "Give the id of another fix line, or a time: `--since 2h`.")
    }
}

struct StoredJournals {
    let stateDirectory: String
    let selection: CollarSelection
    /// The wanted collars that have a journal, in the order of their ids; at least one.
    let collars: [DeviceID]
    let annotations: Annotations

    /// The collars that have a journal in a state directory.
    static func known(in directory: String) throws(CommandFailure) -> [DeviceID] {
        let known = try CommandFailure.wrapping(try JournalDirectory.knownCollars(stateDirectory: directory))
        if !known.isEmpty { return known }
        throw CommandFailure(
            .noInput, "Nothing is stored in \(directory).", remedy: "Name the directory that `collar-link run` uses: `--state-dir DIR`.")
    }

    /// - Parameter option: the option that names the collar or the animal.
    init(_ arguments: ParsedArguments, option: String = "--collar") throws(CommandFailure) {
        let directory = try arguments.readableStateDirectory()
        let animals = AnimalNames()
        selection = try arguments.wantedCollars(animals, option: option)
        annotations = try animals.annotations()
        stateDirectory = directory
        let known = try StoredJournals.known(in: directory)
        guard let wanted = selection.deviceIDs else {
            collars = known
            return
        }
        collars = wanted.filter(known.contains)
        guard !collars.isEmpty else {
            throw CommandFailure(
                .noInput, "Nothing of collar \(wanted.map { "\($0)" }.joined(separator: ", ")) is stored in \(directory).",
                remedy: "Stored is: \(AnimalNames.list(known.map { "\($0)" })).")
        }
    }

    /// Runs `body` for each of the collars, until it returns false. If the journal of one of several collars cannot be read, that
    /// is said, and the others follow.
    /// - Returns: the exit code of the first failure; ``ExitCode/clean`` if there was none.
    func forEach(of collars: [DeviceID], _ body: (DeviceID) throws(CommandFailure) -> Bool) throws(CommandFailure) -> ExitCode {
        var code = ExitCode.clean
        for deviceID in collars {
            do throws(CommandFailure) {
                guard try body(deviceID) else { break }
            } catch {
                guard collars.count > 1, !error.isOutputLost else { throw error }
                error.tell(&code)
            }
        }
        return code
    }

    func reader(of deviceID: DeviceID) throws(CommandFailure) -> JournalReader {
        try CommandFailure.wrapping(try JournalReader(stateDirectory: stateDirectory, deviceID: deviceID))
    }
}

extension CommandFailure {
    /// Runs `body`; a failure gets the exit code and remedy for a command that reads journals.
    static func wrapping<Result>(_ body: @autoclosure () throws(JournalError) -> Result) throws(CommandFailure) -> Result {
        do throws(JournalError) { return try body() } catch {
            guard case .file(let failure) = error else { throw CommandFailure(error.message) }
            switch failure.errorNumber {
            case _ where failure.isDenial && failure.foreignOwner == nil:
                throw CommandFailure(
                    .noPermission, failure.message.reason, remedy: "Read it as the user who runs `collar-link run`.")
            case EPERM: throw CommandFailure(failure.message)
            case ENOENT, ENOTDIR: throw CommandFailure(.noInput, failure.message)
            default: throw CommandFailure(.inputOutput, failure.message)
            }
        }
    }
}
