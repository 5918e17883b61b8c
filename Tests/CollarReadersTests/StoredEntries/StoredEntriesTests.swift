import CollarARQ
import CollarConfiguration
import CollarFormats
import CollarJournal
import CollarWire
import FoundationEssentials
import Testing

@testable import CollarReaders

/// Entries and events of one state directory together, the storing of positions, and changes while a reader runs.
@Suite struct StoredEntriesTests {
    private let bench: StoredReadingBench
    private let fixesAndLinks: (inout ReadingConfiguration) -> Void = { $0.read([.fix, .link]) }

    init() throws { bench = try StoredReadingBench() }

    private func time(_ seconds: Double) -> HostTime {
        HostTime(instant: Instant(microseconds: Int64(seconds * 1_000_000)), unixMilliseconds: 1_700_000_000_000)
    }

    private var positionNotices: Int {
        bench.notices.count { if case .cannotStorePosition = $0 { true } else { false } }
    }

    // MARK: Positions

    @Test func entriesAndEventsHaveSeparatePositions() throws {
        try bench.append(1...3)
        try bench.append(1...2, of: collarB)
        try bench.appendEvents(1...3)
        let all = ["a1", "a2", "a3", "b1", "b2", "e1", "e2", "e3"]
        #expect(try bench.run(confirming: { ["a1", "b1", "b2", "e1"].contains($0) }, fixesAndLinks) == all)
        #expect(try bench.run(confirming: { $0.hasPrefix("a") }, fixesAndLinks) == ["a2", "a3", "e2", "e3"])
        #expect(try bench.run(confirming: { $0.hasPrefix("e") }, fixesAndLinks) == ["e2", "e3"])
        #expect(try bench.run(fixesAndLinks) == [])
        try bench.append(4...4)
        try bench.appendEvents(4...4)
        #expect(try bench.run(fixesAndLinks) == ["a4", "e4"])
    }

    @Test func aRunForOneCollarKeepsTheOthersPosition() throws {
        try bench.append(1...2)
        try bench.append(1...2, of: collarB)
        try bench.appendEvents(1...1)
        #expect(try bench.run(fixesAndLinks).count == 5)
        try bench.append(3...3)
        try bench.append(3...3, of: collarB)
        #expect(try bench.run({ $0.wanted = .collar(collarA) }) == ["a3"])
        #expect(try bench.run(fixesAndLinks) == ["b3"])
    }

    @Test func aFailureToStoreIsOverWhenStoringSucceeds() throws {
        try bench.append(1...1)
        let entries = try bench.entries(as: "db")
        let file = bench.stateDirectory + "/readers/db.reader"
        for round in 1...3 {
            try FileManager.default.removeItem(atPath: file)
            // A directory in the place of the file cannot be replaced by one.
            try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: true)
            for _ in 0..<2 {
                #expect(try entries.storePosition(at: time(1), isSeen: true) == false)
                #expect(entries.positionFailure != nil)
                #expect(positionNotices == round, "a failure that lasts is reported once")
            }
            try FileManager.default.removeItem(atPath: file)
            #expect(try entries.storePosition(at: time(2), isSeen: true))
            #expect(entries.positionFailure == nil)
        }
    }

    @Test func whatCouldNotBeStoredIsStoredLater() throws {
        try bench.append(1...3)
        do {
            let entries = try bench.entries(as: "db")
            let file = bench.stateDirectory + "/readers/db.reader"
            try FileManager.default.removeItem(atPath: file)
            try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: true)
            #expect(bench.take(entries) { $0 != "a3" } == ["a1", "a2", "a3"])
            #expect(try entries.storePosition(at: time(1)) == false)
            try FileManager.default.removeItem(atPath: file)
            #expect(try entries.storePosition(at: time(2)))
        }
        #expect(try bench.run() == ["a3"])
    }

    @Test func aReaderWithoutANameStoresNothing() throws {
        try bench.append(1...2)
        for _ in 0..<2 {
            let entries = try bench.entries()
            #expect(!entries.isNamed)
            #expect(bench.take(entries) == ["a1", "a2"])
            #expect(try entries.storePosition(at: time(1), isSeen: true))
        }
        #expect(!FileManager.default.fileExists(atPath: bench.stateDirectory + "/readers"))
    }

    @Test func twoReadersOfOneNameDoNotRunTogether() throws {
        try bench.append(1...1)
        do {
            let first = try bench.entries(as: "db")
            #expect(throws: ReaderError.self) { try bench.entries(as: "db") }
            #expect(try bench.run(as: "other") == ["a1"])
            #expect(bench.take(first) == ["a1"])
        }
        #expect(try bench.run() == ["a1"])
    }

    @Test func aReaderWhoseDirectoryIsRemovedEnds() throws {
        let entries = try bench.entries(as: "db")
        try FileManager.default.removeItem(atPath: bench.stateDirectory + "/readers")
        #expect(throws: ReaderError.self) { try entries.storePosition(at: time(1), isSeen: true) }
        #expect(positionNotices == 0)
    }

    /// From then on, nothing is removed that the reader has not taken.
    @Test func aNewReaderIsKnownBeforeItTakesAnything() throws {
        let entries = try bench.entries(as: "db") { $0.wanted = .collar(collarB) }
        let state = try ReaderFiles(stateDirectory: bench.stateDirectory).state(of: try #require(ReaderName("db")))
        #expect(state?.collars == [collarB])
        #expect(entries.isNamed)
    }

    // MARK: Starts

    @Test func aStartIsForTheFirstRunOfAReader() throws {
        let start: (inout ReadingConfiguration) -> Void = {
            $0.read([.fix, .link])
            $0.start = .since(unixMilliseconds: StoredReadingBench.time.unixMilliseconds + 3000)
        }
        try bench.append(1...4)
        #expect(try bench.run(start) == ["a3", "a4"])
        let name = try #require(ReaderName("db"))
        #expect(!bench.notices.contains(.goesOn(name)))
        try bench.append(5...5)
        try bench.append(1...2, of: collarB)
        #expect(try bench.run(start) == ["a5", "b1", "b2"])
        #expect(bench.notices.filter { $0 == .goesOn(name) }.count == 1)
        #expect(try bench.run(fixesAndLinks) == [])
        #expect(bench.notices.filter { $0 == .goesOn(name) }.count == 1)
    }

    @Test func aStartAfterAFixNeedsTheFix() throws {
        try bench.append(1...3)
        func start(_ sequence: UInt32, _ collar: DeviceID) -> (inout ReadingConfiguration) -> Void {
            { $0.start = .after(FixIdentifier(deviceID: collar, logID: 1, sequence: sequence)) }
        }
        #expect(try bench.run(start(2, collarA)) == ["a3"])
        for (sequence, collar) in [(9, collarA), (1, collarB)] as [(UInt32, DeviceID)] {
            let fix = FixIdentifier(deviceID: collar, logID: 1, sequence: sequence)
            #expect(throws: ReaderError.unknownFix(fix)) { try bench.entries(start(sequence, collar)) }
        }
        let other: (inout ReadingConfiguration) -> Void = {
            start(1, collarA)(&$0)
            $0.wanted = .collar(collarB)
        }
        #expect(throws: ReaderError.self) { try bench.entries(other) }
        // A reader with a position does not need it.
        #expect(try bench.run(start(9, collarA)) == [])
    }

    @Test func aDirectoryWithoutAnythingIsTold() throws {
        _ = try bench.entries()
        #expect(bench.notices == [.nothingStored(path: bench.stateDirectory)])
        try bench.append(1...1)
        _ = try bench.entries()
        #expect(bench.notices.count == 1)
    }

    @Test func aDirectoryThatIsNoneEndsTheReader() {
        #expect(throws: ReaderError.self) { try bench.entries { $0.stateDirectory += "/none" } }
    }

    // MARK: Changes

    @Test func newCollarsAndEventsAreFound() throws {
        let entries = try bench.entries(as: "db", fixesAndLinks)
        #expect(bench.take(entries) == [])
        try bench.append(1...2)
        #expect(bench.take(entries) == [], "nothing is looked for before the change is handled")
        try entries.handleChanges()
        #expect(bench.take(entries) == ["a1", "a2"])
        try bench.append(1...1, of: collarB)
        try bench.append(3...3)
        try entries.handleChanges()
        #expect(bench.take(entries) == ["a3", "b1"])
        try bench.appendEvents(1...2)
        try entries.handleChanges()
        #expect(bench.take(entries) == ["e1", "e2"])
        try bench.appendEvents(3...3)
        try bench.append(2...2, of: collarB)
        try entries.handleChanges()
        #expect(bench.take(entries) == ["b2", "e3"])
        try entries.handleChanges()
        #expect(bench.take(entries) == [])
    }

    /// A backup is restored beside the state directory and then moved in.
    @Test func aCollarThatIsMovedInIsFound() throws {
        let backup = try StoredReadingBench()
        try backup.append(1...3, of: collarB)
        try bench.append(1...1)
        let entries = try bench.entries(as: "db")
        #expect(bench.take(entries) == ["a1"])
        try FileManager.default.moveItem(atPath: backup.path(of: collarB), toPath: bench.path(of: collarB))
        try entries.handleChanges()
        #expect(bench.take(entries) == ["b1", "b2", "b3"])
        try bench.append(4...4, of: collarB)
        try entries.handleChanges()
        #expect(bench.take(entries) == ["b4"])
    }

    @Test func unwantedCollarsAreNotReadWhenTheyCome() throws {
        let entries = try bench.entries { $0.wanted = .collar(collarA) }
        try bench.append(1...1, of: collarB)
        try bench.append(1...1)
        try entries.handleChanges()
        #expect(bench.take(entries) == ["a1"])
    }

    // MARK: Animals

    @Test func anAnimalsFixesAreThoseOfItsTimes() throws {
        try bench.append(1...4)
        try bench.append(1...4, of: collarB)
        let start = StoredReadingBench.time.unixMilliseconds
        let athena = Animal(name: "Athena")
        let table = DeploymentTable([
            Deployment(animal: athena, deviceID: collarA, endUnixMilliseconds: start + 3000),
            Deployment(animal: athena, deviceID: collarB, beginUnixMilliseconds: start + 3000),
        ])
        #expect(
            try bench.run({ $0.wanted = .animal(name: "Athena", table) }) == ["a1", "a2", "-a3", "-a4", "-b1", "-b2", "b3", "b4"])
    }

    @Test func animalsFilesAreReadWhenTheyHaveChanged() throws {
        let path = bench.stateDirectory + "/animals"
        let entries = try bench.entries { $0.animalPaths = [path] }
        #expect(entries.changedAnnotations(at: time(0).instant) == nil)
        try #require(FileManager.default.createFile(atPath: path, contents: Data("[animal A]\nwears = 000000000000000a\n".utf8)))
        #expect(entries.changedAnnotations(at: time(0.9).instant) == nil)
        #expect(entries.changedAnnotations(at: time(1).instant)?.deployments.wearer(of: collarA, at: 0)?.name == "A")
        #expect(entries.changedAnnotations(at: time(2).instant) == nil)
        try #require(FileManager.default.createFile(atPath: path, contents: Data("nonsense".utf8)))
        // The former names stay in use.
        #expect(entries.changedAnnotations(at: time(3).instant)?.deployments.wearer(of: collarA, at: 0)?.name == "A")
        #expect(entries.changedAnnotations(at: time(4).instant) == nil)
        let faults = bench.notices.filter { if case .editedFile = $0 { true } else { false } }
        #expect(faults.count == 1)
    }
}
