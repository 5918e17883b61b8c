import CollarWire

extension Journal {
    /// Marks a range as not covered because its stored records are gone, so that the collar is asked for it again. The range
    /// counts as announced, and ``CoveredSequences/oldestLostRange(from:)`` finds it. From now on it must not be acknowledged.
    /// The record of this change is durable after the next ``commit()``.
    /// - Returns: false if nothing of the range was covered. Nothing changes then, nor when an error is thrown.
    package func uncover(_ range: SequenceRange, logID: LogID) throws(JournalError) -> Bool {
        try checkAccepting()
        switch ledger.uncover(range, logID: logID) {
        case .duplicate: return false
        case .refused: throw .trackingLimitReached
        case .inserted:
            writer.pending.append(UncoveredRange(logID: logID, range: range))
            return true
        }
    }

    /// Marks as not covered the sequences whose records in a segment were lost by damage: the coverage at the end of the segment
    /// includes them, but the coverage by its intact records does not. Later calls find nothing, even after the journal was
    /// opened again, unless there is further damage. A missing segment counts as part of the segment before it. A segment with
    /// a damaged checkpoint is examined together with the segment before it.
    ///
    /// Complexity: reads the segment and the checkpoint of the next one; memory for one chunk of 64 KiB and the ranges.
    /// - Returns: the ranges that were marked as not covered, by log. The collar is asked for them again.
    package func uncoverDamage(inSegment segment: UInt32) throws(JournalError) -> [LogID: [SequenceRange]] {
        guard let stretch = try damagedStretch(around: segment), repaired[stretch.firstSegment] != stretch.extent else {
            return [:]
        }
        let lost = lost(in: stretch)
        guard !lost.isEmpty || stretch.extent != DamageExtent() else { return [:] }
        for (logID, ranges) in lost.sorted(by: { $0.key < $1.key }) {
            for range in ranges { _ = try uncover(range, logID: logID) }
        }
        noteRepaired(stretch.firstSegment, stretch.extent)
        return lost
    }

    /// Records that the damage in the stretch that begins with `segment` was dealt with.
    func noteRepaired(_ segment: UInt32, _ extent: DamageExtent) {
        repaired[segment] = extent
        writer.pending.appendRepaired(segment: segment, extent)
    }

    private func lost(in stretch: DamagedStretch) -> [LogID: [SequenceRange]] {
        let expected = stretch.expected ?? Dictionary(uniqueKeysWithValues: ledger.logs.map { ($0.id, $0.known) })
        var lost: [LogID: [SequenceRange]] = [:]
        for (logID, covered) in expected {
            let known = known(logID: logID)
            var gone = SequenceRanges()
            // Only sequences that are still covered count: the others were marked as not covered before.
            for range in covered.gone(from: stretch.found[logID] ?? CoveredSequences()) {
                for part in known.covered.intersection(range) { gone.insert(part) }
            }
            // A fix that was lost at the end of the stretch but is stored now has its record in a later segment: it is not gone.
            let stored = covered.lost.ranges.isEmpty ? SequenceRanges() : known.stored
            for range in covered.lost.ranges.flatMap(stored.intersection) { gone.remove(range) }
            if !gone.ranges.isEmpty { lost[logID] = gone.ranges }
        }
        return lost
    }
}

/// Consecutive segments of which only the first begins with an intact checkpoint.
struct DamagedStretch {
    var firstSegment: UInt32
    var extent: DamageExtent
    /// The sequences, by log, that the intact records cover.
    var found: [LogID: CoveredSequences]
    /// The sequences, by log, that the next intact checkpoint names; nil if there is none. Equal to ``found`` if the coverage at
    /// the start is unknown.
    var expected: [LogID: CoveredSequences]?
}

extension SegmentBytes {
    /// The stretch that contains a segment, even if that segment is missing; nil if its number is below that of the oldest one.
    func damagedStretch(around segment: UInt32) throws(JournalError) -> DamagedStretch? {
        var end = indexOfSegment(atOrBehind: segment)
        if end < segments.count, segments[end] == segment { end += 1 }
        guard end > 0 else { return nil }
        var expected: [LogID: CoveredSequences]?
        while end < segments.count {
            if let checkpoint = try JournalRecovery(checkpointOf: segments[end], self) {
                expected = checkpoint.logs
                break
            }
            end += 1
        }
        let recovery = try JournalRecovery(self, upTo: JournalPosition(segment: segments[end - 1], offset: .max))
        var extent = recovery.damageExtent
        // Segments that are missing right before the next checkpoint count too.
        if end < segments.count { extent.missingSegmentCount += segments[end] - segments[end - 1] - 1 }
        // If the oldest checkpoint is damaged and segments before it were removed, it is unknown what those covered.
        return DamagedStretch(
            firstSegment: recovery.firstSegment, extent: extent, found: recovery.logs,
            expected: recovery.isStartKnown ? expected : recovery.logs)
    }
}
