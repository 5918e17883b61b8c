import CollarWire

/// The bytes of a journal's segments, for a ``Journal`` or a ``JournalReader``. All code that reads a journal back is in
/// extensions of this protocol.
protocol SegmentBytes: AnyObject {
    var deviceID: DeviceID { get }

    /// The numbers of the segments that exist, ascending.
    var segments: [UInt32] { get }

    func endPosition() throws(JournalError) -> JournalPosition

    var directory: JournalDirectory { get }

    /// Replaces the content of `chunk` with ``chunkByteCount`` bytes of the segment from `offset` on, or fewer if no record
    /// continues after them; with none at the end of the segment.
    func read(_ segment: UInt32, at offset: Int, into chunk: inout [UInt8]) throws(JournalError)

    /// Whether another process may be about to complete the record at the end of the segment. Looks for newer segments if
    /// this is the last one known.
    func mayGrow(_ segment: UInt32) throws(JournalError) -> Bool
}

/// The number of bytes read at a time.
let chunkByteCount = 1 << 16

extension SegmentBytes {
    /// The first segment numbered `wanted` or higher; nil if there is none.
    ///
    /// Complexity: a binary search.
    func segment(atOrBehind wanted: UInt32) -> UInt32? {
        let index = indexOfSegment(atOrBehind: wanted)
        return index < segments.count ? segments[index] : nil
    }

    /// The index of the first segment numbered `wanted` or higher; the number of segments if there is none.
    func indexOfSegment(atOrBehind wanted: UInt32) -> Int {
        var low = 0
        var high = segments.count
        while low < high {
            let middle = (low + high) / 2
            if segments[middle] >= wanted { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// Refuses a segment that belongs to another collar, has another number, or has a later format.
    func validate(_ header: SegmentHeader, of segment: UInt32) throws(JournalError) {
        guard header.format <= SegmentHeader.currentFormat else {
            throw .laterFormat(version: header.format, path: directory.path(ofSegment: segment))
        }
        guard header.deviceID == deviceID, header.segment == segment else {
            throw .foreignSegment(path: directory.path(ofSegment: segment))
        }
    }
}

extension SegmentBytes {
    /// Reads entries back.
    /// - Parameter chunk: a buffer that is kept between calls.
    func entries(from position: JournalPosition, limit: Int, chunk: inout [UInt8]) throws(JournalError) -> JournalBatch {
        precondition(limit > 0, "a batch has room for an entry")
        var batch = JournalBatch(end: position)
        repeat {
            guard let segment = moveToSegment(&batch) else {
                batch.end = try endPosition()
                break
            }
            let isLast = segment == segments.last
            try read(segment, at: Int(batch.end.offset), into: &chunk)
            let isWhole = chunk.count < chunkByteCount
            let mayGrow = isLast && isWhole ? try self.mayGrow(segment) : false
            // If the segment was removed meanwhile, the next one is read. If newer segments exist now, this one may have received
            // its last records after it was read, so it is read again.
            if self.segment(atOrBehind: segment) != segment || isLast && segment != segments.last { continue }
            if chunk.isEmpty, !isLast {
                batch.end = JournalPosition(segment: segment + 1, offset: 0)
                continue
            }
            let isUsedUp = try parse(chunk, limit: limit, isWhole: isWhole, mayGrow: mayGrow, into: &batch)
            if mayGrow, isUsedUp {
                batch.isAtEnd = true
                return batch
            }
            // No bytes follow, but `endPosition()` may be higher than the end of the file: a failed synchronisation cuts the
            // bytes in doubt off the file, and leaves `endPosition()` as it is.
            if chunk.isEmpty {
                batch.isAtEnd = true
                return batch
            }
        } while batch.elements.isEmpty
        batch.isAtEnd = try batch.end >= endPosition()
        return batch
    }

    /// The segment at the batch's end. If it is missing, the end moves to the next segment; nil if there is no next segment.
    private func moveToSegment(_ batch: inout JournalBatch) -> UInt32? {
        let wanted = batch.end.segment
        guard let segment = segment(atOrBehind: wanted) else { return nil }
        if segment > wanted {
            batch.end = JournalPosition(segment: segment, offset: 0)
            // Segments before the oldest were removed on purpose.
            if let first = segments.first, wanted > first {
                batch.note(DamageReport(segment: wanted, offset: 0, byteCount: 0))
            }
        }
        return segment
    }

    /// Adds the entries of a chunk, which begins at the batch's end, and moves that end past the records and damage read.
    /// - Parameters:
    ///   - isWhole: whether no record extends beyond the end of the chunk.
    ///   - mayGrow: whether the last record may be completed later.
    /// - Returns: false if the limit was reached; the chunk may hold more entries.
    private func parse(
        _ chunk: [UInt8], limit: Int, isWhole: Bool, mayGrow: Bool, into batch: inout JournalBatch
    ) throws(JournalError) -> Bool {
        let segment = batch.end.segment
        let base = Int(batch.end.offset)
        var parser = RecordParser(crc: RecordCRC(deviceID: deviceID, segment: segment))
        var index = 0
        while batch.elements.count < limit {
            guard let found = parser.next(in: chunk.span, at: &index) else {
                if mayGrow { return true }
                if isWhole {
                    batch.stepOverDamage(to: base + chunk.count)
                } else if Int(batch.end.offset) == base {
                    // The chunk holds only damage. A record may begin in its last bytes.
                    batch.stepOverDamage(to: base + chunk.count - RecordBuffer.largestRecord)
                }
                return true
            }
            batch.stepOverDamage(to: base + index - found.encodedByteCount)
            batch.end.offset = UInt32(base + index)
            switch found.record {
            case .entry(let entry): batch.elements.append(.init(entry: entry, end: batch.end))
            case .header(let header): try validate(header, of: segment)
            case .covered, .lost, .checkpointEnd, .progress, .cursor, .repaired, .sealed, .address, .memory, .later: break
            }
        }
        return false
    }
}

extension JournalBatch {
    /// Moves the end to `offset`, and reports the bytes in between as damage if there are any.
    fileprivate mutating func stepOverDamage(to offset: Int) {
        let start = Int(end.offset)
        guard offset > start else { return }
        note(DamageReport(segment: end.segment, offset: start, byteCount: offset - start))
        end.offset = UInt32(offset)
    }

    /// Adds a report, or extends the last one if the new one follows it directly.
    fileprivate mutating func note(_ report: DamageReport) {
        if let last = damage.last, last.segment == report.segment, last.byteCount > 0,
            last.offset + last.byteCount == report.offset
        {
            damage[damage.count - 1] = DamageReport(
                segment: last.segment, offset: last.offset, byteCount: last.byteCount + report.byteCount)
        } else {
            damage.append(report)
        }
    }
}

extension SegmentBytes {
    /// The state of the journal at a position; nil if it has no segments.
    func recovery(at position: JournalPosition) throws(JournalError) -> JournalRecovery? {
        guard let last = segments.last else { return nil }
        let limit = min(position, JournalPosition(segment: last, offset: .max))
        let segment = segment(atOrBehind: limit.segment) ?? last
        return try JournalRecovery(self, upTo: segment == limit.segment ? limit : JournalPosition(segment: segment, offset: 0))
    }

    /// The start of the last segment that began before `unixMilliseconds`; the start of the oldest segment if none did.
    func position(beginningBefore unixMilliseconds: Int64) throws(JournalError) -> JournalPosition {
        guard let oldest = segments.first else { return .start }
        var low = 0
        var high = segments.count
        while low < high {
            let middle = (low + high) / 2
            if try creationTime(atOrBehind: middle) < unixMilliseconds { low = middle + 1 } else { high = middle }
        }
        return JournalPosition(segment: low == 0 ? oldest : segments[low - 1], offset: 0)
    }

    /// When a segment began; if its header is damaged, when the next segment with an intact header began. So a search by time
    /// may lead to an earlier segment than necessary, but never to a later one.
    func creationTime(atOrBehind index: Int) throws(JournalError) -> Int64 {
        for segment in segments[index...] {
            var parser = RecordParser(crc: RecordCRC(deviceID: deviceID, segment: segment))
            var chunk: [UInt8] = []
            var start = 0
            try read(segment, at: 0, into: &chunk)
            while let found = parser.next(in: chunk.span, at: &start) {
                guard case .header(let header) = found.record else { break }
                try validate(header, of: segment)
                return header.createdUnixMilliseconds
            }
        }
        return .max
    }

    /// The fix or message of a sequence, and the position after it; nil if there is none.
    func record(of sequence: UInt32, logID: LogID) throws(JournalError) -> (entry: JournalEntry, end: JournalPosition)? {
        // The binary search leaves out the checkpoint of the oldest segment: that checkpoint also covers fixes whose records were
        // in removed segments.
        guard var low = segments.indices.first else { return nil }
        // If the set of stored sequences only grows, the record is in the last segment at whose start the fix was not stored.
        var high = segments.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if try isStored(sequence, logID: logID, atStartOf: middle) { high = middle } else { low = middle }
        }
        if let found = try record(of: sequence, logID: logID, in: segments[low]) { return found }
        return try record(ofRestored: sequence, logID: logID, after: low)
    }

    /// Finds a fix or message that was lost to damage and stored again later. The segment that holds it is the last one, or
    /// one in which the fix became stored, or one in which a repair of damage was recorded. This case is so rare that every
    /// checkpoint may be read.
    private func record(
        ofRestored sequence: UInt32, logID: LogID, after low: Int
    ) throws(JournalError) -> (entry: JournalEntry, end: JournalPosition)? {
        var atStart = try start(of: low)
        for index in segments.indices.dropFirst(low) {
            let isLast = index == segments.count - 1
            let atEnd = isLast ? atStart : try start(of: index + 1)
            let isCandidate =
                isLast || atStart.kept.repaired != atEnd.kept.repaired
                || atStart.logs[logID]?.isStored(sequence) != true && atEnd.logs[logID]?.isStored(sequence) == true
            if isCandidate, index > low, let found = try record(of: sequence, logID: logID, in: segments[index]) {
                return found
            }
            atStart = atEnd
        }
        return nil
    }

    private func start(of index: Int) throws(JournalError) -> JournalRecovery {
        try JournalRecovery(self, upTo: JournalPosition(segment: segments[index], offset: 0))
    }

    private func isStored(_ sequence: UInt32, logID: LogID, atStartOf index: Int) throws(JournalError) -> Bool {
        try start(of: index).logs[logID]?.isStored(sequence) ?? false
    }

    private func record(
        of sequence: UInt32, logID: LogID, in segment: UInt32
    ) throws(JournalError) -> (entry: JournalEntry, end: JournalPosition)? {
        var parser = RecordParser(crc: RecordCRC(deviceID: deviceID, segment: segment))
        var chunk: [UInt8] = []
        var base = 0
        repeat {
            try read(segment, at: base, into: &chunk)
            var index = 0
            while let found = parser.next(in: chunk.span, at: &index) {
                guard case .entry(let entry) = found.record, let place = entry.place, place == (logID, sequence) else { continue }
                return (entry, JournalPosition(segment: segment, offset: UInt32(base + index)))
            }
            base += chunk.count
        } while !chunk.isEmpty
        return nil
    }
}
