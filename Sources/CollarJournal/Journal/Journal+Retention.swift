extension Journal {
    /// Removes the oldest segments whose entries were all handed over (before ``emissionCursor``) and are all older than
    /// `days`. Their sequences stay covered: the collar is not asked for them again. The segment that grows always stays. A
    /// segment also stays while the next one has no intact checkpoint: without that checkpoint the coverage would be unknown.
    ///
    /// Days are counted back from the time of the newest fix, or from now if now is earlier, so that a clock that is ahead causes
    /// no removal. An entry is old only if both the reception and the fix are old, see `CredibleTimes`.
    /// - Returns: how many segments were removed.
    /// - Throws: ``JournalError/file(_:)`` if a segment cannot be removed or read; earlier segments may already be removed.
    ///
    /// Complexity: reads the removed segments, the newest two, and the oldest remaining one up to an entry that must stay.
    /// For each removed segment the directory is made durable once.
    @discardableResult
    public func removeSegments(keepingDays days: Int, nowUnixMilliseconds: Int64) throws(JournalError) -> Int {
        let times = CredibleTimes(nowUnixMilliseconds: nowUnixMilliseconds)
        let age = Int64(days) * CredibleTimes.day
        guard try isOldestRemovable(before: nowUnixMilliseconds - age, times) else { return 0 }
        let limit = min(nowUnixMilliseconds, try newestFix(times) ?? .max) - age
        var count = 0
        defer { countEarlierBytes() }
        while try isOldestRemovable(before: limit, times), try JournalRecovery(checkpointOf: segments[1], self) != nil {
            // Segments are removed one by one, the oldest first: after a crash, no segment between two others is missing.
            try JournalError.wrapping { () throws(FileFailure) in
                try fileSystem.remove(directory.path(ofSegment: segments[0]))
                try fileSystem.synchronizeDirectory(at: directory.path)
            }
            repaired[segments[0]] = nil
            segments.removeFirst()
            count += 1
        }
        return count
    }

    /// Whether all entries of the oldest segment were handed over, and all their receptions and fixes are earlier than `limit`.
    /// If the clock was wrong when an entry was received, the reception of the next entry with a credible time counts.
    private func isOldestRemovable(before limit: Int64, _ times: CredibleTimes) throws(JournalError) -> Bool {
        guard segments.count > 1, JournalPosition(segment: segments[1], offset: 0) <= emissionCursor else { return false }
        var isReceptionKnown = false
        var batch = try entries(from: JournalPosition(segment: segments[0], offset: 0), limit: 512)
        while true {
            for element in batch.elements {
                if element.end.segment > segments[0], isReceptionKnown { return true }
                let received: Int64
                switch element.entry {
                case .fix(let record):
                    received = record.receivedUnixMilliseconds
                    if times.contains(record.fix.unixMilliseconds), record.fix.unixMilliseconds >= limit { return false }
                case .message(let record): received = record.receivedUnixMilliseconds
                case .loss(let loss): received = loss.receivedUnixMilliseconds
                case .uncovered: continue
                }
                isReceptionKnown = times.contains(received)
                if isReceptionKnown, received >= limit { return false }
            }
            if batch.isAtEnd { return isReceptionKnown }
            batch = try entries(from: batch.end, limit: 512)
        }
    }

    /// The newest credible time of a fix in the last two segments; nil if there is none.
    private func newestFix(_ times: CredibleTimes) throws(JournalError) -> Int64? {
        var newest: Int64?
        var batch = try entries(from: JournalPosition(segment: segments[max(0, segments.count - 2)], offset: 0), limit: 512)
        while true {
            for element in batch.elements {
                guard case .fix(let record) = element.entry, times.contains(record.fix.unixMilliseconds) else { continue }
                newest = max(newest ?? .min, record.fix.unixMilliseconds)
            }
            if batch.isAtEnd { return newest }
            batch = try entries(from: batch.end, limit: 512)
        }
    }
}

/// The times that a correct clock may have shown: not before this program was made, and not in the future. Other times come
/// from a clock that was not set, or was set wrong.
struct CredibleTimes {
    /// Milliseconds of a day.
    static let day: Int64 = 86_400_000
    /// The beginning of 2026, in milliseconds since 1970.
    private static let release: Int64 = 1_767_225_600_000

    private let latest: Int64

    /// Times up to a day after now are credible, because two clocks may differ.
    init(nowUnixMilliseconds: Int64) { latest = nowUnixMilliseconds + CredibleTimes.day }

    func contains(_ unixMilliseconds: Int64) -> Bool {
        unixMilliseconds >= CredibleTimes.release && unixMilliseconds <= latest
    }
}
