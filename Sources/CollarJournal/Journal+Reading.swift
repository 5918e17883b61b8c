import CollarWire

extension Journal {
    /// Reads entries back, whether they are durable or still wait for a commit.
    /// - Parameters:
    ///   - position: the emission cursor, an ``JournalBatch/end``, or ``JournalPosition/start``. One before the
    ///     oldest segment means that.
    ///   - limit: the most entries, at least one.
    /// - Returns: some entries, or none where there are no more.
    ///
    /// Complexity: memory for one chunk of 64 KiB and the entries in it.
    public func entries(from position: JournalPosition, limit: Int) throws(JournalError) -> JournalBatch {
        precondition(limit > 0, "a batch has room for an entry")
        var batch = JournalBatch(end: position)
        while batch.elements.isEmpty {
            let segment = segmentToRead(for: &batch.end)
            let start = Int(batch.end.offset)
            if segment == writer.number, start >= writer.writtenByteCount {
                guard batch.end < end else {
                    batch.isAtEnd = true
                    return batch
                }
                let skipped = start - writer.writtenByteCount
                parse(writer.pending.bytes, from: skipped, isWhole: true, limit: limit, into: &batch)
            } else if try !readChunk(of: segment, from: start) {
                // The segment ends here.
                batch.end = JournalPosition(segment: segment + 1, offset: 0)
            } else {
                let isWhole = readBuffer.count < JournalRecovery.chunkByteCount
                parse(readBuffer, from: 0, isWhole: isWhole, limit: limit, into: &batch)
            }
        }
        batch.isAtEnd = batch.end >= end
        return batch
    }

    /// The segment at a position, or the next one that exists; the position is moved to it.
    private func segmentToRead(for position: inout JournalPosition) -> UInt32 {
        let wanted = position.segment
        guard let segment = segments.first(where: { $0 >= wanted }) else {
            position = end
            return writer.number
        }
        if segment > wanted { position = JournalPosition(segment: segment, offset: 0) }
        return segment
    }

    /// Fills the buffer from a segment's file; false where it ends before `start`.
    private func readChunk(of segment: UInt32, from start: Int) throws(JournalError) -> Bool {
        let isCurrent = segment == writer.number
        let file = isCurrent ? writer.file : try earlierFile(segment)
        // Behind what was written may lie what a failed write left.
        let room = isCurrent ? writer.writtenByteCount - start : .max
        try JournalError.wrapping { () throws(FileFailure) in
            try fileSystem.read(
                from: file, at: start, count: min(room, JournalRecovery.chunkByteCount), into: &readBuffer)
        }
        return !readBuffer.isEmpty
    }

    private func earlierFile(_ segment: UInt32) throws(JournalError) -> FileReference {
        if let reading, reading.segment == segment { return reading.file }
        if let reading { fileSystem.close(reading.file) }
        reading = nil
        let file = try JournalError.wrapping { () throws(FileFailure) in
            try fileSystem.open(directory.path(ofSegment: segment), .reading)
        }
        reading = (segment, file)
        return file
    }

    /// Adds the entries in `bytes`, which begin at the batch's end less `start`.
    /// - Parameter isWhole: whether no record goes on behind the bytes.
    private func parse(
        _ bytes: [UInt8], from start: Int, isWhole: Bool, limit: Int, into batch: inout JournalBatch
    ) {
        let segment = batch.end.segment
        let base = Int(batch.end.offset) - start
        var parser = RecordParser(check: RecordCheck(deviceID: deviceID, segment: segment))
        var index = start
        var done = start
        while batch.elements.count < limit, let found = parser.next(in: bytes.span, at: &index) {
            done = index
            let end = JournalPosition(segment: segment, offset: UInt32(base + done))
            switch found.record {
            case .fix(let record): batch.elements.append(.init(entry: .fix(record), end: end))
            case .loss(let loss): batch.elements.append(.init(entry: .loss(loss), end: end))
            case .header, .covered, .checkpointEnd, .progress, .cursor, .later: break
            }
        }
        if batch.elements.count < limit {
            if isWhole {
                done = bytes.count
            } else if done == start {
                // Nothing but damage. A record may begin in its last bytes.
                done = bytes.count - StreamEncoder.encodedByteCount(for: Frame.maximumByteCount)
            }
        }
        batch.end.offset = UInt32(base + done)
    }
}
