import CollarWire

/// The host's end of reliable delivery for one log of one collar: when to answer, and with what.
///
/// The host speaks only when asked, and names only what is durable at that moment.
public struct HostDelivery: Sendable {
    /// The collar and its log.
    public let log: LogIdentity
    /// The receiver in whose name answers are given.
    public let receiverID: UInt32
    /// The highest sequence known of the log, against which short sequences are completed.
    public private(set) var highestSequence: UInt32
    private var openAsk: AskNumber?

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

    /// The answer to the open ask, from what is durable now; nil where none is wanted. Call it after storing.
    public mutating func takeAnswer(from durable: some DurableSequences) -> Acknowledgement? {
        guard let ask = openAsk else { return nil }
        openAsk = nil
        var answer = Acknowledgement(receiverID: receiverID, ask: ask, firstMissing: durable.firstMissing)
        var bound: UInt32?
        while !answer.durable.isFull, let range = durable.newestRange(below: bound) {
            answer.durable.append(range)
            bound = range.first
        }
        var from: UInt32 = 0
        while !answer.resend.isFull, let range = durable.oldestLostRange(from: from) {
            answer.resend.append(range)
            from = range.last + 1
        }
        return answer
    }
}
