import CollarWire

/// The state of a journal up to a position: the covered sequences by log, and how its segments began and ended.
struct JournalRecovery {
    private(set) var logs: [LogID: CoveredSequences] = [:]
    /// The place of each log in the order in which the logs first appeared.
    private var places: [LogID: Int] = [:]
    /// The log of the newest record; if only a checkpoint was read, the log of the checkpoint's last part.
    private var newestLogID: LogID?
    /// The content of the next checkpoint, except its logs.
    private(set) var kept = Checkpoint()
    private(set) var damage: [DamageReport] = []
    /// The newest time at which something was received or a segment began, in milliseconds since 1970.
    private(set) var latestUnixMilliseconds = Int64.min
    private(set) var header: SegmentHeader?
    private(set) var firstSegment: UInt32 = 1
    /// Whether the coverage before the first segment is known: the segment has number 1, or its intact checkpoint names it.
    private(set) var isStartKnown = false
    private var lastSegment: UInt32 = 1
    private var segmentCount: UInt32 = 0
    /// The sequences, by log, of records that no progress record or checkpoint follows: their commit was interrupted.
    private(set) var unconfirmed: [LogID: SequenceRanges] = [:]
    private(set) var last = Segment()
    /// Whether the checkpoints after the first segment, which are incomplete, cover nothing: they still name the fixes that were
    /// lost to damage before them. If it is unknown what removed segments covered, these checkpoints are the best there is.
    private var ignoresLaterCheckpoints = false
    /// Whether all lost ranges of a log are marked as not covered if the stored record of a previously lost fix is gone.
    private var asksForLossesAgain = false

    /// One segment as far as it has been read.
    struct Segment {
        var hasCheckpoint = false
        /// Whether it holds records other than those of its header and checkpoint.
        var hasRecords = false
        /// The offset after its checkpoint; 0 if the checkpoint has no end.
        var checkpointEnd = 0
        /// The offset after its last intact record.
        var end = 0
        /// The offset of the ``UncoveredRange`` records that end the segment, if no record after them says that the damage
        /// was dealt with; nil if there are none. These records do not count, because the damage is found again.
        var unfinishedUncovering: Int?
        var byteCount = 0
        fileprivate var partCount: UInt32 = 0
        fileprivate var lostPartCount: UInt32 = 0
    }

    /// Reads the segment of `limit`, and earlier ones only if its checkpoint is not complete. The segment's own checkpoint is
    /// always read, even if `limit` lies inside it.
    /// - Parameters:
    ///   - limit: records that end after this position are left out. The segment of the position must exist.
    ///   - asksForLossesAgain: whether all losses of a log count as missing if the stored record of a previously lost fix is
    ///     gone: it is unknown which fix that is.
    init(_ bytes: some SegmentBytes, upTo limit: JournalPosition, asksForLossesAgain: Bool = false) throws(JournalError) {
        self.asksForLossesAgain = asksForLossesAgain
        try replay(limit.segment, of: bytes, upTo: Int(limit.offset))
        isStartKnown = last.hasCheckpoint || limit.segment == 1
        guard !last.hasCheckpoint else { return }
        let end = bytes.indexOfSegment(atOrBehind: limit.segment)
        var start = end
        var isWhole = false
        while start > 0, !isWhole {
            start -= 1
            isWhole = try JournalRecovery(checkpointOf: bytes.segments[start], bytes) != nil
        }
        self = JournalRecovery()
        self.asksForLossesAgain = asksForLossesAgain
        isStartKnown = isWhole || bytes.segments[start] == 1
        ignoresLaterCheckpoints = isStartKnown
        for segment in bytes.segments[start..<end] { try replay(segment, of: bytes, upTo: .max) }
        try replay(limit.segment, of: bytes, upTo: Int(limit.offset))
    }

    /// Reads the checkpoint of a segment; nil if it is not complete.
    init?(checkpointOf segment: UInt32, _ bytes: some SegmentBytes) throws(JournalError) {
        try replay(segment, of: bytes, upTo: 0)
        if !last.hasCheckpoint { return nil }
    }

    private init() {}

    /// ``logs`` in the order in which they first appeared, except that the log of the newest record comes last.
    var logsInOrder: [(LogID, CoveredSequences)] {
        func place(_ logID: LogID) -> Int { logID == newestLogID ? .max : places[logID] ?? 0 }
        return logs.sorted { (place($0.key), $0.key) < (place($1.key), $1.key) }.map { ($0.key, $0.value) }
    }

    /// A checkpoint of all that was found.
    var checkpoint: Checkpoint {
        var checkpoint = kept
        checkpoint.logs = logsInOrder
        return checkpoint
    }

    /// How much of the segments that were read is gone.
    var damageExtent: DamageExtent {
        DamageExtent(
            byteCount: UInt32(truncatingIfNeeded: damage.reduce(0) { $0 + $1.byteCount }),
            missingSegmentCount: lastSegment - firstSegment + 1 - segmentCount)
    }

    /// Whether the last segment held records of which none can be read. Records follow only once the start of a segment is
    /// durable, so a crash leaves no more bytes than the start has.
    func isLastSegmentDestroyed(of bytes: some SegmentBytes) -> Bool {
        guard !last.hasCheckpoint, !last.hasRecords else { return false }
        let header = SegmentHeader(
            deviceID: bytes.deviceID, receiverID: .max, segment: lastSegment, createdUnixMilliseconds: .max)
        let start = RecordBuffer(startWith: header, checkpoint, crc: RecordCRC(deviceID: bytes.deviceID, segment: lastSegment))
        // The start that was written may have another cursor, whose bytes may need other stuffing.
        return last.byteCount > start.bytes.count + 64
    }

    mutating func noteDestroyedSegment() { noteDamage(in: lastSegment, before: last.byteCount) }

    private mutating func replay(_ segment: UInt32, of bytes: some SegmentBytes, upTo limit: Int) throws(JournalError) {
        last = Segment()
        if segmentCount == 0 { firstSegment = segment }
        lastSegment = segment
        segmentCount += 1
        var parser = RecordParser(crc: RecordCRC(deviceID: bytes.deviceID, segment: segment))
        var chunk: [UInt8] = []
        repeat {
            let base = last.byteCount
            try bytes.read(segment, at: base, into: &chunk)
            last.byteCount += chunk.count
            var index = 0
            while let found = parser.next(in: chunk.span, at: &index) {
                let end = base + index
                if end > limit, last.hasCheckpoint || !found.record.isOfCheckpoint { return }
                noteDamage(in: segment, before: end - found.encodedByteCount)
                last.end = end
                if case .header(let header) = found.record { try bytes.validate(header, of: segment) }
                if case .entry(.uncovered) = found.record {
                    last.unfinishedUncovering = last.unfinishedUncovering ?? end - found.encodedByteCount
                } else {
                    last.unfinishedUncovering = nil
                }
                if case .checkpointEnd = found.record { last.checkpointEnd = end }
                apply(found.record)
            }
        } while !chunk.isEmpty
        // The last segment may end with an unfinished write. In an earlier segment, such a write was cut off before the next
        // segment was begun.
        if segment != bytes.segments.last { noteDamage(in: segment, before: last.byteCount) }
    }

    private mutating func noteDamage(in segment: UInt32, before start: Int) {
        guard start > last.end else { return }
        damage.append(DamageReport(segment: segment, offset: last.end, byteCount: start - last.end))
    }

    private mutating func apply(_ record: Record) {
        if !record.isOfCheckpoint { last.hasRecords = true }
        switch record {
        case .header(let header):
            self.header = header
            latestUnixMilliseconds = max(latestUnixMilliseconds, header.createdUnixMilliseconds)
        case .covered(let logID, let announcedEnd, let ranges):
            last.partCount += 1
            logs[logID, default: .init()].announce(below: announcedEnd)
            if ignoresLaterCheckpoints, segmentCount > 1 { break }
            noteNewest(logID)
            for range in ranges { logs[logID, default: .init()].insert(covered: range) }
        case .lost(let logID, let ranges):
            last.lostPartCount += 1
            if ignoresLaterCheckpoints, segmentCount > 1 { break }
            for range in ranges { logs[logID, default: .init()].insert(lost: range) }
        case .checkpointEnd(let end):
            last.hasCheckpoint = end.partCount == last.partCount && end.lostPartCount == last.lostPartCount
            kept.cursor = end.cursor
            if last.hasCheckpoint { unconfirmed = [:] }
        case .entry(.fix(let record)): noteStored(record.fix.sequence, logID: record.logID, at: record.receivedUnixMilliseconds)
        case .entry(.message(let record)):
            noteStored(record.message.sequence, logID: record.logID, at: record.receivedUnixMilliseconds)
        case .entry(.loss(let loss)):
            latestUnixMilliseconds = max(latestUnixMilliseconds, loss.receivedUnixMilliseconds)
            noteNewest(loss.logID)
            noteUnconfirmed(loss.range, logID: loss.logID)
            logs[loss.logID, default: .init()].insert(loss)
        case .progress(let progress):
            unconfirmed[progress.logID] = nil
            apply(progress)
        case .cursor(let position): kept.cursor = position
        case .entry(.uncovered(let uncovered)):
            unconfirmed[uncovered.logID]?.remove(uncovered.range)
            if logs[uncovered.logID]?.remove(uncovered.range) == true { break }
            logs[uncovered.logID, default: .init()].announce(below: uncovered.range.last + 1)
        case .repaired(let segment, let extent): kept.repaired[segment] = extent
        case .sealed(let progress): kept.sealed = progress
        case .address(let address): kept.address = address
        case .memory(let memory): kept.memory = memory
        case .later: break
        }
    }

    private mutating func noteStored(_ sequence: UInt32, logID: LogID, at unixMilliseconds: Int64) {
        latestUnixMilliseconds = max(latestUnixMilliseconds, unixMilliseconds)
        noteNewest(logID)
        noteUnconfirmed(SequenceRange(sequence), logID: logID)
        logs[logID, default: .init()].insert(sequence)
    }

    private mutating func noteNewest(_ logID: LogID) {
        newestLogID = logID
        if places[logID] == nil { places[logID] = places.count }
    }

    private mutating func noteUnconfirmed(_ range: SequenceRange, logID: LogID) {
        for new in logs[logID, default: .init()].covered.missingRanges(in: range) {
            unconfirmed[logID, default: .init()].insert(new)
        }
    }

    /// The progress records that end the interrupted commits. The records of these commits are about to be announced: without a
    /// progress record, later damage to them would go unnoticed.
    var missingProgress: [Progress] {
        unconfirmed.keys.sorted().map { logID in
            let covered = logs[logID] ?? CoveredSequences()
            return Progress(of: covered, logID: logID, announcedEnd: covered.announcedEnd)
        }
    }

    private mutating func apply(_ progress: Progress) {
        var covered = logs[progress.logID] ?? CoveredSequences()
        logs[progress.logID] = nil
        covered.announce(below: progress.announcedEnd)
        if asksForLossesAgain, let lostCount = progress.lostCount, covered.lost.count > lostCount {
            // The stored record of a previously lost fix is gone: the collar is asked once more for all lost fixes.
            for range in covered.lost.ranges { covered.remove(range) }
        }
        if covered.count < progress.coveredCount {
            // An announced fix is gone, and the gaps do not tell which one. Asking for one too many costs a few bytes; asking
            // for one too few costs a fix.
            covered.announce(below: min(progress.highest, Fix.maximumSequence) + 1)
        }
        logs[progress.logID] = covered
    }
}

extension Record {
    /// Whether the record belongs to the header and the checkpoint at the start of a segment.
    var isOfCheckpoint: Bool {
        switch self {
        case .header, .covered, .lost, .sealed, .address, .memory, .checkpointEnd, .repaired: true
        case .entry, .progress, .cursor, .later: false
        }
    }
}
