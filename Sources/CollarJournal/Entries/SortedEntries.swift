import CollarARQ

/// The entries that a journal has now, each fix and message after those before it in its log.
///
/// Nothing waits for what is missing: when everything is read, what stood behind it follows. Memory is bounded, because only
/// positions are kept; entries that came out of order are read a second time.
package final class SortedEntries {
    private let feed: EntryFeed
    private var isFinishing = false

    /// Prepares the entries of a journal from a start on.
    package init(_ journal: JournalReader, _ selection: EntrySelection, start: EmissionStart) throws(JournalError) {
        var selection = selection
        selection.isSorted = true
        feed = try EntryFeed(journal, selection, start: start, stoppedAt: .start)
    }

    /// The place in the journal that was read last.
    package var position: JournalPosition { feed.takenPosition }

    /// Takes some entries, perhaps none; nil after the last one.
    package func next() throws(JournalError) -> [EmittedEntry.Content]? {
        if !feed.hasUntaken {
            if isFinishing { return nil }
            isFinishing = true
            feed.finish()
        }
        // The time would stand in changes of gaps that the feed itself finds, which it does not before the end, and has no need to at
        // the end.
        let time = HostTime(instant: Instant(microseconds: 0), unixMilliseconds: 0)
        return try feed.next(at: time).map(\.content)
    }

    /// The damage that reading met since the last call.
    package func takeDamage() -> [DamageReport] { feed.takeDamage() }
}
