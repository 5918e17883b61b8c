import CollarJournal
import SerialDevices

/// Examines a machine. It writes nothing, and opens no device.
public enum Doctor {
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
        let findings = checks.flatMap { $0(examination) }
        // Whatever does not matter to the work comes last.
        let ordered = findings.filter { $0.code.severity != .info } + findings.filter { $0.code.severity == .info }
        return Diagnosis(
            findings: ordered, ports: examination.ports.map(\.path),
            unexamined: examination.kernelLog == nil ? ["the kernel's log"] : [],
            version: machine.text(of: .version) ?? "unknown", kernel: machine.firstLine(of: "/proc/sys/kernel/osrelease"))
    }

    /// A recorder of a machine that leaves out what nobody should send to others: the receiver's identity, and all that was stored but
    /// the errors that were reported.
    package static func recorder(of machine: any MachineFacts) -> MachineRecorder {
        MachineRecorder(machine) { path, line in
            if path.hasSuffix("/receiver") { return line.starts(with: ReceiverFile.retiredPrefix.utf8) }
            return path.hasSuffix(".jsonl") ? ReportedError.isReport(line) : true
        }
    }
}
