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

    private let limits: TrackingLimits
    /// In the order in which they came.
    private(set) var logs: [Log] = []
    /// Logs of which nothing more is stored, as there were too many.
    private(set) var closedLogIDs: Set<UInt32>
    /// Ranges beyond those that each log may have anyway.
    private(set) var sharedRangeCount = 0
    /// What was appended and is not durable yet.
    private var unsettled: [Appended] = []
    /// Whether something was taken out of what is covered, or a log was closed, which is not durable yet.
    private var hasWithdrawn = false
    /// The log of the last record: mostly that of the next one too.
    private var recentLog = 0

    /// Begins with what was found.
    /// - Parameter isConfirmed: whether all of it may be announced; else what is unconfirmed waits for a commit.
    init(_ recovery: JournalRecovery?, isConfirmed: Bool, limits: TrackingLimits) {
        self.limits = limits
        closedLogIDs = recovery?.closedLogIDs ?? []
        let unconfirmed = isConfirmed ? [:] : recovery?.unconfirmed ?? [:]
        for (id, covered) in recovery?.logsInOrder ?? [] {
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
            sharedRangeCount += shared(covered)
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
    var isSettled: Bool { unsettled.isEmpty && !hasWithdrawn }

    func log(_ id: UInt32) -> Log? { index(of: id).map { logs[$0] } }

    func isStored(_ sequence: UInt32, logID: UInt32) -> Bool {
        guard let index = index(of: logID) else { return false }
        return logs[index].known.isStored(sequence)
    }

    /// Takes in a fix that was appended. Where it is not new or not taken nothing changes.
    mutating func store(_ sequence: UInt32, logID: UInt32) -> SequenceRanges.Insertion {
        append(Appended(logID: logID, range: SequenceRange(sequence), isLost: false)) { known, limit in
            let result = known.insert(sequence, rangeLimit: limit)
            guard result == .refused, known.firstMissing == sequence else { return result }
            return known.insert(sequence, rangeLimit: .max)
        }
    }

    /// Takes in a range that was given up when it was appended. Where it is not new or not taken nothing changes.
    mutating func giveUp(_ range: SequenceRange, logID: UInt32) -> SequenceRanges.Insertion {
        append(Appended(logID: logID, range: range, isLost: false)) { known, _ in
            known.isNext(range) ? known.insert(range, rangeLimit: .max) : .refused
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
        let before = shared(logs[log].known)
        let result = insert(&logs[log].known, rangeLimit(sharedNow: before))
        guard result == .inserted else { return result }
        sharedRangeCount += shared(logs[log].known) - before
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
        let before = shared(logs[log].known)
        // Damage is nobody's to forge: what it takes is asked for whatever the other logs have used up.
        guard known.rangeCount <= CoveredSequences.maximumRangeCount else { return .refused }
        sharedRangeCount += shared(known) - before
        logs[log].known = known
        logs[log].durable.remove(range)
        logs[log].durable.announce(below: range.last + 1)
        logs[log].isChanged = true
        hasWithdrawn = true
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
        hasWithdrawn = false
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
        guard logs.count < limits.logCount, !closedLogIDs.contains(logID) else { return nil }
        logs.append(Log(id: logID))
        return logs.count - 1
    }

    /// Ranges of a log beyond those that it may have anyway.
    private func shared(_ known: CoveredSequences) -> Int { max(0, known.rangeCount - limits.rangesOfLog) }

    /// The most ranges of a log that has so many shared ones now.
    private func rangeLimit(sharedNow count: Int) -> Int {
        limits.rangesOfLog + max(0, limits.sharedRangeCount - sharedRangeCount + count)
    }

    /// Whether the log is new and there are as many as are kept track of.
    func isOneTooMany(_ logID: UInt32) -> Bool {
        index(of: logID) == nil && !closedLogIDs.contains(logID) && logs.count >= limits.logCount
    }

    /// Drops a log to make room for another one: of those that are not young the one with the fewest fixes, the latest of such. To
    /// have a log in use dropped somebody must store more in each of all others. Nothing more of the log is stored, so that
    /// no fix is stored twice; where it has no fix it is forgotten.
    /// - Returns: the log that is closed, nil where it was forgotten; and whether there is room now.
    mutating func makeRoom() -> (closed: UInt32?, hasRoom: Bool) {
        var victim: (index: Int, count: UInt64)?
        for (index, log) in logs.dropLast(limits.youngLogCount).enumerated()
        where log.known.storedCount <= victim?.count ?? .max {
            victim = (index, log.known.storedCount)
        }
        guard let victim, victim.count == 0 || closedLogIDs.count < limits.closedLogCount else { return (nil, false) }
        let recent = logs[recentLog].id
        let log = logs.remove(at: victim.index)
        sharedRangeCount -= shared(log.known)
        recentLog = logs.firstIndex { $0.id == recent } ?? logs.count - 1
        unsettled.removeAll { $0.logID == log.id }
        guard victim.count > 0 else { return (nil, true) }
        closedLogIDs.insert(log.id)
        hasWithdrawn = true
        return (log.id, true)
    }
}
