import CollarJournal
import SerialDevices

/// Examines a machine. It writes nothing, and opens no device.
package enum Doctor {
    /// The checks, in the order in which their findings are to be fixed: what keeps the most from working comes first.
    private static let checks: [@Sendable (Examination) -> [Finding]] = [
        ClockCheck.findings, WindowsCheck.findings, NetworkNamespaceCheck.findings, UdevCheck.findings, RuleCheck.findings,
        RuleAppliedCheck.findings, PresenceCheck.findings, PermissionCheck.findings, ConfinementCheck.findings, HolderCheck.findings,
        NeighbourCheck.findings, ConsoleCheck.findings, FirmwareCheck.findings, ConfigurationCheck.findings,
        StateDirectoryCheck.findings, KeyCheck.findings, ReceiverCheck.findings, ReportCheck.findings, DisconnectCheck.findings,
        PowerCheck.findings, LatencyTimerCheck.findings, SerialNumberCheck.findings, USB3Check.findings,
    ]

    /// What is wrong with a machine.
    package static func diagnosis(of machine: any MachineFacts) -> Diagnosis {
        let examination = Examination(machine)
        var findings = checks.flatMap { $0(examination) }
        // The cause why no radio is there is what is to be fixed.
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
