extension Journal {
    /// Removes the oldest segments, as far as every entry in them was handed over (before ``emissionCursor``) and is older than
    /// wanted. What they held stays covered: nothing of it is asked for again. The segment that grows always stays, and so does
    /// one behind which coverage could not be told any more.
    ///
    /// Days are counted back from the newest fix, by its own time, or from now where that is earlier: a clock that is ahead
    /// removes nothing. An entry is as old as its reception and its fix say, see ``CredibleTimes``.
    /// - Returns: how many were removed.
    /// - Throws: ``JournalError/file(_:)`` where one cannot be removed or read; those before it are gone.
    ///
    /// Complexity: reads the removed segments and the newest two, and otherwise the oldest up to an entry that is to stay. For
    /// each removed segment the directory is made durable once.
    @discardableResult
    public func removeSegments(keepingDays days: Int, nowUnixMilliseconds: Int64) throws(JournalError) -> Int {
        let times = CredibleTimes(nowUnixMilliseconds: nowUnixMilliseconds)
        let age = Int64(days) * CredibleTimes.day
        guard try isOldestRemovable(before: nowUnixMilliseconds - age, times) else { return 0 }
        let limit = min(nowUnixMilliseconds, try newestFix(times) ?? .max) - age
        var count = 0
        defer { countEarlierBytes() }
        while try isOldestRemovable(before: limit, times), try JournalRecovery(checkpointOf: segments[1], self) != nil {
            // One after the other, and the oldest first: a crash in between leaves no hole.
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

    /// Whether all of the oldest segment was handed over, and was received and made before a time. An entry that was received
    /// while the clock was wrong counts as received with the next one that was not.
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

    /// When the newest fix of the last two segments was made; nil where there is none.
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

/// The times that a right clock may have shown: not before this program was made, and not to come. Others are those of a clock
/// that was not set, or was set wrong.
struct CredibleTimes {
    /// Milliseconds of a day.
    static let day: Int64 = 86_400_000
    /// The beginning of 2026, in milliseconds since 1970.
    private static let release: Int64 = 1_767_225_600_000

    private let latest: Int64

    /// Two clocks may differ by a day.
    init(nowUnixMilliseconds: Int64) { latest = nowUnixMilliseconds + CredibleTimes.day }

    func contains(_ unixMilliseconds: Int64) -> Bool {
        unixMilliseconds >= CredibleTimes.release && unixMilliseconds <= latest
    }
}
