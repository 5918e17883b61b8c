import CollarARQ
import Testing

@testable import CollarHost

/// Samples of latencies, and what a host measures.
@Suite struct LatencyTests {
    private func summary(_ samples: [Int64]) -> [Int64]? {
        var ring = LatencySamples()
        for sample in samples { ring.add(microseconds: sample) }
        return ring.summary.map { [$0.averageMicroseconds, $0.p95Microseconds] }
    }

    @Test func fewSamples() {
        #expect(summary([]) == nil)
        #expect(summary([-1]) == nil)
        #expect(summary([7]) == [7, 7])
        #expect(summary([0]) == [0, 0])
        #expect(summary([10, -5, 20, 31]) == [20, 31])
        // 19 of 20 samples do not exceed 19; of 21, only 20 are 95 %.
        #expect(summary(Array(1...20)) == [11, 19])
        #expect(summary(Array(1...21).reversed()) == [11, 20])
    }

    @Test func theLastHundredCount() {
        #expect(summary(Array(1...100)) == [51, 95])
        #expect(summary(Array(1...101)) == [52, 96])
        #expect(summary([Int64](repeating: 1_000_000, count: 250) + [Int64](repeating: 5, count: 100)) == [5, 5])
        #expect(summary([Int64](repeating: 0, count: 95) + [Int64](repeating: 1000, count: 5)) == [50, 0])
        #expect(summary([Int64](repeating: 0, count: 94) + [Int64](repeating: 1000, count: 6)) == [60, 1000])
        #expect(summary([Int64](repeating: .max / 2, count: 100)) == [.max / 2 + 1, .max / 2])
    }

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
