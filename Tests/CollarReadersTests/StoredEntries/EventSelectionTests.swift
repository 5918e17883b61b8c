import CollarFormats
import CollarJournal
import CollarWire
import CollarWorld
import Testing

@testable import CollarReaders

/// Which lines of the event log a reader gets: by kind, collar and time.
@Suite struct EventSelectionTests {
    private let disk = SimulatedDisk(seed: 1)
    private let writer: EventLogWriter

    init() throws {
        _ = try disk.makeDirectory(at: "/state")
        writer = EventLogWriter(stateDirectory: "/state", fileSystem: disk)
    }

    private func append(_ lines: String...) throws { for line in lines { try writer.append(Array("\(line)\n".utf8)) } }

    private func events(
        _ kinds: Set<LineKind>, former: EventPosition? = nil, _ change: (inout ReadingConfiguration) -> Void = { _ in }
    ) -> FollowedEvents {
        var configuration = ReadingConfiguration(stateDirectory: "/state")
        configuration.read(kinds)
        change(&configuration)
        return FollowedEvents(configuration, former: former, fileSystem: disk)
    }

    /// The numbers of the lines that come now.
    private func numbers(_ events: inout FollowedEvents) throws -> [Int] {
        var numbers: [Int] = []
        while let line = try events.next() {
            numbers.append(try JSONScanner.value(of: line.bytes)["n"]?.integer(in: 0...Int.max) ?? -1)
            events.confirm(through: line.end)
        }
        return numbers
    }

    @Test func onlyTheKindsThatAreWanted() throws {
        for (number, kind) in ["link", "error", "stats", "status", "result", "link2", "fix"].enumerated() {
            try append(#"{"type":"\#(kind)","unix_ms":1,"n":\#(number)}"#)
        }
        for (kinds, expected) in [
            ([.link], [0]), ([.error], [1]), ([.stats], [2]), ([.status], [3]), ([.result], [4]), ([.link, .result, .fix], [0, 4]),
            ([.fix], []),
        ] as [(Set<LineKind>, [Int])] {
            var events = events(kinds)
            #expect(try numbers(&events) == expected, "\(kinds)")
        }
    }

    @Test func theLinesOfACollarAndThoseOfNone() throws {
        try append(
            #"{"type":"link","unix_ms":1,"collar":"000000000000000a","n":1}"#,
            #"{"type":"link","unix_ms":1,"collar":"000000000000000b","n":2}"#,
            #"{"type":"link","unix_ms":1,"n":3}"#, #"{"type":"link","unix_ms":1,"collar":"00000000000000a0","n":4}"#)
        var one = events([.link]) { $0.wanted = .collar(collarA) }
        #expect(try numbers(&one) == [1, 3])
        let table = DeploymentTable([collarA, collarB].map { Deployment(animal: Animal(name: "A"), deviceID: $0) })
        var animal = events([.link]) { $0.wanted = .animal(name: "A", table) }
        #expect(try numbers(&animal) == [1, 2, 3])
        var all = events([.link])
        #expect(try numbers(&all) == [1, 2, 3, 4])
    }

    @Test func theLinesSinceATime() throws {
        try append(
            #"{"type":"link","unix_ms":99,"n":1}"#, #"{"type":"link","unix_ms":100,"n":2}"#, #"{"type":"link","n":3}"#,
            #"{"type":"link","unix_ms":50,"n":4}"#, #"{"type":"link","unix_ms":1000,"n":5}"#)
        var since = events([.link]) { $0.start = .since(unixMilliseconds: 100) }
        #expect(try numbers(&since) == [2, 3, 5])
        // A reader with a position has taken what it wanted.
        var known = events([.link], former: .start) { $0.start = .since(unixMilliseconds: 100) }
        #expect(try numbers(&known) == [1, 2, 3, 4, 5])
        var other = events([.link]) { $0.start = .after(FixIdentifier(deviceID: collarA, logID: 1, sequence: 1)) }
        #expect(try numbers(&other) == [1, 2, 3, 4, 5])
    }

    @Test func aLineThatWasCutIsPassedOver() throws {
        try append(#"{"type":"link","unix_ms":1,"n":1}"#, #"{"type":"link","uni"#, "}", #"{"type":"link","unix_ms":1,"n":2}"#)
        var events = events([.link])
        #expect(try numbers(&events) == [1, 2])
    }

    @Test func newLinesComeOnceAChangeIsNoted() throws {
        var events = events([.link])
        #expect(events.isBehind)
        #expect(try numbers(&events) == [])
        for number in 1...3 {
            #expect(!events.isBehind)
            try append(#"{"type":"link","unix_ms":1,"n":\#(number)}"#)
            #expect(try events.next() == nil)
            events.noteChange()
            #expect(events.isBehind)
            #expect(try numbers(&events) == [number])
        }
    }

    @Test func aLaterReaderGoesOnAtThePosition() throws {
        try append(#"{"type":"link","unix_ms":1,"n":1}"#, #"{"type":"link","unix_ms":1,"n":2}"#)
        var first = events([.link])
        let line = try #require(try first.next())
        first.confirm(through: line.end)
        var second = events([.link], former: first.taken)
        #expect(second.taken == line.end)
        #expect(try numbers(&second) == [2])
        #expect(second.taken > line.end)
    }
}
