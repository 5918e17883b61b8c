import CollarWire

/// Which parts of a journal are intact.
package struct JournalVerification: Equatable, Sendable {
    /// The logs, in the order of their ids.
    package internal(set) var logs: [LogVerification] = []
    /// Damage that was not dealt with (see ``Journal/uncoverDamage(inSegment:)``): at most ``maximumReportCount`` places, in
    /// order.
    package internal(set) var damage: [DamageReport] = []
    /// The first segment of each stretch with damage that was not dealt with.
    package internal(set) var damagedSegments: [UInt32] = []

    /// The most places of damage that are listed.
    package static let maximumReportCount = 1000

    /// Whether all damage, if there was any, was dealt with.
    package var isIntact: Bool { damagedSegments.isEmpty && damage.isEmpty && logs.allSatisfy(\.damaged.ranges.isEmpty) }
}

/// The sequences of one log as the verified journal records them. Each sequence is in exactly one set, or is missing.
package struct LogVerification: Equatable, Sendable {
    /// The log, 26 bits.
    package let logID: UInt32
    /// Fixes that are stored.
    package internal(set) var stored = SequenceRanges()
    /// Fixes that the collar no longer has, or that the receiver stopped asking for.
    package internal(set) var lost = SequenceRanges()
    /// Fixes that another receiver has, or that this receiver stored before it moved to this state directory.
    package internal(set) var deliveredElsewhere = SequenceRanges()
    /// Sequences that were covered before the oldest remaining segment.
    package internal(set) var removed = SequenceRanges()
    /// Sequences whose record is gone and which the collar has not been asked for again. If the last segment is damaged, they
    /// may include sequences that were missing before the damage.
    package internal(set) var damaged = SequenceRanges()

    init(logID: UInt32) { self.logID = logID }

    /// Sequences below the highest known one that are in none of the sets: the collar is asked for them.
    package var missing: [SequenceRange] {
        var known = SequenceRanges()
        for set in [stored, lost, deliveredElsewhere, removed, damaged] {
            for range in set.ranges { known.insert(range) }
        }
        guard let highest = known.ranges.last?.last, let all = SequenceRange(0, highest) else { return [] }
        return known.missingRanges(in: all)
    }
}

extension JournalReader {
    /// Reads the whole journal, and compares the coverage at the end of each segment with the checkpoint of the next one.
    ///
    /// Complexity: reads every byte once; memory for one chunk of 64 KiB and the ranges.
    package func verify() throws(JournalError) -> JournalVerification {
        while true {
            var verifier = JournalVerifier()
            let oldest = segments.first
            let numbers = segments
            for segment in numbers { try verifier.read(segment, of: self, isLast: segment == numbers.last) }
            // If segments were removed meanwhile, their fixes seem damaged: the journal is read again.
            if segments.first == oldest { return verifier.result() }
        }
    }
}
