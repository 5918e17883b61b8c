import CollarWire

// What a reader needs to store its position and to go on there.
extension JournalReader {
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

    /// The coverage of each log at a position, see ``Journal/coverage(at:)``.
    package func coverage(at position: JournalPosition) throws(JournalError) -> [UInt32: CoveredSequences] {
        try coverage(before: position)
    }

    /// The log of the newest record before a position; nil if there is none.
    ///
    /// Complexity: as for ``coverage(at:)``.
    package func newestLogID(at position: JournalPosition) throws(JournalError) -> UInt32? {
        guard let last = segments.last else { return nil }
        var limit = min(position, JournalPosition(segment: last, offset: .max))
        if let segment = segment(atOrBehind: limit.segment), segment > limit.segment {
            limit = JournalPosition(segment: segment, offset: 0)
        }
        return try JournalRecovery(self, upTo: limit).logsInOrder.last?.0
    }

    /// A position, with what identifies the records before it, for ``position(goingOnAt:)``.
    /// - Parameters:
    ///   - place: the place.
    ///   - former: an identified position. If it is in the same segment, the start of that segment is not read again.
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
        let isSame = try fingerprint(before: place) == former.fingerprint
        return isSame ? place : JournalPosition(segment: place.segment, offset: 0)
    }

    /// Whether the records before a position that was reached are still those that were read. They are not if they were cut off, or
    /// if the journal was replaced by another one.
    package func hasSameRecords(before reached: ReaderPosition) throws(JournalError) -> Bool {
        let segment = reached.place.segment
        if reached.place.offset == 0 {
            try closeReplacedSegment()
            // The next segment begins a moment after the last one is full.
            return reached.place == .start || segment <= (segments.last ?? 0) + 1
        }
        if try isNamed(segment) {
            let former = reached.segmentUnixMilliseconds
            if former > 0 {
                // A segment that was made anew after a crash may have the same bytes before the position.
                let beginning = try beginning(of: segment)
                if beginning != former { return false }
            }
            let fingerprint = try fingerprint(before: reached.place)
            return fingerprint == reached.fingerprint
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
            do throws(JournalError) { try synchronize(segment) } catch {
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
    /// A commit ends with the progress of its logs and the cursor, which may be the same after other fixes. With so many bytes, a
    /// fix with the time of its reception is among them.
    private func fingerprint(before place: JournalPosition) throws(JournalError) -> UInt64 {
        let count = min(Int(place.offset), 256)
        let bytes = try bytes(of: place.segment, at: Int(place.offset) - count, count: count)
        guard bytes.count == count else { return 0 }
        return bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0100_0000_01B3 }
    }
}
