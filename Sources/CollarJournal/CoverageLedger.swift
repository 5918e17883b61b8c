import CollarWire

/// What is covered of each log of one collar: what was appended, and what of it is durable.
struct CoverageLedger {
    /// One log.
    struct Log {
        let id: UInt32
        /// What was appended: a repetition of it is a duplicate.
        var known = CoveredSequences()
        /// What of it is durable: this may be acknowledged.
        var durable = CoveredSequences()
        /// Whether something was appended since the last progress record.
        var isChanged = false
    }

    /// The most logs of one collar; a collar that lies cannot fill the memory.
    static let maximumLogCount = 1024

    private(set) var logs: [Log] = []
    /// Ranges in all logs together, at most ``CoveredSequences/maximumRangeCount``.
    private(set) var rangeCount = 0
    /// Ranges appended and not durable yet.
    private var unsettled: [(logID: UInt32, range: SequenceRange)] = []
    /// Whether something was taken out of what is covered, which is not durable yet.
    private var hasUncovered = false
    /// The log of the last record: mostly that of the next one too.
    private var recentLog = 0

    /// Begins with what was found.
    /// - Parameter unconfirmed: what of it may not be announced before a commit confirms it.
    init(_ recovered: [UInt32: CoveredSequences], unconfirmed: [UInt32: CoveredSequences] = [:]) {
        for (id, covered) in recovered.sorted(by: { $0.key < $1.key }) {
            var durable = covered
            if let waiting = unconfirmed[id] {
                durable = CoveredSequences()
                for range in covered.subtracting(waiting) { durable.insert(range, rangeLimit: .max) }
                durable.announce(below: covered.announcedEnd)
                unsettled += waiting.ranges.map { (id, $0) }
            }
            logs.append(Log(id: id, known: covered, durable: durable))
            rangeCount += covered.ranges.count
        }
    }

    /// Whether everything appended is durable.
    var isSettled: Bool { unsettled.isEmpty && !hasUncovered }

    func log(_ id: UInt32) -> Log? { index(of: id).map { logs[$0] } }

    func contains(_ sequence: UInt32, logID: UInt32) -> Bool {
        guard let index = index(of: logID) else { return false }
        return logs[index].known.contains(sequence)
    }

    /// Takes in what was appended. Where it is not new or not taken nothing changes.
    mutating func cover(_ range: SequenceRange, logID: UInt32) -> CoveredSequences.Insertion {
        guard let log = index(of: logID) ?? addLog(logID) else { return .refused }
        let before = logs[log].known.ranges.count
        let limit = CoveredSequences.maximumRangeCount - rangeCount + before
        let result =
            range.first == range.last
            ? logs[log].known.insert(range.first, rangeLimit: limit)
            : logs[log].known.insert(range, rangeLimit: limit)
        guard result == .inserted else { return result }
        rangeCount += logs[log].known.ranges.count - before
        logs[log].isChanged = true
        recentLog = log
        settleLater(range, logID: logID)
        return .inserted
    }

    /// Takes out what is gone: at once from what may be acknowledged, too.
    /// - Returns: as for ``cover(_:logID:)``; a duplicate is what was not covered.
    mutating func uncover(_ range: SequenceRange, logID: UInt32) -> CoveredSequences.Insertion {
        guard let log = index(of: logID) else { return .duplicate }
        var known = logs[log].known
        guard known.remove(range) else { return .duplicate }
        let growth = known.ranges.count - logs[log].known.ranges.count
        guard rangeCount + growth <= CoveredSequences.maximumRangeCount else { return .refused }
        rangeCount += growth
        logs[log].known = known
        logs[log].durable.remove(range)
        logs[log].durable.announce(below: range.last + 1)
        logs[log].isChanged = true
        hasUncovered = true
        // What was appended a moment ago may become durable as far as it is not gone.
        unsettled = unsettled.flatMap { entry -> [(logID: UInt32, range: SequenceRange)] in
            guard entry.logID == logID else { return [entry] }
            var rest = CoveredSequences()
            rest.insert(entry.range)
            rest.remove(range)
            return rest.ranges.map { (logID, $0) }
        }
        return .inserted
    }

    /// The progress of every log that changed since the last call.
    mutating func takeProgress() -> [Progress] {
        var progress: [Progress] = []
        for index in logs.indices where logs[index].isChanged {
            logs[index].isChanged = false
            let known = logs[index].known
            progress.append(
                Progress(
                    logID: logs[index].id, announcedEnd: max(logs[index].durable.announcedEnd, known.firstMissing),
                    highest: known.highest ?? 0, coveredCount: known.count))
        }
        return progress
    }

    /// What was appended is durable now, and about to be announced.
    mutating func settle() {
        for (logID, range) in unsettled {
            guard let log = index(of: logID) else { continue }
            // What `known` took must be taken here too: the limit was applied there.
            logs[log].durable.insert(range, rangeLimit: .max)
            logs[log].durable.announce()
        }
        hasUncovered = false
        // A long wait may have made it large.
        unsettled.removeAll(keepingCapacity: unsettled.count < 4096)
    }

    private mutating func settleLater(_ range: SequenceRange, logID: UInt32) {
        // The usual case is a run that grows.
        if let last = unsettled.last, last.logID == logID, range.first > last.range.last,
            range.first - last.range.last == 1
        {
            unsettled[unsettled.count - 1].range.last = range.last
        } else {
            unsettled.append((logID, range))
        }
    }

    private func index(of logID: UInt32) -> Int? {
        if recentLog < logs.count, logs[recentLog].id == logID { return recentLog }
        return logs.firstIndex { $0.id == logID }
    }

    private mutating func addLog(_ logID: UInt32) -> Int? {
        guard logs.count < CoverageLedger.maximumLogCount else { return nil }
        logs.append(Log(id: logID))
        return logs.count - 1
    }
}
