import CollarBridge
import CollarHost
import CollarJournal
import CollarReceiver

/// `collar-link run`, the command that runs when none is named.
enum RunCommand {
    static let spec = CommandSpec(
        name: "run",
        title: "receive positions, store them, write them as lines",
        synopsis: "collar-link [run] [options]",
        summary: """
            Finds a collar radio, receives positions, stores and acknowledges them, and writes each as a line of JSON
            on stdout. Waits for a radio where there is none. Messages for people go to stderr.

            commands: run (the default), send, history, follow, deliver, readers, metrics, name, key, receiver, devices, doctor, mark, simulate,
            encode, decode; 'collar-link COMMAND --help' tells more.
            """,
        options: [
            OptionSpec(
                "-p", "--port", value: "PATH|tcp://HOST:PORT|auto", repeatable: true,
                is: "use this tty, or the radio at another machine (repeatable); discovery is off then, except with auto"),
        ] + RadioOption.allCases.map(\.spec) + [
            OptionSpec("--collar", value: "ID|NAME", is: "only this collar: its id, 16 hexadecimal digits, or the animal that wears it now"),
            OptionSpec(
                "--events", value: "LIST",
                is: "kinds of lines: fix (the default), message, gap, link, error, stats, status, result, with commas; all; or none"),
            OptionSpec(
                "--sort", value: "arrival|sequence",
                is: "fixes as they come (arrival, the default), or each after those before it in its log"),
            OptionSpec("--since", value: "ID|TIME", is: "begin after the fix or message with this id, or with what came in since this time"),
            OptionSpec("--from-start", is: "begin with the oldest fix in the journal"),
            OptionSpec("-F", "--format", value: "FORMAT", is: "how to write lines: text at a terminal, else json, by default; see below"),
            OptionSpec("--utc", is: "times of text in UTC, not in local time"),
            OptionSpec("--flavour", value: "full|compact", is: "shape of the lines (full); compact: lat, lon, no id"),
            OptionSpec("--source-as", value: "watchOS|iOS", is: "give this as every fix's source"),
            OptionSpec("--state-dir", value: "DIR", is: "keep journals here ($XDG_STATE_HOME/collar-link)"),
            OptionSpec("--keep", value: "DAYS", is: "remove what is older than so many days and was taken by every reader (never)"),
            OptionSpec("--keep-at-most", value: "DAYS", is: "remove what is older than so many days, taken or not (never)"),
            OptionSpec(
                "--max-size", value: "BYTES",
                is: "store no more of a collar whose journal has so many bytes (K, M, G; no limit)"),
            OptionSpec("-n", "--count", value: "N", is: "exit after N lines"),
            OptionSpec("-T", "--duration", value: "SECONDS", is: "exit after this long"),
            OptionSpec("-w", "--write", value: "FILE", is: "record what comes in and goes out at every port, with times, in FILE"),
            OptionSpec("-r", "--read", value: "FILE", is: "receive what a capture holds, in place of radios, as fast as it goes"),
            OptionSpec("--key-file", value: "FILE", is: "with --read: open sealed frames of the collar --collar with the key in FILE"),
            OptionSpec("--no-reconnect", is: "exit where there is no radio, or when it goes away"),
            OptionSpec("-v", "--verbose", is: "print counts at the end"),
            OptionSpec("-q", "--quiet", is: "print only what fails"),
            ParsedArguments.logOption,
        ],
        maximumOperandCount: 0,
        notes: """
            formats:
            \(formatList())
            Only json has lines of events; json and text have lines for messages and gaps.

            A restart goes on where the last run with fix in --events stopped. Without fix, this place does not move: every
            start writes the message and gap lines from there again. With fix and without message, it moves past the messages
            ('history --events message' prints them).
            The options from --dialect to --tx-power hold for every stick. $XDG_CONFIG_HOME/collar-link/config (else
            ~/.config/collar-link/config) and /etc/collar-link/config give the same for one stick or for all: lines such as
            'region = EU868', sections such as '[stick serial=0123456789]'. The command line goes before the user's file, and
            that before the machine's.
            --write goes on with a capture that is there, and overwrites no other file. Wireshark opens it (Protocol/CAPTURE.md).
            --read opens no port and acknowledges nothing. It stores in a directory that it removes at the end, unless --state-dir
            names one: name a copy of the directory as it was before the capture, if fixes refer to earlier ones.
            Lines have the names that 'collar-link name' gives to collars; a change of them counts from the next second on.
            exit codes: 0 clean, 64 usage, 65 damaged capture, 66 no capture, 69 no device, 73 FILE cannot be written, 74 I/O, 75 port busy, 77 permission, 78 configuration
            """)

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
        let scratch = try scratchDirectory(for: arguments)
        defer { scratch?.remove() }
        var configuration = try self.configuration(from: arguments, stateDirectory: try scratch.directory(arguments))
        let filter = try arguments.logFilter()
        configuration.reportsTraffic = filter.level(of: .connectivity) == .debug
        configuration.reportsFigures = filter.level(of: .performance) == .debug
        do throws(ReceiverError) {
            let receiver = try Receiver(configuration) { notice in
                if filter.passes(notice.mark) { StandardError.say(notice) }
            }
            try receiver.run()
            if arguments.has("--verbose") {
                StandardError.say(receiver.statistics.text)
            } else if configuration.format.format == .text, Terminal.isOutput, !arguments.has("--quiet") {
                StandardError.say(receiver.figures.summary)
            }
            return .clean
        } catch {
            throw CommandFailure(error.message)
        }
    }

    private static func configuration(
        from arguments: ParsedArguments, stateDirectory: String
    ) throws(CommandFailure) -> ReceiverConfiguration {
        var configuration = ReceiverConfiguration(stateDirectory: stateDirectory)
        configuration.capturePath = try capturePath(from: arguments)
        configuration.playbackPath = arguments.value("--read")
        configuration.ports = try arguments.ports()
        configuration.radio = try arguments.radio()
        configuration.reconnects = !arguments.has("--no-reconnect")
        configuration.host.retention = try retention(from: arguments)
        if let limit = try arguments.byteCount("--max-size", in: 65_536...(1 << 50)) {
            configuration.host.journalByteLimit = limit
            // Old fixes are removed by whole segments, so a segment must be much smaller than the limit.
            configuration.host.segmentByteLimit = min(configuration.host.segmentByteLimit, limit / 8)
        }
        configuration.lineLimit = try arguments.integer("--count", in: 1...Int.max)
        if let seconds = try arguments.number("--duration", in: 0...1e9) {
            configuration.durationMicroseconds = Int64(seconds * 1e6)
        }
        configuration.runtimeDirectory = Environment.value("XDG_RUNTIME_DIR")
        configuration.host.deviceID = try arguments.wantedCollar()
        configuration.animalPaths = ConfigurationFiles.paths(of: "animals")
        let kinds = try arguments.lineKinds(of: LineKind.allCases)
        configuration.format = try arguments.liveFormatOptions(kinds ?? [.fix])
        if let kinds {
            try ParsedArguments.check(kinds, in: configuration.format.format)
            configuration.write(kinds)
            configuration.host.hasConsumer = !kinds.isEmpty
        }
        configuration.host.selection.isSorted = try arguments.isSorted()
        configuration.host.emissionStart = try emissionStart(from: arguments)
        return configuration
    }

    private static func capturePath(from arguments: ParsedArguments) throws(CommandFailure) -> String? {
        guard let path = arguments.value("--write"), path == "-" else { return arguments.value("--write") }
        throw CommandFailure(.usage, "--write -: stdout carries the lines", remedy: "name a file: --write FILE")
    }

    /// The directory in which a playback stores, with the key of the sealed frames in it; nil without --read, or where --state-dir
    /// names one.
    private static func scratchDirectory(for arguments: ParsedArguments) throws(CommandFailure) -> ScratchDirectory? {
        guard arguments.has("--read") else {
            if arguments.has("--key-file") {
                throw CommandFailure(
                    .usage, "--key-file goes with --read", remedy: "'collar-link key add' gives a receiver the key of a collar")
            }
            return nil
        }
        for option in ["--port", "--write", "--no-reconnect"] + RadioOption.allCases.map({ "--\($0.rawValue)" }) where arguments.has(option) {
            throw CommandFailure(.usage, "\(option) does not go with --read: no port is opened")
        }
        let key = try arguments.key()
        let deviceID = try arguments.wantedCollar()
        if key != nil, deviceID == nil {
            throw CommandFailure(.usage, "--key-file wants the collar whose key it is: --collar ID")
        }
        let scratch = arguments.has("--state-dir") ? nil : try ScratchDirectory()
        guard let key, let deviceID else { return scratch }
        let files = KeyFiles(stateDirectory: try scratch.directory(arguments))
        try files.change { files throws(JournalError) in try files.store(KeyFiles.Entry(key: key), of: deviceID) }
        return scratch
    }

    private static func retention(from arguments: ParsedArguments) throws(CommandFailure) -> Retention? {
        let days = try arguments.integer("--keep", in: 1...36_500)
        guard let unreadDays = try arguments.integer("--keep-at-most", in: 1...36_500) else {
            return days.map { Retention(days: $0) }
        }
        guard unreadDays >= days ?? 0 else {
            throw CommandFailure(.usage, "--keep-at-most \(unreadDays) is less than --keep \(days ?? 0)")
        }
        return Retention(days: days ?? unreadDays, unreadDays: unreadDays)
    }

    private static func emissionStart(
        from arguments: ParsedArguments
    ) throws(CommandFailure) -> EmissionStart {
        let since = arguments.value("--since")
        guard arguments.has("--from-start") else {
            guard let since else { return .whereItStopped }
            return try SinceArgument(since, nowUnixMilliseconds: WallClock.unixMilliseconds).emissionStart
        }
        guard since == nil else { throw CommandFailure(.usage, "--since and --from-start contradict each other") }
        return .all
    }
}
