import CollarARQ
import CollarControl
import CollarFormats
import CollarHost
import CollarJournal
import CollarWire
import Testing

@testable import CollarReceiver

/// The names of animals in the lines of a receiver, and animals files that change or have faults.
@Suite struct ReceiverAnimalsTests {
    private static let athena = "[animal Athena]\nwears = 00000000000000c0\n"
    private static let boreas = "[animal Boreas]\nwears = 00000000000000c1\n"
    private static let wrong = "[animal Cassandra\n"

    private func bench(_ kinds: Set<LineKind> = [.fix, .link], files: [String]) throws -> ReceiverBench {
        let bench = try ReceiverBench(kinds)
        for (index, text) in files.enumerated() { try bench.write(text, to: "animals \(index)") }
        bench.configuration.animalPaths = files.indices.map { "\(bench.folder)/animals \($0)" }
        return bench
    }

    private let collars = [RecordedCollar(0xC0, logID: 77), RecordedCollar(0xC1, logID: 78, address: 10)]

    /// A day on which both collars make fixes, one after the other, with some seconds between them.
    private func day() throws -> RecordedDay {
        var day = RecordedDay()
        for collar in collars { day.receive(try collar.identity(next: 5)) }
        for sequence in 0..<5 as Range<UInt32> {
            day.wait(seconds: 2)
            for collar in collars { day.receive(try collar.fix(sequence)) }
        }
        return day
    }

    /// The names in the lines of a collar, one after the other.
    private func names(_ lines: [JSONValue], _ collar: String) -> [String] {
        lines.filter { $0["collar"]?.text == collar }.map { $0["name"]?.text ?? "-" }
    }

    private func names(_ run: ReceiverBench.Run) throws -> [[String]] {
        try ["00000000000000c0", "00000000000000c1"].map { names(try run.lines(.fix), $0) }
    }

    private func faultPaths(_ run: ReceiverBench.Run) -> [String] {
        run.notices.compactMap { if case .editedFile(.animals(let path, _)) = $0 { path } else { nil } }
    }

    @Test func eachLineHasTheNameOfItsAnimal() throws {
        let bench = try bench([.fix, .link, .stats, .status], files: [Self.athena, Self.boreas])
        var day = try day()
        for collar in collars { day.receive(try collar.status()) }
        let run = try bench.play(day)
        #expect(try names(run) == [Array(repeating: "Athena", count: 5), Array(repeating: "Boreas", count: 5)])
        for kind in [.link, .stats, .status] as [LineKind] {
            for (collar, name) in [("00000000000000c0", "Athena"), ("00000000000000c1", "Boreas")] {
                let named = names(try run.lines(kind), collar)
                #expect(!named.isEmpty && named.allSatisfy { $0 == name }, "\(kind)")
                #expect(names(try bench.events(kind), collar) == named, "\(kind)")
            }
        }
    }

    /// A fault in one file, the first or the second, takes no name of the other.
    @Test(arguments: [0, 1, 2])
    func aFileWithAFaultDoesNotSpoilTheOthers(index: Int) throws {
        var files = [Self.athena, Self.boreas]
        files.insert(Self.wrong, at: index)
        let bench = try bench([.fix, .error], files: files)
        let run = try bench.play(try day())
        #expect(try names(run) == [Array(repeating: "Athena", count: 5), Array(repeating: "Boreas", count: 5)])
        #expect(faultPaths(run) == ["\(bench.folder)/animals \(index)"])
        #expect(try run.lines(.error).count == 1)
        #expect(run.figures.errorCounts.values.reduce(0, +) == 1)
    }

    @Test func eachFileWithAFaultIsTold() throws {
        let bench = try bench(files: [Self.wrong, Self.athena, Self.wrong])
        let run = try bench.play(try day())
        #expect(faultPaths(run) == ["\(bench.folder)/animals 0", "\(bench.folder)/animals 2"])
        #expect(try names(run)[0] == Array(repeating: "Athena", count: 5))
    }

    /// Changes the files with the fixes of a run.
    /// - Parameter changes: the texts of files that are written when a fix of the first collar has come, by its sequence.
    private func play(_ bench: ReceiverBench, _ changes: [Int: [Int: String]]) throws -> ReceiverBench.Run {
        bench.configuration.reportsTraffic = true
        var frameCount = 0
        bench.onNotice = { _, notice in
            guard case .traffic(_, isInbound: true, _) = notice else { return }
            frameCount += 1
            // Two identities, then two fixes at a time.
            guard frameCount > 2, frameCount % 2 == 1, let texts = changes[(frameCount - 3) / 2] else { return }
            for (file, text) in texts { try bench.write(text, to: "animals \(file)") }
        }
        return try bench.play(try day())
    }

    @Test func aFileIsReadAgainWhenItHasChanged() throws {
        let bench = try bench(files: [Self.athena])
        let run = try play(bench, [1: [0: "[animal Demeter]\nwears = 00000000000000c0\n"], 3: [0: ""]])
        let names = try names(run)
        #expect(names[0].first == "Athena" && names[0].contains("Demeter") && names[0].last == "-")
        #expect(faultPaths(run) == [])
    }

    /// A file that becomes wrong keeps its names; another one that changes at the same time gets its new ones.
    @Test func aFaultKeepsTheNamesOfItsFileAndTakesThoseOfTheOther() throws {
        for (wrong, good) in [(0, 1), (1, 0)] {
            var files = [Self.athena, Self.boreas]
            if wrong == 1 { files.reverse() }
            let bench = try bench(files: files)
            let run = try play(bench, [1: [wrong: Self.wrong, good: "[animal Zephyrus]\nwears = 00000000000000c1\n"]])
            let names = try names(run)
            #expect(names[0] == Array(repeating: "Athena", count: 5))
            #expect(names[1].first == "Boreas" && names[1].suffix(3) == ["Zephyrus", "Zephyrus", "Zephyrus"])
            #expect(faultPaths(run) == ["\(bench.folder)/animals \(wrong)"])
        }
    }

    /// A fault is told once while the file stays as it is, and again when it has become another one.
    @Test func aFaultIsToldOncePerChange() throws {
        let bench = try bench(files: [Self.athena])
        let run = try play(bench, [0: [0: Self.wrong], 2: [0: Self.athena + " "], 3: [0: Self.wrong + Self.wrong]])
        #expect(faultPaths(run).count == 2)
        #expect(try names(run)[0] == Array(repeating: "Athena", count: 5))
    }

    /// The name is that of the time of the fix, and in a line of an event that of its moment.
    @Test func aCollarThatWasChangedHasTheNameOfTheTime() throws {
        let bench = try bench(files: [
            """
            [animal Athena]
            wears = 00000000000000c0 until 2023-11-14T22:13:22Z
            [animal Boreas]
            wears = 00000000000000c0 from 2023-11-14T22:13:22Z

            """
        ])
        #expect(try names(try bench.play(try day()))[0] == ["Athena", "Athena", "Boreas", "Boreas", "Boreas"])
    }

    @Test func aFileThatIsMissingHasNoNamesUntilItIsThere() throws {
        let bench = try bench(files: [Self.boreas])
        bench.configuration.animalPaths.append("\(bench.folder)/animals 7")
        let run = try play(bench, [1: [7: Self.athena]])
        let names = try names(run)
        #expect(names[0].first == "-" && names[0].last == "Athena")
        #expect(names[1] == Array(repeating: "Boreas", count: 5))
        #expect(faultPaths(run) == [])
    }
}
