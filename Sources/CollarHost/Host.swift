import CollarARQ
import CollarJournal
import CollarWire

/// The host as a state machine: it receives what collars send, stores it, answers, sends commands, and emits entries.
///
/// It has no clock, opens no port and writes no line: inputs carry the time, and the caller takes the outputs after each input.
///
///     host.receive(bytes, on: link, at: time)
///     while host.commitNext(at: time) { … }
///     while let link = host.nextFrame(into: &frame) { … }
///     host.framesSent(at: instant)
///     while let entry = host.nextEntry(at: time) { …; host.emitted(entry.receipt) }
///     host.moveNotices(to: &notices)
///
/// Files are reached through a ``FileSystem`` alone. A host belongs to one thread.
package final class Host {
    /// The receiver id in the answers of this host.
    package let receiverID: UInt32
    let configuration: HostConfiguration
    let collars: CollarTable
    let output = HostOutput()
    private let dispatcher: Dispatcher
    /// Entries of one collar that were read back and not handed out yet.
    var readBack: (session: CollarSession, items: ArraySlice<EntryFeed.Item>)?
    private var links: [Link] = []

    /// Locks the state directory and opens the journals in it. Nothing is sent yet.
    /// - Parameter random: source of a new receiver identity, and of the first request id for a collar.
    /// - Throws: ``HostError`` if the state directory cannot be used, or another process uses it.
    package init(
        _ configuration: HostConfiguration, fileSystem: any FileSystem, random: some RandomNumberGenerator, at time: HostTime
    ) throws(HostError) {
        var random = random
        let stateLock: StateDirectoryLock
        do throws(JournalError) {
            stateLock = try StateDirectoryLock(configuration.stateDirectory, fileSystem: fileSystem)
            let identity = try ReceiverIdentity.load(
                stateDirectory: configuration.stateDirectory, fileSystem: fileSystem, random: &random)
            receiverID = configuration.receiverID ?? identity.receiverID
        } catch { throw .journal(error) }
        self.configuration = configuration
        collars = CollarTable(
            configuration, stateLock: stateLock, receiverID: receiverID, fileSystem: fileSystem, output: output,
            random: random)
        dispatcher = Dispatcher(receiverID: receiverID, collars: collars, output: output)
        // A host that cannot read its keys does not start: it would take forged frames in clear.
        do throws(JournalError) { _ = try collars.ring.read() } catch { throw .journal(error) }
        try collars.openKnown(at: time)
    }

    // MARK: Links

    /// Adds a link, which is closed at first.
    /// - Parameter name: the link's name in notices.
    package func addLink(named name: String) -> LinkID {
        let id = LinkID(index: links.count)
        links.append(Link(id: id, name: name))
        output.company.addPort()
        return id
    }

    /// A link was opened: its collars are asked for their identities.
    /// - Parameters:
    ///   - timing: the timing of the link's radio; nil if it is not known.
    ///   - isLineNamed: whether a person has said that the link is a serial line.
    package func linkOpened(_ id: LinkID, timing: ModemProfile? = nil, isLineNamed: Bool = false, at time: HostTime) {
        let link = links[id.index]
        link.isLineNamed = isLineNamed
        output.company.setAirtimeShort(false, of: id)
        let known = output.company.collars(on: id, at: time.instant)
        let heartbeat = known.reduce(LinkHealth.defaultHeartbeatMicroseconds) { max($0, collars[$1].health.heartbeatMicroseconds) }
        link.open(timing: timing, heartbeatMicroseconds: heartbeat, known: known, at: time.instant)
        let answerTime = link.session?.identityMicroseconds ?? 0
        for collar in collars.sessions { collar.linkOpened(id, answerMicroseconds: answerTime, at: time.instant) }
        countOpenLinks()
        askNext(on: link, at: time)
    }

    /// Sends the identity request of the opening that is due. It goes to the collars of the port, one after the other, and last
    /// to all.
    private func askNext(on link: Link, at time: HostTime) {
        switch link.takeQuestion(at: time.instant) {
        case nil: break
        case .all: dispatcher.requestIdentity(on: link, address: Frame.broadcastAddress, isAnswer: false, at: time)
        case .collar(let id):
            guard let address = collars[id].journal.address else { return }
            dispatcher.requestIdentity(on: link, address: address, isAnswer: false, at: time)
        }
    }

    /// A link was closed: it is not used until it is opened again.
    package func linkClosed(_ id: LinkID, at time: HostTime) {
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
    package func receive(_ bytes: Span<UInt8>, on id: LinkID, at time: HostTime) {
        dispatcher.receive(bytes, on: links[id.index], at: time)
    }

    /// A packet came in on an open link: a bare frame, perhaps with the signal that the radio measured.
    package func receive(packet: Span<UInt8>, signal: RadioSignal?, on id: LinkID, at time: HostTime) {
        dispatcher.receive(packet: packet, signal: signal, on: links[id.index], at: time)
    }

    package func setTiming(_ timing: ModemProfile, of id: LinkID) { links[id.index].session?.radioTiming = timing }

    /// The settings that the radio of a link has told; nil if it has told none since the link was opened.
    package func modemSettings(of id: LinkID) -> ModemSettings? { links[id.index].session?.modemSettings }

    /// The airtime of the radio of an open link runs short, or does so no more. It does not when the link is opened.
    package func setAirtimeShort(_ isShort: Bool, of id: LinkID) { output.company.setAirtimeShort(isShort, of: id) }

    /// The link of an unhealthy collar, if its radio may be the cause: the link is open, and no other collar was heard on it since
    /// this one was.
    package func linkToRenew(for deviceID: DeviceID) -> LinkID? {
        guard let collar = collars.session(deviceID), let id = collar.links.last, links[id.index].session?.lastCollar === collar
        else { return nil }
        return id
    }

    /// Moves the oldest waiting frame to `output`: a bare frame of at most 51 bytes.
    /// - Returns: the link on which to send it; nil if no frame waits.
    package func nextFrame(into output: inout OutputSpan<UInt8>) -> LinkID? { self.output.frames.next(into: &output) }

    /// The frames that ``nextFrame(into:)`` has moved are sent. Only the latencies depend on this call.
    package func framesSent(at now: Instant) { output.latencies.answersSent(at: now) }

    // MARK: Storing and answering

    package var collarCount: Int { collars.sessions.count }

    /// Whether ``commitNext(at:)`` has something to do.
    package var isCommitDue: Bool { !collars.commits.isEmpty }

    /// Makes the received data of one collar durable, then answers the collar. Call it until it returns false, and read the
    /// links between two calls: making data durable takes milliseconds.
    /// - Returns: false if there was nothing to do.
    package func commitNext(at time: HostTime) -> Bool {
        guard let session = collars.commits.next() else { return false }
        collars[session].commit(at: time)
        return true
    }

    /// Whether there are frames or notices to take.
    package var hasOutputs: Bool { !output.notices.isEmpty || !output.frames.isEmpty }

    /// Moves the waiting notices to `list`, oldest first.
    package func moveNotices(to list: inout [HostNotice]) { output.moveNotices(to: &list) }

    // MARK: Requests

    /// Accepts a request to a collar and stores it durably. ``HostNotice/requestEnded(_:)`` reports its end.
    /// - Parameters:
    ///   - request: the request. The host fills in the version of a settings update, the time of a message, and its own id in a
    ///     command *pair* whose receiver id is 0.
    ///   - deviceID: the collar; nil means the only one.
    package func submit(
        _ request: HostRequest, to deviceID: DeviceID?, patience: RequestPatience, at time: HostTime
    ) throws(RequestRefusal) -> RequestReport {
        let collar = try collar(deviceID)
        if collar.isPairedElsewhere, !request.isToPair { throw .pairedElsewhere(deviceID: collar.deviceID) }
        if collar.requests.hasReleased, !request.isToPair { throw .notPaired(deviceID: collar.deviceID) }
        if case .now = patience {
            guard links.contains(where: { $0.session != nil }) else { throw .noRadio(deviceID: collar.deviceID) }
            guard collar.health.isInContact else { throw .noContact(deviceID: collar.deviceID) }
        }
        return try collar.requests.submit(request, patience: patience, at: time, random: &collars.random)
    }

    package func report(ofRequest requestID: UInt16, to deviceID: DeviceID?) throws(RequestRefusal) -> RequestReport {
        let collar = try collar(deviceID)
        guard let report = collar.requests.report(ofRequest: requestID) else {
            throw .unknownRequest(deviceID: collar.deviceID, requestID: requestID)
        }
        return report
    }

    private func collar(_ deviceID: DeviceID?) throws(RequestRefusal) -> CollarSession {
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

    /// When to call ``deadlineReached(at:)`` next; nil if nothing is expected.
    package var nextDeadline: Instant? {
        var earliest: Instant?
        for link in links { earliest = Instant.earliest(earliest, link.nextDeadline) }
        for collar in collars.sessions { earliest = Instant.earliest(earliest, collar.nextDeadline) }
        return earliest
    }

    package func deadlineReached(at time: HostTime) {
        for link in links where isDue(link.nextDeadline, at: time) {
            if let due = link.session?.held.deadline, time.instant >= due { dispatcher.releaseHeldFrame(of: link, at: time) }
            askNext(on: link, at: time)
            // After a long wait for the disk, several steps may be due.
            while let step = link.silenceStep(at: time.instant) {
                if step.isReported, !link.isAsking {
                    output.report(.link(link.name, .noIdentity(microseconds: step.microseconds, isLineNamed: link.isLineNamed)))
                }
                guard step.asks, !link.isAsking else { continue }
                dispatcher.requestIdentity(on: link, address: Frame.broadcastAddress, isAnswer: false, at: time)
            }
        }
        for collar in collars.sessions where isDue(collar.nextDeadline, at: time) { collar.deadlineReached(at: time) }
    }

    private func isDue(_ deadline: Instant?, at time: HostTime) -> Bool { deadline.map { time.instant >= $0 } ?? false }

    package func reading(at time: HostTime) -> HostReading {
        HostReading(
            statistics: output.statistics, emitsFixes: configuration.selection.hasFixes,
            isStorageFailing: collars.sessions.contains(where: \.storage.isFailing),
            collars: collars.sessions.map { $0.reading(at: time) }, latencies: output.latencies.latencies)
    }

    package var statistics: HostStatistics { output.statistics }

    // MARK: Inspection by simulations

    package var journals: [Journal] { collars.sessions.map(\.journal) }

    /// The number of logs in memory, of all collars together.
    package var logCount: Int { collars.sessions.reduce(0) { $0 + $1.logs.all.count } }

    package var isEverythingEmitted: Bool { collars.sessions.allSatisfy(\.feed.isEverythingEmitted) }

    package func openRequestCount(of deviceID: DeviceID) -> Int { collars.session(deviceID)?.requests.openCount ?? 0 }

    package func reportedSettingsVersion(of deviceID: DeviceID) -> SettingsVersion? {
        collars.session(deviceID)?.requests.reportedVersion
    }
}

package struct HostConfiguration: Equatable, Sendable {
    package var stateDirectory: String
    /// The id of the receiver, in the place of that of the state directory; nil for the latter. Only for what never answers a collar,
    /// such as the playback of a capture.
    package var receiverID: UInt32?
    /// The only collar that is served; nil for all.
    package var deviceID: DeviceID?
    /// How long entries are kept; nil keeps everything. A segment is removed as a whole once its newest fix is old enough. Times of
    /// a wrong clock do not count, see ``Journal/removeSegments(_:consumers:nowUnixMilliseconds:removed:)``.
    package var retention: Retention?
    /// Whether this host has a consumer of its own, for which entries are kept. The named readers are further consumers.
    package var hasConsumer = true
    package var emissionStart = EmissionStart.whereItStopped
    /// The selection of entries to emit. A fix that is not emitted stays in the journal for another run.
    package var selection = EntrySelection()
    /// Size of a journal segment in bytes, after which the next one begins.
    package var segmentByteLimit = Journal.defaultSegmentByteLimit

    /// Size of a collar's journal in bytes at which nothing more of that collar is stored or acknowledged; nil for no limit.
    package var journalByteLimit: Int?
    /// How many logs and ranges of a collar are kept track of.
    package var trackingLimits = TrackingLimits()

    package init(stateDirectory: String) { self.stateDirectory = stateDirectory }
}

package enum HostError: Error, Equatable, Sendable {
    /// The state directory or a journal in it cannot be used.
    case journal(JournalError)
    /// No journal has the fix after which emission was to begin.
    case unknownFix(FixIdentifier)
}
