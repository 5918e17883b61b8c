import CollarWire

/// The newest fixes of one log, in the order of their sequences: a late fix is never the latest.
package struct Trail: Equatable, Sendable {
    /// The number of fixes in the model of `LocationFix`.
    package static let usualLimit = 100

    /// The most fixes that it holds.
    package let limit: Int
    /// Oldest first.
    package private(set) var fixes: [Fix] = []

    package init(limit: Int = Trail.usualLimit) { self.limit = limit }

    package var latest: Fix? { fixes.last }

    /// Adds a fix. One that it has, and one that is older than all of a full trail, changes nothing.
    ///
    /// Complexity: linear in the number of later fixes.
    package mutating func add(_ fix: Fix) {
        let index = fixes.lastIndex { $0.sequence <= fix.sequence }.map { $0 + 1 } ?? 0
        if index > 0, fixes[index - 1].sequence == fix.sequence { return }
        guard fixes.count < limit || index > 0 else { return }
        fixes.insert(fix, at: index)
        if fixes.count > limit { fixes.removeFirst() }
    }

    /// The interval of the newest two fixes, as if each sequence between them were a fix; nil before there are two.
    package var interval: FixInterval? {
        guard let last = fixes.last, let former = fixes.dropLast().last else { return nil }
        return FixInterval(
            milliseconds: last.unixMilliseconds - former.unixMilliseconds, fixCount: Int64(last.sequence) - Int64(former.sequence))
    }

    /// Whether the latest fix is stale; nil while the interval of the collar is unknown.
    /// - Parameter now: in milliseconds since 1970.
    package func isStale(at now: Int64) -> Bool? {
        guard let latest, let interval else { return nil }
        return now - latest.unixMilliseconds >= interval.staleAfterMilliseconds
    }
}

/// The interval at which a collar makes fixes.
package struct FixInterval: Equatable, Sendable {
    /// The age below which no fix is stale, in milliseconds.
    package static let leastStaleAge: Int64 = 60_000
    /// The number of intervals after which a fix is stale.
    private static let staleCount: Int64 = 3
    /// The longest interval that is expected, in milliseconds: a day.
    private static let longest: Int64 = 86_400_000

    /// 0 … 86,400,000.
    package let milliseconds: Int64

    /// - Parameters:
    ///   - milliseconds: the time between two fixes of one log.
    ///   - fixCount: the fixes that the collar made meanwhile, with the second of the two.
    package init(milliseconds: Int64, fixCount: Int64) {
        self.milliseconds = min(max(milliseconds / max(1, fixCount), 0), FixInterval.longest)
    }

    /// The age at which a fix is stale, in milliseconds.
    package var staleAfterMilliseconds: Int64 { max(FixInterval.leastStaleAge, FixInterval.staleCount * milliseconds) }
}
