import CollarErrors

/// The commands after which udev knows a new rule, and applies it to what is plugged in.
package enum UdevCommands {
    /// The words of each command.
    package static let all = [
        ["udevadm", "control", "--reload"],
        // A mark of the USB device keeps ModemManager away.
        ["udevadm", "trigger", "--subsystem-match=tty", "--subsystem-match=usb"],
    ]
}

extension ShellCommand {
    /// The commands after which udev knows a new rule, and applies it to what is plugged in.
    /// - Parameter isRoot: whether root types them.
    package static func udevReload(asRoot isRoot: Bool) -> ShellCommand {
        let commands = UdevCommands.all.map { RootPrefix(isNeeded: !isRoot)(words: $0) }
        return commands.dropFirst().reduce(commands[0]) { $0.then($1) }
    }
}

extension RootPrefix {
    /// The commands after which udev knows a new rule, and applies it to what is plugged in.
    package var udevReload: ShellCommand { .udevReload(asRoot: !isNeeded) }
}

/// How the project's udev rule is installed.
package enum RuleInstallation {
    /// The command, in the directory of the sources.
    package static func command(sudo: RootPrefix = RootPrefix(isNeeded: true), target: String = "/etc/udev/rules.d/") -> ShellCommand {
        sudo("cp", "hardware/udev/70-collar-link.rules", target).then(sudo.udevReload)
    }
}
