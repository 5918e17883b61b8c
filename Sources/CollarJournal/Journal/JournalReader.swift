import CollarWire

/// Reads the journal of a collar without a lock and without writing, also while another process appends to it.
///
/// A reader belongs to one thread.
package final class JournalReader {
    package let directory: JournalDirectory
    package let deviceID: DeviceID

    /// The segment numbers that the last search found, ascending.
    private(set) var segments: [UInt32]
    private var files: SegmentFiles
    private let fileSystem: any FileSystem
    private var chunk: [UInt8] = []

    package convenience init(stateDirectory: String, deviceID: DeviceID, fileSystem: (any FileSystem)? = nil) throws(JournalError) {
        try self.init(
            JournalDirectory(stateDirectory: stateDirectory, deviceID: deviceID), deviceID: deviceID,
            fileSystem ?? POSIXFileSystem(stateDirectory: stateDirectory))
    }

    init(_ directory: JournalDirectory, deviceID: DeviceID, _ fileSystem: any FileSystem) throws(JournalError) {
        segments = try JournalError.wrapping(try directory.segments(fileSystem))
        self.directory = directory
        self.deviceID = deviceID
        self.fileSystem = fileSystem
        files = SegmentFiles(directory, fileSystem)
    }

    /// Reads entries back, as ``Journal/entries(from:limit:)`` does. An incomplete record at the end is left for a later call.
    package func entries(from position: JournalPosition, limit: Int) throws(JournalError) -> JournalBatch {
        // The buffer is taken out of the reader, because reading accesses the reader itself.
        var chunk: [UInt8] = []
        swap(&chunk, &self.chunk)
        defer { swap(&chunk, &self.chunk) }
        // A collar's directory is made a moment before its first segment: there may have been none at the last search, or the position
        // is the start of one that did not exist yet.
        if segment(atOrBehind: position.segment) == nil { try lookForSegments() }
        return try entries(from: position, limit: limit, chunk: &chunk)
    }

    package func position(receivedSince unixMilliseconds: Int64) throws(JournalError) -> JournalPosition {
        try position(beginningBefore: unixMilliseconds)
    }

    package func position(behind sequence: UInt32, logID: LogID) throws(JournalError) -> JournalPosition? {
        try record(of: sequence, logID: logID)?.end
    }

    /// The fewest segments that ``summary(examining:)`` reads, where there are as many.
    private static let examinedSegmentCount = 2

    /// - Parameter examine: is called with every fix of the newest segments, in no particular order.
    ///
    /// Complexity: reads the newest two segments, and further ones only while an older one can have a higher sequence: when a whole
    /// segment is filled with a backlog.
    package func summary(examining examine: (JournaledFix) -> Void) throws(JournalError) -> JournalSummary {
        var summary = JournalSummary()
        let end = try end()
        summary.byteCount = try extent().byteCount
        let current = try newestLogID(at: end)
        for (logID, covered) in try coverage(at: end) {
            summary.storedCount += covered.storedCount
            summary.lostCount += covered.lost.count
            if logID == current, let highest = covered.highest { summary.missingCount = UInt64(highest) + 1 - covered.count }
        }
        var ofOtherLogs: JournaledFix?
        for (index, segment) in segments.reversed().enumerated() {
            var last: JournaledFix?
            try forEachEntry(from: JournalPosition(segment: segment, offset: 0), through: segment) { element in
                guard case .fix(let record) = element.entry else { return true }
                examine(record)
                if record.logID != current {
                    last = record
                } else if record.fix.sequence >= summary.newest?.fix.sequence ?? 0 {
                    summary.newest = record
                }
                return true
            }
            ofOtherLogs = ofOtherLogs ?? last
            guard index + 1 >= JournalReader.examinedSegmentCount, let start = try JournalRecovery(checkpointOf: segment, self)
            else { continue }
            let highestBefore = current.flatMap { start.logs[$0]?.stored.ranges.last?.last }
            if let newest = summary.newest {
                if highestBefore ?? 0 <= newest.fix.sequence { break }
            } else if highestBefore == nil, ofOtherLogs != nil {
                break
            }
        }
        summary.newest = summary.newest ?? ofOtherLogs
        return summary
    }

    /// The receiver that writes the journal; nil while the journal is being made.
    package func receiverID() throws(JournalError) -> UInt32? {
        try lookForSegments()
        guard let newest = segments.last else { return nil }
        return try JournalRecovery(checkpointOf: newest, self)?.header?.receiverID
    }

    // MARK: Storing a position and continuing there

    /// The position after all records that are there now, durable or not.
    package func end() throws(JournalError) -> JournalPosition {
        try lookForSegments()
        return try endPosition()
    }

    /// The position of the first entry that was received at `unixMilliseconds` or later (milliseconds since 1970 by the host's clock);
    /// the end if there is none.
    ///
    /// Complexity: as for ``position(receivedSince:)``, then one segment or more are read up to the entry.
    package func firstPosition(receivedSince unixMilliseconds: Int64) throws(JournalError) -> JournalPosition {
        var place = try position(receivedSince: unixMilliseconds)
        while true {
            let batch = try entries(from: place, limit: 512)
            for element in batch.elements {
                if let received = element.entry.receivedUnixMilliseconds, received >= unixMilliseconds { return place }
                place = element.end
            }
            place = batch.end
            if batch.isAtEnd { return place }
        }
    }

    package func coverage(at position: JournalPosition) throws(JournalError) -> [LogID: CoveredSequences] {
        try recovery(at: position)?.logs ?? [:]
    }

    /// The log of the newest record before a position; nil if there is none.
    ///
    /// Complexity: as for ``coverage(at:)``.
    package func newestLogID(at position: JournalPosition) throws(JournalError) -> LogID? {
        try recovery(at: position)?.logsInOrder.last?.0
    }

    /// A position, with what identifies the records before it, for ``position(goingOnAt:)``.
    /// - Parameter former: an identified position. If it is in the same segment, the start of that segment is not read again.
    package func identified(_ place: JournalPosition, after former: ReaderPosition? = nil) throws(JournalError) -> ReaderPosition {
        if let former, former.place == place { return former }
        do throws(JournalError) {
            if segment(atOrBehind: place.segment) == place.segment {
                var beginning = former.map { $0.place.segment == place.segment ? $0.segmentUnixMilliseconds : 0 } ?? 0
                if beginning == 0 { beginning = try self.beginning(of: place.segment) }
                return ReaderPosition(
                    place: place, segmentUnixMilliseconds: beginning, fingerprint: try fingerprint(before: place))
            }
        } catch {
            guard try isRemoved(place.segment, after: error) else { throw error }
        }
        return ReaderPosition(place: place, segmentUnixMilliseconds: 0, fingerprint: 0)
    }

    /// Whether a failure to read a segment means that it was removed for its age: segments are removed from the oldest on.
    private func isRemoved(_ segment: UInt32, after error: JournalError) throws(JournalError) -> Bool {
        guard case .file(let failure) = error, failure.isAbsence else { return false }
        try lookForSegments()
        return segments.first.map { segment < $0 } ?? false
    }

    /// The position at which reading goes on so that nothing is left out: the place itself if the same records are before it, else
    /// the start of its segment or of the journal. Entries are then read again.
    package func position(goingOnAt former: ReaderPosition) throws(JournalError) -> JournalPosition {
        let place = former.place
        guard place > .start, let oldest = segments.first, let newest = segments.last else { return .start }
        // Segments are removed from the oldest on, and what was before the position counts as taken.
        if place.segment < oldest { return place }
        // The next segment begins a moment after the last one is full.
        if place.segment == newest + 1, place.offset == 0 { return place }
        guard place.segment <= newest else { return .start }
        guard segment(atOrBehind: place.segment) == place.segment else { return place }
        guard place.offset > 0 else { return place }
        guard try beginning(of: place.segment) == former.segmentUnixMilliseconds else { return .start }
        return try fingerprint(before: place) == former.fingerprint ? place : JournalPosition(segment: place.segment, offset: 0)
    }

    /// Whether the records before a position that was reached are still those that were read. They are not if they were cut off, or
    /// if the journal was replaced by another one.
    package func hasSameRecords(before reached: ReaderPosition) throws(JournalError) -> Bool {
        let segment = reached.place.segment
        if reached.place.offset == 0 {
            try files.closeReplaced()
            // The next segment begins a moment after the last one is full.
            return reached.place == .start || segment <= (segments.last ?? 0) + 1
        }
        if try files.isNamed(segment) {
            let former = reached.segmentUnixMilliseconds
            if former > 0 {
                // A segment that was made again after a crash may have the same bytes before the position.
                guard try beginning(of: segment) == former else { return false }
            }
            return try fingerprint(before: reached.place) == reached.fingerprint
        }
        // Segments are removed from the oldest on.
        try lookForSegments()
        return segments.first.map { segment < $0 } ?? false
    }

    /// Makes the records from one position to another durable, whoever wrote them.
    ///
    /// Complexity: one `fdatasync` for each segment between the positions.
    package func makeDurable(from start: JournalPosition, to end: JournalPosition) throws(JournalError) {
        for segment in segments where segment >= start.segment && segment <= end.segment {
            do throws(JournalError) { try files.synchronize(segment) } catch {
                guard try isRemoved(segment, after: error) else { throw error }
            }
        }
    }

    /// When a segment began, in milliseconds since 1970; 0 if its header is damaged.
    private func beginning(of segment: UInt32) throws(JournalError) -> Int64 {
        let chunk = try bytes(of: segment, at: 0, count: RecordBuffer.largestRecord)
        var parser = RecordParser(crc: RecordCRC(deviceID: deviceID, segment: segment))
        var start = 0
        guard let found = parser.next(in: chunk.span, at: &start), case .header(let header) = found.record else { return 0 }
        try validate(header, of: segment)
        return header.createdUnixMilliseconds
    }

    /// A hash (FNV-1a) of up to 256 bytes before a position; 0 if there are fewer in the file than in front of the position.
    ///
    /// A commit ends with the progress of its logs and the cursor, which may be the same after other fixes. With 256 bytes, a
    /// fix with the time of its reception is among them.
    private func fingerprint(before place: JournalPosition) throws(JournalError) -> UInt64 {
        let count = min(Int(place.offset), 256)
        let bytes = try bytes(of: place.segment, at: Int(place.offset) - count, count: count)
        guard bytes.count == count else { return 0 }
        return bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0100_0000_01B3 }
    }

    /// The sizes of the segments that the last search found.
    ///
    /// Complexity: opens the file of every segment.
    package func extent() throws(JournalError) -> JournalExtent {
        JournalExtent(
            segments: try segments.map { (segment) throws(JournalError) in (segment, try files.byteCount(of: segment)) })
    }
}

extension JournalReader: SegmentBytes {
    func endPosition() throws(JournalError) -> JournalPosition {
        guard let last = segments.last else { return .start }
        return JournalPosition(segment: last, offset: UInt32(try files.byteCount(of: last)))
    }

    func mayGrow(_ segment: UInt32) throws(JournalError) -> Bool {
        // While a segment exists, the next one has the next number: one name tells more cheaply than the list of all.
        if segment == segments.last, segment < .max, try files.exists(segment + 1) { try lookForSegments() }
        return segment == segments.last
    }

    func read(_ segment: UInt32, at offset: Int, into chunk: inout [UInt8]) throws(JournalError) {
        do throws(JournalError) {
            try files.read(segment, at: offset, into: &chunk)
        } catch {
            guard case .file(let failure) = error, failure.isAbsence else { throw error }
            // The oldest segments may be removed at any time.
            try lookForSegments()
            guard self.segment(atOrBehind: segment) != segment else { throw error }
            chunk.removeAll(keepingCapacity: true)
        }
    }

    /// Some bytes of a segment; fewer if the file ends earlier.
    func bytes(of segment: UInt32, at offset: Int, count: Int) throws(JournalError) -> [UInt8] {
        var bytes: [UInt8] = []
        try files.read(segment, at: offset, count: count, into: &bytes)
        return bytes
    }

    /// How far the sealed frames of the collar have come; nil if there were none.
    ///
    /// Complexity: reads the last segment, and earlier ones only if its checkpoint is not complete.
    package func sealedProgress() throws(JournalError) -> SealedProgress? {
        guard let last = segments.last else { return nil }
        let end = JournalPosition(segment: last, offset: .max)
        return try JournalRecovery(self, upTo: end, asksForLossesAgain: true).kept.sealed
    }

    func lookForSegments() throws(JournalError) { segments = try JournalError.wrapping(try directory.segments(fileSystem)) }
}

package struct JournalSummary: Equatable, Sendable {
    /// The collar's newest fix: the one with the highest sequence of the current log, which is the log of the newest record. If
    /// that log has none yet, the fix that was stored last. Nil if no fix is left.
    package var newest: JournaledFix?
    /// Fixes and messages that are stored or were stored and removed as old ones, of all logs.
    package var storedCount: UInt64 = 0
    /// Sequences of the current log that are below its highest one and neither stored nor given up.
    package var missingCount: UInt64 = 0
    /// Fixes of all logs that are no longer expected.
    package var lostCount: UInt64 = 0
    package var byteCount = 0

    package init() {}
}

/// A journal from which entries are taken: the ``Journal`` that is written, or a ``JournalReader``.
package protocol JournalSource: AnyObject {
    var deviceID: DeviceID { get }

    /// The damage that was reported before; reading meets it again.
    var damage: [DamageReport] { get }

    /// The oldest segment that is known to exist; nil if there is none.
    var oldestSegment: UInt32? { get }

    /// Reads entries, see ``Journal/entries(from:limit:)``.
    func entries(from position: JournalPosition, limit: Int) throws(JournalError) -> JournalBatch

    /// The coverage of each log at a position, see ``Journal/coverage(at:)``.
    func coverage(at position: JournalPosition) throws(JournalError) -> [LogID: CoveredSequences]

    /// A position at or before the first entry received since a time, see ``Journal/position(receivedSince:)``.
    func position(receivedSince unixMilliseconds: Int64) throws(JournalError) -> JournalPosition

    /// The position after the record of a fix, see ``Journal/position(behind:logID:)``.
    func position(behind sequence: UInt32, logID: LogID) throws(JournalError) -> JournalPosition?
}

extension JournalSource {
    /// Calls `body` with each entry from a position on, up to the end of a segment, until it returns false.
    package func forEachEntry(
        from start: JournalPosition, through segment: UInt32 = .max, _ body: (JournalBatch.Element) -> Bool
    ) throws(JournalError) {
        var place = start
        while place.segment <= segment {
            let batch = try entries(from: place, limit: 512)
            // A batch has entries of one segment, but its end may be in the next one.
            for element in batch.elements where element.end.segment > segment || !body(element) { return }
            if batch.isAtEnd { return }
            place = batch.end
        }
    }
}

extension Journal: JournalSource {
    package var oldestSegment: UInt32? { segments.first }
}

extension JournalReader: JournalSource {
    /// None: a reader has not opened the journal.
    package var damage: [DamageReport] { [] }
    package var oldestSegment: UInt32? { segments.first }
}

/// The sizes of a journal's segments at one time.
package struct JournalExtent: Sendable {
    fileprivate let segments: [(number: UInt32, byteCount: Int)]

    package var byteCount: Int { segments.reduce(0) { $0 + $1.byteCount } }

    /// Bytes before a position.
    ///
    /// Complexity: linear in the number of segments.
    package func byteCount(before position: JournalPosition) -> Int {
        segments.reduce(0) { sum, segment in
            if segment.number < position.segment { return sum + segment.byteCount }
            return segment.number == position.segment ? sum + min(Int(position.offset), segment.byteCount) : sum
        }
    }
}
