import CollarFirmware
import CollarHost
import CollarJournal
import CollarWire

/// Judges what named readers get, and what hosts remove before somebody has it.
extension Oracle {
    /// The collars that have logged something.
    var deviceIDs: [DeviceID] { Set(records.map(\.log.deviceID)).sorted() }

    /// A reader is handed an entry.
    func handedOut(_ entry: EmittedEntry, to reader: String) {
        guard let (key, sequence, content) = entry.logged,
            let record = record(of: LogIdentity(deviceID: key.deviceID, logID: key.logID)), !record.permits(content, at: sequence)
        else { return }
        report(.oneContentPerID, "\(reader) is handed \(sequence) as it was not logged")
    }

    /// Checks a reader that has taken everything, after everything has arrived.
    func checkEntries(of reader: SimulatedReader, of host: SimulatedMachine) {
        var lostCount = 0
        for record in records {
            let kept = host.records.of(record.log.deviceID)
            guard let log = kept.logs[record.log.logID] else { continue }
            let confirmed = reader.confirmed[LogKey(record.log)] ?? [:]
            // A fix that waits for earlier fixes is not handed out yet.
            let end = reader.isOrdered ? kept.firstMissing(logID: record.log.logID) : .max
            let firstOwed = reader.firstOwedSegments[record.log.deviceID] ?? 0
            for sequence in log.entries.keys.sorted() where sequence < end && confirmed[sequence] != log.entries[sequence] {
                let segment = log.segments[sequence] ?? 0
                if segment < firstOwed { continue }
                if segment < kept.oldestSegment {
                    lostCount += 1
                    continue
                }
                return report(
                    .readersGetEverything,
                    "host \(host.index) has \(sequence) of log \(record.log.logID), of which \(reader.name.text) never heard")
            }
        }
        let toldCount = host.unreadRemovals[reader.name] ?? 0
        if lostCount > toldCount {
            report(
                .unreadIsKept,
                "host \(host.index) removed \(lostCount) entries that \(reader.name.text) lacks, and reported \(toldCount)")
        }
    }

    /// A host reports that it has removed entries that somebody lacks.
    func removedUnread(_ removed: RemovedEntries, of deviceID: DeviceID, _ host: SimulatedMachine) {
        host.unreadRemovals[nil, default: 0] += removed.unreadCount
        for reader in removed.readers { host.unreadRemovals[reader, default: 0] += removed.unreadCount }
        guard plan.faults.contains(.removal), plan.removesUnread else {
            return report(
                .unreadIsKept, "host \(host.index) removed \(removed.unreadCount) entries of \(String(deviceID.rawValue, radix: 16)) unread")
        }
    }
}

extension EmittedEntry {
    /// The log, the sequence and the content of a fix or a message; nil for a change of a gap.
    var logged: (key: LogKey, sequence: UInt32, content: LogEntry)? {
        switch content {
        case .fix(let record):
            (LogKey(deviceID: deviceID, logID: record.logID), record.fix.sequence, .fix(record.fix))
        case .message(let record):
            (LogKey(deviceID: deviceID, logID: record.logID), record.message.sequence, .message(record.message.content))
        case .gap: nil
        }
    }
}
