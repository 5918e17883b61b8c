import CollarErrors
import SerialDevices

/// What the receiver reported in the last hour and a person must act on.
package enum ReportCheck {
    /// How often a stick restarts within an hour before that is a fault.
    private static let restartLimit = 3

    /// The reports that are repeated here; others pass by themselves, or another check finds their cause.
    private static let codes: [ErrorCode] = [
        .unknownRadio, .radioSettingRefused, .pairedElsewhere, .keyMissing, .keyRejected, .keyLost, .collarRestarted,
    ]

    package static func findings(_ examination: Examination) -> [Finding] {
        var newest: [ReportedError] = []
        for report in examination.reports.reversed() where report.hasRemedy && codes.contains(report.code) {
            if newest.contains(where: { ($0.code, $0.port, $0.deviceID) == (report.code, report.port, report.deviceID) }) { continue }
            newest.append(report)
        }
        let findings = newest.reversed().compactMap { report in
            FindingCode(rawValue: report.code.rawValue).map { Finding.reported(
                    report, $0, minutes: (examination.machine.unixMilliseconds - report.unixMilliseconds) / 60_000) }
        }
        return findings.sorted { order(of: $0) < order(of: $1) } + restarts(examination)
    }

    private static func order(of finding: Finding) -> Int { FindingCode.allCases.firstIndex(of: finding.code) ?? 0 }

    private static func restarts(_ examination: Examination) -> [Finding] {
        var counts: [String: Int] = [:]
        for report in examination.reports where report.code == .radioRestarted { counts[report.port ?? "", default: 0] += 1 }
        return counts.sorted { $0.key < $1.key }.filter { $0.value >= restartLimit }.compactMap { path, count in
            guard let last = examination.reports.last(where: { $0.code == .radioRestarted && $0.port ?? "" == path }) else { return nil }
            let node = examination.machine.resolved(path)
            let driver = examination.ports.first { $0.node == node }?.device?.driver
            return .restarts(path, count: count, driver: driver, evidence: Finding.Evidence(last.path, "radio_restarted × \(count)"),
                sudo: examination.sudo)
        }
    }
}
