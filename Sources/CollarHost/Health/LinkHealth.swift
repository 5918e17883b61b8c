import CollarARQ
import CollarJournal
import CollarWire

/// The health of the link to one collar, as its receiver sees it.
///
/// A collar is expected to be heard at least once every heartbeat in force, and to answer each request. Each missed heartbeat or
/// answer is a failure. Three failures in a row make the link degraded, ten unhealthy; any frame makes it healthy. Silence
/// makes the collar late, then unreachable.
///
/// It holds no clock and no timer: its callers pass the time and get events.
package struct LinkHealth: Equatable, Sendable {
    /// The condition of the link, by its failures in a row.
    package enum Condition: String, Equatable, Sendable, CaseIterable {
        /// Fewer failures than ``LinkHealth/degradedFailureCount``.
        case healthy
        /// At least ``LinkHealth/degradedFailureCount`` failures, but fewer than ``LinkHealth/unhealthyFailureCount``.
        case degraded
        /// ``LinkHealth/unhealthyFailureCount`` failures or more: a person should look after the collar.
        case unhealthy
    }

    /// The reachability of the collar, by its silence.
    package enum Reachability: String, Equatable, Sendable, CaseIterable {
        /// Not heard yet, or its link is closed.
        case unknown
        /// Heard when it was due.
        case reachable
        /// Not heard for a heartbeat and a grace time of a quarter heartbeat.
        case late
        /// Not heard for ``LinkHealth/unreachableHeartbeatCount`` heartbeats and the grace time.
        case unreachable
    }

    package enum Event: Equatable, Sendable {
        /// The collar is heard, after this many microseconds of silence; nil for the first time or after a suspension.
        case reachable(silentMicroseconds: Int64?)
        /// The collar is late: it has been silent for this many microseconds since it was heard last or listening began.
        case late(silentMicroseconds: Int64)
        /// Several heartbeats are missed: the collar has been silent for this many microseconds.
        case unreachable(silentMicroseconds: Int64)
        case condition(Condition)
    }

    /// Failures in a row that make a link degraded.
    package static let degradedFailureCount = 3
    /// Failures in a row that make a link unhealthy. No more are counted.
    package static let unhealthyFailureCount = 10
    /// Missed heartbeats that make a collar unreachable.
    package static let unreachableHeartbeatCount = 3
    /// The heartbeat of a collar that has not told its own: the protocol's default.
    package static let defaultHeartbeatSeconds = Int(DefaultHeartbeat.leastSeconds)
    static let defaultHeartbeatMicroseconds = Int64(defaultHeartbeatSeconds) * 1_000_000
    /// A shorter heartbeat counts as this long, so that a collar cannot keep its receiver awake with a very short one.
    package static let minimumHeartbeatSeconds = 4

    package private(set) var condition = Condition.healthy
    package private(set) var reachability = Reachability.unknown
    /// Failures in a row, 0 … ``unhealthyFailureCount``.
    package private(set) var failureCount = 0
    /// The start of the silence: the last frame of the collar, or the start of listening; nil while not listening.
    package private(set) var silentSince: Instant?
    private var wasHeard = false
    /// The heartbeat in force, the longest silence of the collar, in microseconds.
    package private(set) var heartbeatMicroseconds = LinkHealth.defaultHeartbeatMicroseconds
    private var missedHeartbeats = 0
    private var answerDeadline: Instant?

    package init() {}

    /// The collar told its heartbeat, in seconds. 0 means the default; a short one counts as ``minimumHeartbeatSeconds``.
    package mutating func setHeartbeat(seconds: UInt16) {
        let seconds = seconds == 0 ? LinkHealth.defaultHeartbeatSeconds : Int(seconds)
        heartbeatMicroseconds = Int64(max(seconds, LinkHealth.minimumHeartbeatSeconds)) * 1_000_000
    }

    /// A frame of the collar came in. It counts as the answer to whatever was asked.
    package mutating func noteFrame(at now: Instant) -> [Event] {
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

    /// The collar was asked for something. If an earlier answer is still awaited, its deadline stays.
    package mutating func asked(at now: Instant, answerWithinMicroseconds time: Int64) {
        if answerDeadline == nil { answerDeadline = now.advanced(byMicroseconds: max(0, time)) }
    }

    /// The link is closed: nothing is expected until ``resume(at:)``. The failures counted so far stay.
    package mutating func suspend() {
        silentSince = nil
        wasHeard = false
        answerDeadline = nil
        missedHeartbeats = 0
        reachability = .unknown
    }

    /// Listening goes on: silence counts from now.
    package mutating func resume(at now: Instant) {
        if silentSince == nil { silentSince = now }
    }

    /// When to call ``advance(to:)`` next; nil while nothing is expected. After ``unhealthyFailureCount`` missed heartbeats
    /// no further heartbeat is expected.
    package var nextDeadline: Instant? {
        guard let heartbeatDeadline else { return answerDeadline }
        return min(heartbeatDeadline, answerDeadline ?? heartbeatDeadline)
    }

    /// Counts overdue heartbeats and answers, in the order of their deadlines.
    package mutating func advance(to now: Instant) -> [Event] {
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

    /// When the next heartbeat is overdue. Because frames are delayed and sent again, there is a grace time of a quarter
    /// heartbeat.
    private var heartbeatDeadline: Instant? {
        guard let silentSince, missedHeartbeats < LinkHealth.unhealthyFailureCount else { return nil }
        return silentSince.advanced(byMicroseconds: Int64(missedHeartbeats + 1) * heartbeatMicroseconds + heartbeatMicroseconds / 4)
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
            failureCount >= LinkHealth.unhealthyFailureCount ? .unhealthy
            : failureCount >= LinkHealth.degradedFailureCount ? .degraded : .healthy
        guard condition != self.condition else { return }
        self.condition = condition
        events.append(.condition(condition))
    }
}

/// The health of the link to one collar, and which of its changes are reported. A collar at the edge of the radio range is
/// often lost and heard again. So each kind of worsening is reported at most once a minute, and its end only if the worsening
/// was reported.
struct HealthMonitor {
    private enum Worsening: Hashable, Sendable { case late, unreachable, degraded, unhealthy }

    private let journal: Journal
    private var health = LinkHealth()
    private var notices = NoticeLimiter<Worsening>()
    /// Worsenings that were reported and are not over.
    private var open: Set<Worsening> = []

    /// - Parameter journal: it keeps the heartbeat in force for the next run.
    init(_ journal: Journal) {
        self.journal = journal
        health.setHeartbeat(seconds: journal.memory.heartbeatSeconds)
    }

    var nextDeadline: Instant? { health.nextDeadline }

    /// Whether the collar was heard since its link was opened, and no heartbeat is overdue.
    var isInContact: Bool { health.reachability == .reachable }

    /// Whether the collar is reachable: it was heard since its link was opened, and fewer heartbeats are missed than make it unreachable;
    /// nil while its link is closed.
    var isReachable: Bool? {
        switch health.reachability {
        case .unknown: nil
        case .reachable, .late: true
        case .unreachable: false
        }
    }

    /// Microseconds since the last frame of the collar, or since its link was opened; nil while its link is closed.
    func silentMicroseconds(at now: Instant) -> Int64? { health.silentSince.map { now.microseconds(since: $0) } }

    mutating func setHeartbeat(seconds: UInt16) {
        health.setHeartbeat(seconds: seconds)
        journal.memory.heartbeatSeconds = seconds
    }

    /// The collar reported settings, or began or ended a rest. A heartbeat that was set is in force. With the default, only the identity
    /// tells which one is; it follows whenever that changes.
    mutating func follow(_ schedule: KnownSchedule) {
        if let seconds = schedule.heartbeatSeconds { setHeartbeat(seconds: UInt16(clamping: seconds)) }
    }

    mutating func noteFrame(at now: Instant, _ output: HostOutput) { report(health.noteFrame(at: now), at: now, output) }

    mutating func advance(to now: Instant, _ output: HostOutput) { report(health.advance(to: now), at: now, output) }

    mutating func suspend() { health.suspend() }

    /// The link of the collar was opened, and an identity request to all collars goes out on it.
    mutating func resume(answerWithinMicroseconds time: Int64, at now: Instant) {
        health.resume(at: now)
        health.asked(at: now, answerWithinMicroseconds: time)
    }

    /// The longest silence of the collar, in microseconds, as far as it is known.
    var heartbeatMicroseconds: Int64 { health.heartbeatMicroseconds }

    private mutating func report(_ events: [LinkHealth.Event], at now: Instant, _ output: HostOutput) {
        for event in events where isReported(event, at: now) { output.report(.collar(journal.deviceID, .health(event))) }
    }

    private mutating func isReported(_ event: LinkHealth.Event, at now: Instant) -> Bool {
        let worsening: Worsening
        switch event {
        case .reachable: return end([.late, .unreachable])
        case .condition(.healthy): return end([.degraded, .unhealthy])
        case .late: worsening = .late
        case .unreachable: worsening = .unreachable
        case .condition(.degraded): worsening = .degraded
        case .condition(.unhealthy): worsening = .unhealthy
        }
        guard notices.isDue(worsening, at: now) else { return false }
        open.insert(worsening)
        return true
    }

    private mutating func end(_ worsenings: Set<Worsening>) -> Bool {
        let wasReported = !open.isDisjoint(with: worsenings)
        open.subtract(worsenings)
        return wasReported
    }
}
