import CollarFormats
import CollarErrors
import SerialDevices

/// What `doctor` says about the machine and its rules.
extension Finding {
    package static func clockWrong(unixSeconds: Int64, sudo: RootPrefix) -> Finding {
        Finding(
            .clockWrong, "The clock of this machine is wrong, and the times of what is received come from it.",
            evidence: [Evidence("clock", "\(unixSeconds) s after 1970-01-01")], command: sudo("timedatectl", "set-ntp", "true"),
            remedy: "A machine without a network needs a clock with a battery.")
    }

    package static func noUSBInWindows(evidence: Evidence) -> Finding {
        Finding(
            .noUSBInWindows, "This Linux runs in Windows, which has not handed over a USB device to it.", evidence: [evidence],
            command: ShellCommand("usbipd", "attach", "--wsl", "--busid", "BUSID"),
            remedy: "The command is for a window of Windows; `usbipd list` prints the BUSID, `usbipd bind --busid BUSID` is needed once.")
    }

    package static func networkNamespace(evidence: Evidence, isContainer: Bool) -> Finding {
        Finding(
            .networkNamespace, "This process is in another network namespace than udevd, whose events do not arrive here.",
            evidence: [evidence],
            command: isContainer ? udevInContainer : ShellCommand("nsenter", "--net=/proc/1/ns/net", "collar-link"),
            remedy: "You need not do anything: changes in /run/udev/data tell of radios, too.")
    }

    package static func udevNotRunning(containerMark: String?, sudo: RootPrefix) -> Finding {
        let evidence = [Evidence("/run/udev/control", "missing")] + (containerMark.map { [Evidence($0, "this is a container")] } ?? [])
        return containerMark == nil
            ? Finding(
                .udevNotRunning, "udevd does not run: no rule marks a radio or lets a user open it.", evidence: evidence,
                command: sudo("systemctl", "start", "systemd-udevd").then(sudo.udevReload))
            : Finding(
                .udevNotRunning, "This container does not see what udevd knows: marks of radios do not count, only product names.",
                evidence: evidence, command: udevInContainer,
                remedy: "Or name the port: `--port /dev/ttyUSB0`.")
    }

    package static func ruleMissing(empty: [String], sudo: RootPrefix) -> Finding {
        Finding(
            .ruleMissing, "The udev rule is not installed: radios are not found, and not kept from other programs.",
            evidence: RuleFiles.directories.map { "\($0)/\(RuleFiles.ruleName)" }
                .map { Evidence($0, empty.contains($0) ? "has no rule, and hides a file of this name in the directories below" : "missing") },
            command: RuleInstallation.command(sudo: sudo))
    }

    package static func ruleOutdated(path: String, missing: [String], sudo: RootPrefix) -> Finding {
        Finding(
            .ruleOutdated, "The udev rule in \(path) is not the one of this version.",
            evidence: missing.map { Evidence(path, "lacks \($0)") }, command: RuleInstallation.command(sudo: sudo, target: path))
    }

    package static func ruleMisplaced(path: String, sudo: RootPrefix) -> Finding {
        let folder = path[..<(path.lastIndex(of: "/") ?? path.endIndex)]
        return Finding(
            .ruleMisplaced, "udev reads \(path) after 73-seat-late.rules, which lets the person at the machine open the radio.",
            evidence: [Evidence(path, "its number is not below 73")],
            command: sudo("mv", path, "\(folder)/\(RuleFiles.ruleName)").then(sudo.udevReload))
    }

    package static func ruleNotApplied(_ adapter: USBAdapter, by path: String, sudo: RootPrefix) -> Finding {
        Finding(
            .ruleNotApplied, port: adapter.port.node, "udev has not applied \(path) to \(adapter.port.node): it is not marked.",
            evidence: [Evidence(path, "marks it"), Evidence("udev properties of \(adapter.port.node)", "no COLLAR_LINK=1")],
            command: sudo.udevReload, remedy: "If that does not help, unplug the radio and plug it in again.")
    }

    /// A container that sees udev's data and hears its events.
    private static let udevInContainer = ShellCommand("docker", "run", "--network", "host", "-v", "/run/udev:/run/udev:ro")
        .with(syntax: "…")
}
