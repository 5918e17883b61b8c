import CollarARQ
import CollarJournal

extension Host {
    /// The next entry: first the rest of the entries read back, then fixes that just came in, then more entries to read back.
    ///
    /// A fix that just came in is handed out only if all earlier entries of its journal are out, so its receipt covers them too. Nil if
    /// no entry waits. An entry that is not taken stays in the journal.
    ///
    /// Complexity: constant for a fix that just came in; other entries are read back from the journal, 128 at a time.
    package func nextEntry(at time: HostTime) -> EmittedEntry? {
        guard !configuration.selection.isEmpty else { return nil }
        if let entry = nextReadBack() { return entry }
        if let fresh = output.freshEntries.next() {
            output.latencies.noteHandedOut(receivedAt: fresh.receivedAt, at: time)
            return EmittedEntry(
                content: .fix(fresh.record), deviceID: collars[fresh.receipt.session].deviceID, receipt: fresh.receipt)
        }
        while let session = collars.sessions.first(where: { $0.feed.isReadable }) {
            readBack = (session, read(session, at: time)[...])
            if let entry = nextReadBack() { return entry }
        }
        return nil
    }

    /// Confirms that the consumer has an entry. After the next commit, a restart does not emit it again.
    package func emitted(_ receipt: EmissionReceipt) {
        let collar = collars[receipt.session]
        collar.feed.confirmed()
        if let position = receipt.through { collar.noteEmitted(through: position) }
    }

    private func nextReadBack() -> EmittedEntry? {
        guard let session = readBack?.session, let item = readBack?.items.popFirst() else {
            readBack = nil
            return nil
        }
        return EmittedEntry(
            content: item.content, deviceID: session.deviceID,
            receipt: EmissionReceipt(session: session.id, through: item.through))
    }

    private func read(_ session: CollarSession, at time: HostTime) -> [EntryFeed.Item] {
        do throws(JournalError) {
            let items = try session.feed.next(at: time)
            session.note(session.feed.takeDamage())
            return items
        } catch {
            // New fixes are still stored and acknowledged.
            if session.feed.failed(at: time.instant) { output.report(.collar(session.deviceID, .journalUnreadable(error))) }
            return []
        }
    }
}

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

    var isEmpty: Bool { first == entries.count }
}
