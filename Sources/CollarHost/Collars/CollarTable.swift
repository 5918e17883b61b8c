import CollarARQ
import CollarJournal
import CollarWire

/// The table of the collars that a host serves. It finds the collar that sent a frame.
final class CollarTable {
    private let configuration: HostConfiguration
    private let receiverID: UInt32
    private let stateLock: StateDirectoryLock
    private let fileSystem: any FileSystem
    private let output: HostOutput
    /// The random source for the id from which a collar's request ids are counted up.
    var random: any RandomNumberGenerator
    private(set) var sessions: [CollarSession] = []
    let commits = CommitQueue()
    let ring: KeyRing
    /// The collars that use each address, the one heard last there first.
    private var atAddress = [[CollarSession]](repeating: [], count: 256)
    /// Collars whose address is not known: their journals have no record of one.
    private var anywhere: [CollarSession] = []
    /// The collar that was heard last at each address in this run.
    private var lastAtAddress = [CollarSession?](repeating: nil, count: 256)
    /// Collars whose journal could not be opened, and the earliest time of the next attempt.
    private var unavailable: [DeviceID: Instant] = [:]
    /// Limits how fast new collars are accepted.
    private var newCollars = HostLimits.newCollars
    private var refusalNotices = NoticeLimiter<CollarRefusal>()

    init(
        _ configuration: HostConfiguration, stateLock: StateDirectoryLock, receiverID: UInt32, fileSystem: any FileSystem,
        output: HostOutput, random: some RandomNumberGenerator
    ) {
        self.configuration = configuration
        self.stateLock = stateLock
        self.receiverID = receiverID
        self.fileSystem = fileSystem
        self.output = output
        self.random = random
        ring = KeyRing(KeyFiles(stateDirectory: configuration.stateDirectory, fileSystem: fileSystem), output: output)
    }

    /// Reads the key files, unless they were read just before.
    /// - Returns: whether a key was added, removed or changed.
    func readKeys(at now: Instant) -> Bool {
        guard ring.read(at: now, progress: { self.session($0)?.journal.sealedProgress }) else { return false }
        assignKeys()
        return true
    }

    private func assignKeys() { for session in sessions { assignKey(to: session) } }

    private func assignKey(to session: CollarSession) {
        session.keyed = ring.collar(session.deviceID)
        let isLost = session.keyed == nil && session.journal.sealedProgress != nil && !ring.removed.contains(session.deviceID)
        if isLost, !session.isKeyLost { output.report(.collar(session.deviceID, .keyLost)) }
        session.isKeyLost = isLost
    }

    /// A collar has taken over its pending key.
    /// - Returns: the collar with its new key; nil if the key cannot be stored now.
    func activate(_ pending: PendingKey) -> KeyedCollar? {
        defer { assignKeys() }
        return ring.activate(pending)
    }

    subscript(id: SessionID) -> CollarSession { sessions[id.index] }

    /// Opens the journals of the collars that were heard before, so that their frames can be checked at once. A journal that
    /// cannot be opened does not affect the other collars.
    func openKnown(at time: HostTime) throws(HostError) {
        let known: [DeviceID]
        do throws(JournalError) {
            known = try JournalDirectory.knownCollars(stateDirectory: configuration.stateDirectory, fileSystem: fileSystem)
        } catch { throw .journal(error) }
        var failures: [JournalError] = []
        for deviceID in known.filter(isWanted).prefix(HostLimits.knownCollarCount) {
            do throws(JournalError) { _ = try open(deviceID, at: time) } catch {
                failures.append(error)
                noteUnavailable(deviceID, error, at: time)
            }
        }
        // If no journal could be opened, a failure that concerns more than one collar's folder is a failure of the host.
        if sessions.isEmpty, let failure = failures.first(where: { !$0.isOfOneFolder }) { throw .journal(failure) }
        if case .after(let fix) = configuration.emissionStart,
            !sessions.contains(where: { $0.deviceID == fix.deviceID && $0.journal.contains(fix.sequence, logID: fix.logID) })
        {
            throw .unknownFix(fix)
        }
    }

    private func isWanted(_ deviceID: DeviceID) -> Bool { configuration.deviceID == nil || configuration.deviceID == deviceID }

    private func open(_ deviceID: DeviceID, at time: HostTime) throws(JournalError) -> CollarSession {
        // If the state directory was removed, `open` would make a new one without this receiver's identity and lock.
        try stateLock.check()
        let journal = try Journal.open(
            stateDirectory: configuration.stateDirectory, deviceID: deviceID, receiverID: receiverID,
            nowUnixMilliseconds: time.unixMilliseconds, segmentByteLimit: configuration.segmentByteLimit,
            byteLimit: configuration.journalByteLimit, limits: configuration.trackingLimits, fileSystem: fileSystem)
        if let previous = journal.previousReceiverID {
            output.report(.collar(deviceID, .copiedJournal(previousReceiverID: previous)))
        }
        for damage in journal.damage { output.report(.collar(deviceID, .journalDamage(damage))) }
        let session = try CollarSession(
            id: SessionID(index: sessions.count), journal: journal, configuration: configuration,
            requests: RequestOutbox(journal, fileSystem: fileSystem, output: output, at: time, random: &random),
            commits: commits, output: output)
        ring.collar(deviceID)?.restore(journal.sealedProgress)
        assignKey(to: session)
        sessions.append(session)
        if let newest = journal.openedUnixMilliseconds, newest > 0, time.unixMilliseconds - newest < ChannelCompany.knownMilliseconds {
            output.company.noteKnown(session.id, at: time.instant)
        }
        if let address = journal.address { atAddress[Int(address)].append(session) } else { anywhere.append(session) }
        return session
    }

    func session(_ deviceID: DeviceID) -> CollarSession? { sessions.first { $0.deviceID == deviceID } }

    /// The session of a collar that sent its identity; nil if the collar is not wanted or not accepted, or if its journal
    /// cannot be opened.
    func takeUp(_ deviceID: DeviceID, link: String, at time: HostTime) -> CollarSession? {
        if let known = session(deviceID) { return known }
        guard isWanted(deviceID) else { return nil }
        let nextTry = unavailable[deviceID]
        if let nextTry {
            guard time.instant >= nextTry else { return nil }
        } else if ring.collar(deviceID) == nil {
            // Anybody can invent collars without a key, so only these are limited.
            guard mayTakeUp(deviceID, link: link, at: time) else { return nil }
        }
        do throws(JournalError) {
            let session = try open(deviceID, at: time)
            if nextTry != nil { output.report(.collar(deviceID, .storageRecovered)) }
            unavailable[deviceID] = nil
            return session
        } catch {
            noteUnavailable(deviceID, error, at: time)
            return nil
        }
    }

    /// A journal cannot be opened: this is reported once. The next attempt is made when the collar is heard,
    /// but not before ``HostLimits/openingInterval`` has passed.
    private func noteUnavailable(_ deviceID: DeviceID, _ error: JournalError, at time: HostTime) {
        if unavailable[deviceID] == nil { output.report(.collar(deviceID, .journalUnavailable(error))) }
        unavailable[deviceID] = time.instant.advanced(byMicroseconds: HostLimits.openingInterval)
    }

    /// Whether a collar that was not heard before may be accepted. If not, a notice is given, unless one was given lately.
    private func mayTakeUp(_ deviceID: DeviceID, link: String, at time: HostTime) -> Bool {
        let refusal: CollarRefusal
        if sessions.count + unavailable.count >= HostLimits.collarCount {
            refusal = .tooManyCollars(limit: HostLimits.collarCount)
        } else if newCollars.take(at: time.instant) {
            return true
        } else {
            refusal = .tooManyAtOnce
        }
        if refusalNotices.isDue(refusal, at: time.instant) { output.report(.collar(deviceID, .refused(link: link, refusal))) }
        return false
    }

    /// The collars that may have sent a frame with this address, the one heard last there first: those that were heard there, and
    /// those whose journals have no address.
    func candidates(at address: UInt8) -> [CollarSession] {
        anywhere.isEmpty ? atAddress[Int(address)] : atAddress[Int(address)] + anywhere
    }

    /// The collar heard last at an address in this run; nil if none was heard there.
    func heardLast(at address: UInt8) -> CollarSession? { lastAtAddress[Int(address)] }

    func noteFrame(of session: CollarSession, address: UInt8) {
        let place = Int(address)
        guard lastAtAddress[place] !== session else { return }
        lastAtAddress[place] = session
        atAddress[place].removeAll { $0 === session }
        atAddress[place].insert(session, at: 0)
        anywhere.removeAll { $0 === session }
    }

    /// The collar and the log that sent a frame, and the reference for a short sequence in the frame; nil if no log of a collar that
    /// uses the address fits, or if the link has tried too many logs.
    func sender(
        of frame: Span<UInt8>, address: UInt8, on link: Link, at now: Instant
    ) -> (session: CollarSession, log: LogSession, reference: UInt32)? {
        // Nearly every frame is of the current log of the collar that was heard last. The first trial is free, so it needs no count.
        if let session = lastAtAddress[Int(address)], let found = session.logs.sender(ofCurrent: frame) {
            return (session, found.log, found.reference)
        }
        var trials = LogTrials(of: link, at: now)
        for session in candidates(at: address) {
            guard let found = session.logs.sender(of: frame, trials: &trials) else { continue }
            trials.succeeded()
            return (session, found.log, found.reference)
        }
        return nil
    }

    /// The live fix in a frame, and its sender, as ``sender(of:address:on:at:)``.
    func liveFix(
        of frame: Span<UInt8>, header: FrameHeader, on link: Link, at now: Instant
    ) -> (fix: Fix, session: CollarSession, log: LogSession)? {
        var trials = LogTrials(of: link, at: now)
        for session in candidates(at: header.address) {
            guard let found = session.logs.liveFix(of: frame, header: header, trials: &trials) else { continue }
            trials.succeeded()
            return (found.fix, session, found.log)
        }
        return nil
    }
}

/// The collars with something to commit, in the order in which that came up: so they take turns.
final class CommitQueue {
    private var waiting: [SessionID] = []

    var isEmpty: Bool { waiting.isEmpty }

    /// Adds a collar, which must not wait already.
    func add(_ session: SessionID) { waiting.append(session) }

    /// Takes the collar that waits longest; nil if none waits.
    func next() -> SessionID? { waiting.isEmpty ? nil : waiting.removeFirst() }
}
