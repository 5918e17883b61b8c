import CollarARQ
import CollarFormats
import CollarHost
import CollarJournal
import CollarWire
import Testing

@testable import CollarReceiver

/// All event lines go to the event log, and the selected kinds to the output as well.
@Suite struct ReceiverEventLinesTests {
    /// A day with lines of every kind but results.
    private func day() throws -> RecordedDay {
        let collar = RecordedCollar()
        var day = RecordedDay()
        try day.receiveFixes(0..<3, of: collar)
        day.receive(try collar.status(lastError: .watchdogReset))
        day.wait(seconds: 1)
        day.receive(try collar.identity(next: 3, boot: 2))
        day.receive(try collar.status(lastError: .watchdogReset))
        day.pass(seconds: 250)
        day.note(.unplugged)
        day.wait(seconds: 1)
        day.open()
        day.wait(seconds: 1)
        day.note(.closed)
        return day
    }

    private static let ofEvents: [LineKind] = [.link, .error, .stats, .status]

    private static let selections: [Set<LineKind>] = [
        [], [.link], [.error], [.stats], [.status], [.link, .error, .status], [.fix, .link, .error, .stats, .status, .result],
    ]

    /// What is in the event log does not depend on what the consumer wants.
    @Test(arguments: selections)
    func everyLineIsInTheEventLogAndTheWantedOnesAreWritten(kinds: Set<LineKind>) throws {
        let bench = try ReceiverBench(kinds)
        let run = try bench.play(try day())
        for kind in Self.ofEvents {
            let events = try bench.events(kind)
            #expect(!events.isEmpty)
            #expect(try run.lines(kind) == (kinds.contains(kind) ? events : []), "\(kind)")
        }
        #expect(try bench.events(.fix) == [])
        #expect(try run.sequences() == (kinds.contains(.fix) ? [0, 1, 2] : []))
    }

    /// The log of a second run follows that of the first.
    @Test func theEventLogHasTheLinesOfAllRuns() throws {
        let bench = try ReceiverBench()
        var day = RecordedDay()
        day.wait(seconds: 1)
        day.note(.unplugged)
        for count in 1...3 {
            _ = try bench.play(day)
            let events = try bench.events(.link).compactMap { $0["event"]?.text }
            #expect(events == Array(repeatElement(["opened", "unplugged"], count: count).joined()))
        }
    }

    @Test func theLinksOfAPortAndOfACollarHaveLines() throws {
        let bench = try ReceiverBench([.link, .error])
        let run = try bench.play(try day())
        let links = try run.lines(.link)
        func seconds(_ event: String) -> [Double] { links.filter { $0["event"]?.text == event }.compactMap(\.second) }
        #expect(seconds("opened") == [0, 255])
        #expect(seconds("heard") == [0])
        #expect(seconds("restarted") == [4])
        #expect(seconds("unplugged") == [254])
        // A heartbeat and a quarter, and three heartbeats and a quarter after the last frame.
        #expect(seconds("late") == [79])
        #expect(seconds("unreachable") == [199])
        #expect(links.filter { $0["port"] != nil }.allSatisfy { $0["port"]?.text == RecordedDay.port })
        #expect(links.filter { $0["event"]?.text == "late" }.first?.number("silent_ms") == 75_000)
        #expect(try run.lines(.error).compactMap { $0["code"]?.text } == ["collar_fault", "collar_fault", "collar_not_reachable"])
    }

    /// A collar that is heard again is reachable again, each time.
    @Test func aCollarThatComesBackIsToldEachTime() throws {
        let bench = try ReceiverBench([.link])
        let collar = RecordedCollar()
        var day = RecordedDay()
        for sequence in 0..<3 as Range<UInt32> {
            day.receive(try collar.identity(next: sequence + 1))
            day.receive(try collar.fix(sequence))
            day.pass(seconds: 300, step: 5)
        }
        let links = try bench.play(day).lines(.link)
        func seconds(_ event: String) -> [Double] { links.filter { $0["event"]?.text == event }.compactMap(\.second) }
        #expect(seconds("late") == [75, 375, 675])
        #expect(seconds("unreachable") == [195, 495, 795])
        #expect(seconds("reachable") == [300, 600])
    }

    /// More collars than notices of one kind are given at once.
    @Test func eachOfTwelveCollarsIsTold() throws {
        let bench = try ReceiverBench([.link, .error, .stats])
        let collars = (0..<12 as Range<UInt8>).map {
            RecordedCollar(DeviceID(rawValue: 0xD0 + UInt64($0)), logID: LogID(lowBitsOf: 100 + UInt32($0)), address: 20 + $0)
        }
        var day = RecordedDay()
        for collar in collars { day.receive(try collar.identity()) }
        day.pass(seconds: 200)
        let run = try bench.play(day)
        for event in ["heard", "late", "unreachable"] {
            let told = try run.lines(.link).filter { $0["event"]?.text == event }.compactMap { $0["collar"]?.text }
            #expect(told.sorted() == collars.map(\.log.deviceID.description).sorted(), "\(event)")
        }
        #expect(run.figures.errorCounts["collar_not_reachable"] == 12)
        #expect(try run.lines(.error).count == 12)
    }

    /// The fixes of two collars come out each with its own, and in their order.
    @Test func fixesOfTwoCollarsAndTwoPorts() throws {
        let bench = try ReceiverBench([.fix, .link])
        var day = RecordedDay()
        day.open("/dev/ttyUSB8")
        try day.receiveFixes(0..<3, of: RecordedCollar(0xC0, logID: 77))
        try day.receiveFixes(0..<4, of: RecordedCollar(0xC1, logID: 78, address: 10), port: "/dev/ttyUSB8")
        let run = try bench.play(day)
        for (collar, count) in [("00000000000000c0", 3), ("00000000000000c1", 4)] {
            #expect(try run.lines(.fix).filter { $0["collar"]?.text == collar }.compactMap { $0.number("seq") } == Array(0..<count))
        }
        let heard = try run.lines(.link).filter { $0["event"]?.text == "heard" }
        #expect(heard.compactMap { $0["port"]?.text } == [RecordedDay.port, "/dev/ttyUSB8"])
    }
}
