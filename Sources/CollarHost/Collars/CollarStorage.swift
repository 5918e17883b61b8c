import CollarARQ
import CollarJournal
import CollarWire

/// The journal of a collar, and whether storing works.
final class CollarStorage {
    /// The result of appending a record.
    enum Outcome {
        /// The record waits for the next commit.
        case appended
        /// All sequences of the record were already covered.
        case duplicate
        /// The record is not stored. The reason was reported, unless it was reported before.
        case refused
    }

    let journal: Journal
    private let output: HostOutput
    private var misbehaviourNotices = NoticeLimiter<Misbehaviour>()
    /// Limits how fast logs above ``TrackingLimits/promptLogCount`` are accepted.
    private var furtherLogs = HostLimits.furtherLogs
    /// Limits the searches for the first content of a fix.
    private var searches = HostLimits.contentSearches
    /// The segment that was being written at the last removal of old segments.
    private var retainedUpTo: UInt32 = 0
    /// When a journal at its size limit looks for old segments again.
    private var nextRemoval: Instant?
    /// Damage that was met while reading back. The fixes that it destroyed still count as covered.
    private var damageToUncover: [DamageReport] = []
    /// The position up to which the consumer has the entries, if that must be written.
    private var emittedEnd = JournalPosition.start
    /// Whether the journal stores.
    private enum Condition {
        case storing
        /// A commit or an append has failed, and no commit has succeeded since.
        case failing
        /// The journal has stopped until another process opens it.
        case stopped
    }

    private var condition = Condition.storing

    /// Whether storing fails: a commit or an append has failed, and no commit has succeeded since.
    var isFailing: Bool { condition != .storing }

    init(_ journal: Journal, output: HostOutput) {
        self.journal = journal
        self.output = output
    }

    func append(_ record: JournaledFix, at time: HostTime) -> Outcome {
        append(at: time) { () throws(JournalError) in try journal.append(record) }
    }

    func append(_ record: JournaledMessage, at time: HostTime) -> Outcome {
        append(at: time) { () throws(JournalError) in try journal.append(record) }
    }

    func append(_ loss: JournaledLoss, at time: HostTime) -> Outcome {
        append(at: time) { () throws(JournalError) in try journal.append(loss) }
    }

    private func append(at time: HostTime, _ body: () throws(JournalError) -> Bool) -> Outcome {
        do throws(JournalError) {
            do throws(JournalError) { return try body() ? .appended : .duplicate } catch {
                switch error {
                // Small frames can hold many fixes. More fixes can arrive between two commits than the journal keeps in memory.
                case .pendingLimitReached: try journal.commit()
                case .logLimitReached:
                    report(.tooManyGaps, at: time)
                    guard furtherLogs.take(at: time.instant), journal.admitLog() else { return .refused }
                default: throw error
                }
                return try body() ? .appended : .duplicate
            }
        } catch {
            if error == .trackingLimitReached { report(.tooManyGaps, at: time) } else { reportFailing(error) }
            return .refused
        }
    }

    /// Whether the stored fix of the same sequence has another content. If the stored fix is not in memory, it is searched
    /// for in the journal, unless there were too many searches just before.
    func isChanged(_ fix: Fix, logID: LogID, recent: Fix?, at time: HostTime) -> Bool {
        if let recent { return recent != fix }
        guard searches.take(at: time.instant) else { return false }
        return (try? journal.storedFix(fix.sequence, logID: logID)).map { $0 != fix } ?? false
    }

    /// Makes all appended records durable, and writes the emission cursor for the next process.
    /// - Returns: false if that fails or the journal is at its size limit. Nothing may be acknowledged then.
    func commit() -> Bool {
        do throws(JournalError) {
            uncoverDamage()
            moveEmissionCursor()
            try journal.commit()
            try journal.checkSize()
        } catch {
            reportFailing(error)
            return false
        }
        if isFailing {
            condition = .storing
            output.report(.collar(journal.deviceID, .storageRecovered))
        }
        return true
    }

    /// Reports a failure unless it was reported before. If the journal then stops, that is reported too.
    private func reportFailing(_ error: JournalError) {
        if case .failed(let failure) = journal.state {
            guard condition != .stopped else { return }
            condition = .stopped
            // Only a restart helps, whatever error the system gave.
            output.report(.collar(journal.deviceID, .storageFailing(.stopped(after: failure))))
        } else if condition == .storing {
            condition = .failing
            output.report(.collar(journal.deviceID, .storageFailing(error)))
        }
    }

    /// Removes segments that are older than wanted: once after the opening and after each new segment, and from time to time
    /// while the journal is at its size limit.
    /// - Parameter hasCursor: whether what this host has not emitted stays.
    func removeOldSegments(_ retention: Retention, hasCursor: Bool, at time: HostTime) {
        if retainedUpTo == journal.end.segment {
            guard journal.isAtByteLimit, nextRemoval.map({ time.instant >= $0 }) ?? true else { return }
            nextRemoval = time.instant.advanced(byMicroseconds: HostLimits.removalInterval)
        }
        retainedUpTo = journal.end.segment
        var removed = RemovedEntries()
        do throws(JournalError) {
            try journal.removeSegments(
                retention, consumers: try journal.consumers(hasCursor: hasCursor), nowUnixMilliseconds: time.unixMilliseconds,
                removed: &removed)
        } catch { output.report(.collar(journal.deviceID, .cannotRemoveOld(error))) }
        if removed.unreadCount > 0 { output.report(.collar(journal.deviceID, .removedUnread(removed))) }
    }

    /// The consumer has everything before a position; the next commit writes that position.
    /// - Returns: false if an earlier call has named this position or a later one.
    func noteEmitted(through position: JournalPosition) -> Bool {
        guard position > max(emittedEnd, journal.emissionCursor) else { return false }
        emittedEnd = position
        return true
    }

    /// Moves the emission cursor, but not past damage whose fixes still count as covered: the next process must read that damage
    /// again.
    private func moveEmissionCursor() {
        var position = emittedEnd
        for report in damageToUncover {
            position = min(position, JournalPosition(segment: report.segment, offset: UInt32(report.offset)))
        }
        if position > journal.emissionCursor { journal.setEmissionCursor(position) }
    }

    /// Notes damage met while reading back. The next commit removes the destroyed fixes from the covered ones, so that
    /// the collar is asked for them again.
    func note(_ damage: [DamageReport]) {
        for report in damage { output.report(.collar(journal.deviceID, .journalDamage(report))) }
        damageToUncover += damage
    }

    /// Removes the fixes that damage destroyed from the covered ones. If that fails, the next commit tries again.
    private func uncoverDamage() {
        do throws(JournalError) {
            while let damage = damageToUncover.first {
                let lost = try journal.uncoverDamage(inSegment: damage.segment)
                for (logID, ranges) in lost.sorted(by: { $0.key < $1.key }) {
                    for range in ranges {
                        output.report(
                            .collar(journal.deviceID, .damagedFixes(logID: logID, first: range.first, last: range.last)))
                    }
                }
                damageToUncover.removeFirst()
            }
        } catch {
            // There are more gaps than are tracked: these fixes stay covered, and the collar cannot be asked for them.
            if error == .trackingLimitReached { damageToUncover.removeFirst() }
        }
    }

    /// Reports what the collar does wrong, unless that was reported within the last minute.
    func report(_ misbehaviour: Misbehaviour, at time: HostTime) {
        guard misbehaviourNotices.isDue(misbehaviour.kind, at: time.instant) else { return }
        output.report(.collar(journal.deviceID, .misbehaving(misbehaviour)))
    }
}
