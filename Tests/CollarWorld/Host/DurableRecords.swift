import CollarFirmware
import CollarJournal
import CollarWire

/// The records of one collar's journal that no crash can remove: those in the bytes of its segments that are on the disk for
/// certain, and those of segments that the host has removed for their age. They are read by the format alone. The only decoders
/// shared with the journal are those of the payload of an absolute fix and of a message.
final class DurableRecords {
    /// One log.
    struct Log {
        var entries: [UInt32: LogEntry] = [:]
        /// The segment of each entry.
        var segments: [UInt32: UInt32] = [:]
        var losses: [SequenceRange] = []
    }

    /// A segment, and how far it has been read.
    private struct Segment {
        let file: DiskFile
        let number: UInt32
        var rewriteCount: Int
        var readByteCount: Int
    }

    private(set) var logs: [LogID: Log] = [:]
    /// A fix or message that was found more than once; nil if there is none.
    private(set) var repeated: (logID: LogID, sequence: UInt32)?
    /// The position up to which lines were handed over, from the newest cursor that was read.
    private(set) var cursor = JournalPosition.start
    /// Fixes, messages and losses that were read since the last call of ``takeNew()``.
    private var new: (entries: [NewEntry], losses: [(logID: LogID, range: SequenceRange)]) = ([], [])
    /// A fix or message that was read.
    typealias NewEntry = (logID: LogID, sequence: UInt32, entry: LogEntry)
    /// The bytes of the newest progress record of each log, in the last segment that has any bytes.
    private(set) var newestProgress: [LogID: Range<Int>] = [:]
    /// The places at which the host finds damage without a verification: in the last segment when it opens the journal, in the
    /// segments before when it reads records that were not handed over yet. Damage before `start` may stay unnoticed.
    var damageablePlaces: [(file: DiskFile, start: Int)] {
        guard let last = segments.lastIndex(where: { $0.readByteCount > 0 }) else { return [] }
        return segments[...last].enumerated().compactMap { index, segment in
            if index == last { return (segment.file, 0) }
            guard segment.number >= max(cursor.segment, oldestSegment) else { return nil }
            return (segment.file, segment.number == cursor.segment ? Int(cursor.offset) : 0)
        }
    }

    private let deviceID: DeviceID
    private let directory: String
    /// The generation of the disk when it was last read.
    private var generation = -1
    private var segments: [Segment] = []
    /// The number of the oldest segment that was not removed; 0 if there is none.
    private(set) var oldestSegment: UInt32 = 0

    /// How many segments the host has removed for their age.
    var removedSegmentCount: Int { segments.count { $0.number < oldestSegment } }

    init(deviceID: DeviceID, directory: String) {
        self.deviceID = deviceID
        self.directory = directory
    }

    func kept(_ sequence: UInt32, logID: LogID) -> KeptRecord {
        guard let log = logs[logID] else { return .nothing }
        if let entry = log.entries[sequence] { return .entry(entry) }
        return log.losses.contains { $0.contains(sequence) } ? .loss : .nothing
    }

    /// The lowest sequence of a log that is neither stored nor lost.
    func firstMissing(logID: LogID) -> UInt32 {
        var sequence: UInt32 = 0
        while kept(sequence, logID: logID) != .nothing { sequence += 1 }
        return sequence
    }

    /// Reads the new bytes on the disk, or everything again if bytes that were read have changed.
    func update(from disk: SimulatedDisk) {
        guard generation != disk.generation else { return }
        generation = disk.generation
        let files = disk.certainFiles(in: directory)
        let present: [Segment] = files.compactMap { path, file in
            guard path.hasSuffix(".journal"), let number = UInt32(path.dropLast(8).suffix(8)) else { return nil }
            return Segment(file: file, number: number, rewriteCount: file.rewriteCount, readByteCount: 0)
        }
        oldestSegment = present.first?.number ?? 0
        let found = removed(before: present) + present
        let isSame =
            segments.count <= found.count
            && zip(segments, found).allSatisfy {
                $0.file === $1.file && $0.rewriteCount == $1.rewriteCount && $0.readByteCount <= $0.file.certainByteCount
            }
        // If a segment has grown although a later one exists, its new records would be read out of order.
        let hasGrown = segments.dropLast().contains { DurableRecords.recordsEnd(in: $0.file) > $0.readByteCount }
        if isSame, !hasGrown {
            segments += found.dropFirst(segments.count)
        } else {
            logs = [:]
            repeated = nil
            newestProgress = [:]
            cursor = .start
            segments = found.map { Segment(file: $0.file, number: $0.number, rewriteCount: $0.file.rewriteCount, readByteCount: 0) }
        }
        for index in segments.indices { read(index) }
    }

    /// The known segments that were removed before the present ones; none if the present ones are of another journal.
    private func removed(before present: [Segment]) -> [Segment] {
        guard let oldest = present.first, segments.contains(where: { $0.file === oldest.file }) else { return [] }
        return segments.prefix { $0.file !== oldest.file }
    }

    /// The offset after the last zero byte: the records before it are complete.
    private static func recordsEnd(in file: DiskFile) -> Int {
        (file.durable[..<file.certainByteCount].lastIndex(of: 0) ?? -1) + 1
    }

    private func read(_ index: Int) {
        let segment = segments[index]
        guard segment.readByteCount < segment.file.certainByteCount else { return }
        let bytes = segment.file.durable
        let end = DurableRecords.recordsEnd(in: segment.file)
        if segment.readByteCount == 0 { newestProgress = [:] }
        var start = segment.readByteCount
        for position in start..<max(start, end) where bytes[position] == 0 {
            if position > start, let record = DurableRecords.unstuffed(bytes[start..<position]) {
                take(record, at: start..<position, segment)
            }
            start = position + 1
        }
        segments[index].readByteCount = max(segment.readByteCount, end)
    }

    /// Decodes consistent overhead byte stuffing; nil if the stuffing is invalid.
    private static func unstuffed(_ stuffed: ArraySlice<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(stuffed.count)
        var index = stuffed.startIndex
        while index < stuffed.endIndex {
            let code = Int(stuffed[index])
            guard index + code <= stuffed.endIndex else { return nil }
            bytes += stuffed[(index + 1)..<(index + code)]
            index += code
            if code < 0xFF, index < stuffed.endIndex { bytes.append(0) }
        }
        return bytes
    }

    private func take(_ record: [UInt8], at range: Range<Int>, _ segment: Segment) {
        guard record.count > 4 else { return }
        let binding = record[0] == 1 ? nil : (deviceID, segment.number)
        guard BitwiseCRC.ofRecord(record.dropLast(3), binding) == number(record.suffix(3)) else { return }
        let body = record.dropFirst().dropLast(3)
        switch record[0] {
        case 2: takeFix(body, segment.number)
        case 11: takeMessage(body, segment.number)
        case 3:
            guard body.count == 19, let lost = SequenceRange(number(body[12..<16]), number(body[16..<20])) else { return }
            logs[logID(body), default: Log()].losses.append(lost)
            new.losses.append((logID(body), lost))
        case 5: if body.count >= 12 { cursor = position(body.dropFirst(4).prefix(8)) }
        case 7: if body.count == 8 { cursor = position(body) }
        case 6: newestProgress[logID(body)] = range
        default: break
        }
    }

    /// The fields are: log (4 bytes), time of reception (6), a byte that tells which of the two signal fields follow, these (2
    /// each), the low byte of the sequence (1), and the payload of an absolute fix.
    private func takeFix(_ body: ArraySlice<UInt8>, _ segment: UInt32) {
        guard body.count > 12 else { return }
        let presence = body[11]
        let low = 12 + (presence & 1 == 0 ? 0 : 2) + (presence & 2 == 0 ? 0 : 2)
        guard low + 1 < body.endIndex else { return }
        let payload = Array(body[(low + 1)...])
        do throws(DecodeError) {
            let fix = try AbsoluteFix.decodePayload(payload.span, count: payload.count, lowSequenceByte: body[low])
            take(.fix(fix), fix.sequence, logID: logID(body), segment)
        } catch {
            // A record that does not decode does not count as kept.
        }
    }

    /// As a fix, but the whole sequence (4 bytes), and then the message.
    private func takeMessage(_ body: ArraySlice<UInt8>, _ segment: UInt32) {
        guard body.count > 12 else { return }
        let presence = body[11]
        let sequence = 12 + (presence & 1 == 0 ? 0 : 2) + (presence & 2 == 0 ? 0 : 2)
        guard sequence + 4 < body.endIndex else { return }
        let payload = Array(body[(sequence + 4)...])
        do throws(DecodeError) {
            let message = try ApplicationMessage(storedIn: payload.span)
            take(.message(message), number(body[sequence..<(sequence + 4)]), logID: logID(body), segment)
        } catch {
            // A record that does not decode does not count as kept.
        }
    }

    private func take(_ entry: LogEntry, _ sequence: UInt32, logID: LogID, _ segment: UInt32) {
        // The first content counts, as it does for every reader of the journal.
        if logs[logID]?.entries[sequence] != nil {
            repeated = (logID, sequence)
        } else {
            logs[logID, default: Log()].entries[sequence] = entry
            logs[logID]?.segments[sequence] = segment
            new.entries.append((logID, sequence, entry))
        }
    }

    /// The fixes, messages and losses that were read since the last call.
    func takeNew() -> (entries: [NewEntry], losses: [(logID: LogID, range: SequenceRange)]) {
        defer { new = ([], []) }
        return new
    }

    private func position(_ bytes: ArraySlice<UInt8>) -> JournalPosition {
        JournalPosition(segment: number(bytes.prefix(4)), offset: number(bytes.dropFirst(4)))
    }

    /// The log that a record is about, with which its fields begin.
    private func logID(_ body: ArraySlice<UInt8>) -> LogID { LogID(lowBitsOf: number(body.prefix(4))) }

    private func number(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }
}
