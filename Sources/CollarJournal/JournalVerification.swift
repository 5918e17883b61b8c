import CollarWire

/// What of a journal is whole.
public struct JournalVerification: Equatable, Sendable {
    /// The logs, in the order of their ids.
    public internal(set) var logs: [LogVerification] = []
    /// Damage that was not dealt with (``Journal/uncoverDamage(inSegment:)``), at most
    /// ``maximumReportCount`` places of it, in order.
    public internal(set) var damage: [DamageReport] = []
    /// A segment of each place where something is gone and was not dealt with.
    public internal(set) var damagedSegments: [UInt32] = []

    /// The most places of damage that are told apart.
    public static let maximumReportCount = 1000

    /// Whether nothing is damaged that was not dealt with.
    public var isIntact: Bool { damagedSegments.isEmpty && damage.isEmpty && logs.allSatisfy(\.damaged.ranges.isEmpty) }
}

/// What a journal knows of the sequences of one log. Each is in one of the sets, or missing.
public struct LogVerification: Equatable, Sendable {
    /// The log, 26 bits.
    public let logID: UInt32
    /// Fixes that are there.
    public internal(set) var stored = SequenceRanges()
    /// What the collar does not have any more, or was not asked for any more.
    public internal(set) var lost = SequenceRanges()
    /// What another receiver has.
    public internal(set) var deliveredElsewhere = SequenceRanges()
    /// What was covered before the oldest segment that is kept.
    public internal(set) var removed = SequenceRanges()
    /// What was covered once by a record that is gone, and is not asked for again yet. Where the last segment is damaged it
    /// may be too much: what was missing before the damage too.
    public internal(set) var damaged = SequenceRanges()

    init(logID: UInt32) { self.logID = logID }

    /// What is not there although later fixes are: the collar is asked for it.
    public var missing: [SequenceRange] {
        var known = SequenceRanges()
        for set in [stored, lost, deliveredElsewhere, removed, damaged] {
            for range in set.ranges { known.insert(range) }
        }
        guard let highest = known.ranges.last?.last, let all = SequenceRange(0, highest) else { return [] }
        return known.missingRanges(in: all)
    }
}

extension JournalReader {
    /// Reads the whole journal, and compares what is covered at the end of each segment with what the next one says.
    ///
    /// Complexity: reads every byte once; memory for one chunk of 64 KiB and the ranges.
    public func verify() throws(JournalError) -> JournalVerification {
        while true {
            var verifier = JournalVerifier()
            let oldest = segments.first
            let numbers = segments
            for segment in numbers { try verifier.read(segment, of: self, isLast: segment == numbers.last) }
            // Where segments were removed meanwhile, what they held seems damaged.
            if segments.first == oldest { return verifier.result() }
        }
    }
}
