import CheckedNumbers
import CollarErrors
import CollarJournal
import SerialDevices

extension Examination {
    /// Whether the clock shows a time that can be right. The times in the journal come from it.
    var clockFindings: [Finding] {
        /// The beginning of 2100, in milliseconds since 1970.
        let latest: Int64 = 4_102_444_800_000
        let now = machine.unixMilliseconds
        guard now < CredibleTimes.release || now >= latest else { return [] }
        return [Finding(
            .clockWrong, "The clock of this machine is wrong, and the times of what is received come from it.",
            evidence: [Evidence("clock", "\(now / 1000) s after 1970-01-01")], command: sudo("timedatectl", "set-ntp", "true"),
            remedy: "A machine without a network needs a clock with a battery.")]
    }

    /// Whether Windows has handed over a USB device to its subsystem for Linux, which has none by itself.
    var windowsFindings: [Finding] {
        let place = "/proc/sys/kernel/osrelease"
        guard let release = machine.firstLine(of: place), release.lowercased().contains(text: "microsoft"), adapters.isEmpty, !hasNamedPorts
        else { return [] }
        return [Finding(
            .noUSBInWindows, "This Linux runs in Windows, which has not handed over a USB device to it.",
            evidence: [Evidence(place, release)], command: ShellCommand("usbipd", "attach", "--wsl", "--busid", "BUSID"),
            remedy: "The command is for a window of Windows; `usbipd list` prints the BUSID, `usbipd bind --busid BUSID` is needed once.")]
    }

    /// Whether udevd's events of devices arrive: they are messages of the network, and stay in the network namespace of udevd.
    var networkNamespaceFindings: [Finding] {
        guard isUdevRunning, machine.hearsUdevd == false else { return [] }
        return [Finding(
            .networkNamespace, "This process is in another network namespace than udevd, whose events do not arrive here.",
            evidence: [Evidence(Udevd.netlinkSockets, "no socket of udevd")],
            command: containerMark == nil
                ? ShellCommand("nsenter", "--net=/proc/1/ns/net", "collar-link") : Examination.containerWithUdev,
            remedy: "You need not do anything: changes in /run/udev/data tell of radios, too.")]
    }

    /// Whether udevd runs and can be reached: it applies the rules that mark radios and let the user open them.
    var udevFindings: [Finding] {
        guard !isUdevRunning else { return [] }
        let evidence = [Evidence("/run/udev/control", "missing")] + containerEvidence
        guard containerMark == nil else {
            return [Finding(
                .udevNotRunning, "This container does not see what udevd knows: marks of radios do not count, only product names.",
                evidence: evidence, command: Examination.containerWithUdev, remedy: "Or name the port: `--port /dev/ttyUSB0`.")]
        }
        return [Finding(
            .udevNotRunning, "udevd does not run: no rule marks a radio or lets a user open it.", evidence: evidence,
            command: sudo("systemctl", "start", "systemd-udevd").then(sudo.udevReload))]
    }

    /// A container that sees udev's data and hears its events.
    private static let containerWithUdev = ShellCommand("docker", "run", "--network", "host", "-v", "/run/udev:/run/udev:ro")
        .with(syntax: "…")

    /// Whether the udev rule is installed, whole, and read at the right time. In a container the rules of the machine outside count.
    var ruleFindings: [Finding] {
        guard containerMark == nil else { return [] }
        guard let rule = rules.rule else {
            return [Finding(
                .ruleMissing, "The udev rule is not installed: radios are not found, and not kept from other programs.",
                evidence: RuleFiles.directories.map { "\($0)/\(RuleFiles.ruleName)" }.map {
                    Evidence($0, rules.empty.contains($0) ? "has no rule, and hides a file of this name in the directories below" : "missing")
                }, command: RuleInstallation.command(sudo: sudo))]
        }
        var findings: [Finding] = []
        let missing = rules.missingParts
        if !missing.isEmpty {
            findings.append(Finding(
                .ruleOutdated, "The udev rule in \(rule.path) is not the one of this version.",
                evidence: missing.map { Evidence(rule.path, "lacks \($0)") },
                command: RuleInstallation.command(sudo: sudo, target: rule.path)))
        }
        // The number of `73-seat-late.rules`, which acts on what the rule sets.
        if Int(rule.name.prefix { $0.isNumber }, in: 0...72) == nil {
            findings.append(Finding(
                .ruleMisplaced, "udev reads \(rule.path) after 73-seat-late.rules, which lets the person at the machine open the radio.",
                evidence: [Evidence(rule.path, "its number is not below 73")],
                command: sudo("mv", rule.path, Self.folder(of: rule.path) + "/" + RuleFiles.ruleName).then(sudo.udevReload)))
        }
        return findings
    }

    /// Whether udev has applied the rules to what is plugged in.
    var ruleAppliedFindings: [Finding] {
        guard isUdevRunning, let rule = rules.rule else { return [] }
        return adapters.compactMap { adapter -> Finding? in
            let node = adapter.port.node
            guard machine.udevProperties(of: adapter.port)["COLLAR_LINK"] != "1",
                let path = rules.marks(adapter, among: adapters) ? rules.marks?.path : adapter.port.hasCollarFirmware ? rule.path : nil
            else { return nil }
            return Finding(
                .ruleNotApplied, port: node, "udev has not applied \(path) to \(node): it is not marked.",
                evidence: [Evidence(path, "marks it"), Evidence("udev properties of \(node)", "no COLLAR_LINK=1")],
                command: sudo.udevReload, remedy: "If that does not help, unplug the radio and plug it in again.")
        }
    }
}

package struct RuleFiles {
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
    package let brltty: File?

    package init(_ machine: any MachineFacts) {
        var files: [File] = []
        for directory in RuleFiles.directories {
            for name in machine.names(in: directory) where !files.contains(where: { $0.name == name }) {
                let isWanted = name.contains(text: "collar") || name.hasSuffix("-brltty.rules")
                guard isWanted, name.hasSuffix(".rules"), let text = machine.contentText(of: machine.resolved("\(directory)/\(name)"))
                else { continue }
                files.append(File(path: "\(directory)/\(name)", text: text))
            }
        }
        marks = files.first { $0.name == RuleFiles.marksName }
        rule = files.first { file in
            file.name != RuleFiles.marksName && file.lines.contains { $0.contains(text: "ENV{COLLAR_LINK}") }
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

    package var missingParts: [String] {
        guard let rule else { return [] }
        let lines = rule.lines
        return RuleFiles.neededParts.filter { part in !lines.contains { $0.contains(text: part) } }
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
