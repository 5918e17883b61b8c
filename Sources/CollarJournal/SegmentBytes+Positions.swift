import CollarWire

extension SegmentBytes {
    /// What is covered by everything before a position.
    func coverage(before position: JournalPosition) throws(JournalError) -> [UInt32: CoveredSequences] {
        if let segment = segment(atOrBehind: position.segment) {
            let limit = segment == position.segment ? position : JournalPosition(segment: segment, offset: 0)
            return try JournalRecovery(self, upTo: limit).logs
        }
        guard let last = segments.last else { return [:] }
        return try JournalRecovery(self, upTo: JournalPosition(segment: last, offset: .max)).logs
    }

    /// The start of the last segment that began before the time; of the oldest where none did.
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

    /// When a segment began. Where its header is damaged, when the next one did: that leads too far back, never too
    /// far on.
    func creationTime(atOrBehind index: Int) throws(JournalError) -> Int64 {
        for segment in segments[index...] {
            var parser = RecordParser(check: RecordCheck(deviceID: deviceID, segment: segment))
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

    /// The record of a fix, and the position behind it; nil where there is none.
    func record(
        of sequence: UInt32, logID: UInt32
    ) throws(JournalError) -> (fix: JournaledFix, end: JournalPosition)? {
        // The first may be covered at its own start: by what was removed before it.
        guard var low = segments.indices.first else { return nil }
        // The record is in the last segment at whose start the fix was not stored, if what is stored only grows.
        var high = segments.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if try isStored(sequence, logID: logID, atStartOf: middle) { high = middle } else { low = middle }
        }
        if let found = try record(of: sequence, logID: logID, in: segments[low]) { return found }
        return try record(ofRestored: sequence, logID: logID, after: low)
    }

    /// What damage took away was uncovered and may have been stored once more, in a segment that begins without it or in
    /// which damage was dealt with. That is rare enough to look at every checkpoint.
    private func record(
        ofRestored sequence: UInt32, logID: UInt32, after low: Int
    ) throws(JournalError) -> (fix: JournaledFix, end: JournalPosition)? {
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
    ) throws(JournalError) -> (fix: JournaledFix, end: JournalPosition)? {
        var parser = RecordParser(check: RecordCheck(deviceID: deviceID, segment: segment))
        var chunk: [UInt8] = []
        var base = 0
        repeat {
            try read(segment, at: base, into: &chunk)
            var index = 0
            while let found = parser.next(in: chunk.span, at: &index) {
                if case .fix(let record) = found.record, record.logID == logID, record.fix.sequence == sequence {
                    return (record, JournalPosition(segment: segment, offset: UInt32(base + index)))
                }
            }
            base += chunk.count
        } while !chunk.isEmpty
        return nil
    }
}
