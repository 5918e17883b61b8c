import CollarARQ
import CollarJournal

/// What a reader follows.
package struct FollowConfiguration: Equatable, Sendable {
    /// Path of the directory that holds the journals.
    package var stateDirectory: String
    /// The collars; nil for all.
    package var collars: Set<UInt64>?
    /// Which entries the reader gets.
    package var selection = EntrySelection()
    /// Where a reader without a position begins.
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
        /// Damage in a journal was skipped.
        case damage(deviceID: UInt64, DamageReport)
        /// A journal cannot be read: it is tried again.
        case unreadable(deviceID: UInt64, JournalError)
        /// A journal lost its newest records or was restored: entries are handed out again.
        case rewritten(deviceID: UInt64)
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
    private var unopened: (deviceIDs: Set<UInt64>, retry: Instant?) = ([], nil)

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
    package func lookForCollars(at now: Instant, _ found: (UInt64) -> Void) throws(JournalError) {
        let known = try JournalDirectory.knownCollars(stateDirectory: configuration.stateDirectory, fileSystem: fileSystem)
        for deviceID in known where configuration.collars?.contains(deviceID) ?? true {
            found(deviceID)
            if let collar = followed(deviceID) { collar.noteChange() } else { open(deviceID, at: now) }
        }
    }

    private func open(_ deviceID: UInt64, at now: Instant) {
        let position = former?.positions[deviceID]
        let start: EmissionStart = former == nil ? configuration.start : position == nil ? .all : .whereItStopped
        do throws(JournalError) {
            collars.append(
                try FollowedCollar(
                    id: nextID, configuration, deviceID: deviceID, start: start, stoppedAt: position ?? .start,
                    fileSystem: fileSystem))
            unopened.deviceIDs.remove(deviceID)
        } catch {
            if unopened.deviceIDs.insert(deviceID).inserted { notices.append(.unreadable(deviceID: deviceID, error)) }
            unopened.retry = now.advanced(byMicroseconds: EntryFeed.rereadInterval)
        }
    }

    private var nextID: SessionID { SessionID(index: collars.count) }

    /// Whether any collar is followed, or could be if its journal could be read.
    package var hasCollars: Bool { !collars.isEmpty || !unopened.deviceIDs.isEmpty }

    /// Whether a collar is followed.
    package func hasCollar(_ deviceID: UInt64) -> Bool { followed(deviceID) != nil }

    private func followed(_ deviceID: UInt64) -> FollowedCollar? { collars.last { $0.deviceID == deviceID && !$0.isEnded } }

    /// The journal of a collar may have changed.
    package func noteChange(of deviceID: UInt64) { followed(deviceID)?.noteChange() }

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
            receipt: EmissionReceipt(session: collar.id, through: item.through))
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
            if collar.failed(at: time.instant) { notices.append(.unreadable(deviceID: collar.deviceID, error)) }
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

    /// Moves the waiting notices out.
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
        for deviceID in unopened.deviceIDs.sorted() where followed(deviceID) == nil { open(deviceID, at: now) }
    }
}
