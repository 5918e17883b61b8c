import CollarControl
import CollarDoctor
import CollarErrors
import CollarFormats
import CollarJournal
import LinuxSystem

enum StatusCommand: Command {
    static let spec = CommandSpec(
        name: "status",
        title: "show radios, collars, readers and problems on one screen",
        synopsis: "collar-link status [-F text|json] [--utc] [--state-dir DIR]",
        summary: """
            Shows the radios, the collars with their last fix, its place, battery, signal and missing fixes, the named readers and how far
            they lag behind, and what `collar-link doctor` finds wrong. Works also while `collar-link` does not run. Nothing is written,
            and no device is opened.
            """,
        options: [
            OptionSpec("-F", "--format", value: "text|json", is: "text for people (default), or one line of JSON"),
            .utc,
            .readStateDirectory,
        ],
        notes: """
            The text fits the terminal. Where there are too many collars for one screen, each has one line. The line of JSON has the schema
            overview.schema.json.

            "connected" means that the collar was heard within its last three heartbeats. Age and time of a fix are by the clock of the
            collar. It is stale if it is older than the schedule of the collar allows, as the running receiver knows it; without a
            schedule, if it is older than three intervals of the newest two fixes, and at least 60 s. Its distance is that from the place home. An accuracy is excellent below 5 m, good to 10 m, fair to 50 m, else poor. What a collar says about itself (tracking, stationary, throttling) is from its last status; how it makes its fixes and
            spends its battery, from its last power report, which `collar-link send report` asks for.

            examples:
              collar-link status
              collar-link status -F json | jq '.collars[] | {collar, missing}'

            exit codes:
              0   done, also where nothing runs or problems are shown
              64  usage
              65  a journal is damaged
              66  no such state directory
              74  I/O error
              77  this user may not read the journals
            """)

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
        let isText = try arguments.choice("--format", of: ["text": true, "json": false]) ?? true
        let stateDirectory = try arguments.existingStateDirectory()
        let receiver = RunningReceiver(of: stateDirectory, for: "status")
        let figures = receiver.figures
        var overview = Overview(
            unixMilliseconds: WallClock.unixMilliseconds, version: VersionCommand.version, stateDirectory: stateDirectory,
            activity: receiver.activity, figures: figures)
        var code = ExitCode.clean
        let annotations = try AnimalNames().annotations()
        let told = try CommandFailure.wrapping(try ToldLines.newest(stateDirectory: stateDirectory))
        for deviceID in try CommandFailure.wrapping(try JournalDirectory.knownCollars(stateDirectory: stateDirectory)) {
            do throws(CommandFailure) {
                let reader = try CommandFailure.wrapping(try JournalReader(stateDirectory: stateDirectory, deviceID: deviceID))
                try CommandFailure.wrapping(
                    try overview.add(reader, figures: figures, told: told[deviceID] ?? ToldLines(), annotations: annotations))
            } catch { error.tell(&code) }
        }
        let files = ReaderFiles(stateDirectory: stateDirectory)
        for (name, state) in try ReadersCommand.states(files).readable {
            do throws(CommandFailure) {
                overview.readers.append(try ReadersCommand.line(name, state, stateDirectory))
            } catch { error.tell(&code) }
        }
        overview.add(
            Doctor.diagnosis(of: DoctorCommand.machine(stateDirectory: stateDirectory, ports: figures?.radios.map(\.port) ?? [])))
        try StandardOutput.write(isText ? text(overview, arguments.has("--utc") ? nil : TimeZoneOffset.local) : overview.line)
        return code
    }

    private static func text(_ overview: Overview, _ zone: TimeZoneOffset?) -> [UInt8] {
        let size = Terminal.size
        return Array(
            overview.text(width: size.columns, rows: size.rows, zone: zone).map { line in
                TerminalStyle.standardOutput.painted(line.text, as: line.tone) + "\n"
            }.joined().utf8)
    }
}

struct RunningReceiver {
    /// How long it may take to answer, in microseconds.
    private static let answerTime: Int64 = 5_000_000

    private(set) var activity = Overview.Activity.stopped
    /// Its figures; nil where none runs, or where it does not tell them.
    private(set) var figures: ReceiverFigures?

    /// Asks the receiver for its figures. If it does not tell them, a message says so.
    /// - Parameter command: the command that needs them, for the message.
    init(of stateDirectory: String, for command: String) {
        let remedy = "Run `collar-link \(command)` as the user who runs collar-link, or as root."
        do throws(ControlConnection.ConnectError) {
            let connection = try ControlConnection(
                stateDirectory: stateDirectory, runtimeDirectory: Environment.value("XDG_RUNTIME_DIR"))
            activity = .unknown
            switch connection.figures(untilMicroseconds: MonotonicClock.microseconds + RunningReceiver.answerTime) {
            case .figures(let figures):
                self.figures = figures
                activity = .running
            case .refused(let reason):
                StandardError.say("The running collar-link does not tell its figures. \(reason)", remedy: remedy)
            case .none: StandardError.say("The running collar-link does not answer, so its figures are missing.")
            }
        } catch {
            switch error {
            case .absent, .deserted: break
            case .denied(let path):
                activity = .unknown
                StandardError.say("The running collar-link does not tell this user its figures: \(path).", remedy: remedy)
            case .system(let path, let errorNumber): StandardError.say("\(path) cannot be reached: \(SystemError.text(errorNumber)).")
            }
        }
    }
}
