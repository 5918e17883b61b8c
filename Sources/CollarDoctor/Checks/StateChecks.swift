import CollarConfiguration
import CollarErrors
import CollarFormats
import CollarJournal
import RadioModems

/// Whether the configuration files and the options of the command line make sense, and give each stick the region that it needs.
package enum ConfigurationCheck {
    package static func findings(_ examination: Examination) -> [Finding] {
        let configuration: RadioConfiguration
        do throws(ConfigurationError) { configuration = try self.configuration(examination.machine) } catch {
            return [.wrongConfiguration(error)]
        }
        let memory = StickMemory.dialects(in: examination.machine.contentText(of: "\(examination.stateDirectory)/sticks") ?? "")
        return examination.ports.compactMap { port in
            let modem = configuration.modem(
            path: port.path, serialNumber: port.device?.serialShort, idPath: port.device?.idPath, node: port.device?.node)
            let remembered = port.device?.stickName.flatMap { name in memory.last { $0.stick == name }?.dialect }
            guard modem.limits == nil, let dialect = modem.dialect ?? remembered, dialect != .serial else { return nil }
            let files = examination.machine.lines(of: .configurationFiles)
            return .noRegion(
                port.path, dialect, file: files.first,
                isFileThere: files.first.map { examination.machine.content(of: $0) != .absent } ?? false,
                evidence: [
                    Finding.Evidence(
                        modem.dialect == nil ? "\(examination.stateDirectory)/sticks" : "configuration", dialect.rawValue),
                    Finding.Evidence("configuration files", files.isEmpty ? "none" : files.joined(separator: " ")),
                ])
        }
    }

    private static func configuration(_ machine: any MachineFacts) throws(ConfigurationError) -> RadioConfiguration {
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
}

/// Whether what is received can be stored, and stays.
package enum StateDirectoryCheck {
    /// Free bytes below which nothing more may be stored soon, and those below which a person should know.
    private static let (fullByteCount, lowByteCount): (Int64, Int64) = (1 << 20, 64 << 20)
    /// Free files below which a person should know.
    private static let lowFileCount: Int64 = 64
    /// File systems that lose their files at a restart, and those of containers, which lose them with the container.
    private static let volatileFileSystems = ["tmpfs", "ramfs", "overlay", "aufs"]

    package static func findings(_ examination: Examination) -> [Finding] {
        let machine = examination.machine
        let path = examination.stateDirectory
        let status = machine.status(of: path)
        // Of a directory that does not exist yet, the nearest directory above it counts.
        let place = status == nil ? existing(above: path, machine) : path
        let obstacle = retired(examination) ?? strangers(status, examination) ?? unwritable(place, examination)
        if let obstacle { return [obstacle] }
        return room(place, examination) + volatility(place, examination)
    }

    /// A receiver that was moved to another machine stores nothing here any more.
    private static func retired(_ examination: Examination) -> Finding? {
        let path = "\(examination.stateDirectory)/receiver"
        guard let text = examination.machine.firstLine(of: path), case .retired(let receiverID) = ReceiverFile.parse(text) else {
            return nil
        }
        return .stateUnusable(
            JournalError.retired(receiverID: receiverID, path: path), evidence: [Finding.Evidence(path, text)], command: nil)
    }

    private static func strangers(_ status: FileStatus?, _ examination: Examination) -> Finding? {
        guard let status, status.kind == .directory else { return nil }
        let machine = examination.machine
        let path = examination.stateDirectory
        let user = examination.user.id
        let mode = String(status.mode, radix: 8)
        let evidence = [Finding.Evidence(path, "mode \(mode), owner \(machine.name(ofUser: status.ownerID))")]
        if status.ownerID != user, status.ownerID != 0, user != 0 {
            return .stateUnusable(
                JournalError.openToStrangers(.owner(status.ownerID), path: path), evidence: evidence,
                command: ShellCommand("sudo", "-u", machine.name(ofUser: status.ownerID), "collar-link", "--state-dir", path))
        }
        guard status.mode & 0o022 != 0 else { return nil }
        return .stateUnusable(
            JournalError.openToStrangers(.others, path: path), evidence: evidence, command: ShellCommand("chmod", "go-w", path))
    }

    private static func unwritable(_ place: String, _ examination: Examination) -> Finding? {
        let machine = examination.machine
        let status = machine.status(of: place)
        if let status, status.kind != .directory { return .stateInTheWay(place) }
        if machine.space(at: place)?.isReadOnly == true {
            return .stateReadOnly(examination.stateDirectory, mount: mount(of: place, machine), sudo: examination.sudo)
        }
        guard !machine.mayAccess(place, "wx") else { return nil }
        let owner = status.map { "mode \(String($0.mode, radix: 8)), owner \(machine.name(ofUser: $0.ownerID))" }
        return .stateDenied(
            place, stateDirectory: examination.stateDirectory, user: examination.user.name,
            evidence: [Finding.Evidence(place, owner ?? "may not be entered")], sudo: examination.sudo)
    }

    private static func room(_ place: String, _ examination: Examination) -> [Finding] {
        guard let space = examination.machine.space(at: place) else { return [] }
        if space.freeByteCount < fullByteCount || space.freeFileCount == 0 {
            return [.diskFull(place, space, mount: mount(of: place, examination.machine))]
        }
        let isLow = space.freeByteCount < lowByteCount || (space.freeFileCount ?? .max) < lowFileCount
        return isLow ? [.diskNearlyFull(place, space, mount: mount(of: place, examination.machine))] : []
    }

    private static func volatility(_ place: String, _ examination: Examination) -> [Finding] {
        guard let mount = mount(of: place, examination.machine), volatileFileSystems.contains(mount.fileSystem) else { return [] }
        return [.stateVolatile(examination.stateDirectory, mount, isContainer: examination.containerMark != nil)]
    }

    private static func existing(above path: String, _ machine: any MachineFacts) -> String {
        var place = path[...]
        while let slash = place.lastIndex(of: "/"), slash != place.startIndex {
            place = place[..<slash]
            if machine.status(of: String(place)) != nil { return String(place) }
        }
        return "/"
    }

    /// The mount to which a path belongs; nil if it is not known.
    private static func mount(of path: String, _ machine: any MachineFacts) -> Mount? {
        let resolved = machine.resolved(path)
        let mounts = (machine.contentText(of: "/proc/self/mountinfo") ?? "").split(separator: "\n").compactMap { Mount($0) }
        // Of two mounts at one path the later one is visible.
        return mounts.reversed().filter { $0.holds(resolved) }.max { $0.path.utf8.count < $1.path.utf8.count }
    }
}

/// A mounted file system, from a line of `/proc/self/mountinfo`.
package struct Mount: Equatable {
    /// Where it is mounted.
    package let path: String
    /// The kind of file system.
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

    package func holds(_ other: String) -> Bool { path == "/" || other == path || other.hasPrefix(path + "/") }
}

/// Whether the keys of collars can be read by their owner, and by nobody else. The keys themselves are not read.
package enum KeyCheck {
    package static func findings(_ examination: Examination) -> [Finding] {
        let machine = examination.machine
        let folder = "\(examination.stateDirectory)/keys"
        return machine.names(in: folder).filter { CollarID.deviceID($0) != nil }.compactMap { name in
            let path = "\(folder)/\(name)"
            guard let status = machine.status(of: path) else { return nil }
            let evidence = [
                Finding.Evidence(path, "mode \(String(status.mode, radix: 8)), owner \(machine.name(ofUser: status.ownerID))")
            ]
            if name != name.lowercased() { return .keyMisnamed(path, inFolder: folder, name: name, evidence: evidence) }
            if status.mode & 0o077 != 0 { return .keyExposed(path, collar: name, evidence: evidence) }
            guard !machine.mayAccess(path, "r") else { return nil }
            return .keyUnreadable(path, user: examination.user.name, evidence: evidence, sudo: examination.sudo)
        }
    }
}

/// Whether the running receiver of the state directory answers, and runs the program that is installed.
package enum ReceiverCheck {
    package static func findings(_ examination: Examination) -> [Finding] {
        let machine = examination.machine
        guard let processID = examination.receiverProcessID, machine.firstLine(of: "/proc/\(processID)/comm") == "collar-link" else {
            return []
        }
        if machine.text(of: .receiver) == ReceiverAnswer.silent {
            let state = machine.contentText(of: "/proc/\(processID)/status") ?? ""
            return [
                .receiverSilent(
                    processID: processID, stateDirectory: examination.stateDirectory,
                    isStopped: state.split(separator: "\n").contains { $0.hasPrefix("State:\tT") })
            ]
        }
        let program = "/proc/\(processID)/exe"
        guard let target = machine.linkTarget(of: program), target.hasSuffix(" (deleted)") else { return [] }
        return [.receiverOutdated(processID: processID, evidence: Finding.Evidence(program, target))]
    }
}

/// What the receiver reported in the last hour and a person must act on.
package enum ReportCheck {
    /// How often a stick restarts within an hour before that is a fault.
    private static let restartLimit = 3

    /// The reports that are repeated here; others pass by themselves, or another check finds their cause.
    private static let codes: [ErrorCode] = [
        .unknownRadio, .radioSettingRefused, .pairedElsewhere, .keyMissing, .keyRejected, .keyLost, .collarRestarted,
    ]

    package static func findings(_ examination: Examination) -> [Finding] {
        var newest: [ReportedError] = []
        for report in examination.reports.reversed() where report.hasRemedy && codes.contains(report.code) {
            if newest.contains(where: { ($0.code, $0.port, $0.deviceID) == (report.code, report.port, report.deviceID) }) { continue }
            newest.append(report)
        }
        let findings = newest.reversed().compactMap { report in
            FindingCode(rawValue: report.code.rawValue).map { Finding.reported(
                    report, $0, minutes: (examination.machine.unixMilliseconds - report.unixMilliseconds) / 60_000) }
        }
        return findings.sorted { order(of: $0) < order(of: $1) } + restarts(examination)
    }

    private static func order(of finding: Finding) -> Int { FindingCode.allCases.firstIndex(of: finding.code) ?? 0 }

    private static func restarts(_ examination: Examination) -> [Finding] {
        var counts: [String: Int] = [:]
        for report in examination.reports where report.code == .radioRestarted { counts[report.port ?? "", default: 0] += 1 }
        return counts.sorted { $0.key < $1.key }.filter { $0.value >= restartLimit }.compactMap { path, count in
            guard let last = examination.reports.last(where: { $0.code == .radioRestarted && $0.port ?? "" == path }) else { return nil }
            let node = examination.machine.resolved(path)
            let driver = examination.ports.first { $0.node == node }?.device?.driver
            return .restarts(path, count: count, driver: driver, evidence: Finding.Evidence(last.path, "radio_restarted × \(count)"),
                sudo: examination.sudo)
        }
    }
}

/// What `doctor` says about settings, the state directory and the receiver.
extension Finding {
    package static func wrongConfiguration(_ error: ConfigurationError) -> Finding {
        let message = error.message
        return switch error.place {
        case .commandLine:
            Finding(.configurationWrong, message.reason, evidence: [Evidence("command line", message.reason)], remedy: "Give another value.")
        case .file(let path, let line):
            Finding(
                .configurationWrong, message.reason, evidence: [Evidence(path, "line \(line)")],
                command: ShellCommand(syntax: "${EDITOR:-nano}").with("+\(line)", path))
        }
    }

    package static func noRegion(_ path: String, _ dialect: Dialect, file: String?, isFileThere: Bool, evidence: [Evidence]) -> Finding {
        let message = ModemNotice.regionMissing(dialect).message(port: path)
        let command = file.map { file in
            let folder = file[..<(file.lastIndex(of: "/") ?? file.endIndex)]
            let new = file + ".new"
            // A key for every stick is before the first section.
            return isFileThere
                ? ShellCommand(syntax: "{ echo 'region = EU868'; cat").with(file).with(syntax: "; }").writing(to: new)
                    .then(ShellCommand("mv", new, file))
                : ShellCommand("mkdir", "-p", String(folder)).then(ShellCommand("echo", "region = EU868").writing(to: file))
        }
        return Finding(
            .regionMissing, port: path, message.reason, evidence: evidence, command: command,
            remedy: "Put the region in which you are in the place of EU868; `collar-link run` takes it as `--region`, too.")
    }

    package static func stateUnusable(_ error: JournalError, evidence: [Evidence], command: ShellCommand?) -> Finding {
        let message = error.message
        return Finding(.stateUnusable, message.reason, evidence: evidence, command: command, remedy: message.remedy)
    }

    package static func stateInTheWay(_ path: String) -> Finding {
        Finding(
            .journalUnavailable, "The state directory cannot be made: \(path) is no directory.", evidence: [Evidence(path, "a file")],
            command: ShellCommand("mv", path, path + ".old"))
    }

    package static func stateReadOnly(_ path: String, mount: Mount?, sudo: RootPrefix) -> Finding {
        Finding(
            .journalUnavailable, "The disk of the state directory \(path) is mounted read-only: nothing can be stored.",
            evidence: [Evidence(mount?.path ?? path, "read-only")],
            command: sudo("mount", "-o", "remount,rw", mount?.path ?? "/"),
            remedy: "A disk that became read-only by itself fails: look at `sudo dmesg` first. Or choose another `--state-dir`.")
    }

    package static func stateDenied(
        _ path: String, stateDirectory: String, user: String, evidence: [Evidence], sudo: RootPrefix
    ) -> Finding {
        Finding(
            .permissionDenied, "\(user) may not store anything in \(path).", evidence: evidence,
            command: path == stateDirectory
                ? sudo("chown", "-R", "\(user):", stateDirectory).then(ShellCommand("chmod", "u+rwx", stateDirectory))
                : sudo("install", "-d", "-o", user, "-m", "700", stateDirectory),
            remedy: "Or name a state directory of your own: `--state-dir DIR`.")
    }

    package static func diskFull(_ path: String, _ space: DiskSpace, mount: Mount?) -> Finding {
        Finding(
            .storageFailing, "The disk of the state directory is full: nothing is stored, and nothing acknowledged.",
            evidence: [room(path, space)], command: largest(mount?.path ?? path),
            remedy: "Make room: the command prints what is largest. Old fixes are removed by `collar-link run --keep DAYS`.")
    }

    package static func diskNearlyFull(_ path: String, _ space: DiskSpace, mount: Mount?) -> Finding {
        Finding(
            .diskNearlyFull, "The disk of the state directory is nearly full.", evidence: [room(path, space)],
            command: largest(mount?.path ?? path),
            remedy: "Make room: the command prints what is largest. Old fixes are removed by `collar-link run --keep DAYS`.")
    }

    /// Lists what is largest on the disk that is mounted at a path.
    private static func largest(_ path: String) -> ShellCommand {
        ShellCommand("du", "-xah", path).with(syntax: "2>/dev/null").piped(to: ShellCommand("sort", "-rh"))
            .piped(to: ShellCommand("head", "-n", "20"))
    }

    private static func room(_ path: String, _ space: DiskSpace) -> Evidence {
        Evidence(path, "\(space.freeByteCount >> 10) KiB and \(space.freeFileCount.map { "\($0)" } ?? "any number of") files free")
    }

    package static func stateVolatile(_ path: String, _ mount: Mount, isContainer: Bool) -> Finding {
        Finding(
            .stateVolatile,
            isContainer && mount.fileSystem != "tmpfs"
                ? "The state directory \(path) is lost with this container."
                : "The state directory \(path) is in memory, and lost at a restart.",
            evidence: [Evidence("/proc/self/mountinfo", "\(mount.path) is \(mount.fileSystem)")],
            command: isContainer
                ? ShellCommand("docker", "run", "-v", "collar-link:\(path)").with(syntax: "…")
                : ShellCommand("collar-link", "--state-dir").with(syntax: "~/.local/state/collar-link"),
            remedy: "What is acknowledged and then lost does not come again.")
    }

    package static func keyExposed(_ path: String, collar: String, evidence: [Evidence]) -> Finding {
        Finding(
            .keyExposed, "Other users can read the key of collar \(collar), and with it its positions.", evidence: evidence,
            command: ShellCommand("chmod", "600", path),
            remedy: "If somebody may have read it, give the collar another one: `collar-link key exchange --port PATH`.")
    }

    package static func keyMisnamed(_ path: String, inFolder folder: String, name: String, evidence: [Evidence]) -> Finding {
        Finding(
            .keyUnusable, "The name of the key file \(path) has capitals, so its key is not used.", evidence: evidence,
            command: ShellCommand("mv", path, "\(folder)/\(name.lowercased())"))
    }

    package static func keyUnreadable(_ path: String, user: String, evidence: [Evidence], sudo: RootPrefix) -> Finding {
        Finding(
            .keyUnusable, "\(user) may not read \(path): frames of this collar cannot be opened.", evidence: evidence,
            command: sudo("chown", user, path).then(sudo("chmod", "600", path)))
    }

    package static func receiverSilent(processID: Int32, stateDirectory: String, isStopped: Bool) -> Finding {
        Finding(
            .receiverSilent, "The running collar-link (process \(processID)) does not answer.",
            evidence: [Evidence("\(stateDirectory)/lock", "\(processID)"), Evidence("control socket", "no answer")]
                + (isStopped ? [Evidence("/proc/\(processID)/status", "stopped, as by Ctrl-Z")] : []),
            command: isStopped ? ShellCommand("kill", "-CONT", "\(processID)") : ShellCommand("kill", "\(processID)"),
            remedy: isStopped ? nil : "Then start it again.")
    }

    package static func receiverOutdated(processID: Int32, evidence: Evidence) -> Finding {
        Finding(
            .receiverOutdated, "The running collar-link (process \(processID)) is not the program that is installed now.",
            evidence: [evidence], command: ShellCommand("kill", "\(processID)"), remedy: "Then start it again; a service starts by itself.")
    }

    package static func reported(_ report: ReportedError, _ code: FindingCode, minutes: Int64) -> Finding {
        let message = UserMessage(report.code, report.reason, ofCollar: report.deviceID)
        return Finding(
            code, port: report.port, report.reason,
            evidence: [Evidence(report.path, "\(report.code.rawValue), \(minutes) minutes ago")],
            command: message.command, remedy: message.remedy)
    }
}
