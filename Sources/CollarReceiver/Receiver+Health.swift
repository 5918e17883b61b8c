import CollarARQ
import CollarDomain

extension Receiver {
    /// Notes that a collar was heard at a port.
    func noteHealth(of collar: CollarSession, onPort port: Int) {
        collar.port = port
        reportHealth(collar.health.heard(at: now.microseconds), of: collar)
    }

    /// The earliest time at which a collar has missed something.
    var healthDeadline: Instant? {
        var earliest: Int64?
        for collar in collars {
            guard let deadline = collar.health.nextDeadline else { continue }
            earliest = min(earliest ?? deadline, deadline)
        }
        return earliest.map { Instant(microseconds: $0) }
    }

    /// Counts what collars have missed.
    func healthDeadlineReached(now: Instant) {
        for collar in collars { reportHealth(collar.health.advance(to: now.microseconds), of: collar) }
    }

    /// The radio of a port went away: its collars cannot be heard.
    func suspendHealth(ofPort port: Int) {
        for collar in collars where collar.port == port { collar.health.suspend() }
    }

    /// A port is open again, and whoever is there is asked who it is.
    /// - Parameter time: until when an answer is expected of those that were heard there before, in microseconds.
    func resumeHealth(ofPort port: Int, answerWithinMicroseconds time: Int64) {
        let now = self.now.microseconds
        for collar in collars where collar.port == port {
            collar.health.resume(at: now)
            collar.health.asked(at: now, answerWithinMicroseconds: time)
        }
    }

    /// Says what changed. What is bad is said once a minute for each kind and collar, and that it is over only where it
    /// was said: a collar at the edge of the range comes and goes.
    private func reportHealth(_ events: [LinkHealth.Event], of collar: CollarSession) {
        for event in events where isWorthAWord(event, of: collar) {
            report(.health(deviceID: collar.deviceID, event))
        }
    }

    private func isWorthAWord(_ event: LinkHealth.Event, of collar: CollarSession) -> Bool {
        let kind: HealthNoticeKind
        switch event {
        case .reachable:
            return collar.endHealthNotices([.late, .unreachable])
        case .condition(.healthy):
            return collar.endHealthNotices([.degraded, .unhealthy])
        case .late: kind = .late
        case .unreachable: kind = .unreachable
        case .condition(.degraded): kind = .degraded
        case .condition(.unhealthy): kind = .unhealthy
        }
        guard collar.healthNotices.isDue(kind, at: now) else { return false }
        collar.openHealthNotices.insert(kind)
        return true
    }
}

/// What is said about a link that is not well.
enum HealthNoticeKind: Hashable, Sendable { case late, unreachable, degraded, unhealthy }
