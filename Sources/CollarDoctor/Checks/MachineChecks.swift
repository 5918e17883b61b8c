import CheckedNumbers
import CollarErrors
import CollarJournal
import SerialDevices

/// Whether the clock shows a time that can be right. The times in the journal come from it.
package enum ClockCheck {
    /// The beginning of 2100, in milliseconds since 1970.
    private static let latest: Int64 = 4_102_444_800_000

    package static func findings(_ examination: Examination) -> [Finding] {
        let now = examination.machine.unixMilliseconds
        guard now < CredibleTimes.release || now >= latest else { return [] }
        return [.clockWrong(unixSeconds: now / 1000, sudo: examination.sudo)]
    }
}

/// Whether Windows has handed over a USB device to its subsystem for Linux, which has none by itself.
package enum WindowsCheck {
    package static func findings(_ examination: Examination) -> [Finding] {
        let place = "/proc/sys/kernel/osrelease"
        guard let release = examination.machine.firstLine(of: place), release.lowercased().contains("microsoft"),
            examination.adapters.isEmpty, !examination.hasNamedPorts
        else { return [] }
        return [.noUSBInWindows(evidence: Finding.Evidence(place, release))]
    }
}

/// Whether udevd's events of devices arrive: they are messages of the network, and stay in the network namespace of udevd.
package enum NetworkNamespaceCheck {
    package static func findings(_ examination: Examination) -> [Finding] {
        guard examination.isUdevRunning, examination.machine.hearsUdevd == false else { return [] }
        return [
            .networkNamespace(
                evidence: Finding.Evidence(Udevd.netlinkSockets, "no socket of udevd"),
                isContainer: examination.containerMark != nil)
        ]
    }
}

/// Whether udevd runs and can be reached: it applies the rules that mark radios and let the user open them.
package enum UdevCheck {
    package static func findings(_ examination: Examination) -> [Finding] {
        guard !examination.isUdevRunning else { return [] }
        return [.udevNotRunning(containerMark: examination.containerMark, sudo: examination.sudo)]
    }
}

/// Whether the udev rule is installed, whole, and read at the right time. In a container the rules of the machine outside count.
package enum RuleCheck {
    /// The number of `73-seat-late.rules`, which acts on what the rule sets.
    private static let limit = 73

    package static func findings(_ examination: Examination) -> [Finding] {
        guard examination.containerMark == nil else { return [] }
        let rules = examination.rules
        guard let rule = rules.rule else { return [.ruleMissing(empty: rules.empty, sudo: examination.sudo)] }
        var findings: [Finding] = []
        let missing = rules.missingParts
        if !missing.isEmpty { findings.append(.ruleOutdated(path: rule.path, missing: missing, sudo: examination.sudo)) }
        if Int(rule.name.prefix { $0.isNumber }, in: 0...limit - 1) != nil { return findings }
        return findings + [.ruleMisplaced(path: rule.path, sudo: examination.sudo)]
    }
}

/// Whether udev has applied the rules to what is plugged in.
package enum RuleAppliedCheck {
    package static func findings(_ examination: Examination) -> [Finding] {
        guard examination.isUdevRunning, examination.rules.rule != nil else { return [] }
        return examination.adapters.compactMap { adapter -> Finding? in
            let properties = examination.machine.udevProperties(of: adapter.port)
            guard properties["COLLAR_LINK"] != "1" else { return nil }
            if examination.rules.marks(adapter, among: examination.adapters), let marks = examination.rules.marks {
                return .ruleNotApplied(adapter, by: marks.path, sudo: examination.sudo)
            }
            guard adapter.port.hasCollarFirmware, let rule = examination.rules.rule else { return nil }
            return .ruleNotApplied(adapter, by: rule.path, sudo: examination.sudo)
        }
    }
}

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

/// The udev rule files of a machine.
package struct RuleFiles {
    /// A rule file.
    package struct File {
        package let path: String
        package let text: String

        /// The name without the directory.
        package var name: Substring { path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...] }

        /// The lines without comments.
        package var lines: [Substring] { text.split(separator: "\n").filter { !$0.hasPrefix("#") } }
    }

    /// The directories in which udev looks. Of files of the same name, it reads the one in the first directory.
    package static let directories = [
        "/etc/udev/rules.d", "/run/udev/rules.d", "/usr/local/lib/udev/rules.d", "/usr/lib/udev/rules.d", "/lib/udev/rules.d",
    ]
    /// The name of the file with the project's rule.
    package static let ruleName = "70-collar-link.rules"
    /// The name of the file with the marks of the machine's own adapters.
    package static let marksName = "69-my-collar-link.rules"

    /// The file with the project's rule, under whatever name; nil if there is none, or if an empty file of its name takes its place.
    package let rule: File?
    /// The paths of files with the name of the project's rule, and without it.
    package let empty: [String]
    /// The file with the marks of the machine's own adapters.
    package let marks: File?
    /// The file with the rules of brltty.
    package let brltty: File?

    package init(_ machine: any MachineFacts) {
        var files: [File] = []
        for directory in RuleFiles.directories {
            for name in machine.names(in: directory) where !files.contains(where: { $0.name == name }) {
                let isWanted = name.contains("collar") || name.hasSuffix("-brltty.rules")
                guard isWanted, name.hasSuffix(".rules"), let text = machine.contentText(of: machine.resolved("\(directory)/\(name)"))
                else { continue }
                files.append(File(path: "\(directory)/\(name)", text: text))
            }
        }
        marks = files.first { $0.name == RuleFiles.marksName }
        rule = files.first { file in
            file.name != RuleFiles.marksName && file.lines.contains { $0.contains("ENV{COLLAR_LINK}") }
        }
        empty = rule == nil ? files.filter { $0.name == RuleFiles.ruleName }.map(\.path) : []
        brltty = files.first { $0.name.hasSuffix("-brltty.rules") }
    }

    /// The parts of the project's rule without which it does not do all that it should.
    package static let neededParts = [
        #"SUBSYSTEM=="usb", ENV{DEVTYPE}=="usb_device", ATTR{product}=="CollarLink*", ENV{COLLAR_LINK}="1""#,
        #"SUBSYSTEM=="tty", SUBSYSTEMS=="usb", ATTRS{product}=="CollarLink*", ENV{COLLAR_LINK}="1""#,
        #"ENV{ID_MM_DEVICE_IGNORE}="1""#, #"ENV{ID_MM_PORT_IGNORE}="1""#, #"ENV{SYSTEMD_WANTS}="""#, #"TAG+="uaccess""#,
        #"GROUP=""#, #"SYMLINK+="collar-link/by-serial/"#,
    ]

    /// What the installed rule lacks.
    package var missingParts: [String] {
        guard let rule else { return [] }
        let lines = rule.lines
        return RuleFiles.neededParts.filter { part in !lines.contains { $0.contains(part) } }
    }

    /// Whether the machine's own marks have the rule for an adapter.
    package func marks(_ adapter: USBAdapter, among adapters: [USBAdapter]) -> Bool {
        guard let marks else { return false }
        do throws(MarkingRule.Impossible) {
            let rule = try MarkingRule(for: adapter, among: adapters)
            return rule.lines.contains { line in marks.lines.contains { $0 == line } }
        } catch { return false }
    }
}
