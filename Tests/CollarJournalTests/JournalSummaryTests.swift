import CollarWire
import Testing

@testable import CollarJournal

/// What a journal says about its collar, without being read as a whole.
@Suite struct JournalSummaryTests {
    private func summary(_ files: MemoryFileSystem) throws -> (summary: JournalSummary, examined: [UInt32]) {
        let reader = try JournalReader(stateDirectory: "/state", deviceID: collar, fileSystem: files)
        var examined: [UInt32] = []
        let summary = try reader.summary { examined.append($0.fix.sequence) }
        return (summary, examined)
    }

    @Test func anEmptyJournal() throws {
        let files = MemoryFileSystem()
        let journal = try openJournal(files)
        try journal.commit()
        var expected = JournalSummary()
        expected.byteCount = try #require(files.files[firstSegment]).bytes.count
        #expect(try summary(files).summary == expected)
    }

    @Test func itReadsTwoSegments() throws {
        let files = MemoryFileSystem()
        let journal = try openJournal(files, limit: 700)
        for sequence in 0..<300 as Range<UInt32> {
            try append(sequence...sequence, to: journal)
            if sequence % 3 == 2 { try journal.commit() }
        }
        try #require(journal.segments.count > 10)
        let (summary, examined) = try summary(files)
        #expect(summary.newest == record(299))
        #expect(summary.storedCount == 300)
        #expect(summary.missingCount == 0)
        #expect(summary.byteCount == files.files.values.reduce(0) { $0 + $1.bytes.count })
        // Two segments of the more than ten, without a hole between them.
        #expect((8..<60).contains(examined.count))
        #expect(examined.sorted() == Array((300 - UInt32(examined.count))..<300))
    }

    /// The newest fix came first, and a backlog after it has filled segments.
    @Test func theNewestIsNotTheLast() throws {
        let files = MemoryFileSystem()
        let journal = try openJournal(files, limit: 700)
        try append(400...400, to: journal)
        try journal.commit()
        for sequence in 0..<200 as Range<UInt32> {
            try append(sequence...sequence, to: journal)
            if sequence % 3 == 2 { try journal.commit() }
        }
        #expect(
            try journal.append(
                JournaledLoss(
                    logID: log, range: try #require(SequenceRange(210, 219)), reason: .overwritten,
                    receivedUnixMilliseconds: 1_700_000_000_000)))
        try journal.commit()
        try #require(journal.segments.count > 5)
        let found = try summary(files).summary
        #expect(found.newest == record(400))
        #expect(found.storedCount == 201)
        #expect(found.lostCount == 10)
        // 200 to 209 and 220 to 399.
        #expect(found.missingCount == 190)
    }

    /// A collar whose log was formatted has fixes only in its former log. That fix is the newest which is known.
    @Test func aNewLogWithoutFixes() throws {
        let files = MemoryFileSystem()
        let journal = try openJournal(files, limit: 700)
        for sequence in 0..<100 as Range<UInt32> {
            try append(sequence...sequence, to: journal)
            if sequence % 3 == 2 { try journal.commit() }
        }
        #expect(
            try journal.append(
                JournaledLoss(
                    logID: log + 1, range: SequenceRange(0), reason: .overwritten,
                    receivedUnixMilliseconds: 1_700_000_000_000)))
        try journal.commit()
        #expect(try summary(files).summary.newest == record(99))
        // Its first fix is the newest, although the former log has higher sequences.
        #expect(try journal.append(record(1, log: log + 1)))
        try journal.commit()
        let found = try summary(files).summary
        #expect(found.newest == record(1, log: log + 1))
        #expect(found.storedCount == 101)
        #expect(found.missingCount == 0)
    }
}
