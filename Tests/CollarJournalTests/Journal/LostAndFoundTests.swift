import CollarWire
import Testing

@testable import CollarJournal

/// Fixes that come although they were reported lost.
@Suite struct LostAndFoundTests {
    private func appendLoss(_ first: UInt32, _ last: UInt32, to journal: Journal) throws {
        let range = try #require(SequenceRange(first, last))
        #expect(
            try journal.append(
                JournaledLoss(logID: log, range: range, reason: .overwritten, receivedUnixMilliseconds: 5)))
    }

    private func verification(_ files: MemoryFileSystem) throws -> LogVerification {
        let found = try JournalReader(stateDirectory: "/state", deviceID: collar, fileSystem: files).verify()
        #expect(found.isIntact)
        return try #require(found.logs.first)
    }

    @Test func aFixBeatsALoss() throws {
        let files = MemoryFileSystem()
        do {
            let journal = try openJournal(files)
            try append(0...2, to: journal)
            try appendLoss(3, 5, to: journal)
            try journal.commit()
            #expect(!journal.contains(4, logID: log))
            #expect(try journal.append(record(4)))
            #expect(journal.contains(4, logID: log))
            #expect(try !journal.append(record(4)))
            // The commit synchronises the fix although its sequence was already covered.
            let synchronised = files.calls[.synchronize]
            try journal.commit()
            #expect(files.calls[.synchronize] != synchronised)
        }
        let journal = try openJournal(files)
        #expect(journal.contains(4, logID: log) && !journal.contains(3, logID: log))
        #expect(journal.durable(logID: log).firstMissing == 6)
        #expect(journal.durable(logID: log).oldestLostRange(from: 0) == nil)
        #expect(sequences(try allEntries(journal)) == [0, 1, 2, 4])
        #expect(try journal.position(behind: 4, logID: log) != nil)
        #expect(try journal.position(behind: 3, logID: log) == nil)
        let found = try verification(files)
        #expect(found.stored.ranges == [SequenceRange(0, 2), SequenceRange(4)])
        #expect(found.lost.ranges == [SequenceRange(3), SequenceRange(5)])
    }

    @Test func aLossNeverTakesAFix() throws {
        let files = MemoryFileSystem()
        let journal = try openJournal(files)
        try append(0...2, to: journal)
        try appendLoss(1, 5, to: journal)
        try journal.commit()
        #expect(try !journal.append(record(1)))
        #expect(try verification(files).stored.ranges == [SequenceRange(0, 2)])
        #expect(try !openJournal(MemoryFileSystem()).contains(1, logID: log))
    }

    /// A loss whose record was removed with its segment is still known from a checkpoint.
    @Test func aLossIsOneAfterItsSegmentIsRemoved() throws {
        let files = MemoryFileSystem()
        do {
            let journal = try openJournal(files, limit: 600)
            try appendLoss(0, 99, to: journal)
            for sequence in 100...160 as ClosedRange<UInt32> {
                #expect(try journal.append(record(sequence, at: 1_780_000_000_000)))
            }
            try journal.commit()
            #expect(try journal.append(record(50)))
            try journal.commit()
            journal.setEmissionCursor(journal.end)
            try journal.commit()
            #expect(try journal.removeSegments(keepingDays: 1, nowUnixMilliseconds: 1_790_000_000_000) > 0)
        }
        let journal = try openJournal(files, limit: 600)
        #expect(journal.contains(50, logID: log))
        #expect(!journal.contains(49, logID: log))
        #expect(try journal.append(record(49)))
        #expect(try journal.append(record(51)))
    }

    /// The damaged record is that of a fix that was stored after it was reported lost. Only the number of lost fixes in the
    /// progress record shows that the fix is gone.
    @Test func aFoundFixThatIsDamagedIsAskedForAgain() throws {
        let files = MemoryFileSystem()
        var place = 0
        do {
            let journal = try openJournal(files)
            try appendLoss(0, 9, to: journal)
            try append(10...12, to: journal)
            try journal.commit()
            place = Int(journal.end.offset)
            #expect(try journal.append(record(4)))
            try journal.commit()
        }
        files.corrupt(firstSegment, at: place + 9, xor: 0x40)
        let verification = try JournalReader(stateDirectory: "/state", deviceID: collar, fileSystem: files).verify()
        #expect(!verification.isIntact)
        #expect(verification.logs.first?.damaged.contains(4) == true)
        let journal = try openJournal(files)
        #expect(journal.durable(logID: log).oldestLostRange(from: 0)?.contains(4) == true)
        #expect(try journal.append(record(4)))
    }

    /// The same damage in a segment that is not the last one.
    @Test func aFoundFixThatIsDamagedInAnEarlierSegmentIsAskedForAgain() throws {
        let files = MemoryFileSystem()
        var place = 0
        do {
            let journal = try openJournal(files, limit: 900)
            try appendLoss(0, 9, to: journal)
            try journal.commit()
            place = Int(journal.end.offset)
            #expect(try journal.append(record(4)))
            try append(10...40, to: journal)
            try journal.commit()
            #expect(journal.segments.count == 2)
        }
        files.corrupt(firstSegment, at: place + 9, xor: 0x40)
        let journal = try openJournal(files, limit: 900)
        #expect(try journal.uncoverDamage(inSegment: 1) == [log: [SequenceRange(4)]])
        #expect(try journal.append(record(4)))
    }

    /// A lying collar cannot fill the memory: each piece of a lost range counts as a range.
    @Test func theNumberOfPiecesIsLimited() throws {
        var covered = CoveredSequences()
        #expect(covered.insert(lost: try #require(SequenceRange(0, 100)), rangeLimit: 4) == .inserted)
        #expect(covered.insert(50, rangeLimit: 4) == .inserted)
        #expect(covered.rangeCount == 3)
        #expect(covered.insert(52, rangeLimit: 4) == .inserted)
        let before = covered
        #expect(covered.insert(54, rangeLimit: 4) == .refused)
        #expect(covered == before)
        #expect(covered.insert(lost: SequenceRange(200), rangeLimit: 4) == .refused)
        #expect(covered == before)
        // A lost range that directly follows another one merges with it and takes no room.
        #expect(covered.insert(lost: SequenceRange(101), rangeLimit: 4) == .inserted)
        #expect(covered.rangeCount == 4)
    }

    @Test func storedAndLostAgreeWithPlainSets() throws {
        for seed in 0..<200 as Range<UInt64> {
            var random = SeededRandom(seed: seed)
            var covered = CoveredSequences()
            var stored: Set<UInt32> = []
            var lost: Set<UInt32> = []
            for _ in 0..<60 {
                let first = UInt32.random(in: 0..<64, using: &random)
                let range = try #require(SequenceRange(first, min(63, first + UInt32.random(in: 0..<9, using: &random))))
                let members = Set(range.first...range.last)
                switch UInt8.random(in: 0..<4, using: &random) {
                case 0:
                    #expect((covered.insert(first) == .inserted) == !stored.contains(first), "seed \(seed)")
                    stored.insert(first)
                    lost.remove(first)
                case 1:
                    covered.insert(range)
                    stored.formUnion(members)
                    lost.subtract(members)
                case 2:
                    let isNew = !members.subtracting(stored).subtracting(lost).isEmpty
                    #expect((covered.insert(lost: range) == .inserted) == isNew, "seed \(seed)")
                    lost.formUnion(members.subtracting(stored))
                default:
                    covered.remove(range)
                    stored.subtract(members)
                    lost.subtract(members)
                }
                #expect((0..<70).allSatisfy { covered.isStored($0) == stored.contains($0) }, "seed \(seed)")
                #expect((0..<70).allSatisfy { covered.lost.contains($0) == lost.contains($0) }, "seed \(seed)")
                #expect(covered.count == UInt64(stored.count + lost.count), "seed \(seed)")
                #expect(covered.stored.count == UInt64(stored.count), "seed \(seed)")
            }
        }
    }
}
