/// The last hundred samples of a latency, in a ring of fixed size: adding a sample allocates nothing.
package struct LatencySamples: Sendable {
    package static let capacity = 100

    private var microseconds = [Int64](repeating: 0, count: capacity)
    /// How many samples were added, up to ``capacity``.
    private var count = 0
    private var next = 0

    package init() {}

    /// Adds a sample, in microseconds. A negative one says that a clock is wrong, and is left out.
    package mutating func add(microseconds sample: Int64) {
        guard sample >= 0 else { return }
        microseconds[next] = sample
        next = (next + 1) % LatencySamples.capacity
        count = min(count + 1, LatencySamples.capacity)
    }

    /// The average and the 95th percentile; nil before the first sample.
    ///
    /// Complexity: sorts the samples.
    package var summary: LatencySummary? {
        guard count > 0 else { return nil }
        let sorted = microseconds[..<count].sorted()
        // Latencies of years occur where a clock is wrong, so the sum of whole samples could overflow.
        let average = sorted.reduce(0.0) { $0 + Double($1) } / Double(count)
        return LatencySummary(
            averageMicroseconds: Int64(exactly: average.rounded()) ?? .max, p95Microseconds: sorted[(count * 95 + 99) / 100 - 1],
            sampleCount: count)
    }
}

/// The average and the 95th percentile of the last hundred samples of a latency, or of all where there are fewer.
package struct LatencySummary: Equatable, Sendable {
    package var averageMicroseconds: Int64
    /// The 95th percentile, in microseconds: the lowest sample that at least 95 % of the samples do not exceed.
    package var p95Microseconds: Int64
    /// The number of samples, 1 … 100.
    package var sampleCount: Int

    package init(averageMicroseconds: Int64, p95Microseconds: Int64, sampleCount: Int) {
        self.averageMicroseconds = averageMicroseconds
        self.p95Microseconds = p95Microseconds
        self.sampleCount = sampleCount
    }

    /// Whether there were a hundred samples: of fewer, a single one can be the 95th percentile.
    package var isComplete: Bool { sampleCount == LatencySamples.capacity }
}
