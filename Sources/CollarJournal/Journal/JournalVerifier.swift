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

    package static let maximumReportCount = 1000

    /// Whether all damage, if there was any, was dealt with.
    package var isIntact: Bool { damagedSegments.isEmpty && damage.isEmpty && logs.allSatisfy(\.damaged.ranges.isEmpty) }
}

/// The sequences of one log as the verified journal records them. Each sequence is in exactly one set, or is missing.
package struct LogVerification: Equatable, Sendable {
    package let logID: LogID
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

    /// Sequences below the highest known one that are in none of the sets: the collar is asked for them.
    package var missing: [SequenceRange] {
        var known = SequenceRanges()
        for range in [stored, lost, deliveredElsewhere, removed, damaged].flatMap(\.ranges) { known.insert(range) }
        guard let highest = known.ranges.last?.last, let all = SequenceRange(0, highest) else { return [] }
        return known.missingRanges(in: all)
    }

    /// Takes a range out of every set.
    fileprivate mutating func forget(_ range: SequenceRange) {
        stored.remove(range)
        lost.remove(range)
        deliveredElsewhere.remove(range)
        removed.remove(range)
        damaged.remove(range)
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

/// Reads a journal from its oldest segment on, and tracks which sequences ought to be there.
struct JournalVerifier {
    /// A stretch of segments between two intact checkpoints, with damage in it.
    private struct Fault {
        var firstSegment: UInt32
        var extent: DamageExtent
        var reports: [DamageReport]
    }

    private var logs: [LogID: LogVerification] = [:]
    /// The sequences covered by the records that were read, by log.
    private var covered: [LogID: CoveredSequences] = [:]
    /// The last progress record of each log, if it counts more covered or fewer lost sequences than were found.
    private var unmet: [LogID: Progress] = [:]
    private var repaired: [UInt32: DamageExtent] = [:]
    private var faults: [Fault] = []
    private var reportCount = 0
    private var stretch: Fault?
    private var lastSegment: UInt32?
    private var checkpoint: [LogID: CoveredSequences] = [:]
    private var partCount: UInt32 = 0
    private var lostPartCount: UInt32 = 0
    /// Whether an intact checkpoint was read, or the segment with number 1.
    private var isStartKnown = false
    /// Damage that was found in the current segment before the end of its checkpoint.
    private var reportsBeforeCheckpoint: [DamageReport] = []
    private var isCheckpointWhole = false

    mutating func read(_ segment: UInt32, of bytes: some SegmentBytes, isLast: Bool) throws(JournalError) {
        begin(segment)
        var parser = RecordParser(crc: RecordCRC(deviceID: bytes.deviceID, segment: segment))
        var chunk: [UInt8] = []
        var base = 0
        var end = 0
        repeat {
            try bytes.read(segment, at: base, into: &chunk)
            var index = 0
            while let found = parser.next(in: chunk.span, at: &index) {
                note(DamageReport(from: end, to: base + index - found.encodedByteCount, in: segment))
                end = base + index
                if case .header(let header) = found.record { try bytes.validate(header, of: segment) }
                apply(found.record, in: segment)
            }
            base += chunk.count
        } while !chunk.isEmpty
        // The last segment may end with an unfinished write.
        var isComplete = !isLast
        if isLast, !isCheckpointWhole {
            let recovery = try JournalRecovery(bytes, upTo: JournalPosition(segment: segment, offset: .max))
            isComplete = recovery.isLastSegmentDestroyed(of: bytes)
        }
        if isComplete { note(DamageReport(from: end, to: base, in: segment)) }
        if !isCheckpointWhole {
            // Without an intact checkpoint the stretch goes on, and this damage belongs to it.
            for report in reportsBeforeCheckpoint { count(report) }
        }
        lastSegment = segment
    }

    private mutating func begin(_ segment: UInt32) {
        checkpoint = [:]
        partCount = 0
        lostPartCount = 0
        reportsBeforeCheckpoint = []
        isCheckpointWhole = false
        if let lastSegment, segment - lastSegment > 1 {
            stretch?.extent.missingSegmentCount += segment - lastSegment - 1
            keep(DamageReport(segment: lastSegment + 1, offset: 0, byteCount: 0))
        }
        if segment == 1 { isStartKnown = true }
        if stretch == nil { stretch = Fault(firstSegment: segment, extent: DamageExtent(), reports: []) }
    }

    private mutating func note(_ report: DamageReport?) {
        guard let report else { return }
        if isCheckpointWhole { count(report) } else { reportsBeforeCheckpoint.append(report) }
    }

    private mutating func count(_ report: DamageReport) {
        stretch?.extent.byteCount &+= UInt32(truncatingIfNeeded: report.byteCount)
        keep(report)
    }

    private mutating func keep(_ report: DamageReport) {
        guard reportCount < JournalVerification.maximumReportCount else { return }
        reportCount += 1
        stretch?.reports.append(report)
    }

    private mutating func noteStored(_ sequence: UInt32, logID: LogID) {
        covered[logID, default: .init()].insert(sequence, rangeLimit: .max)
        change(logID) { log in
            log.forget(SequenceRange(sequence))
            log.stored.insert(sequence)
        }
    }

    private mutating func apply(_ record: Record, in segment: UInt32) {
        switch record {
        case .header, .cursor, .sealed, .address, .memory, .later: break
        case .covered(let logID, _, let ranges):
            partCount += 1
            for range in ranges { checkpoint[logID, default: .init()].insert(covered: range) }
        case .lost(let logID, let ranges):
            lostPartCount += 1
            for range in ranges { checkpoint[logID, default: .init()].insert(lost: range, rangeLimit: .max) }
        case .checkpointEnd(let end):
            if end.partCount == partCount, end.lostPartCount == lostPartCount, !isCheckpointWhole { beginStretch(at: segment) }
        case .entry(.fix(let record)): noteStored(record.fix.sequence, logID: record.logID)
        case .entry(.message(let record)): noteStored(record.message.sequence, logID: record.logID)
        case .entry(.loss(let loss)):
            let new = missing(loss.range, logID: loss.logID)
            covered[loss.logID, default: .init()].insert(loss, rangeLimit: .max)
            change(loss.logID) { log in
                for range in new {
                    if loss.reason.isElsewhere { log.deliveredElsewhere.insert(range) } else { log.lost.insert(range) }
                }
            }
        case .entry(.uncovered(let uncovered)):
            covered[uncovered.logID]?.remove(uncovered.range)
            change(uncovered.logID) { $0.forget(uncovered.range) }
        case .repaired(let segment, let extent): repaired[segment] = extent
        case .progress(let progress):
            let found = covered[progress.logID] ?? CoveredSequences()
            let isMet = found.count >= progress.coveredCount && found.lost.count <= progress.lostCount ?? .max
            unmet[progress.logID] = isMet ? nil : progress
        }
    }

    private mutating func change(_ logID: LogID, _ body: (inout LogVerification) -> Void) {
        body(&logs[logID, default: LogVerification(logID: logID)])
    }

    private func missing(_ range: SequenceRange, logID: LogID) -> [SequenceRange] {
        covered[logID]?.covered.missingRanges(in: range) ?? [range]
    }

    /// Ends the current stretch at an intact checkpoint and begins the next one. Sequences that the checkpoint names but that
    /// were not found are gone.
    private mutating func beginStretch(at segment: UInt32) {
        isCheckpointWhole = true
        let isFirst = !isStartKnown
        isStartKnown = true
        var isSomethingGone = false
        for (logID, expected) in checkpoint {
            let gone = expected.gone(from: covered[logID] ?? CoveredSequences())
            change(logID) { log in
                for range in gone {
                    if isFirst {
                        log.removed.insert(range)
                    } else {
                        log.forget(range)
                        log.damaged.insert(range)
                    }
                }
            }
            if !isFirst, !gone.isEmpty { isSomethingGone = true }
        }
        endStretch(isSomethingGone: isSomethingGone)
        covered = checkpoint
        unmet = [:]
        stretch = Fault(firstSegment: segment, extent: DamageExtent(), reports: [])
        for report in reportsBeforeCheckpoint { count(report) }
    }

    private mutating func endStretch(isSomethingGone: Bool) {
        guard let stretch, isSomethingGone || stretch.extent != DamageExtent() else { return }
        faults.append(stretch)
    }

    mutating func result() -> JournalVerification {
        var verification = JournalVerification()
        let isDealtWith = stretch.map { repaired[$0.firstSegment] == $0.extent } ?? true
        if !isDealtWith {
            for (logID, progress) in unmet {
                // It is known how many fixes are gone, but not which ones.
                guard let all = SequenceRange(0, min(progress.highest, Fix.maximumSequence)) else { continue }
                var candidates = missing(all, logID: logID)
                if let lost = covered[logID]?.lost, lost.count > progress.lostCount ?? .max { candidates += lost.ranges }
                change(logID) { log in
                    for range in candidates {
                        log.forget(range)
                        log.damaged.insert(range)
                    }
                }
            }
        }
        endStretch(isSomethingGone: !unmet.isEmpty)
        for fault in faults where repaired[fault.firstSegment] != fault.extent {
            verification.damage += fault.reports
            verification.damagedSegments.append(fault.firstSegment)
        }
        verification.logs = logs.values.sorted { $0.logID < $1.logID }
        return verification
    }
}

extension DamageReport {
    /// The bytes from `start` up to, but not including, `end`; nil if there are none.
    fileprivate init?(from start: Int, to end: Int, in segment: UInt32) {
        guard end > start else { return nil }
        self.init(segment: segment, offset: start, byteCount: end - start)
    }
}
