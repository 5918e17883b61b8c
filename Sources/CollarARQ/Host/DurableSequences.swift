import CollarWire

/// The sequences of one log that a receiver holds durably. Its acknowledgements are made from them.
public protocol DurableSequences {
    /// Every sequence below this one is durable, known to be permanently lost, or delivered elsewhere.
    var firstMissing: UInt32 { get }

    /// The newest durable range above ``firstMissing`` whose last sequence is below `bound`; nil if there is none. A `bound` of
    /// nil means no bound.
    func newestRange(below bound: UInt32?) -> SequenceRange?

    /// The oldest durable range whose first sequence is above `bound`; nil if there is none. `bound` is at least
    /// ``firstMissing``.
    func oldestRange(above bound: UInt32) -> SequenceRange?

    /// The oldest range at or above `bound` that the collar is to send again; nil if there is none. Either the receiver announced
    /// the range as durable and then lost it through damage to its storage, or the collar reported the range as lost and that
    /// report is in doubt.
    func oldestLostRange(from bound: UInt32) -> SequenceRange?
}
