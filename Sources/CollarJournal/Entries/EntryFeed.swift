import CollarARQ
import CollarWire

/// Which entries of one collar's journal are emitted next, and how far the consumer has got.
///
/// If gaps are emitted or fixes are ordered, all entries are read back from the journal, so that the output depends on the
/// journal alone and is the same after a restart. Otherwise fixes go out as they come, and are read back only if the consumer
/// fell behind.
package final class EntryFeed {
    /// One entry to emit.
    package struct Item: Equatable {
        package var content: EmittedEntry.Content
        /// When the entry is out, everything in the journal before this position is emitted; nil if the entry does not advance
        /// that position.
        package var through: JournalPosition?
        /// See ``EmittedEntry/isHeld``.
        package var isHeld = false
    }

    private let journal: any JournalSource
    private let selection: EntrySelection
    /// Entries from before this time are not emitted; nil for no bound.
    private let earliestUnixMilliseconds: Int64?
    private var tracker: GapTracker?
    private var order: SequenceOrder?
    /// The run that is being handed out, and the position reached in the journal.
    private var run: (SequenceOrder.Run, position: JournalPosition)?
    /// The position up to which entries were taken from the journal.
    package private(set) var position: JournalPosition
    /// The end of the entries that are being read a second time; nil if no entry is. No held fix is released before that end.
    private var rescanEnd: JournalPosition?
    /// Whether the journal has entries that were not taken yet.
    package private(set) var isBehind = true
    /// Whether the journal can be read.
    private enum Readability {
        case readable
        /// The journal could not be read. `retry` is the time of the next attempt; nil once that time has come.
        case failed(retry: Instant?)
    }

    private var readability = Readability.readable
    /// The number of entries that were handed out and not confirmed yet.
    private var outstandingCount = 0
    /// The log that the collar's last identity named; nil before it sent one. Without identities, the log of the newest record.
    private var currentLogID: LogID?
    /// The logs with records, if the current log is that of the newest record.
    private var knownLogIDs: Set<LogID>?
    /// Whether missing fixes hold nothing back any longer, see ``finish()``.
    private var isFinishing = false
    /// The damage that reading met, see ``takeDamage()``.
    private var damage: [DamageReport] = []

    /// The most entries read at once.
    private static let batchCount = 128
    /// Time after which an unreadable journal is tried again, in microseconds.
    package static let rereadInterval: Int64 = 10_000_000

    /// - Parameters:
    ///   - journal: where the entries come from.
    ///   - start: where the feed begins.
    ///   - stop: the position where the consumer has stopped.
    package init(
        _ journal: any JournalSource, _ selection: EntrySelection, start: EmissionStart, stoppedAt stop: JournalPosition
    ) throws(JournalError) {
        self.journal = journal
        self.selection = selection
        let start = try EntryFeed.start(journal, start, stoppedAt: stop)
        position = start.position
        earliestUnixMilliseconds = start.unixMilliseconds
        guard selection.hasGaps || selection.isSorted else { return }
        let covered = try journal.coverage(at: position)
        tracker = GapTracker(covered)
        if selection.isSorted { order = SequenceOrder(covered) }
    }

    private static func start(
        _ journal: any JournalSource, _ start: EmissionStart, stoppedAt stop: JournalPosition
    ) throws(JournalError) -> (position: JournalPosition, unixMilliseconds: Int64?) {
        switch start {
        case .whereItStopped: return (stop, nil)
        case .all: return (.start, nil)
        case .since(let time): return (try journal.position(receivedSince: time), time)
        case .after(let fix):
            guard fix.deviceID == journal.deviceID else { return (stop, nil) }
            // If the journal no longer has the fix, emission goes on where the consumer stopped.
            return (try journal.position(behind: fix.sequence, logID: fix.logID) ?? stop, nil)
        }
    }

    /// Takes the log of the newest record for the collar's current log: a reader does not hear identities.
    /// - Parameter newest: the log of the newest record before ``position``; nil if there is none.
    package func inferCurrentLog(from newest: LogID?) {
        currentLogID = newest
        knownLogIDs = Set(order?.logIDs ?? [])
    }

    /// Whether a fix that was just appended may go out at once, without being read back.
    package var isDirect: Bool { !isBehind && tracker == nil }

    /// The journal has new entries.
    package func noteChange() { isBehind = true }

    /// A fix went out at once; the journal ends at `end` with it.
    package func wentOut(upTo end: JournalPosition) {
        position = end
        outstandingCount += 1
    }

    /// The consumer has an entry that was handed out.
    package func confirmed() { outstandingCount -= 1 }

    /// Whether the consumer has every entry.
    package var isEverythingEmitted: Bool { !isBehind && outstandingCount == 0 }

    /// Whether entries wait and can be read now.
    package var isReadable: Bool { isBehind && nextDeadline == nil }

    /// When a journal that could not be read is tried again.
    package var nextDeadline: Instant? {
        guard isBehind, case .failed(let retry) = readability else { return nil }
        return retry
    }

    package func deadlineReached(at now: Instant) {
        if case .failed(let due?) = readability, now >= due { readability = .failed(retry: nil) }
    }

    /// The journal could not be read: it is tried again later.
    /// - Returns: whether it could be read before.
    package func failed(at now: Instant) -> Bool {
        defer { readability = .failed(retry: now.advanced(byMicroseconds: EntryFeed.rereadInterval)) }
        if case .readable = readability { return true }
        return false
    }

    /// The collar has this log now: missing fixes of its other logs will not come.
    package func setCurrentLog(_ logID: LogID) {
        guard currentLogID != logID else { return }
        currentLogID = logID
        isBehind = true
    }

    /// Nothing is waited for any longer: what missing fixes hold back is emitted as well, without a report of them.
    package func finish() {
        isFinishing = true
        isBehind = true
    }

    /// Takes some entries from the journal.
    /// - Returns: the items to emit for them. ``isBehind`` is false afterwards if there are no more entries.
    package func next(at time: HostTime) throws(JournalError) -> [Item] {
        let items = try run == nil ? nextOfJournal(at: time) : nextOfRun(at: time)
        outstandingCount += items.count
        readability = .readable
        return items
    }

    private func nextOfJournal(at time: HostTime) throws(JournalError) -> [Item] {
        let batch = try journal.entries(from: position, limit: EntryFeed.batchCount)
        try skipRemoved()
        // Damage in the last segment was reported when the journal was opened.
        damage += batch.damage.filter { !journal.damage.contains($0) }
        var items: [Item] = []
        for element in batch.elements {
            let start = position
            position = element.end
            take(element.entry, from: start, at: time, into: &items)
            // The remaining entries are taken after the run or during the second reading.
            if run != nil || position < element.end { return items }
        }
        position = batch.end
        if batch.isAtEnd {
            if let change = tracker?.flush() { append(change, through: settled, to: &items) }
            releaseAtEnd(at: time, into: &items)
            isBehind = run != nil || position < batch.end
        }
        return items
    }

    /// If the segment of the position was removed for its age, the entries between the position and the oldest segment never come:
    /// they count as covered, so that no later fix is held back for them.
    private func skipRemoved() throws(JournalError) {
        guard let oldest = journal.oldestSegment, position.segment < oldest, rescanEnd == nil, tracker != nil else { return }
        let start = JournalPosition(segment: oldest, offset: 0)
        let covered = try journal.coverage(at: start)
        tracker = GapTracker(covered)
        if order != nil { order = SequenceOrder(covered) }
        position = start
    }

    /// The damage that reading met since the last call, without the damage that was reported when the journal was opened.
    package func takeDamage() -> [DamageReport] {
        defer { damage = [] }
        return damage
    }

    /// Everything before this position is emitted once the queued items are out.
    package var settled: JournalPosition { settled(before: position) }

    private func settled(before place: JournalPosition) -> JournalPosition { order?.earliestHeld.map { min($0, place) } ?? place }

    private func take(_ entry: JournalEntry, from start: JournalPosition, at time: HostTime, into items: inout [Item]) {
        for change in tracker?.take(entry) ?? [] { append(change, through: settled(before: start), to: &items) }
        guard let (logID, sequence) = entry.place else {
            if case .loss(let loss) = entry, order != nil { release(loss.logID, at: time, into: &items) }
            return
        }
        if knownLogIDs?.insert(logID).inserted == true { currentLogID = logID }
        let isRepeated = rescanEnd.map { start < $0 } ?? false
        let isDue = order?.take(sequence, logID: logID, at: start, isRepeated: isRepeated) ?? true
        if isDue {
            append(entry, to: &items)
        } else if !isRepeated, selection.announcesHeldFixes, case .fix(let record) = entry {
            items.append(Item(content: .fix(record), through: nil, isHeld: true))
        }
        if order != nil { release(logID, at: time, into: &items) }
    }

    /// Appends a fix or a message, if its kind is selected.
    private func append(_ entry: JournalEntry, to items: inout [Item]) {
        let content: EmittedEntry.Content
        switch entry {
        case .fix(let record) where selection.hasFixes && isWanted(record.receivedUnixMilliseconds): content = .fix(record)
        case .message(let record) where selection.hasMessages && isWanted(record.receivedUnixMilliseconds):
            content = .message(record)
        default: return
        }
        // One change reports several fixes that fill a gap. Until it is out, the position stays before them: after a restart they
        // are read again, and the change names the same range.
        items.append(Item(content: content, through: !selection.movesPosition || tracker?.isFilling ?? false ? nil : settled))
    }

    private func isWanted(_ unixMilliseconds: Int64) -> Bool { unixMilliseconds >= earliestUnixMilliseconds ?? .min }

    private func append(_ change: GapChange, through: JournalPosition?, to items: inout [Item]) {
        guard selection.hasGaps, isWanted(change.unixMilliseconds) else { return }
        items.append(Item(content: .gap(change), through: selection.movesPosition ? through : nil))
    }

    /// Releases the due fixes of every log with held fixes, after all entries were taken.
    private func releaseAtEnd(at time: HostTime, into items: inout [Item]) {
        for logID in order?.waitingLogIDs ?? [] where run == nil { release(logID, isAtEnd: true, at: time, into: &items) }
    }

    /// - Parameter isAtEnd: whether all entries were taken. Only then is it certain which fixes of a former log are missing.
    private func release(_ logID: LogID, isAtEnd: Bool = false, at time: HostTime, into items: inout [Item]) {
        if let end = rescanEnd {
            guard position >= end else { return }
            rescanEnd = nil
        }
        while run == nil {
            let covered = tracker?.covered(logID) ?? CoveredSequences()
            let isGone = isAtEnd && (isFinishing || currentLogID.map { $0 != logID } ?? false)
            switch order?.next(of: logID, covered: covered, isGone: isGone) ?? .nothing {
            case .nothing: return
            case .run(let due): run = (due, due.start)
            case .gone(let range):
                if isFinishing { continue }
                let change = GapChange(event: .lost, logID: logID, range: range, unixMilliseconds: time.unixMilliseconds)
                append(change, through: nil, to: &items)
            case .rescan(let place):
                guard place < position else { continue }
                rescanEnd = position
                position = place
                return
            }
        }
    }

    private func nextOfRun(at time: HostTime) throws(JournalError) -> [Item] {
        guard let (run, start) = run else { return [] }
        var items: [Item] = []
        let batch = try journal.entries(from: start, limit: EntryFeed.batchCount)
        self.run?.position = batch.end
        for element in batch.elements {
            guard let place = element.entry.place, place.logID == run.logID, run.range.contains(place.sequence) else { continue }
            let isLast = place.sequence == run.range.last
            if isLast { finishRun(of: run.logID) }
            append(element.entry, to: &items)
            if isLast { return items }
        }
        // Damage may have destroyed the last fix of the run.
        if batch.isAtEnd { finishRun(of: run.logID) }
        return items
    }

    private func finishRun(of logID: LogID) {
        run = nil
        order?.finishedRun(of: logID)
    }
}

/// The entries that a journal has now, each fix and message after those before it in its log.
///
/// Nothing waits for what is missing: when everything is read, the entries after it follow. Memory is bounded, because only
/// positions are kept; entries that came out of order are read a second time.
package final class SortedEntries {
    private let feed: EntryFeed
    private var isFinishing = false

    package init(_ journal: JournalReader, _ selection: EntrySelection, start: EmissionStart) throws(JournalError) {
        var selection = selection
        selection.isSorted = true
        feed = try EntryFeed(journal, selection, start: start, stoppedAt: .start)
    }

    package var position: JournalPosition { feed.position }

    /// Takes some entries, perhaps none; nil after the last one.
    package func next() throws(JournalError) -> [EmittedEntry.Content]? {
        if !feed.isBehind {
            if isFinishing { return nil }
            isFinishing = true
            feed.finish()
        }
        // The time would stand in changes of gaps that the feed itself finds, which it does not before the end, and has no need to at
        // the end.
        let time = HostTime(instant: Instant(microseconds: 0), unixMilliseconds: 0)
        return try feed.next(at: time).map(\.content)
    }

    /// The damage that reading met since the last call.
    package func takeDamage() -> [DamageReport] { feed.takeDamage() }
}
