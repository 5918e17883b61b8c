import CollarWire

/// The host's end of reliable delivery for one log of one collar: when to answer, and with what.
///
/// The host speaks only when asked, and names only what is durable at that moment.
public struct HostDelivery: Sendable {
    /// The collar and its log.
    public let log: LogIdentity
    /// The receiver in whose name answers are given.
    public let receiverID: UInt32
    /// The highest sequence that the collar has shown to have made, in whatever frame.
    public private(set) var highestSequence: UInt32
    private var openAsk: AskNumber?
    /// Bits that an answer of 51 bytes has for ranges: a collar waits no longer than such a one takes.
    private static let rangeBitCount = 8 * (Frame.minimumLimitByteCount - Frame.overheadByteCount) - 76

    /// Creates the end for a log.
    /// - Parameter highestSequence: the highest sequence stored of it, 0 where there is none.
    public init(log: LogIdentity, receiverID: UInt32, highestSequence: UInt32) {
        self.log = log
        self.receiverID = receiverID
        self.highestSequence = highestSequence
    }

    /// Whether an answer is wanted.
    public var isAnswerWanted: Bool { openAsk != nil }

    /// A valid frame of this log came in. Only the latest ask counts.
    public mutating func received(flags: FrameFlags) {
        if let ask = flags.ask { openAsk = ask }
    }

    /// A frame told of the existence of `sequence`.
    public mutating func learned(of sequence: UInt32) {
        if sequence > highestSequence { highestSequence = sequence }
    }

    /// The answer to the open ask, from what is durable now; nil where none is wanted. Call it after storing. Its frame
    /// has at most 51 bytes.
    public mutating func takeAnswer(from durable: some DurableSequences) -> Acknowledgement? {
        guard let ask = openAsk else { return nil }
        openAsk = nil
        var answer = Acknowledgement(receiverID: receiverID, ask: ask, firstMissing: durable.firstMissing)
        var bits = HostDelivery.rangeBitCount
        // One range to resend always has room: a host that holds many ranges would else never get back what it lost.
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

    /// Names the newest range, against which live fixes are coded, and then the oldest ones: they tell what is missing
    /// of a backlog that comes oldest first. Named newest first alone, the holes that lost live fixes leave would take
    /// all the room while a backlog comes in, and what had arrived of it would be sent again.
    private static func nameDurable(
        in answer: inout Acknowledgement, from durable: some DurableSequences, bits: inout Int
    ) {
        guard let newest = durable.newestRange(below: nil) else { return }
        answer.durable.append(newest)
        bits -= BitWriter.eliasGammaBitCount(newest.last - answer.firstMissing)
        bits -= BitWriter.eliasGammaBitCount(newest.last - newest.first + 1)
        var below = answer.firstMissing
        var bitsOfGap = 0
        while !answer.durable.isFull, let range = durable.oldestRange(above: below), range.first < newest.first {
            // The gap to the newest range comes in the place of the one before.
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
