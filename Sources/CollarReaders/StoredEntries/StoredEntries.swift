import CollarARQ
import CollarConfiguration
import CollarErrors
import CollarFormats
import CollarJournal
import CollarTracking
import CollarWire
import Glibc
import LinuxSystem

/// The items that a reader of stored entries gets, for ``Follower`` and ``Deliverer``.
package struct ReadingConfiguration: Sendable {
    package var stateDirectory: String
    /// The collars, each perhaps for some time only.
    package var wanted = CollarSelection.all
    /// The files that say which animal wears which collar; each overrides those after it.
    package var animalPaths: [String] = []
    /// The files with places, in the same order.
    package var placePaths: [String] = []
    /// The name under which the position is kept; nil for a reader that keeps none.
    package var name: ReaderName?
    package var selection = EntrySelection()
    /// The kinds of lines of the event log that it gets.
    package var eventKinds: Set<LineKind> = []
    /// The kinds of entries and events that it writes.
    package var writtenKinds: Set<LineKind> = [.fix]
    /// The age beyond which alerts are left out, in milliseconds; nil for none.
    package var longestAlertAge: Int64?
    /// Where a reader without a position begins; nil for the oldest entry.
    package var start: EmissionStart?
    /// Whether a reader without a position gets all events that are stored, wherever it begins in the journals.
    package var readsAllEvents = false
    package var format = FormatOptions()

    /// A configuration with defaults: the fixes of all collars, from the oldest on.
    package init(stateDirectory: String) {
        self.stateDirectory = stateDirectory
        selection.movesWithoutFixes = true
    }

    package mutating func read(_ kinds: Set<LineKind>) {
        writtenKinds = kinds
        selection.choose(kinds)
        eventKinds = kinds.intersection(LineKind.ofEvents)
        guard hasAlerts else { return }
        // Alerts come from fixes in the order of their logs, from the times of reception, and from events.
        selection.hasFixes = true
        selection.hasMessages = true
        if tellsSilence { return }
        selection.isSorted = true
        selection.announcesHeldFixes = true
        eventKinds.formUnion(EventAlert.kinds)
    }

    package var hasAlerts: Bool { writtenKinds.contains(.alert) || tellsSilence }

    /// Whether the alerts of silence are a part of the format. They need no order of fixes, so that the newest one need not wait.
    package var tellsSilence: Bool { writtenKinds.contains(.link) && format.format.convertedEvents.contains(.link) }
}

package struct FollowerConfiguration: Sendable {
    package var reading: ReadingConfiguration
    /// Whether the position moves only past lines whose ids the consumer writes to ``input``.
    package var isAcknowledged = false
    /// The number of lines after which to end; nil for no limit.
    package var lineLimit: Int?
    /// The time after which to end, in microseconds; nil for no limit.
    package var durationMicroseconds: Int64?
    /// Descriptor from which ids are read.
    package var input: Int32 = 0
    /// Descriptor that lines are written to.
    package var output: Int32 = 1

    package init(_ reading: ReadingConfiguration) { self.reading = reading }
}

/// Something that a reader gets, and the receipt for it.
package enum StoredItem {
    /// An entry; it is not wanted if another animal wore the collar, or if it is read for its alerts alone.
    case entry(EmittedEntry, isWanted: Bool)
    /// A line of the event log; it is not wanted if it is read for its alerts alone.
    case event(EventLogReader.Line, isWanted: Bool = true)
    case alert(RaisedAlert)
    /// Where the owner is from now on, and the line that says it; nil if it is not wanted, or says the same as the last one.
    case owner(Owner, line: [UInt8]?)
}

/// Says where an owner is who moves. No call blocks.
package protocol OwnerReceiver: AnyObject {
    /// The descriptors to wait for.
    var descriptors: [pollfd] { get }
    /// When to call ``serve(at:)`` if no descriptor is ready before; nil for no time.
    var nextDeadline: Instant? { get }
    /// Why it cannot say anything, and a person must help; nil if it can.
    var failure: UserMessage? { get }
    /// Does what is due.
    /// - Returns: where the owner is, if that has changed.
    func serve(at now: Instant) -> Owner?
}

package enum StoredReceipt: Equatable, Sendable {
    /// An entry. A consumer may acknowledge its line by its id, if it has one.
    case entry(EmissionReceipt, hasID: Bool)
    case event(EventPosition)
    case alert(AlertID)
    case owner
}

/// The entries and events of a state directory for one reader: what is stored, then what another process adds.
package final class StoredEntries {
    private let configuration: ReadingConfiguration
    private let watch: JournalWatch
    private let journals: JournalFollower
    private var events: FollowedEvents?
    private var hasToldLostEvents = false
    /// The last confirmed event of an event log that cannot be read any more.
    private var eventsTaken: EventPosition?
    private var named: NamedReader?
    private var annotationFiles: AnnotationFiles
    /// The annotations that the caller has not asked for since they changed.
    private var newAnnotations: Annotations?
    /// Nil for a reader without alerts.
    private var alerts: AlertBook?
    /// Nil for an owner who does not move.
    private let receiver: (any OwnerReceiver)?
    /// Nil where nobody asks for the owner: alerts count from home then.
    private var owner: Owner?
    /// Since when the owner is there, in milliseconds since 1970.
    private var ownerSince: Int64
    /// Whether an item must say where the owner is.
    private var isOwnerNew: Bool
    private var shownOwner: OwnerLine?
    /// The next items, in their order.
    private var waiting: ArraySlice<StoredItem> = []
    private let report: (FollowerNotice) -> Void
    /// Why the position could not be stored the last time; nil if it was stored. A failure that lasts is reported once.
    package private(set) var positionFailure: JournalError?

    /// Opens the state directory, takes the reader's name, and begins to watch for changes.
    /// - Parameter receiver: says where the owner is; nil if the owner does not move.
    package init(
        _ configuration: ReadingConfiguration, owner receiver: (any OwnerReceiver)? = nil, report: @escaping (FollowerNotice) -> Void
    ) throws(ReaderError) {
        self.configuration = configuration
        self.receiver = receiver
        self.report = report
        (owner, ownerSince, isOwnerNew) = (configuration.format.owner, HostTime.now.unixMilliseconds, configuration.format.owner != nil)
        annotationFiles = AnnotationFiles(animals: configuration.animalPaths, places: configuration.placePaths)
        do throws(JournalError) {
            if let name = configuration.name { named = try NamedReader(name, stateDirectory: configuration.stateDirectory) }
        } catch { throw .journal(error) }
        if named?.former != nil, configuration.start != nil, let name = configuration.name { report(.goesOn(name)) }
        var following = FollowConfiguration(stateDirectory: configuration.stateDirectory)
        following.collars = configuration.wanted.deviceIDs.map(Set.init)
        following.selection = configuration.selection
        following.start = configuration.start ?? .all
        journals = JournalFollower(following, former: named?.former,
            fileSystem: POSIXFileSystem(stateDirectory: configuration.stateDirectory))
        watch = try JournalWatch(stateDirectory: configuration.stateDirectory)
        if !configuration.eventKinds.isEmpty { events = FollowedEvents(configuration, former: named?.former?.events) }
        try look()
        if named?.former == nil, case .after(let fix) = configuration.start { try requireStored(fix) }
        if configuration.hasAlerts {
            note(annotationFiles.refresh())
            alerts = AlertBook(alertWatch(), former: named?.former?.alerts ?? configuration.newAlerts, longestAge: configuration.longestAlertAge)
        }
        if !journals.hasCollars, !hasReceiver { report(.nothingStored(path: configuration.stateDirectory)) }
        takeNotices()
        // From now on, 'run --keep' removes nothing that this reader has not taken.
        try storePosition(at: .now, isSeen: true)
    }

    /// Readable when something has changed.
    package var fileDescriptor: Int32 { watch.fileDescriptor }

    package var isNamed: Bool { named != nil }

    /// When ``deadlineReached(at:)`` or ``next(at:)`` is due; nil if nothing is expected.
    package func nextDeadline(at time: HostTime) -> Instant? {
        Instant.earliest(Instant.earliest(journals.nextDeadline, alerts?.nextDeadline(at: time)), receiver?.nextDeadline)
    }

    private func alertWatch() -> AlertWatch {
        let annotations = annotationFiles.annotations
        let owner = owner ?? .home
        return AlertWatch(
            annotations.alerts, places: annotations.places, owner: owner.position(in: annotations.places),
            ownerSince: owner.moves ? ownerSince : nil)
    }

    /// Begins to watch the descriptors of the owner's receiver that are new; those that are closed are forgotten by themselves.
    package func watchOwner(with events: ReaderEvents) {
        for descriptor in receiver?.descriptors ?? [] { events.watch(descriptor.fd, as: .owner, forWriting: descriptor.events & Int16(POLLOUT) != 0) }
    }

    package func deadlineReached(at now: Instant) { journals.deadlineReached(at: now) }

    /// Why a journal cannot be read; nil if all can, as far as they were tried.
    package var failure: JournalError? { journals.failure }

    /// Tries again what could not be read, before its time has come.
    package func retry(at now: Instant) throws(ReaderError) {
        try look()
        journals.retry(at: now)
        takeNotices()
    }

    /// Finds out whether the owner has moved.
    /// - Throws: if the owner's receiver cannot say anything, and a person must help.
    package func lookForOwner(at time: HostTime) throws(ReaderError) {
        // An owner who moves on before the reader takes items is only where the last move led.
        if let moved = receiver?.serve(at: time.instant) { (owner, ownerSince, isOwnerNew) = (moved, time.unixMilliseconds, true) }
        if let failure = receiver?.failure { throw .owner(failure) }
    }

    /// Something has changed: it is found out what.
    package func handleChanges() throws(ReaderError) {
        let changes = watch.takeChanges()
        if changes.hasNewNames { try look() }
        if changes.hasEvents { events?.noteChange() }
        for deviceID in changes.collars { journals.noteChange(of: deviceID) }
        takeNotices()
    }

    /// Whether a receiver has ever used the state directory.
    private var hasReceiver: Bool {
        do throws(JournalError) { return try ReceiverIdentity.existing(stateDirectory: configuration.stateDirectory) != nil } catch {
            return true
        }
    }

    private func look() throws(ReaderError) {
        if events != nil { try watch.watch("\(configuration.stateDirectory)/events", .eventLog) }
        events?.noteChange()
        var failure: ReaderError?
        do throws(JournalError) {
            try journals.lookForCollars(at: HostTime.now.instant) { deviceID in
                let path = JournalDirectory(stateDirectory: configuration.stateDirectory, deviceID: deviceID).path
                do throws(ReaderError) { try watch.watch(path, .collar(deviceID)) } catch { failure = error }
            }
        } catch { throw .journal(error) }
        if let failure { throw failure }
    }

    private func requireStored(_ fix: FixIdentifier) throws(ReaderError) {
        do throws(JournalError) {
            let reader = try JournalReader(stateDirectory: configuration.stateDirectory, deviceID: fix.deviceID)
            if journals.hasCollar(fix.deviceID), try reader.position(behind: fix.sequence, logID: fix.logID) != nil { return }
        } catch {
            guard case .file(let failure) = error, failure.errorNumber == ENOENT else { throw .journal(error) }
        }
        throw .unknownFix(fix)
    }

    package func next(at time: HostTime) -> StoredItem? {
        defer { takeNotices() }
        while true {
            if let item = waiting.popFirst() { return item }
            if isOwnerNew, let owner { return item(of: owner, at: time.instant) }
            if let entry = journals.nextEntry(at: time) {
                take(entry, at: time)
            } else if let line = nextEvent() {
                take(line)
            } else if let alert = alerts?.due(at: time) {
                raise([alert], isLast: true)
            } else {
                return nil
            }
        }
    }

    private func item(of owner: Owner, at now: Instant) -> StoredItem {
        refreshAnnotations(at: now)
        isOwnerNew = false
        alerts?.watch = alertWatch()
        let shown = OwnerLine(owner, in: annotationFiles.annotations.places)
        defer { shownOwner = shown }
        let isWanted = configuration.writtenKinds.contains(.owner) && shown != shownOwner
        return .owner(owner, line: isWanted ? shown.json(at: ownerSince) : nil)
    }

    private func take(_ entry: EmittedEntry, at time: HostTime) {
        let isWorn = configuration.wanted.contains(entry.deviceID, at: entry.content.unixMilliseconds)
        if alerts != nil, isWorn {
            // The alerts of an entry come from the places as they are now.
            refreshAnnotations(at: time.instant)
            let raised = alerts?.take(entry, at: time) ?? []
            raise(raised, isLast: entry.isHeld)
        }
        if entry.isHeld { return journals.confirm(entry.receipt) }
        alerts?.handOut(entry.deviceID, isLast: true)
        waiting.append(.entry(entry, isWanted: isWorn && configuration.writtenKinds.contains(entry.content.kind)))
    }

    /// - Parameter isLast: whether no entry follows that comes from the same cause.
    private func raise(_ raised: [RaisedAlert], isLast: Bool) {
        for (index, alert) in raised.enumerated() {
            alerts?.handOut(alert.deviceID, isLast: isLast && index == raised.count - 1)
            waiting.append(.alert(alert))
        }
    }

    private func nextEvent() -> EventLogReader.Line? {
        defer {
            if !hasToldLostEvents, events?.hasLostLines == true {
                hasToldLostEvents = true
                report(.eventsLost)
            }
        }
        do throws(JournalError) { return try events?.next() } catch {
            report(.cannotReadEvents(error))
            eventsTaken = events?.taken
            events = nil
            return nil
        }
    }

    private func take(_ line: EventLogReader.Line) {
        if alerts != nil, let alert = EventAlert.alert(in: line.bytes), configuration.wanted.contains(alert.deviceID, at: alert.alert.unixMilliseconds),
            alerts?.isRaised(alert, at: .now) == true
        {
            raise([alert], isLast: true)
        }
        waiting.append(.event(line, isWanted: configuration.writtenKinds.contains { line.bytes.starts(with: $0.head) }))
    }

    /// Reads the files of animals and places that have changed, at most once a second.
    /// - Returns: what they say; nil if nothing has changed.
    package func changedAnnotations(at now: Instant) -> Annotations? {
        refreshAnnotations(at: now)
        defer { newAnnotations = nil }
        return newAnnotations
    }

    private func refreshAnnotations(at now: Instant) { note(annotationFiles.refresh(at: now)) }

    /// - Parameter faults: those of changed files; nil if no file has changed.
    private func note(_ faults: [EditedFileFault]?) {
        guard let faults else { return }
        for fault in faults { report(.editedFile(fault)) }
        alerts?.watch = alertWatch()
        newAnnotations = annotationFiles.annotations
        // Home may be elsewhere, or the owner in another place.
        isOwnerNew = true
        if owner?.moves == false { ownerSince = HostTime.now.unixMilliseconds }
    }

    package func confirm(_ receipt: StoredReceipt) {
        switch receipt {
        case .entry(let receipt, _):
            journals.confirm(receipt)
            alerts?.confirm()
        case .event(let position): events?.confirm(through: position)
        case .alert: alerts?.confirm()
        case .owner: break
        }
    }

    /// Stores the position of a named reader durably, after the records before it.
    /// - Parameter isSeen: whether the time is stored also if the position is the same.
    /// - Returns: whether that succeeded.
    /// - Throws: if the state directory was restored or removed under the reader.
    @discardableResult
    package func storePosition(at time: HostTime, isSeen: Bool = false) throws(ReaderError) -> Bool {
        guard named != nil else { return true }
        do throws(JournalError) {
            var state = try journals.durableState()
            state.events = events?.taken ?? eventsTaken ?? named?.former?.events
            if let kept = alerts?.state() { state.alerts = kept }
            state.seenUnixMilliseconds = time.unixMilliseconds
            try named?.store(state, isSeen: isSeen)
            positionFailure = nil
            return true
        } catch {
            if case .readerReplaced = error { throw .journal(error) }
            if positionFailure != error { report(.cannotStorePosition(error)) }
            positionFailure = error
            return false
        }
    }

    private func takeNotices() { for notice in journals.takeNotices() { report(.journal(notice)) } }
}

/// The durable position of a named reader, and its lock.
package struct NamedReader {
    /// The state that was stored when the reader began; nil for a new reader.
    package let former: ReaderState?
    private let name: ReaderName
    private let files: ReaderFiles
    private let lock: ReaderLock
    private var stored: ReaderState?

    /// - Throws: ``JournalError/readerInUse(_:processID:)`` if another process reads under it.
    package init(_ name: ReaderName, stateDirectory: String) throws(JournalError) {
        self.name = name
        files = ReaderFiles(stateDirectory: stateDirectory)
        try files.makeDirectory()
        lock = try files.lock(name)
        former = try files.state(of: name)
        stored = former
    }

    /// Stores the position durably, if it has changed since it was stored last.
    /// - Parameter isSeen: whether the time is stored also if the position is the same.
    package mutating func store(_ state: ReaderState, isSeen: Bool) throws(JournalError) {
        if var last = stored, !isSeen {
            last.seenUnixMilliseconds = state.seenUnixMilliseconds
            if last == state { return }
        }
        try files.store(state, of: name, holding: lock)
        stored = state
    }
}

extension ReadingConfiguration {
    /// The state of a new reader: alerts count from the time that a person has named, else from now on.
    fileprivate var newAlerts: ReaderAlerts {
        if case .since(let unixMilliseconds) = start { return ReaderAlerts(sinceUnixMilliseconds: unixMilliseconds) }
        // An animal that has long been silent is not shown where it was then.
        if tellsSilence { return ReaderAlerts(sinceUnixMilliseconds: 0) }
        return ReaderAlerts(sinceUnixMilliseconds: HostTime.now.unixMilliseconds)
    }
}

extension EmittedEntry.Content {
    fileprivate var kind: LineKind {
        switch self {
        case .fix: .fix
        case .message: .message
        case .gap: .gap
        }
    }

    /// The time that decides which animal wears the collar: that of the fix; for a message without a time, and for a change of a gap,
    /// when it became known. In milliseconds since 1970.
    package var unixMilliseconds: Int64 {
        switch self {
        case .fix(let record): record.fix.unixMilliseconds
        case .message(let record): record.unixMilliseconds
        case .gap(let change): change.unixMilliseconds
        }
    }
}

package enum ReaderSource: Equatable {
    case signals, output, journals, input, owner
}

package typealias ReaderEvents = EventPoll<ReaderSource>
