import CollarBridge
import CollarHost
import CollarJournal
import CollarReceiver
import Glibc

// Options of the commands that read what 'run' has stored.
extension ParsedArguments {
    /// The options that `history`, `follow` and `deliver` share: which entries, and how they are written.
    static let readingOptions = [
        OptionSpec(
            "--collar", value: "ID|NAME",
            is: "only this collar, or what this animal's collars sent while it wore them, by the times of the fixes"),
        OptionSpec("--since", value: "ID|TIME", is: "what was stored after this fix or message, or received since"),
        OptionSpec(
            "--sort", value: "arrival|sequence",
            is: "fixes as they came (arrival, the default), or each after those before it in its log"),
        OptionSpec("-F", "--format", value: "FORMAT", is: "how to write them (json); see below"),
        OptionSpec("--utc", is: "times of text in UTC, not in local time"),
        OptionSpec("--flavour", value: "full|compact", is: "shape of fix lines of JSON (full)"),
        OptionSpec("--source-as", value: "watchOS|iOS", is: "give this as every fix's source, in JSON"),
        OptionSpec(
            "--state-dir", value: "DIR", is: "where journals are kept (the user's own place, else /var/lib/collar-link)"),
    ]

    /// The options that `follow` and `deliver` share.
    static let followingOptions = [
        OptionSpec(
            "--events", value: "LIST",
            is: "kinds of lines: fix (the default), message, gap, link, error, stats, status, result, with commas; or all"),
    ] + readingOptions

    /// Where a system service keeps its journals.
    static let serviceDirectory = "/var/lib/collar-link"

    /// `--state-dir DIR`, or the first of the usual places that exists: the user's own, then the service's. If none exists, the user's
    /// own.
    func readableStateDirectory() throws(CommandFailure) -> String {
        if let given = value("--state-dir") { return given }
        let own: String
        do throws(CommandFailure) { own = try stateDirectory() } catch {
            guard Self.isDirectory(Self.serviceDirectory) else { throw error }
            return Self.serviceDirectory
        }
        return Self.isDirectory(own) || !Self.isDirectory(Self.serviceDirectory) ? own : Self.serviceDirectory
    }

    private static func isDirectory(_ path: String) -> Bool {
        var found = stat()
        return unsafe stat(path, &found) == 0 && found.st_mode & S_IFMT == S_IFDIR
    }

    /// The name of a reader.
    static func readerName(_ text: String) throws(CommandFailure) -> ReaderName {
        guard let name = ReaderName(text) else {
            throw CommandFailure(.usage, "'\(text)' is no name of a reader: \(ReaderName.form) are wanted")
        }
        return name
    }

    /// `--sort arrival|sequence`: whether each fix stands after those before it in its log.
    func isSorted() throws(CommandFailure) -> Bool {
        try choice("--sort", of: ["arrival": false, "sequence": true]) ?? false
    }

    /// What a reader gets.
    /// - Parameter isLive: whether it writes to stdout, which may be a terminal.
    func reading(isLive: Bool) throws(CommandFailure) -> ReadingConfiguration {
        var reading = ReadingConfiguration(stateDirectory: try readableStateDirectory())
        let kinds = try lineKinds(of: LineKind.allCases)
        reading.format = isLive ? try liveFormatOptions(kinds ?? [.fix]) : try formatOptions()
        reading.wanted = try wantedCollars()
        reading.animalPaths = ConfigurationFiles.paths(of: "animals")
        reading.read(kinds ?? reading.format.usualKinds(in: [.fix]))
        try Self.check(reading.eventKinds, in: reading.format.format)
        reading.selection.isSorted = try isSorted()
        if let text = value("--since") {
            reading.start = try SinceArgument(text, nowUnixMilliseconds: WallClock.unixMilliseconds).emissionStart
        }
        return reading
    }
}

extension FormatOptions {
    /// The kinds of entries that are read without `--events`. Formats without lines for messages and gaps write nothing for them; but
    /// GPX sees from them where no fix is missing.
    func usualKinds(in kinds: Set<LineKind>) -> Set<LineKind> { format.hasEvents ? kinds : [.fix, .message, .gap] }
}

extension StandardError {
    /// Writes a notice of a follower or deliverer.
    static func say(_ notice: FollowerNotice) {
        let message = notice.message
        say(message.reason, remedy: message.remedy, as: notice.mark)
    }
}
