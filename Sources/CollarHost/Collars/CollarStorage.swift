import CollarARQ
import CollarJournal
import CollarWire

/// The journal of a collar, and whether it stores.
final class CollarStorage {
    /// What became of a record.
    enum Outcome {
        /// It waits for the next commit.
        case appended
        /// All of it was there.
        case duplicate
        /// It is not stored; the reason was reported where it was new.
        case refused
    }

    let journal: Journal
    private let output: HostOutput
    private var misbehaviourNotices = NoticeLimiter<String>()
    /// Limits the logs that are closed for new ones.
    private var closedLogs = HostLimits.closedLogs
    /// Limits the searches for the first content of a fix.
    private var searches = HostLimits.contentSearches
    /// The segment that grew when old ones were removed last.
    private var retainedUpTo: UInt32 = 0
    /// When a journal of full size looks for old segments again.
    private var nextRemoval: Instant?
    /// Damage that reading back met and that was not dealt with yet.
    private var damageToUncover: [DamageReport] = []
    /// How the last commit or record ended.
    private enum Condition {
        case storing
        /// It failed, and may succeed later.
        case failing
        /// The journal has stopped until another process opens it.
        case stopped
    }

    private var condition = Condition.storing

    /// Whether the last commit or record failed.
    var isFailing: Bool { condition != .storing }

    init(_ journal: Journal, output: HostOutput) {
        self.journal = journal
        self.output = output
    }

    /// Appends a fix.
    func append(_ record: JournaledFix, at time: HostTime) -> Outcome {
        append(at: time) { () throws(JournalError) in try journal.append(record) }
    }

    /// Appends that a range will never come.
    func append(_ loss: JournaledLoss, at time: HostTime) -> Outcome {
        append(at: time) { () throws(JournalError) in try journal.append(loss) }
    }

    private func append(at time: HostTime, _ body: () throws(JournalError) -> Bool) -> Outcome {
        do throws(JournalError) {
            do throws(JournalError) { return try body() ? .appended : .duplicate } catch {
                switch error {
                // Small frames may hold many fixes: more than wait in memory may arrive at once.
                case .pendingLimitReached: try journal.commit()
                case .logLimitReached:
                    report(.tooManyGaps, at: time)
                    guard closedLogs.take(at: time.instant), try journal.closeLeastUsedLog() else { return .refused }
                default: throw error
                }
                return try body() ? .appended : .duplicate
            }
        } catch {
            if error == .trackingLimitReached { report(.tooManyGaps, at: time) } else { reportFailing(error) }
            return .refused
        }
    }

    /// Whether a fix that is stored has another content. Where the first one is not at hand it is searched in the journal, unless
    /// that was done a moment ago.
    func isChanged(_ fix: Fix, logID: UInt32, recent: Fix?, at time: HostTime) -> Bool {
        if let recent { return recent != fix }
        guard searches.take(at: time.instant) else { return false }
        do throws(JournalError) {
            let first = try journal.storedFix(fix.sequence, logID: logID)
            return first.map { $0 != fix } ?? false
        } catch { return false }
    }

    /// Makes everything appended durable, and what was emitted known to the next process.
    /// - Returns: false where that fails, or the journal is as large as it may be: nothing is acknowledged then.
    func commit() -> Bool {
        do throws(JournalError) {
            uncoverDamage()
            try journal.commit()
            try journal.checkSize()
        } catch {
            reportFailing(error)
            return false
        }
        if isFailing {
            condition = .storing
            output.report(.storageRecovered(deviceID: journal.deviceID))
        }
        return true
    }

    /// Reports a failure, unless it is known: one that passes once, and then once more if the journal stops for good.
    private func reportFailing(_ error: JournalError) {
        if case .failed(let failure) = journal.state {
            guard condition != .stopped else { return }
            condition = .stopped
            // It needs a restart, whatever the system said.
            output.report(.storageFailing(deviceID: journal.deviceID, .stopped(after: failure)))
        } else if condition == .storing {
            condition = .failing
            output.report(.storageFailing(deviceID: journal.deviceID, error))
        }
    }

    /// Removes what is older than wanted, where the journal was opened or has begun a segment since the last time; and now and then
    /// while it is as large as it may be.
    func removeOldSegments(keepingDays days: Int, at time: HostTime) {
        if retainedUpTo == journal.end.segment {
            guard journal.isAtByteLimit, nextRemoval.map({ time.instant >= $0 }) ?? true else { return }
            nextRemoval = time.instant.advanced(byMicroseconds: HostLimits.removalInterval)
        }
        retainedUpTo = journal.end.segment
        do throws(JournalError) {
            try journal.removeSegments(keepingDays: days, nowUnixMilliseconds: time.unixMilliseconds)
        } catch { output.report(.cannotRemoveOld(deviceID: journal.deviceID, error)) }
    }

    /// Reading back met damage: what it took is uncovered by the next commit, so that the collar is asked for it again.
    func note(_ damage: [DamageReport]) {
        for report in damage { output.report(.journalDamage(deviceID: journal.deviceID, report)) }
        damageToUncover += damage
    }

    /// Uncovers what damage took. What cannot be uncovered now is tried again by the next commit.
    private func uncoverDamage() {
        do throws(JournalError) {
            while let damage = damageToUncover.first {
                let lost = try journal.uncoverDamage(inSegment: damage.segment)
                for (logID, ranges) in lost.sorted(by: { $0.key < $1.key }) {
                    for range in ranges {
                        output.report(
                            .damagedFixes(deviceID: journal.deviceID, logID: logID, first: range.first, last: range.last))
                    }
                }
                damageToUncover.removeFirst()
            }
        } catch {
            // More gaps than are tracked stay covered: the collar cannot be asked for them.
            if error == .trackingLimitReached { damageToUncover.removeFirst() }
        }
    }

    /// Reports what the collar does wrong, unless that was reported within the last minute.
    func report(_ misbehaviour: Misbehaviour, at time: HostTime) {
        guard misbehaviourNotices.isDue(misbehaviour.code, at: time.instant) else { return }
        output.report(.misbehaving(deviceID: journal.deviceID, misbehaviour))
    }
}
