import CollarARQ
import CollarJournal
import CollarWire

/// Losses that a tombstone named, of sequences that the collar's log still covers. The flash may have failed for a moment, or
/// the tombstone was forged: once after each boot the host asks the collar for these fixes again.
struct DoubtedLosses {
    /// Answers in a row that ask while nothing new comes. A collar that neither sends a fix nor calls it lost again does not know
    /// what is asked.
    private static let patience = 256

    private var bootCount: UInt32?
    private var ranges = SequenceRanges()
    private var remainingAnswers = 0

    var isEmpty: Bool { ranges.ranges.isEmpty }

    /// The collar said who it is.
    /// - Parameter lost: what is known to be lost of its log.
    mutating func learned(from identity: Identity, lost: SequenceRanges) {
        guard bootCount != identity.bootCount else { return }
        bootCount = identity.bootCount
        ranges = SequenceRanges()
        remainingAnswers = DoubtedLosses.patience
        guard identity.oldestSequence < identity.nextSequence,
            let held = SequenceRange(identity.oldestSequence, identity.nextSequence - 1)
        else { return }
        for range in lost.intersection(held) { ranges.insert(range) }
    }

    /// The collar has sent a fix that was not stored, or said what is lost.
    mutating func settle(_ range: SequenceRange) {
        ranges.remove(range)
        remainingAnswers = DoubtedLosses.patience
    }

    /// What an answer says of a log: what is durable, but for what is in doubt, which it asks for.
    /// - Precondition: nothing durable is gone, which is more urgent.
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
