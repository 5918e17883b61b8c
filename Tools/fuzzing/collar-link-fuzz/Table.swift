import Foundation
import FuzzCore

/// The table of results, with a line for each target, printed when the target has ended.
final class Table {
    private var executions: UInt64 = 0
    private var seconds = 0.0
    private var findings = 0

    init() {
        print(
            Table.pad("target", 20) + Table.right("executions", 12) + Table.right("a second", 12)
                + Table.right("behind CRC", 14) + Table.right("decoded", 12) + Table.right("findings", 10))
    }

    func add(_ target: any FuzzTarget, _ report: Supervisor.Report) {
        executions += report.executions
        seconds += report.seconds
        findings += report.findings.count
        line(
            target.name, report.executions, report.seconds, "\(report.behindCRC)", "\(report.accepted)",
            report.findings.count)
    }

    func show(_ finding: Finding, at path: String) {
        print("FOUND \(finding.target): \(finding.problem)\n      Tools/fuzz --replay \(path)")
    }

    func end() { line("all", executions, seconds, "", "", findings) }

    private func line(
        _ name: String, _ executions: UInt64, _ seconds: Double, _ behindCRC: String, _ accepted: String,
        _ findings: Int
    ) {
        let rate = seconds > 0 ? Int(Double(executions) / seconds) : 0
        print(
            Table.pad(name, 20) + Table.right("\(executions)", 12) + Table.right("\(rate)", 12)
                + Table.right(behindCRC, 14) + Table.right(accepted, 12) + Table.right("\(findings)", 10))
        // A long run shows its progress also if stdout is no terminal.
        _ = fflush(nil)
    }

    static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }

    static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(1, width - text.count)) + text
    }
}
