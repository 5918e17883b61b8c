import CollarConfiguration
import CollarErrors
import CollarFormats
import CollarJournal
import CollarReceiver
import Glibc
import LinuxSystem

enum RunCommand: Command {
    static let spec = CommandSpec(
        name: "run",
        title: "receive positions, store them, write them as lines",
        synopsis: "collar-link [run] [options]",
        summary: """
            Receives positions from collar radios. It stores each position on disk, acknowledges it, and writes it as a line on stdout: JSON
            for programs, or text at a terminal. Without a radio it waits for one. Messages for people go to stderr.

            `run` is the default command. `collar-link help` lists the others.
            """,
        options: [
            .port,
        ] + RadioOption.allCases.map(\.spec) + [
            OptionSpec(
                "--collar", value: "ID|NAME",
                is: "only this collar: its id, the first digits of it (at least 4), or the name of the animal that wears it at the start (default: all)"),
            .lineKinds, .sort,
            OptionSpec(
                "--since", value: "ID|TIME",
                is: "start after this fix or message, or at this time of reception (default: where the last run stopped)"),
            OptionSpec("--from-start", is: "start with the oldest stored entry"),
            .liveFormat, .unknownAccuracy, .utc, .flavour, .sourceAs, .owner, .stateDirectory,
            OptionSpec(
                "--keep", value: "DAYS", is: "delete fixes older than DAYS, 1 to 36500, once every reader has them (default: keep all)"),
            OptionSpec(
                "--keep-at-most", value: "DAYS",
                is: "delete fixes older than DAYS, 1 to 36500, even if a reader does not have them (default: never)"),
            OptionSpec(
                "--max-size", value: "BYTES",
                is: "stop storing a collar's fixes when its journal has this size, 64K or more; K, M and G are powers of 1024 (default: no limit)"),
            .count, .duration,
            OptionSpec("-w", "--write", value: "FILE", is: "record all bytes of every port, with times, in this capture"),
            OptionSpec("-r", "--read", value: "FILE", is: "receive from this capture instead of radios, as fast as possible"),
            OptionSpec("--key-file", value: "FILE", is: "with `--read`: the key that opens the sealed frames of the collar in `--collar`"),
            OptionSpec("--no-reconnect", is: "exit if there is no radio or it goes away (default: wait for one)"),
            .verbose, .quiet, ParsedArguments.logOption,
        ],
        notes: """
            formats:
            \(formatList())

            \(formatNotes)

            values of --since:
            \(SinceArgument.table)

            radios:
            Without `--port`, `run` opens every device that is marked as a collar radio (see `collar-link mark`), and closes it when
            the mark is removed. It never opens a device that is neither marked nor named. If a named radio returns under another
            device name, `run` opens it there.

            Several radios serve better than one. Each fix is stored once, and the radio that hears the collar best answers.

            settings of sticks:
            The options from `--dialect` to `--tx-power` apply to every stick. The files ~/.config/collar-link/config
            ($XDG_CONFIG_HOME/collar-link/config) and /etc/collar-link/config set the same for every stick or for one stick. An option
            overrides your file, and your file overrides the one in /etc. For example:
              region = EU868
              [stick serial=0123456789]
              spreading-factor = 7

            restart:
            A restart continues where the last run stopped. Only a run with `fix` in `--events` moves this position. A run without
            `fix` writes the messages and gaps after it again. A run without `message` skips messages; `history --events message`
            prints them. `--since` and `--from-start` may repeat lines.

            storage:
            `--keep` waits for every named reader (see `collar-link readers`) and for the lines of `run` itself. `--keep-at-most` ends
            the wait; an `error` line reports what was deleted unread. Days count back from the newest fix, or from the clock if it
            shows an earlier time. A journal needs about 50 bytes per fix.

            A fix that was received while the clock was wrong counts as received when the clock is right again.

            At `--max-size`, the fixes of this collar are neither stored nor acknowledged until `--keep` deletes something or the limit
            is raised. The same happens for every collar while the disk is full. Then `run` continues by itself. After any other disk
            error, restart it.

            Only one `run` can use a state directory. The directory must belong to the user, and nobody else may write to it. If it is
            moved or removed during the run, acknowledgements stop.

            captures:
            `--write` appends to an existing capture and never overwrites another file. If the disk becomes full, recording ends and
            receiving continues. Wireshark opens captures; a dissector is in
            Protocol/wireshark in the source. A capture contains the positions of the animals, unless the collar has a key
            (see `collar-link key`).

            `--read` opens no port, acknowledges nothing, and stores in a temporary directory unless `--state-dir` is given. If the
            capture refers to earlier fixes, give a copy of the state directory from before the capture.

            names:
            Lines contain the name of the animal (see `collar-link name`). A changed name takes effect within a second.

            examples:
              collar-link --region EU868
              collar-link --port /dev/ttyUSB0 --events fix,gap --keep 90
              collar-link --log warning --log connectivity:debug
              collar-link --read session.pcapng --events all

            exit codes:
              0   ended by a signal, `-n`, `-T`, the end of the capture, or a closed stdout
              64  wrong usage
              65  `--read`: the capture is damaged
              66  `--read`: no such file; `--since`: no such fix
              69  `--no-reconnect`: no radio
              73  the state directory or the capture cannot be written
              74  I/O error
              75  the port or the state directory is in use
              77  no permission
              78  wrong configuration
            """)

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
        let scratch = try scratchDirectory(for: arguments)
        defer { scratch?.remove() }
        var configuration = try self.configuration(from: arguments, stateDirectory: try scratch.directory(arguments))
        let filter = try arguments.logFilter()
        configuration.reportsTraffic = filter.level(of: .connectivity) == .debug
        configuration.reportsFigures = filter.level(of: .performance) == .debug
        do throws(ReceiverError) {
            let receiver = try Receiver(configuration) { reported in
                if filter.passes(reported.notice.mark) { StandardError.say(reported) }
            }
            try receiver.run()
            if arguments.has("--verbose") {
                StandardError.say(receiver.statistics.text)
            } else if configuration.format.format == .text, Terminal.isOutput, !arguments.has("--quiet") {
                StandardError.say(receiver.figures.summary)
            }
            return .clean
        } catch {
            if case .capture(let path, let fault) = error {
                throw CommandFailure(fault.message(path: path, arguments.readingStdin(insteadOf: "--read")))
            }
            throw CommandFailure(error.message)
        }
    }

    private static func configuration(
        from arguments: ParsedArguments, stateDirectory: String
    ) throws(CommandFailure) -> ReceiverConfiguration {
        var configuration = ReceiverConfiguration(stateDirectory: stateDirectory)
        configuration.capturePath = arguments.value("--write")
        if configuration.capturePath == "-" {
            throw CommandFailure(.usage, "`--write` takes no '-', because stdout carries the lines.", remedy: "Name a file: `--write FILE`.")
        }
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
        configuration.durationMicroseconds = try arguments.number("--duration", in: 0...1e9).map { Int64($0 * 1e6) }
        configuration.runtimeDirectory = Environment.value("XDG_RUNTIME_DIR")
        configuration.host.deviceID = try arguments.wantedCollar()
        _ = try AnimalNames().annotations()
        configuration.animalPaths = StandardPaths.configurationFiles(named: "animals")
        configuration.placePaths = StandardPaths.configurationFiles(named: "places")
        let kinds = try arguments.lineKinds(of: LineKind.common)
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

    /// The directory in which a playback stores, with the key of the sealed frames in it; nil without --read, or where --state-dir
    /// names one.
    private static func scratchDirectory(for arguments: ParsedArguments) throws(CommandFailure) -> ScratchDirectory? {
        guard arguments.has("--read") else {
            if arguments.has("--key-file") {
                throw CommandFailure(
                    .usage, "`--key-file` goes with `--read`.", remedy: "`collar-link key add` gives a receiver the key of a collar.")
            }
            return nil
        }
        for option in ["--port", "--write", "--no-reconnect"] + RadioOption.allCases.map({ "--\($0.rawValue)" }) where arguments.has(option) {
            throw CommandFailure.excluding(
                option, "--read", remedy: "Leave out `\(option)`, because no port is opened, or `--read` to receive from radios.")
        }
        let key = try arguments.key()
        let deviceID = try arguments.wantedCollar()
        if key != nil, deviceID == nil {
            throw CommandFailure(.usage, "`--key-file` needs the collar whose key it is: `--collar ID`.")
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
            throw CommandFailure(.usage, "`--keep-at-most \(unreadDays)` is less than `--keep \(days ?? 0)`.")
        }
        return Retention(days: days ?? unreadDays, unreadDays: unreadDays)
    }

    private static func emissionStart(from arguments: ParsedArguments) throws(CommandFailure) -> EmissionStart {
        guard arguments.has("--from-start") else { return try arguments.since() ?? .whereItStopped }
        guard !arguments.has("--since") else {
            throw CommandFailure.excluding(
                "--since", "--from-start", remedy: "Leave out `--since` to begin with the oldest entry, or `--from-start` to begin later.")
        }
        return .all
    }
}

extension ReceiverStatistics {
    var text: String {
        "\(host.fixes) fixes stored, \(lines) lines written, \(host.duplicates) duplicates; frames: \(host.frames) used, "
            + "\(host.damagedFrames) damaged, \(host.unknownFrames) of unknown collars, \(host.unsupportedFrames) unsupported, "
            + "\(host.malformedFrames) malformed"
    }
}

/// A new directory for the time of one command.
struct ScratchDirectory {
    let path: String

    /// Makes the directory below `TMPDIR`, else below `/tmp`; only this user may enter it.
    init() throws(CommandFailure) {
        let parent = Environment.value("TMPDIR").flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
        var template = Array("\(parent)/collar-link-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else {
            throw CommandFailure(
                .cannotCreate, "No directory can be made in \(parent): \(SystemError.text(errno)).",
                remedy: "Name another place: `TMPDIR=DIR`, or `--state-dir DIR`.")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes the directory and all that is in it, as far as the system lets it.
    func remove() { ScratchDirectory.remove(path, POSIXFileSystem(stateDirectory: path)) }

    private static func remove(_ path: String, _ files: POSIXFileSystem) {
        do throws(FileFailure) { try files.remove(path) } catch {
            for name in (try? files.names(in: path)) ?? [] { remove("\(path)/\(name)", files) }
            unsafe _ = rmdir(path)
        }
    }
}

extension ScratchDirectory? {
    /// The path of the directory, or without one, that of the state directory.
    func directory(_ arguments: ParsedArguments) throws(CommandFailure) -> String {
        if let path = self?.path { return path }
        return try arguments.stateDirectory()
    }
}
