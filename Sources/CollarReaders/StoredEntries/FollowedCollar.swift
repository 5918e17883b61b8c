import CollarARQ
import CollarJournal

/// The journal of one collar, as a reader in another process follows it.
package final class FollowedCollar {
    package let id: SessionID
    package let deviceID: UInt64
    private let reader: JournalReader
    private let feed: EntryFeed
    /// The position up to which entries were read.
    private var read: ReaderPosition
    /// The position before which the consumer has everything.
    package private(set) var taken: JournalPosition
    /// The position up to which the records are known to be durable.
    private var durable = JournalPosition.start
    /// The last position that ``durablePosition()`` has found, or the one with which the consumer began; nil for the start.
    private var kept: ReaderPosition?
    /// Whether entries were taken from the feed and not handed out, because the position after them could not be identified.
    package private(set) var hasDroppedEntries = false
    /// Whether another value has replaced this one, because the journal changed under the reader.
    package private(set) var isEnded = false

    /// Opens the journal of a collar for reading.
    /// - Parameters:
    ///   - stop: a position to which everything was read; the start if nothing was.
    ///   - limit: where the consumer has stopped, if that is earlier.
    package init(
        id: SessionID, _ configuration: FollowConfiguration, deviceID: UInt64, start: EmissionStart, stoppedAt stop: ReaderPosition,
        limit: JournalPosition? = nil, fileSystem: any FileSystem
    ) throws(JournalError) {
        self.id = id
        self.deviceID = deviceID
        reader = try JournalReader(stateDirectory: configuration.stateDirectory, deviceID: deviceID, fileSystem: fileSystem)
        var start = start
        var place = try reader.position(goingOnAt: stop)
        if case .since(let time) = start {
            // The bound must survive a restart, which knows the position alone.
            place = try reader.firstPosition(receivedSince: time)
            start = .whereItStopped
        }
        taken = limit.map { min($0, place) } ?? place
        feed = try EntryFeed(reader, configuration.selection, start: start, stoppedAt: taken)
        if configuration.selection.isSorted { feed.inferCurrentLog(from: try reader.newestLogID(at: feed.takenPosition)) }
        taken = min(taken, feed.takenPosition)
        if case .whereItStopped = start {} else { taken = feed.takenPosition }
        read = try reader.identified(feed.takenPosition)
        if taken > .start { kept = try reader.identified(taken) }
    }

    /// The journal may have new entries.
    package func noteChange() { feed.noteChange() }

    package var isReadable: Bool { !isEnded && feed.isReadable }
    package var nextDeadline: Instant? { isEnded ? nil : feed.nextDeadline }
    package func deadlineReached(at now: Instant) { feed.deadlineReached(at: now) }

    /// The journal could not be read: it is tried again later.
    /// - Returns: whether it could be read before.
    package func failed(at now: Instant) -> Bool {
        if hasDroppedEntries { noteChange() }
        return feed.failed(at: now)
    }

    /// Takes some entries from the journal; nil if this value must be replaced: the journal has changed under the reader, or
    /// ``hasDroppedEntries``.
    package func next(at time: HostTime) throws(JournalError) -> [EntryFeed.Item]? {
        guard !hasDroppedEntries, try reader.hasSameRecords(before: read) else { return nil }
        let items = try feed.next(at: time)
        hasDroppedEntries = true
        read = try reader.identified(feed.takenPosition, after: read)
        hasDroppedEntries = false
        return items
    }

    /// A value for the journal as it is now, which goes on where the same records are before the position.
    package func replacement(
        id: SessionID, _ configuration: FollowConfiguration, fileSystem: any FileSystem
    ) throws(JournalError) -> FollowedCollar {
        let new = try FollowedCollar(
            id: id, configuration, deviceID: deviceID, start: .whereItStopped, stoppedAt: read, limit: taken, fileSystem: fileSystem)
        isEnded = true
        return new
    }

    /// The damage that reading met since the last call.
    package func takeDamage() -> [DamageReport] { feed.takeDamage() }

    /// The consumer has an entry.
    package func confirm(through position: JournalPosition?) {
        feed.confirmed()
        if let position { taken = max(taken, position) }
    }

    /// Moves the position of a consumer that has every entry past the records that make no entry.
    private func settle() { if feed.isEverythingEmitted { taken = max(taken, feed.settled) } }

    /// The position before which the consumer has everything; the records before it are durable. Nil if it has taken nothing.
    package func durablePosition() throws(JournalError) -> ReaderPosition? {
        settle()
        guard taken > .start else { return nil }
        guard !hasDroppedEntries, try reader.hasSameRecords(before: read) else {
            // Other records may stand at the position now. The next reading replaces this value.
            noteChange()
            return kept
        }
        if taken > durable {
            try reader.makeDurable(from: durable, to: taken)
            durable = taken
        }
        let position = try reader.identified(taken, after: read)
        kept = position
        return position
    }
}
