import CollarConfiguration
import CollarErrors
import CollarJournal
import RadioModems
import SerialDevices

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
