import CollarARQ
import CollarJournal
import CollarWire

package struct FollowConfiguration: Equatable, Sendable {
    package var stateDirectory: String
    /// The collars; nil for all.
    package var collars: Set<DeviceID>?
    package var selection = EntrySelection()
    package var start = EmissionStart.all

    /// A configuration with defaults: the fixes of all collars, from the oldest on.
    package init(stateDirectory: String) { self.stateDirectory = stateDirectory }
}

/// Follows the journals of a state directory for a reader, while another process writes them.
///
/// It has no clock and waits for nothing: the caller tells which journals may have changed, and takes entries. A follower belongs
/// to one thread.
package final class JournalFollower {
    /// An event that a person should know of.
    package enum Notice: Equatable, Sendable {
        case damage(deviceID: DeviceID, DamageReport)
        /// A journal cannot be read: it is tried again.
        case unreadable(deviceID: DeviceID, JournalError)
        /// A journal lost its newest records or was restored: entries are handed out again.
        case rewritten(deviceID: DeviceID)
    }

    private let configuration: FollowConfiguration
    private let fileSystem: any FileSystem
    /// The state with which the reader began; nil if it has no position.
    private let former: ReaderState?
    /// The collars by their session; an ended one stays in its place.
    private var collars: [FollowedCollar] = []
    private var readBack: (collar: FollowedCollar, items: ArraySlice<EntryFeed.Item>)?
    private var notices: [Notice] = []
    /// Wanted collars whose journals could not be opened, and when that is tried again.
    private var unopened: (failures: [DeviceID: JournalError], retry: Instant?) = ([:], nil)

    /// Prepares a follower, which knows no collar yet.
    /// - Parameter former: the state of the reader, if it has one: it goes on there.
    package init(_ configuration: FollowConfiguration, former: ReaderState?, fileSystem: any FileSystem) {
        self.configuration = configuration
        self.former = former
        self.fileSystem = fileSystem
    }

    /// Looks for the wanted collars that have a journal. Those that are followed may have changed: another directory may have taken the
    /// place of theirs.
    /// - Parameter found: called with each before its journal is read, so that no change is missed.
    /// - Throws: the failure to list the state directory.
    package func lookForCollars(at now: Instant, _ found: (DeviceID) -> Void) throws(JournalError) {
        let known = try JournalDirectory.knownCollars(stateDirectory: configuration.stateDirectory, fileSystem: fileSystem)
        for deviceID in known where configuration.collars?.contains(deviceID) ?? true {
            found(deviceID)
            if let collar = followed(deviceID) { collar.noteChange() } else { open(deviceID, at: now) }
        }
    }

    private func open(_ deviceID: DeviceID, at now: Instant) {
        let position = former?.positions[deviceID]
        let start: EmissionStart = former == nil ? configuration.start : position == nil ? .all : .whereItStopped
        do throws(JournalError) {
            collars.append(
                try FollowedCollar(
                    id: nextID, configuration, deviceID: deviceID, start: start, stoppedAt: position ?? .start,
                    fileSystem: fileSystem))
            unopened.failures[deviceID] = nil
        } catch {
            if unopened.failures.updateValue(error, forKey: deviceID) == nil { notices.append(.unreadable(deviceID: deviceID, error)) }
            unopened.retry = now.advanced(byMicroseconds: EntryFeed.rereadInterval)
        }
    }

    private var nextID: SessionID { SessionID(index: collars.count) }

    /// Whether any collar is followed, or could be if its journal could be read.
    package var hasCollars: Bool { !collars.isEmpty || !unopened.failures.isEmpty }

    package func hasCollar(_ deviceID: DeviceID) -> Bool { followed(deviceID) != nil }

    private func followed(_ deviceID: DeviceID) -> FollowedCollar? { collars.last { $0.deviceID == deviceID && !$0.isEnded } }

    package func noteChange(of deviceID: DeviceID) { followed(deviceID)?.noteChange() }

    /// The next entry, oldest first for each collar; nil if none waits.
    package func nextEntry(at time: HostTime) -> EmittedEntry? {
        if let entry = nextReadBack() { return entry }
        while let collar = collars.first(where: \.isReadable) {
            readBack = (collar, read(collar, at: time)[...])
            if let entry = nextReadBack() { return entry }
        }
        return nil
    }

    private func nextReadBack() -> EmittedEntry? {
        guard let collar = readBack?.collar, let item = readBack?.items.popFirst() else {
            readBack = nil
            return nil
        }
        return EmittedEntry(
            content: item.content, deviceID: collar.deviceID,
            receipt: EmissionReceipt(session: collar.id, through: item.through), isHeld: item.isHeld)
    }

    private func read(_ collar: FollowedCollar, at time: HostTime) -> [EntryFeed.Item] {
        do throws(JournalError) {
            guard let items = try collar.next(at: time) else {
                collars.append(try collar.replacement(id: nextID, configuration, fileSystem: fileSystem))
                if !collar.hasDroppedEntries { notices.append(.rewritten(deviceID: collar.deviceID)) }
                return []
            }
            for report in collar.takeDamage() { notices.append(.damage(deviceID: collar.deviceID, report)) }
            return items
        } catch {
            if collar.failed(error, at: time.instant) { notices.append(.unreadable(deviceID: collar.deviceID, error)) }
            return []
        }
    }

    /// The consumer has an entry, and all entries of the collar before it.
    package func confirm(_ receipt: EmissionReceipt) { collars[receipt.session.index].confirm(through: receipt.through) }

    /// The state of the reader: what it has taken, as far as that is durable in the journals. The time and the events are the caller's.
    ///
    /// Complexity: an `fdatasync` for each journal of which something was taken since the last call.
    package func durableState() throws(JournalError) -> ReaderState {
        var state = former ?? ReaderState(seenUnixMilliseconds: 0)
        state.collars = configuration.collars
        state.takesFixes = configuration.selection.hasFixes
        state.takesMessages = configuration.selection.hasMessages
        for collar in collars where !collar.isEnded {
            if let position = try collar.durablePosition() { state.positions[collar.deviceID] = position }
        }
        return state
    }

    package func takeNotices() -> [Notice] {
        defer { notices = [] }
        return notices
    }

    /// When ``deadlineReached(at:)`` is due; nil if nothing is expected.
    package var nextDeadline: Instant? { (collars.map(\.nextDeadline) + [unopened.retry]).compactMap { $0 }.min() }

    /// Tries journals again that could not be opened or read.
    package func deadlineReached(at now: Instant) {
        for collar in collars { collar.deadlineReached(at: now) }
        guard let retry = unopened.retry, now >= retry else { return }
        unopened.retry = nil
        for deviceID in unopened.failures.keys.sorted() where followed(deviceID) == nil { open(deviceID, at: now) }
    }

    /// Why a journal cannot be read; nil if all can, as far as they were tried.
    package var failure: JournalError? {
        collars.lazy.filter { !$0.isEnded }.compactMap(\.failure).first ?? unopened.failures.min { $0.key < $1.key }?.value
    }

    /// Tries journals again that could not be opened or read, before their time has come.
    package func retry(at now: Instant) {
        for collar in collars where collar.failure != nil { collar.deadlineReached(at: Instant(microseconds: .max)) }
        if unopened.retry != nil { unopened.retry = now }
        deadlineReached(at: now)
    }
}

/// The journal of one collar, as a reader in another process follows it.
package final class FollowedCollar {
    package let id: SessionID
    package let deviceID: DeviceID
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
    /// Why the journal could not be read the last time; nil if it could.
    package private(set) var failure: JournalError?

    /// - Parameters:
    ///   - stop: a position to which everything was read; the start if nothing was.
    ///   - limit: where the consumer has stopped, if that is earlier.
    package init(
        id: SessionID, _ configuration: FollowConfiguration, deviceID: DeviceID, start: EmissionStart, stoppedAt stop: ReaderPosition,
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
        if configuration.selection.isSorted { feed.inferCurrentLog(from: try reader.newestLogID(at: feed.position)) }
        taken = min(taken, feed.position)
        if case .whereItStopped = start {} else { taken = feed.position }
        read = try reader.identified(feed.position)
        if taken > .start { kept = try reader.identified(taken) }
    }

    package func noteChange() { feed.noteChange() }

    package var isReadable: Bool { !isEnded && feed.isReadable }
    package var nextDeadline: Instant? { isEnded ? nil : feed.nextDeadline }
    package func deadlineReached(at now: Instant) { feed.deadlineReached(at: now) }

    /// The journal could not be read: it is tried again later.
    /// - Returns: whether it could be read before.
    package func failed(_ error: JournalError, at now: Instant) -> Bool {
        failure = error
        if hasDroppedEntries { noteChange() }
        return feed.failed(at: now)
    }

    /// Takes some entries from the journal; nil if this value must be replaced: the journal has changed under the reader, or
    /// ``hasDroppedEntries``.
    package func next(at time: HostTime) throws(JournalError) -> [EntryFeed.Item]? {
        guard !hasDroppedEntries, try reader.hasSameRecords(before: read) else { return nil }
        let items = try feed.next(at: time)
        hasDroppedEntries = true
        read = try reader.identified(feed.position, after: read)
        hasDroppedEntries = false
        failure = nil
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

    package func takeDamage() -> [DamageReport] { feed.takeDamage() }

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
