import CollarARQ

/// How the link to one collar does, as its receiver sees it.
///
/// A collar is expected to be heard at least once every heartbeat, and to answer what it is asked. Each expectation
/// that misses its time is a failure. Three in a row make the link degraded, ten unhealthy; one frame makes it healthy.
/// Silence makes the collar late, then unreachable.
///
/// It holds no clock and no timer: times go in, events come out.
public struct LinkHealth: Equatable, Sendable {
    /// What the failures in a row amount to.
    public enum Condition: String, Equatable, Sendable, CaseIterable {
        /// Fewer than ``LinkHealth/degradedFailureCount``.
        case healthy
        /// Fewer than ``LinkHealth/unhealthyFailureCount``.
        case degraded
        /// That many or more: somebody should look after the collar.
        case unhealthy
    }

    /// What the silence amounts to.
    public enum Reachability: String, Equatable, Sendable, CaseIterable {
        /// Not heard yet, or nothing is there to hear with.
        case unknown
        /// Heard when it was due.
        case reachable
        /// Not heard for a heartbeat and its grace.
        case late
        /// Not heard for ``LinkHealth/unreachableHeartbeatCount`` heartbeats and their grace.
        case unreachable
    }

    /// A change.
    public enum Event: Equatable, Sendable {
        /// The collar is heard, after this many microseconds of silence; nil for the first time or after a suspension.
        case reachable(silentMicroseconds: Int64?)
        /// The collar was due, this many microseconds after it was heard last or listening began.
        case late(silentMicroseconds: Int64)
        /// Several heartbeats of the collar did not come, for this many microseconds.
        case unreachable(silentMicroseconds: Int64)
        /// Failures in a row changed what the link counts as.
        case condition(Condition)
    }

    /// Failures in a row that make a link degraded.
    public static let degradedFailureCount = 3
    /// Failures in a row that make a link unhealthy. No more are counted.
    public static let unhealthyFailureCount = 10
    /// Missed heartbeats that make a collar unreachable.
    public static let unreachableHeartbeatCount = 3
    /// The heartbeat of a collar that has not told its own: the protocol's default.
    public static let defaultHeartbeatSeconds = 60
    /// A heartbeat shorter than this counts as this long, so that a collar's word does not keep its receiver awake.
    public static let minimumHeartbeatSeconds = 4

    /// What the failures amount to.
    public private(set) var condition = Condition.healthy
    /// What the silence amounts to.
    public private(set) var reachability = Reachability.unknown
    /// Failures in a row, 0 … ``unhealthyFailureCount``.
    public private(set) var failureCount = 0
    /// Since when the collar is silent: when it was heard last, or when listening began; nil where it is not waited for.
    public private(set) var silentSince: Instant?
    private var wasHeard = false
    private var heartbeat = Int64(LinkHealth.defaultHeartbeatSeconds) * 1_000_000
    private var missedHeartbeats = 0
    private var answerDeadline: Instant?

    /// Nothing is expected yet.
    public init() {}

    /// The collar told its heartbeat, in seconds. 0 means the default, and short ones ``minimumHeartbeatSeconds``.
    public mutating func setHeartbeat(seconds: UInt16) {
        let seconds = seconds == 0 ? LinkHealth.defaultHeartbeatSeconds : Int(seconds)
        heartbeat = Int64(max(seconds, LinkHealth.minimumHeartbeatSeconds)) * 1_000_000
    }

    /// A frame of the collar came in. It answers whatever was asked.
    public mutating func heard(at now: Instant) -> [Event] {
        let silence = wasHeard ? silentSince.map { now.microseconds(since: $0) } : nil
        silentSince = now
        wasHeard = true
        missedHeartbeats = 0
        failureCount = 0
        answerDeadline = nil
        var events: [Event] = []
        if reachability != .reachable {
            reachability = .reachable
            events.append(.reachable(silentMicroseconds: silence))
        }
        if condition != .healthy {
            condition = .healthy
            events.append(.condition(.healthy))
        }
        return events
    }

    /// The collar was asked for something. While an earlier answer is awaited, that one's time counts.
    public mutating func asked(at now: Instant, answerWithinMicroseconds time: Int64) {
        if answerDeadline == nil { answerDeadline = now.advanced(byMicroseconds: max(0, time)) }
    }

    /// Nothing is there to hear with: nothing is expected until listening goes on, and what was counted stays.
    public mutating func suspend() {
        silentSince = nil
        wasHeard = false
        answerDeadline = nil
        missedHeartbeats = 0
        reachability = .unknown
    }

    /// Listening goes on: silence counts from now.
    public mutating func resume(at now: Instant) {
        if silentSince == nil { silentSince = now }
    }

    /// When ``advance(to:)`` has something to do; nil while nothing is expected. A link that is unhealthy for want of
    /// heartbeats expects none any more.
    public var nextDeadline: Instant? {
        guard let heartbeatDeadline else { return answerDeadline }
        return min(heartbeatDeadline, answerDeadline ?? heartbeatDeadline)
    }

    /// Counts what has missed its time, in order.
    public mutating func advance(to now: Instant) -> [Event] {
        var events: [Event] = []
        while let deadline = nextDeadline, deadline <= now {
            if deadline == answerDeadline {
                answerDeadline = nil
            } else {
                missedHeartbeats += 1
                missedHeartbeat(at: deadline, &events)
            }
            failed(&events)
        }
        return events
    }

    /// When the next heartbeat has missed its time: a quarter of the heartbeat is granted, as frames are delayed and
    /// asked for again.
    private var heartbeatDeadline: Instant? {
        guard let silentSince, missedHeartbeats < LinkHealth.unhealthyFailureCount else { return nil }
        return silentSince.advanced(byMicroseconds: Int64(missedHeartbeats + 1) * heartbeat + heartbeat / 4)
    }

    private mutating func missedHeartbeat(at deadline: Instant, _ events: inout [Event]) {
        let silence = deadline.microseconds(since: silentSince ?? deadline)
        if missedHeartbeats == 1 {
            reachability = .late
            events.append(.late(silentMicroseconds: silence))
        } else if missedHeartbeats == LinkHealth.unreachableHeartbeatCount {
            reachability = .unreachable
            events.append(.unreachable(silentMicroseconds: silence))
        }
    }

    private mutating func failed(_ events: inout [Event]) {
        failureCount = min(failureCount + 1, LinkHealth.unhealthyFailureCount)
        let condition: Condition =
            if failureCount >= LinkHealth.unhealthyFailureCount {
                .unhealthy
            } else if failureCount >= LinkHealth.degradedFailureCount {
                .degraded
            } else {
                .healthy
            }
        guard condition != self.condition else { return }
        self.condition = condition
        events.append(.condition(condition))
    }
}
