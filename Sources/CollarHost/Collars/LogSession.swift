import CollarARQ
import CollarWire

/// One log of a collar, as the host knows it: the host's end of reliable delivery, and what identifies the log's frames.
final class LogSession {
    /// How long frames of a former log are still recognised after the last of them was heard, in microseconds.
    static let afterlife: Int64 = 600_000_000

    /// The collar and its log.
    let log: LogIdentity
    var delivery: HostDelivery
    /// The highest sequence stored. Only frames that are bound to the log raise it.
    private(set) var highestStored: UInt32
    /// The highest sequence of a stored fix; after a restart it may be that of a message.
    private(set) var highestFix: UInt32
    /// The newest sequence that the last identity named.
    var newestNamed: UInt32 = 0
    /// When a frame of the log came in last.
    var lastHeard: Instant?
    /// Whether a live fix came in: the collar sends its newest fix in this form if it has heard an answer.
    var hasLiveFixes = false
    var doubtedLosses = DoubtedLosses()
    /// The number of the sealed frame with the newest poll; nil if that frame was not sealed.
    var sealedPoll: FrameNumber?

    init(log: LogIdentity, receiverID: UInt32, highestSequence: UInt32, highestStored: UInt32) {
        self.log = log
        self.highestStored = highestStored
        highestFix = highestStored
        delivery = HostDelivery(log: log, receiverID: receiverID, highestSequence: highestSequence)
    }

    func noteStored(_ sequence: UInt32, isFix: Bool) {
        highestStored = max(highestStored, sequence)
        if isFix { highestFix = max(highestFix, sequence) }
    }

    /// Whether the log was heard recently.
    func isLively(at now: Instant) -> Bool {
        lastHeard.map { now.microseconds(since: $0) < LogSession.afterlife } ?? false
    }
}
