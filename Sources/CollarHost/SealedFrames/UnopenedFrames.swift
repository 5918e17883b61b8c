import CollarARQ

/// The sealed frames of one link that do not open: how many are tried, and when their senders are asked for their identities. Junk
/// at one link takes nothing from the others.
struct UnopenedFrames {
    private var ofLink = HostLimits.unopenedFrames
    private var addresses: [UInt8: UnopenedAtAddress] = [:]

    /// Whether another frame is tried. It counts as one that does not open until ``opened(from:)`` is called.
    mutating func mayTry(_ address: UInt8, at now: Instant) -> Bool {
        guard ofLink.take(at: now) else { return false }
        return addresses[address, default: UnopenedAtAddress()].mayTry(at: now)
    }

    /// The frame opened.
    mutating func opened(from address: UInt8) {
        ofLink.earn(1)
        addresses[address]?.opened()
    }

    /// The frame did not open.
    /// - Returns: whether enough frames in a row from its address did not open to rule out damage.
    mutating func failed(from address: UInt8, at now: Instant) -> Bool {
        addresses[address, default: UnopenedAtAddress()].failed(at: now)
    }

    /// The frame did not open. Whether to ask the address for its identity now.
    mutating func isRequestDue(at address: UInt8, now: Instant) -> Bool {
        addresses[address, default: UnopenedAtAddress()].isRequestDue(at: now)
    }
}

/// The sealed frames from one address at one link that do not open.
private struct UnopenedAtAddress {
    /// Frames that may fail to open: 100 at once, then 100 a second.
    private var failures = TokenBucket(capacity: 100, microsecondsPerToken: 10_000)
    private static let firstInterval: Int64 = 1_000_000
    private static let longestInterval: Int64 = 3_600_000_000

    /// So many frames in a row, over so long a time, are no damage: they come from a collar whose key the host does not have. A
    /// collar whose key is just being changed is taken up sooner.
    private static let certainCount = 4
    private static let certainInterval: Int64 = 3_000_000

    private var count = 0
    private var firstFailure: Instant?
    private var interval = UnopenedAtAddress.firstInterval
    private var lastRequest: Instant?

    /// Whether another frame is tried. It counts as one that does not open until ``opened()`` is called.
    mutating func mayTry(at now: Instant) -> Bool { failures.take(at: now) }

    /// The frame opened.
    mutating func opened() {
        failures.earn(1)
        count = 0
        firstFailure = nil
        interval = Self.firstInterval
        lastRequest = nil
    }

    /// The frame did not open.
    /// - Returns: whether so many frames in a row did not open that this cannot be damage.
    mutating func failed(at now: Instant) -> Bool {
        count = min(count + 1, Self.certainCount)
        let first = firstFailure ?? now
        firstFailure = first
        return count == Self.certainCount && now.microseconds(since: first) >= Self.certainInterval
    }

    /// Whether to ask for the identity now: 1 s after the first frame that does not open, then 2 s, 4 s … after the last request,
    /// up to an hour.
    mutating func isRequestDue(at now: Instant) -> Bool {
        guard let last = lastRequest else {
            lastRequest = now
            return false
        }
        guard now.microseconds(since: last) >= interval else { return false }
        lastRequest = now
        interval = min(2 * interval, Self.longestInterval)
        return true
    }
}
