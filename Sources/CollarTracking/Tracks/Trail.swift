import CollarWire

/// A fix in a trail.
package protocol TrailFix: Equatable, Sendable {
    associatedtype Log: Equatable
    associatedtype Number: BinaryInteger
    /// The log in which the fix has its sequence.
    var trailLog: Log { get }
    var sequence: Number { get }
    /// When the fix was made, in milliseconds since 1970.
    var unixMilliseconds: Int64 { get }
}

extension TrailFix {
    /// Whether the fix is later than another one: in one log the sequence decides, between two logs the time.
    package func isLater(than other: Self) -> Bool {
        trailLog == other.trailLog ? sequence > other.sequence : unixMilliseconds > other.unixMilliseconds
    }
}

/// A fix does not name its log: the fixes of a trail are of one.
extension Fix: TrailFix {
    package var trailLog: Never? { nil }
}

/// The newest fixes, in the order of their sequences: a late fix is never the latest.
package struct Trail<Element: TrailFix>: Equatable, Sendable {
    /// The most fixes that it holds.
    package let limit: Int
    /// Oldest first.
    package private(set) var fixes: [Element] = []

    package init(limit: Int = usualTrailLimit) { self.limit = limit }

    package var latest: Element? { fixes.last }

    /// Adds a fix. One that it has, and one that is older than all of a full trail, changes nothing.
    ///
    /// Complexity: linear in the number of fixes.
    package mutating func add(_ fix: Element) {
        if fixes.contains(where: { $0.trailLog == fix.trailLog && $0.sequence == fix.sequence }) { return }
        // Where the clock of a collar went back, the sequences still decide within its log.
        let following = fixes.firstIndex { $0.trailLog == fix.trailLog && $0.sequence > fix.sequence } ?? fixes.count
        let index = min(following, fixes.lastIndex { !$0.isLater(than: fix) }.map { $0 + 1 } ?? 0)
        guard fixes.count < limit || index > 0 else { return }
        fixes.insert(fix, at: index)
        if fixes.count > limit { fixes.removeFirst() }
    }

    /// The interval of the newest two fixes, as if each sequence between them were a fix; nil before there are two of one log.
    package var interval: FixInterval? {
        guard let last = fixes.last, let former = fixes.dropLast().last, last.trailLog == former.trailLog else { return nil }
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

/// The number of fixes in the model of `LocationFix`.
package let usualTrailLimit = 100

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
