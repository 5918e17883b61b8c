import CollarControl
import CollarLinkTesting
import FoundationEssentials
import Testing

@testable import CollarLink

/// What the monitor of performance measures.
@Suite struct PerformanceMonitorTests {
    private let session: MockSession
    private let monitor: PerformanceMonitor

    init() throws {
        session = try MockSession()
        monitor = PerformanceMonitor(session.collar)
    }

    /// A fix that was made some seconds ago.
    private func fix(_ sequence: Int, age: Double, battery: Double = 0.8) -> LocationFix {
        LocationFix(
            timestamp: session.clock.now.addingTimeInterval(-age), source: .collar, coordinate: LocationFix.sample().coordinate,
            horizontalAccuracyMeters: 5, verticalAccuracyMeters: 5, speedMetersPerSecond: 0, courseDegrees: 0, batteryFraction: battery,
            sequence: sequence)
    }

    @Test func latenciesOfFixes() async {
        #expect(await monitor.report().fixLatency == nil)
        for sequence in 1...95 { monitor.record(fix(sequence, age: 0.2)) }
        for sequence in 96...100 { monitor.record(fix(sequence, age: 1.2)) }
        // A late one, one that waited out of reach, and one of a clock that is ahead.
        monitor.record(fix(50, age: 9))
        monitor.record(fix(101, age: 61))
        monitor.record(fix(102, age: -1))
        let report = await monitor.report()
        #expect(report.fixLatency == PerformanceReport.Latency(average: 0.25, p95: 0.2))
        #expect(report.isMet(.fixLatency) == true && report.warnings.allSatisfy { !$0.reason.contains("latency") })
        monitor.record(fix(103, age: 1.2))
        #expect(await monitor.report().isMet(.fixLatency) == false)
        monitor.resetMetrics()
        #expect(await monitor.report().fixLatency == nil)
    }

    @Test func latenciesOfMessages() async throws {
        monitor.recordMessage(latency: 0.25)
        monitor.recordMessage(latency: -1)
        monitor.recordMessage(latency: .infinity)
        let report = await monitor.report()
        #expect(report.messageLatency == PerformanceReport.Latency(average: 0.25, p95: 0.25) && report.isMet(.messageLatency) == false)
        let warning = try #require(report.warnings.first { $0.reason.contains("Message") })
        #expect(warning.code == .targetMissed && warning.severity == .warning && warning.remedy != nil)
        #expect(warning.reason == "Message latency (95 %): 250 ms, target less than 100 ms, missed.")
        let lines = report.summary.split(separator: "\n")
        #expect(lines.count == 4 && lines[0] == "Fix latency (95 %): not measured, target less than 500 ms")
    }

    @Test func thisProgramAndTheBattery() async throws {
        let first = await monitor.report()
        #expect(first.memoryBytes ?? 0 > 1_000_000 && first.isMet(.memory) != nil)
        #expect(first.batteryFraction == nil && first.batteryDrainPercentPerHour == nil)
        for minute in 0...120 {
            monitor.record(fix(minute, age: 0, battery: [0.8, 0.75, 0.7][minute / 60]))
            session.clock.advance(bySeconds: 60)
        }
        try await Task.sleep(for: .milliseconds(1100))
        let report = await monitor.report()
        #expect(report.processorPercent ?? -1 >= 0 && report.isMet(.processor) != nil)
        #expect(report.batteryFraction == 0.7 && report.batteryDrainPercentPerHour == 5)
        monitor.record(fix(121, age: 0, battery: LocationFix.unknown))
        #expect(await monitor.report().batteryFraction == nil)
    }

    @Test func theReceiverTellsWhatTheLinkDoes() async throws {
        #expect(await monitor.report().link != nil)
        await session.stopReceiver()
        #expect(await monitor.report().link == nil)
        var figures = ReceiverFigures()
        figures.values = [.duplicates: 3, .damagedFrames: 4, .airtime: 2_500_000]
        figures.collars = [
            1: [.queueDepth: 5, .missing: 2, .retransmissions: 7, .airtime: 1500], 2: [.queueDepth: 6, .airtime: 500],
            3: [.queueDepth: 100],
        ]
        let link = LinkTelemetry(figures) { $0 < 3 }
        #expect(link.queueDepth == 11 && link.missingFixes == 2 && link.retransmissions == 7 && link.collarAirtime == 2)
        #expect(link.receiverAirtime == 2.5 && link.duplicates == 3 && link.droppedFrames == 4)
        #expect(LinkTelemetry(ReceiverFigures()) { _ in true }.queueDepth == nil)
        figures.values[.messageLatencyAverage] = 20_000
        figures.values[.messageLatencyP95] = 90_000
        #expect(PerformanceReport.Latency(figures, .messageLatencyAverage, .messageLatencyP95)?.p95 == 0.09)
        #expect(PerformanceReport.Latency(figures, .messageLatencyAverage, .messageLatencyP95, longest: 80_000) == nil)
        #expect(PerformanceReport.Latency(figures, .fixLatencyAverage, .fixLatencyP95) == nil)
    }
}
