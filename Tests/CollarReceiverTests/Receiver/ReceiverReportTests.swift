import CollarARQ
import CollarControl
import CollarFormats
import CollarJournal
import CollarTracking
import CollarWire
import Glibc
import LinuxSystem
import Testing

@testable import CollarHost
@testable import CollarReceiver

/// Repeated reports of a receiver.
@Suite struct ReceiverReportTests {
    /// Without a consumer of figures, the event log has them once for the same frames, however often they are requested.
    @Test func unwantedFiguresAreWrittenOnlyAfterFurtherFrames() throws {
        let bench = try ReceiverBench([.fix])
        bench.onNotice = { _, notice in
            switch notice {
            case .host(.collar(_, .heard)), .port(_, .unplugged): try #require(raise(SIGUSR1) == 0)
            default: break
            }
        }
        let collar = RecordedCollar()
        var day = RecordedDay()
        day.receive(try collar.identity(next: 1))
        day.pass(seconds: 1)
        day.receive(try collar.fix(0))
        for _ in 0..<3 {
            day.pass(seconds: 1)
            day.note(.unplugged)
            day.pass(seconds: 1)
            day.open()
        }
        _ = try bench.play(day)
        let figures = try bench.events(.stats).filter { $0["collar"] == nil }
        #expect(figures.compactMap { $0.number("frames") } == [1, 2])
    }

    /// The times of a capture are not those of this machine, so no target is missed while it is played.
    @Test func aPlaybackMissesNoTarget() throws {
        let bench = try ReceiverBench([.stats, .error])
        var day = RecordedDay()
        // Each fix comes a second after its time.
        try day.receiveFixes(0..<150, of: RecordedCollar())
        day.pass(seconds: 120, step: 10)
        let run = try bench.play(day)
        #expect(run.figures.values[.fixLatencyP95] == 1_000_000)
        #expect(run.figures.errorCounts["target_missed"] == nil)
    }

    /// Figures that few samples or an absence have made tell nothing about a target.
    @Test func aTargetIsJudgedByFiguresThatTellSomething() {
        func missed(fix: (Int64, count: Int)?, message: (Int64, count: Int)?) -> [PerformanceTarget] {
            var host = HostReading(statistics: HostStatistics(), journalByteCount: nil, lag: nil, isStorageFailing: false, collars: [])
            func summary(_ value: (Int64, count: Int)?) -> LatencySummary? {
                value.map { LatencySummary(averageMicroseconds: 1, p95Microseconds: $0.0, sampleCount: $0.count) }
            }
            host.latencies.fix = summary(fix)
            host.latencies.message = summary(message)
            let reading = ReceiverReading(host: host, lineCount: 0, uptimeMicroseconds: 700_000_000, outputBlockedMicroseconds: nil)
            var monitor = TargetMonitor()
            return monitor.newlyMissed(in: reading, at: Instant(microseconds: 0)).map(\.target)
        }
        #expect(missed(fix: (60_000_000, 100), message: (100_000, 100)) == [.fixLatency, .messageLatency])
        #expect(missed(fix: (60_000_001, 100), message: (90_000_000, 100)) == [.messageLatency])
        #expect(missed(fix: (700_000, 99), message: (200_000, 99)) == [])
        #expect(missed(fix: (700_000, 100), message: nil) == [.fixLatency])
        #expect(missed(fix: nil, message: (200_000, 99)) == [])
    }

    /// Each of two targets has an hour of its own.
    @Test func eachTargetIsToldByItself() {
        var monitor = TargetMonitor()
        var host = HostReading(statistics: HostStatistics(), journalByteCount: nil, lag: nil, isStorageFailing: false, collars: [])
        func missed(_ second: Int64, memory: Int64, message: Int64) -> [PerformanceTarget] {
            host.latencies.message = LatencySummary(averageMicroseconds: 1, p95Microseconds: message, sampleCount: 100)
            let reading = ReceiverReading(
                host: host, lineCount: 0, uptimeMicroseconds: 700_000_000, outputBlockedMicroseconds: nil,
                usage: ProcessUsage(processorMicroseconds: 1, residentByteCount: memory))
            return monitor.newlyMissed(in: reading, at: Instant(microseconds: second * 1_000_000)).map(\.target)
        }
        #expect(missed(0, memory: 50_000_001, message: 1) == [.memory])
        #expect(missed(1800, memory: 1, message: 100_000) == [.messageLatency])
        #expect(missed(3599, memory: 50_000_001, message: 1) == [])
        #expect(missed(3600, memory: 50_000_001, message: 100_000) == [.memory])
        #expect(missed(5399, memory: 50_000_001, message: 100_000) == [])
        #expect(missed(5400, memory: 50_000_001, message: 100_000) == [.messageLatency])
    }

    /// The line of an answer with settings has them and their version.
    @Test func anAnswerWithSettingsHasTheirVersion() {
        var report = RequestReport(deviceID: 7, requestID: 9, request: .settingsRequest, state: .queued)
        #expect(ResultLine(report, unixMilliseconds: 11).settingsVersion == nil)
        report.state = .ended(.reported(version: SettingsVersion(rawValue: 5)))
        report.settings = [Setting(key: 1, value: 2), Setting(key: 3, value: 4)]
        let line = ResultLine(report, unixMilliseconds: 11)
        #expect(line.outcome == .ok && line.settingsVersion?.rawValue == 5 && line.settings == report.settings)
        #expect(line.deviceID == 7 && line.requestID == 9 && line.unixMilliseconds == 11 && line.verb == report.request.verb)
    }
}
