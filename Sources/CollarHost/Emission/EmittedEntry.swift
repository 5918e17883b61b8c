import CollarJournal

/// One entry on its way to the consumer.
package struct EmittedEntry: Equatable, Sendable {
    /// The content of an entry.
    package enum Content: Equatable, Sendable {
        /// A fix.
        case fix(JournaledFix)
        /// A message of the collar's application.
        case message(JournaledMessage)
        /// A change of a gap.
        case gap(GapChange)
    }

    /// The content of the entry.
    package var content: Content
    /// The collar's factory id.
    package var deviceID: UInt64
    /// The receipt to pass to ``Host/emitted(_:)`` after the consumer has received the entry.
    package var receipt: EmissionReceipt
}

/// Tells the host which entry the consumer has.
package struct EmissionReceipt: Equatable, Sendable {
    /// The collar.
    package let session: SessionID
    /// The position before which all of the journal is emitted once the consumer has the entry; nil if the entry does not
    /// move that position.
    package let through: JournalPosition?
}
