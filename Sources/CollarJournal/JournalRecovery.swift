import CollarWire

/// What the files say when a journal is opened.
struct JournalRecovery {
    /// What is covered, by log.
    private(set) var logs: [UInt32: CoveredSequences] = [:]
    /// Up to where lines were handed over.
    private(set) var cursor = JournalPosition.start
    /// What was stepped over.
    private(set) var damage: [DamageReport] = []
    /// Receiver that wrote the newest header.
    private(set) var receiverID: UInt32?
    /// What is known of the last segment.
    private(set) var last = Segment()

    /// One segment as far as it has been read.
    struct Segment {
        /// Whether all is there that the checkpoint at its start shall hold.
        var hasCheckpoint = false
        /// Whether it holds anything else.
        var hasRecords = false
        /// Behind its last intact record.
        var end = 0
        /// Bytes in the file.
        var byteCount = 0
        fileprivate var partCount: UInt32 = 0
    }

    /// Bytes read at once.
    static let chunkByteCount = 1 << 16

    /// Reads the last of `segments`, and earlier ones only where its checkpoint is not complete.
    /// - Parameter segments: the numbers of the segments, ascending, at least one.
    init(
        _ segments: [UInt32], in directory: JournalDirectory, deviceID: UInt64, fileSystem: any FileSystem
    ) throws(JournalError) {
        var first = segments.count - 1
        while true {
            var attempt = JournalRecovery()
            var startsAtCheckpoint = false
            for segment in segments[first...] {
                try attempt.replay(segment, in: directory, deviceID: deviceID, fileSystem: fileSystem)
                if segment == segments[first] { startsAtCheckpoint = attempt.last.hasCheckpoint }
            }
            if startsAtCheckpoint || first == 0 {
                self = attempt
                return
            }
            first -= 1
        }
    }

    private init() {}

    private mutating func replay(
        _ segment: UInt32, in directory: JournalDirectory, deviceID: UInt64, fileSystem: any FileSystem
    ) throws(JournalError) {
        last = Segment()
        let path = directory.path(ofSegment: segment)
        var parser = RecordParser(check: RecordCheck(deviceID: deviceID, segment: segment))
        var chunk: [UInt8] = []
        var chunkStart = 0
        let file = try JournalError.wrapping { () throws(FileFailure) in try fileSystem.open(path, .reading) }
        defer { fileSystem.close(file) }
        repeat {
            try JournalError.wrapping { () throws(FileFailure) in
                try fileSystem.read(
                    from: file, at: chunkStart, count: JournalRecovery.chunkByteCount, into: &chunk)
            }
            var index = 0
            while let found = parser.next(in: chunk.span, at: &index) {
                let end = chunkStart + index
                noteDamage(in: segment, before: end - found.encodedByteCount)
                last.end = end
                try apply(found.record, path: path, deviceID: deviceID, segment: segment)
            }
            chunkStart += chunk.count
        } while chunk.count == JournalRecovery.chunkByteCount
        last.byteCount = chunkStart
    }

    private mutating func noteDamage(in segment: UInt32, before start: Int) {
        guard start > last.end else { return }
        damage.append(DamageReport(segment: segment, offset: last.end, byteCount: start - last.end))
    }

    private mutating func apply(
        _ record: Record, path: String, deviceID: UInt64, segment: UInt32
    ) throws(JournalError) {
        switch record {
        case .header(let header):
            guard header.format <= SegmentHeader.currentFormat else {
                throw .laterFormat(version: header.format, path: path)
            }
            guard header.deviceID == deviceID, header.segment == segment else { throw .foreignSegment(path: path) }
            receiverID = header.receiverID
        case .covered(let part):
            last.partCount += 1
            for range in part.ranges { logs[part.logID, default: .init()].insert(range) }
            logs[part.logID, default: .init()].announce(below: part.announcedEnd)
        case .checkpointEnd(let end):
            last.hasCheckpoint = end.partCount == last.partCount
            cursor = end.cursor
        case .fix(let record):
            last.hasRecords = true
            logs[record.logID, default: .init()].insert(record.fix.sequence)
        case .loss(let loss):
            last.hasRecords = true
            logs[loss.logID, default: .init()].insert(loss.range)
        case .progress(let progress):
            last.hasRecords = true
            apply(progress)
        case .cursor(let position):
            last.hasRecords = true
            cursor = position
        case .later:
            last.hasRecords = true
        }
    }

    private mutating func apply(_ progress: Progress) {
        var covered = logs[progress.logID] ?? CoveredSequences()
        logs[progress.logID] = nil
        covered.announce(below: progress.announcedEnd)
        if covered.count < progress.coveredCount {
            // Something that was announced is gone, and the gaps do not tell which of them it is. To ask for one too
            // many costs a few bytes, to ask for one too few a fix.
            covered.announce(below: min(progress.highest, Fix.maximumSequence) + 1)
        }
        logs[progress.logID] = covered
    }
}
