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
    /// The segment that grew when old ones were removed last.
    private var retainedUpTo: UInt32 = 0
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
                // Small frames may hold many fixes: more than wait in memory may arrive at once.
                guard error == .pendingLimitReached else { throw error }
                try journal.commit()
                return try body() ? .appended : .duplicate
            }
        } catch {
            if error == .trackingLimitReached { report(.tooManyGaps, at: time) } else { reportFailing(error) }
            return .refused
        }
    }

    /// Makes everything appended durable, and what was emitted known to the next process.
    /// - Returns: false where that fails.
    func commit() -> Bool {
        do throws(JournalError) {
            uncoverDamage()
            try journal.commit()
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

    /// Removes what is older than wanted, where the journal was opened or has begun a segment since the last time.
    func removeOldSegments(keepingDays days: Int, at time: HostTime) {
        guard retainedUpTo != journal.end.segment else { return }
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
