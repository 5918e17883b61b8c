import CollarWire

/// The host's end of reliable delivery for one log of one collar: when to answer, and with what.
///
/// The host sends only to answer a poll, and names only sequences that are durable at that moment.
public struct HostDelivery: Sendable {
    /// The collar and its log.
    public let log: LogIdentity
    /// Id of the receiver that gives the answers.
    public let receiverID: UInt32
    /// The highest sequence that is stored or that a frame of the collar has shown to exist.
    public private(set) var highestSequence: UInt32
    private var openPoll: PollNumber?
    /// Bits of an answer that hold no ranges.
    private static let fixedBitCount = 76

    /// Creates the host's end for a log. `highestSequence` is the highest sequence stored of that log, 0 if none is stored.
    public init(log: LogIdentity, receiverID: UInt32, highestSequence: UInt32) {
        self.log = log
        self.receiverID = receiverID
        self.highestSequence = highestSequence
    }

    /// Whether a poll waits for its answer.
    public var isAnswerWanted: Bool { openPoll != nil }

    /// Receives the flags of a valid frame of this log. Only the latest poll counts.
    public mutating func receive(flags: FrameFlags) {
        if let poll = flags.poll { openPoll = poll }
    }

    /// Notes that `sequence` exists, as a frame has shown.
    public mutating func learn(of sequence: UInt32) {
        if sequence > highestSequence { highestSequence = sequence }
    }

    /// The answer to the open poll, made from what is durable now; nil if no poll is open. Call this after storing.
    /// - Parameters:
    ///   - durable: the sequences that the receiver holds.
    ///   - frameByteLimit: the most bytes of the answer in clear: 51, because a collar does not wait long enough for a longer
    ///     answer, or less if the answer is sealed.
    public mutating func takeAnswer(
        from durable: some DurableSequences, frameByteLimit: Int = Frame.minimumLimitByteCount
    ) -> Acknowledgement? {
        guard let poll = openPoll else { return nil }
        openPoll = nil
        var answer = Acknowledgement(receiverID: receiverID, poll: poll, firstMissing: durable.firstMissing)
        var bits = 8 * (frameByteLimit - Frame.overheadByteCount) - HostDelivery.fixedBitCount
        // There is always room for one range to resend; otherwise a host with many ranges would never get back what it lost.
        var lost = durable.oldestLostRange(from: 0)
        if let lost { bits -= 32 + BitWriter.eliasGammaBitCount(lost.last - lost.first + 1) }
        HostDelivery.nameDurable(in: &answer, from: durable, bits: &bits)
        while let range = lost, !answer.resend.isFull {
            answer.resend.append(range)
            lost = durable.oldestLostRange(from: range.last + 1)
            guard let next = lost else { break }
            bits -= BitWriter.eliasGammaBitCount(next.first - range.last - 1)
            bits -= BitWriter.eliasGammaBitCount(next.last - next.first + 1)
            guard bits >= 0 else { break }
        }
        return answer
    }

    /// Names the newest range first, because live fixes are coded against it, and then the oldest ranges: a backlog arrives oldest
    /// first, and these ranges show its gaps. If all ranges were named newest first, the short ranges between lost live fixes
    /// would fill the answer. It would not name the part of the backlog that has arrived, and the collar would send it again.
    private static func nameDurable(in answer: inout Acknowledgement, from durable: some DurableSequences, bits: inout Int) {
        guard let newest = durable.newestRange(below: nil) else { return }
        answer.durable.append(newest)
        bits -= BitWriter.eliasGammaBitCount(newest.last - answer.firstMissing)
        bits -= BitWriter.eliasGammaBitCount(newest.last - newest.first + 1)
        var below = answer.firstMissing
        var bitsOfGap = 0
        while !answer.durable.isFull, let range = durable.oldestRange(above: below), range.first < newest.first {
            // In the answer, the gap before the newest range now follows this range instead of the previous one.
            let gap = BitWriter.eliasGammaBitCount(newest.first - range.last - 1)
            var needed = gap - bitsOfGap + BitWriter.eliasGammaBitCount(range.last - range.first + 1)
            if answer.durable.count > 1 { needed += BitWriter.eliasGammaBitCount(range.first - below - 1) }
            guard needed <= bits else { return }
            bits -= needed
            bitsOfGap = gap
            below = range.last
            answer.durable.insert(range, at: 1)
        }
    }
}

/// The sequences of one log that a receiver holds durably. Its acknowledgements are made from them.
public protocol DurableSequences {
    /// Every sequence below this one is durable, known to be permanently lost, or delivered elsewhere.
    var firstMissing: UInt32 { get }

    /// The newest durable range above ``firstMissing`` whose last sequence is below `bound`; nil if there is none. A `bound` of
    /// nil means no bound.
    func newestRange(below bound: UInt32?) -> SequenceRange?

    /// The oldest durable range whose first sequence is above `bound`; nil if there is none. `bound` is at least
    /// ``firstMissing``.
    func oldestRange(above bound: UInt32) -> SequenceRange?

    /// The oldest range at or above `bound` that the collar is to send again; nil if there is none. Either the receiver announced
    /// the range as durable and then lost it through damage to its storage, or the collar reported the range as lost and that
    /// report is in doubt.
    func oldestLostRange(from bound: UInt32) -> SequenceRange?
}
