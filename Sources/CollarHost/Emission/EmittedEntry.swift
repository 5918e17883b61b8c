import CollarJournal

/// One entry on its way to the consumer.
public struct EmittedEntry: Equatable, Sendable {
    /// What it tells.
    public enum Content: Equatable, Sendable {
        /// A fix.
        case fix(JournaledFix)
        /// A change of a gap.
        case gap(GapChange)
    }

    /// What it tells.
    public var content: Content
    /// The collar's factory id.
    public var deviceID: UInt64
    /// What to give to ``Host/emitted(_:)`` once the consumer has it.
    public var receipt: EmissionReceipt
}

/// Tells the host which entry is with the consumer.
public struct EmissionReceipt: Equatable, Sendable {
    let session: SessionID
    /// Up to where the journal has been emitted then; nil where that does not change.
    package let through: JournalPosition?
}
