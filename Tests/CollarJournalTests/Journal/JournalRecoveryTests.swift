import CollarWire
import Testing

@testable import CollarJournal

/// The newest segment, of which nothing can be read: destroyed, or left by a crash.
@Suite struct DestroyedSegmentTests {
    private func path(_ segment: UInt32) -> String {
        JournalDirectory(stateDirectory: "/state", deviceID: collar).path(ofSegment: segment)
    }

    private func verify(_ files: MemoryFileSystem) throws -> JournalVerification {
        try JournalReader(stateDirectory: "/state", deviceID: collar, fileSystem: files).verify()
    }

    /// The files of a closed journal with fixes 0 to 309.
    private func files() throws -> (files: MemoryFileSystem, newest: UInt32) {
        let files = MemoryFileSystem()
        for start in stride(from: 0 as UInt32, to: 310, by: 10) {
            let journal = try openJournal(files, limit: 2000)
            try append(start...(start + 9), to: journal)
            try journal.commit()
        }
        let newest = try #require(openJournal(files).segments.last)
        return (files, newest)
    }

    /// Nothing in the newest segment can be read, and it is longer than what a crash leaves of a new segment.
    @Test func aDestroyedNewestSegmentIsDamage() throws {
        let (files, newest) = try files()
        let bytes = try #require(files.contents(path(newest)))
        files.replace(path(newest), with: [UInt8](repeating: 0, count: bytes.count))
        #expect(try verify(files).damage == [DamageReport(segment: newest, offset: 0, byteCount: bytes.count)])
        let journal = try openJournal(files)
        #expect(journal.damage == [DamageReport(segment: newest, offset: 0, byteCount: bytes.count)])
        #expect(journal.segments.last == newest + 1)
        #expect(journal.durable(logID: log).firstMissing <= 309)
        try journal.commit()
        #expect(try verify(files).isIntact)
        #expect(files.contents(path(newest))?.count == bytes.count)
    }

    /// A crash leaves a part of a new segment's start, or zeros in its place.
    @Test(arguments: [false, true]) func theRestOfANewSegmentIsNoDamage(isZero: Bool) throws {
        let (files, newest) = try files()
        let bytes = try #require(files.contents(path(newest)))
        let number = newest + 1
        files.replace(path(number), with: isZero ? [UInt8](repeating: 0, count: 60) : Array(bytes[..<20]))
        let journal = try openJournal(files)
        #expect(journal.damage == [])
        #expect(journal.segments.last == number)
        #expect(journal.durable(logID: log).firstMissing == 310)
    }
}
