import CollarARQ
import CollarWire

/// The frame with a collar's newest poll. Its content shows whether the collar heard the previous answer.
struct PollFrame {
    let type: MessageType
    /// Whether another frame has followed: everything that is stored from then on came in later frames.
    var isComplete = false
    /// Whether it brought something that was stored before.
    private var hasRepeated = false
    /// Whether it brought something new.
    private var hasNew = false
    /// Whether it brought the newest fix of its log.
    private var hasNewest = false

    init(type: MessageType) { self.type = type }

    /// Something that was stored before came in.
    mutating func noteRepeated() { if !isComplete { hasRepeated = true } }

    /// Something new came in.
    mutating func noteNew(isNewest: Bool) {
        guard !isComplete else { return }
        hasNew = true
        if isNewest { hasNewest = true }
    }

    /// Whether the collar has heard the answer to its previous poll; nil if the frame does not show it.
    ///
    /// After an unanswered poll a collar repeats what it sent, sends the newest fix in the absolute form, or a probe (PROTOCOL.md,
    /// section 18).
    /// - Parameters:
    ///   - answeredAt: when the answer was sent; nil if none was.
    ///   - heartbeat: the heartbeat in force, in microseconds. A probe sooner than half of it after the answer is none.
    ///   - sendsLiveFixes: whether the collar sends its newest fix in the live form if it has heard an answer.
    func showsAnswer(sentAt answeredAt: Instant?, heartbeat: Int64, sendsLiveFixes: Bool, at now: Instant) -> Bool? {
        guard let answeredAt else { return nil }
        if hasRepeated { return false }
        switch type {
        case .liveFix: return true
        case .probe: return now.microseconds(since: answeredAt) < heartbeat / 2 ? false : nil
        case .absoluteFix where hasNewest && sendsLiveFixes: return false
        default: return hasNew ? true : nil
        }
    }
}
