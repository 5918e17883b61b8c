import CollarARQ
import CollarFormats
import CollarHost
import CollarJournal
import Glibc
import Testing

@testable import CollarReceiver

/// How a run ends, and what is written before it does.
@Suite struct ReceiverEndTests {
    /// A day with ten fixes, the first after a second, one a second.
    private func day() throws -> RecordedDay {
        var day = RecordedDay()
        try day.receiveFixes(0..<10, of: RecordedCollar())
        return day
    }

    /// The bytes of a day, and after them a block whose length is impossible.
    private func damaged(_ day: RecordedDay) -> [UInt8] {
        var more = day
        more.note(.due)
        var bytes = more.bytes
        bytes[day.bytes.count + 4] = 3
        return bytes
    }

    private static let documents: [(OutputFormat, start: String, end: String)] = [
        (.gpx, "<?xml", "</gpx>\n"), (.geojson, "{\"type\":\"FeatureCollection\"", "\n]}\n"),
    ]

    @Test func anErrorComesAfterTheFixesBeforeIt() throws {
        let bench = try ReceiverBench([.fix, .stats])
        let run = try bench.play(bytes: damaged(try day()))
        guard case .capture(let path, let error)? = run.error else {
            Issue.record("The capture is damaged: \(String(describing: run.error)).")
            return
        }
        #expect(path == "\(bench.folder)/capture" && error.problem == .blockLength(3))
        #expect(try run.sequences() == Array(0..<10))
        #expect(try run.lines(.stats).compactMap { $0.number("fixes_stored") } == [10, 10])
        // They are stored, and nothing is written again.
        #expect(try bench.play(RecordedDay()).sequences() == [])
    }

    /// Frames that were handled together with the damage are not lost, either.
    @Test func framesOfTheLastRoundAreStored() throws {
        let bench = try ReceiverBench([.fix])
        let collar = RecordedCollar()
        var day = RecordedDay()
        day.receive(try collar.identity(next: 3))
        day.receive(try collar.fix(0))
        day.receive(try collar.fix(1), isSameRound: true)
        day.receive(try collar.fix(2), isSameRound: true)
        let run = try bench.play(bytes: damaged(day))
        #expect(run.error != nil)
        #expect(try run.sequences() == [0, 1, 2])
    }

    /// A power cut during the last record is no error.
    @Test func aCutCaptureEndsWithItsLastWholeRecord() throws {
        let bench = try ReceiverBench([.fix])
        let run = try bench.play(bytes: Array(try day().bytes.dropLast(3)))
        #expect(run.error == nil)
        #expect(try run.sequences() == Array(0..<9))
    }

    @Test(arguments: [0, 1])
    func aDocumentIsWholeHoweverTheRunEnds(index: Int) throws {
        let (format, start, end) = Self.documents[index]
        func check(_ run: ReceiverBench.Run, points: Int, _ cause: String) {
            #expect(run.text.hasPrefix(start), "\(cause)")
            #expect(run.text.hasSuffix(end), "\(cause)")
            #expect(run.text.components(separatedBy: end.dropLast()) == 2, "\(cause)")
            let point = format == .gpx ? "<trkpt" : "\"Feature\""
            #expect(run.text.components(separatedBy: point) == points + 1, "\(cause)")
        }
        func bench(_ change: (inout ReceiverConfiguration) -> Void = { _ in }) throws -> ReceiverBench {
            let bench = try ReceiverBench()
            bench.configuration.format = FormatOptions(format)
            change(&bench.configuration)
            return bench
        }
        check(try bench().play(try day()), points: 10, "end of the capture")
        check(try bench().play(RecordedDay()), points: 0, "no fix")
        let error = try bench().play(bytes: damaged(try day()))
        #expect(error.error != nil)
        check(error, points: 10, "error")
        check(try bench { $0.lineLimit = 4 }.play(try day()), points: 4, "limit of lines")
        check(try bench { $0.durationMicroseconds = 5_000_000 }.play(try day()), points: 5, "limit of time")
        let ended = try bench()
        ended.onNotice = { _, notice in if case .host(.collar(_, .heard)) = notice { try #require(raise(SIGTERM) == 0) } }
        check(try ended.play(try day()), points: 0, "signal")
    }

    @Test func aLimitOfLinesCountsLines() throws {
        for (limit, rest) in [(1, 9), (9, 1), (10, 0), (11, 0)] {
            let bench = try ReceiverBench([.fix]) { $0.lineLimit = limit }
            let run = try bench.play(try day())
            #expect(run.error == nil && run.statistics.lines == min(10, limit))
            #expect(try run.sequences() == Array(0..<min(10, limit)))
            // What is not written stays for the next run; the capture is not played to its end.
            bench.configuration.lineLimit = nil
            #expect(try bench.play(try day()).sequences() == Array((10 - rest)..<10))
        }
    }

    /// Lines of events count, too.
    @Test func aLimitOfLinesCountsLinesOfEvents() throws {
        let bench = try ReceiverBench([.fix, .link]) { $0.lineLimit = 3 }
        let run = try bench.play(try day())
        #expect(try run.lines(.link).count + run.lines(.fix).count == 3)
        #expect(run.statistics.lines == 3)
    }

    /// What comes in at the end of the time still counts.
    @Test func aLimitOfTimeEndsTheRun() throws {
        for (microseconds, count) in [(4_999_999, 5), (5_000_000, 5), (5_000_001, 6), (60_000_000, 10)] as [(Int64, Int)] {
            let bench = try ReceiverBench([.fix, .stats]) { $0.durationMicroseconds = microseconds }
            let run = try bench.play(try day())
            #expect(run.error == nil)
            #expect(try run.sequences() == Array(0..<count), "\(microseconds)")
            #expect(try run.lines(.stats).first?.number("uptime_s") == min(10, count), "\(microseconds)")
        }
    }

    @Test func theEarlierOfTwoStopsCounts() throws {
        for (times, count) in [([3, 8], 3), ([8, 3], 3), ([8], 8), ([0], 0)] as [([Int64], Int)] {
            let bench = try ReceiverBench([.fix])
            bench.onNotice = { receiver, notice in
                guard case .host(.collar(_, .heard)) = notice else { return }
                for time in times { receiver.stop(afterMicroseconds: time * 1_000_000) }
            }
            #expect(try bench.play(try day()).sequences() == Array(0..<count), "\(times)")
        }
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func aSignalEndsTheRun(signal: Int32) throws {
        let bench = try ReceiverBench([.fix, .link, .stats])
        bench.onNotice = { _, notice in if case .port(_, .unplugged) = notice { try #require(raise(signal) == 0) } }
        var day = try day()
        day.note(.unplugged)
        day.wait(seconds: 100)
        day.open()
        day.receive(try RecordedCollar().fix(10))
        let run = try bench.play(day)
        #expect(run.error == nil)
        #expect(try run.sequences() == Array(0..<10))
        #expect(try run.lines(.link).last?["event"]?.text == "unplugged")
        #expect(try run.lines(.stats).count == 2)
    }

    /// The reader of the lines goes away: the run ends without an error, and no fix is lost.
    @Test func aReaderThatGoesAwayEndsTheRun() throws {
        let bench = try ReceiverBench([.fix])
        var ends: [Int32] = [0, 0]
        try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { close(ends[1]) }
        close(ends[0])
        try bench.write(try day().bytes, to: "capture")
        #expect(try bench.run(writingTo: ends[1]).error == nil)
        #expect(try bench.play(try day()).sequences() == Array(0..<10))
    }

    /// A file that cannot be written ends the run with an error.
    @Test func aFailureOfTheOutputEndsTheRun() throws {
        let bench = try ReceiverBench([.fix])
        let full = unsafe open("/dev/full", O_WRONLY | O_CLOEXEC)
        try #require(full >= 0)
        defer { close(full) }
        try bench.write(try day().bytes, to: "capture")
        #expect(throws: ReceiverError.output(errorNumber: ENOSPC)) {
            if let error = try bench.run(writingTo: full).error { throw error }
        }
        #expect(try bench.play(try day()).sequences() == Array(0..<10))
    }

    /// The format for Home Assistant has no fixes of unknown accuracy. A person is told at the first one, and of their number.
    @Test func fixesThatTheFormatCannotExpressAreTold() throws {
        let bench = try ReceiverBench([.fix]) { $0.format = FormatOptions(.homeassistant) }
        let run = try bench.play(try day())
        let omissions = run.notices.compactMap { if case .fixesLeftOut(let omission) = $0 { omission } else { nil } }
        #expect(omissions.map(\.fixCount) == [nil, 10] && omissions.allSatisfy { $0.format == .homeassistant })
        #expect(run.statistics.lines == 0)
        // They count as read.
        bench.configuration.format = FormatOptions()
        #expect(try bench.play(RecordedDay()).sequences() == [])
    }
}

extension String {
    /// The number of parts between the places of a separator.
    fileprivate func components(separatedBy separator: some StringProtocol) -> Int {
        var (count, rest) = (1, self[...])
        while let found = rest.firstRange(of: separator) {
            count += 1
            rest = rest[found.upperBound...]
        }
        return count
    }
}
