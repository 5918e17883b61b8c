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

    package init(content: Content, deviceID: UInt64, receipt: EmissionReceipt) {
        self.content = content
        self.deviceID = deviceID
        self.receipt = receipt
    }
}

/// Tells the host which entry the consumer has.
package struct EmissionReceipt: Equatable, Sendable {
    /// The collar.
    package let session: SessionID
    /// The position before which all of the journal is emitted once the consumer has the entry; nil if the entry does not
    /// move that position.
    package let through: JournalPosition?

    package init(session: SessionID, through: JournalPosition?) {
        self.session = session
        self.through = through
    }
}
