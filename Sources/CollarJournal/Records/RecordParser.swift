import CollarWire

/// Finds the intact records in the bytes of a segment, and skips everything else.
struct RecordParser {
    /// A record and the bytes it takes with its stuffing and both delimiters.
    struct Found {
        let record: Record
        let encodedByteCount: Int
    }

    private var decoder = StreamDecoder()
    private let crc: RecordCRC

    init(crc: RecordCRC) { self.crc = crc }

    /// Reads from `index` to the end of the next intact record; nil at the end of the bytes. A further call can continue with
    /// the next bytes.
    mutating func next(in bytes: Span<UInt8>, at index: inout Int) -> Found? {
        while let event = decoder.next(in: bytes, at: &index) {
            guard event == .frame else { continue }
            let frame = decoder.frame
            guard let record = Record(frame, crc: crc) else { continue }
            return Found(record: record, encodedByteCount: StreamEncoder.encodedByteCount(for: frame.count))
        }
        return nil
    }
}

extension Record {
    init?(_ bytes: Span<UInt8>, crc: RecordCRC) {
        let end = bytes.count - CRC24.byteCount
        guard end >= 1 else { return nil }
        let stored = UInt32(bytes[end]) &<< 16 | UInt32(bytes[end + 1]) &<< 8 | UInt32(bytes[end + 2])
        guard crc.checksum(of: bytes, count: end) == stored else { return nil }
        guard let kind = Kind(rawValue: bytes[0]) else {
            self = .later(kind: bytes[0])
            return
        }
        var reader = BitReader(bytes, from: 1, to: end)
        let record: Record?
        switch kind {
        case .header:
            record = .header(
                SegmentHeader(
                    format: UInt8(reader.read(8)), deviceID: DeviceID(rawValue: reader.readWide()), receiverID: reader.read(32),
                    segment: reader.read(32), createdUnixMilliseconds: reader.readTime()))
        case .fix: record = Record.fix(from: &reader, in: bytes, end: end)
        case .message: record = Record.message(from: &reader, in: bytes, end: end)
        case .loss: record = Record.loss(from: &reader)
        case .covered: record = Record.covered(from: &reader)
        case .lost: record = Record.lost(from: &reader)
        case .checkpointEnd:
            var end = CheckpointEnd(partCount: reader.read(32), cursor: reader.readPosition())
            if reader.remainingBitCount >= 32 { end.lostPartCount = reader.read(32) }
            record = .checkpointEnd(end)
        case .progress:
            guard let logID = LogID(rawValue: reader.read(32)) else { return nil }
            var progress = Progress(
                logID: logID, announcedEnd: reader.read(32), highest: reader.read(32), coveredCount: reader.readWide())
            if reader.remainingBitCount >= 32 { progress.lostCount = UInt64(reader.read(32)) }
            record = .progress(progress)
        case .cursor: record = .cursor(reader.readPosition())
        case .uncovered: record = Record.uncovered(from: &reader)
        case .repaired:
            record = .repaired(
                segment: reader.read(32), DamageExtent(byteCount: reader.read(32), missingSegmentCount: reader.read(32)))
        case .sealed:
            let keyFingerprint = reader.read(32)
            guard let logID = LogID(rawValue: reader.read(32)) else { return nil }
            let number = FrameNumber(bootCount: reader.read(32), counter: reader.read(32))
            record = .sealed(
                SealedProgress(keyFingerprint: keyFingerprint, logID: logID, number: number, highestRetiredBootCount: reader.read(32)))
        case .address:
            let address = reader.read(24)
            record = (1...254).contains(address) ? .address(UInt8(address)) : nil
        case .memory:
            var memory = CollarMemory()
            memory.heartbeatSeconds = UInt16(reader.read(16))
            memory.bootCount = reader.read(32)
            memory.isReleased = reader.read(1) == 1
            // A later version may know a worse warning.
            memory.batteryWarning = CollarMemory.BatteryWarning(rawValue: UInt8(reader.read(7))) ?? .critical
            if memory.isReleased, reader.remainingBitCount >= 32 { memory.releasedLogID = LogID(rawValue: reader.read(32)) }
            while reader.remainingBitCount >= 40 {
                let key = SettingKey(rawValue: UInt8(reader.read(8)))
                let value = reader.read(32)
                if let key { memory.settings[key] = value }
            }
            record = .memory(memory)
        }
        // A later version may lengthen a record, so only one that is too short is refused.
        guard let record, reader.remainingBitCount >= 0 else { return nil }
        self = record
    }

    private static func fix(from reader: inout BitReader, in bytes: Span<UInt8>, end: Int) -> Record? {
        let logID = LogID(rawValue: reader.read(32))
        let time = reader.readTime()
        let signal = reader.readSignal()
        let lowByte = UInt8(reader.read(8))
        let start = reader.bitPosition / 8
        guard start < end, let logID else { return nil }
        do throws(DecodeError) {
            let fix = try AbsoluteFix.decodePayload(bytes.extracting(start..<end), count: end - start, lowSequenceByte: lowByte)
            return .entry(.fix(JournaledFix(logID: logID, receivedUnixMilliseconds: time, signal: signal, fix: fix)))
        } catch { return nil }
    }

    private static func message(from reader: inout BitReader, in bytes: Span<UInt8>, end: Int) -> Record? {
        let logID = LogID(rawValue: reader.read(32))
        let time = reader.readTime()
        let signal = reader.readSignal()
        let sequence = reader.read(32)
        let start = reader.bitPosition / 8
        guard start < end, let logID, sequence <= Fix.maximumSequence else { return nil }
        do throws(DecodeError) {
            let message = CollarMessage(sequence: sequence, content: try ApplicationMessage(storedIn: bytes.extracting(start..<end)))
            return .entry(
                .message(JournaledMessage(logID: logID, receivedUnixMilliseconds: time, signal: signal, message: message)))
        } catch { return nil }
    }

    private static func loss(from reader: inout BitReader) -> Record? {
        let logID = LogID(rawValue: reader.read(32))
        let time = reader.readTime()
        let reason = LossReason(rawValue: UInt8(reader.read(8)))
        guard let range = reader.readRange(), let reason, let logID else { return nil }
        return .entry(.loss(JournaledLoss(logID: logID, range: range, reason: reason, receivedUnixMilliseconds: time)))
    }

    private static func uncovered(from reader: inout BitReader) -> Record? {
        guard let logID = LogID(rawValue: reader.read(32)), let range = reader.readRange() else { return nil }
        return .entry(.uncovered(UncoveredRange(logID: logID, range: range)))
    }

    private static func covered(from reader: inout BitReader) -> Record? {
        let logID = LogID(rawValue: reader.read(32))
        let announcedEnd = reader.read(32)
        guard let ranges = ranges(from: &reader), let logID else { return nil }
        return .covered(logID: logID, announcedEnd: announcedEnd, ranges: ranges)
    }

    private static func lost(from reader: inout BitReader) -> Record? {
        guard let logID = LogID(rawValue: reader.read(32)), let ranges = ranges(from: &reader) else { return nil }
        return .lost(logID: logID, ranges: ranges)
    }

    /// The ranges that fill the rest of a record; nil if one of them is invalid.
    private static func ranges(from reader: inout BitReader) -> [SequenceRange]? {
        var ranges: [SequenceRange] = []
        while reader.remainingBitCount >= 64 {
            guard let range = reader.readRange() else { return nil }
            ranges.append(range)
        }
        return ranges
    }
}

extension BitReader {
    /// Milliseconds since 1970 in 48 bits.
    fileprivate mutating func readTime() -> Int64 { Int64(readSigned(16)) &<< 32 | Int64(read(32)) }

    /// The signal after a byte that tells which of its parts are present.
    fileprivate mutating func readSignal() -> RadioSignal? {
        let parts = read(8)
        guard parts & 1 != 0 else { return nil }
        var signal = RadioSignal(strengthDBm: Int16(readSigned(16)))
        if parts & 2 != 0 { signal.signalToNoiseTenthsDB = Int16(readSigned(16)) }
        return signal
    }

    fileprivate mutating func readWide() -> UInt64 { UInt64(read(32)) &<< 32 | UInt64(read(32)) }

    fileprivate mutating func readPosition() -> JournalPosition { JournalPosition(segment: read(32), offset: read(32)) }

    /// A range; nil if its ends are in the wrong order, or if it ends beyond the highest sequence.
    fileprivate mutating func readRange() -> SequenceRange? {
        guard let range = SequenceRange(read(32), read(32)), range.last <= Fix.maximumSequence else { return nil }
        return range
    }
}
