import CollarWire

/// Encoded records that wait to be written.
struct RecordBuffer {
    private(set) var bytes: [UInt8] = []
    private var crc: RecordCRC
    private var plain: [UInt8] = []

    /// Capacity kept when the buffer is emptied.
    private static let keptCapacity = 1 << 16
    /// The number of ranges that fit the largest record.
    private static let rangesOfRecord = 29
    /// The most bytes a record takes with its stuffing and both delimiters.
    static let largestRecord = StreamEncoder.encodedByteCount(for: Frame.maximumByteCount)

    init(startWith header: SegmentHeader, _ checkpoint: Checkpoint, crc: RecordCRC) {
        self.init(crc: crc)
        append(header)
        appendCheckpoint(checkpoint)
    }

    init(crc: RecordCRC) {
        self.crc = crc
        bytes.reserveCapacity(RecordBuffer.keptCapacity)
        plain.reserveCapacity(Frame.maximumByteCount)
    }

    /// Removes all records. The next ones belong to the same segment.
    mutating func removeAll() {
        // A checkpoint or a long wait for a commit may have made the buffer large.
        bytes.removeAll(keepingCapacity: bytes.capacity <= 2 * RecordBuffer.keptCapacity)
        bytes.reserveCapacity(RecordBuffer.keptCapacity)
    }

    /// Removes the records after the first `byteCount` bytes.
    mutating func removeAll(behind byteCount: Int) { bytes.removeLast(bytes.count - byteCount) }

    mutating func append(_ record: JournaledFix) throws(JournalError) {
        var fields = try RecordBuffer.fields(.fix, record.logID, record.receivedUnixMilliseconds)
        fields.write(record.signal)
        fields.write(record.fix.sequence & 0xFF, 8)
        do throws(EncodeError) {
            try AbsoluteFix.writePayload(of: record.fix, wideSequence: true, into: &fields)
        } catch {
            throw .unencodable(.fix(sequence: record.fix.sequence))
        }
        finish(&fields)
    }

    mutating func append(_ record: JournaledMessage) throws(JournalError) {
        var fields = try RecordBuffer.fields(.message, record.logID, record.receivedUnixMilliseconds)
        guard record.message.sequence <= Fix.maximumSequence else { throw .unencodable(.sequence(record.message.sequence)) }
        fields.write(record.signal)
        fields.write(record.message.sequence, 32)
        record.message.content.write(into: &fields)
        finish(&fields)
    }

    /// Adds a range of fixes that are no longer expected.
    mutating func append(_ loss: JournaledLoss) throws(JournalError) {
        var fields = try RecordBuffer.fields(.loss, loss.logID, loss.receivedUnixMilliseconds)
        fields.write(UInt32(loss.reason.rawValue), 8)
        fields.write(loss.range.first, 32)
        fields.write(loss.range.last, 32)
        finish(&fields)
    }

    mutating func append(_ header: SegmentHeader) {
        var fields = BitWriter(.header)
        fields.write(UInt32(header.format), 8)
        fields.write(wide: header.deviceID.rawValue)
        fields.write(header.receiverID, 32)
        fields.write(header.segment, 32)
        fields.write(time: header.createdUnixMilliseconds)
        finish(&fields)
    }

    /// Adds a record of fields of 32 bits.
    private mutating func add(_ kind: Record.Kind, _ words: [UInt32]) {
        var fields = BitWriter(kind)
        for word in words { fields.write(word, 32) }
        finish(&fields)
    }

    /// Adds a checkpoint: the covered and lost ranges, the damage that was dealt with, and the emission cursor.
    mutating func appendCheckpoint(_ checkpoint: Checkpoint) {
        var end = CheckpointEnd(partCount: 0, cursor: checkpoint.cursor)
        for (logID, covered) in checkpoint.logs where !covered.lost.ranges.isEmpty {
            for ranges in RecordBuffer.parts(of: covered.lost.ranges) {
                add(.lost, [logID.rawValue] + ranges)
                end.lostPartCount += 1
            }
        }
        for (logID, covered) in checkpoint.logs {
            for ranges in RecordBuffer.parts(of: covered.ranges) {
                add(.covered, [logID.rawValue, covered.announcedEnd] + ranges)
                end.partCount += 1
            }
        }
        for (segment, extent) in checkpoint.repaired.sorted(by: { $0.key < $1.key }) {
            appendRepaired(segment: segment, extent)
        }
        if let sealed = checkpoint.sealed { append(sealed) }
        if let address = checkpoint.address { append(address: address) }
        if checkpoint.memory != CollarMemory() { append(checkpoint.memory) }
        add(.checkpointEnd, [end.partCount, end.cursor.segment, end.cursor.offset, end.lostPartCount])
    }

    /// The ends of the ranges in parts, each of which fits one record; one empty part if there are no ranges.
    private static func parts(of ranges: [SequenceRange]) -> [[UInt32]] {
        guard !ranges.isEmpty else { return [[]] }
        return stride(from: 0, to: ranges.count, by: rangesOfRecord).map { start in
            ranges[start...].prefix(rangesOfRecord).flatMap { [$0.first, $0.last] }
        }
    }

    mutating func append(_ progress: Progress) {
        let counts = [progress.coveredCount &>> 32, progress.coveredCount, progress.lostCount].compactMap(\.self)
        add(.progress, [progress.logID.rawValue, progress.announcedEnd, progress.highest] + counts.map { UInt32(truncatingIfNeeded: $0) })
    }

    mutating func append(_ cursor: JournalPosition) { add(.cursor, [cursor.segment, cursor.offset]) }

    mutating func append(_ uncovered: UncoveredRange) {
        add(.uncovered, [uncovered.logID.rawValue, uncovered.range.first, uncovered.range.last])
    }

    /// Adds a record which says that the damage from this segment up to the next intact checkpoint was dealt with.
    mutating func appendRepaired(segment: UInt32, _ extent: DamageExtent) {
        add(.repaired, [segment, extent.byteCount, extent.missingSegmentCount])
    }

    mutating func append(_ sealed: SealedProgress) {
        let number = sealed.number
        add(.sealed, [sealed.keyFingerprint, sealed.logID.rawValue, number.bootCount, number.counter, sealed.highestRetiredBootCount])
    }

    mutating func append(address: UInt8) {
        var fields = BitWriter(.address)
        // The stream decoder drops what is shorter than seven bytes.
        fields.write(UInt32(address), 24)
        finish(&fields)
    }

    mutating func append(_ memory: CollarMemory) {
        var fields = BitWriter(.memory)
        fields.write(UInt32(memory.heartbeatSeconds), 16)
        fields.write(memory.bootCount, 32)
        fields.write(memory.isReleased ? 1 : 0, 1)
        fields.write(UInt32(memory.batteryWarning.rawValue), 7)
        // The settings follow the log. A number that is no log stands for none.
        if memory.isReleased, memory.releasedLogID != nil || !memory.settings.isEmpty {
            fields.write(memory.releasedLogID?.rawValue ?? .max, 32)
        }
        for (key, value) in memory.settings.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            fields.write(UInt32(key.rawValue), 8)
            fields.write(value, 32)
        }
        finish(&fields)
    }

    private mutating func finish(_ fields: inout BitWriter) {
        plain.removeAll(keepingCapacity: true)
        plain.append(addingCapacity: Frame.maximumByteCount) { output in
            do throws(EncodeError) { try fields.finish(into: &output) } catch {
                preconditionFailure("every kind of record fits")
            }
        }
        let checksum = crc.checksum(of: plain.span, count: plain.count)
        plain.append(UInt8(truncatingIfNeeded: checksum &>> 16))
        plain.append(UInt8(truncatingIfNeeded: checksum &>> 8))
        plain.append(UInt8(truncatingIfNeeded: checksum))
        RecordBuffer.stuff(plain, into: &bytes)
    }

    private static func stuff(_ record: [UInt8], into bytes: inout [UInt8]) {
        if bytes.capacity - bytes.count < largestRecord { bytes.reserveCapacity(2 * bytes.capacity) }
        bytes.append(addingCapacity: largestRecord) { output in StreamEncoder.encode(record.span, into: &output) }
    }

    /// The first fields of what was received.
    private static func fields(_ kind: Record.Kind, _ logID: LogID, _ time: Int64) throws(JournalError) -> BitWriter {
        guard Fix.timeRange.contains(time) else { throw .unencodable(.receiveTime(time)) }
        var fields = BitWriter(kind)
        fields.write(logID.rawValue, 32)
        fields.write(time: time)
        return fields
    }
}

extension BitWriter {
    fileprivate init(_ kind: Record.Kind) {
        self.init()
        write(UInt32(kind.rawValue), 8)
    }

    /// Milliseconds since 1970 in 48 bits.
    fileprivate mutating func write(time: Int64) {
        write(UInt32(truncatingIfNeeded: time &>> 32), 16)
        write(UInt32(truncatingIfNeeded: time), 32)
    }

    fileprivate mutating func write(_ signal: RadioSignal?) {
        // Bit 0: the strength is present. Bit 1: the signal-to-noise ratio is present.
        write((signal == nil ? 0 : 1) | (signal?.signalToNoiseTenthsDB == nil ? 0 : 2), 8)
        guard let signal else { return }
        writeSigned(Int32(signal.strengthDBm), 16)
        if let ratio = signal.signalToNoiseTenthsDB { writeSigned(Int32(ratio), 16) }
    }

    fileprivate mutating func write(wide value: UInt64) {
        write(UInt32(truncatingIfNeeded: value &>> 32), 32)
        write(UInt32(truncatingIfNeeded: value), 32)
    }
}
