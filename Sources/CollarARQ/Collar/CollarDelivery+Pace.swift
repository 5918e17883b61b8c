import CollarWire

// How often new fixes are sent.
extension CollarDelivery {
    /// Sets the shortest time between two newest fixes that are sent, in microseconds; 0 for no limit. New fixes that wait go
    /// together in a batch.
    public mutating func setLiveInterval(microseconds: Int64) { pace.intervalMicroseconds = microseconds }

    /// Notes that the newest entry of the log must not wait for the live interval.
    public mutating func newestIsUrgent() {
        pace.isUrgent = true
        endWaitForTurn()
    }

    /// Whether the newest entry of the log was sent since the boot.
    public var isNewestSent: Bool { pace.waitingStart >= nextSequence }

    /// When the fixes that wait for the live interval are due; nil if none waits.
    var waitingFixesDue: Instant? {
        guard pace.isWaiting(now: frameInstant), delivered.firstMissing < nextSequence else { return nil }
        return pace.due
    }
}
