import CollarConfiguration
import CollarFormats
import CollarJournal
import CollarReaders
import Glibc
import LinuxSystem

// Options of the commands that read what 'run' has stored.
extension ParsedArguments {
    /// The options that `history`, `follow` and `deliver` share: which entries, and how they are written.
    static let readingOptions = [
        OptionSpec(
            "--collar", value: "ID|NAME",
            is: "only this collar (its id, or at least its first 4 digits), or every collar of this animal, each for the time it was worn (default: all)"),
        OptionSpec(
            "--since", value: "ID|TIME",
            is: "start after this fix or message, or at this time of reception (default: the oldest entry)"),
        .sort,
        .format, .unknownAccuracy, .utc, .flavour, .sourceAs, .owner, .readStateDirectory,
    ]

    /// The options that `follow` and `deliver` share.
    static let followingOptions = [.followedKinds, .alertAge] + readingOptions.flatMap { (option: OptionSpec) -> [OptionSpec] in
        option.key == OptionSpec.owner.key ? [.movingOwner, .ownerSpeed] : [option]
    }

    /// `--state-dir DIR`, or the first of the usual places that exists: the user's own, then the service's. If none exists, the user's
    /// own.
    func readableStateDirectory() throws(CommandFailure) -> String {
        if let given = value("--state-dir") { return given }
        let own: String
        do throws(CommandFailure) { own = try stateDirectory() } catch {
            guard SystemFiles.isDirectory(StandardPaths.serviceStateDirectory) else { throw error }
            return StandardPaths.serviceStateDirectory
        }
        return StandardPaths.readableStateDirectory(own: own)
    }

    /// As ``readableStateDirectory()``, for a command that has no use for a directory that is named and missing.
    func existingStateDirectory() throws(CommandFailure) -> String {
        try requireStateDirectory()
        return try readableStateDirectory()
    }

    /// Checks that the directory exists that `--state-dir` names: a command that is not to make it would find nothing there, and a person
    /// may have mistyped it.
    func requireStateDirectory() throws(CommandFailure) {
        guard let given = value("--state-dir"), !SystemFiles.isDirectory(given), [ENOENT, ENOTDIR, 0].contains(errno) else { return }
        throw CommandFailure(ReaderError.watch(path: given, errorNumber: ENOENT).message)
    }

    static func readerName(_ text: String) throws(CommandFailure) -> ReaderName {
        guard let name = ReaderName(text) else {
            throw CommandFailure(.usage, "'\(text)' is not the name of a reader: a name is \(ReaderName.form).")
        }
        return name
    }

    /// `--sort arrival|sequence`: whether each fix stands after those before it in its log.
    func isSorted(unlessGiven usual: Bool = false) throws(CommandFailure) -> Bool {
        try choice("--sort", of: ["arrival": false, "sequence": true]) ?? usual
    }

    /// The configuration of a reader.
    /// - Parameter isLive: whether it writes to stdout, which may be a terminal.
    func reading(isLive: Bool) throws(CommandFailure) -> ReadingConfiguration {
        var reading = ReadingConfiguration(stateDirectory: try readableStateDirectory())
        let kinds = try lineKinds(of: LineKind.allCases)
        reading.format = isLive ? try liveFormatOptions(kinds ?? [.fix], ownerMoves: true) : try formatOptions(ownerMoves: true)
        reading.wanted = try wantedCollars()
        _ = try AnimalNames().annotations()
        reading.animalPaths = StandardPaths.configurationFiles(named: "animals")
        reading.placePaths = StandardPaths.configurationFiles(named: "places")
        let format = reading.format.format
        reading.read(kinds ?? reading.format.usualKinds(in: [.fix]).union(format.convertedEvents))
        try Self.check(reading.writtenKinds.subtracting(format.convertedEvents), in: format)
        if reading.writtenKinds.contains(.owner), !has("--owner") {
            throw CommandFailure(.usage, "`--events owner` needs the owner.", remedy: "Give `--owner` with a position, `home`, `gpsd` or a port.")
        }
        let isSorted = try isSorted(unlessGiven: reading.writtenKinds.contains(.alert))
        try checkAlerts(reading.writtenKinds, format, isSorted: isSorted)
        reading.selection.isSorted = isSorted
        if let minutes = try integer(OptionSpec.alertAge.key, in: 1...525_600) {
            guard reading.writtenKinds.contains(.alert) else {
                throw CommandFailure(.usage, "`--alert-age` goes with `--events alert`.", remedy: "Give `--events alert`.")
            }
            reading.longestAlertAge = Int64(minutes) * 60_000
        }
        reading.start = try since()
        return reading
    }
}

extension FormatOptions {
    /// The kinds of entries that are read without `--events`. Formats without lines for messages and gaps write nothing for them; but
    /// GPX sees from them where no fix is missing.
    func usualKinds(in kinds: Set<LineKind>) -> Set<LineKind> { format.hasEvents ? kinds : [.fix, .message, .gap] }
}

extension StandardError {
    static func say(_ notice: FollowerNotice) { say(notice.message, as: notice.mark) }
}
