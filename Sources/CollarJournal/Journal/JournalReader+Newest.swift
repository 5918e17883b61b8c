import CollarWire

/// What a journal says about its collar as a whole.
package struct JournalSummary: Equatable, Sendable {
    /// The collar's newest fix: the one with the highest sequence of the current log, which is the log of the newest record. If
    /// that log has none yet, the fix that was stored last. Nil if no fix is left.
    package var newest: JournaledFix?
    /// Fixes and messages that are stored or were stored and removed as old ones, of all logs.
    package var storedCount: UInt64 = 0
    /// Sequences of the current log that are below its highest one and neither stored nor given up.
    package var missingCount: UInt64 = 0
    /// Fixes of all logs that are no longer expected.
    package var lostCount: UInt64 = 0
    /// Bytes in all segments.
    package var byteCount = 0

    /// The summary of an empty journal.
    package init() {}
}

extension JournalReader {
    /// The fewest segments that ``summary(examining:)`` reads, where there are as many.
    private static let examinedSegmentCount = 2

    /// Sums up the journal.
    /// - Parameter examine: is called with every fix of the newest segments, in no particular order.
    ///
    /// Complexity: reads the newest two segments, and further ones only while an older one can have a higher sequence: when a whole
    /// segment is filled with a backlog.
    package func summary(examining examine: (JournaledFix) -> Void) throws(JournalError) -> JournalSummary {
        var summary = JournalSummary()
        let end = try end()
        summary.byteCount = try extent().byteCount
        let current = try newestLogID(at: end)
        for (logID, covered) in try coverage(at: end) {
            summary.storedCount += covered.storedCount
            summary.lostCount += covered.lost.count
            if logID == current, let highest = covered.highest { summary.missingCount = UInt64(highest) + 1 - covered.count }
        }
        var ofOtherLogs: JournaledFix?
        for (index, segment) in segments.reversed().enumerated() {
            var last: JournaledFix?
            try forEachFix(of: segment) { record in
                examine(record)
                if record.logID != current {
                    last = record
                } else if record.fix.sequence >= summary.newest?.fix.sequence ?? 0 {
                    summary.newest = record
                }
            }
            ofOtherLogs = ofOtherLogs ?? last
            guard index + 1 >= JournalReader.examinedSegmentCount, let start = try JournalRecovery(checkpointOf: segment, self)
            else { continue }
            let highestBefore = current.flatMap { start.logs[$0]?.stored.ranges.last?.last }
            if let newest = summary.newest {
                if highestBefore ?? 0 <= newest.fix.sequence { break }
            } else if highestBefore == nil, ofOtherLogs != nil {
                break
            }
        }
        summary.newest = summary.newest ?? ofOtherLogs
        return summary
    }

    /// Calls `body` with each fix of a segment, in the order in which they were stored.
    private func forEachFix(of segment: UInt32, _ body: (JournaledFix) -> Void) throws(JournalError) {
        var place = JournalPosition(segment: segment, offset: 0)
        while place.segment == segment {
            let batch = try entries(from: place, limit: 512)
            // A batch has entries of one segment, but its end may be in the next one.
            for element in batch.elements where element.end.segment == segment {
                if case .fix(let record) = element.entry { body(record) }
            }
            if batch.isAtEnd { return }
            place = batch.end
        }
    }
}
