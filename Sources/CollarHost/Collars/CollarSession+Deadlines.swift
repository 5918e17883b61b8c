import CollarARQ
import CollarJournal
import CollarWire

/// The links of a collar, its deadlines, and the acknowledgements to it.
extension CollarSession {
    /// A link was closed: if the collar was heard last on it, the collar cannot be heard now.
    func linkClosed(_ closed: LinkID) {
        links.close(closed)
        if answer?.close(closed) == false { answer = nil }
        if links.last == closed { health.suspend() }
    }

    /// A link was opened, and an identity request to all collars goes out on it.
    /// - Parameter answerMicroseconds: the time that the collar has to answer.
    func linkOpened(_ opened: LinkID, answerMicroseconds: Int64, at now: Instant) {
        if links.last == opened { health.resume(answerWithinMicroseconds: answerMicroseconds, at: now) }
    }

    /// The next deadline: of an answer, a heartbeat, the cause of a restart, a request, or another attempt to read the journal.
    var nextDeadline: Instant? {
        // The host asks every collar for it in each round, so it allocates nothing.
        Instant.earliest(
            Instant.earliest(answer?.holdUntil, Instant.earliest(health.nextDeadline, condition.nextDeadline)),
            Instant.earliest(requests.nextDeadline, feed.nextDeadline))
    }

    func deadlineReached(at time: HostTime) {
        if let due = answer?.holdUntil, time.instant >= due {
            answer?.holdUntil = nil
            isCommitDue = true
        }
        health.advance(to: time.instant, output)
        let memory = journal.memory
        condition.advance(to: time.instant, output)
        if journal.memory != memory { isCommitDue = true }
        requests.expire(at: time)
        feed.deadlineReached(at: time.instant)
    }

    private var answerByteLimit: Int { Frame.minimumLimitByteCount - (keyed == nil ? 0 : SealedHostFrame.overheadByteCount) }

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
