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

    private struct Appended {
        let logID: UInt32
        var range: SequenceRange
        let isLost: Bool
    }

    /// The most logs of one collar; a collar that lies cannot fill the memory.
    static let maximumLogCount = 1024

    private(set) var logs: [Log] = []
    /// Ranges in all logs together, at most ``CoveredSequences/maximumRangeCount``.
    private(set) var rangeCount = 0
    /// What was appended and is not durable yet.
    private var unsettled: [Appended] = []
    /// Whether something was taken out of what is covered, which is not durable yet.
    private var hasUncovered = false
    /// The log of the last record: mostly that of the next one too.
    private var recentLog = 0

    /// Begins with what was found.
    /// - Parameters:
    ///   - recovered: what is covered, by log; that of the newest record comes last.
    ///   - unconfirmed: what of it may not be announced before a commit confirms it.
    init(_ recovered: [(UInt32, CoveredSequences)], unconfirmed: [UInt32: SequenceRanges] = [:]) {
        for (id, covered) in recovered {
            var durable = covered
            if let waiting = unconfirmed[id] {
                durable = CoveredSequences()
                for range in covered.lost.subtracting(waiting) { durable.insert(lost: range, rangeLimit: .max) }
                for range in covered.covered.subtracting(waiting) { durable.insert(covered: range) }
                durable.announce(below: covered.announcedEnd)
                for (set, isLost) in [(covered.stored, false), (covered.lost, true)] {
                    for range in waiting.ranges.flatMap(set.intersection) {
                        unsettled.append(Appended(logID: id, range: range, isLost: isLost))
                    }
                }
            }
            logs.append(Log(id: id, known: covered, durable: durable))
            rangeCount += covered.rangeCount
        }
        recentLog = max(0, logs.count - 1)
    }

    /// The logs; that of the last record comes last.
    var logsInOrder: [Log] {
        var order = logs
        if recentLog < order.count { order.append(order.remove(at: recentLog)) }
        return order
    }

    /// Whether everything appended is durable.
    var isSettled: Bool { unsettled.isEmpty && !hasUncovered }

    func log(_ id: UInt32) -> Log? { index(of: id).map { logs[$0] } }

    func isStored(_ sequence: UInt32, logID: UInt32) -> Bool {
        guard let index = index(of: logID) else { return false }
        return logs[index].known.isStored(sequence)
    }

    /// Takes in a fix that was appended. Where it is not new or not taken nothing changes.
    mutating func store(_ sequence: UInt32, logID: UInt32) -> SequenceRanges.Insertion {
        append(Appended(logID: logID, range: SequenceRange(sequence), isLost: false)) { known, limit in
            known.insert(sequence, rangeLimit: limit)
        }
    }

    /// Takes in a loss that was appended. Where it is not new or not taken nothing changes.
    mutating func lose(_ loss: JournaledLoss) -> SequenceRanges.Insertion {
        append(Appended(logID: loss.logID, range: loss.range, isLost: loss.reason.mayBeRevised)) { known, limit in
            known.insert(loss, rangeLimit: limit)
        }
    }

    @inline(__always)
    private mutating func append(
        _ appended: Appended, _ insert: (inout CoveredSequences, _ rangeLimit: Int) -> SequenceRanges.Insertion
    ) -> SequenceRanges.Insertion {
        guard let log = index(of: appended.logID) ?? addLog(appended.logID) else { return .refused }
        let before = logs[log].known.rangeCount
        let result = insert(&logs[log].known, CoveredSequences.maximumRangeCount - rangeCount + before)
        guard result == .inserted else { return result }
        rangeCount += logs[log].known.rangeCount - before
        logs[log].isChanged = true
        recentLog = log
        settleLater(appended)
        return .inserted
    }

    /// Takes out what is gone: at once from what may be acknowledged, too.
    /// - Returns: as for ``store(_:logID:)``; a duplicate is what was not covered.
    mutating func uncover(_ range: SequenceRange, logID: UInt32) -> SequenceRanges.Insertion {
        guard let log = index(of: logID) else { return .duplicate }
        var known = logs[log].known
        guard known.remove(range) else { return .duplicate }
        let growth = known.rangeCount - logs[log].known.rangeCount
        guard rangeCount + growth <= CoveredSequences.maximumRangeCount else { return .refused }
        rangeCount += growth
        logs[log].known = known
        logs[log].durable.remove(range)
        logs[log].durable.announce(below: range.last + 1)
        logs[log].isChanged = true
        hasUncovered = true
        // What was appended a moment ago may become durable as far as it is not gone.
        unsettled = unsettled.flatMap { entry -> [Appended] in
            guard entry.logID == logID else { return [entry] }
            var rest = SequenceRanges()
            rest.insert(entry.range)
            rest.remove(range)
            return rest.ranges.map { Appended(logID: logID, range: $0, isLost: entry.isLost) }
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
                    highest: known.highest ?? 0, coveredCount: known.count, lostCount: known.lost.count))
        }
        return progress
    }

    /// What was appended is durable now, and about to be announced.
    mutating func settle() {
        for appended in unsettled {
            guard let log = index(of: appended.logID) else { continue }
            // What `known` took must be taken here too: the limit was applied there.
            if appended.isLost {
                logs[log].durable.insert(lost: appended.range, rangeLimit: .max)
            } else {
                logs[log].durable.insert(appended.range, rangeLimit: .max)
            }
            logs[log].durable.announce()
        }
        hasUncovered = false
        // A long wait may have made it large.
        unsettled.removeAll(keepingCapacity: unsettled.count < 4096)
    }

    private mutating func settleLater(_ appended: Appended) {
        // The usual case is a run that grows.
        if let last = unsettled.last, last.logID == appended.logID, last.isLost == appended.isLost,
            appended.range.first > last.range.last, appended.range.first - last.range.last == 1
        {
            unsettled[unsettled.count - 1].range.last = appended.range.last
        } else {
            unsettled.append(appended)
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
