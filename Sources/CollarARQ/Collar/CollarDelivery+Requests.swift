import CollarWire

// The effects of requests of the host.
extension CollarDelivery {
    /// Notes that a request of the host came in. In a window a request comes before the answer, so the time for the answer
    /// begins again, at most twice.
    public mutating func requestReceived(now: Instant) {
        guard case .awaitingAnswer(var poll, let deadline) = phase, poll.extensionsLeft > 0 else { return }
        poll.extensionsLeft -= 1
        let later = now.advanced(byMicroseconds: answerMicroseconds)
        phase = .awaitingAnswer(poll, deadline: max(deadline, later))
    }

    /// Notes that a reply waits to be sent, in `frameCount` frames.
    public mutating func replyWaits(frameCount: Int) {
        waitingReplyCount += frameCount
        endWaitForTurn()
    }

    /// Notes that the collar has another receiver, or none. Nothing counts as delivered, and an open poll is given up. The collar
    /// waits as long as an answer can take. Then it sends the waiting replies, and then its identity.
    public mutating func receiverChanged(now: Instant) {
        delivered = DeliveredSequences(firstMissing: 0)
        acknowledgedEnd = 0
        anchor = nil
        dueIdentity = .afterReplies
        startBurst()
        burstStart = now.advanced(byMicroseconds: answerMicroseconds)
        isTurnAwaited = false
        access.newsEnded()
    }

    /// Sets the time without traffic after which the collar probes, in microseconds. It counts from `now`. The identity, which
    /// names it, follows the replies that wait.
    public mutating func setHeartbeat(microseconds: Int64, now: Instant) {
        configuration.heartbeatMicroseconds = microseconds
        if dueIdentity == .none { dueIdentity = .afterReplies }
        endWaitForTurn()
        heartbeatDeadline = now.advanced(byMicroseconds: microseconds)
    }
}
