import CollarWire
import Glibc
import Testing

@testable import CollarJournal

/// What named readers have not taken stays, unless that is limited.
@Suite struct ReaderRetentionTests {
    /// A time in 2027, in milliseconds since 1970.
    private let start: Int64 = 1_800_000_000_000
    private let hour: Int64 = 3_600_000
    private let disk = MemoryFileSystem()
    private let files: ReaderFiles
    private let journal: Journal
    private let names: [ReaderName]

    /// A journal with fixes 0 to 299, one an hour, all of which were handed over.
    init() throws {
        files = ReaderFiles(stateDirectory: "/state", fileSystem: disk)
        journal = try openJournal(disk, limit: 1500, at: start)
        try files.makeDirectory()
        names = ["a", "b"].compactMap { ReaderName($0) }
        for sequence in 0..<300 as Range<UInt32> {
            var hourly = record(sequence, at: start + Int64(sequence) * hour)
            hourly.fix.unixMilliseconds = start + Int64(sequence) * hour
            #expect(try journal.append(hourly))
            if sequence % 10 == 9 {
                journal.setEmissionCursor(journal.end)
                try journal.commit()
            }
        }
    }

    private var end: Int64 { start + 299 * hour }

    private func remove(_ retention: Retention, hasCursor: Bool = true) throws -> RemovedEntries {
        var removed = RemovedEntries()
        try journal.removeSegments(
            retention, consumers: try journal.consumers(hasCursor: hasCursor), nowUnixMilliseconds: end, removed: &removed)
        return removed
    }

    /// Stores a reader that has taken the fixes up to one.
    private func store(_ name: ReaderName, taken sequence: UInt32?, collars: Set<DeviceID>? = nil) throws {
        var state = ReaderState(collars: collars, seenUnixMilliseconds: end)
        if let sequence {
            let place = try #require(try journal.position(behind: sequence, logID: log))
            state.positions[collar] = try identified(place)
        }
        try files.store(state, of: name, holding: try files.lock(name))
    }

    private func identified(_ place: JournalPosition) throws -> ReaderPosition {
        try JournalReader(stateDirectory: "/state", deviceID: collar, fileSystem: disk).identified(place)
    }

    private func stored() throws -> [UInt32] { try sequences(allEntries(journal, limit: 50)) }

    @Test func whatAReaderLacksStays() throws {
        try store(names[0], taken: 99)
        try store(names[1], taken: 199)
        #expect(try remove(Retention(days: 1)).segmentCount > 0)
        let first = try #require(try stored().first)
        // The segment of fix 100 stays; those before it go.
        #expect(first <= 100 && first > 60)
        #expect(try remove(Retention(days: 1)).segmentCount == 0)
        try store(names[0], taken: 250)
        #expect(try remove(Retention(days: 1)).unreadCount == 0)
        let next = try #require(try stored().first)
        #expect(next <= 200 && next > 160)
        #expect(try files.remove(names[1]))
        #expect(try remove(Retention(days: 1)).segmentCount > 0)
        #expect(try stored().contains(251))
    }

    /// After records were cut off, others may be before a stored position: the reader goes on earlier.
    @Test func whatAReaderGoesOnWithStays() throws {
        try store(names[0], taken: 250)
        var state = try #require(try files.state(of: names[0]))
        state.positions[collar]?.segmentUnixMilliseconds -= 1
        try files.store(state, of: names[0], holding: try files.lock(names[0]))
        #expect(try remove(Retention(days: 1)).segmentCount == 0)
    }

    @Test func aNewReaderHasTakenNothing() throws {
        try store(names[0], taken: nil)
        #expect(try remove(Retention(days: 1)) == RemovedEntries())
        #expect(try stored() == Array(0..<300))
    }

    @Test func aReaderOfOtherCollarsHoldsNothingBack() throws {
        try store(names[0], taken: nil, collars: [otherCollar])
        #expect(try remove(Retention(days: 1)).segmentCount > 0)
    }

    @Test func aReaderWhoseFileIsDamagedHoldsEverythingBack() throws {
        disk.replace("/state/readers/a.reader", with: Array("?".utf8))
        #expect(try remove(Retention(days: 1)).segmentCount == 0)
    }

    @Test func whatIsRemovedUnreadIsCounted() throws {
        try store(names[0], taken: 9)
        try store(names[1], taken: 299)
        let removed = try remove(Retention(days: 1, unreadDays: 5))
        let first = try #require(try stored().first)
        #expect(first > 100 && first <= 299 - 5 * 24)
        // Fixes 10 up to the first that is left.
        #expect(removed.unreadCount == Int(first) - 10)
        #expect(removed.readers == [names[0]])
        #expect(try remove(Retention(days: 1, unreadDays: 5)) == RemovedEntries())
        // What everybody has goes after a day.
        try store(names[0], taken: 299)
        let rest = try remove(Retention(days: 1, unreadDays: 5))
        #expect(rest.segmentCount > 0)
        #expect(rest.unreadCount == 0 && rest.readers == [])
    }

    /// A reader that has everything stays at the end of a segment until the next one has an entry.
    @Test func aReaderAtTheEndOfASegmentLacksNothingOfIt() throws {
        let last = journal.segments[0]
        let batch = try journal.entries(from: JournalPosition(segment: last, offset: 0), limit: 1000)
        let place = try #require(batch.elements.last { $0.end.segment == last }?.end)
        var state = ReaderState(seenUnixMilliseconds: end)
        state.positions[collar] = try identified(place)
        try files.store(state, of: names[0], holding: try files.lock(names[0]))
        #expect(try remove(Retention(days: 1)).segmentCount == 1)
    }

    @Test func aHostWithoutAConsumerCountsNoCursor() throws {
        let fresh = MemoryFileSystem()
        let journal = try openJournal(fresh, limit: 1500, at: start)
        for sequence in 0..<300 as Range<UInt32> {
            var hourly = record(sequence, at: start + Int64(sequence) * hour)
            hourly.fix.unixMilliseconds = start + Int64(sequence) * hour
            #expect(try journal.append(hourly))
            if sequence % 10 == 9 { try journal.commit() }
        }
        func removed(hasCursor: Bool) throws -> RemovedEntries {
            var removed = RemovedEntries()
            try journal.removeSegments(
                Retention(days: 1), consumers: try journal.consumers(hasCursor: hasCursor), nowUnixMilliseconds: end,
                removed: &removed)
            return removed
        }
        #expect(try removed(hasCursor: true).segmentCount == 0)
        let all = try removed(hasCursor: false)
        #expect(all.segmentCount > 5 && all.unreadCount == 0)
    }
}
