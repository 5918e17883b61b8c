import CollarWire

extension Journal {
    /// Takes a range out of what is covered, because what was stored of it is gone, so that the collar is asked for it
    /// again: it counts as announced, and shows up in ``CoveredSequences/oldestLostRange(from:)``. It is not
    /// acknowledged from now on; the record of it is durable after the next ``commit()``.
    /// - Returns: false where nothing of it was covered; nothing is changed then, nor when an error is thrown.
    public func uncover(_ range: SequenceRange, logID: UInt32) throws(JournalError) -> Bool {
        try checkAccepting()
        switch ledger.uncover(range, logID: logID) {
        case .duplicate: return false
        case .refused: throw .trackingLimitReached
        case .inserted:
            writer.pending.append(UncoveredRange(logID: logID, range: range))
            return true
        }
    }

    /// Uncovers what damage took from a segment: what was covered once by records of it and is covered no more by what is
    /// whole there. Further calls find nothing, also after the journal was closed, unless there is further damage. A segment
    /// that is gone belongs to the one before it, and one whose checkpoint is damaged is looked at together with that.
    ///
    /// Complexity: reads the segment and the checkpoint of the next one; memory for one chunk of 64 KiB and the ranges.
    /// - Returns: what was uncovered and is to be asked for again, by log.
    public func uncoverDamage(inSegment segment: UInt32) throws(JournalError) -> [UInt32: [SequenceRange]] {
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

    /// Remembers that damage was dealt with.
    func noteRepaired(_ segment: UInt32, _ extent: DamageExtent) {
        repaired[segment] = extent
        writer.pending.appendRepaired(segment: segment, extent)
    }

    private func lost(in stretch: DamagedStretch) -> [UInt32: [SequenceRange]] {
        let expected = stretch.expected ?? Dictionary(uniqueKeysWithValues: ledger.logs.map { ($0.id, $0.known) })
        var lost: [UInt32: [SequenceRange]] = [:]
        for (logID, covered) in expected {
            // The rest of it was uncovered before.
            let known = ledger.log(logID)?.known.covered ?? SequenceRanges()
            let ranges = covered.gone(from: stretch.found[logID] ?? CoveredSequences()).flatMap(known.intersection)
            if !ranges.isEmpty { lost[logID] = ranges }
        }
        return lost
    }
}
