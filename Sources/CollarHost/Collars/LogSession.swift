import CollarARQ
import CollarJournal
import CollarWire

/// One log of a collar, as the host knows it: the host's end of reliable delivery, and what identifies the log's frames.
final class LogSession {
    /// How long frames of a former log are still recognised after the last of them was heard, in microseconds.
    static let afterlife: Int64 = 600_000_000

    let log: LogIdentity
    var delivery: HostDelivery
    /// The highest sequence stored. Only frames that are bound to the log raise it.
    private(set) var highestStored: UInt32
    /// The highest sequence of a stored fix; after a restart it may be that of a message.
    private(set) var highestFix: UInt32
    /// The newest sequence that the last identity named.
    var newestNamed: UInt32 = 0
    var lastHeard: Instant?
    /// Whether a live fix came in: the collar sends its newest fix in this form if it has heard an answer.
    var hasLiveFixes = false
    var doubtedLosses = DoubtedLosses()
    /// At most two logs of a collar have any.
    var recentFixes = RecentFixes()
    /// The number of the sealed frame with the newest poll; nil if that frame was not sealed.
    var sealedPoll: FrameNumber?

    init(log: LogIdentity, receiverID: UInt32, highestSequence: UInt32, highestStored: UInt32) {
        self.log = log
        self.highestStored = highestStored
        highestFix = highestStored
        delivery = HostDelivery(log: log, receiverID: receiverID, highestSequence: highestSequence)
    }

    func noteStored(_ sequence: UInt32, isFix: Bool) {
        highestStored = max(highestStored, sequence)
        if isFix { highestFix = max(highestFix, sequence) }
    }

    /// Whether the log was heard recently.
    func isLively(at now: Instant) -> Bool { lastHeard.map { now.microseconds(since: $0) < LogSession.afterlife } ?? false }
}

/// Losses that a tombstone named although the collar's log still covers their sequences. The flash may have failed for a
/// moment, or the tombstone was forged. So after each boot of the collar the host asks for these fixes again.
struct DoubtedLosses {
    /// The most answers in a row that ask for these fixes while nothing new comes. Then the host stops asking, because the
    /// collar has neither sent them nor named them as lost again.
    private static let patience = 256

    private var bootCount: UInt32?
    private var ranges = SequenceRanges()
    private var remainingAnswers = 0

    var isEmpty: Bool { ranges.ranges.isEmpty }

    /// The collar sent its identity. The first one of each boot puts losses in doubt.
    /// - Parameter lost: the sequences of its log that are known to be lost.
    mutating func learn(from identity: Identity, lost: SequenceRanges) {
        guard bootCount != identity.bootCount else { return }
        bootCount = identity.bootCount
        ranges = SequenceRanges()
        remainingAnswers = DoubtedLosses.patience
        guard identity.oldestSequence < identity.nextSequence,
            let held = SequenceRange(identity.oldestSequence, identity.nextSequence - 1)
        else { return }
        for range in lost.intersection(held) { ranges.insert(range) }
    }

    /// The collar sent these fixes or named them as lost: they are no longer in doubt.
    mutating func settle(_ range: SequenceRange) {
        ranges.remove(range)
        remainingAnswers = DoubtedLosses.patience
    }

    /// The sequences that an answer names as durable: all durable ones except those in doubt, which it asks for.
    /// - Precondition: damage destroyed no durable fix; an answer would have to ask for such a fix first.
    mutating func takeCoverage(of durable: CoveredSequences) -> some DurableSequences {
        remainingAnswers -= 1
        defer { if remainingAnswers == 0 { ranges = SequenceRanges() } }
        return DoubtedCoverage(durable, doubted: ranges)
    }
}

/// The durable sequences of a log without those that are in doubt.
private struct DoubtedCoverage: DurableSequences {
    private let doubted: SequenceRanges
    private var certain: CoveredSequences

    init(_ durable: CoveredSequences, doubted: SequenceRanges) {
        self.doubted = doubted
        certain = durable
        for range in doubted.ranges { certain.remove(range) }
    }

    var firstMissing: UInt32 { certain.firstMissing }
    func newestRange(below bound: UInt32?) -> SequenceRange? { certain.newestRange(below: bound) }
    func oldestRange(above bound: UInt32) -> SequenceRange? { certain.oldestRange(above: bound) }

    func oldestLostRange(from bound: UInt32) -> SequenceRange? {
        SequenceRange(bound, .max).flatMap { doubted.intersection($0).first }
    }
}
