import CollarJournal
import CollarWire

/// Judges the alerts of named readers.
extension Oracle {
    /// Checks the alerts of a reader that has taken everything, after everything has arrived.
    func checkAlerts(of reader: SimulatedReader, of host: SimulatedMachine) {
        guard let alerts = reader.alerts, plan.faults.isDisjoint(with: FaultKind.thatTakeEntriesFromReaders) else { return }
        for record in records {
            let key = LogKey(record.log)
            let kept = host.records.of(record.log.deviceID)
            guard let log = kept.logs[record.log.logID], kept.logs.count == 1, !alerts.disorderly.contains(key) else { continue }
            // A fix that a reader had before it was durable may have been cut off.
            guard alerts.seen[key, default: []].allSatisfy({ log.entries[$0] != nil }) else { continue }
            let end = kept.firstMissing(logID: record.log.logID)
            let fixes = log.entries.keys.sorted().filter { $0 < end }.compactMap { sequence -> Fix? in
                if case .fix(let fix) = log.entries[sequence] { fix } else { nil }
            }
            let (expected, confirmed) = (HandedOutAlerts.expected(fixes), alerts.confirmed[key] ?? [])
            let ahead = alerts.ahead[key] ?? []
            checkedAlertCount += expected.count
            if let unknown = confirmed.subtracting(expected).subtracting(ahead).min(by: { $0.sequence < $1.sequence }) {
                return report(.alertsAreTrue, "\(reader.name.text) of host \(host.index) was told of \(unknown), which did not happen")
            }
            // An alert that was told ahead stands for one of the same kind.
            var stands = Dictionary(grouping: ahead, by: \.name).mapValues(\.count)
            for alert in expected where !confirmed.contains(alert) {
                guard let count = stands[alert.name], count > 0 else {
                    return report(.alertsAreTrue, "\(reader.name.text) of host \(host.index) never heard of \(alert)")
                }
                stands[alert.name] = count - 1
            }
        }
    }
}

extension FaultKind {
    /// Faults after which a host may lack fixes that a reader had, or a reader the beginning of a journal.
    package static let thatTakeEntriesFromReaders: FaultSet = [
        .storageDamage, .removal, .hostPowerCuts, .logErase, .stateRollback, .stateRemoval, .clonedHost, .hostileSender,
    ]
}
