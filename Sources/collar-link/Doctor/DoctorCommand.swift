import CollarReceiver
import SerialDevices

/// `collar-link doctor`: examines the machine, and says what is wrong and how to fix it.
enum DoctorCommand {
    /// How long the receiver may take to answer, in microseconds.
    private static let answerTime: Int64 = 2_000_000

    static let spec = CommandSpec(
        name: "doctor",
        title: "say what is wrong on this machine and how to fix it",
        synopsis: "collar-link doctor [options]",
        summary: """
            Examines this machine, and prints what is wrong, with what shows it and the command that fixes it, in the order in
            which to fix it; one line if there is nothing to do. Nothing is written, and no device is opened.
            """,
        options: [
            OptionSpec("-p", "--port", value: "PATH|auto", repeatable: true, is: "examine this port (those that are marked)"),
        ] + RadioOption.allCases.map(\.spec) + [
            OptionSpec(
                "--state-dir", value: "DIR", is: "where journals are kept (the user's own place, else /var/lib/collar-link)"),
            OptionSpec("-F", "--format", value: "text|json", is: "how to write it (text); json: a line for each finding, and one at the end"),
            OptionSpec("--record", value: "DIR", is: "also save what was looked at to this new directory, for somebody who helps you"),
            OptionSpec("--machine", value: "DIR", is: "examine the machine that was saved there"),
        ],
        maximumOperandCount: 0,
        notes: """
            Give it the options that 'collar-link run' gets. As root it can read the kernel's log, too; but what an ordinary user may
            open, only that user's doctor can tell. --record saves names, numbers and settings of the machine and its USB devices,
            its udev rules and log of the kernel; no position, no key.
            exit codes: 0 nothing to do, 1 warnings only, else the code of the first error: 64 usage, 69 no device, 73 cannot create
            output or journal, 74 I/O, 75 port busy, 77 permission, 78 configuration
            """)

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
        let isText = try arguments.choice("--format", of: ["text": true, "json": false]) ?? true
        let machine = try machine(arguments)
        let recorder = Doctor.recorder(of: machine)
        let diagnosis = Doctor.diagnosis(of: recorder)
        if let directory = arguments.value("--record") {
            do throws(SystemError) { try recorder.write(to: directory) } catch {
                throw CommandFailure(.cannotCreate, error.text, remedy: "name a directory that does not exist yet")
            }
        }
        if isText {
            let lines = diagnosis.text.map { line in
                TerminalStyle.standardOutput.painted(PlainText.line(line.text), as: line.severity?.role) + "\n"
            }
            try StandardOutput.write(lines.joined())
        } else {
            for finding in diagnosis.findings { try StandardOutput.write(finding.line) }
            try StandardOutput.write(diagnosis.line)
        }
        return diagnosis.exitCode
    }

    private static func machine(_ arguments: ParsedArguments) throws(CommandFailure) -> any MachineFacts {
        if let directory = arguments.value("--machine") {
            for option in ["--port", "--state-dir"] + RadioOption.allCases.map({ "--\($0.rawValue)" }) where arguments.has(option) {
                throw CommandFailure(
                    .usage, "\(option) and --machine contradict each other", remedy: "the machine's own options are saved with it")
            }
            do throws(RecordedMachine.LoadError) { return try RecordedMachine(directory: directory) } catch {
                throw error.failure
            }
        }
        let options = RadioOption.allCases.compactMap { option in
            arguments.value("--\(option.rawValue)").map { "\(option.rawValue) \($0)" }
        }
        return machine(stateDirectory: try arguments.readableStateDirectory(), ports: try arguments.ports(), options: options)
    }

    /// This machine.
    /// - Parameters:
    ///   - stateDirectory: the state directory that is examined.
    ///   - ports: the ports that the user names; empty for those that are marked.
    ///   - options: the options of radios, each as `NAME VALUE`.
    static func machine(stateDirectory: String, ports: [String], options: [String] = []) -> RunningMachine {
        let stateDirectory = RunningMachine.absolutePath(stateDirectory)
        var known: [MachineFact: String] = [
            .version: VersionCommand.version, .stateDirectory: stateDirectory,
            .configurationFiles: ConfigurationFiles.paths(of: "config").joined(separator: "\n"),
            .namedPorts: ports.map { port in
                port == "auto" || port.hasPrefix(NetworkAddress.scheme) ? port : RunningMachine.absolutePath(port)
            }.joined(separator: "\n"),
            .radioOptions: options.joined(separator: "\n"),
        ]
        known[.receiver] = ReceiverAnswer.text(
            stateDirectory: stateDirectory, runtimeDirectory: Environment.value("XDG_RUNTIME_DIR"),
            untilMicroseconds: MonotonicClock.microseconds + answerTime)
        return RunningMachine(known: known)
    }
}

extension RecordedMachine.LoadError {
    /// The failure that ends the command.
    fileprivate var failure: CommandFailure {
        switch self {
        case .unreadable(let path):
            CommandFailure(.noInput, "\(path) cannot be read", remedy: "name a directory that 'collar-link doctor --record' has made")
        case .wrongLine(let path, let line): CommandFailure(.corruptInput, "\(path), line \(line): 'KEY = VALUE' is wanted")
        case .endless(let path): CommandFailure(.corruptInput, "\(path) is its own base")
        }
    }
}

extension ErrorCode.Severity {
    /// The role of a text of this severity; nil for ordinary text.
    fileprivate var role: TerminalStyle.Role? {
        switch self {
        case .info: nil
        case .warning: .warning
        case .error, .critical: .error
        }
    }
}
