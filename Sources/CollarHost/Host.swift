import CollarARQ
import CollarJournal
import CollarWire

/// The host as a state machine: it receives what collars send, stores it, answers, sends commands, and emits entries.
///
/// It has no clock, opens no port and writes no line: inputs carry the time, and the caller takes the outputs after each input.
///
///     host.received(bytes, on: link, at: time)
///     while host.commitNext(at: time) { … }
///     while let link = host.nextFrame(into: &frame) { … }
///     while let entry = host.nextEntry(at: time) { …; host.emitted(entry.receipt) }
///     host.moveNotices(to: &notices)
///
/// Files are reached through a ``FileSystem`` alone. A host belongs to one thread.
public final class Host {
    /// The receiver in whose name this host answers.
    public let receiverID: UInt32
    private let configuration: HostConfiguration
    let collars: CollarTable
    private let output = HostOutput()
    private let dispatcher: Dispatcher
    private let emitter: Emitter
    private var links: [Link] = []
    /// The collar whose turn to commit is next.
    private var firstToCommit = 0

    /// Takes the state directory and opens the journals in it. Nothing is sent yet.
    /// - Parameter random: for the identity of a receiver and the ids of commands that begin anew.
    /// - Throws: ``HostError`` where the state directory cannot be used, or is in use.
    public init(
        _ configuration: HostConfiguration, fileSystem: any FileSystem, random: some RandomNumberGenerator, at time: HostTime
    ) throws(HostError) {
        var random = random
        let stateLock: StateDirectoryLock
        do throws(JournalError) {
            stateLock = try StateDirectoryLock(configuration.stateDirectory, fileSystem: fileSystem)
            receiverID = try ReceiverIdentity.load(
                stateDirectory: configuration.stateDirectory, fileSystem: fileSystem, random: &random
            ).receiverID
        } catch { throw .journal(error) }
        self.configuration = configuration
        collars = CollarTable(
            configuration, stateLock: stateLock, receiverID: receiverID, fileSystem: fileSystem, output: output,
            random: random)
        dispatcher = Dispatcher(receiverID: receiverID, collars: collars, output: output)
        emitter = Emitter(configuration, collars: collars, output: output)
        try collars.openKnown(at: time)
    }

    // MARK: Links

    /// Adds a link, which is closed at first.
    /// - Parameter name: what notices call it.
    public func addLink(named name: String) -> LinkID {
        let id = LinkID(index: links.count)
        links.append(Link(id: id, name: name))
        return id
    }

    /// A link can be sent and received on: everybody there is asked who they are.
    public func linkOpened(_ id: LinkID, at time: HostTime) {
        let link = links[id.index]
        link.open(at: time.instant)
        for collar in collars.sessions { collar.linkOpened(id, at: time.instant) }
        countOpenLinks()
        dispatcher.requestIdentity(on: link, address: Frame.broadcastAddress, isAnswer: false, at: time)
    }

    /// A link cannot be used any more, until it is opened again.
    public func linkClosed(_ id: LinkID, at time: HostTime) {
        let link = links[id.index]
        guard link.session != nil else { return }
        dispatcher.releaseHeldFrame(of: link, at: time)
        link.close()
        countOpenLinks()
        for collar in collars.sessions { collar.linkClosed(id) }
    }

    private func countOpenLinks() { dispatcher.hasSeveralLinks = links.count { $0.session != nil } > 1 }

    /// Bytes came in on an open link.
    ///
    /// Complexity: linear in the bytes. No system call, unless fixes come in much faster than ``commitNext(at:)`` is called.
    public func received(_ bytes: Span<UInt8>, on id: LinkID, at time: HostTime) {
        dispatcher.received(bytes, on: links[id.index], at: time)
    }

    /// Moves the oldest frame that waits to `output`: a bare frame of at most 51 bytes.
    /// - Returns: the link it is for; nil where none waits.
    public func nextFrame(into output: inout OutputSpan<UInt8>) -> LinkID? { self.output.frames.next(into: &output) }

    // MARK: Storing and answering

    /// Collars that are served.
    public var collarCount: Int { collars.sessions.count }

    /// Whether ``commitNext(at:)`` has something to do.
    public var isCommitDue: Bool { collars.sessions.contains(where: \.isCommitDue) }

    /// Makes what came in of one collar durable, and answers the collar. Call it until it has nothing to do, and read what came
    /// in meanwhile in between: to bring data to a disk takes milliseconds.
    /// - Returns: false where there was nothing to do.
    public func commitNext(at time: HostTime) -> Bool {
        guard let collar = nextToCommit else { return false }
        collar.commit(at: time)
        return true
    }

    /// Collars take turns: the next one after the one committed last.
    private var nextToCommit: CollarSession? {
        let sessions = collars.sessions
        for offset in 0..<sessions.count {
            let collar = sessions[(firstToCommit + offset) % sessions.count]
            guard collar.isCommitDue else { continue }
            firstToCommit = collar.id.index + 1
            return collar
        }
        return nil
    }

    // MARK: Emission

    /// The next entry for the consumer, oldest first; nil where none waits. What is not taken stays in the journal.
    ///
    /// Complexity: constant for fixes that just came in; others are read back, 128 at once.
    public func nextEntry(at time: HostTime) -> EmittedEntry? { emitter.next(at: time) }

    /// The consumer has an entry: it is not emitted again after a restart, once the next commit is done.
    public func emitted(_ receipt: EmissionReceipt) {
        let collar = collars[receipt.session]
        collar.feed.confirmed()
        if let position = receipt.through { collar.emitted(through: position) }
    }

    /// Moves the notices that wait to `list`, oldest first.
    public func moveNotices(to list: inout [HostNotice]) { output.moveNotices(to: &list) }

    // MARK: Commands

    /// Takes a command to a collar, durably. Its end is told by ``HostNotice/commandEnded(_:)``.
    /// - Parameters:
    ///   - request: the command; the version of settings, and the receiver of a *pair* to receiver 0, are set here.
    ///   - deviceID: the collar; nil for the only one.
    public func submit(
        _ request: HostRequest, to deviceID: UInt64?, patience: CommandPatience, at time: HostTime
    ) throws(CommandRefusal) -> CommandReport {
        let collar = try collar(deviceID)
        if collar.isPairedElsewhere, !request.isToPair { throw .pairedElsewhere(deviceID: collar.deviceID) }
        if case .now = patience {
            guard links.contains(where: { $0.session != nil }) else { throw .noRadio(deviceID: collar.deviceID) }
            guard collar.isInContact else { throw .noContact(deviceID: collar.deviceID) }
        }
        return try collar.commands.submit(request, patience: patience, at: time, random: &collars.random)
    }

    /// What became of a command.
    public func report(ofRequest requestID: UInt16, to deviceID: UInt64?) throws(CommandRefusal) -> CommandReport {
        let collar = try collar(deviceID)
        guard let report = collar.commands.report(ofRequest: requestID) else {
            throw .unknownRequest(deviceID: collar.deviceID, requestID: requestID)
        }
        return report
    }

    private func collar(_ deviceID: UInt64?) throws(CommandRefusal) -> CollarSession {
        let known = collars.sessions.map(\.deviceID).sorted()
        if let deviceID {
            guard let found = collars.session(deviceID) else { throw .unknownCollar(deviceID: deviceID, known: known) }
            return found
        }
        guard let only = collars.sessions.first else { throw .noCollar }
        guard known.count == 1 else { throw .whichCollar(known: known) }
        return only
    }

    // MARK: Time

    /// When ``deadlineReached(at:)`` has something to do; nil while nothing is expected.
    public var nextDeadline: Instant? {
        var earliest: Instant?
        for link in links { if let due = link.nextDeadline { earliest = min(earliest ?? due, due) } }
        for collar in collars.sessions { if let due = collar.nextDeadline { earliest = min(earliest ?? due, due) } }
        return earliest
    }

    /// Does what is due.
    public func deadlineReached(at time: HostTime) {
        for link in links {
            if let due = link.session?.held.deadline, time.instant >= due { dispatcher.releaseHeldFrame(of: link, at: time) }
            // After a long wait for the disk both times may be over.
            while let seconds = link.silenceSeconds(at: time.instant) {
                output.report(.noIdentity(link: link.name, seconds: seconds))
                dispatcher.requestIdentity(on: link, address: Frame.broadcastAddress, isAnswer: false, at: time)
            }
        }
        for collar in collars.sessions { collar.deadlineReached(at: time) }
    }

    /// Figures at this moment.
    public func reading(at time: HostTime) -> HostReading {
        HostReading(
            statistics: output.statistics, emitsFixes: configuration.emitsFixes,
            isStorageFailing: collars.sessions.contains(where: \.storage.isFailing),
            collars: collars.sessions.map { $0.reading(at: time) })
    }

    /// What was counted since the start.
    public var statistics: HostStatistics { output.statistics }
}
