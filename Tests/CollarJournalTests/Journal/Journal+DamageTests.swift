import CollarARQ
import CollarWire
import Glibc
import Testing

@testable import CollarJournal

/// Damage in earlier segments: the lost fixes are asked for again, stored again, and counted once.
@Suite struct JournalDamageTests {
    private func path(_ segment: UInt32) -> String {
        JournalDirectory(stateDirectory: "/state", deviceID: collar).path(ofSegment: segment)
    }

    /// The files of a closed journal with fixes 0 to 299 in at least three segments.
    private func threeHundred(limit: Int = 2000) throws -> MemoryFileSystem {
        let files = MemoryFileSystem()
        let journal = try openJournal(files, limit: limit)
        for start in stride(from: 0 as UInt32, to: 300, by: 10) {
            try append(start...(start + 9), to: journal)
            try journal.commit()
        }
        #expect(journal.segments.count > 2)
        return files
    }

    /// Reads all entries, and calls `uncoverDamage(inSegment:)` for each report of damage.
    private func readAndUncover(_ journal: Journal) throws -> (found: Set<UInt32>, lost: Set<UInt32>) {
        var found: Set<UInt32> = []
        var lost: Set<UInt32> = []
        var position = JournalPosition.start
        while true {
            let batch = try journal.entries(from: position, limit: 50)
            found.formUnion(sequences(batch.elements.map(\.entry)))
            for report in batch.damage {
                for range in try journal.uncoverDamage(inSegment: report.segment)[log] ?? [] {
                    lost.formUnion(range.first...range.last)
                }
            }
            position = batch.end
            if batch.isAtEnd { return (found, lost) }
        }
    }

    /// The ranges that the collar is asked to resend.
    private func resend(_ journal: Journal) throws -> [SequenceRange] {
        var end = HostDelivery(
            log: LogIdentity(deviceID: collar, logID: log), receiverID: receiver, highestSequence: journal.known(logID: log).highest ?? 0)
        end.receive(flags: FrameFlags(poll: .first))
        let durable = journal.durable(logID: log)
        let answer = end.takeAnswer(from: durable)
        let ranges = try #require(answer).resend
        return (0..<ranges.count).map { ranges[$0] }
    }

    private func ranges(_ sequences: Set<UInt32>) -> [SequenceRange] {
        var covered = CoveredSequences()
        for sequence in sequences { covered.insert(sequence) }
        return covered.ranges
    }

    /// Checks that the damage is found and that the lost fixes are asked for again and then stored once. With `closes`, the
    /// journal is closed and opened again in between.
    private func isRepaired(_ files: MemoryFileSystem, limit: Int, closes: Bool) throws {
        var missing: Set<UInt32> = []
        var journal = try openJournal(files, limit: limit)
        do {
            let (found, lost) = try readAndUncover(journal)
            missing = Set((0..<300 as Range<UInt32>)).subtracting(found)
            #expect(!missing.isEmpty && lost == missing)
            #expect(try resend(journal) == ranges(missing))
            #expect(try readAndUncover(journal).lost == [], "once")
            try journal.commit()
        }
        if closes {
            journal = try openJournal(MemoryFileSystem())
            files.crash { durable, _ in durable }
            journal = try openJournal(files, limit: limit)
            #expect(try resend(journal) == ranges(missing))
            #expect(try readAndUncover(journal).lost == [], "once")
        }
        for sequence in missing.sorted() { #expect(try journal.append(record(sequence))) }
        try journal.commit()
        #expect(try resend(journal) == [])
        #expect(journal.durable(logID: log).firstMissing == 300)
        let all = try sequences(allEntries(journal, limit: 100))
        #expect(all.sorted() == Array(0..<300), "each once")
        if closes {
            journal = try openJournal(MemoryFileSystem())
            journal = try openJournal(files, limit: limit)
        }
        let after = try readAndUncover(journal)
        #expect(after.lost == [] && after.found.count == 300)
        #expect(journal.durable(logID: log).firstMissing == 300)
        #expect(try resend(journal) == [])
        // The fixes that were stored again are found even if their segment is no longer the last one.
        try append(300...499, to: journal)
        try journal.commit()
        try append(500...500, to: journal)
        try journal.commit()
        for sequence in missing {
            let position = try #require(try journal.position(behind: sequence, logID: log))
            let before = try journal.entries(from: JournalPosition(segment: position.segment, offset: 0), limit: 1000)
            #expect(before.elements.contains { $0.end == position && $0.entry == .fix(record(sequence)) })
        }
    }

    @Test func flippedBytesOfAnEarlierSegmentAreAskedForAgain() throws {
        for closes in [false, true] {
            for count in [1, 100, 700] {
                let files = try threeHundred()
                for offset in 0..<count { files.corrupt(path(3), at: 400 + offset, xor: 0x11) }
                try isRepaired(files, limit: 2000, closes: closes)
            }
        }
    }

    @Test func aMissingSegmentIsAskedForAgain() throws {
        for closes in [false, true] {
            for gone in [[3], [2, 3], [2, 4]] as [[UInt32]] {
                let files = try threeHundred()
                for segment in gone { try files.remove(path(segment)) }
                try isRepaired(files, limit: 2000, closes: closes)
            }
        }
    }

    @Test func aPageOfZerosIsAskedForAgain() throws {
        for closes in [false, true] {
            let files = try threeHundred(limit: 5000)
            let bytes = try #require(files.files[path(2)]).bytes
            #expect(bytes.count > 4096)
            files.replace(path(2), with: [UInt8](repeating: 0, count: 4096) + bytes.dropFirst(4096))
            try isRepaired(files, limit: 5000, closes: closes)
        }
    }

    @Test func damageThatTookNothingUncoversNothing() throws {
        let files = try threeHundred()
        // This byte is in the header.
        files.corrupt(path(3), at: 5, xor: 1)
        let journal = try openJournal(files, limit: 2000)
        #expect(try readAndUncover(journal) == (Set(0..<300), []))
        try journal.commit()
        #expect(journal.durable(logID: log).firstMissing == 300)
        #expect(try resend(journal) == [])
    }

    /// The intact records of a damaged checkpoint still name a fix whose own record, in the segment before, is damaged. This fix
    /// counts as lost, also if the checkpoint is that of the last segment (seed 4300017248).
    @Test(arguments: [false, true]) func damageBeforeADamagedCheckpointIsSeen(inLastSegment: Bool) throws {
        let files = try threeHundred()
        let segment = inLastSegment ? try openJournal(files, limit: 2000).end.segment : 4
        // The segment begins with three records: the header, the coverage of the log, and the end of the checkpoint.
        let bytes = try #require(files.files[path(segment)]).bytes
        let end = try #require(bytes.indices.split { bytes[$0] == 0 }.dropFirst(2).first?.first)
        files.corrupt(path(segment), at: end + 2, xor: 1)
        files.corrupt(path(segment - 1), at: 400, xor: 1)
        let journal = try openJournal(files, limit: 2000)
        let (found, lost) = try readAndUncover(journal)
        let missing = Set((0..<300 as Range<UInt32>)).subtracting(found)
        // The opening of the journal already finds damage in the last two segments.
        #expect(missing.count == 1 && lost == (inLastSegment ? [] : missing))
        try journal.commit()
        #expect(try resend(journal) == ranges(missing))
        for sequence in missing { #expect(try journal.append(record(sequence))) }
        try journal.commit()
        #expect(try sequences(allEntries(journal)).sorted() == Array(0..<300), "each once")
        #expect(journal.durable(logID: log).firstMissing == 300)
    }

    /// The disk may have room for only the first records that mark the lost fixes as not covered. Even then, each lost fix that
    /// comes again is stored exactly once, and none stays missing.
    @Test func anUncoveringThatWasCutShortIsDoneAnew() throws {
        let whole = try threeHundred()
        whole.corrupt(path(3), at: 400, xor: 1)
        whole.corrupt(path(3), at: 800, xor: 1)
        let last: String
        let start: Int
        let lost: Set<UInt32>
        do {
            let journal = try openJournal(whole, limit: 2000)
            last = path(journal.end.segment)
            start = try #require(whole.files[last]).bytes.count
            lost = try readAndUncover(journal).lost
            try journal.commit()
        }
        #expect(lost.count == 2)
        let bytes = try #require(whole.files[last]).bytes
        for end in start...bytes.count {
            let files = try threeHundred()
            files.corrupt(path(3), at: 400, xor: 1)
            files.corrupt(path(3), at: 800, xor: 1)
            files.replace(last, with: Array(bytes.prefix(end)))
            let journal = try openJournal(files, limit: 2000)
            // The collar resends the lost fixes before the damage is dealt with again.
            for sequence in lost where try journal.append(record(sequence)) {}
            try journal.commit()
            for sequence in try journal.uncoverDamage(inSegment: 3)[log]?.flatMap({ $0.first...$0.last }) ?? [] {
                #expect(try journal.append(record(sequence)))
            }
            try journal.commit()
            #expect(journal.durable(logID: log).firstMissing == 300, "cut at \(end)")
            let stored = sequences(try allEntries(journal))
            #expect(stored.count == 300 && Set(stored).count == 300, "cut at \(end): \(stored.count)")
        }
    }

    /// A reader whose position is after the damage learns that the range is no longer covered.
    @Test func anUncoveredRangeIsAnEntry() throws {
        let files = try threeHundred()
        files.corrupt(path(3), at: 400, xor: 1)
        let journal = try openJournal(files, limit: 2000)
        let end = journal.end
        let lost = try readAndUncover(journal).lost
        try journal.commit()
        let range = try #require(ranges(lost).first)
        #expect(try allEntries(journal, from: end) == [.uncovered(UncoveredRange(logID: log, range: range))])
    }

    /// Fix 6 has a record in a later segment. An earlier version asked for fix 6 again and stored it twice (seed 1030008475).
    @Test func aFixThatCameAfterItsLossIsNotGoneWithIt() throws {
        let files = MemoryFileSystem()
        do {
            let journal = try openJournal(files, limit: 700)
            try append(0...4, to: journal)
            try journal.commit()
            let range = try #require(SequenceRange(5, 7))
            let offset = Int(journal.end.offset)
            let loss = JournaledLoss(logID: log, range: range, reason: .overwritten, receivedUnixMilliseconds: 5)
            #expect(try journal.append(loss))
            try append(8...30, to: journal)
            try journal.commit()
            #expect(journal.segments == [1, 2])
            try append(6...6, to: journal)
            try journal.commit()
            files.corrupt(firstSegment, at: offset + 8, xor: 1)
        }
        let journal = try openJournal(files, limit: 700)
        #expect(try journal.uncoverDamage(inSegment: 1) == [log: [SequenceRange(5), SequenceRange(7)]])
        #expect(journal.contains(6, logID: log))
    }

    @Test func furtherDamageIsFurtherDamage() throws {
        let files = try threeHundred()
        files.corrupt(path(3), at: 400, xor: 1)
        let journal = try openJournal(files, limit: 2000)
        #expect(try readAndUncover(journal).lost.count == 1)
        try journal.commit()
        #expect(try journal.uncoverDamage(inSegment: 3) == [:])
        files.corrupt(path(3), at: 600, xor: 1)
        // The fix that was damaged first is already marked as not covered, so it does not count again.
        #expect(try readAndUncover(journal).lost.count == 1)
        #expect(try journal.uncoverDamage(inSegment: 3) == [:])
    }

    @Test func whatWasReadBackDamagedFromTheSegmentThatGrowsIsAskedForAgain() throws {
        let files = MemoryFileSystem()
        let journal = try openJournal(files)
        try append(0...9, to: journal)
        try journal.commit()
        try append(10...12, to: journal)
        files.corrupt(firstSegment, at: 200, xor: 1)
        let (found, lost) = try readAndUncover(journal)
        #expect(found.count == 12 && lost.count == 1)
        try journal.commit()
        #expect(try resend(journal) == ranges(lost))
        for sequence in lost { #expect(try journal.append(record(sequence))) }
        try journal.commit()
        #expect(journal.durable(logID: log).firstMissing == 13)
    }

    @Test func whatOpeningFoundDamagedIsReportedOnceAndNotUncoveredAgain() throws {
        let files = MemoryFileSystem()
        do {
            let journal = try openJournal(files)
            try append(0...9, to: journal)
            try journal.commit()
        }
        files.corrupt(firstSegment, at: 200, xor: 1)
        var lost: [SequenceRange] = []
        do {
            let journal = try openJournal(files)
            #expect(journal.damage.count == 1)
            lost = try resend(journal)
            #expect(lost.count == 1)
            #expect(try readAndUncover(journal).lost == [])
            try append(lost[0].first...lost[0].first, to: journal)
            try journal.commit()
        }
        let journal = try openJournal(files)
        #expect(journal.damage == [])
        #expect(try readAndUncover(journal).lost == [])
        #expect(journal.durable(logID: log).firstMissing == 10)
    }

    @Test func anUncoveredRangeOutlivesARestartAndASegment() throws {
        let files = MemoryFileSystem()
        let range = try #require(SequenceRange(5, 9))
        do {
            let journal = try openJournal(files, limit: 700)
            try append(0...12, to: journal)
            try journal.commit()
            try append(13...14, to: journal)
            // Fixes 13 and 14 are not durable yet.
            let late = try #require(SequenceRange(13, 13))
            #expect(try journal.uncover(range, logID: log))
            #expect(try !journal.uncover(range, logID: log))
            #expect(try journal.uncover(late, logID: log))
            #expect(try !journal.uncover(range, logID: otherLog))
            #expect(journal.durable(logID: log).ranges == [SequenceRange(0, 4), SequenceRange(10, 12)])
            let synchronised = files.calls[.synchronize] ?? 0
            try journal.commit()
            #expect(files.calls[.synchronize] ?? 0 > synchronised)
            #expect(journal.durable(logID: log).ranges == [SequenceRange(0, 4), SequenceRange(10, 12), SequenceRange(14)])
            #expect(journal.ledger.log(log)?.known.rangeCount == 3)
        }
        files.crash { durable, _ in durable }
        do {
            let journal = try openJournal(files, limit: 700)
            #expect(try resend(journal) == [range, SequenceRange(13)])
            try append(15...40, to: journal)
            try journal.commit()
            #expect(journal.segments.count > 1)
        }
        let journal = try openJournal(files, limit: 700)
        #expect(journal.damage == [])
        #expect(try resend(journal) == [range, SequenceRange(13)])
        #expect(try journal.append(record(7)))
        let coverage = try journal.coverage(at: journal.end)[log]
        #expect(coverage?.ranges == ranges(Set(0...4).union([7]).union(10...12).union(14...40)))
    }

    /// After any damage was dealt with, exactly the fixes whose records can be read are covered, apart from those in removed
    /// oldest segments.
    @Test func coverageAndRecordsAgreeAfterAnyDamage() throws {
        for seed in 0..<300 as Range<UInt64> {
            var random = SeededRandom(seed: seed)
            let files = try threeHundred(limit: Int.random(in: 900...4000, using: &random))
            let segments = try openJournal(files).segments
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let segment = try #require(segments.dropLast().randomElement(using: &random))
                guard let bytes = files.files[path(segment)]?.bytes, !bytes.isEmpty else { continue }
                switch Int.random(in: 0..<4, using: &random) {
                case 0: try files.remove(path(segment))
                case 1: files.replace(path(segment), with: Array(bytes.prefix(Int.random(in: 0..<bytes.count, using: &random))))
                default:
                    let start = Int.random(in: 0..<bytes.count, using: &random)
                    for offset in start..<min(bytes.count, start + Int.random(in: 1...900, using: &random)) {
                        files.corrupt(path(segment), at: offset, xor: UInt8.random(in: 1...255, using: &random))
                    }
                }
            }
            var expected: Set<UInt32> = []
            do {
                let journal = try openJournal(files)
                if let oldest = journal.segments.first, oldest > 1,
                    try JournalRecovery(checkpointOf: oldest, journal) == nil
                {
                    // The oldest checkpoint is damaged too, so it is unknown what the removed segments covered.
                    continue
                }
                for segment in segments { _ = try journal.uncoverDamage(inSegment: segment) }
                try journal.commit()
                expected = try readAndUncover(journal).found
                // The fixes of removed oldest segments stay covered: the absence of these segments does not count as damage.
                if let oldest = try journal.coverage(at: .start)[log] {
                    expected.formUnion(oldest.ranges.flatMap { Array($0.first...$0.last) })
                }
                #expect(journal.durable(logID: log).ranges == ranges(expected), "seed \(seed)")
                #expect(try resend(journal) == ranges(Set(0..<300).subtracting(expected)), "seed \(seed)")
            }
            let journal = try openJournal(files)
            #expect(journal.durable(logID: log).ranges == ranges(expected), "seed \(seed)")
            for sequence in Set(0..<300 as Range<UInt32>).subtracting(expected).sorted() {
                #expect(try journal.append(record(sequence)))
            }
            try journal.commit()
            for segment in segments { #expect(try journal.uncoverDamage(inSegment: segment) == [:], "seed \(seed)") }
            #expect(journal.durable(logID: log).firstMissing == 300, "seed \(seed)")
        }
    }

    /// A disk that is full when the journal is opened has no room for the progress record that ends an interrupted commit. If
    /// the records of this commit were announced nevertheless, later damage to them would go unnoticed.
    @Test func whatWouldNotBeMissedIsNotAnnounced() throws {
        let files = MemoryFileSystem()
        var start = 0
        do {
            let journal = try openJournal(files)
            try append(0...4, to: journal)
            try journal.commit()
            try append(5...8, to: journal)
            start = Int(journal.end.offset)
            try append(9...9, to: journal)
            files.room = files.usedByteCount + journal.writer.pending.bytes.count
            files.failures = [(.truncate, EIO)]
            #expect(throws: JournalError.self) { try journal.commit() }
        }
        for _ in 0..<2 {
            let journal = try openJournal(files)
            #expect(journal.durable(logID: log).firstMissing == 5)
            #expect(journal.durable(logID: log).newestRange(below: nil) == nil)
            #expect(try resend(journal) == [])
            #expect(try journal.append(record(9)) == false)
            #expect(throws: JournalError.self) { try journal.commit() }
            #expect(journal.durable(logID: log).firstMissing == 5)
        }
        do {
            let journal = try openJournal(files)
            files.room = .max
            try journal.commit()
            #expect(journal.durable(logID: log).firstMissing == 10)
        }
        files.corrupt(firstSegment, at: start + 20, xor: 0x10)
        let journal = try openJournal(files)
        #expect(journal.durable(logID: log).firstMissing == 9)
        #expect(try resend(journal) == [SequenceRange(9)])
    }

    /// Fixes that were durable before the interrupted commit stay announced. The records of that commit are announced with the next
    /// commit.
    @Test func whatWasAnnouncedBeforeStaysAnnounced() throws {
        let files = MemoryFileSystem()
        do {
            let journal = try openJournal(files)
            try append(0...4, to: journal)
            try append(20...24, to: journal)
            try journal.commit()
            try append(5...6, to: journal)
            try append(25...25, to: journal)
            files.room = files.usedByteCount + journal.writer.pending.bytes.count
            files.failures = [(.truncate, EIO)]
            #expect(throws: JournalError.self) { try journal.commit() }
        }
        let journal = try openJournal(files)
        #expect(journal.durable(logID: log).ranges == [SequenceRange(0, 4), SequenceRange(20, 24)])
        #expect(journal.durable(logID: log).announcedEnd == 5)
        files.room = .max
        try append(7...7, to: journal)
        try journal.commit()
        #expect(journal.durable(logID: log).ranges == [SequenceRange(0, 7), SequenceRange(20, 25)])
    }
}
