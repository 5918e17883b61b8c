import CollarWire

/// The coverage of each log of one collar: the appended sequences, and which of them are durable.
struct CoverageLedger {
    struct Log {
        let id: LogID
        /// The appended sequences, stored or lost. Appending a stored one again is a duplicate.
        var known = CoveredSequences()
        /// The sequences of ``known`` that are durable. These may be acknowledged.
        var durable = CoveredSequences()
        /// Whether ``known`` has changed since the last progress record.
        var isChanged = false
    }

    private struct Appended {
        let logID: LogID
        var range: SequenceRange
        let isLost: Bool
    }

    private let limits: TrackingLimits
    /// The logs, in the order in which they were added.
    private(set) var logs: [Log] = []
    /// Indices in ``logs``.
    private var indices: [LogID: Int] = [:]
    /// The highest number of logs that are accepted now; ``admitLog()`` raises it.
    private var admittedLogCount: Int
    /// The number of shared ranges in use: the sum, over all logs, of the ranges above ``TrackingLimits/rangesOfLog``.
    private(set) var sharedRangeCount = 0
    private var unsettled: [Appended] = []
    /// Whether a range was marked as not covered and the record of this change is not durable yet.
    private var hasWithdrawn = false
    /// Index of the log of the last record. The next record usually belongs to the same log.
    private var recentLog = 0

    /// Begins with the recovered coverage.
    /// - Parameter isConfirmed: whether all of that coverage may be announced; if not, its unconfirmed part waits for a commit.
    init(_ recovery: JournalRecovery?, isConfirmed: Bool, limits: TrackingLimits) {
        self.limits = limits
        admittedLogCount = limits.promptLogCount
        let unconfirmed = isConfirmed ? [:] : recovery?.unconfirmed ?? [:]
        for (id, covered) in recovery?.logsInOrder ?? [] {
            var durable = covered
            if let waiting = unconfirmed[id] {
                durable = CoveredSequences()
                for range in covered.lost.subtracting(waiting) { durable.insert(lost: range, rangeLimit: .max) }
                for range in covered.covered.subtracting(waiting) { durable.insert(covered: range) }
                durable.announce(below: covered.announcedEnd)
                for (set, isLost) in [(covered.stored, false), (covered.lost, true)] {
                    unsettled += waiting.ranges.flatMap(set.intersection).map { Appended(logID: id, range: $0, isLost: isLost) }
                }
            }
            indices[id] = logs.count
            logs.append(Log(id: id, known: covered, durable: durable))
            sharedRangeCount += shared(covered)
        }
        recentLog = max(0, logs.count - 1)
        admittedLogCount = max(admittedLogCount, logs.count)
    }

    /// The logs, with the log of the last record moved to the end.
    var logsInOrder: [Log] {
        var order = logs
        if recentLog < order.count { order.append(order.remove(at: recentLog)) }
        return order
    }

    var isSettled: Bool { unsettled.isEmpty && !hasWithdrawn }

    func log(_ id: LogID) -> Log? { index(of: id).map { logs[$0] } }

    func isStored(_ sequence: UInt32, logID: LogID) -> Bool {
        index(of: logID).map { logs[$0].known.isStored(sequence) } ?? false
    }

    /// Marks the sequence of an appended fix as covered. If the sequence is a duplicate or refused, nothing changes.
    mutating func store(_ sequence: UInt32, logID: LogID) -> SequenceRanges.Insertion {
        append(Appended(logID: logID, range: SequenceRange(sequence), isLost: false)) { known, limit in
            let result = known.insert(sequence, rangeLimit: limit)
            guard result == .refused, known.firstMissing == sequence else { return result }
            return known.insert(sequence, rangeLimit: .max)
        }
    }

    /// Marks as covered an appended range that is given up. If the range is a duplicate or refused, nothing changes.
    mutating func giveUp(_ range: SequenceRange, logID: LogID) -> SequenceRanges.Insertion {
        append(Appended(logID: logID, range: range, isLost: false)) { known, _ in
            known.isNext(range) ? known.insert(range, rangeLimit: .max) : .refused
        }
    }

    /// Marks the range of an appended loss as covered. If the range is a duplicate or refused, nothing changes.
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
        let before = shared(logs[log].known)
        let result = insert(&logs[log].known, rangeLimit(sharedNow: before))
        guard result == .inserted else { return result }
        sharedRangeCount += shared(logs[log].known) - before
        logs[log].isChanged = true
        recentLog = log
        settleLater(appended)
        return .inserted
    }

    /// Marks a range as not covered. From now on it must not be acknowledged.
    /// - Returns: `duplicate` if nothing of the range was covered, `refused` if too many ranges would result; nothing changes
    ///   then.
    mutating func uncover(_ range: SequenceRange, logID: LogID) -> SequenceRanges.Insertion {
        guard let log = index(of: logID) else { return .duplicate }
        var known = logs[log].known
        guard known.remove(range) else { return .duplicate }
        let before = shared(logs[log].known)
        // No sender can forge damage, so the range is asked for again even if the other logs have used up the shared ranges.
        guard known.rangeCount <= CoveredSequences.maximumRangeCount else { return .refused }
        sharedRangeCount += shared(known) - before
        logs[log].known = known
        logs[log].durable.remove(range)
        logs[log].durable.announce(below: range.last + 1)
        logs[log].isChanged = true
        hasWithdrawn = true
        // The parts of appended ranges that are outside `range` may still become durable.
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
            let log = logs[index]
            progress.append(Progress(of: log.known, logID: log.id, announcedEnd: log.durable.announcedEnd))
        }
        return progress
    }

    /// The appended ranges are durable now, and about to be announced.
    mutating func settle() {
        for appended in unsettled {
            guard let log = index(of: appended.logID) else { continue }
            // A range that `known` accepted must be accepted here too: the limit was applied there.
            if appended.isLost {
                logs[log].durable.insert(lost: appended.range, rangeLimit: .max)
            } else {
                logs[log].durable.insert(appended.range, rangeLimit: .max)
            }
            logs[log].durable.announce()
        }
        hasWithdrawn = false
        // The array may have become large during a long wait for a commit.
        unsettled.removeAll(keepingCapacity: unsettled.count < 4096)
    }

    private mutating func settleLater(_ appended: Appended) {
        // In the usual case the range continues the last one.
        if let last = unsettled.last, last.logID == appended.logID, last.isLost == appended.isLost,
            appended.range.first > last.range.last, appended.range.first - last.range.last == 1
        {
            unsettled[unsettled.count - 1].range.last = appended.range.last
        } else {
            unsettled.append(appended)
        }
    }

    private func index(of logID: LogID) -> Int? {
        if recentLog < logs.count, logs[recentLog].id == logID { return recentLog }
        return indices[logID]
    }

    private mutating func addLog(_ logID: LogID) -> Int? {
        guard logs.count < admittedLogCount else { return nil }
        indices[logID] = logs.count
        logs.append(Log(id: logID))
        return logs.count - 1
    }

    /// The number of ranges of a log above ``TrackingLimits/rangesOfLog``.
    private func shared(_ known: CoveredSequences) -> Int { max(0, known.rangeCount - limits.rangesOfLog) }

    /// The highest number of ranges for a log that now uses `count` of the shared ranges.
    private func rangeLimit(sharedNow count: Int) -> Int {
        limits.rangesOfLog + max(0, limits.sharedRangeCount - sharedRangeCount + count)
    }

    /// Whether the log is new and no further log is accepted.
    func isOneTooMany(_ logID: LogID) -> Bool { index(of: logID) == nil && logs.count >= admittedLogCount }

    /// Raises the number of accepted logs by one.
    /// - Returns: false if the limit is reached.
    mutating func admitLog() -> Bool {
        guard admittedLogCount < limits.logCount else { return false }
        admittedLogCount += 1
        return true
    }
}

/// Limits on the logs and ranges of one collar that a journal keeps track of, so that a lying collar cannot fill the memory.
/// Each log has ``rangesOfLog`` ranges reserved for itself; all logs share the further ranges.
package struct TrackingLimits: Equatable, Sendable {
    package var logCount = 65_536
    /// The number of logs that are accepted without a call of ``Journal/admitLog()``. Each further log needs one call.
    package var promptLogCount = 4096
    /// Ranges reserved for each log, however many the other logs have.
    package var rangesOfLog = 32
    /// Ranges in addition to the reserved ones, shared by all logs.
    package var sharedRangeCount = 32_768

    package init() {}
}
