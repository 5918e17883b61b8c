import CollarWire
import Glibc
import Testing

@testable import CollarJournal

/// Torn tails, damage, full disks and failing disks.
@Suite struct JournalFailureTests {
    /// A closed journal with ten fixes from two commits: its files, the bytes of its segment, and where the last fix begins.
    private func tenFixes() throws -> (files: MemoryFileSystem, bytes: [UInt8], lastRecordStart: Int) {
        let files = MemoryFileSystem()
        let journal = try openJournal(files)
        try append(0...4, to: journal)
        try journal.commit()
        try append(5...8, to: journal)
        let start = Int(journal.end.offset)
        try append(9...9, to: journal)
        try journal.commit()
        return (files, try #require(files.files[firstSegment]).bytes, start)
    }

    @Test func aTailTornAnywhereIsCutOff() throws {
        let (files, bytes, start) = try tenFixes()
        let lastFixEnd = start + 45
        for length in start..<bytes.count {
            files.replace(firstSegment, with: Array(bytes.prefix(length)))
            do {
                let journal = try openJournal(files)
                let found = try sequences(allEntries(journal))
                #expect(found == Array(0...8) || found == Array(0...9) && length >= lastFixEnd - 10)
                #expect(journal.damage == [])
                #expect(journal.durable(logID: log).oldestLostRange(from: 0) == nil)
                let end = Int(journal.end.offset)
                #expect(files.files[firstSegment]?.bytes.count == end)
                #expect(files.files[firstSegment]?.durable.count == end)
                #expect(try journal.append(record(9)) == (found.count == 9))
                try append(10...10, to: journal)
                try journal.commit()
            }
            #expect(try sequences(allEntries(openJournal(files))) == Array(0...10))
        }
    }

    @Test func aTailOfZerosOrNoiseIsCutOff() throws {
        let (files, bytes, _) = try tenFixes()
        let noise = (0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 89) }
        for tail in [[0], [UInt8](repeating: 0, count: 70_000), noise, [0, 5, 1, 2]] as [[UInt8]] {
            files.replace(firstSegment, with: bytes + tail)
            let journal = try openJournal(files)
            #expect(journal.end.offset == UInt32(bytes.count))
            #expect(files.files[firstSegment]?.bytes == bytes)
            #expect(journal.damage == [])
        }
    }

    @Test func everyFlippedByteIsSteppedOverAndWhatWasAnnouncedIsMissed() throws {
        let (files, bytes, _) = try tenFixes()
        let progressStart = bytes.count - 31
        let headerEnd = 2 * 14
        for offset in headerEnd..<progressStart {
            for mask: UInt8 in [0x01, 0x80, 0xFF] {
                files.replace(firstSegment, with: bytes)
                // If the previous round damaged the checkpoint, the journal began a second segment.
                if files.files[secondSegment] != nil { try files.remove(secondSegment) }
                files.corrupt(firstSegment, at: offset, xor: mask)
                let journal = try openJournal(files)
                let found = try sequences(allEntries(journal))
                #expect(found.count >= 9, "offset \(offset)")
                let missing = (0..<10).filter { !found.contains($0) }
                if offset > 64 {
                    #expect(journal.damage.count == 1 && journal.damage[0].byteCount < 70, "offset \(offset)")
                }
                let lost = journal.durable(logID: log).oldestLostRange(from: 0)
                #expect(lost == missing.first.map { SequenceRange($0) }, "offset \(offset)")
                for sequence in missing { #expect(try journal.append(record(sequence))) }
                try journal.commit()
                #expect(journal.durable(logID: log).firstMissing == 10)
                #expect(journal.durable(logID: log).oldestLostRange(from: 0) == nil)
            }
        }
    }

    @Test func damageAboveAGapIsMissedToo() throws {
        let files = MemoryFileSystem()
        var start = 0
        do {
            let journal = try openJournal(files)
            try append(0...1, to: journal)
            try append(10...12, to: journal)
            start = Int(journal.end.offset)
            try append(13...20, to: journal)
            try journal.commit()
        }
        files.corrupt(firstSegment, at: start + 20, xor: 0x10)
        let journal = try openJournal(files)
        #expect(journal.damage.map(\.offset) == [start])
        // The gap from 2 to 9 was never announced. It is asked for too, because the gaps do not tell which fix is gone.
        #expect(journal.durable(logID: log).oldestLostRange(from: 2) == SequenceRange(2, 9))
        #expect(journal.durable(logID: log).oldestLostRange(from: 10) == SequenceRange(13))
        #expect(journal.durable(logID: log).oldestLostRange(from: 14) == nil)
    }

    @Test func aDamagedCheckpointIsReplacedByTheSegmentBefore() throws {
        let files = MemoryFileSystem()
        do {
            let journal = try openJournal(files, limit: 400)
            try append(0...19, to: journal)
            try journal.commit()
            try append(20...22, to: journal)
            try journal.commit()
            #expect(journal.segments == [1, 2])
        }
        let bytes = try #require(files.files[secondSegment]).bytes
        for offset in 0..<72 {
            files.replace(secondSegment, with: bytes)
            let third = "/state/0123456789abcdef/00000003.journal"
            if files.files[third] != nil { try files.remove(third) }
            files.corrupt(secondSegment, at: offset, xor: 0x40)
            let journal = try openJournal(files, limit: 4000)
            #expect(journal.durable(logID: log).firstMissing == 23, "offset \(offset)")
            #expect(try sequences(allEntries(journal)) == Array(0...22))
        }
    }

    @Test func aFullDiskLosesNothing() throws {
        let files = MemoryFileSystem()
        let journal = try openJournal(files)
        try append(0...4, to: journal)
        try journal.commit()
        let length = try #require(files.files[firstSegment]).bytes.count
        files.room = files.usedByteCount + 70
        try append(5...9, to: journal)
        let full = FileFailure(.write, firstSegment, errorNumber: ENOSPC)
        for _ in 0..<3 {
            #expect(throws: JournalError.file(full)) { try journal.commit() }
            #expect(journal.state == .full(full))
            #expect(files.files[firstSegment]?.bytes.count == length, "cut back")
            #expect(journal.durable(logID: log).firstMissing == 5)
        }
        #expect(try sequences(allEntries(journal)) == Array(0...9))
        try append(10...10, to: journal)
        files.room = .max
        try journal.commit()
        #expect(journal.state == .open)
        #expect(journal.durable(logID: log).firstMissing == 11)
        files.crash { durable, _ in durable }
        let again = try openJournal(files)
        #expect(try sequences(allEntries(again)) == Array(0...10))
        #expect(again.damage == [])
    }

    @Test func whatWaitsForAFullDiskIsBounded() throws {
        let files = MemoryFileSystem()
        let journal = try openJournal(files)
        files.room = 0
        #expect(throws: JournalError.pendingLimitReached) {
            for sequence in 0..<100_000 as Range<UInt32> { _ = try journal.append(record(sequence)) }
        }
        #expect(journal.writer.pending.bytes.count < Journal.pendingByteLimit + 256)
        files.room = .max
        try journal.commit()
        #expect(journal.durable(logID: log).firstMissing > 10_000)
        #expect(try journal.append(record(99_999)))
    }

    @Test func noRoomForTheNextSegmentDoesNotHarmTheCommit() throws {
        let files = MemoryFileSystem()
        let journal = try openJournal(files, limit: 400)
        try append(0...19, to: journal)
        files.failures = [(.create, ENOSPC)]
        try journal.commit()
        #expect(journal.durable(logID: log).firstMissing == 20)
        #expect(journal.segments == [1])
        #expect(journal.state == .open)
        try append(20...20, to: journal)
        try journal.commit()
        #expect(journal.segments == [1, 2])
        #expect(try sequences(allEntries(journal)) == Array(0...20))
    }

    /// A reader that saw it would go on there, and miss the records that the last segment still gets.
    @Test(arguments: [FileOperation.write, .synchronize, .rename])
    func aSegmentThatIsGivenUpWasNeverSeen(_ operation: FileOperation) throws {
        let files = MemoryFileSystem()
        let journal = try openJournal(files, limit: 400)
        try append(0...19, to: journal)
        // The commit writes and synchronises the last segment before it makes the next one.
        if operation != .rename { files.callsBeforeFailure = 1 }
        files.failures = [(operation, ENOSPC)]
        var isSeen: Bool?
        files.whenFailing = { isSeen = files.contents(secondSegment) != nil }
        try journal.commit()
        #expect(isSeen == false)
        #expect(journal.state == .open && journal.segments == [1])
        try append(20...20, to: journal)
        try journal.commit()
        #expect(journal.segments == [1, 2])
        #expect(try sequences(allEntries(journal)) == Array(0...20))
        #expect(files.files.keys.sorted().filter { $0.hasSuffix(".new") } == [])
    }

    @Test func aFailedSynchronisationIsFinal() throws {
        let files = MemoryFileSystem()
        do {
            let journal = try openJournal(files)
            try append(0...4, to: journal)
            try journal.commit()
            let length = try #require(files.files[firstSegment]).bytes.count
            try append(5...9, to: journal)
            files.failures = [(.synchronize, EIO)]
            let failure = FileFailure(.synchronize, firstSegment, errorNumber: EIO)
            #expect(throws: JournalError.file(failure)) { try journal.commit() }
            #expect(journal.state == .failed(failure))
            #expect(journal.durable(logID: log).firstMissing == 5)
            // The bytes of the failed commit may not be on the disk, so they are cut off and cannot be read back.
            #expect(files.files[firstSegment]?.bytes.count == length)
            let rest = try journal.entries(from: JournalPosition(segment: 1, offset: UInt32(length)), limit: 9)
            #expect(rest.isAtEnd && rest.elements.isEmpty)
            #expect(throws: JournalError.stopped(after: failure)) { try journal.commit() }
            #expect(throws: JournalError.stopped(after: failure)) { try journal.append(record(10)) }
            #expect(journal.durable(logID: log).firstMissing == 5)
        }
        let journal = try openJournal(files)
        #expect(try sequences(allEntries(journal)) == Array(0...4))
        try append(5...9, to: journal)
        try journal.commit()
        #expect(journal.durable(logID: log).firstMissing == 10)
    }

    /// This applies to every error number: after a lack of room, too, the kernel may have dropped the unwritten pages.
    @Test func afterAFailedSynchronisationEveryCommitThrows() throws {
        for errorNumber in [EIO, ENOSPC, EDQUOT, EROFS] {
            let files = MemoryFileSystem()
            let journal = try openJournal(files)
            try append(0...4, to: journal)
            files.failures = [(.synchronize, errorNumber)]
            let failure = FileFailure(.synchronize, firstSegment, errorNumber: errorNumber)
            #expect(throws: JournalError.file(failure)) { try journal.commit() }
            let calls = files.calls
            for _ in 0..<5 {
                #expect(throws: JournalError.stopped(after: failure)) { try journal.commit() }
                #expect(throws: JournalError.stopped(after: failure)) { try journal.append(record(9)) }
                #expect(throws: JournalError.stopped(after: failure)) {
                    try journal.append(
                        JournaledLoss(
                            logID: log, range: SequenceRange(9), reason: .overwritten, receivedUnixMilliseconds: 0))
                }
                #expect(throws: JournalError.stopped(after: failure)) {
                    try journal.uncover(SequenceRange(1), logID: log)
                }
                #expect(journal.durable(logID: log).count == 0)
            }
            #expect(files.calls[.write] == calls[.write] && files.calls[.synchronize] == calls[.synchronize])
        }
    }

    @Test func whatCannotBeReadBackIsNamedAndHarmsNothing() throws {
        let files = MemoryFileSystem()
        let journal = try openJournal(files, limit: 700)
        try append(0...19, to: journal)
        try journal.commit()
        try append(20...29, to: journal)
        try journal.commit()
        #expect(journal.segments == [1, 2])
        for (position, path) in [
            (JournalPosition.start, firstSegment), (JournalPosition(segment: 2, offset: 0), secondSegment),
        ] {
            files.failures = [(.read, EIO)]
            let failure = JournalError.file(FileFailure(.read, path, errorNumber: EIO))
            #expect(throws: failure) { try journal.entries(from: position, limit: 5) }
            files.failures = [(.read, EIO)]
            #expect(throws: failure) { try journal.coverage(at: position) }
            #expect(journal.state == .open)
        }
        files.failures = [(.open, EMFILE)]
        let other = JournalPosition(segment: 1, offset: 0)
        try append(30...30, to: journal)
        try journal.commit()
        #expect(journal.durable(logID: log).firstMissing == 31)
        files.failures = []
        #expect(try sequences(allEntries(journal, from: other)) == Array(0...30))
    }

    @Test func aJournalThatCannotBeReadIsNotOpenedAndNotChanged() throws {
        let (files, bytes, _) = try tenFixes()
        for (operation, errorNumber) in [(.read, EIO), (.open, EACCES), (.list, EIO)] as [(FileOperation, Int32)] {
            files.failures = [(operation, errorNumber)]
            #expect(throws: JournalError.self) { try openJournal(files) }
            #expect(files.files[firstSegment]?.bytes == bytes)
            #expect(files.files.count == 1, "the segment")
        }
        files.failures = []
        #expect(try openJournal(files).durable(logID: log).firstMissing == 10, "the lock was given up")
    }

    @Test func aDiskThatMayNotBeWrittenIsNamed() throws {
        let (files, bytes, _) = try tenFixes()
        files.failures = [(.write, EROFS)]
        let failure = JournalError.file(FileFailure(.write, firstSegment, errorNumber: EROFS))
        #expect(throws: failure) { try openJournal(files) }
        #expect(files.files[firstSegment]?.bytes == bytes)
        // If writing fails while the journal is open, the durable fixes stay durable and the new ones do not become durable.
        let journal = try openJournal(files)
        try append(10...12, to: journal)
        files.failures = [(.write, EROFS)]
        #expect(throws: JournalError.file(FileFailure(.write, firstSegment, errorNumber: EROFS))) { try journal.commit() }
        #expect(journal.durable(logID: log).firstMissing == 10)
    }

    @Test func aNextSegmentThatFailsStopsWhatFollowsAndNotWhatWasCommitted() throws {
        let files = MemoryFileSystem()
        let journal = try openJournal(files, limit: 400)
        try append(0...19, to: journal)
        files.failures = [(.create, EIO)]
        try journal.commit()
        #expect(journal.durable(logID: log).firstMissing == 20)
        let failure = FileFailure(.create, "\(secondSegment).new", errorNumber: EIO)
        #expect(journal.state == .failed(failure))
        #expect(throws: JournalError.stopped(after: failure)) { try journal.commit() }
        #expect(try sequences(allEntries(journal)) == Array(0...19))
    }

    @Test func aFailedWriteIsFinal() throws {
        let files = MemoryFileSystem()
        let journal = try openJournal(files)
        try append(0...4, to: journal)
        files.failures = [(.write, EIO)]
        #expect(throws: JournalError.file(FileFailure(.write, firstSegment, errorNumber: EIO))) { try journal.commit() }
        #expect(throws: JournalError.stopped(after: FileFailure(.write, firstSegment, errorNumber: EIO))) {
            try journal.commit()
        }
        #expect(journal.durable(logID: log).count == 0)
    }

    @Test func whatAKilledProcessWroteIsSynchronisedBeforeItCounts() throws {
        let files = MemoryFileSystem()
        var bytes: [UInt8] = []
        do {
            let journal = try openJournal(files)
            try append(0...4, to: journal)
            files.failures = [(.synchronize, EIO), (.truncate, EIO)]
            #expect(throws: JournalError.self) { try journal.commit() }
            bytes = try #require(files.files[firstSegment]).bytes
        }
        #expect(files.files[firstSegment]?.durable.count ?? 0 < bytes.count)
        let journal = try openJournal(files)
        #expect(journal.durable(logID: log).firstMissing == 5)
        #expect(files.files[firstSegment]?.durable == bytes)
    }

    @Test func filesOfOthersAreRefusedAndLeftAlone() throws {
        let (files, bytes, _) = try tenFixes()
        files.replace(secondSegment, with: bytes)
        #expect(throws: JournalError.foreignSegment(path: secondSegment)) { try openJournal(files) }
        #expect(files.files[secondSegment]?.bytes == bytes)
        try files.remove(secondSegment)
        #expect(try openJournal(files).durable(logID: log).firstMissing == 10, "the lock was given up")
    }

    @Test func recordsOfAnotherSegmentAreNotTaken() throws {
        let strangers = MemoryFileSystem()
        do {
            let journal = try openJournal(strangers)
            try append(50...59, to: journal)
            try journal.commit()
        }
        let files = MemoryFileSystem()
        do {
            let journal = try openJournal(files, limit: 400)
            try append(0...19, to: journal)
            try journal.commit()
        }
        // After a crash, a new file may contain blocks of a removed file. The first 30 bytes are the header.
        let stray = try #require(strangers.files[firstSegment]).bytes.dropFirst(30)
        let own = try #require(files.files[secondSegment]).bytes
        files.replace(secondSegment, with: own + stray)
        let journal = try openJournal(files, limit: 4000)
        #expect(journal.known(logID: log).highest == 19)
        #expect(try sequences(allEntries(journal)) == Array(0...19))
    }
}
