import CollarARQ
import CollarJournal
import CollarWire

/// The contents of the acknowledgements to the collar.
extension CollarSession {
    private var answerByteLimit: Int {
        Frame.minimumLimitByteCount - (keyed == nil ? 0 : SealedHostFrame.overheadByteCount)
    }

    /// The answer to the open poll of a log; nil if none is open.
    func takeAnswer(of session: LogSession, from durable: CoveredSequences) -> Acknowledgement? {
        // Fixes that damage destroyed are asked for first: the collar may count them as delivered and overwrite them.
        guard !session.doubtedLosses.isEmpty, session.delivery.isAnswerWanted, durable.oldestLostRange(from: 0) == nil else {
            return session.delivery.takeAnswer(from: durable, frameByteLimit: answerByteLimit)
        }
        let coverage = session.doubtedLosses.takeCoverage(of: durable)
        return session.delivery.takeAnswer(from: coverage, frameByteLimit: answerByteLimit)
    }
}
