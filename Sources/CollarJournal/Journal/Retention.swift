/// How long entries are kept.
package struct Retention: Equatable, Sendable {
    /// Days after which entries that every consumer has are removed.
    package var days: Int
    /// Days after which entries are removed although a consumer lacks them; nil for never.
    package var unreadDays: Int?

    /// Creates a rule.
    package init(days: Int, unreadDays: Int? = nil) {
        self.days = days
        self.unreadDays = unreadDays
    }
}

/// Somebody who takes the entries of a journal, and how far.
package struct JournalConsumer: Equatable, Sendable {
    /// The named reader; nil for the program that writes the journal.
    package var reader: ReaderName?
    /// The position before which it has taken everything.
    package var position: JournalPosition

    /// Creates a consumer.
    package init(reader: ReaderName?, position: JournalPosition) {
        self.reader = reader
        self.position = position
    }
}

/// What a removal has removed.
package struct RemovedEntries: Equatable, Sendable {
    /// How many segments.
    package var segmentCount = 0
    /// How many fixes and messages that a consumer had not taken.
    package var unreadCount = 0
    /// The named readers that had not taken them, in the order of their names.
    package var readers: [ReaderName] = []

    /// Nothing.
    package init() {}
}
