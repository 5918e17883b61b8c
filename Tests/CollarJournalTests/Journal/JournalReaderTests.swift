import CollarWire
import Glibc
import Testing

@testable import CollarJournal

/// Reading a journal without its lock, also while it grows or when it is damaged.
@Suite struct JournalReaderTests {
    /// Reads everything after `position`, and moves `position` to the end.
    private func rest(
        _ reader: JournalReader, from position: inout JournalPosition, limit: Int = 7
    ) throws -> (sequences: [UInt32], damage: [DamageReport]) {
        var found: (sequences: [UInt32], damage: [DamageReport]) = ([], [])
        while true {
            let batch = try reader.entries(from: position, limit: limit)
            found.sequences += sequences(batch.elements.map(\.entry))
            found.damage += batch.damage
            position = batch.end
            if batch.isAtEnd { return found }
        }
    }

    private func openReader(_ files: MemoryFileSystem) throws -> JournalReader {
        try JournalReader(stateDirectory: "/state", deviceID: collar, fileSystem: files)
    }

    private func path(_ segment: UInt32) -> String {
        JournalDirectory(stateDirectory: "/state", deviceID: collar).path(ofSegment: segment)
    }

    @Test func itReadsOnWhileTheJournalGrowsAndWritesNothing() throws {
        let files = MemoryFileSystem()
        let journal = try openJournal(files, limit: 700)
        let reader = try openReader(files)
        var position = JournalPosition.start
        var seen: [UInt32] = []
        for sequence in 0..<300 as Range<UInt32> {
            try append(sequence...sequence, to: journal)
            if sequence % 3 == 2 { try journal.commit() }
            if sequence % 7 == 6 {
                let calls = files.calls
                let found = try rest(reader, from: &position)
                #expect(found.damage == [])
                seen += found.sequences
                #expect(files.calls[.write] == calls[.write] && files.calls[.create] == calls[.create])
                #expect(files.calls[.lock] == calls[.lock] && files.calls[.truncate] == calls[.truncate])
            }
        }
        #expect(journal.segments.count > 10)
        #expect(try seen + rest(reader, from: &position).sequences == Array(0...299))
    }

    @Test func aTailThatIsStillBeingWrittenIsNoDamage() throws {
        let files = MemoryFileSystem()
        var bytes: [UInt8] = []
        do {
            let journal = try openJournal(files)
            try append(0...5, to: journal)
            try journal.commit()
            bytes = try #require(files.files[firstSegment]).bytes
        }
        for start in 0...bytes.count {
            files.replace(firstSegment, with: Array(bytes.prefix(start)))
            let reader = try openReader(files)
            var position = JournalPosition.start
            var found = try rest(reader, from: &position)
            #expect(found.damage == [])
            // Some file systems lengthen a file before they write its bytes, so zeros may follow the bytes written so far.
            files.replace(firstSegment, with: Array(bytes.prefix(start)) + [0, 0, 0])
            let middle = try rest(openReader(files), from: &position)
            #expect(middle.damage == [])
            found.sequences += middle.sequences
            files.replace(firstSegment, with: bytes)
            found.sequences += try rest(openReader(files), from: &position).sequences
            #expect(found.sequences == Array(0...5), "cut at \(start)")
        }
    }

    @Test func damageInTheMiddleIsReportedOnceAndWhole() throws {
        let files = MemoryFileSystem()
        var start = 0
        do {
            let journal = try openJournal(files)
            try append(0...99, to: journal)
            start = Int(journal.end.offset)
            try append(100...9999, to: journal)
            try journal.commit()
        }
        // The damage is longer than a chunk.
        for offset in start..<(start + 150_000) { files.corrupt(firstSegment, at: offset, xor: 0xA5) }
        let reader = try openReader(files)
        var position = JournalPosition.start
        let found = try rest(reader, from: &position, limit: 100_000)
        #expect(found.damage.count == 1)
        let damage = try #require(found.damage.first)
        #expect(damage.segment == 1 && damage.offset == start)
        #expect(damage.byteCount >= 150_000 && damage.byteCount < 150_100)
        #expect(found.sequences.count > 6000 && found.sequences.last == 9999)
        // The open journal reports the same damage, both from its opening and from reading entries.
        let journal = try openJournal(files)
        #expect(journal.damage == found.damage)
        var again: [DamageReport] = []
        var batch = try journal.entries(from: .start, limit: 10)
        while !batch.isAtEnd {
            again += batch.damage
            batch = try journal.entries(from: batch.end, limit: 10)
        }
        #expect(again == found.damage)
    }

    @Test func aSegmentThatIsGoneIsReportedUnlessItIsTheOldest() throws {
        let files = MemoryFileSystem()
        let journal = try openJournal(files, limit: 700)
        for start in stride(from: 0 as UInt32, to: 200, by: 10) {
            try append(start...(start + 9), to: journal)
            try journal.commit()
        }
        let reader = try openReader(files)
        try files.remove(path(1))
        try files.remove(path(2))
        var position = JournalPosition.start
        #expect(try rest(reader, from: &position).damage == [])
        try files.remove(path(4))
        try files.remove(path(5))
        position = .start
        let gone = [DamageReport(segment: 4, offset: 0, byteCount: 0)]
        #expect(try rest(reader, from: &position).damage == gone)
        position = .start
        #expect(try rest(openReader(files), from: &position).damage == gone)
        let batch = try journal.entries(from: JournalPosition(segment: 3, offset: .max), limit: 1)
        #expect(batch.damage == gone)
        #expect(batch.elements.first?.end.segment == 6)
    }

    @Test func theEndOfAnEarlierSegmentIsWholeOrDamaged() throws {
        let files = MemoryFileSystem()
        do {
            let journal = try openJournal(files, limit: 700)
            try append(0...19, to: journal)
            try journal.commit()
            try append(20...22, to: journal)
            try journal.commit()
            #expect(journal.segments == [1, 2])
        }
        let length = try #require(files.files[firstSegment]).bytes.count
        files.corrupt(firstSegment, at: length - 5, xor: 1)
        var position = JournalPosition.start
        let found = try rest(openReader(files), from: &position)
        #expect(found.sequences == Array(0...22))
        #expect(found.damage.count == 1 && found.damage[0].segment == 1)
        #expect(found.damage[0].offset + found.damage[0].byteCount == length)
    }

    @Test func aTornTailIsCutBeforeAnotherReceiverGoesOn() throws {
        let files = MemoryFileSystem()
        do {
            let journal = try openJournal(files)
            try append(0...4, to: journal)
            try journal.commit()
        }
        let bytes = try #require(files.files[firstSegment]).bytes
        files.replace(firstSegment, with: bytes + [1, 2, 3])
        files.files[firstSegment]?.durable = []
        _ = try openJournal(files, receiverID: 99)
        #expect(files.files[firstSegment]?.durable == bytes, "what the next checkpoint counts is durable")
        var position = JournalPosition.start
        #expect(try rest(openReader(files), from: &position).damage == [])
    }

    @Test func aLaterFormatAndAForeignSegmentAreRefused() throws {
        let files = MemoryFileSystem()
        var buffer = RecordBuffer(crc: RecordCRC(deviceID: collar, segment: 1))
        for (format, device) in [(2, collar), (1, otherCollar)] as [(UInt8, DeviceID)] {
            buffer.removeAll()
            buffer.append(
                SegmentHeader(
                    format: format, deviceID: device, receiverID: receiver, segment: 1, createdUnixMilliseconds: 0))
            do { _ = try openJournal(files) }
            files.replace(firstSegment, with: buffer.bytes)
            let reader = try openReader(files)
            let expected: JournalError =
                format == 2 ? .laterFormat(version: 2, path: firstSegment) : .foreignSegment(path: firstSegment)
            #expect(throws: expected) { try reader.entries(from: .start, limit: 1) }
            #expect(throws: expected) { try reader.coverage(at: .start) }
            #expect(throws: expected) { try reader.position(receivedSince: 0) }
            files.replace(firstSegment, with: [])
        }
    }

    @Test func whereThereIsNothingThereAreNoEntries() throws {
        let files = MemoryFileSystem()
        #expect(throws: JournalError.self) { try openReader(files) }
        do { _ = try openJournal(files) }
        let reader = try openReader(files)
        let batch = try reader.entries(from: .start, limit: 1)
        #expect(batch.elements == [] && batch.isAtEnd)
        #expect(try reader.coverage(at: batch.end) == [:])
        #expect(try reader.position(behind: 0, logID: log) == nil)
        #expect(try reader.position(receivedSince: .max) == .start)
    }
}

/// Facts about a collar that are found without reading its whole journal.
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
                    logID: otherLog, range: SequenceRange(0), reason: .overwritten,
                    receivedUnixMilliseconds: 1_700_000_000_000)))
        try journal.commit()
        #expect(try summary(files).summary.newest == record(99))
        // Its first fix is the newest, although the former log has higher sequences.
        #expect(try journal.append(record(1, log: otherLog)))
        try journal.commit()
        let found = try summary(files).summary
        #expect(found.newest == record(1, log: otherLog))
        #expect(found.storedCount == 101)
        #expect(found.missingCount == 0)
    }
}
