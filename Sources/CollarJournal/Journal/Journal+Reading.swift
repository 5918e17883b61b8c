import CollarWire

extension Journal {
    /// Reads entries back, whether they are durable or still wait for a commit.
    /// - Parameters:
    ///   - position: the emission cursor, the ``JournalBatch/end`` of a batch, or ``JournalPosition/start``. A position before
    ///     the oldest segment means the start of that segment.
    ///   - limit: the most entries, at least one.
    /// - Returns: some entries, or none if there are no more; and the damage that was skipped.
    ///
    /// Complexity: memory for one chunk of 64 KiB and the entries in it.
    package func entries(from position: JournalPosition, limit: Int) throws(JournalError) -> JournalBatch {
        // The buffer is taken out of the journal, because reading accesses the journal itself.
        var chunk: [UInt8] = []
        swap(&chunk, &readBuffer)
        defer { swap(&chunk, &readBuffer) }
        return try entries(from: position, limit: limit, chunk: &chunk)
    }

    /// The coverage of each log at a position: the sequences, durable or not, that the records before the position cover. The
    /// sequences of removed segments count as covered at the start of the oldest remaining segment.
    ///
    /// Complexity: reads one segment up to the position, and those before it only if the checkpoint at its start is damaged;
    /// memory for one chunk of 64 KiB and the ranges.
    package func coverage(at position: JournalPosition) throws(JournalError) -> [LogID: CoveredSequences] {
        if position >= end { return Dictionary(uniqueKeysWithValues: ledger.logs.map { ($0.id, $0.known) }) }
        return try recovery(at: position)?.logs ?? [:]
    }

    /// A position at or before the first entry that was received at `unixMilliseconds` or later (milliseconds since 1970 by the
    /// host's clock). The position is the start of a segment. It is earlier than necessary if the clock was set back.
    ///
    /// Complexity: a binary search over the segments, one chunk of 64 KiB each.
    package func position(receivedSince unixMilliseconds: Int64) throws(JournalError) -> JournalPosition {
        try position(beginningBefore: unixMilliseconds)
    }

    /// The position right after the record of a fix; nil if no record of it can be found.
    ///
    /// Complexity: a binary search over the checkpoints at the starts of the segments, then one segment is read. If the fix
    /// is not in that segment, as can happen after damage, every checkpoint is read.
    package func position(behind sequence: UInt32, logID: LogID) throws(JournalError) -> JournalPosition? {
        guard contains(sequence, logID: logID) else { return nil }
        return try record(of: sequence, logID: logID)?.end
    }

    /// A fix as it was stored; nil if its record cannot be found, or if a message has its sequence.
    ///
    /// Complexity: as for ``position(behind:logID:)``.
    package func storedFix(_ sequence: UInt32, logID: LogID) throws(JournalError) -> Fix? {
        if case .fix(let record) = try record(of: sequence, logID: logID)?.entry { record.fix } else { nil }
    }
}

extension Journal: SegmentBytes {
    func endPosition() -> JournalPosition { end }

    func mayGrow(_ segment: UInt32) -> Bool { false }

    func read(_ segment: UInt32, at offset: Int, into chunk: inout [UInt8]) throws(JournalError) {
        let isCurrent = segment == writer.number
        if isCurrent, offset >= writer.writtenByteCount {
            let start = min(offset - writer.writtenByteCount, writer.pending.bytes.count)
            chunk.removeAll(keepingCapacity: true)
            chunk += writer.pending.bytes[start...].prefix(chunkByteCount)
            return
        }
        if isCurrent {
            // After the written bytes the file may hold the remains of a failed write.
            let room = min(writer.writtenByteCount - offset, chunkByteCount)
            try JournalError.wrapping(try fileSystem.read(from: writer.file, at: offset, count: room, into: &chunk))
            return
        }
        do throws(JournalError) {
            try earlier.read(segment, at: offset, into: &chunk)
        } catch {
            guard case .file(let failure) = error, failure.isAbsence else { throw error }
            // Another program removed the segment, and perhaps others.
            let found = try JournalError.wrapping(try directory.segments(fileSystem))
            segments = found.filter { $0 < writer.number && $0 != segment } + [writer.number]
            chunk.removeAll(keepingCapacity: true)
        }
    }
}

extension Journal {
    /// Whether the journal has reached its size limit. Appending to it then fails until old segments are removed.
    package var isAtByteLimit: Bool { place.byteLimit.map { earlierByteCount + Int(end.offset) >= $0 } ?? false }

    /// Checks the size limit.
    /// - Throws: ``JournalError/sizeLimitReached(_:path:)`` if ``isAtByteLimit``.
    package func checkSize() throws(JournalError) {
        if let byteLimit = place.byteLimit, isAtByteLimit { throw .sizeLimitReached(byteLimit, path: directory.path) }
    }

    /// Counts the bytes of the segments before the one that grows, if there is a limit.
    func countEarlierBytes() {
        guard place.byteLimit != nil else { return }
        // A collar is served even if a segment cannot be opened now: the size limit then ignores all earlier segments.
        do throws(JournalError) { earlierByteCount = try byteCount(from: .start) - Int(end.offset) } catch {
            earlierByteCount = 0
        }
    }

    /// The number of bytes of records from a position on, including those that wait for a commit. From ``JournalPosition/start``
    /// on it is the size of the whole journal.
    ///
    /// Complexity: three system calls for each earlier segment from `position` on.
    /// - Throws: ``JournalError/file(_:)`` if a segment cannot be opened.
    package func byteCount(from position: JournalPosition) throws(JournalError) -> Int {
        var count = 0
        for segment in segments where segment >= position.segment {
            var size = Int(end.offset)
            if segment != writer.number { size = try earlier.byteCount(of: segment) }
            count += segment == position.segment ? max(0, size - Int(position.offset)) : size
        }
        return count
    }
}
