import CollarWire
import Glibc
import Testing

@testable import CollarJournal

/// The coverage at a position, and the positions of times and fixes. The open journal and a reader give the same answers.
@Suite struct JournalPositionTests {
    /// A journal of three logs with gaps and losses, the coverage after every entry, and the position after every fix.
    private struct Sample {
        let files = MemoryFileSystem()
        let journal: Journal
        let reader: JournalReader
        var history: [(position: JournalPosition, covered: [LogID: Set<UInt32>])] = []
        var behind: [(log: LogID, sequence: UInt32, position: JournalPosition)] = []

        init(seed: UInt64, commitsEverything: Bool) throws {
            var random = SeededRandom(seed: seed)
            journal = try openJournal(files, limit: 900)
            var covered: [LogID: Set<UInt32>] = [:]
            var next: [LogID: UInt32] = [:]
            for _ in 0..<400 {
                let logID = LogID(lowBitsOf: log.rawValue - UInt32.random(in: 0...2, using: &random))
                let first = next[logID, default: 0] + UInt32.random(in: 0...1, using: &random)
                if Int.random(in: 0..<20, using: &random) == 0 {
                    let range = try #require(SequenceRange(first, first + 3))
                    #expect(
                        try journal.append(
                            JournaledLoss(
                                logID: logID, range: range, reason: .overwritten, receivedUnixMilliseconds: 0)))
                    covered[logID, default: []].formUnion(first...(first + 3))
                    next[logID] = first + 4
                } else {
                    #expect(try journal.append(record(first, log: logID)))
                    covered[logID, default: []].insert(first)
                    next[logID] = first + 1
                    behind.append((logID, first, journal.end))
                }
                history.append((journal.end, covered))
                if Int.random(in: 0..<6, using: &random) == 0 { try journal.commit() }
            }
            if commitsEverything { try journal.commit() }
            reader = try JournalReader(stateDirectory: "/state", deviceID: collar, fileSystem: files)
            #expect(journal.segments.count > 10)
        }

        func path(_ segment: UInt32) -> String { journal.directory.path(ofSegment: segment) }
    }

    private func sets(_ coverage: [LogID: CoveredSequences]) -> [LogID: Set<UInt32>] {
        coverage.mapValues { covered in Set(covered.ranges.flatMap { Array($0.first...$0.last) }) }
    }

    @Test func coverageIsWhatStoodBefore() throws {
        for seed in 0..<10 as Range<UInt64> {
            let sample = try Sample(seed: seed, commitsEverything: false)
            for (position, covered) in sample.history {
                #expect(try sets(sample.journal.coverage(at: position)) == covered, "seed \(seed), \(position)")
                if position.segment < sample.journal.writer.number {
                    #expect(try sets(sample.reader.coverage(at: position)) == covered, "seed \(seed), \(position)")
                }
            }
            #expect(try sample.journal.coverage(at: .start) == [:])
            let beyond = JournalPosition(segment: .max, offset: .max)
            #expect(try sets(sample.journal.coverage(at: beyond)) == sample.history.last?.covered)
        }
    }

    @Test func aDamagedCheckpointIsReplacedByWhatStandsBefore() throws {
        let sample = try Sample(seed: 77, commitsEverything: true)
        for segment in 2...sample.journal.writer.number {
            let bytes = try #require(sample.files.files[sample.path(segment)]).bytes
            for offset in stride(from: 0, to: 60, by: 7) { sample.files.corrupt(sample.path(segment), at: offset, xor: 4) }
            for (position, covered) in sample.history where position.segment == segment {
                #expect(try sets(sample.journal.coverage(at: position)) == covered)
                #expect(try sets(sample.reader.coverage(at: position)) == covered)
            }
            if segment % 2 == 0 { sample.files.replace(sample.path(segment), with: bytes) }
        }
    }

    @Test func removedSegmentsCountAsCovered() throws {
        let sample = try Sample(seed: 78, commitsEverything: true)
        let start = JournalPosition(segment: 4, offset: 0)
        let before = try sample.reader.coverage(at: start)
        for segment in 1...3 as ClosedRange<UInt32> { try sample.files.remove(sample.path(segment)) }
        let reader = try JournalReader(stateDirectory: "/state", deviceID: collar, fileSystem: sample.files)
        #expect(try reader.coverage(at: .start) == before)
        #expect(try reader.coverage(at: start) == before)
    }

    @Test func aFixLeadsToThePositionBehindIt() throws {
        for seed in 20..<25 as Range<UInt64> {
            let sample = try Sample(seed: seed, commitsEverything: true)
            for (logID, sequence, position) in sample.behind {
                #expect(try sample.journal.position(behind: sequence, logID: logID) == position)
                #expect(try sample.reader.position(behind: sequence, logID: logID) == position)
            }
            let last = try #require(sample.history.last).covered
            let known = Set(sample.behind.map { [$0.log.rawValue, $0.sequence] })
            for (logID, covered) in last {
                for sequence in 0...((covered.max() ?? 0) + 2) where !known.contains([logID.rawValue, sequence]) {
                    #expect(try sample.journal.position(behind: sequence, logID: logID) == nil)
                    #expect(try sample.reader.position(behind: sequence, logID: logID) == nil)
                }
            }
            #expect(try sample.reader.position(behind: 0, logID: 1) == nil)
        }
    }

    @Test func whatWaitsInMemoryHasAPositionToo() throws {
        let journal = try openJournal(MemoryFileSystem())
        try append(0...3, to: journal)
        let position = journal.end
        try append(4...6, to: journal)
        #expect(try journal.position(behind: 3, logID: log) == position)
        #expect(try sequences(allEntries(journal, from: position)) == [4, 5, 6])
    }

    @Test func aSearchReadsFewSegments() throws {
        let files = MemoryFileSystem()
        let journal = try openJournal(files, limit: 4000)
        for start in stride(from: 0 as UInt32, to: 10_000, by: 50) {
            try append(start...(start + 49), to: journal)
            try journal.commit()
        }
        #expect(journal.segments.count > 80)
        let reader = try JournalReader(stateDirectory: "/state", deviceID: collar, fileSystem: files)
        let before = files.readByteCount
        #expect(try reader.position(behind: 5000, logID: log) != nil)
        #expect(try reader.position(receivedSince: 1_700_000_000_000 + 5000 * 1000).segment > 20)
        #expect(files.readByteCount - before < 30 * 5000)
    }

    @Test func aTimeLeadsToAPlaceThatIsNotTooLate() throws {
        for seed in 0..<40 as Range<UInt64> {
            var random = SeededRandom(seed: seed)
            let files = MemoryFileSystem()
            var clock: Int64 = 1_700_000_000_000
            var received: [(time: Int64, position: JournalPosition)] = []
            var sequence: UInt32 = 0
            for _ in 0..<8 {
                let journal = try openJournal(files, limit: 700, at: clock)
                for _ in 0..<Int.random(in: 5...40, using: &random) {
                    #expect(try journal.append(record(sequence, at: clock)))
                    received.append((clock, journal.end))
                    sequence += 1
                    clock += Int64.random(in: 0...5000, using: &random)
                    if Int.random(in: 0..<4, using: &random) == 0 { try journal.commit() }
                }
                try journal.commit()
                // In every second seed, the clock is set before the journal is opened again.
                if seed % 2 == 1 { clock += Int64.random(in: -200_000...200_000, using: &random) }
            }
            let reader = try JournalReader(stateDirectory: "/state", deviceID: collar, fileSystem: files)
            // In half of the seeds, one segment header is damaged.
            let damaged = JournalDirectory(stateDirectory: "/state", deviceID: collar).path(ofSegment: 5)
            if seed % 4 > 1 { files.corrupt(damaged, at: 4, xor: 1) }
            for entry in received {
                let position = try reader.position(receivedSince: entry.time)
                let first = try #require(received.first { $0.time >= entry.time }).position
                #expect(position < first, "seed \(seed)")
                if seed % 4 == 0 {
                    // The clock was never set and all headers are intact: the position is in the segment of the entry, or in the
                    // one before it.
                    #expect(first.segment - position.segment <= 1, "seed \(seed)")
                }
            }
            #expect(try reader.position(receivedSince: .min) == .start)
        }
    }
}
