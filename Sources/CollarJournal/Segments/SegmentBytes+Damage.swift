import CollarWire

/// Consecutive segments of which only the first begins with an intact checkpoint.
struct DamagedStretch {
    /// The first segment.
    var firstSegment: UInt32
    /// How much of the segments is gone.
    var extent: DamageExtent
    /// The sequences, by log, that the intact records cover.
    var found: [UInt32: CoveredSequences]
    /// The sequences, by log, that the next intact checkpoint names; nil if there is none. Equal to ``found`` if the coverage at
    /// the start is unknown.
    var expected: [UInt32: CoveredSequences]?
}

extension SegmentBytes {
    /// The stretch that contains a segment, even if that segment is missing; nil if its number is below that of the oldest one.
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
