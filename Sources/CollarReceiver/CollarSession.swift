import CollarARQ
import CollarDomain
import CollarJournal
import CollarWire

/// One collar as the receiver knows it: its journal, its logs, and how far its lines are out.
final class CollarSession {
    let deviceID: UInt64
    let journal: Journal
    /// The ends of reliable delivery, one a log; the one heard last comes first.
    var deliveries: [HostDelivery] = []
    /// Fixes that live fixes may be coded against, by log id.
    private var anchors: [UInt32: AnchorCache] = [:]
    private var hasReadAnchors = false
    /// Address the collar used last; nil before it was heard.
    var address: UInt8?
    /// Index of the port on which the open ask came in.
    var answerPort: Int?
    /// What the collar said last about itself.
    var identity: Identity?
    /// What of the journal becomes lines next.
    let feed: LineFeed
    /// When the journal is read again that could not be read; nil where it can.
    var rereadDeadline: Instant?
    /// Whether the collar has been heard on this run.
    var isHeard = false

    /// Whether it was said on this run that the collar belongs to another receiver.
    var isReportedAsElsewhere = false

    /// Whether the collar says that it belongs to another receiver.
    func isPairedElsewhere(than receiverID: UInt32) -> Bool {
        guard let paired = identity?.pairedReceiverID else { return false }
        return paired != 0 && paired != receiverID
    }

    /// Requests to it; nil where there never were any.
    var desk: RequestDesk?
    /// Answers it got since its last identity.
    var answersSinceIdentity: UInt32 = 0

    /// Whether requests but *pair* may go to the collar: its identity names this receiver; or none or has not been heard
    /// on this run, and it has had an answer, upon which a collar without a receiver takes this one.
    func isKnownAsOwn(by receiverID: UInt32) -> Bool {
        switch identity?.pairedReceiverID {
        case receiverID: true
        case nil, 0: answersSinceIdentity > 0
        default: false
        }
    }

    /// Answers it may have, see ``ReceiverLimits``.
    var answers = ReceiverLimits.idleAnswers
    /// Losses that may be reported one by one.
    var reportedLosses = ReceiverLimits.reportedLosses
    /// What was said about its misbehaviour.
    var misbehaviourNotices = NoticeLimiter<Misbehaviour.Kind>()

    /// Whether a frame of it came in since the last commit.
    var isHeardSinceCommit = false
    /// Whether something was appended to its journal since the last commit.
    var hasNewRecords = false
    /// Whether its journal does not store.
    var isStorageFailing = false
    /// Fixes stored on this run.
    var fixCount = 0
    /// Fixes that came again on this run.
    var duplicateCount = 0

    /// How the link to it does.
    var health = LinkHealth()
    /// Index of the port at which it was heard last.
    var port: Int?
    /// What was said about its link.
    var healthNotices = NoticeLimiter<HealthNoticeKind>()
    /// What of that is not over.
    var openHealthNotices: Set<HealthNoticeKind> = []

    /// Something is over.
    /// - Returns: whether it was said to be the case.
    func endHealthNotices(_ kinds: Set<HealthNoticeKind>) -> Bool {
        let wasSaid = !openHealthNotices.isDisjoint(with: kinds)
        openHealthNotices.subtract(kinds)
        return wasSaid
    }

    /// Logs kept at hand, those heard last: a frame that fits none was checked against all of them.
    private static let maximumLogCount = 16
    /// Logs whose newest fixes are kept at hand, some 30 KiB each.
    private static let maximumAnchoredLogCount = 2

    /// The segment that grew when old ones were removed last.
    var retainedUpTo: UInt32 = 0

    init(deviceID: UInt64, journal: Journal, feed: LineFeed) {
        self.deviceID = deviceID
        self.journal = journal
        self.feed = feed
        for logID in journal.logIDs {
            if let log = LogIdentity(deviceID: deviceID, logID: logID) { addLog(log) }
        }
    }

    /// Takes up a log; it comes first from now on. Where there are too many, that not heard for longest is let go: it
    /// is taken up again when its collar names it.
    /// - Returns: false where another had to go.
    @discardableResult
    func addLog(_ log: LogIdentity) -> Bool {
        if let index = deliveries.firstIndex(where: { $0.log == log }) {
            if index > 0 { deliveries.insert(deliveries.remove(at: index), at: 0) }
            return true
        }
        let isFull = deliveries.count == CollarSession.maximumLogCount
        if isFull { anchors[deliveries.removeLast().log.logID] = nil }
        let delivery = HostDelivery(
            log: log, receiverID: journal.receiverID,
            highestSequence: journal.highestSequence(logID: log.logID) ?? 0)
        deliveries.insert(delivery, at: 0)
        return !isFull
    }

    /// The log to which the frame's check is bound; nil for a frame of none of them.
    func indexOfLog(of frame: Span<UInt8>) -> Int? {
        for index in deliveries.indices where FrameCheck.isValid(frame, log: deliveries[index].log) { return index }
        return nil
    }

    /// Keeps a fix for live fixes that are coded against it.
    func keepAnchor(_ fix: Fix, logID: UInt32) {
        if anchors[logID] == nil, anchors.count == CollarSession.maximumAnchoredLogCount {
            let oldest = deliveries.last { anchors[$0.log.logID] != nil }?.log.logID
            if let logID = oldest ?? anchors.keys.first { anchors[logID] = nil }
        }
        anchors[logID, default: AnchorCache()].keep(fix)
    }

    /// A fix as it was stored, where it is at hand: one of the newest 512 of this run, or of those read back as anchors,
    /// of the two logs heard last. Others would have to be searched in the journal.
    func recentFix(_ sequence: UInt32, logID: UInt32) -> Fix? { anchors[logID]?.fix(sequence) }

    /// The live fix in a frame, and the index of its log; nil where it is none of this collar or its anchor is gone.
    func liveFix(of frame: Span<UInt8>, header: FrameHeader) -> (fix: Fix, log: Int)? {
        for index in deliveries.indices {
            let delivery = deliveries[index]
            guard
                let named = LiveFix.sequences(of: frame, header: header, reference: delivery.highestSequence),
                let anchor = anchor(named.anchor, logID: delivery.log.logID)
            else { continue }
            do throws(DecodeError) {
                return (try LiveFix.decode(frame, sequence: named.sequence, anchor: anchor, log: delivery.log), index)
            } catch { continue }
        }
        return nil
    }

    /// The anchor of a live fix. After a restart the newest fixes are read back from the journal, when the first is
    /// asked for.
    private func anchor(_ sequence: UInt32, logID: UInt32) -> Fix? {
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

    /// A fix as the line writer wants it.
    func received(_ record: JournaledFix) -> ReceivedFix { ReceivedFix(deviceID: deviceID, record) }
}
