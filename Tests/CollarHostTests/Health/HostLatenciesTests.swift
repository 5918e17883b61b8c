import CollarARQ
import CollarTracking
import Testing

@testable import CollarHost

/// What a host measures.
@Suite struct LatencyTests {
    @Test func whatAHostMeasures() throws {
        let bench = try HostBench()
        let link = bench.openLink()
        let collar = try PaperCollar()
        #expect(bench.host.reading(at: bench.time).latencies == HostLatencies())
        bench.receive(try collar.identity(next: 0, poll: nil), on: link)
        // The first fix is read back, so it gives no latency of its line; its time is ahead, so it gives none of the fix.
        bench.receive(try collar.fix(0, seconds: 60), on: link)
        #expect(bench.takeFixes().count == 1)
        bench.wait(seconds: 10)
        // Made at 8 s, received at 10 s.
        bench.receive(try collar.fix(5, seconds: 8, poll: 3), on: link)
        // An older one that comes later is backlog, and its latency is that of the delivery.
        bench.receive(try collar.fix(2, seconds: 2), on: link)
        bench.wait(seconds: 0.03)
        #expect(bench.entries().count == 2)
        bench.commit()
        bench.wait(seconds: 0.05)
        #expect(!bench.frames().isEmpty)
        #expect(bench.host.reading(at: bench.time).latencies.message == nil)
        bench.host.framesSent(at: bench.now)
        // Nothing was answered since.
        bench.wait(seconds: 1)
        bench.host.framesSent(at: bench.now)
        let latencies = bench.host.reading(at: bench.time).latencies
        #expect(latencies.fix == LatencySummary(averageMicroseconds: 2_000_000, p95Microseconds: 2_000_000, sampleCount: 1))
        #expect(latencies.line == LatencySummary(averageMicroseconds: 30_000, p95Microseconds: 30_000, sampleCount: 2))
        #expect(latencies.message == LatencySummary(averageMicroseconds: 80_000, p95Microseconds: 80_000, sampleCount: 1))
    }

    @Test func aCollarWhoseClockIsAheadGivesNoSample() throws {
        let bench = try HostBench()
        let link = bench.openLink()
        let collar = try PaperCollar()
        bench.receive(try collar.identity(next: 0, poll: nil), on: link)
        bench.receive(try collar.fix(0, seconds: 60), on: link)
        #expect(bench.host.reading(at: bench.time).latencies.fix == nil)
    }

    /// A caller that sends frames and never says so.
    @Test func unsentPollsAreBounded() throws {
        var meter = LatencyMeter()
        for second in 0..<300 as Range<Int64> { meter.noteAnswer(toPollAt: Instant(microseconds: second * 1_000_000)) }
        meter.answersSent(at: Instant(microseconds: 99_000_000))
        // The first hundred: 99 s to 0 s ago.
        #expect(meter.latencies.message == LatencySummary(averageMicroseconds: 49_500_000, p95Microseconds: 94_000_000, sampleCount: 100))
    }
}
