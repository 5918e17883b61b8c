import CollarConfiguration
import CollarErrors
import CollarFormats
import CollarJournal
import RadioModems

extension Examination {
    /// Whether the configuration files and the options of the command line make sense, and give each stick the region that it needs.
    var configurationFindings: [Finding] {
        let configuration: RadioConfiguration
        do throws(ConfigurationError) { configuration = try radioConfiguration() } catch { return [wrongConfiguration(error)] }
        let memory = StickMemory.dialects(in: machine.contentText(of: "\(stateDirectory)/sticks") ?? "")
        return ports.filter(\.isRadio).compactMap { port in
            let modem = configuration.modem(
                path: port.path, serialNumber: port.device?.serialShort, idPath: port.device?.idPath, node: port.device?.node)
            let remembered = port.device?.stickName.flatMap { name in memory.last { $0.stick == name }?.dialect }
            guard modem.limits == nil, let dialect = modem.dialect ?? remembered, dialect != .serial else { return nil }
            let files = machine.lines(of: .configurationFiles)
            let message = ModemNotice.regionMissing(dialect).message(port: port.path)
            return Finding(
                .regionMissing, port: port.path, message.reason,
                evidence: [
                    Evidence(modem.dialect == nil ? "\(stateDirectory)/sticks" : "configuration", dialect.rawValue),
                    Evidence("configuration files", files.isEmpty ? "none" : files.joined(separator: " ")),
                ], command: files.first.map(addingRegion),
                remedy: "Put the region in which you are in the place of EU868; `collar-link run` takes it as `--region`, too.")
        }
    }

    private func radioConfiguration() throws(ConfigurationError) -> RadioConfiguration {
        var options = RadioOptions()
        for line in machine.lines(of: .radioOptions) {
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            guard words.count == 2, let option = RadioOption(rawValue: words[0]) else { continue }
            try options.set(option, to: words[1], at: .commandLine)
        }
        var files: [ConfigurationFile] = []
        for path in machine.lines(of: .configurationFiles) {
            guard case .bytes(let bytes) = machine.content(of: path) else { continue }
            files.append(try ConfigurationFile(bytes, path: path))
        }
        return try RadioConfiguration(commandLine: options, files: files)
    }

    private func wrongConfiguration(_ error: ConfigurationError) -> Finding {
        let reason = error.message.reason
        return switch error.place {
        case .commandLine:
            Finding(.configurationWrong, reason, evidence: [Evidence("command line", reason)], remedy: "Give another value.")
        case .file(let path, let line):
            Finding(
                .configurationWrong, reason, evidence: [Evidence(path, "line \(line)")],
                command: ShellCommand(syntax: "${EDITOR:-nano}").with("+\(line)", path))
        }
    }

    /// The command that puts a region into a configuration file. A key for every stick is before the first section.
    private func addingRegion(to file: String) -> ShellCommand {
        let new = file + ".new"
        return machine.content(of: file) != .absent
            ? ShellCommand(syntax: "{ echo 'region = EU868'; cat").with(file).with(syntax: "; }").writing(to: new)
                .then(ShellCommand("mv", new, file))
            : ShellCommand("mkdir", "-p", Self.folder(of: file)).then(ShellCommand("echo", "region = EU868").writing(to: file))
    }

    // MARK: The state directory

    /// Whether what is received can be stored, and stays.
    var stateDirectoryFindings: [Finding] {
        let status = machine.status(of: stateDirectory)
        // Of a directory that does not exist yet, the nearest directory above it counts.
        let place = status == nil ? existing(above: stateDirectory) : stateDirectory
        let obstacle = retired ?? strangers(status) ?? unwritable(place)
        if let obstacle { return [obstacle] }
        return room(at: place) + volatility(of: place)
    }

    /// A receiver that was moved to another machine stores nothing here any more.
    private var retired: Finding? {
        let path = "\(stateDirectory)/receiver"
        guard let text = machine.firstLine(of: path), case .retired(let receiverID) = ReceiverFile.parse(text) else { return nil }
        return stateUnusable(.retired(receiverID: receiverID, path: path), Evidence(path, text))
    }

    private func strangers(_ status: FileStatus?) -> Finding? {
        guard let status, status.kind == .directory else { return nil }
        let evidence = Evidence(stateDirectory, modeAndOwner(status))
        if status.ownerID != user.id, status.ownerID != 0, user.id != 0 {
            return stateUnusable(
                .openToStrangers(.owner(status.ownerID), path: stateDirectory), evidence,
                ShellCommand("sudo", "-u", machine.name(ofUser: status.ownerID), "collar-link", "--state-dir", stateDirectory))
        }
        guard status.mode & 0o022 != 0 else { return nil }
        return stateUnusable(.openToStrangers(.others, path: stateDirectory), evidence, ShellCommand("chmod", "go-w", stateDirectory))
    }

    private func stateUnusable(_ error: JournalError, _ evidence: Evidence, _ command: ShellCommand? = nil) -> Finding {
        let message = error.message
        return Finding(.stateUnusable, message.reason, evidence: [evidence], command: command, remedy: message.remedy)
    }

    private func unwritable(_ place: String) -> Finding? {
        let status = machine.status(of: place)
        if let status, status.kind != .directory {
            return Finding(
                .journalUnavailable, "The state directory cannot be made: \(place) is no directory.", evidence: [Evidence(place, "a file")],
                command: ShellCommand("mv", place, place + ".old"))
        }
        if machine.space(at: place)?.isReadOnly == true {
            let mount = mount(of: place)
            return Finding(
                .journalUnavailable, "The disk of the state directory \(stateDirectory) is mounted read-only: nothing can be stored.",
                evidence: [Evidence(mount?.path ?? stateDirectory, "read-only")],
                command: sudo("mount", "-o", "remount,rw", mount?.path ?? "/"),
                remedy: "A disk that became read-only by itself fails: look at `sudo dmesg` first. Or choose another `--state-dir`.")
        }
        guard !machine.mayAccess(place, "wx") else { return nil }
        return Finding(
            .permissionDenied, "\(user.name) may not store anything in \(place).",
            evidence: [Evidence(place, status.map(modeAndOwner) ?? "may not be entered")],
            command: place == stateDirectory
                ? sudo("chown", "-R", "\(user.name):", stateDirectory).then(ShellCommand("chmod", "u+rwx", stateDirectory))
                : sudo("install", "-d", "-o", user.name, "-m", "700", stateDirectory),
            remedy: "Or name a state directory of your own: `--state-dir DIR`.")
    }

    private func room(at place: String) -> [Finding] {
        guard let space = machine.space(at: place) else { return [] }
        /// Free bytes below which nothing more may be stored soon, and those below which a person should know.
        let (fullByteCount, lowByteCount): (Int64, Int64) = (1 << 20, 64 << 20)
        /// Free files below which a person should know.
        let lowFileCount: Int64 = 64
        let isFull = space.freeByteCount < fullByteCount || space.freeFileCount == 0
        guard isFull || space.freeByteCount < lowByteCount || (space.freeFileCount ?? .max) < lowFileCount else { return [] }
        let largest = ShellCommand("du", "-xah", mount(of: place)?.path ?? place).with(syntax: "2>/dev/null")
            .piped(to: ShellCommand("sort", "-rh")).piped(to: ShellCommand("head", "-n", "20"))
        let files = space.freeFileCount.map { "\($0)" } ?? "any number of"
        return [Finding(
            isFull ? .storageFailing : .diskNearlyFull,
            isFull
                ? "The disk of the state directory is full: nothing is stored, and nothing acknowledged."
                : "The disk of the state directory is nearly full.",
            evidence: [Evidence(place, "\(space.freeByteCount >> 10) KiB and \(files) files free")], command: largest,
            remedy: "Make room: the command prints what is largest. Old fixes are removed by `collar-link run --keep DAYS`.")]
    }

    private func volatility(of place: String) -> [Finding] {
        guard let mount = mount(of: place), mount.isVolatile else { return [] }
        let isContainer = containerMark != nil
        return [Finding(
            .stateVolatile,
            isContainer && mount.fileSystem != "tmpfs"
                ? "The state directory \(stateDirectory) is lost with this container."
                : "The state directory \(stateDirectory) is in memory, and lost at a restart.",
            evidence: [Evidence("/proc/self/mountinfo", "\(mount.path) is \(mount.fileSystem)")],
            command: isContainer
                ? ShellCommand("docker", "run", "-v", "collar-link:\(stateDirectory)").with(syntax: "…")
                : ShellCommand("collar-link", "--state-dir").with(syntax: "~/.local/state/collar-link"),
            remedy: "What is acknowledged and then lost does not come again.")]
    }

    private func existing(above path: String) -> String {
        var place = path
        repeat { place = Examination.folder(of: place) } while place != "/" && machine.status(of: place) == nil
        return place
    }

    /// The mount to which a path belongs; nil if it is not known.
    func mount(of path: String) -> Mount? {
        let resolved = machine.resolved(path)
        let mounts = (machine.contentText(of: "/proc/self/mountinfo") ?? "").split(separator: "\n").compactMap { Mount($0) }
        // Of two mounts at one path the later one is visible.
        return mounts.reversed().filter { $0.holds(resolved) }.max { $0.path.utf8.count < $1.path.utf8.count }
    }

    /// Whether the keys of collars can be read by their owner, and read or changed by nobody else. The keys themselves are not read.
    var keyFindings: [Finding] {
        let folder = "\(stateDirectory)/keys"
        return machine.names(in: folder).filter { CollarID.deviceID($0) != nil }.compactMap { name in
            let path = "\(folder)/\(name)"
            guard let status = machine.status(of: path) else { return nil }
            let evidence = [Evidence(path, modeAndOwner(status))]
            if name != name.lowercased() {
                return Finding(
                    .keyUnusable, "The name of the key file \(path) has capitals, so its key is not used.", evidence: evidence,
                    command: ShellCommand("mv", path, "\(folder)/\(name.lowercased())"))
            }
            if status.mode & 0o066 != 0 {
                let reason =
                    status.mode & 0o044 == 0
                    ? "Other users can change the key of collar \(name)."
                    : "Other users can read the key of collar \(name), and with it its positions."
                return Finding(
                    .keyExposed, reason, evidence: evidence, command: ShellCommand("chmod", "600", path),
                    remedy: "If somebody may have done so, give the collar another one: `collar-link key exchange --port PATH`.")
            }
            guard !machine.mayAccess(path, "r") else { return nil }
            return Finding(
                .keyUnusable, "\(user.name) may not read \(path): frames of this collar cannot be opened.", evidence: evidence,
                command: sudo("chown", user.name, path).then(sudo("chmod", "600", path)))
        }
    }

    // MARK: The receiver

    /// Whether the running receiver of the state directory answers, and runs the program that is installed.
    var receiverFindings: [Finding] {
        guard let processID = receiverProcessID, machine.firstLine(of: "/proc/\(processID)/comm") == "collar-link" else { return [] }
        if machine.text(of: .receiver) == ReceiverAnswer.silent {
            let place = "/proc/\(processID)/status"
            let isStopped = (machine.contentText(of: place) ?? "").split(separator: "\n").contains { $0.hasPrefix("State:\tT") }
            return [Finding(
                .receiverSilent, "The running collar-link (process \(processID)) does not answer.",
                evidence: [Evidence("\(stateDirectory)/lock", "\(processID)"), Evidence("control socket", "no answer")]
                    + (isStopped ? [Evidence(place, "stopped, as by Ctrl-Z")] : []),
                command: isStopped ? ShellCommand("kill", "-CONT", "\(processID)") : ShellCommand("kill", "\(processID)"),
                remedy: isStopped ? nil : "Then start it again.")]
        }
        let program = "/proc/\(processID)/exe"
        guard let target = machine.linkTarget(of: program), target.hasSuffix(" (deleted)") else { return [] }
        return [Finding(
            .receiverOutdated, "The running collar-link (process \(processID)) is not the program that is installed now.",
            evidence: [Evidence(program, target)], command: ShellCommand("kill", "\(processID)"),
            remedy: "Then start it again; a service starts by itself.")]
    }

    /// Reports of the last hour on which a person must act. Other reports pass by themselves, or another check finds
    /// their cause.
    var reportFindings: [Finding] {
        let codes: [ErrorCode] = [
            .unknownRadio, .radioSettingRefused, .pairedElsewhere, .keyMissing, .keyRejected, .keyLost, .collarRestarted,
        ]
        var newest: [ReportedError] = []
        for report in reports.reversed() where report.hasRemedy && codes.contains(report.code) {
            if newest.contains(where: { ($0.code, $0.port, $0.deviceID) == (report.code, report.port, report.deviceID) }) { continue }
            newest.append(report)
        }
        let findings = newest.reversed().compactMap(reported)
        func order(_ finding: Finding) -> Int { FindingCode.allCases.firstIndex(of: finding.code) ?? 0 }
        return findings.sorted { order($0) < order($1) } + restartFindings
    }

    private func reported(_ report: ReportedError) -> Finding? {
        guard let code = FindingCode(rawValue: report.code.rawValue) else { return nil }
        let message = UserMessage(report.code, report.reason, ofCollar: report.deviceID)
        let minutes = (machine.unixMilliseconds - report.unixMilliseconds) / 60_000
        return Finding(
            code, port: report.port, report.reason, evidence: [Evidence(report.path, "\(report.code.rawValue), \(minutes) minutes ago")],
            command: message.command, remedy: message.remedy)
    }

    /// Whether a stick restarts again and again.
    private var restartFindings: [Finding] {
        /// How often a stick restarts within an hour before that is a fault.
        let limit = 3
        let restarts = Dictionary(grouping: reports.filter { $0.code == .radioRestarted }) { $0.port ?? "" }
        return restarts.sorted { $0.key < $1.key }.filter { $0.value.count >= limit }.map { path, restarts in
            let node = machine.resolved(path)
            let driver = ports.first { $0.node == node }?.device?.driver
            let isBridge = driver.map { ["cp210x", "ch341", "ch341-uart", "ftdi_sio", "pl2303"].contains($0) } ?? false
            return Finding(
                .radioRestarted, port: path, "The stick at \(path) restarted \(restarts.count) times within an hour.",
                evidence: restarts.suffix(1).map { Evidence($0.path, "radio_restarted × \(restarts.count)") },
                command: isBridge ? sudo("fuser", "-v", path) : nil,
                remedy: isBridge
                    ? "Boards with such a bridge restart when a program opens or closes the port (DTR): the command names them. "
                        + "Else the power fails: use another cable or USB port, and no hub without a power supply."
                    : "Use another cable or USB port, and no hub without a power supply.")
        }
    }
}

/// A mounted file system, from a line of `/proc/self/mountinfo`.
package struct Mount: Equatable {
    package let path: String
    package let fileSystem: String

    package init?(_ line: Substring) {
        let words = line.split(separator: " ")
        guard words.count > 6, let mark = words.firstIndex(of: "-"), mark + 1 < words.count else { return nil }
        path = Mount.unescaped(words[4])
        fileSystem = String(words[mark + 1])
    }

    /// The kernel writes a space, a tab, a line feed and a backslash as a backslash and three octal digits.
    private static let escapes = ["040": " ", "011": "\t", "012": "\n", "134": "\\"]

    private static func unescaped(_ text: Substring) -> String {
        let pieces = text.split(separator: "\\", omittingEmptySubsequences: false)
        return pieces.dropFirst().reduce(String(pieces[0])) { text, piece in
            guard let character = Mount.escapes[String(piece.prefix(3))] else { return text + "\\" + piece }
            return text + character + piece.dropFirst(3)
        }
    }

    /// Whether it loses its files at a restart, or with its container.
    var isVolatile: Bool { ["tmpfs", "ramfs", "overlay", "aufs"].contains(fileSystem) }

    package func holds(_ other: String) -> Bool { path == "/" || other == path || other.hasPrefix(path + "/") }
}
