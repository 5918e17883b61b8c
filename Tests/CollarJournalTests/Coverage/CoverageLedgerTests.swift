import CollarWire
import Testing

@testable import CollarJournal

/// Limits on what a lying collar, or an attacker who sends in its name, can use up. What another log needs to make progress is
/// never used up.
@Suite struct TrackingLimitTests {
    private var few: TrackingLimits {
        var limits = TrackingLimits()
        limits.logCount = 6
        limits.promptLogCount = 4
        limits.rangesOfLog = 3
        limits.sharedRangeCount = 2
        return limits
    }

    /// Appends every tenth fix from `first` on until the journal refuses one.
    /// - Returns: how many fixes were appended.
    private func scatter(_ journal: Journal, log logID: LogID, from first: UInt32 = 10) throws -> Int {
        var count = 0
        do throws(JournalError) {
            while try journal.append(record(first + 10 * UInt32(count), log: logID)) { count += 1 }
        } catch {
            #expect(error == .trackingLimitReached)
        }
        return count
    }

    private func loss(_ first: UInt32, _ last: UInt32, log logID: LogID = log) throws -> JournaledLoss {
        let range = try #require(SequenceRange(first, last))
        return JournaledLoss(logID: logID, range: range, reason: .overwritten, receivedUnixMilliseconds: 5)
    }

    @Test func memoryIsBounded() throws {
        let limits = TrackingLimits()
        let journal = try openJournal(MemoryFileSystem())
        for logID in (0..<UInt32(limits.promptLogCount)).map(LogID.init(lowBitsOf:)) { #expect(try journal.append(record(0, log: logID))) }
        let end = journal.end
        #expect(throws: JournalError.logLimitReached) { try journal.append(record(0, log: 5000)) }
        #expect(journal.end == end)
        try journal.commit()
        var sequence: UInt32 = 2
        #expect(throws: JournalError.trackingLimitReached) {
            while true {
                _ = try journal.append(record(sequence, log: LogID(lowBitsOf: sequence % 3)))
                sequence += 6
                if sequence % 1000 == 0 { try journal.commit() }
            }
        }
        #expect(journal.ledger.sharedRangeCount == limits.sharedRangeCount)
    }

    /// If no ranges were reserved for each log, 38 KB of forged tombstones of one log would use up all ranges. The journal would
    /// then refuse the fixes of the log in use.
    @Test func rangesUsedUpByOneLogLeaveTheOthersTheirOwn() throws {
        let journal = try openJournal(MemoryFileSystem(), limits: few)
        #expect(try scatter(journal, log: 1) == 5)
        #expect(try scatter(journal, log: 2) == 3)
        #expect(try scatter(journal, log: 3) == 3)
        // A gap that is filled gives back the shared range that it took.
        for sequence in 11...19 as ClosedRange<UInt32> { #expect(try journal.append(record(sequence, log: 1))) }
        #expect(try scatter(journal, log: 2, from: 1000) == 1)
    }

    @Test func aLogWhoseRangesAreUsedUpGoesOn() throws {
        let files = MemoryFileSystem()
        do {
            let journal = try openJournal(files, limit: 900, limits: few)
            #expect(try scatter(journal, log: log) == 5)
            // Fixes in ascending order and losses between them are still accepted.
            try append(0...4, to: journal)
            #expect(try journal.append(loss(5, 6)))
            try append(7...8, to: journal)
            #expect(try journal.append(loss(9, 60)))
            for start in stride(from: 61 as UInt32, to: 261, by: 2) {
                #expect(try journal.append(record(start)))
                #expect(try journal.append(loss(start + 1, start + 1)))
                if start % 10 == 1 { try journal.commit() }
            }
            #expect(try #require(journal.ledger.log(log)).known.rangeCount <= 6)
            #expect(try #require(journal.ledger.log(log)).durable.rangeCount <= 6)
            try journal.commit()
            #expect(journal.durable(logID: log).firstMissing == 261)
        }
        let journal = try openJournal(files, limit: 900, limits: few)
        #expect(journal.damage == [])
        #expect(journal.durable(logID: log).firstMissing == 261)
        #expect(journal.durable(logID: log).oldestLostRange(from: 0) == nil)
        #expect(try !journal.append(record(0)))
        #expect(try JournalReader(stateDirectory: "/state", deviceID: collar, fileSystem: files).verify().isIntact)
    }

    @Test func fixesThatCutNoLostRangeInTwoAreTakenAtTheLimit() throws {
        let journal = try openJournal(MemoryFileSystem(), limits: few)
        #expect(try journal.append(loss(0, 99)))
        #expect(try scatter(journal, log: log, from: 200) == 3)
        try append(0...2, to: journal)
        #expect(try journal.append(record(99)))
        #expect(throws: JournalError.trackingLimitReached) { try journal.append(record(50)) }
    }

    @Test func furtherLogsAreTakenUpWhenTheyAreAdmitted() throws {
        let files = MemoryFileSystem()
        do {
            let journal = try openJournal(files, limit: 700, limits: few)
            for logID in [10, 11, 12, 13] as [LogID] { #expect(try journal.append(record(0, log: logID))) }
            #expect(throws: JournalError.logLimitReached) { try journal.append(record(0, log: 14)) }
            #expect(throws: JournalError.logLimitReached) { try journal.append(loss(0, 5, log: 14)) }
            #expect(journal.admitLog())
            #expect(try journal.append(record(0, log: 14)))
            #expect(throws: JournalError.logLimitReached) { try journal.append(record(0, log: 15)) }
            for sequence in 1..<60 as Range<UInt32> { #expect(try journal.append(record(sequence, log: 10))) }
            try journal.commit()
            #expect(journal.segments.count > 1)
        }
        // A new process keeps the five admitted logs, although it admits only four without a call of `admitLog()`.
        let journal = try openJournal(files, limit: 700, limits: few)
        #expect(journal.logIDs == [11, 12, 13, 14, 10])
        #expect(try journal.append(record(1, log: 14)))
        #expect(throws: JournalError.logLimitReached) { try journal.append(record(0, log: 15)) }
        #expect(journal.admitLog())
        #expect(try journal.append(record(0, log: 15)))
        #expect(!journal.admitLog(), "as many as there may be")
        #expect(try JournalReader(stateDirectory: "/state", deviceID: collar, fileSystem: files).verify().isIntact)
    }

    @Test func aCheckpointTakesHalfOfASegmentAtMost() throws {
        let files = MemoryFileSystem()
        for round in 0..<2 as Range<UInt32> {
            let journal = try openJournal(files, limit: 1000)
            for logID in (0..<400 as Range<UInt32>).map(LogID.init(lowBitsOf:)) {
                #expect(try journal.append(record(round, log: logID)))
                try journal.commit()
            }
            #expect(journal.segments.count < 20, "a segment for each commit else")
        }
        let journal = try openJournal(files, limit: 1000)
        #expect((0..<400 as Range<UInt32>).allSatisfy { journal.durable(logID: LogID(lowBitsOf: $0)).firstMissing == 2 })
    }

    @Test func aJournalOfFullSizeTakesNoMore() throws {
        let files = MemoryFileSystem()
        let start: Int64 = 1_800_000_000_000
        let day = 86_400_000 as Int64
        func openLimited() throws -> Journal { try openJournal(files, limit: 1000, at: start, byteLimit: 5000) }
        func fill(_ journal: Journal, from first: UInt32) throws -> UInt32 {
            var sequence = first
            do throws(JournalError) {
                while true {
                    _ = try journal.append(record(sequence, at: start))
                    sequence += 1
                    journal.setEmissionCursor(journal.end)
                    try journal.commit()
                }
            } catch { #expect(error == .sizeLimitReached(5000, path: "/state/0123456789abcdef")) }
            return sequence
        }
        var journal: Journal? = try openLimited()
        let count = try fill(try #require(journal), from: 0)
        #expect((30..<120).contains(count))
        journal = nil
        let again = try openLimited()
        #expect(again.isAtByteLimit)
        #expect(again.durable(logID: log).firstMissing == count)
        #expect(throws: JournalError.self) { try again.append(record(count)) }
        again.setEmissionCursor(again.end)
        try again.commit()
        #expect(try again.removeSegments(keepingDays: 1, nowUnixMilliseconds: start + 3 * day) > 2)
        #expect(!again.isAtByteLimit)
        #expect(try fill(again, from: count) > count + 10)
        #expect(try again.byteCount(from: .start) < 6500)
    }
}
