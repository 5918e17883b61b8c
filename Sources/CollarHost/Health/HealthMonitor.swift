import CollarARQ
import CollarJournal
import CollarWire

/// The health of the link to one collar, and which of its changes are reported. A collar at the edge of the radio range is
/// often lost and heard again. So each kind of worsening is reported at most once a minute, and its end only if the worsening
/// was reported.
struct HealthMonitor {
    /// A worsening that is reported.
    private enum Worsening: Hashable, Sendable { case late, unreachable, degraded, unhealthy }

    private let deviceID: UInt64
    private let journal: Journal
    private var health = LinkHealth()
    private var notices = NoticeLimiter<Worsening>()
    /// Worsenings that were reported and are not over.
    private var open: Set<Worsening> = []

    /// - Parameter journal: it keeps the heartbeat in force for the next run.
    init(_ journal: Journal) {
        self.journal = journal
        deviceID = journal.deviceID
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

    /// The collar told the heartbeat in force.
    mutating func setHeartbeat(seconds: UInt16) {
        health.setHeartbeat(seconds: seconds)
        journal.memory.heartbeatSeconds = seconds
    }

    /// The collar reported settings. A heartbeat that was set is in force. With the default, only the identity tells which one is; it
    /// follows whenever that changes.
    mutating func accept(_ report: Settings) {
        for index in 0..<report.entries.count where report.entries[index].key == SettingKey.heartbeatSeconds.rawValue {
            let seconds = report.entries[index].value
            if seconds != 0, seconds != DefaultHeartbeat.leastSeconds { setHeartbeat(seconds: UInt16(clamping: seconds)) }
        }
    }

    /// A frame of the collar came in.
    mutating func noteFrame(at now: Instant, _ output: HostOutput) { report(health.noteFrame(at: now), at: now, output) }

    /// Counts overdue heartbeats and answers.
    mutating func advance(to now: Instant, _ output: HostOutput) { report(health.advance(to: now), at: now, output) }

    /// The link of the collar was closed.
    mutating func suspend() { health.suspend() }

    /// The link of the collar was opened, and an identity request to all collars goes out on it.
    mutating func resume(answerWithinMicroseconds time: Int64, at now: Instant) {
        health.resume(at: now)
        health.asked(at: now, answerWithinMicroseconds: time)
    }

    /// The longest silence of the collar, in microseconds, as far as it is known.
    var heartbeatMicroseconds: Int64 { health.heartbeatMicroseconds }

    private mutating func report(_ events: [LinkHealth.Event], at now: Instant, _ output: HostOutput) {
        for event in events where isReported(event, at: now) {
            output.report(.health(deviceID: deviceID, event))
        }
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
