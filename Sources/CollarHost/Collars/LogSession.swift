import CollarARQ
import CollarWire

/// One log of a collar, as the host knows it: the end of reliable delivery.
final class LogSession {
    /// The collar and its log.
    let log: LogIdentity
    var delivery: HostDelivery
    var doubtedLosses = DoubtedLosses()

    init(log: LogIdentity, receiverID: UInt32, highestSequence: UInt32) {
        self.log = log
        delivery = HostDelivery(log: log, receiverID: receiverID, highestSequence: highestSequence)
    }
}
