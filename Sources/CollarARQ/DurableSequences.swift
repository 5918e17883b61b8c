import CollarWire

/// What a receiver holds durably of one log: the source of its acknowledgements.
public protocol DurableSequences {
    /// Every sequence below this one is durable, or known to be lost for ever.
    var firstMissing: UInt32 { get }

    /// The newest durable range whose last sequence is below `bound`; nil where there is none above ``firstMissing``.
    /// A `bound` of nil means no bound.
    func newestRange(below bound: UInt32?) -> SequenceRange?

    /// The oldest durable range whose first sequence is above `bound`, which is not below ``firstMissing``; nil where
    /// there is none.
    func oldestRange(above bound: UInt32) -> SequenceRange?

    /// The oldest range at or above `bound` that was announced as durable once and is missing now; nil where there is
    /// none. Only damage to the receiver's storage makes such ranges.
    func oldestLostRange(from bound: UInt32) -> SequenceRange?
}
