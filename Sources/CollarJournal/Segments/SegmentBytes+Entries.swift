import CollarWire

extension SegmentBytes {
    /// Reads entries back.
    /// - Parameter chunk: a buffer that is kept between calls.
    func entries(
        from position: JournalPosition, limit: Int, chunk: inout [UInt8]
    ) throws(JournalError) -> JournalBatch {
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
            case .fix(let record): batch.elements.append(.init(entry: .fix(record), end: batch.end))
            case .message(let record): batch.elements.append(.init(entry: .message(record), end: batch.end))
            case .loss(let loss): batch.elements.append(.init(entry: .loss(loss), end: batch.end))
            case .uncovered(let range): batch.elements.append(.init(entry: .uncovered(range), end: batch.end))
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
