import CollarErrors
import CollarPorts
import Glibc
import LinuxSystem

extension SerialPortError: MessageError {
    package var code: ErrorCode {
        switch self {
        case .notFound, .replaced, .disconnected: .noDevice
        case .notATerminal: .notASerialPort
        case .busy: .deviceInUse
        case .permissionDenied: .permissionDenied
        case .system: .portFailed
        }
    }

    package var message: UserMessage {
        switch self {
        case .notFound(let path):
            UserMessage(code, "There is no device at \(path).", "Plug the radio in; `collar-link devices` lists what is there.")
        case .notATerminal(let path):
            UserMessage(code, "\(path) is not a serial port.", "Name a serial port; `collar-link devices` lists them.")
        case .busy(let path, let holder):
            .deviceInUse("\(path) is in use by \(ProcessHolder.description(of: holder)).", holder, path: path)
        case .replaced(let path, let device):
            UserMessage(
                code, "\(path) is another device now, which is not opened: \(device); the receiver is waiting for the radio that was there.",
                "To use this device instead, stop the receiver and start it again.")
        case .permissionDenied(let path, let obstacle): obstacle.message(path: path)
        case .disconnected(let path):
            UserMessage(
                code, "\(path) exists, but its device does not answer.",
                "Unplug the device and plug it in again; `sudo dmesg | tail` shows what the kernel saw.")
        case .system(let path, let operation, let number):
            UserMessage(
                code, "\(path) could not be set up: \(operation): \(SystemError.text(number)).",
                "`sudo dmesg | tail` shows what the kernel says about the device.")
        }
    }
}

private func isUSB(_ path: String) -> Bool { ["/dev/ttyUSB", "/dev/ttyACM", "/dev/serial/by-"].contains(where: path.hasPrefix) }

extension PermissionObstacle {
    fileprivate func message(path: String) -> UserMessage {
        let sudo = RootPrefix(isNeeded: true)
        let (reason, command): (String, ShellCommand)
        let remedy: (String) -> String
        switch self {
        case .notInGroup(let group, let user):
            reason = "\(user) may not open \(path): it belongs to the group \(group), which \(user) is not in."
            command = sudo("usermod", "-aG", group, user)
            remedy = { "Run \($0), then log out and in again." }
        case .notLoggedInAgain(let group, let user):
            reason = "\(user) may not open \(path) yet: this session began before \(user) was added to the group \(group)."
            command = ShellCommand("newgrp", group)
            remedy = { "Log out and in again, or run \($0) in this terminal." }
        case .onlyOwner("root") where !isUSB(path):
            reason = "Only root may open \(path)."
            command = sudo("chgrp", "dialout", path).then(sudo("chmod", "660", path))
            remedy = { "Give it to the group dialout with \($0), and be a member of that group." }
        case .onlyOwner("root"):
            reason = "Only root may open \(path)."
            command = RuleInstallation.command()
            remedy = { "Install the rule with \($0); it says how to add an adapter of your own." }
        case .onlyOwner(let user):
            reason = "Only \(user) may open \(path)."
            command = sudo("-u", user, "collar-link", "--port", path)
            remedy = { "Run the program as its owner: \($0)." }
        case .modeChanged(let mode, let group, let user):
            reason = "\(user) is in the group \(group), but may not open \(path): its mode was changed to \(String(mode, radix: 8))."
            command = sudo("chmod", "660", path)
            remedy = { "Run \($0), or unplug the radio and plug it in again: udevd sets the mode." }
        case .ownerExcluded(let mode, let user):
            reason = "\(path) belongs to \(user), but its mode \(String(mode, radix: 8)) does not let its owner read and write."
            command = ShellCommand("chmod", "u+rw", path)
            remedy = { "Run \($0)." }
        case .directory:
            reason = "The directory of \(path) may not be entered."
            command = ShellCommand("namei", "-l", path)
            remedy = { "See which directory it is with \($0)." }
        case .containerOrSecurityModule:
            reason = "The permissions of \(path) would suffice, but a container or a security module forbids to open it."
            command = sudo("journalctl", "-k", "-g", "denied")
            let option = ShellCommand("--device=\(path)").text
            remedy = { "Start a container with `\(option)`; otherwise find the refusal with \($0)." }
        case .notSetYet:
            reason = "udevd has not set the permissions of \(path) yet."
            command = ShellCommand("systemctl", "status", "systemd-udevd")
            remedy = { "See what holds udevd up: \($0)." }
        }
        return UserMessage(.permissionDenied, reason, running: command, remedy)
    }
}

extension UserMessage {
    /// A port is open in another program.
    /// - Parameter holder: the program; nil if this user cannot see it.
    package static func deviceInUse(_ reason: String, _ holder: ProcessHolder?, path: String) -> UserMessage {
        let command = holder?.ending ?? ShellCommand("sudo", "fuser", "-v", path)
        return UserMessage(.deviceInUse, reason, running: command) { command in
            switch holder {
            case nil: "Find the program with \(command), and stop it."
            case let holder? where holder.isService: "Run \(command)."
            case let holder?: "Close \(holder.shownName), or run \(command)."
            }
        }
    }
}

extension ProcessHolder {
    /// The name for a person. Any user chooses the names of the own processes, so one that could look like a command is quoted.
    package var shownName: String {
        guard !ShellCommand.isPlain(name) else { return name }
        let shown = name.unicodeScalars.map { scalar in
            scalar.controlsText || "\"\\`".unicodeScalars.contains(scalar) ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
        }
        return "\"" + shown.joined() + "\""
    }

    /// The program that has a port open, for a person.
    /// - Parameter holder: the program; nil if this user cannot see it.
    package static func description(of holder: ProcessHolder?) -> String {
        holder.map { "\($0.shownName) (process \($0.processID))" } ?? "another program"
    }

    private static let services = [
        "ModemManager": ["ModemManager"], "gpsd": ["gpsd.socket", "gpsd.service"], "brltty": ["brltty-udev.service", "brltty.service"],
    ]

    /// Whether the service manager would start the program again.
    fileprivate var isService: Bool { ProcessHolder.services[name] != nil }

    /// The command that frees the port.
    fileprivate var ending: ShellCommand {
        ProcessHolder.services[name].map { ShellCommand(words: ["sudo", "systemctl", "stop"] + $0) } ?? ShellCommand("kill", "\(processID)")
    }
}
