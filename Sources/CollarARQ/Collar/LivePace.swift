import CollarWire

/// Limits how often a new fix begins a burst, or is the first frame of one. Between these times new fixes wait, and then go
/// together in a batch.
///
/// Only fixes that were never sent wait. What must be sent again is sent at once.
struct LivePace: Equatable, Sendable {
    /// The shortest time between two newest fixes that are sent, in microseconds; 0 for no limit.
    var intervalMicroseconds: Int64 = 0
    /// Whether the newest fix must not wait.
    var isUrgent = false
    /// The first sequence that may wait: one more than the highest newest fix that was sent since the boot; 0 before that.
    private(set) var waitingStart: UInt32 = 0
    /// When a newest fix was last sent; nil before the first.
    private var lastSent: Instant?

    /// When the newest fix may be sent; nil if it may be sent at any time.
    var due: Instant? { isUrgent ? nil : lastSent?.advanced(byMicroseconds: intervalMicroseconds) }

    /// Whether fixes that were never sent wait at `now`.
    func isWaiting(now: Instant) -> Bool { due.map { now < $0 } ?? false }

    /// Notes that the newest fix is sent.
    mutating func sent(_ newest: UInt32, now: Instant) {
        waitingStart = max(waitingStart, newest + 1)
        lastSent = now
        isUrgent = false
    }
}
