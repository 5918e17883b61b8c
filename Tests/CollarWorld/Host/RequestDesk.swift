import CollarARQ
import CollarSimulator
import CollarWire

/// A simulated host's requests to one collar, and what it knows of its settings.
final class RequestDesk {
    var queue: RequestQueue
    /// The highest version that was reported of each log.
    private(set) var reportedVersions: [UInt32: UInt64] = [:]
    private var lastVersion: UInt64 = 0

    init(receiverID: UInt32, lastRequestID: UInt16) {
        queue = RequestQueue(receiverID: receiverID, lastRequestID: lastRequestID)
    }

    func reported(_ report: Settings, of log: LogIdentity) {
        reportedVersions[log.logID] = max(reportedVersions[log.logID] ?? 0, report.version)
        lastVersion = max(lastVersion, report.version)
    }

    /// A version for an order: mostly above all that were heard of.
    func makeVersion(_ random: inout SeededRandom) -> UInt64 {
        if random.chance(0.2), lastVersion > 0 { return lastVersion - UInt64(random.below(2)) }
        lastVersion += 1 + UInt64(random.below(2))
        return lastVersion
    }

    func expire(now: Int64) { while queue.expire(now: Instant(microseconds: now)) != nil {} }
}
