import CheckedNumbers
import CollarControl
import CollarErrors
import CollarFormats
import CollarReceiver
import CollarWire
import Glibc
import LinuxSystem

/// Options that several commands accept.
extension ParsedArguments {
    /// The id of a collar, given with the option `key`; nil if the option is absent.
    func deviceID(_ key: String) throws(CommandFailure) -> UInt64? {
        guard let text = value(key) else { return nil }
        guard let deviceID = CollarID.deviceID(text) else {
            throw CommandFailure(.usage, "\(key) \(text): expected \(CollarID.form)")
        }
        return deviceID
    }

    /// The id of a receiver: `--to ID`.
    func receiverID() throws(CommandFailure) -> UInt32? {
        guard let text = value("--to") else { return nil }
        guard let receiverID = ControlRequest.receiverID(text) else {
            throw CommandFailure(
                .usage, "--to \(text): expected 8 hexadecimal digits",
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
            throw CommandFailure(.usage, "\(key) \(text): expected a number of bytes \(bounds), optionally with K, M or G")
        }
        return number * unit
    }

    /// `--events LIST`: kinds of lines, each of which is in `possible`, or `all` of these, or `none` where events are possible; nil if the option is absent.
    func lineKinds(of possible: [LineKind]) throws(CommandFailure) -> Set<LineKind>? {
        guard let text = value("--events") else { return nil }
        if text == "all" { return Set(possible) }
        if text == "none", possible.contains(.link) { return [] }
        var kinds: Set<LineKind> = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
            guard let kind = LineKind(rawValue: word), possible.contains(kind) else {
                let names = possible.map(\.rawValue)
                throw CommandFailure(
                    .usage, "--events \(text): expected kinds separated by commas: \(names.joined(separator: ", ")); or all"
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
                .usage, "--port \(wrong): an address is tcp://HOST:PORT",
                remedy: "A name, an IPv4 address or an IPv6 address in square brackets, and a port from 1 to 65535.")
        }
        return ports
    }

    /// How entries are written: `--format`, `--unknown-accuracy`, `--flavour`, `--source-as` and `--utc`.
    func formatOptions() throws(CommandFailure) -> FormatOptions {
        var options = FormatOptions(try choice("--format") ?? .json)
        options.flavour = try flavour()
        options.sourceAs = try sourceAs()
        options.zone = has("--utc") ? nil : LocalTime.zone
        for key in ["--flavour", "--source-as"] where has(key) && options.format != .json {
            throw CommandFailure(
                .usage, "\(key) is for lines of JSON, not for \(options.format.rawValue)", remedy: "Leave it out, or give -F json.")
        }
        let accuracy = OptionSpec.unknownAccuracy.key
        options.unknownAccuracyMeters = try integer(accuracy, in: 1...100_000).map { UInt32($0) }
        if has(accuracy), !options.format.demandsAccuracy {
            throw CommandFailure(
                .usage, "\(accuracy): \(options.format.rawValue) can express that an accuracy is unknown", remedy: "Leave the option out.")
        }
        return options
    }

    /// How `run` and `follow` write entries of these kinds: without `--format`, for people at a terminal, and as lines of JSON
    /// elsewhere.
    func liveFormatOptions(_ kinds: Set<LineKind>) throws(CommandFailure) -> FormatOptions {
        var options = try formatOptions()
        let isForPrograms = ["--format", "--flavour", "--source-as", "--acknowledge"].contains(where: has)
        if !isForPrograms, kinds.isDisjoint(with: LineKind.ofEvents), Terminal.isOutput { options.format = .text }
        if Terminal.isOutput { options.terminalWidth = Terminal.width }
        return options
    }

    /// Checks that a format has lines for all wanted kinds of events.
    static func check(_ kinds: Set<LineKind>, in format: OutputFormat) throws(CommandFailure) {
        if format != .json, let kind = kinds.intersection(LineKind.ofEvents).map(\.rawValue).min() {
            throw CommandFailure(.usage, "--events \(kind): lines of events are JSON only", remedy: "Give -F json.")
        }
    }

    /// `--flavour full|compact`.
    func flavour() throws(CommandFailure) -> FixLineWriter.Flavour { try choice("--flavour") ?? .full }

    /// `--source-as watchOS|iOS`; nil to write each fix's own source.
    func sourceAs() throws(CommandFailure) -> FixSource? {
        try choice("--source-as", of: ["watchOS": .watchOS, "iOS": .iOS])
    }

    /// `--state-dir DIR`, or the default directory for journals.
    func stateDirectory() throws(CommandFailure) -> String {
        if let given = value("--state-dir") { return given }
        for (variable, folder) in [("XDG_STATE_HOME", "/collar-link"), ("HOME", "/.local/state/collar-link")] {
            guard let base = Environment.value(variable), base.hasPrefix("/") else { continue }
            guard !base.isRepaired else {
                throw CommandFailure(
                    .configuration, "\(variable) is '\(base)', which is not UTF-8", remedy: "Name a place: `--state-dir DIR`.")
            }
            return base + folder
        }
        throw CommandFailure(
            .configuration, "there is no place for the journal: neither XDG_STATE_HOME nor HOME is set",
            remedy: "Name one: `--state-dir DIR`.")
    }
}

/// The environment of the process.
enum Environment {
    /// The value of a variable; nil where it is not set.
    static func value(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }
}
