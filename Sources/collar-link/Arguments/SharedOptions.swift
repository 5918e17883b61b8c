import CheckedNumbers
import CollarConfiguration
import CollarControl
import CollarErrors
import CollarFormats
import CollarTracking
import CollarWire
import Glibc
import LinuxSystem

extension ParsedArguments {
    /// The id of a collar, given with the option `key`; nil if the option is absent.
    func deviceID(_ key: String) throws(CommandFailure) -> DeviceID? {
        guard let text = value(key) else { return nil }
        guard let deviceID = CollarID.deviceID(text) else {
            throw CommandFailure(.usage, "`\(key)` takes \(CollarID.form), not '\(text)'.")
        }
        return deviceID
    }

    /// The id of a receiver: `--to ID`.
    func receiverID() throws(CommandFailure) -> UInt32? {
        guard let text = value("--to") else { return nil }
        guard let receiverID = ControlRequest.receiverID(text) else {
            throw CommandFailure(
                .usage, "`--to` takes 8 hexadecimal digits, not '\(text)'.",
                remedy: "`collar-link receiver show` prints them, on the other machine.")
        }
        return receiverID
    }

    /// A whole number of bytes; a K, M or G after it means 1024, 1024² or 1024³.
    func byteCount(_ key: String, in range: ClosedRange<Int>) throws(CommandFailure) -> Int? {
        guard let text = value(key) else { return nil }
        let shifts: [Character: Int] = ["K": 10, "M": 20, "G": 30]
        let shift = text.last.flatMap { shifts[$0] }
        let unit = 1 << (shift ?? 0)
        guard let number = Int(shift == nil ? text : String(text.dropLast()), in: 0...(Int.max / unit)), range.contains(number * unit)
        else {
            let bounds = "from \(range.lowerBound) to \(range.upperBound)"
            throw CommandFailure(.usage, "`\(key)` takes a number of bytes \(bounds), optionally with K, M or G, not '\(text)'.")
        }
        return number * unit
    }

    /// `--events LIST`: kinds of lines, each of which is in `possible`, or `all` of these, or `none` where events are possible; nil if the option is absent.
    func lineKinds(of possible: [LineKind]) throws(CommandFailure) -> Set<LineKind>? {
        guard let text = value("--events") else { return nil }
        if text == "all" { return Set(possible).intersection(LineKind.common) }
        if text == "none", possible.contains(.link) { return [] }
        var kinds: Set<LineKind> = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
            guard let kind = LineKind(rawValue: word), possible.contains(kind) else {
                let names = possible.map(\.rawValue)
                throw CommandFailure(
                    .usage, "`--events` takes kinds separated by commas (\(names.joined(separator: ", "))), or all, not '\(text)'."
                        + Suggestion.text(for: word, among: names + ["all"]))
            }
            kinds.insert(kind)
        }
        return kinds
    }

    /// `--port PATH|tcp://HOST:PORT|auto`, in the order given.
    func ports() throws(CommandFailure) -> [String] {
        let ports = values["--port"] ?? []
        if let wrong = ports.first(where: { $0.hasPrefix(NetworkAddress.scheme) && NetworkAddress($0) == nil }) {
            throw CommandFailure(
                .usage, "An address in `--port` is tcp://HOST:PORT, not '\(wrong)'.",
                remedy: "HOST is a name, an IPv4 address or an IPv6 address in square brackets, and PORT a number from 1 to 65535.")
        }
        return ports
    }

    /// How entries are written: `--format`, `--unknown-accuracy`, `--flavour`, `--source-as`, `--owner` and `--utc`.
    /// - Parameter ownerMoves: whether the owner may be one who moves.
    func formatOptions(ownerMoves: Bool = false) throws(CommandFailure) -> FormatOptions {
        var options = FormatOptions(try choice("--format") ?? .json)
        options.flavour = try choice("--flavour") ?? .full
        options.sourceAs = try choice("--source-as", of: ["watchOS": .watchOS, "iOS": .iOS])
        options.zone = has("--utc") ? nil : TimeZoneOffset.local
        options.localZone = TimeZoneOffset.local
        options.owner = try owner()?.owner
        if options.owner?.moves == true, !ownerMoves {
            throw CommandFailure(
                .usage, "Only `follow` and `deliver` count distances from an owner who moves.", remedy: "Give a position, or `--owner home`.")
        }
        for key in ["--flavour", "--source-as"] where has(key) && options.format != .json {
            throw CommandFailure(
                .usage, "`\(key)` is for lines of JSON, not for \(options.format.rawValue).", remedy: "Leave it out, or give `-F json`.")
        }
        if has("--owner"), !options.format.hasWhereabouts {
            throw CommandFailure(
                .usage, "`--owner` has no use: \(options.format.rawValue) has no distances.",
                remedy: "Leave it out, or give `-F` with \(OutputFormat.allCases.filter(\.hasWhereabouts).map(\.rawValue).alternatives).")
        }
        let accuracy = OptionSpec.unknownAccuracy.key
        options.unknownAccuracyMeters = try integer(accuracy, in: 1...100_000).map { UInt32($0) }
        if has(accuracy), !options.format.demandsAccuracy {
            throw CommandFailure(
                .usage, "`\(accuracy)` has no use: \(options.format.rawValue) can express that an accuracy is unknown.",
                remedy: "Leave the option out.")
        }
        return options
    }

    /// How `run` and `follow` write entries of these kinds: without `--format`, for people at a terminal, and as lines of JSON
    /// elsewhere.
    func liveFormatOptions(_ kinds: Set<LineKind>, ownerMoves: Bool = false) throws(CommandFailure) -> FormatOptions {
        var options = try formatOptions(ownerMoves: ownerMoves)
        let isForPrograms = ["--format", "--flavour", "--source-as", "--acknowledge"].contains(where: has)
        if !isForPrograms, kinds.isDisjoint(with: LineKind.jsonOnly), Terminal.isOutput { options.format = .text }
        if Terminal.isOutput { options.terminalWidth = Terminal.size.columns }
        return options
    }

    /// Checks that a format has lines for all wanted kinds of events.
    static func check(_ kinds: Set<LineKind>, in format: OutputFormat) throws(CommandFailure) {
        if format != .json, let kind = kinds.intersection(LineKind.jsonOnly).map(\.rawValue).min() {
            throw CommandFailure(.usage, "`--events \(kind)` has no use: lines of events are JSON only.", remedy: "Give `-F json`.")
        }
    }

    /// Checks that alerts can be written, and that their order is possible.
    func checkAlerts(_ kinds: Set<LineKind>, _ format: OutputFormat, isSorted: Bool) throws(CommandFailure) {
        guard kinds.contains(.alert) else { return }
        guard format.hasEvents else {
            throw CommandFailure(.usage, "`--events alert` has no use: \(format.rawValue) has no alerts.", remedy: "Give `-F json` or `-F text`.")
        }
        if !isSorted, has("--sort") {
            throw CommandFailure.excluding(
                "--events alert", "--sort arrival", remedy: "Leave out `--sort`: alerts come in the order of sequences.")
        }
    }

    /// `--state-dir DIR`, or the default directory for journals.
    func stateDirectory() throws(CommandFailure) -> String {
        if let given = value("--state-dir") { return given }
        guard let directory = StandardPaths.userStateDirectory else {
            throw CommandFailure(
                .configuration, "There is no place for the journal: neither XDG_STATE_HOME nor HOME is set.",
                remedy: "Name one: `--state-dir DIR`.")
        }
        guard !directory.base.isRepaired else {
            throw CommandFailure(
                .configuration, "\(directory.variable) is '\(directory.base)', which is not UTF-8.", remedy: "Name a place: `--state-dir DIR`.")
        }
        return directory.path
    }
}

extension OptionSpec {
    private static let portForms = "a serial port, a TCP bridge, or `auto` for every marked radio (default auto; repeatable)"

    static let port = OptionSpec(
        "-p", "--port", value: "PATH|tcp://HOST:PORT|auto", repeatable: true, is: "radio to use: \(portForms)")

    static let examinedPort = OptionSpec(
        "-p", "--port", value: "PATH|tcp://HOST:PORT|auto", repeatable: true, is: "radio to examine: \(portForms)")

    /// The state directory of a command that writes to it.
    static let stateDirectory = OptionSpec(
        "--state-dir", value: "DIR",
        is: "state directory, with the journals and keys (default $XDG_STATE_HOME/collar-link, else ~/.local/state/collar-link)")

    /// The state directory of a command that reads it, see ``ParsedArguments/readableStateDirectory()``.
    static let readStateDirectory = OptionSpec(
        "--state-dir", value: "DIR",
        is: "state directory of `run` (default: your own, as for `run`; else \(StandardPaths.serviceStateDirectory))")

    static let collarKinds = OptionSpec(
        "--events", value: "LIST",
        is: "kinds of lines, separated by commas: fix, message, gap, alert; or `all` but alert (default fix,gap)")

    static let lineKinds = OptionSpec(
        "--events", value: "LIST",
        is: "kinds of lines, separated by commas: fix, message, gap, link, error, stats, status, power, result; or `all`, or `none` (default fix)")

    static let followedKinds = OptionSpec(
        "--events", value: "LIST",
        is: "kinds of lines, separated by commas: fix, message, gap, alert, owner, link, error, stats, status, power, result; or `all` but alert and owner, or `none` (default fix; with `-F homeassistant`, fix,link,stats)")

    static let alertAge = OptionSpec(
        "--alert-age", value: "MINUTES", is: "with `--events alert`: leave out alerts that are older, 1 to 525600 minutes (default: none)")

    static let sort = OptionSpec(
        "--sort", value: "arrival|sequence",
        is: "order of lines: `arrival`, or `sequence` to hold each fix back until every earlier one of its log has come or is lost (default arrival; in `history`, sequence for gpx, geojson-track and nmea)")

    private static var formatWords: [String] { OutputFormat.allCases.map(\.rawValue) }

    static let format = OptionSpec("-F", "--format", value: "FORMAT", words: formatWords, is: "output format, see the table below (default json)")

    /// The format of a command that may write to a terminal as it goes, see ``ParsedArguments/liveFormatOptions(_:)``.
    static let liveFormat = OptionSpec(
        "-F", "--format", value: "FORMAT", words: formatWords, is: "output format, see the table below (default: text at a terminal, else json)")

    static let unknownAccuracy = OptionSpec(
        "--unknown-accuracy", value: "METRES",
        is: "with `-F homeassistant`: accuracy of the fixes whose accuracy is unknown, 1 to 100000 metres (default: leave them out)")

    static let utc = OptionSpec("--utc", is: "with `-F text`: print times in UTC (default: local time)")

    static let flavour = OptionSpec(
        "--flavour", value: "full|compact",
        is: "shape of JSON fix lines; `compact` has `lat` and `lon` at the top level and no `id` (default full)")

    static let sourceAs = OptionSpec(
        "--source-as", value: "watchOS|iOS", is: "write this `source` in every JSON fix line (default: the real source)")

    static let count = OptionSpec("-n", "--count", value: "N", is: "exit after N lines, 1 or more (default: no limit)")

    static let duration = OptionSpec(
        "-T", "--duration", value: "SECONDS", is: "exit after this time in seconds, 0 to 1e9 (default: no limit)")

    static let verbose = OptionSpec("-v", "--verbose", is: "print counts at the end")

    static let quiet = OptionSpec("-q", "--quiet", is: "print only warnings and errors")
}

extension ParsedArguments {
    static let logOption = OptionSpec(
        "--log", value: "[CATEGORY:]LEVEL", repeatable: true,
        is: "print messages of this level and above: debug, info, warning, error or fault (default info; repeatable). CATEGORY is \(LogCategory.allCases.map(\.rawValue).joined(separator: ", ")) (default: all)")

    /// The messages to print: `--log [CATEGORY:]LEVEL`, in their order, after `--quiet`.
    func logFilter() throws(CommandFailure) -> LogFilter {
        var filter = LogFilter(has("--quiet") ? .warning : .info)
        for text in values["--log"] ?? [] {
            do throws(LogFilter.Problem) { try filter.set(text) } catch {
                let (levels, categories) = (LogLevel.allCases.map(\.rawValue), LogCategory.allCases.map(\.rawValue))
                let (word, known) =
                    switch error {
                    case .category(let word): (word, categories)
                    case .level(let word): (word, levels)
                    }
                throw CommandFailure(
                    .usage, "`--log` takes [CATEGORY:]LEVEL, not '\(text)': there is no '\(word)'." + Suggestion.text(for: word, among: known),
                    remedy: "Levels are: \(levels.joined(separator: ", ")); categories are: \(categories.joined(separator: ", ")).")
            }
        }
        return filter
    }
}

let formatNotes = """
    An unknown value is empty, null or left out, or -1 where the format demands a number. Only `json` and `text` have lines for
    messages and gaps.

    Some formats cannot express every fix. `homeassistant` leaves out fixes of unknown accuracy, `influx` fixes before 1677 or after
    2262, and `nmea` fixes before 1980 or after 2079. A message on stderr counts them. Traccar may refuse a fix without an altitude.
    """

/// The formats, a line each, for the help of a command.
/// - Parameter summary: what a format is, in this command.
func formatList(_ summary: (OutputFormat) -> String = \.summary) -> String {
    let width = (OutputFormat.allCases.map(\.rawValue.count).max() ?? 0) + 2
    return OutputFormat.allCases.map { format in
        "  " + format.rawValue + String(repeating: " ", count: width - format.rawValue.count) + summary(format)
    }.joined(separator: "\n")
}
