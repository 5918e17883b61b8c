import CheckedNumbers
import CollarErrors
import CollarJournal
import CollarPorts
import LinuxSystem
import SerialDevices

/// The examination of machines. It writes nothing, and opens no device.
package enum Doctor {
    package static func diagnosis(of machine: any MachineFacts) -> Diagnosis {
        let examination = Examination(machine)
        var findings = examination.findings
        // The cause why no radio is there is the one to fix.
        if findings.contains(where: explainsAbsence) { findings.removeAll { $0.code == .noDevice && $0.port == nil } }
        // Whatever does not matter to the work comes last.
        let ordered = findings.filter { $0.code.severity != .info } + findings.filter { $0.code.severity == .info }
        return Diagnosis(
            findings: ordered, ports: examination.ports.map(\.path),
            unexamined: examination.kernelLog == nil ? ["the kernel's log"] : [],
            version: machine.text(of: .version) ?? "unknown", kernel: machine.firstLine(of: "/proc/sys/kernel/osrelease"))
    }

    private static func explainsAbsence(_ finding: Finding) -> Bool {
        switch finding.code {
        case .noUSBInWindows, .ruleNotApplied: true
        case .portClaimed: finding.port == nil
        default: false
        }
    }

    /// A recorder of a machine that leaves out what nobody should send to others: the receiver's identity, all that was stored but
    /// errors and changes of links, and messages of the kernel that no check reads.
    package static func recorder(of machine: any MachineFacts) -> MachineRecorder {
        MachineRecorder(machine) { path, line in
            if path.hasSuffix("/receiver") { return line.starts(with: ReceiverFile.retiredPrefix.utf8) }
            if path.hasSuffix(".jsonl") { return ReportedError.isOfUse(line) }
            return KernelLog.paths.contains(path) ? KernelLog.isOfUse(String(decoding: line, as: UTF8.self)) : true
        }
    }
}

/// The facts about a machine that several checks need, gathered once.
package struct Examination {
    /// A port that `run` would open.
    package struct Port {
        /// The path by which it is known: as the user named it, or the device node.
        package let path: String
        /// The device node, free of symbolic links.
        package let node: String
        /// The device at the node; nil if there is none, or if it is not a serial port.
        package let device: SerialDevice?
        /// The USB device of the port; nil if it is not one of a USB device.
        package let adapter: USBAdapter?
        /// Whether a radio belongs there, and not a GNSS receiver.
        package let isRadio: Bool
    }

    package let machine: any MachineFacts
    /// All serial ports that have hardware.
    package let devices: [SerialDevice]
    /// Those of USB devices.
    package let adapters: [USBAdapter]
    /// The ports that `run` would open on this machine.
    package let ports: [Port]
    /// Whether the user named a port, here or at another machine.
    package let hasNamedPorts: Bool
    package let rules: RuleFiles
    package let stateDirectory: String
    /// The file of the collar that this machine is; nil for the machine of a receiver.
    package let collarFile: String?
    /// Whether udevd runs, and can be reached.
    package let isUdevRunning: Bool
    /// The mark of a container that was found; nil outside of containers.
    package let containerMark: String?
    /// The kernel's log; nil if the user may not read it.
    package let kernelLog: KernelLog?
    /// Time since the start of the kernel, in seconds.
    package let uptimeSeconds: Int64
    /// The errors that the receiver reported in the last hour, in their order.
    package let reports: [ReportedError]
    package let user: MachineUser

    package init(_ machine: any MachineFacts) {
        self.machine = machine
        devices = machine.serialDevices()
        adapters = devices.compactMap { machine.adapter(of: $0) }
        let named = machine.lines(of: .namedPorts)
        let receiverPort = machine.text(of: .receiverPort)
        collarFile = machine.text(of: .collarFile)
        hasNamedPorts = named.contains { $0 != "auto" } || collarFile != nil
        var ports: [Port] = []
        for path in named + [receiverPort].compactMap({ $0 }) where path != "auto" && !path.hasPrefix(NetworkAddress.scheme) {
            let node = machine.resolved(path)
            let device = devices.first { $0.node == node }
            ports.append(
                Port(
                    path: path, node: node, device: device, adapter: device.flatMap { machine.adapter(of: $0) },
                    isRadio: path != receiverPort))
        }
        if !hasNamedPorts || named.contains("auto") {
            for device in devices where device.isCollarRadio && !ports.contains(where: { $0.node == device.node }) {
                ports.append(
                    Port(path: device.node, node: device.node, device: device, adapter: machine.adapter(of: device), isRadio: true))
            }
        }
        self.ports = ports
        rules = RuleFiles(machine)
        stateDirectory = machine.text(of: .stateDirectory) ?? "/var/lib/collar-link"
        isUdevRunning = machine.status(of: "/run/udev/control") != nil
        let marks = ["/.dockerenv", "/run/.containerenv", "/run/systemd/container"]
        containerMark = marks.first { machine.content(of: $0) != .absent }
        kernelLog = KernelLog(machine)
        uptimeSeconds = machine.firstLine(of: "/proc/uptime").flatMap { Int64($0.prefix { $0 != "." }, in: .exactNumbers) } ?? 0
        reports = ReportedError.recent(machine, stateDirectory: stateDirectory)
        user = machine.user
    }

    /// Whether the node of a port is a terminal, as far as its number tells.
    package func isTerminal(_ port: Port) -> Bool {
        // A pseudo-terminal has no entry below /sys.
        if port.device != nil || port.node.hasPrefix("/dev/pts/") { return true }
        guard let status = machine.status(of: port.node), status.kind == .characterDevice else { return false }
        return machine.linkTarget(of: "/sys/dev/char/\(status.device)")?.split(separator: "/").contains("tty") ?? false
    }

    /// The findings of all checks, in the order in which they are fixed: what keeps the most from working comes first.
    fileprivate var findings: [Finding] {
        let ofPorts = [
            presenceFindings, permissionFindings, confinementFindings, holderFindings, neighbourFindings, consoleFindings, firmwareFindings,
            configurationFindings,
        ]
        let ofUSB = [disconnectFindings, powerFindings, latencyTimerFindings, serialNumberFindings, usb3Findings]
        // A collar needs no mark and no state directory, and gets its clock from its GNSS receiver.
        if collarFile != nil { return ([windowsFindings] + ofPorts + [collarFindings] + ofUSB).flatMap { $0 } }
        let ofMachine = [clockFindings, windowsFindings, networkNamespaceFindings, udevFindings, ruleFindings, ruleAppliedFindings]
        return (ofMachine + ofPorts + [stateDirectoryFindings, keyFindings, receiverFindings, reportFindings] + ofUSB).flatMap { $0 }
    }

    typealias Evidence = Finding.Evidence

    /// That this is a container, if it is one.
    var containerEvidence: [Evidence] { containerMark.map { [Evidence($0, "this is a container")] } ?? [] }

    /// The permissions and the owner of a file, as evidence.
    func modeAndOwner(_ status: FileStatus) -> String {
        "mode \(String(status.mode, radix: 8)), owner \(machine.name(ofUser: status.ownerID))"
    }

    /// The start of a command that only root may carry out.
    package var sudo: RootPrefix { RootPrefix(isNeeded: user.id != 0) }

    /// The process id of the receiver that has used the state directory last; nil if there is none.
    package var receiverProcessID: Int32? { machine.firstLine(of: "\(stateDirectory)/lock").flatMap { Int32($0, in: 1 ... .max) } }
}
