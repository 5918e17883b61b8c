import CollarWire
import Glibc
import Testing

@testable import CollarJournal

/// Which segments go, and that nobody misses what they held.
@Suite struct JournalRetentionTests {
    private let start: Int64 = 1_700_000_000_000

    /// Fixes 0 to 299, one a second, all handed over.
    private func threeHundred(_ files: MemoryFileSystem = MemoryFileSystem()) throws -> (Journal, MemoryFileSystem) {
        let journal = try openJournal(files, limit: 1500)
        for first in stride(from: 0 as UInt32, to: 300, by: 10) {
            try append(first...(first + 9), to: journal)
            journal.setEmissionCursor(journal.end)
            try journal.commit()
        }
        #expect(journal.segments.count > 7)
        return (journal, files)
    }

    private func stored(_ journal: Journal) throws -> [UInt32] { try sequences(allEntries(journal, limit: 50)) }

    private func verify(_ files: MemoryFileSystem) throws -> JournalVerification {
        try JournalReader(stateDirectory: "/state", deviceID: collar, fileSystem: files).verify()
    }

    @Test func whatIsOldGoesAndStaysCovered() throws {
        for seconds in [0, 50, 150, 299] as [Int64] {
            let (journal, files) = try threeHundred()
            let limit = start + seconds * 1000
            let count = try journal.removeSegments(receivedBefore: limit)
            #expect((count > 0) == (seconds > 0))
            let rest = try stored(journal)
            let first = try #require(rest.first)
            #expect(rest == Array(first..<300))
            #expect(first <= seconds, "nothing newer goes")
            #expect(first + 40 > seconds, "what is old goes")
            #expect(try journal.removeSegments(receivedBefore: limit) == 0)
            #expect(journal.durable(logID: log).firstMissing == 300)
            #expect(try !journal.append(record(0)))
            try append(300...320, to: journal)
            try journal.commit()
            let found = try verify(files)
            #expect(found.isIntact && found.logs[0].missing == [])
            #expect(found.logs[0].removed.ranges == (first == 0 ? [] : [SequenceRange(0, first - 1)]))
            #expect(try journal.position(behind: 0, logID: log) == nil || seconds == 0)
            #expect(try journal.position(receivedSince: start).segment == journal.segments[0])
        }
    }

    @Test func theSegmentThatGrowsStays() throws {
        let (journal, _) = try threeHundred()
        try journal.removeSegments(receivedBefore: .max, byteLimit: 0)
        #expect(journal.segments == [journal.writer.number])
        #expect(journal.durable(logID: log).firstMissing == 300)
        try append(300...399, to: journal)
        try journal.commit()
        #expect(try stored(journal).last == 399)
    }

    @Test func whatWasNotHandedOverStays() throws {
        let files = MemoryFileSystem()
        let journal = try openJournal(files, limit: 1500)
        var behindHundred = JournalPosition.start
        for sequence in 0..<300 as Range<UInt32> {
            try append(sequence...sequence, to: journal)
            if sequence == 100 { behindHundred = journal.end }
            if sequence % 10 == 9 { try journal.commit() }
        }
        #expect(try journal.removeSegments(receivedBefore: .max, byteLimit: 0) == 0)
        journal.setEmissionCursor(behindHundred)
        #expect(try journal.removeSegments(receivedBefore: .max, byteLimit: 0) > 0)
        #expect(journal.segments[0] == behindHundred.segment)
        #expect(try sequences(allEntries(journal, from: behindHundred)) == Array(101..<300))
    }

    @Test func theOldestGoUntilTheSizeFits() throws {
        let (journal, files) = try threeHundred()
        let before = files.usedByteCount
        let count = try journal.removeSegments(receivedBefore: .min, byteLimit: 6000)
        #expect(count > 0)
        #expect(try journal.byteCount(from: .start) <= 6000)
        #expect(try journal.byteCount(from: .start) > 6000 - 2000, "no more than needed")
        #expect(files.usedByteCount < before)
        #expect(try journal.removeSegments(receivedBefore: .min, byteLimit: 6000) == 0)
    }

    @Test func aSegmentBehindWhichCoverageIsNotToldStays() throws {
        let (journal, files) = try threeHundred()
        let second = journal.directory.path(ofSegment: 2)
        for offset in 30..<60 { files.corrupt(second, at: offset, xor: 1) }
        #expect(try journal.removeSegments(receivedBefore: .max) == 0)
        #expect(journal.segments[0] == 1)
    }

    @Test func aCrashInBetweenIsHarmless() throws {
        let total = try threeHundred().0.segments.count
        for removed in 0..<total {
            var (journal, files) = try threeHundred()
            // The first ones are gone when the process ends.
            for segment in journal.segments.prefix(removed) { try files.remove(journal.directory.path(ofSegment: segment)) }
            journal = try openJournal(MemoryFileSystem())
            files.crash { durable, _ in durable }
            let again = try openJournal(files, limit: 1500)
            #expect(again.durable(logID: log).firstMissing == 300)
            #expect(again.damage == [])
            #expect(try verify(files).isIntact)
            try again.removeSegments(receivedBefore: .max)
            #expect(again.segments.count == 1)
        }
    }

    @Test func whatCannotBeRemovedIsNamedAndTriedAgain() throws {
        let (journal, files) = try threeHundred()
        files.failures = [(.remove, EROFS)]
        let failure = FileFailure(.remove, firstSegment, errorNumber: EROFS)
        #expect(throws: JournalError.file(failure)) { try journal.removeSegments(receivedBefore: .max) }
        #expect(journal.state == .open)
        #expect(try stored(journal).count == 300)
        #expect(try journal.removeSegments(receivedBefore: .max) > 0)
    }
}
