extension Journal {
    /// The consumers of this journal: the named readers that read the collar, and the emission cursor if `hasCursor`.
    ///
    /// A reader whose file cannot be read has taken nothing. For any other reader, the position at which it would go on counts: it is
    /// before the stored one if the records there have changed since, see ``JournalReader/position(goingOnAt:)``.
    package func consumers(hasCursor: Bool) throws(JournalError) -> [JournalConsumer] {
        let files = ReaderFiles(stateDirectory: directory.stateDirectory, fileSystem: fileSystem)
        var consumers: [JournalConsumer] = hasCursor ? [JournalConsumer(reader: nil, position: emissionCursor)] : []
        let journal = try JournalReader(stateDirectory: directory.stateDirectory, deviceID: deviceID, fileSystem: fileSystem)
        for name in try files.names() {
            let state: ReaderState?
            do throws(JournalError) { state = try files.state(of: name) } catch {
                consumers.append(JournalConsumer(reader: name, position: .start))
                continue
            }
            guard let state, state.reads(deviceID) else { continue }
            consumers.append(JournalConsumer(reader: name, position: try journal.position(goingOnAt: state.position(in: deviceID))))
        }
        return consumers
    }

    /// Removes the oldest segments whose entries are all old enough. Their sequences stay covered: the collar is not asked for them
    /// again. The segment that grows always stays. A segment also stays while the next one has no intact checkpoint: without that
    /// checkpoint the coverage would be unknown.
    ///
    /// Days are counted back from the time of the newest fix, or from now if now is earlier, so that a clock that is ahead causes
    /// no removal. An entry is old only if both the reception and the fix are old, see `CredibleTimes`.
    ///
    /// `consumers` are those who take the entries, see ``consumers(hasCursor:)``. What was removed is added to `removed`, also before an
    /// error.
    /// - Throws: ``JournalError/file(_:)`` if a segment cannot be removed or read; earlier segments may already be removed.
    ///
    /// Complexity: reads the removed segments, the newest two, and the oldest remaining one up to an entry that must stay.
    /// For each removed segment the directory is made durable once.
    package func removeSegments(
        _ retention: Retention, consumers: [JournalConsumer], nowUnixMilliseconds: Int64, removed: inout RemovedEntries
    ) throws(JournalError) {
        let times = CredibleTimes.range(at: nowUnixMilliseconds)
        // The newest fix is looked for only if something may be removed.
        var newest = Int64.max
        defer { countEarlierBytes() }
        while segments.count > 1 {
            let lacking = try lacking(consumers)
            guard let days = lacking.isEmpty ? retention.days : retention.unreadDays else { break }
            let age = Int64(days) * CredibleTimes.day
            guard try isOldestOlder(than: min(nowUnixMilliseconds, newest) - age, times) else { break }
            if newest == .max, let found = try newestFix(times) {
                newest = found
                guard try isOldestOlder(than: min(nowUnixMilliseconds, newest) - age, times) else { break }
            }
            guard try JournalRecovery(checkpointOf: segments[1], self) != nil else { break }
            let unreadCount = lacking.isEmpty ? 0 : try unreadCount(of: lacking)
            // Segments are removed one by one, the oldest first: after a crash, no segment between two others is missing.
            try JournalError.wrapping(try fileSystem.remove(directory.path(ofSegment: segments[0])))
            removed.note(lacking, unreadCount: unreadCount)
            repaired[segments[0]] = nil
            segments.removeFirst()
            try JournalError.wrapping(try fileSystem.synchronizeDirectory(at: directory.path))
        }
    }

    /// The consumers that lack an entry of the oldest segment.
    private func lacking(_ consumers: [JournalConsumer]) throws(JournalError) -> [JournalConsumer] {
        let end = JournalPosition(segment: segments[1], offset: 0)
        var lacking: [JournalConsumer] = []
        for consumer in consumers where consumer.position < end {
            let place = max(consumer.position, JournalPosition(segment: segments[0], offset: 0))
            // A reader that has everything stays at the end of a segment until the next one has an entry.
            let next = try entries(from: place, limit: 1).elements.first
            if let next, next.end.segment == segments[0] { lacking.append(consumer) }
        }
        return lacking
    }

    /// The fixes and messages of the oldest segment that at least one of the consumers lacks.
    private func unreadCount(of consumers: [JournalConsumer]) throws(JournalError) -> Int {
        let earliest = consumers.map(\.position).min() ?? .start
        var count = 0
        try forEachEntry(from: max(earliest, JournalPosition(segment: segments[0], offset: 0)), through: segments[0]) { element in
            if element.entry.place != nil { count += 1 }
            return true
        }
        return count
    }

    /// Whether all receptions and fixes of the oldest segment are earlier than `limit`. If the clock was wrong when an entry was
    /// received, the reception of the next entry with a credible time counts.
    private func isOldestOlder(than limit: Int64, _ times: Range<Int64>) throws(JournalError) -> Bool {
        var isOlder = true
        var isReceptionKnown = false
        try forEachEntry(from: JournalPosition(segment: segments[0], offset: 0)) { element in
            if element.end.segment > segments[0], isReceptionKnown { return false }
            if case .fix(let record) = element.entry, times.contains(record.fix.unixMilliseconds) {
                isOlder = record.fix.unixMilliseconds < limit
            }
            guard let received = element.entry.receivedUnixMilliseconds else { return true }
            isReceptionKnown = times.contains(received)
            if isReceptionKnown, received >= limit { isOlder = false }
            return isOlder
        }
        return isOlder && isReceptionKnown
    }

    /// The newest credible time of a fix in the last two segments; nil if there is none.
    private func newestFix(_ times: Range<Int64>) throws(JournalError) -> Int64? {
        var newest: Int64?
        try forEachEntry(from: JournalPosition(segment: segments[max(0, segments.count - 2)], offset: 0)) { element in
            if case .fix(let record) = element.entry, times.contains(record.fix.unixMilliseconds) {
                newest = max(newest ?? .min, record.fix.unixMilliseconds)
            }
            return true
        }
        return newest
    }
}

/// The times that a correct clock may have shown: not before this program was made, and not in the future. Other times come
/// from a clock that was not set, or was set wrong.
package enum CredibleTimes {
    static let day: Int64 = 86_400_000
    /// The beginning of 2026, in milliseconds since 1970.
    package static let release: Int64 = 1_767_225_600_000

    /// Times up to a day after now are credible, because two clocks may differ.
    static func range(at nowUnixMilliseconds: Int64) -> Range<Int64> { release..<max(release, nowUnixMilliseconds + day + 1) }
}

package struct Retention: Equatable, Sendable {
    /// Days after which entries that every consumer has are removed.
    package var days: Int
    /// Days after which entries are removed although a consumer lacks them; nil for never.
    package var unreadDays: Int?

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
}

package struct RemovedEntries: Equatable, Sendable {
    package var segmentCount = 0
    /// How many fixes and messages that a consumer had not taken.
    package var unreadCount = 0
    /// The named readers that had not taken them, in the order of their names.
    package var readers: [ReaderName] = []

    package init() {}

    fileprivate mutating func note(_ consumers: [JournalConsumer], unreadCount count: Int) {
        segmentCount += 1
        unreadCount += count
        readers = Set(readers + consumers.compactMap(\.reader)).sorted { $0.text < $1.text }
    }
}
