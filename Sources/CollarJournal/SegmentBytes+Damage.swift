import CollarWire

/// Segments in a row of which the first begins with a whole checkpoint, and none of the others.
struct DamagedStretch {
    /// The first segment.
    var firstSegment: UInt32
    /// How much of them is gone.
    var extent: DamageExtent
    /// What is covered, by log, at the end of what is whole.
    var found: [UInt32: CoveredSequences]
    /// What the next whole checkpoint says was covered there; nil where there is none. What is found, where it is not known
    /// what was covered at the start.
    var expected: [UInt32: CoveredSequences]?
}

extension SegmentBytes {
    /// The stretch that a segment, or a missing one, is in; nil where it is before the oldest.
    func damagedStretch(around segment: UInt32) throws(JournalError) -> DamagedStretch? {
        var end = indexOfSegment(atOrBehind: segment)
        if end < segments.count, segments[end] == segment { end += 1 }
        guard end > 0 else { return nil }
        var expected: [UInt32: CoveredSequences]?
        while end < segments.count {
            if let checkpoint = try JournalRecovery(checkpointOf: segments[end], self) {
                expected = checkpoint.logs
                break
            }
            end += 1
        }
        let recovery = try JournalRecovery(
            self, upTo: JournalPosition(segment: segments[end - 1], offset: .max), ignoresLaterCheckpoints: true)
        var extent = recovery.damageExtent
        // Those that are missing right before the next checkpoint.
        if end < segments.count { extent.missingSegmentCount += segments[end] - segments[end - 1] - 1 }
        // Where the oldest checkpoint is damaged and segments before it were removed, nothing tells what was theirs.
        return DamagedStretch(
            firstSegment: recovery.firstSegment, extent: extent, found: recovery.logs,
            expected: recovery.isStartKnown ? expected : recovery.logs)
    }
}
