import CollarWire

// What requests of the host change.
extension CollarDelivery {
    /// A request of the host came in. One that comes within a window stands before the answer of that window, which
    /// therefore has as much time again; at most twice.
    public mutating func requestReceived(now: Instant) {
        guard case .awaitingAnswer(var ask, let deadline) = phase, ask.extensionsLeft > 0 else { return }
        ask.extensionsLeft -= 1
        let later = now.advanced(byMicroseconds: answerMicroseconds)
        phase = .awaitingAnswer(ask, deadline: max(deadline, later))
    }

    /// An answer to a request waits to be sent, in so many frames.
    public mutating func replyWaits(frameCount: Int) { waitingReplyCount += frameCount }

    /// The collar has another receiver, or none: nothing is delivered to it, an open ask is given up, and after the
    /// answers that wait the identity says so. Meanwhile the window of the ask passes.
    public mutating func receiverChanged(now: Instant) {
        delivered = DeliveredSequences(firstMissing: 0)
        acknowledgedEnd = 0
        anchor = nil
        dueIdentity = .afterReplies
        startBurst()
        burstStart = now.advanced(byMicroseconds: answerMicroseconds)
    }

    /// The longest silence that is wanted, in microseconds; it counts from now.
    public mutating func setHeartbeat(microseconds: Int64, now: Instant) {
        configuration.heartbeatMicroseconds = microseconds
        heartbeatDeadline = now.advanced(byMicroseconds: microseconds)
    }
}
