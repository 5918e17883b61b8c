import CollarFormats
import SerialDevices

/// Whether the running receiver of the state directory answers, and runs the program that is installed.
package enum ReceiverCheck {
    package static func findings(_ examination: Examination) -> [Finding] {
        let machine = examination.machine
        guard let processID = examination.receiverProcessID, machine.firstLine(of: "/proc/\(processID)/comm") == "collar-link" else {
            return []
        }
        if machine.text(of: .receiver) == ReceiverAnswer.silent {
            let state = machine.contentText(of: "/proc/\(processID)/status") ?? ""
            return [
                .receiverSilent(
                    processID: processID, stateDirectory: examination.stateDirectory,
                    isStopped: state.split(separator: "\n").contains { $0.hasPrefix("State:\tT") })
            ]
        }
        let program = "/proc/\(processID)/exe"
        guard let target = machine.linkTarget(of: program), target.hasSuffix(" (deleted)") else { return [] }
        return [.receiverOutdated(processID: processID, evidence: Finding.Evidence(program, target))]
    }
}
