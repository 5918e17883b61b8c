import CollarConfiguration
import CollarDoctor
import CollarErrors
import CollarFormats
import LinuxSystem

enum DoctorCommand: Command {
    /// How long the receiver may take to answer, in microseconds.
    private static let answerTime: Int64 = 2_000_000

    static let spec = CommandSpec(
        name: "doctor",
        title: "find what is wrong on this machine and how to fix it",
        synopsis: """
            collar-link doctor [options]
            collar-link doctor --record DIR [options]
            collar-link doctor --machine DIR [-F text|json]
            """,
        summary: """
            Examines this machine and prints each problem, the evidence, and the command that fixes it. Problems come in the order in
            which to fix them. If nothing is wrong, it prints one line. It opens no device, and writes only for `--record`.
            """,
        options: [
            .examinedPort,
        ] + RadioOption.allCases.map(\.spec) + [
            .readStateDirectory,
            OptionSpec("--flash", value: "FILE", is: "this machine is a collar: examine its file, and the ports of `--port` and `--gnss`"),
            OptionSpec("--gnss", value: "PORT", is: "with `--flash`: also examine the port of the GNSS receiver"),
            OptionSpec(
                "-F", "--format", value: "text|json",
                is: "output format; `json` is one line per problem and one at the end (default text)"),
            OptionSpec("--record", value: "DIR", is: "also save the examined data in this new directory, for someone who helps you"),
            OptionSpec("--machine", value: "DIR", is: "examine the machine that `--record` saved in this directory"),
        ],
        notes: """
            `doctor` examines the udev rule, permissions, programs that use the port, containers, the configuration, the state directory
            and its disk, keys, the running receiver, the kernel log and the USB device.

            Give `doctor` the same options as `run`, and start it as the same user: permissions differ between users. As root it can
            also read the kernel log.

            `--record` saves names, numbers and settings of the machine and its USB devices, udev rules for radios, and USB messages of
            the kernel. It saves no position and no key.

            examples:
              collar-link doctor
              collar-link doctor --port /dev/ttyUSB0 --region EU868
              collar-link doctor --flash cat.flash --port /dev/ttyUSB0 --gnss /dev/ttyACM0
              collar-link doctor --record my-machine

            If there are errors, the exit code is that of the first error.

            exit codes:
              0   nothing to do
              1   warnings only
              64  wrong usage
              65  `--machine`: a line in DIR is wrong
              66  `--machine`: DIR cannot be read
              69  no device
              73  the journal, or the directory of `--record`, cannot be created
              74  I/O error, or the disk is full
              75  the port is in use
              77  no permission
              78  wrong configuration
            """)

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
        let isText = try arguments.choice("--format", of: ["text": true, "json": false]) ?? true
        let machine = try machine(arguments)
        let recorder = Doctor.recorder(of: machine)
        let diagnosis = Doctor.diagnosis(of: recorder)
        if let directory = arguments.value("--record") {
            do throws(SystemError) { try recorder.write(to: directory) } catch {
                throw CommandFailure(.cannotCreate, error.message.reason, remedy: "Name a directory that does not exist yet.")
            }
        }
        if isText {
            let repeated = RepeatedOptions(arguments)
            let lines = diagnosis.text.map { line in
                let role = line.severity.flatMap { LogLevel($0).role }
                return TerminalStyle.standardOutput.painted(PlainText.line(repeated.added(to: line.text)), as: role) + "\n"
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
            for option in ["--port", "--state-dir", "--flash", "--gnss"] + RadioOption.allCases.map({ "--\($0.rawValue)" }) where arguments.has(option) {
                throw CommandFailure.excluding(
                    option, "--machine",
                    remedy: "Leave out `\(option)`: the options of the saved machine are saved with it. Or leave out `--machine` to examine "
                        + "this machine.")
            }
            do throws(RecordedMachine.LoadError) { return try RecordedMachine(directory: directory) } catch {
                throw error.failure
            }
        }
        let options = RadioOption.allCases.compactMap { option in
            arguments.value("--\(option.rawValue)").map { "\(option.rawValue) \($0)" }
        }
        if let flash = arguments.value("--flash") {
            return machine(
                stateDirectory: try arguments.readableStateDirectory(), ports: try arguments.ports(), options: options,
                collar: (flash, arguments.value("--gnss")))
        }
        guard !arguments.has("--gnss") else {
            throw CommandFailure(.usage, "`--gnss` needs `--flash`.", remedy: "Name the file of the collar: `--flash FILE`.")
        }
        // `run` makes the directory, so that a new machine can be examined without it.
        do throws(CommandFailure) { try arguments.requireStateDirectory() } catch {
            StandardError.say(
                error.message, remedy: "The first `collar-link run` makes it. If there is one already, name it: `--state-dir DIR`.",
                as: LogMark(.warning, .connectivity))
        }
        return machine(stateDirectory: try arguments.readableStateDirectory(), ports: try arguments.ports(), options: options)
    }

    /// This machine.
    /// - Parameters:
    ///   - ports: the ports that the user names; empty for those that are marked.
    ///   - options: the options of radios, each as `NAME VALUE`.
    ///   - collar: the file of the collar that this machine is, and the port of its GNSS receiver.
    static func machine(
        stateDirectory: String, ports: [String], options: [String] = [], collar: (flash: String, gnss: String?)? = nil
    ) -> RunningMachine {
        let stateDirectory = (SystemFiles.absolutePath(stateDirectory) ?? stateDirectory)
        var known: [MachineFact: String] = [
            .version: VersionCommand.version, .stateDirectory: stateDirectory,
            .configurationFiles: StandardPaths.configurationFiles(named: "config").joined(separator: "\n"),
            .namedPorts: ports.map { port in
                port == "auto" || port.hasPrefix(NetworkAddress.scheme) ? port : (SystemFiles.absolutePath(port) ?? port)
            }.joined(separator: "\n"),
            .radioOptions: options.joined(separator: "\n"),
        ]
        known[.collarFile] = collar.map { SystemFiles.absolutePath($0.flash) ?? $0.flash }
        known[.receiverPort] = collar?.gnss.map { SystemFiles.absolutePath($0) ?? $0 }
        known[.receiver] = ReceiverAnswer.text(
            stateDirectory: stateDirectory, runtimeDirectory: Environment.value("XDG_RUNTIME_DIR"),
            untilMicroseconds: MonotonicClock.microseconds + answerTime)
        return RunningMachine(known: known)
    }
}

extension RecordedMachine.LoadError {
    fileprivate var failure: CommandFailure {
        switch self {
        case .unreadable(let path):
            CommandFailure(.noInput, "\(path) cannot be read.", remedy: "Name a directory that `collar-link doctor --record` has made.")
        case .wrongLine(let path, let line): CommandFailure(.corruptInput, "\(path), line \(line): this is not 'KEY = VALUE'.")
        case .wrongValue(let path, let line): CommandFailure(.corruptInput, "\(path), line \(line): the fact cannot have this value.")
        case .endless(let path): CommandFailure(.corruptInput, "\(path) is its own base.")
        }
    }
}
