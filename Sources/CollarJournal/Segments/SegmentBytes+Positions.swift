import CollarWire

extension SegmentBytes {
    /// The coverage of each log at a position: the sequences that the records before the position cover.
    func coverage(before position: JournalPosition) throws(JournalError) -> [UInt32: CoveredSequences] {
        if let segment = segment(atOrBehind: position.segment) {
            let limit = segment == position.segment ? position : JournalPosition(segment: segment, offset: 0)
            return try JournalRecovery(self, upTo: limit).logs
        }
        guard let last = segments.last else { return [:] }
        return try JournalRecovery(self, upTo: JournalPosition(segment: last, offset: .max)).logs
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
    func record(
        of sequence: UInt32, logID: UInt32
    ) throws(JournalError) -> (entry: JournalEntry, end: JournalPosition)? {
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
        ofRestored sequence: UInt32, logID: UInt32, after low: Int
    ) throws(JournalError) -> (entry: JournalEntry, end: JournalPosition)? {
        var atStart = try start(of: low)
        for index in segments.indices.dropFirst(low) {
            let isLast = index == segments.count - 1
            let atEnd = isLast ? atStart : try start(of: index + 1)
            let isCandidate =
                isLast || atStart.repaired != atEnd.repaired
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

    private func isStored(
        _ sequence: UInt32, logID: UInt32, atStartOf index: Int
    ) throws(JournalError) -> Bool {
        try start(of: index).logs[logID]?.isStored(sequence) ?? false
    }

    private func record(
        of sequence: UInt32, logID: UInt32, in segment: UInt32
    ) throws(JournalError) -> (entry: JournalEntry, end: JournalPosition)? {
        var parser = RecordParser(crc: RecordCRC(deviceID: deviceID, segment: segment))
        var chunk: [UInt8] = []
        var base = 0
        repeat {
            try read(segment, at: base, into: &chunk)
            var index = 0
            while let found = parser.next(in: chunk.span, at: &index) {
                let entry: JournalEntry
                switch found.record {
                case .fix(let record) where record.logID == logID && record.fix.sequence == sequence: entry = .fix(record)
                case .message(let record) where record.logID == logID && record.message.sequence == sequence:
                    entry = .message(record)
                default: continue
                }
                return (entry, JournalPosition(segment: segment, offset: UInt32(base + index)))
            }
            base += chunk.count
        } while !chunk.isEmpty
        return nil
    }
}
