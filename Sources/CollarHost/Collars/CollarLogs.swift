import CollarARQ
import CollarJournal
import CollarWire

/// The logs of one collar that are kept at hand, and the fixes that live fixes are coded against.
struct CollarLogs {
    /// Logs kept at hand: a frame that fits none was checked against all of them.
    private static let limit = 16
    /// Those of them that were named last stay, however few fixes they have.
    private static let youngLimit = 8
    /// Logs whose newest fixes are kept at hand, some 30 KiB each.
    private static let anchoredLimit = 2

    /// The log heard last comes first.
    private(set) var all: [LogSession] = []
    private let journal: Journal
    /// The newest fixes, by log id.
    private var anchors: [UInt32: AnchorCache] = [:]
    private var hasReadAnchors = false

    init(_ journal: Journal) {
        self.journal = journal
        // The log of the newest record counts as the current one, until the collar says who it is.
        for logID in journal.logIDs {
            if let log = LogIdentity(deviceID: journal.deviceID, logID: logID) { _ = add(log) }
        }
    }

    /// The log heard last; nil before there is one.
    var current: LogSession? { all.first }

    /// Takes up a log; it comes first from now on. If there are too many, one is dropped that was not among the last to be
    /// named: the one with the fewest fixes, so that invented logs do not displace the one in use. It is taken up again when
    /// its collar names it.
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
            anchors[all.remove(at: index).log.logID] = nil
        }
        let session = LogSession(
            log: log, receiverID: journal.receiverID, highestSequence: journal.highestSequence(logID: log.logID) ?? 0,
            highestStored: journal.highestStored(logID: log.logID) ?? 0)
        all.insert(session, at: 0)
        return (session, isFull)
    }

    /// Fixes that are stored of a log at hand.
    private func count(of index: Int) -> UInt64 { journal.storedCount(logID: all[index].log.logID) }

    /// The logs that a frame is tried with: the current one, and those heard lately. With every log more, more damaged frames
    /// fit by chance.
    func tried(at now: Instant) -> some Sequence<LogSession> {
        all.lazy.enumerated().filter { $0.offset == 0 || $0.element.isLively(at: now) }.map(\.element)
    }

    /// What short sequences of a log are completed around, the likeliest first. What the collar's receiver has is near what
    /// the collar sends; an identity helps a host that has lost fixes or stores those of another receiver's collar.
    private func references(of session: LogSession) -> InlineArray<3, UInt32> {
        [session.highestStored, journal.firstMissing(logID: session.log.logID), session.newestNamed]
    }

    /// The log to which the CRC of a frame is bound, and what a short sequence in it is completed around; nil for a frame of none
    /// of them.
    func sender(of frame: Span<UInt8>, at now: Instant) -> (log: LogSession, reference: UInt32)? {
        for session in tried(at: now) {
            let references = references(of: session)
            if let reference = FrameCheck.reference(among: references.span, fitting: frame, log: session.log) {
                return (session, reference)
            }
        }
        return nil
    }

    /// The log of a probe; nil where it is none of them.
    func log(tag: UInt32) -> LogSession? { all.first { $0.log.tag == tag } }

    /// Keeps a fix for live fixes that are coded against it.
    mutating func keepAnchor(_ fix: Fix, logID: UInt32) {
        if anchors[logID] == nil, anchors.count == CollarLogs.anchoredLimit {
            let oldest = all.last { anchors[$0.log.logID] != nil }?.log.logID
            if let logID = oldest ?? anchors.keys.min() { anchors[logID] = nil }
        }
        anchors[logID, default: AnchorCache()].keep(fix)
    }

    /// A fix as it was stored, where it is at hand: one of the newest 512 of this run, or of those read back as anchors,
    /// of the two logs heard last. Others would have to be searched in the journal.
    func recentFix(_ sequence: UInt32, logID: UInt32) -> Fix? { anchors[logID]?.fix(sequence) }

    /// The live fix in a frame and its log; nil where it is none of this collar or its anchor is gone.
    mutating func liveFix(of frame: Span<UInt8>, header: FrameHeader, at now: Instant) -> (fix: Fix, log: LogSession)? {
        for session in tried(at: now) {
            let references = references(of: session)
            var last: UInt32?
            for index in references.indices {
                guard let named = LiveFix.sequences(of: frame, header: header, reference: references[index]),
                    named.sequence != last, let anchor = anchor(named.anchor, logID: session.log.logID)
                else { continue }
                last = named.sequence
                do throws(DecodeError) {
                    return (try LiveFix.decode(frame, sequence: named.sequence, anchor: anchor, log: session.log), session)
                } catch { continue }
            }
        }
        return nil
    }

    /// The anchor of a live fix. After a restart the newest fixes are read back from the journal, when the first anchor is
    /// wanted.
    private mutating func anchor(_ sequence: UInt32, logID: UInt32) -> Fix? {
        if let fix = anchors[logID]?.fix(sequence) { return fix }
        guard !hasReadAnchors else { return nil }
        hasReadAnchors = true
        var position = JournalPosition(segment: max(1, journal.end.segment) - 1, offset: 0)
        do throws(JournalError) {
            while true {
                let batch = try journal.entries(from: position, limit: 512)
                for element in batch.elements {
                    if case .fix(let record) = element.entry { keepAnchor(record.fix, logID: record.logID) }
                }
                position = batch.end
                if batch.isAtEnd { break }
            }
        } catch {
            // The fix comes again in the absolute form.
            return nil
        }
        return anchors[logID]?.fix(sequence)
    }
}
