import Testing

@testable import CollarTracking

/// Samples of latencies.
@Suite struct LatencySamplesTests {
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
}
