import CollarARQ
import CollarJournal
import CollarWire

/// The logs of one collar that are kept in memory, and the fixes against which live fixes are coded.
struct CollarLogs {
    /// The most logs in memory: a frame that fits none may have to be checked against all of them.
    private static let limit = 16
    /// This many of the most recently named logs always stay in memory, however few fixes they have.
    private static let youngLimit = 8
    /// The most logs whose newest fixes are kept in memory, some 30 KiB each.
    private static let anchoredLimit = 2

    /// The logs in memory, beginning with the most recently named one.
    private(set) var all: [LogSession] = []
    private let journal: Journal
    private var hasReadAnchors = false

    init(_ journal: Journal) {
        self.journal = journal
        // The log of the newest record counts as the current one until the collar sends its identity.
        for logID in journal.logIDs { _ = add(LogIdentity(deviceID: journal.deviceID, logID: logID)) }
        // Of a new log of a collar with a key, or of a released one, perhaps nothing is stored yet.
        for case let logID? in [journal.memory.releasedLogID, journal.sealedProgress?.logID] where !journal.logIDs.contains(logID) {
            _ = add(LogIdentity(deviceID: journal.deviceID, logID: logID))
        }
    }

    /// The current log, which was named last; nil before there is one.
    var current: LogSession? { all.first }

    /// Makes a log the current one. If too many logs are in memory, one is dropped: of those that were not named recently, the
    /// log with the fewest fixes, so that invented logs do not displace the log in use. A dropped log is added again when its
    /// collar names it.
    /// - Returns: the log, and whether another one was dropped.
    mutating func add(_ log: LogIdentity) -> (session: LogSession, isOtherDropped: Bool) {
        if let index = all.firstIndex(where: { $0.log == log }) {
            let session = all[index]
            if index > 0 { all.insert(all.remove(at: index), at: 0) }
            return (session, false)
        }
        let isFull = all.count == CollarLogs.limit
        if isFull {
            let older = all.indices.dropFirst(CollarLogs.youngLimit)
            let index = older.reversed().min { count(of: $0) < count(of: $1) } ?? all.count - 1
            all.remove(at: index)
        }
        let known = journal.known(logID: log.logID)
        let session = LogSession(
            log: log, receiverID: journal.receiverID, highestSequence: known.highest ?? 0,
            highestStored: known.stored.ranges.last?.last ?? 0)
        all.insert(session, at: 0)
        return (session, isFull)
    }

    private func count(of index: Int) -> UInt64 { journal.known(logID: all[index].log.logID).storedCount }

    /// Whether the CRC of a frame is checked for a log: for the current one, and for those heard recently. With each further
    /// log more damaged frames would pass the CRC by chance.
    private func isTried(_ index: Int, at now: Instant) -> Bool { index == 0 || all[index].isLively(at: now) }

    /// A reference around which short sequences of a log are completed: at position 0 the likeliest, nil after the last. A
    /// collar sends sequences near those that its receiver has. The sequence named by an identity helps a host that has lost
    /// fixes, or that stores the fixes of another receiver's collar.
    private func reference(at position: Int, of session: LogSession) -> UInt32? {
        switch position {
        case 0: session.highestStored
        case 1: journal.firstMissing(logID: session.log.logID)
        case 2: session.newestNamed
        default: nil
        }
    }

    /// The log to which the CRC of a frame is bound, and the reference for a short sequence in the frame; nil if the CRC
    /// fits no log.
    func sender(of frame: Span<UInt8>, trials: inout LogTrials) -> (log: LogSession, reference: UInt32)? {
        for index in all.indices where isTried(index, at: trials.now) {
            guard trials.mayTry() else { return nil }
            if let fitting = reference(fitting: frame, of: all[index]) { return (all[index], fitting) }
        }
        return nil
    }

    /// The current log, and the reference for a short sequence in the frame; nil if the CRC does not fit that log.
    func sender(ofCurrent frame: Span<UInt8>) -> (log: LogSession, reference: UInt32)? {
        guard let session = all.first, let fitting = reference(fitting: frame, of: session) else { return nil }
        return (session, fitting)
    }

    private func reference(fitting frame: Span<UInt8>, of session: LogSession) -> UInt32? {
        FrameCRC.reference(fitting: frame, log: session.log) { reference(at: $0, of: session) }
    }

    func log(id: LogID) -> LogSession? { all.first { $0.log.logID == id } }

    /// The values that the tag of a sealed frame may cover in addition to the frame: each sequence, or each anchor, that the frame
    /// can refer to in this log.
    mutating func bindings(of frame: Span<UInt8>, type: MessageType, log session: LogSession) -> [SealedBinding] {
        switch type {
        case .absoluteFix:
            guard SealedFrame.hasShortSequence(frame) else { return [.sequence(0)] }
            var halves: [UInt32] = []
            var position = 0
            while let reference = reference(at: position, of: session) {
                position += 1
                let both = SealedFrame.upperHalves(around: reference)
                for index in both.indices where !halves.contains(both[index]) { halves.append(both[index]) }
            }
            return halves.map { .sequence($0 << 16) }
        case .liveFix:
            var anchors: [Fix] = []
            var position = 0
            while let reference = reference(at: position, of: session) {
                position += 1
                guard let sequence = SealedFrame.anchorSequence(of: frame, below: reference),
                    !anchors.contains(where: { $0.sequence == sequence }),
                    let anchor = anchor(sequence, of: session)
                else { continue }
                anchors.append(anchor)
            }
            return anchors.map { .anchor($0) }
        default: return [.none]
        }
    }

    func log(tag: UInt32) -> LogSession? { all.first { $0.log.tag == tag } }

    func keepAnchor(_ fix: Fix, of log: LogSession) {
        if log.recentFixes.isEmpty {
            let anchored = all.filter { !$0.recentFixes.isEmpty }
            if anchored.count == CollarLogs.anchoredLimit { anchored.last?.recentFixes = RecentFixes() }
        }
        log.recentFixes.keep(fix)
    }

    /// The live fix in a frame, and its log; nil if this collar did not send the frame or the anchor is not in memory.
    mutating func liveFix(of frame: Span<UInt8>, header: FrameHeader, trials: inout LogTrials) -> (fix: Fix, log: LogSession)? {
        for index in all.indices where isTried(index, at: trials.now) {
            guard trials.mayTry() else { return nil }
            let session = all[index]
            var last: UInt32?
            var position = 0
            while let reference = reference(at: position, of: session) {
                position += 1
                guard let named = LiveFix.sequences(of: frame, header: header, reference: reference),
                    named.sequence != last, let anchor = anchor(named.anchor, of: session)
                else { continue }
                last = named.sequence
                let fix = try? LiveFix.decode(frame, sequence: named.sequence, anchor: anchor, log: session.log)
                if let fix { return (fix, session) }
            }
        }
        return nil
    }

    /// The anchor of a live fix. When an anchor is missing for the first time, as after a restart, the newest fixes are read
    /// back from the journal.
    private mutating func anchor(_ sequence: UInt32, of log: LogSession) -> Fix? {
        if let fix = log.recentFixes.fix(sequence) { return fix }
        guard !hasReadAnchors else { return nil }
        hasReadAnchors = true
        do throws(JournalError) {
            try journal.forEachEntry(from: JournalPosition(segment: max(1, journal.end.segment) - 1, offset: 0)) { element in
                if case .fix(let record) = element.entry, let log = self.log(id: record.logID) { keepAnchor(record.fix, of: log) }
                return true
            }
        } catch {
            // The fix comes again in the absolute form.
            return nil
        }
        return log.recentFixes.fix(sequence)
    }
}

/// The newest fixes of one log, as they were stored in this run or read back. Live fixes may be coded against them. Their number is
/// limited: a live fix whose anchor was dropped comes again in the absolute form.
struct RecentFixes {
    /// A live fix is at most 127 sequences above its anchor, which is an acknowledged fix. The rest of the capacity keeps the
    /// anchors of live fixes that come late.
    private static let capacity = 512

    private var fixes: [Fix?] = []

    var isEmpty: Bool { fixes.isEmpty }

    func fix(_ sequence: UInt32) -> Fix? {
        guard !fixes.isEmpty, let fix = fixes[Int(sequence) % RecentFixes.capacity], fix.sequence == sequence else { return nil }
        return fix
    }

    /// Keeps a fix in place of an older one.
    mutating func keep(_ fix: Fix) {
        if fixes.isEmpty { fixes = [Fix?](repeating: nil, count: RecentFixes.capacity) }
        let place = Int(fix.sequence) % RecentFixes.capacity
        if let there = fixes[place], there.sequence > fix.sequence { return }
        fixes[place] = fix
    }
}
