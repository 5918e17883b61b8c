import CollarWire

/// Records in their final form, waiting to be written.
struct RecordBuffer {
    /// The bytes to write.
    private(set) var bytes: [UInt8] = []
    private var check: RecordCheck
    private var plain: [UInt8] = []

    /// Capacity kept when the buffer is emptied.
    private static let keptCapacity = 1 << 16
    /// The most bytes a record takes with its stuffing and both delimiters.
    static let largestRecord = StreamEncoder.encodedByteCount(for: Frame.maximumByteCount)

    /// So many ids of logs fit the largest record.
    private static let closedLogsPerRecord = 61

    init(check: RecordCheck) {
        self.check = check
        bytes.reserveCapacity(RecordBuffer.keptCapacity)
        plain.reserveCapacity(Frame.maximumByteCount)
    }

    /// Starts over, for the same segment.
    mutating func removeAll() {
        // A checkpoint or a long wait may have made it large.
        bytes.removeAll(keepingCapacity: bytes.capacity <= 2 * RecordBuffer.keptCapacity)
        bytes.reserveCapacity(RecordBuffer.keptCapacity)
    }

    /// Takes back the records behind the first `byteCount` bytes.
    mutating func removeAll(behind byteCount: Int) {
        bytes.removeLast(bytes.count - byteCount)
    }

    /// Adds a fix.
    mutating func append(_ record: JournaledFix) throws(JournalError) {
        let logID = try RecordBuffer.checked(logID: record.logID)
        let time = try RecordBuffer.checked(time: record.receivedUnixMilliseconds)
        var fields = BitWriter()
        fields.write(UInt32(Record.Kind.fix.rawValue), 8)
        fields.write(logID, 32)
        fields.write(time: time)
        // Bit 0: strength is there. Bit 1: signal-to-noise ratio is there.
        fields.write((record.signal == nil ? 0 : 1) | (record.signal?.signalToNoiseTenthsDB == nil ? 0 : 2), 8)
        if let signal = record.signal {
            fields.writeSigned(Int32(signal.strengthDBm), 16)
            if let ratio = signal.signalToNoiseTenthsDB { fields.writeSigned(Int32(ratio), 16) }
        }
        fields.write(record.fix.sequence & 0xFF, 8)
        do throws(EncodeError) {
            try AbsoluteFix.writePayload(of: record.fix, wideSequence: true, into: &fields)
        } catch {
            throw .unencodable(.fix(sequence: record.fix.sequence))
        }
        finish(&fields)
    }

    /// Adds a range that will never come.
    mutating func append(_ loss: JournaledLoss) throws(JournalError) {
        let logID = try RecordBuffer.checked(logID: loss.logID)
        let time = try RecordBuffer.checked(time: loss.receivedUnixMilliseconds)
        var fields = BitWriter()
        fields.write(UInt32(Record.Kind.loss.rawValue), 8)
        fields.write(logID, 32)
        fields.write(time: time)
        fields.write(UInt32(loss.reason.rawValue), 8)
        fields.write(loss.range.first, 32)
        fields.write(loss.range.last, 32)
        finish(&fields)
    }

    mutating func append(_ header: SegmentHeader) {
        var fields = BitWriter()
        fields.write(UInt32(Record.Kind.header.rawValue), 8)
        fields.write(UInt32(header.format), 8)
        fields.write(wide: header.deviceID)
        fields.write(header.receiverID, 32)
        fields.write(header.segment, 32)
        fields.write(time: header.createdUnixMilliseconds)
        finish(&fields)
    }

    /// Adds all that a segment begins with: what is covered, which logs are closed, which damage was dealt with, and the emission
    /// cursor.
    mutating func appendCheckpoint(_ checkpoint: Checkpoint) {
        var end = CheckpointEnd(partCount: 0, cursor: checkpoint.cursor)
        for (logID, covered) in checkpoint.logs where !covered.lost.ranges.isEmpty {
            for ranges in RecordBuffer.parts(of: covered.lost.ranges) {
                append(LostPart(logID: logID, ranges: ranges))
                end.lostPartCount += 1
            }
        }
        for (logID, covered) in checkpoint.logs {
            for ranges in RecordBuffer.parts(of: covered.ranges) {
                append(CoveredPart(logID: logID, announcedEnd: covered.announcedEnd, ranges: ranges))
                end.partCount += 1
            }
        }
        let closed = checkpoint.closedLogIDs.sorted()
        for start in stride(from: 0, to: closed.count, by: RecordBuffer.closedLogsPerRecord) {
            appendClosed(closed[start..<min(start + RecordBuffer.closedLogsPerRecord, closed.count)])
            end.partCount += 1
        }
        for (segment, extent) in checkpoint.repaired.sorted(by: { $0.key < $1.key }) {
            appendRepaired(segment: segment, extent)
        }
        append(end)
    }

    /// Ranges in parts that fit a record each; an empty one where there are none.
    private static func parts(of ranges: [SequenceRange]) -> [[SequenceRange]] {
        guard !ranges.isEmpty else { return [[]] }
        return stride(from: 0, to: ranges.count, by: CoveredPart.maximumRangeCount).map { start in
            Array(ranges[start..<min(start + CoveredPart.maximumRangeCount, ranges.count)])
        }
    }

    mutating func append(_ part: CoveredPart) {
        var fields = BitWriter()
        fields.write(UInt32(Record.Kind.covered.rawValue), 8)
        fields.write(part.logID, 32)
        fields.write(part.announcedEnd, 32)
        fields.write(part.ranges)
        finish(&fields)
    }

    mutating func append(_ part: LostPart) {
        var fields = BitWriter()
        fields.write(UInt32(Record.Kind.lost.rawValue), 8)
        fields.write(part.logID, 32)
        fields.write(part.ranges)
        finish(&fields)
    }

    /// Adds that nothing more of some logs is stored, at most ``closedLogsPerRecord``.
    mutating func appendClosed(_ logIDs: some Sequence<UInt32>) {
        var fields = BitWriter()
        fields.write(UInt32(Record.Kind.closed.rawValue), 8)
        for logID in logIDs { fields.write(logID, 32) }
        finish(&fields)
    }

    mutating func append(_ end: CheckpointEnd) {
        var fields = BitWriter()
        fields.write(UInt32(Record.Kind.checkpointEnd.rawValue), 8)
        fields.write(end.partCount, 32)
        fields.write(end.cursor)
        fields.write(end.lostPartCount, 32)
        finish(&fields)
    }

    mutating func append(_ progress: Progress) {
        var fields = BitWriter()
        fields.write(UInt32(Record.Kind.progress.rawValue), 8)
        fields.write(progress.logID, 32)
        fields.write(progress.announcedEnd, 32)
        fields.write(progress.highest, 32)
        fields.write(wide: progress.coveredCount)
        if let lostCount = progress.lostCount { fields.write(UInt32(truncatingIfNeeded: lostCount), 32) }
        finish(&fields)
    }

    mutating func append(_ cursor: JournalPosition) {
        var fields = BitWriter()
        fields.write(UInt32(Record.Kind.cursor.rawValue), 8)
        fields.write(cursor)
        finish(&fields)
    }

    mutating func append(_ uncovered: UncoveredRange) {
        var fields = BitWriter()
        fields.write(UInt32(Record.Kind.uncovered.rawValue), 8)
        fields.write(uncovered.logID, 32)
        fields.write(uncovered.range.first, 32)
        fields.write(uncovered.range.last, 32)
        finish(&fields)
    }

    /// Adds that damage was dealt with in the segments from this one on up to the next whole checkpoint.
    mutating func appendRepaired(segment: UInt32, _ extent: DamageExtent) {
        var fields = BitWriter()
        fields.write(UInt32(Record.Kind.repaired.rawValue), 8)
        fields.write(segment, 32)
        fields.write(extent.byteCount, 32)
        fields.write(extent.missingSegmentCount, 32)
        finish(&fields)
    }

    private mutating func finish(_ fields: inout BitWriter) {
        plain.removeAll(keepingCapacity: true)
        plain.append(addingCapacity: Frame.maximumByteCount) { output in
            do throws(EncodeError) { try fields.finish(into: &output) } catch {
                preconditionFailure("every kind of record fits")
            }
        }
        let checksum = check.checksum(of: plain.span, count: plain.count)
        plain.append(UInt8(truncatingIfNeeded: checksum &>> 16))
        plain.append(UInt8(truncatingIfNeeded: checksum &>> 8))
        plain.append(UInt8(truncatingIfNeeded: checksum))
        RecordBuffer.stuff(plain, into: &bytes)
    }

    private static func stuff(_ record: [UInt8], into bytes: inout [UInt8]) {
        if bytes.capacity - bytes.count < largestRecord { bytes.reserveCapacity(2 * bytes.capacity) }
        bytes.append(addingCapacity: largestRecord) { output in
            StreamEncoder.encode(record.span, into: &output)
        }
    }

    static func checked(logID: UInt32) throws(JournalError) -> UInt32 {
        guard logID <= LogIdentity.maximumLogID else { throw .unencodable(.logID(logID)) }
        return logID
    }

    static func checked(time: Int64) throws(JournalError) -> Int64 {
        guard Fix.timeRange.contains(time) else { throw .unencodable(.receiveTime(time)) }
        return time
    }
}

extension BitWriter {
    /// Milliseconds since 1970 in 48 bits.
    fileprivate mutating func write(time: Int64) {
        write(UInt32(truncatingIfNeeded: time &>> 32), 16)
        write(UInt32(truncatingIfNeeded: time), 32)
    }

    fileprivate mutating func write(wide value: UInt64) {
        write(UInt32(truncatingIfNeeded: value &>> 32), 32)
        write(UInt32(truncatingIfNeeded: value), 32)
    }

    fileprivate mutating func write(_ ranges: [SequenceRange]) {
        for range in ranges {
            write(range.first, 32)
            write(range.last, 32)
        }
    }

    fileprivate mutating func write(_ position: JournalPosition) {
        write(position.segment, 32)
        write(position.offset, 32)
    }
}
