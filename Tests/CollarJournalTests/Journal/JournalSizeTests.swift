import CollarJournal
import CollarWire
import Testing

@Suite("Size of a journal")
struct JournalSizeTests {
    /// The number of bytes in the files of `segment` and the later segments, without the records that wait in memory.
    private func fileByteCount(_ files: MemoryFileSystem, from segment: Int = 1) throws -> Int {
        let directory = "/state/0123456789abcdef"
        return try files.names(in: directory).filter { $0.hasSuffix(".journal") }.sorted().dropFirst(segment - 1)
            .reduce(0) { sum, name in
                let file = try files.open("\(directory)/\(name)", .reading)
                defer { files.close(file) }
                return try sum + files.byteCount(of: file)
            }
    }

    @Test func theSizeIsThatOfTheFilesAndWhatWaits() throws {
        let files = MemoryFileSystem()
        let journal = try openJournal(files, limit: 1000)
        for sequence in 0..<UInt32(100) {
            try append(sequence...sequence, to: journal)
            try journal.commit()
        }
        #expect(journal.end.segment > 3)
        #expect(try journal.byteCount(from: .start) == fileByteCount(files))
        let end = journal.end
        #expect(try journal.byteCount(from: end) == 0)
        try append(100...100, to: journal)
        #expect(try journal.byteCount(from: end) == Int(journal.end.offset - end.offset))
    }

    @Test func aPositionWithinCountsTheRestOfItsSegmentAndWhatFollows() throws {
        let files = MemoryFileSystem()
        let journal = try openJournal(files, limit: 1000)
        for sequence in 0..<UInt32(100) {
            try append(sequence...sequence, to: journal)
            try journal.commit()
        }
        let third = try fileByteCount(files, from: 3)
        #expect(try journal.byteCount(from: JournalPosition(segment: 3, offset: 0)) == third)
        #expect(try journal.byteCount(from: JournalPosition(segment: 3, offset: 100)) == third - 100)
        // A position after the end of its segment, and a position in a segment that does not exist.
        let fourth = try fileByteCount(files, from: 4)
        #expect(try journal.byteCount(from: JournalPosition(segment: 3, offset: 1 << 20)) == fourth)
        #expect(try journal.byteCount(from: JournalPosition(segment: 1 << 20, offset: 5)) == 0)
    }
}
