import CollarWire

/// What a journal says up to a position: what is covered, by log, and how it began and ended.
struct JournalRecovery {
    /// What is covered, by log.
    private(set) var logs: [UInt32: CoveredSequences] = [:]
    /// Where the logs stand among one another, by their ids.
    private var places: [UInt32: Int] = [:]
    /// The log of the newest record; of a checkpoint alone that of its last part.
    private var newestLogID: UInt32?
    /// Logs of which nothing more is stored.
    private(set) var closedLogIDs: Set<UInt32> = []
    /// Up to where lines were handed over.
    private(set) var cursor = JournalPosition.start
    /// What was stepped over.
    private(set) var damage: [DamageReport] = []
    /// The newest time at which something was received or a segment begun, in milliseconds since 1970.
    private(set) var latestUnixMilliseconds = Int64.min
    /// The newest header.
    private(set) var header: SegmentHeader?
    /// Damage that was dealt with, by the first of its segments.
    private(set) var repaired: [UInt32: DamageExtent] = [:]
    /// The first of the segments that were read.
    private(set) var firstSegment: UInt32 = 1
    /// Whether it is known what stood before the first one: nothing, or what its whole checkpoint says.
    private(set) var isStartKnown = false
    /// The last of them.
    private var lastSegment: UInt32 = 1
    /// How many segments were read.
    private var segmentCount: UInt32 = 0
    /// What is covered by records behind which no progress and no checkpoint stands, by log: their commit was cut short.
    private(set) var unconfirmed: [UInt32: SequenceRanges] = [:]
    /// What is known of the last segment.
    private(set) var last = Segment()
    /// Whether checkpoints after the first segment are ignored: a checkpoint after damage still names the damaged fixes.
    private var ignoresLaterCheckpoints = false
    /// Whether all that is lost of a log is taken out where one fix that came after its loss is gone.
    private var asksForLossesAgain = false

    /// One segment as far as it has been read.
    struct Segment {
        /// Whether all is there that the checkpoint at its start shall hold.
        var hasCheckpoint = false
        /// Whether it holds anything else.
        var hasRecords = false
        /// Behind its last intact record.
        var end = 0
        /// Where the records of an uncovering begin that was cut short: they end the segment, and nothing says that the damage
        /// was dealt with. They do not count, as the damage is met again.
        var unfinishedUncovering: Int?
        /// Bytes in the file.
        var byteCount = 0
        fileprivate var partCount: UInt32 = 0
        fileprivate var lostPartCount: UInt32 = 0
    }

    /// Reads the segment of `limit`, and earlier ones only where the checkpoint at its start is not complete. That
    /// checkpoint counts as before the limit however short the segment is cut.
    /// - Parameters:
    ///   - limit: records that end behind it are left out. Its segment exists.
    ///   - ignoresLaterCheckpoints: whether incomplete checkpoints are ignored.
    ///   - asksForLossesAgain: whether all that is lost of a log counts as missing where one fix that came after its loss is
    ///     gone, as nothing tells which one it is.
    init(
        _ bytes: some SegmentBytes, upTo limit: JournalPosition, ignoresLaterCheckpoints: Bool = false,
        asksForLossesAgain: Bool = false
    ) throws(JournalError) {
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
        self.ignoresLaterCheckpoints = ignoresLaterCheckpoints
        self.asksForLossesAgain = asksForLossesAgain
        isStartKnown = isWhole || bytes.segments[start] == 1
        for segment in bytes.segments[start..<end] { try replay(segment, of: bytes, upTo: .max) }
        try replay(limit.segment, of: bytes, upTo: Int(limit.offset))
    }

    /// Reads the checkpoint of a segment; nil where it is not whole.
    init?(checkpointOf segment: UInt32, _ bytes: some SegmentBytes) throws(JournalError) {
        try replay(segment, of: bytes, upTo: 0)
        if !last.hasCheckpoint { return nil }
    }

    private init() {}

    /// ``logs`` in the order in which they came; that of the newest record comes last.
    var logsInOrder: [(UInt32, CoveredSequences)] {
        func place(_ logID: UInt32) -> Int { logID == newestLogID ? .max : places[logID] ?? 0 }
        return logs.sorted { (place($0.key), $0.key) < (place($1.key), $1.key) }.map { ($0.key, $0.value) }
    }

    /// How much of the segments that were read is gone.
    var damageExtent: DamageExtent {
        DamageExtent(
            byteCount: UInt32(truncatingIfNeeded: damage.reduce(0) { $0 + $1.byteCount }),
            missingSegmentCount: lastSegment - firstSegment + 1 - segmentCount)
    }

    private mutating func replay(
        _ segment: UInt32, of bytes: some SegmentBytes, upTo limit: Int
    ) throws(JournalError) {
        last = Segment()
        if segmentCount == 0 { firstSegment = segment }
        lastSegment = segment
        segmentCount += 1
        var parser = RecordParser(check: RecordCheck(deviceID: bytes.deviceID, segment: segment))
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
                if case .uncovered = found.record {
                    last.unfinishedUncovering = last.unfinishedUncovering ?? end - found.encodedByteCount
                } else {
                    last.unfinishedUncovering = nil
                }
                apply(found.record)
            }
        } while !chunk.isEmpty
        // At the end of the last segment a write may be unfinished; another was cut before the next was begun.
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
        case .covered(let part):
            last.partCount += 1
            if ignoresLaterCheckpoints, segmentCount > 1 { break }
            noteNewest(part.logID)
            for range in part.ranges { logs[part.logID, default: .init()].insert(covered: range) }
            logs[part.logID, default: .init()].announce(below: part.announcedEnd)
        case .lost(let part):
            last.lostPartCount += 1
            if ignoresLaterCheckpoints, segmentCount > 1 { break }
            for range in part.ranges { logs[part.logID, default: .init()].insert(lost: range) }
        case .checkpointEnd(let end):
            last.hasCheckpoint = end.partCount == last.partCount && end.lostPartCount == last.lostPartCount
            cursor = end.cursor
            if last.hasCheckpoint { unconfirmed = [:] }
        case .closed(let logIDs):
            last.partCount += 1
            for logID in logIDs {
                logs[logID] = nil
                unconfirmed[logID] = nil
            }
            closedLogIDs.formUnion(logIDs)
        case .fix(let record):
            latestUnixMilliseconds = max(latestUnixMilliseconds, record.receivedUnixMilliseconds)
            noteNewest(record.logID)
            noteUnconfirmed(SequenceRange(record.fix.sequence), logID: record.logID)
            logs[record.logID, default: .init()].insert(record.fix.sequence)
        case .loss(let loss):
            latestUnixMilliseconds = max(latestUnixMilliseconds, loss.receivedUnixMilliseconds)
            noteNewest(loss.logID)
            noteUnconfirmed(loss.range, logID: loss.logID)
            logs[loss.logID, default: .init()].insert(loss)
        case .progress(let progress):
            unconfirmed[progress.logID] = nil
            apply(progress)
        case .cursor(let position):
            cursor = position
        case .uncovered(let uncovered):
            unconfirmed[uncovered.logID]?.remove(uncovered.range)
            if logs[uncovered.logID]?.remove(uncovered.range) == true { break }
            logs[uncovered.logID, default: .init()].announce(below: uncovered.range.last + 1)
        case .repaired(let segment, let extent):
            repaired[segment] = extent
        case .later:
            break
        }
    }

    private mutating func noteNewest(_ logID: UInt32) {
        newestLogID = logID
        if places[logID] == nil { places[logID] = places.count }
    }

    private mutating func noteUnconfirmed(_ range: SequenceRange, logID: UInt32) {
        for new in logs[logID, default: .init()].missingRanges(in: range) {
            unconfirmed[logID, default: .init()].insert(new)
        }
    }

    /// What ends the commits that were cut short. Their records are about to be announced: without this nobody would miss
    /// them where they are damaged later.
    var missingProgress: [Progress] {
        unconfirmed.keys.sorted().map { logID in
            let covered = logs[logID] ?? CoveredSequences()
            return Progress(
                logID: logID, announcedEnd: max(covered.announcedEnd, covered.firstMissing),
                highest: covered.highest ?? 0, coveredCount: covered.count, lostCount: covered.lost.count)
        }
    }

    private mutating func apply(_ progress: Progress) {
        var covered = logs[progress.logID] ?? CoveredSequences()
        logs[progress.logID] = nil
        covered.announce(below: progress.announcedEnd)
        if asksForLossesAgain, let lostCount = progress.lostCount, covered.lost.count > lostCount {
            // A fix that came after its loss is gone again: the collar is asked once more for all that is lost.
            for range in covered.lost.ranges { covered.remove(range) }
        }
        if covered.count < progress.coveredCount {
            // Something that was announced is gone, and the gaps do not tell which of them it is. To ask for one too
            // many costs a few bytes, to ask for one too few a fix.
            covered.announce(below: min(progress.highest, Fix.maximumSequence) + 1)
        }
        logs[progress.logID] = covered
    }
}

extension Record {
    /// Whether it belongs to what every segment begins with.
    var isOfCheckpoint: Bool {
        switch self {
        case .header, .covered, .lost, .closed, .checkpointEnd, .repaired: true
        case .fix, .loss, .progress, .cursor, .uncovered, .later: false
        }
    }
}
