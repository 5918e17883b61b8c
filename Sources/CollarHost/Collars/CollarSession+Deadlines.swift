import CollarARQ
import CollarJournal

/// The links of a collar, and what is due at which time.
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

    /// Whether the link on which the collar was heard last is open, and no heartbeat of the collar is overdue.
    var isInContact: Bool { health.isInContact }

    /// The next deadline: of an answer, a heartbeat, the cause of a restart, a request, or another attempt to read the journal.
    var nextDeadline: Instant? {
        // The host asks every collar for it in each round, so it allocates nothing.
        Instant.earliest(
            Instant.earliest(answer?.holdUntil, Instant.earliest(health.nextDeadline, condition.nextDeadline)),
            Instant.earliest(requests.nextDeadline, feed.nextDeadline))
    }

    /// Does what is due.
    func deadlineReached(at time: HostTime) {
        if let due = answer?.holdUntil, time.instant >= due {
            answer?.holdUntil = nil
            isCommitDue = true
        }
        health.advance(to: time.instant, output)
        let memory = journal.memory
        condition.advance(to: time.instant, output)
        if journal.memory != memory { isCommitDue = true }
        requests.expire(at: time.instant)
        feed.deadlineReached(at: time.instant)
    }
}
