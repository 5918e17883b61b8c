import SerialDevices

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
