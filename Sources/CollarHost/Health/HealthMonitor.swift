import CollarARQ

/// The health of the link to one collar, and what of it is reported: a worsening once a minute for each kind, its end only if
/// it was reported. A collar at the edge of the range comes and goes.
struct HealthMonitor {
    /// A worsening that is reported.
    private enum Worsening: Hashable, Sendable { case late, unreachable, degraded, unhealthy }

    private let deviceID: UInt64
    private var health = LinkHealth()
    private var notices = NoticeLimiter<Worsening>()
    /// Reported, and not over.
    private var open: Set<Worsening> = []

    init(deviceID: UInt64) { self.deviceID = deviceID }

    var nextDeadline: Instant? { health.nextDeadline }

    /// Whether the collar was heard when it was due.
    var isInContact: Bool { health.reachability == .reachable }

    mutating func setHeartbeat(seconds: UInt16) { health.setHeartbeat(seconds: seconds) }

    /// A frame of the collar came in.
    mutating func heard(at now: Instant, _ output: HostOutput) { report(health.heard(at: now), at: now, output) }

    /// Counts what has missed its time.
    mutating func advance(to now: Instant, _ output: HostOutput) { report(health.advance(to: now), at: now, output) }

    /// The link of the collar was closed.
    mutating func suspend() { health.suspend() }

    /// The link of the collar is open, and everybody there is asked who they are.
    mutating func resume(at now: Instant) {
        health.resume(at: now)
        health.asked(at: now, answerWithinMicroseconds: Link.identityTime)
    }

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
