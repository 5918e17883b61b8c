import CollarARQ
import CollarJournal

/// The last hundred samples of a latency, in a ring of fixed size: adding a sample allocates nothing.
struct LatencySamples {
    static let capacity = 100

    private var microseconds = [Int64](repeating: 0, count: capacity)
    /// How many samples were added, up to ``capacity``.
    private var count = 0
    private var next = 0

    /// Adds a sample, in microseconds. A negative one says that a clock is wrong, and is left out.
    mutating func add(microseconds sample: Int64) {
        guard sample >= 0 else { return }
        microseconds[next] = sample
        next = (next + 1) % LatencySamples.capacity
        count = min(count + 1, LatencySamples.capacity)
    }

    /// The average and the 95th percentile; nil before the first sample.
    ///
    /// Complexity: sorts the samples.
    var summary: LatencySummary? {
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

    /// Whether there were a hundred samples: of fewer, a single one can be the 95th percentile.
    package var isComplete: Bool { sampleCount == LatencySamples.capacity }
}

/// The latencies of a host. Each is nil before its first sample.
package struct HostLatencies: Equatable, Sendable {
    /// From the time of a fix, by the collar's clock, to its reception. Only fixes count that are the newest of their collar: the
    /// others waited for their delivery.
    package var fix: LatencySummary?
    /// From the reception of a fix to its being handed out for the consumer. Only fixes count that go out without being read
    /// back: the others waited for the consumer.
    package var line: LatencySummary?
    /// From the reception of a poll to the sending of its answer, when everything received before the poll is durable.
    package var message: LatencySummary?
}

struct LatencyMeter {
    private var fix = LatencySamples()
    private var line = LatencySamples()
    private var message = LatencySamples()
    /// When the polls were received whose answers are not sent yet; at most ``LatencySamples/capacity``.
    private var unsentPolls: [Instant] = []

    mutating func noteNewest(fixMadeAt unixMilliseconds: Int64, at time: HostTime) {
        fix.add(microseconds: (time.unixMilliseconds - unixMilliseconds) * 1000)
    }

    mutating func noteHandedOut(receivedAt instant: Instant, at time: HostTime) {
        line.add(microseconds: time.instant.microseconds(since: instant))
    }

    /// The answer to a poll that was received at `instant` waits to be sent.
    mutating func noteAnswer(toPollAt instant: Instant) {
        if unsentPolls.count < LatencySamples.capacity { unsentPolls.append(instant) }
    }

    mutating func answersSent(at now: Instant) {
        guard !unsentPolls.isEmpty else { return }
        for poll in unsentPolls { message.add(microseconds: now.microseconds(since: poll)) }
        unsentPolls.removeAll(keepingCapacity: true)
    }

    var latencies: HostLatencies { HostLatencies(fix: fix.summary, line: line.summary, message: message.summary) }
}
