/// How long entries are kept.
public struct Retention: Equatable, Sendable {
    /// Days after which entries that every consumer has are removed.
    public var days: Int
    /// Days after which entries are removed although a consumer lacks them; nil for never.
    public var unreadDays: Int?

    /// Creates a rule.
    public init(days: Int, unreadDays: Int? = nil) {
        self.days = days
        self.unreadDays = unreadDays
    }
}

/// Somebody who takes the entries of a journal, and how far.
public struct JournalConsumer: Equatable, Sendable {
    /// The named reader; nil for the program that writes the journal.
    public var reader: ReaderName?
    /// The position before which it has taken everything.
    public var position: JournalPosition

    /// Creates a consumer.
    public init(reader: ReaderName?, position: JournalPosition) {
        self.reader = reader
        self.position = position
    }
}

/// What a removal has removed.
public struct RemovedEntries: Equatable, Sendable {
    /// How many segments.
    public var segmentCount = 0
    /// How many fixes and messages that a consumer had not taken.
    public var unreadCount = 0
    /// The named readers that had not taken them, in the order of their names.
    public var readers: [ReaderName] = []

    /// Nothing.
    public init() {}
}
