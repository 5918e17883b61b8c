import CollarARQ
import CollarJournal
import CollarTracking

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
