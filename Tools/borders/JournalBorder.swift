import CheckedNumbers
import CollarARQ
import CollarControl
import CollarDoctor
import CollarFormats
import CollarHost
import CollarJournal
import CollarReceiver
import CollarWire
import CollarWorld

/// The records of a journal. A part is the number of a segment in one byte, and a record without its CRC, which each run computes.
struct JournalBorder: Border {
    let name = "journals"
    let binaryByteCount = 64
    let isSlow = true
    let seeds: [Input]

    private static let directory = "/s/910a2dec89025cc1"
    private static let segmentByteLimit = 1200

    init() {
        let disk = SimulatedDisk(seed: 1)
        JournalBorder.fill(disk)
        var parts: Input = []
        for segment: UInt8 in 1...9 {
            var decoder = StreamDecoder()
            let bytes = JournalBorder.content(disk, JournalBorder.path(of: UInt32(segment)))
            var index = 0
            while let event = decoder.next(in: bytes.span, at: &index) {
                guard event == .frame else { continue }
                let frame = decoder.frame
                parts.append([segment] + frame.indices.dropLast(3).map { frame[$0] })
            }
        }
        // One of each kind, in order, with what belongs to the beginning of each segment.
        var counts: [UInt8: Int] = [:]
        seeds = [parts.filter { part in
            counts[part[1], default: 0] += 1
            return counts[part[1], default: 0] <= 2
        }]
    }

    /// Makes a journal of several segments with records of all kinds.
    static func fill(_ disk: SimulatedDisk) {
        do throws(JournalError) {
            let journal = try Journal.open(
                stateDirectory: "/s", deviceID: Sample.deviceID, receiverID: Sample.receiverID, nowUnixMilliseconds: Sample.now,
                segmentByteLimit: segmentByteLimit, fileSystem: disk)
            for sequence: UInt32 in 0..<60 {
                let time = Sample.now + 1000 * Int64(sequence)
                if sequence % 10 == 3, let range = SequenceRange(sequence, sequence + 1) {
                    _ = try journal.append(
                        JournaledLoss(logID: 7, range: range, reason: .storedBeforeMove, receivedUnixMilliseconds: time))
                } else if sequence % 10 == 7, let content = ApplicationMessage(kind: .notice, code: 5, unixSeconds: 1_790_000_000, data: [1, 2].span) {
                    _ = try journal.append(
                        JournaledMessage(
                            logID: 7, receivedUnixMilliseconds: time, signal: RadioSignal(strengthDBm: -97),
                            message: CollarMessage(sequence: sequence, content: content)))
                } else if sequence % 10 != 4 {
                    _ = try journal.append(
                        JournaledFix(
                            logID: 7, receivedUnixMilliseconds: time, signal: RadioSignal(strengthDBm: -97, signalToNoiseTenthsDB: 70),
                            fix: Sample.fix(sequence)))
                }
                if sequence == 30, let range = SequenceRange(12, 12) { _ = try journal.uncover(range, logID: 7) }
                journal.setEmissionCursor(JournalPosition(segment: 1, offset: 100))
                try journal.commit()
            }
        } catch { fatalError("the journal fails: \(error)") }
    }

    private static func path(of segment: UInt32) -> String {
        let digits = "\(segment)"
        return directory + "/" + String(repeating: "0", count: max(0, 8 - digits.count)) + digits + ".journal"
    }

    private static func content(_ disk: SimulatedDisk, _ path: String) -> [UInt8] {
        var bytes: [UInt8] = []
        do throws(FileFailure) {
            let file = try disk.open(path, .reading)
            defer { disk.close(file) }
            try disk.read(from: file, at: 0, count: 1 << 16, into: &bytes)
        } catch {}
        return bytes
    }

    func run(_ input: Input) {
        let disk = SimulatedDisk(seed: 1)
        var segments: [UInt32: [UInt8]] = [:]
        for part in input where part.count > 1 {
            // A byte above 100 stands for the highest numbers.
            let segment = part[0] > 100 ? (1 << 31) - UInt32(part[0] - 100) : UInt32(part[0])
            segments[segment, default: []] += JournalBorder.stuffed(Array(part.dropFirst().prefix(250)), segment: segment)
        }
        for (segment, bytes) in segments { disk.put(bytes, at: JournalBorder.path(of: segment)) }
        // One clock for each run, because a run takes long.
        let now = Sample.clocks[input.joined().reduce(0) { $0 + Int($1) } % Sample.clocks.count]
        do throws(JournalError) { try read(disk, at: now) } catch {}
        do throws(JournalError) { try write(disk, at: now) } catch {}
    }

    private static func stuffed(_ record: [UInt8], segment: UInt32) -> [UInt8] {
        var crc = CRC24()
        crc.update(bigEndian: UInt32(0x434C_4A31))
        if record[0] != 1 {
            crc.update(bigEndian: Sample.deviceID.rawValue)
            crc.update(bigEndian: segment)
        }
        crc.update(record.span, from: 0, to: record.count)
        let sum = crc.checksum
        let frame = record + [UInt8(truncatingIfNeeded: sum >> 16), UInt8(truncatingIfNeeded: sum >> 8), UInt8(truncatingIfNeeded: sum)]
        return [UInt8](capacity: StreamEncoder.encodedByteCount(for: frame.count)) { StreamEncoder.encode(frame.span, into: &$0) }
    }

    private func read(_ disk: SimulatedDisk, at now: Int64) throws(JournalError) {
        let reader = try JournalReader(stateDirectory: "/s", deviceID: Sample.deviceID, fileSystem: disk)
        do throws(JournalError) { _ = try reader.verify() } catch {}
        var formatters = OutputFormat.allCases.map { EntryFormatter(FormatOptions($0)) }
        var place = JournalPosition.start
        var bytes: [UInt8] = []
        for _ in 0..<20 {
            let batch = try reader.entries(from: place, limit: 512)
            for element in batch.elements {
                guard case .fix(let record) = element.entry else { continue }
                for index in formatters.indices {
                    formatters[index].append(ReceivedFix(deviceID: Sample.deviceID, record), to: &bytes)
                }
            }
            place = batch.end
            if batch.isAtEnd { break }
        }
        _ = try reader.position(receivedSince: Sample.now)
        _ = try reader.firstPosition(receivedSince: Sample.now)
        _ = try reader.position(behind: 12, logID: 7)
        _ = try reader.lag(of: ReaderState(seenUnixMilliseconds: 0))
        var report = MetricsReport(unixMilliseconds: now, animals: DeploymentTable(), figures: nil)
        try report.add(reader)
        var overview = Overview(unixMilliseconds: now, version: "0", stateDirectory: "/s", activity: .running, figures: nil)
        try overview.add(reader, figures: nil, told: ToldLines(), annotations: Annotations())
        _ = overview.line
        _ = overview.text(width: 80, rows: 24, zone: nil)
    }

    private func write(_ disk: SimulatedDisk, at now: Int64) throws(JournalError) {
        let journal = try Journal.open(
            stateDirectory: "/s", deviceID: Sample.deviceID, receiverID: Sample.receiverID, nowUnixMilliseconds: now,
            segmentByteLimit: JournalBorder.segmentByteLimit, fileSystem: disk)
        _ = try journal.append(JournaledFix(logID: 7, receivedUnixMilliseconds: now, fix: Sample.fix(1000)))
        for damage in journal.damage { _ = try journal.uncoverDamage(inSegment: damage.segment) }
        try journal.commit()
        var removed = RemovedEntries()
        try journal.removeSegments(
            Retention(days: 1), consumers: try journal.consumers(hasCursor: true), nowUnixMilliseconds: now, removed: &removed)
        _ = try journal.storedFix(12, logID: 7)
        _ = try journal.byteCount(from: journal.emissionCursor)
    }
}
