import CollarARQ
import CollarControl
import CollarFormats
import CollarHost
import CollarJournal
import CollarWire
import Glibc
import Testing

@testable import CollarReceiver

/// When a receiver reports its figures, and what they count.
@Suite struct ReceiverFiguresTests {
    /// The seconds of the lines that are of the receiver as a whole.
    private func seconds(_ lines: [JSONValue]) -> [Double] { lines.filter { $0["collar"] == nil }.compactMap(\.second) }

    @Test func figuresAreWrittenEachMinuteAlsoWithoutAFrame() throws {
        let bench = try ReceiverBench([.stats])
        var day = RecordedDay(opensPort: false)
        day.pass(seconds: 250, step: 10)
        let run = try bench.play(day)
        // The last line is that of the end.
        #expect(seconds(try run.lines(.stats)) == [60, 120, 180, 240, 250])
        #expect(try run.lines(.stats).compactMap { $0.number("uptime_s") } == [60, 120, 180, 240, 250])
    }

    @Test func aMinuteIsOverAtItsEndAndCountsFromTheLastLine() throws {
        let bench = try ReceiverBench([.stats])
        var day = RecordedDay(opensPort: false)
        for second in [59.999, 0.001, 59.5, 10, 59.999, 0.001, 0.5] {
            day.wait(seconds: second)
            day.note(.due)
        }
        #expect(seconds(try bench.play(day).lines(.stats)) == [60, 129.5, 189.5, 190])
    }

    /// Frames of a port do not move the minutes.
    @Test func figuresAreWrittenEachMinuteAlsoWhileFramesCome() throws {
        let bench = try ReceiverBench([.stats])
        let collar = RecordedCollar()
        var day = RecordedDay()
        try day.receiveFixes(0..<130, of: collar)
        day.pass(seconds: 60)
        let lines = try bench.play(day).lines(.stats)
        #expect(seconds(lines) == [60, 120, 180, 190])
        let ofCollar = lines.filter { $0["collar"]?.text == "00000000000000c0" }
        #expect(ofCollar.compactMap(\.second) == [60, 120, 180, 190])
        #expect(ofCollar.compactMap { $0.number("fixes_stored") } == [60, 120, 130, 130])
        #expect(lines.filter { $0["collar"] == nil }.compactMap { $0.number("frames") } == [61, 121, 131, 131])
    }

    @Test func theFiguresOfTheEndCountEverything() throws {
        let bench = try ReceiverBench([.fix, .stats])
        var day = RecordedDay()
        try day.receiveFixes(0..<3, of: RecordedCollar(0xC0, logID: 77))
        try day.receiveFixes(0..<5, of: RecordedCollar(0xC1, logID: 78))
        day.receive(try RecordedCollar(0xC1, logID: 78).fix(2))
        day.note(.read([0, 5, 1, 2, 3, 4, 0]))
        let run = try bench.play(day)
        #expect(run.statistics.host.fixes == 8 && run.statistics.host.duplicates == 1 && run.statistics.host.frames == 11)
        let lines = try run.lines(.stats)
        #expect(lines.map { $0["collar"]?.text } == [nil, "00000000000000c0", "00000000000000c1"])
        #expect(lines.map { $0.number("fixes_stored") } == [8, 3, 5])
        #expect(lines.map { $0.number("duplicates") } == [1, 0, 1])
        #expect(lines.map { $0.number("highest_seq") } == [nil, 2, 4])
        #expect(lines.first?.number("lines") == 8)
        #expect(lines.first?.number("frames_damaged") == 1)
        // With the three lines of figures.
        #expect(run.statistics.lines == 11)
    }

    /// A receiver whose consumer does not want figures keeps them for others, but only where they have changed.
    @Test func unwantedFiguresAreInTheEventLogOnceIfFramesCame() throws {
        let bench = try ReceiverBench([.fix])
        var quiet = RecordedDay()
        quiet.pass(seconds: 300, step: 10)
        #expect(try bench.play(quiet).lines(.stats) == [])
        #expect(try bench.events(.stats) == [])
        var day = RecordedDay()
        try day.receiveFixes(0..<2, of: RecordedCollar())
        #expect(try bench.play(day).lines(.stats) == [])
        #expect(try bench.events(.stats).compactMap { $0.number("fixes_stored") } == [2, 2])
    }

    @Test func figuresAreReportedToTheOwnerWhoWantsThem() throws {
        let bench = try ReceiverBench([.stats]) { $0.reportsFigures = true }
        var day = RecordedDay(opensPort: false)
        day.pass(seconds: 130, step: 10)
        let reports = try bench.play(day).notices.filter { if case .figures = $0 { true } else { false } }
        #expect(reports.count == 3)
    }

    /// SIGUSR1 asks for the figures now.
    @Test func aSignalAsksForFigures() throws {
        let bench = try ReceiverBench([.stats])
        bench.onNotice = { _, notice in
            if case .host(.collar(_, .heard)) = notice { try #require(raise(SIGUSR1) == 0) }
        }
        var day = RecordedDay()
        day.wait(seconds: 7)
        day.receive(try RecordedCollar().identity())
        day.pass(seconds: 60)
        #expect(seconds(try bench.play(day).lines(.stats)) == [7, 60, 67])
    }

    /// A day on which a collar restarts again and again, with a fault each time.
    private func restarts(_ count: UInt32, of collars: [RecordedCollar]) throws -> RecordedDay {
        var day = RecordedDay()
        for boot in 1...(count + 1) {
            for collar in collars {
                day.wait(seconds: 0.01)
                day.receive(try collar.identity(boot: boot))
                if boot > 1 { day.receive(try collar.status(lastError: .watchdogReset)) }
            }
        }
        return day
    }

    @Test func errorsThatAreHeldBackAreCounted() throws {
        let bench = try ReceiverBench([.error, .link])
        var day = try restarts(12, of: [RecordedCollar()])
        day.pass(seconds: 11)
        let run = try bench.play(day)
        #expect(run.figures.errorCounts == ["collar_fault": 12])
        // Eight at once, and the newest of the others when it is due.
        #expect(try run.lines(.error).count == 9)
        #expect(try bench.events(.error).count == 9)
        #expect(try run.lines(.link).filter { $0["event"]?.text == "restarted" }.count == 9)
        guard case .repeated(_, let leftOutCount)? = run.notices.last else {
            Issue.record("The newest of the notices that were held back is not given.")
            return
        }
        #expect(leftOutCount == 3)
    }

    @Test func eachCollarHasALimitOfItsOwn() throws {
        let bench = try ReceiverBench([.error])
        var day = try restarts(10, of: [RecordedCollar(0xC0, logID: 77), RecordedCollar(0xC1, logID: 78)])
        day.pass(seconds: 11)
        let run = try bench.play(day)
        #expect(run.figures.errorCounts == ["collar_fault": 20])
        for collar in ["00000000000000c0", "00000000000000c1"] {
            #expect(try run.lines(.error).filter { $0["collar"]?.text == collar }.count == 9, "\(collar)")
        }
    }

    @Test func errorsOfEachCodeAreCounted() throws {
        let bench = try ReceiverBench([.error])
        var day = try restarts(2, of: [RecordedCollar()])
        day.pass(seconds: 200)
        let run = try bench.play(day)
        #expect(run.figures.errorCounts["collar_fault"] == 2)
        #expect(run.figures.errorCounts["collar_not_reachable"] == 1)
        var codes: [String: Int64] = [:]
        for line in try run.lines(.error) { codes[line["code"]?.text ?? "", default: 0] += 1 }
        #expect(codes == run.figures.errorCounts)
    }
}
