import CollarBridge
import CollarJournal
import CollarWire

/// What of one collar's journal becomes lines next, and how far the consumer has got.
///
/// Entries are read back from the journal where gaps are told or fixes are ordered: what goes out then depends on the
/// journal alone, and is the same after a restart. Otherwise fixes go out as they come, and are read back only where
/// the consumer fell behind.
final class LineFeed {
    /// One line, and up to where the journal has been told once it is out; nil where that does not change.
    struct Item: Equatable {
        enum Content: Equatable {
            case fix(JournaledFix)
            case gap(GapTracker.Change)
        }

        var content: Content
        var through: JournalPosition?
    }

    private let journal: Journal
    private let writesFixes: Bool
    private let writesGaps: Bool
    /// Fixes and changes that came in before are told of no more.
    private let earliestUnixMilliseconds: Int64?
    private var tracker: GapTracker?
    private var order: SequenceOrder?
    /// The run that is handed out now, and how far it is.
    private var run: (SequenceOrder.Run, position: JournalPosition)?
    /// Up to where entries were taken.
    private(set) var position: JournalPosition
    /// Entries before this place are taken again, and nothing is let go meanwhile; nil where none are.
    private var rescanEnd: JournalPosition?
    /// Whether entries wait that were not taken.
    var isBehind = true
    /// The log that the collar has now, where it said so.
    var currentLogID: UInt32?
    /// Damage that reading met, see ``takeDamage()``.
    private var damage: [DamageReport] = []

    /// Entries taken at once.
    private static let batchCount = 128

    init(_ journal: Journal, _ configuration: ReceiverConfiguration) throws(JournalError) {
        self.journal = journal
        writesFixes = configuration.writesFixes
        writesGaps = configuration.writesGaps
        let start = try LineFeed.start(journal, configuration.emission)
        position = start.position
        earliestUnixMilliseconds = start.unixMilliseconds
        guard configuration.writesGaps || configuration.ordersBySequence else { return }
        let covered = try journal.coverage(at: position)
        tracker = GapTracker(covered)
        if configuration.ordersBySequence { order = SequenceOrder(covered) }
    }

    private static func start(
        _ journal: Journal, _ emission: ReceiverConfiguration.Emission
    ) throws(JournalError) -> (position: JournalPosition, unixMilliseconds: Int64?) {
        switch emission {
        case .whereItStopped: return (journal.emissionCursor, nil)
        case .all: return (.start, nil)
        case .since(let time): return (try journal.position(receivedSince: time), time)
        case .behind(let fix):
            guard fix.deviceID == journal.deviceID else { return (journal.emissionCursor, nil) }
            // What is not in this journal any more cannot be the place to go on from.
            return (try journal.position(behind: fix.sequence, logID: fix.logID) ?? journal.emissionCursor, nil)
        }
    }

    /// Whether a fix that was just appended may go out at once, without being read back.
    var isDirect: Bool { !isBehind && tracker == nil }

    /// A fix went out at once.
    func wentOut() { position = journal.end }

    /// Takes on some entries.
    /// - Returns: what they become; not ``isBehind`` where nothing more is there.
    func next() throws(JournalError) -> [Item] {
        if run != nil { return try nextOfRun() }
        let batch = try journal.entries(from: position, limit: LineFeed.batchCount)
        // What is in the last segment was found when the journal was opened.
        damage += batch.damage.filter { !journal.damage.contains($0) }
        var items: [Item] = []
        for element in batch.elements {
            let start = position
            position = element.end
            take(element.entry, at: start, into: &items)
            // The rest comes behind the run, or is taken again.
            if run != nil || position < element.end { return items }
        }
        position = batch.end
        if batch.isAtEnd {
            if let change = tracker?.flush() { append(change, through: settled, to: &items) }
            release(into: &items)
            isBehind = run != nil || position < batch.end
        }
        return items
    }

    /// What reading met in earlier segments since the last call.
    func takeDamage() -> [DamageReport] {
        defer { damage = [] }
        return damage
    }

    /// Everything before this place was told of, once what is queued is out.
    private var settled: JournalPosition { settled(before: position) }

    private func settled(before place: JournalPosition) -> JournalPosition {
        order?.earliestHeld.map { min($0, place) } ?? place
    }

    private func take(_ entry: JournalEntry, at start: JournalPosition, into items: inout [Item]) {
        for change in tracker?.take(entry) ?? [] { append(change, through: settled(before: start), to: &items) }
        switch entry {
        case .fix(let record):
            if order?.take(record.fix.sequence, logID: record.logID, at: start) ?? true { append(record, to: &items) }
            if order != nil { release(record.logID, into: &items) }
        case .loss(let loss):
            if order != nil { release(loss.logID, into: &items) }
        }
    }

    private func append(_ record: JournaledFix, to items: inout [Item]) {
        guard writesFixes, record.receivedUnixMilliseconds >= earliestUnixMilliseconds ?? .min else { return }
        // What fills a gap is told of together; until then a restart must tell it again.
        items.append(Item(content: .fix(record), through: tracker?.isFilling ?? false ? nil : settled))
    }

    private func append(_ change: GapTracker.Change, through: JournalPosition?, to items: inout [Item]) {
        guard writesGaps, change.unixMilliseconds >= earliestUnixMilliseconds ?? .min else { return }
        items.append(Item(content: .gap(change), through: writesFixes ? through : nil))
    }

    /// Lets go what is due of every log that holds something back.
    private func release(into items: inout [Item]) {
        for logID in order?.waitingLogIDs ?? [] where run == nil { release(logID, into: &items) }
    }

    private func release(_ logID: UInt32, into items: inout [Item]) {
        if let end = rescanEnd {
            guard position >= end else { return }
            rescanEnd = nil
        }
        while run == nil {
            let covered = tracker?.covered(logID) ?? CoveredSequences()
            let isGone = currentLogID.map { $0 != logID } ?? false
            switch order?.next(of: logID, covered: covered, isGone: isGone) ?? .nothing {
            case .nothing: return
            case .run(let due): run = (due, due.start)
            case .gone(let range):
                let change = GapTracker.Change(
                    event: .lost, logID: logID, range: range, unixMilliseconds: WallClock.unixMilliseconds)
                append(change, through: nil, to: &items)
            case .rescan(let place):
                guard place < position else { continue }
                rescanEnd = position
                position = place
                return
            }
        }
    }

    private func nextOfRun() throws(JournalError) -> [Item] {
        guard let (run, start) = run else { return [] }
        var items: [Item] = []
        let batch = try journal.entries(from: start, limit: LineFeed.batchCount)
        self.run?.position = batch.end
        for element in batch.elements {
            guard case .fix(let record) = element.entry, record.logID == run.logID,
                run.range.contains(record.fix.sequence)
            else { continue }
            let isLast = record.fix.sequence == run.range.last
            if isLast { finishRun(of: run.logID) }
            append(record, to: &items)
            if isLast { return items }
        }
        // Damage may have taken the last of them.
        if batch.isAtEnd { finishRun(of: run.logID) }
        return items
    }

    private func finishRun(of logID: UInt32) {
        run = nil
        order?.finishedRun(of: logID)
    }
}
