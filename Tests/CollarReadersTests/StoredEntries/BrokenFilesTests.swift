import CollarARQ
import CollarFormats
import CollarJournal
import CollarWire
import FoundationEssentials
import Testing

@testable import CollarReaders

/// Files that cannot be read, and what a reader gets meanwhile and later.
@Suite struct BrokenFilesTests {
    private let bench: StoredReadingBench

    init() throws { bench = try StoredReadingBench() }

    /// A directory in the place of a file cannot be read as one, whoever the user is.
    private func block(_ path: String) throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    private func remove(_ path: String) throws { try FileManager.default.removeItem(atPath: path) }

    private func time(_ seconds: Double, unixMilliseconds: Int64 = 1_700_000_000_000) -> HostTime {
        HostTime(instant: Instant(microseconds: Int64(seconds * 1_000_000)), unixMilliseconds: unixMilliseconds)
    }

    @Test func anEventLogThatCannotBeReadEndsTheEventsAlone() throws {
        try bench.append(1...1)
        try block(bench.stateDirectory + "/events/00000001.jsonl")
        let entries = try bench.entries(as: "db") { $0.read([.fix, .link]) }
        #expect(bench.take(entries) == ["a1"])
        try bench.append(2...2)
        try entries.handleChanges()
        #expect(bench.take(entries) == ["a2"])
        let told = bench.notices.filter { if case .cannotReadEvents = $0 { true } else { false } }
        #expect(told.count == 1 && bench.notices.count == 1)
        #expect(try entries.storePosition(at: time(1)))
    }

    /// The reader keeps its position in the events.
    @Test func aLaterRunGoesOnInTheEventLogThatWasUnreadable() throws {
        let events: (inout ReadingConfiguration) -> Void = { $0.read([.link]) }
        try bench.appendEvents(1...2)
        #expect(try bench.run(events) == ["e1", "e2"])
        try FileManager.default.moveItem(atPath: bench.stateDirectory + "/events", toPath: bench.stateDirectory + "/aside")
        try block(bench.stateDirectory + "/events/00000001.jsonl")
        #expect(try bench.run(events) == [])
        try remove(bench.stateDirectory + "/events")
        try FileManager.default.moveItem(atPath: bench.stateDirectory + "/aside", toPath: bench.stateDirectory + "/events")
        try bench.appendEvents(3...3)
        #expect(try bench.run(events) == ["e3"])
    }

    @Test func theEventsThatWereTakenBeforeTheLogBecameUnreadableDoNotComeAgain() throws {
        let events: (inout ReadingConfiguration) -> Void = { $0.read([.link]) }
        let (log, aside) = (bench.stateDirectory + "/events", bench.stateDirectory + "/aside")
        try bench.appendEvents(1...2)
        do {
            let entries = try bench.entries(as: "db", events)
            #expect(bench.take(entries) == ["e1", "e2"])
            try FileManager.default.moveItem(atPath: log, toPath: aside)
            try block(log + "/00000001.jsonl")
            try entries.handleChanges()
            #expect(bench.take(entries) == [])
            #expect(bench.notices.contains { if case .cannotReadEvents = $0 { true } else { false } })
            #expect(try entries.storePosition(at: time(1)))
        }
        try remove(log)
        try FileManager.default.moveItem(atPath: aside, toPath: log)
        try bench.appendEvents(3...3)
        #expect(try bench.run(events) == ["e3"])
    }

    @Test func journalsThatCannotBeReadAreEachTriedAgain() throws {
        for collar in [collarA, collarB] { try block(bench.path(of: collar) + "/00000001.journal") }
        try bench.append(1...1, of: 0xC)
        let entries = try bench.entries()
        #expect(bench.take(entries) == ["c1"])
        // Reading fails now, if opening did not.
        let unreadable: [DeviceID] = bench.notices.compactMap { if case .journal(.unreadable(let collar, _)) = $0 { collar } else { nil } }
        #expect(unreadable == [collarA, collarB])
        for collar in [collarA, collarB] {
            try remove(bench.path(of: collar) + "/00000001.journal")
            try bench.append(1...2, of: collar)
        }
        let due = try #require(entries.nextDeadline(at: time(0)))
        entries.deadlineReached(at: due.advanced(byMicroseconds: -1_000_000))
        #expect(bench.take(entries) == [])
        entries.deadlineReached(at: due.advanced(byMicroseconds: 1_000_000))
        #expect(bench.take(entries).sorted() == ["a1", "a2", "b1", "b2"])
        #expect(bench.notices.count == 2)
    }

    /// The time alone is no reason to write, but for the start and the end.
    @Test func aPositionThatIsTheSameIsStoredOnlyWithItsTime() throws {
        try bench.append(1...2)
        let entries = try bench.entries(as: "db")
        let name = try #require(ReaderName("db"))
        func seen() throws -> Int64? { try ReaderFiles(stateDirectory: bench.stateDirectory).state(of: name)?.seenUnixMilliseconds }
        #expect(bench.take(entries) == ["a1", "a2"])
        var times: [Int64?] = []
        for (unixMilliseconds, isSeen) in [(1000, false), (2000, false), (3000, true), (4000, false)] as [(Int64, Bool)] {
            #expect(try entries.storePosition(at: time(1, unixMilliseconds: unixMilliseconds), isSeen: isSeen))
            times.append(try seen())
        }
        #expect(times == [1000, 1000, 3000, 3000])
        try bench.append(3...3)
        try entries.handleChanges()
        #expect(bench.take(entries) == ["a3"])
        #expect(try entries.storePosition(at: time(1, unixMilliseconds: 5000)))
        #expect(try seen() == 5000)
    }

    @Test func aReceiverThatHasStoredNothingYetIsNoneThatIsMissing() throws {
        var random = SystemRandomNumberGenerator()
        _ = try ReceiverIdentity.load(
            stateDirectory: bench.stateDirectory, fileSystem: POSIXFileSystem(stateDirectory: bench.stateDirectory), random: &random)
        _ = try bench.entries()
        #expect(bench.notices == [])
    }

    @Test func aReaderGetsTheKindsThatItNames() throws {
        try bench.append(1...1)
        try bench.appendEvents(1...1)
        try bench.appendEvents(2...2, .status)
        for (index, (kinds, expected)) in [
            ([.fix], ["a1"]), ([.link], ["e1"]), ([.status], ["e2"]), ([.fix, .link, .status], ["a1", "e1", "e2"]), ([.gap], []),
        ].enumerated() as EnumeratedSequence<[(Set<LineKind>, [String])]> {
            #expect(try bench.run(as: "reader\(index)", { $0.read(kinds) }) == expected)
        }
        // Fixes come again to a reader of other kinds only if they were not passed over.
        #expect(try bench.run(as: "reader1", { $0.read([.fix]) }) == [])
    }

    @Test func aReaderOfOneCollarWaitsForItsJournal() throws {
        try bench.append(1...1, of: collarB)
        _ = try bench.entries { $0.wanted = .collar(collarA) }
        #expect(bench.notices == [.nothingStored(path: bench.stateDirectory)])
    }
}
