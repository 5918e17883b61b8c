import CollarJournal
import CollarWire

/// The journal of one collar in a simulated host, while a process runs.
final class JournalShelf {
    let deviceID: UInt64
    let journal: Journal
    /// Records since the last commit that succeeded.
    private var waitingCount = 0
    private var committedCursor: JournalPosition
    /// Whether the last commit failed.
    private(set) var hasCommitFailed = false
    /// Fixes of this process, and once the journal was read back those before, by log.
    private var fixes: [UInt32: [UInt32: Fix]] = [:]
    private var hasReadBack = false

    init(deviceID: UInt64, journal: Journal) {
        self.deviceID = deviceID
        self.journal = journal
        committedCursor = journal.emissionCursor
    }

    var isCommitDue: Bool { waitingCount > 0 || journal.emissionCursor != committedCursor }

    func append(_ record: JournaledFix) throws(JournalError) -> Bool {
        guard try journal.append(record) else { return false }
        waitingCount += 1
        fixes[record.logID, default: [:]][record.fix.sequence] = record.fix
        return true
    }

    func append(_ loss: JournaledLoss) throws(JournalError) -> Bool {
        guard try journal.append(loss) else { return false }
        waitingCount += 1
        return true
    }

    /// Commits.
    /// - Returns: the emission cursor that is durable now; nil where nothing was waited for, as for a cursor alone.
    func commit() throws(JournalError) -> JournalPosition? {
        let cursor = journal.emissionCursor
        hasCommitFailed = true
        try journal.commit()
        hasCommitFailed = false
        committedCursor = cursor
        guard waitingCount > 0 else { return nil }
        waitingCount = 0
        return cursor
    }

    /// A fix that was appended; those of earlier processes are read back when the first of them is asked for.
    func fix(_ sequence: UInt32, logID: UInt32) -> Fix? {
        if let fix = fixes[logID]?[sequence] { return fix }
        guard !hasReadBack, journal.contains(sequence, logID: logID) else { return nil }
        hasReadBack = true
        var position = JournalPosition.start
        do throws(JournalError) {
            while true {
                let batch = try journal.entries(from: position, limit: 512)
                for element in batch.elements {
                    if case .fix(let record) = element.entry {
                        fixes[record.logID, default: [:]][record.fix.sequence] = record.fix
                    }
                }
                position = batch.end
                if batch.isAtEnd { break }
            }
        } catch { return nil }
        return fixes[logID]?[sequence]
    }
}
