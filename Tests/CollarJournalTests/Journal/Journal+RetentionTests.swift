import CollarWire
import Glibc
import Testing

@testable import CollarJournal

/// Which segments are removed, and that their sequences stay covered.
@Suite struct JournalRetentionTests {
    /// A time in 2027, in milliseconds since 1970.
    private let start: Int64 = 1_800_000_000_000
    private let hour: Int64 = 3_600_000

    /// A fix made `sequence` hours after `start` and received at once, unless `made` or `received` say otherwise.
    private func hourly(_ sequence: UInt32, received: Int64? = nil, made: Int64? = nil) -> JournaledFix {
        let time = start + Int64(sequence) * hour
        var hourly = record(sequence, at: received ?? time)
        hourly.fix.unixMilliseconds = made ?? time
        return hourly
    }

    /// A journal with fixes 0 to 299, all of which were handed over, and its files.
    private func threeHundred(
        _ files: MemoryFileSystem = MemoryFileSystem(), _ make: ((UInt32) -> JournaledFix)? = nil
    ) throws -> (Journal, MemoryFileSystem) {
        let journal = try openJournal(files, limit: 1500, at: start)
        for sequence in 0..<300 as Range<UInt32> {
            #expect(try journal.append(make?(sequence) ?? hourly(sequence)))
            if sequence % 10 == 9 {
                journal.setEmissionCursor(journal.end)
                try journal.commit()
            }
        }
        #expect(journal.segments.count > 7)
        return (journal, files)
    }

    /// When fix 299 was received.
    private var end: Int64 { start + 299 * hour }

    /// Appends a fix received ten years after `start`, which makes all fixes before it old, and removes the old segments.
    /// - Returns: how many segments were removed.
    private func removeAll(_ journal: Journal, first: UInt32 = 300) throws -> Int {
        let time = start + 87_600 * hour
        #expect(try journal.append(hourly(first, received: time, made: time)))
        journal.setEmissionCursor(journal.end)
        try journal.commit()
        return try journal.removeSegments(keepingDays: 1, nowUnixMilliseconds: time)
    }

    private func stored(_ journal: Journal) throws -> [UInt32] { try sequences(allEntries(journal, limit: 50)) }

    private func verify(_ files: MemoryFileSystem) throws -> JournalVerification {
        try JournalReader(stateDirectory: "/state", deviceID: collar, fileSystem: files).verify()
    }

    @Test func whatIsOldGoesAndStaysCovered() throws {
        for days in [13, 10, 6, 1] {
            let (journal, files) = try threeHundred()
            let count = try journal.removeSegments(keepingDays: days, nowUnixMilliseconds: end)
            #expect((count > 0) == (days < 13))
            let rest = try stored(journal)
            let first = try #require(rest.first)
            #expect(rest == Array(first..<300))
            #expect(Int(first) <= max(0, 299 - 24 * days), "nothing newer goes")
            #expect(Int(first) + 40 > 299 - 24 * days, "what is old goes")
            #expect(try journal.removeSegments(keepingDays: days, nowUnixMilliseconds: end) == 0)
            #expect(journal.durable(logID: log).firstMissing == 300)
            #expect(try !journal.append(hourly(0)))
            for sequence in 300...320 as ClosedRange<UInt32> { #expect(try journal.append(hourly(sequence))) }
            try journal.commit()
            let found = try verify(files)
            #expect(found.isIntact && found.logs[0].missing == [])
            #expect(found.logs[0].removed.ranges == (first == 0 ? [] : [SequenceRange(0, first - 1)]))
            #expect(try journal.position(behind: 0, logID: log) == nil || days == 13)
            #expect(try journal.position(receivedSince: start).segment == journal.segments[0])
        }
    }

    @Test func theSegmentThatGrowsStays() throws {
        let (journal, _) = try threeHundred()
        #expect(try removeAll(journal) > 0)
        #expect(journal.segments == [journal.writer.number])
        #expect(journal.durable(logID: log).firstMissing == 301)
        try append(301...399, to: journal)
        try journal.commit()
        #expect(try stored(journal).last == 399)
    }

    @Test func whatWasNotHandedOverStays() throws {
        let files = MemoryFileSystem()
        let journal = try openJournal(files, limit: 1500, at: start)
        var behindHundred = JournalPosition.start
        for sequence in 0..<300 as Range<UInt32> {
            #expect(try journal.append(hourly(sequence)))
            if sequence == 100 { behindHundred = journal.end }
            if sequence % 10 == 9 { try journal.commit() }
        }
        #expect(try journal.removeSegments(keepingDays: 1, nowUnixMilliseconds: end) == 0)
        journal.setEmissionCursor(behindHundred)
        #expect(try journal.removeSegments(keepingDays: 1, nowUnixMilliseconds: end) > 0)
        #expect(journal.segments[0] == behindHundred.segment)
        #expect(try sequences(allEntries(journal, from: behindHundred)) == Array(101..<300))
    }

    @Test func aSegmentBehindWhichCoverageIsNotToldStays() throws {
        let (journal, files) = try threeHundred()
        let second = journal.directory.path(ofSegment: 2)
        for offset in 30..<60 { files.corrupt(second, at: offset, xor: 1) }
        #expect(try journal.removeSegments(keepingDays: 1, nowUnixMilliseconds: end) == 0)
        #expect(journal.segments[0] == 1)
    }

    @Test func aCrashInBetweenIsHarmless() throws {
        let total = try threeHundred().0.segments.count
        for removed in 0..<total {
            var (journal, files) = try threeHundred()
            // The process ends after it has removed the first segments.
            for segment in journal.segments.prefix(removed) { try files.remove(journal.directory.path(ofSegment: segment)) }
            journal = try openJournal(MemoryFileSystem())
            files.crash { durable, _ in durable }
            let again = try openJournal(files, limit: 1500)
            #expect(again.durable(logID: log).firstMissing == 300)
            #expect(again.damage == [])
            #expect(try verify(files).isIntact)
            _ = try removeAll(again)
            #expect(again.segments.count == 1)
        }
    }

    @Test func whatCannotBeRemovedIsNamedAndTriedAgain() throws {
        let (journal, files) = try threeHundred()
        files.failures = [(.remove, EROFS)]
        let failure = FileFailure(.remove, firstSegment, errorNumber: EROFS)
        #expect(throws: JournalError.file(failure)) { try removeAll(journal) }
        #expect(journal.state == .open)
        #expect(try stored(journal).count == 301)
        #expect(try removeAll(journal, first: 301) > 0)
    }

    @Test func whatWasRemovedUnreadBeforeAnErrorIsNamed() throws {
        let (journal, files) = try threeHundred()
        let time = start + 87_600 * hour
        #expect(try journal.append(hourly(300, received: time, made: time)))
        try journal.commit()
        let reader = try #require(ReaderName("database"))
        let unread = try journal.entries(from: .start, limit: 300).elements.count { $0.end.segment == 1 }
        files.directorySyncFailure = EIO
        var removed = RemovedEntries()
        #expect(throws: JournalError.self) {
            try journal.removeSegments(
                Retention(days: 1, unreadDays: 1), consumers: [JournalConsumer(reader: reader, position: .start)],
                nowUnixMilliseconds: time, removed: &removed)
        }
        #expect(removed.segmentCount == 1 && removed.unreadCount == unread && unread > 10)
        #expect(removed.readers == [reader])
    }

    /// The lowest stored sequence after the segments older than five days were removed.
    private func firstKept(now: Int64, _ make: @escaping (UInt32) -> JournaledFix) throws -> UInt32? {
        let (journal, _) = try threeHundred(MemoryFileSystem(), make)
        try journal.removeSegments(keepingDays: 5, nowUnixMilliseconds: now)
        return try stored(journal).first
    }

    @Test func aWrongClockRemovesNothingTooEarly() throws {
        let year2105: Int64 = 4_260_000_000_000
        let right = try #require(try firstKept(now: end) { hourly($0) })
        #expect((140...179).contains(right))
        #expect(try firstKept(now: year2105) { hourly($0) } == right, "it is ahead")
        #expect(try firstKept(now: 1000) { hourly($0) } == 0, "it was not set")
        #expect(try firstKept(now: start - 24 * hour) { hourly($0) } == 0, "it is behind")
        // A backlog was received before the clock was set, or while the clock was behind.
        let old = start - 2400 * hour
        #expect(try firstKept(now: end) { hourly($0, received: $0 < 290 ? 1000 : end, made: old) } == 0)
        #expect(try firstKept(now: end) { hourly($0, received: $0 < 290 ? old : end, made: end) } == 0)
    }

    @Test func aClockThatWasWrongOnceDoesNotKeepEverything() throws {
        let year2105: Int64 = 4_260_000_000_000
        let right = try firstKept(now: end) { hourly($0) }
        #expect(try firstKept(now: end) { hourly($0, received: $0 == 50 ? year2105 : nil) } == right, "the machine's")
        #expect(try firstKept(now: end) { hourly($0, made: $0 == 295 ? year2105 : nil) } == right, "a collar's")
        // The GPS week number starts over after 1024 weeks, so a collar's clock may be behind by that time.
        #expect(try firstKept(now: end) { hourly($0, made: start - 172_032 * hour) } == right, "a collar's, for good")
    }
}
