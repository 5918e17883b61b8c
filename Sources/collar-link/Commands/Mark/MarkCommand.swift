import CollarErrors
import CollarFormats
import CollarPorts
import Glibc
import LinuxSystem
import SerialDevices

enum MarkCommand: Command {
    static let spec = CommandSpec(
        name: "mark",
        title: "mark a USB adapter as a collar radio",
        synopsis: """
            collar-link mark [DEVICE] [--yes] [--rules-directory DIR]
            collar-link mark [DEVICE] --print [--rules-directory DIR]
            """,
        summary: """
            Marks a USB serial adapter as a collar radio, so that `collar-link run` opens it. A radio with a common adapter chip (CP210x,
            CH340, FTDI …) looks like any other device with that chip. Mark it once.

            Without DEVICE, `mark` takes the only adapter that is not marked. It opens no device, and it asks before it writes.
            """,
        options: [
            OptionSpec("-y", "--yes", is: "write the rule without asking"),
            OptionSpec("--print", is: "print the rule on stdout; write nothing"),
            OptionSpec(
                "--rules-directory", value: "DIR",
                is: "directory for the rule, for example of a disk image (default \(RulesFile.systemDirectory))"),
        ],
        maximumOperandCount: 1,
        notes: """
            `mark` writes a udev rule for this one adapter. The rule matches the serial number. If the adapter has none, or shares it
            with others, the rule matches the USB socket; then keep the adapter in this socket.

            The rule goes to \(RulesFile.systemDirectory)/\(RulesFile.name). Delete its line to remove the mark. Only root may write
            there. The rule hardware/udev/70-collar-link.rules in the source must be installed too: it keeps ModemManager and gpsd away
            from marked adapters.

            examples:
              sudo collar-link mark /dev/ttyUSB0
              collar-link mark --print |
                  sudo tee -a \(RulesFile.systemDirectory)/\(RulesFile.name)

            exit codes:
              0   marked, now or before
              64  wrong usage, several unmarked adapters, or you did not agree
              69  no such adapter
              73  the rule file cannot be written
              74  I/O error, or udev did not accept the rule
              77  no permission
              78  no rule can distinguish the adapter from others
            """)

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
        guard !arguments.has("--yes") || !arguments.has("--print") else {
            throw CommandFailure.excluding(
                "--yes", "--print", remedy: "Leave out `--yes` to print the rule, or `--print` to write it into the file.")
        }
        let devices: [SerialDevice]
        do throws(SystemError) { devices = try DeviceMonitor().allSerialDevices() } catch {
            throw CommandFailure(error.discoveryMessage)
        }
        let plugged = devices.compactMap { USBAdapter($0) }
        let adapter = try choose(arguments.operands.first, among: plugged, of: devices)
        let file = RulesFile(directory: arguments.value("--rules-directory") ?? RulesFile.systemDirectory)
        let rule = try rule(for: adapter, among: plugged)
        let lines = try file.missing(of: rule)
        guard !lines.isEmpty else {
            StandardError.say(
                "\(file.path) has the rule for \(adapter.port.node) already.",
                remedy: adapter.port.isCollarRadio ? nil : "Apply it: `\(RootPrefix(isNeeded: true).udevReload.text)`.")
            return .clean
        }
        // An adapter may be marked by its product's name, or by a rule in another file. That is no mark on another machine, for
        // which a rule in another directory is meant.
        guard !adapter.port.isCollarRadio || file.directory != RulesFile.systemDirectory else {
            StandardError.say("\(adapter.port.node) is marked already.")
            return .clean
        }
        if arguments.has("--print") {
            try StandardOutput.write(lines.map { $0 + "\n" }.joined())
            return .clean
        }
        try write(lines, for: adapter, by: rule, to: file, hasAgreed: arguments.has("--yes"))
        return .clean
    }

    private static func choose(
        _ path: String?, among plugged: [USBAdapter], of devices: [SerialDevice]
    ) throws(CommandFailure) -> USBAdapter {
        guard let path else {
            let unmarked = plugged.filter { !$0.port.isCollarRadio }
            if unmarked.count == 1 { return unmarked[0] }
            guard unmarked.isEmpty else {
                StandardError.say("The USB serial adapters below are not marked.", details: unmarked.map(\.port.text))
                throw CommandFailure(
                    .usage, "\(unmarked.count) USB serial adapters are not marked.", remedy: "Name one: `collar-link mark \(unmarked[0].port.node)`.")
            }
            throw CommandFailure(
                .noDevice,
                plugged.isEmpty ? "No USB serial adapter is plugged in." : "Every USB serial adapter is marked already.",
                remedy: "Plug the adapter in; `collar-link devices` lists what is there.")
        }
        let target = DevicePath(path)
        if let adapter = plugged.first(where: { $0.port.node == path || DevicePath($0.port.node) == target }) { return adapter }
        guard devices.contains(where: { $0.node == path || DevicePath($0.node) == target }) else {
            throw CommandFailure(
                .noDevice, "There is no serial device at \(path).", remedy: "`collar-link devices` lists what is there.")
        }
        throw CommandFailure(
            .usage, "\(path) is no USB adapter.", remedy: "Name the port when you receive: `collar-link --port \(path)`.")
    }

    private static func rule(for adapter: USBAdapter, among plugged: [USBAdapter]) throws(CommandFailure) -> MarkingRule {
        do throws(MarkingRule.Impossible) { return try MarkingRule(for: adapter, among: plugged) } catch {
            throw CommandFailure(
                .configuration,
                "No rule can tell \(adapter.port.node) from other adapters: \(error.reason.text), and udev has no name for its socket.",
                remedy: "Name the port when you receive: `collar-link --port \(adapter.port.node)`.")
        }
    }

    private static func write(
        _ lines: [String], for adapter: USBAdapter, by rule: MarkingRule, to file: RulesFile, hasAgreed: Bool
    ) throws(CommandFailure) {
        StandardError.say("The lines below mark \(adapter.port.text) \(rule.criterion.text).", details: lines)
        guard file.isWritable || !file.hasDirectory else {
            let place = file.directory == RulesFile.systemDirectory ? [] : ["--rules-directory", file.directory]
            let command = ShellCommand(words: ["collar-link", "mark", "--print"] + place + [adapter.port.node])
                .piped(to: ShellCommand("sudo", "tee", "-a", file.path)).then(RootPrefix(isNeeded: true).udevReload)
            throw CommandFailure(
                .noPermission, "This user may not write \(file.path).",
                remedy: "As root: `\(command.text)`.")
        }
        if !hasAgreed { try askWhetherToWrite(file) }
        try file.append(lines)
        StandardError.say("The rule is in \(file.path).")
        guard file.directory == RulesFile.systemDirectory, geteuid() == 0 else {
            StandardError.say("Apply it: `\(RootPrefix(isNeeded: geteuid() != 0).udevReload.text)`.")
            return
        }
        for command in UdevCommands.all where ChildProcess.exitCode(of: command) != 0 {
            throw CommandFailure(
                .inputOutput, "`\(command.joined(separator: " "))` failed.",
                remedy: "Unplug the adapter and plug it in again, or restart the machine.")
        }
        StandardError.say("\(adapter.port.node) is marked: udev has read the rule.")
    }

    private static func askWhetherToWrite(_ file: RulesFile) throws(CommandFailure) {
        guard isatty(STDIN_FILENO) == 1 else {
            throw CommandFailure(
                .usage, "Nothing is written without your agreement, and stdin is no terminal.",
                remedy: "Agree with `--yes`, or print the rule with `--print`.")
        }
        StandardError.write("collar-link: Append this to \(PlainText.line(file.path))? [y/N] ")
        guard let answer = readLine()?.lowercased(), answer == "y" || answer == "yes" else {
            throw CommandFailure(.usage, "Nothing is written.")
        }
    }
}

extension MarkingRule.Criterion {
    fileprivate var text: String {
        switch self {
        case .serial: "by its serial number"
        case .socket(let reason): "by the socket it is in, as \(reason.text)"
        }
    }
}

extension MarkingRule.Reason {
    fileprivate var text: String {
        switch self {
        case .noSerial: "it has no serial number"
        case .placeholder(let serial): "makers give the serial number \(serial) to many adapters"
        case .sharedWith(let node): "\(node) has the same serial number"
        case .unquotable: "its serial number has characters that a rule cannot have"
        }
    }
}

/// The udev rule file of the adapters that a person has marked.
struct RulesFile {
    /// The directory of the machine's own rules.
    static let systemDirectory = "/etc/udev/rules.d"
    /// The name of the file. udev reads it before `70-collar-link.rules`, which acts on the mark, and after `60-serial.rules`,
    /// which finds the numbers of an adapter.
    static let name = "69-my-collar-link.rules"

    let directory: String

    var path: String { "\(directory)/\(RulesFile.name)" }

    /// The lines of the rule that the file does not have yet.
    func missing(of rule: MarkingRule) throws(CommandFailure) -> [String] {
        let present = Set(String(decoding: try content(), as: UTF8.self).split(separator: "\n").map(String.init))
        return rule.lines.filter { !present.contains($0) }
    }

    var isWritable: Bool {
        if unsafe access(path, F_OK) == 0 { return unsafe access(path, W_OK) == 0 }
        return unsafe access(directory, W_OK | X_OK) == 0
    }

    var hasDirectory: Bool { unsafe access(directory, F_OK) == 0 }

    /// Appends lines to the file, which is created if there is none.
    func append(_ lines: [String]) throws(CommandFailure) {
        let content = try content()
        let text = lines.map { $0 + "\n" }.joined()
        let bytes = Array(((content.isEmpty || content.last == UInt8(ascii: "\n") ? "" : "\n") + text).utf8)
        let descriptor = unsafe open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw unwritable(errno) }
        defer { _ = close(descriptor) }
        guard SystemFiles.write(bytes, to: descriptor), fsync(descriptor) == 0 else { throw unwritable(errno) }
    }

    private func content() throws(CommandFailure) -> [UInt8] {
        guard unsafe access(path, F_OK) == 0 || errno != ENOENT else { return [] }
        var input = try ChunkInput(path: path)
        var content: [UInt8] = []
        while let chunk = try input.next() { content += chunk }
        return content
    }

    private func unwritable(_ errorNumber: Int32) -> CommandFailure {
        CommandFailure(
            errorNumber == EACCES || errorNumber == EPERM ? .noPermission : .cannotCreate,
            "\(path) cannot be written: \(SystemError.text(errorNumber)).",
            remedy: errorNumber == ENOENT ? "Make the directory first: `\(ShellCommand("sudo", "mkdir", "-p", directory).text)`." : nil)
    }
}
