import CollarARQ
import CollarJournal

/// The journal of one collar, as a reader in another process follows it.
final class FollowedCollar {
    let id: SessionID
    let deviceID: UInt64
    private let reader: JournalReader
    private let feed: EntryFeed
    /// The position up to which entries were read.
    private var read: ReaderPosition
    /// The position before which the consumer has everything.
    private(set) var taken: JournalPosition
    /// The position up to which the records are known to be durable.
    private var durable = JournalPosition.start
    /// Whether the journal has changed under the reader, so that this value is replaced by another one.
    private(set) var isEnded = false

    /// Opens the journal of a collar for reading.
    /// - Parameters:
    ///   - stop: where the consumer has stopped; the start if it has taken nothing.
    init(
        id: SessionID, _ configuration: FollowConfiguration, deviceID: UInt64, start: EmissionStart, stoppedAt stop: ReaderPosition,
        fileSystem: any FileSystem
    ) throws(JournalError) {
        self.id = id
        self.deviceID = deviceID
        reader = try JournalReader(stateDirectory: configuration.stateDirectory, deviceID: deviceID, fileSystem: fileSystem)
        taken = try reader.position(goingOnAt: stop)
        feed = try EntryFeed(reader, configuration.selection, start: start, stoppedAt: taken)
        if configuration.selection.isSorted { feed.inferCurrentLog(from: try reader.newestLogID(at: feed.position)) }
        taken = min(taken, feed.position)
        if case .whereItStopped = start {} else { taken = feed.position }
        read = try reader.identified(feed.position)
    }

    /// The journal may have new entries.
    func noteChange() { feed.isBehind = true }

    var isReadable: Bool { !isEnded && feed.isReadable }
    var nextDeadline: Instant? { isEnded ? nil : feed.nextDeadline }
    func deadlineReached(at now: Instant) { feed.deadlineReached(at: now) }

    /// The journal could not be read: it is tried again later.
    /// - Returns: whether it could be read before.
    func failed(at now: Instant) -> Bool { feed.failed(at: now) }

    /// Takes some entries from the journal; none if it has changed under the reader, see ``isEnded``.
    func next(at time: HostTime) throws(JournalError) -> [EntryFeed.Item] {
        guard try reader.fingerprint(before: read.place) == read.fingerprint else {
            isEnded = true
            return []
        }
        let items = try feed.next(at: time)
        if feed.position.segment == read.place.segment {
            read.place = feed.position
            read.fingerprint = try reader.fingerprint(before: feed.position)
        } else {
            read = try reader.identified(feed.position)
        }
        return items
    }

    /// The damage that reading met since the last call.
    func takeDamage() -> [DamageReport] { feed.takeDamage() }

    /// The consumer has an entry.
    func confirm(through position: JournalPosition?) {
        feed.confirmed()
        if let position { taken = max(taken, position) }
    }

    /// Moves the position of a consumer that has every entry past the records that make no entry.
    private func settle() { if feed.isEverythingEmitted { taken = max(taken, feed.settled) } }

    /// The position before which the consumer has everything; the records before it are durable. Nil if it has taken nothing.
    func durablePosition() throws(JournalError) -> ReaderPosition? {
        settle()
        guard taken > .start else { return nil }
        if taken > durable {
            try reader.makeDurable(from: durable, to: taken)
            durable = taken
        }
        if read.place == taken { return read }
        return try reader.identified(taken)
    }

    /// The position from which a replacement of this value goes on.
    func restart() throws(JournalError) -> ReaderPosition {
        let place = try reader.position(goingOnAt: read)
        return try reader.identified(min(taken, place))
    }
}
