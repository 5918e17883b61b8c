import CollarARQ
import CollarJournal

/// Fixes that were just appended and go out without being read back, oldest first. Their number is limited: a fix for which
/// there is no room here is read back from its journal.
struct FreshEntries {
    private struct Entry {
        var record: JournaledFix
        var session: SessionID
        var position: JournalPosition
        var receivedAt: Instant
    }

    /// The most entries that may wait: as many as one read from a fast line brings.
    private static let limit = 512

    private var entries: [Entry] = []
    private var first = 0

    /// Adds a fix that was received now.
    /// - Returns: false if there is no room.
    mutating func add(_ record: JournaledFix, of session: SessionID, through position: JournalPosition, at now: Instant) -> Bool {
        guard entries.count - first < FreshEntries.limit else { return false }
        entries.append(Entry(record: record, session: session, position: position, receivedAt: now))
        return true
    }

    /// Takes the oldest entry; nil if none waits.
    mutating func next() -> (record: JournaledFix, receivedAt: Instant, receipt: EmissionReceipt)? {
        guard first < entries.count else { return nil }
        let entry = entries[first]
        first += 1
        if first == entries.count {
            entries.removeAll(keepingCapacity: entries.count <= FreshEntries.limit)
            first = 0
        }
        return (entry.record, entry.receivedAt, EmissionReceipt(session: entry.session, through: entry.position))
    }

    /// Whether no entry waits.
    var isEmpty: Bool { first == entries.count }
}
