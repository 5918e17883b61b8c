import CollarARQ

/// A fix as a receiver has stored it.
package struct RecordedFix: Equatable, Sendable {
    /// When the collar made it, in milliseconds since 1970.
    package var madeUnixMilliseconds: Int64
    /// When the receiver got it, in milliseconds since 1970.
    package var receivedUnixMilliseconds: Int64
    /// Metres from the fix that was made before it; nil for the first one.
    package var metersFromLast: Double?
    /// The signal-to-noise ratio, in tenths of a decibel; nil if the radio told none.
    package var signalToNoiseTenthsDB: Int16?

    package init(
        madeUnixMilliseconds: Int64, receivedUnixMilliseconds: Int64, metersFromLast: Double? = nil, signalToNoiseTenthsDB: Int16? = nil
    ) {
        self.madeUnixMilliseconds = madeUnixMilliseconds
        self.receivedUnixMilliseconds = receivedUnixMilliseconds
        self.metersFromLast = metersFromLast
        self.signalToNoiseTenthsDB = signalToNoiseTenthsDB
    }
}

/// The surroundings of an animal, derived from its stored fixes, so that other settings can be tried in them.
///
/// - A pause between two fixes that is at least three usual ones long, and five minutes, was under a roof.
/// - A fix that came more than five minutes late was out of reach until it came, and so was one whose signal is too weak for the
///   spreading factor that is tried. How strong a signal was while nothing was heard is not known: a higher spreading factor does not
///   bring the collar into reach.
/// - A fix that came more than five seconds late, but not five minutes, needed a repeat: a frame or its answer was lost.
/// - An animal that moved less than 20 m from one fix to the next was at rest between them.
package struct RecordedDays: Equatable, Sendable {
    /// The surroundings, from the first fix on.
    package let plan: DayPlan
    /// The probability that a frame is lost within reach, in each direction.
    package let lossProbability: Double
    /// The time from the first fix to the last one, in microseconds.
    package let microseconds: Int64

    private static let longDelay: Int64 = 300_000
    private static let repeatDelay: Int64 = 5000
    private static let shortestRoof: Int64 = 300_000
    private static let restMeters = 20.0
    /// The most spells that a plan keeps.
    private static let spellLimit = 100_000

    /// The lowest signal-to-noise ratio that a receiver demodulates, in tenths of a decibel (Semtech SX1276 data sheet, table 13).
    private static func leastSignal(spreadingFactor: UInt8) -> Int16 { 100 - 25 * Int16(spreadingFactor) }

    /// Reads the surroundings from fixes.
    /// - Parameters:
    ///   - fixes: in the order in which they were made.
    ///   - spreadingFactor: the one that is tried.
    /// - Returns: nil for fewer than two fixes, or fixes of less than an hour.
    package init?(_ fixes: [RecordedFix], spreadingFactor: UInt8) {
        guard let first = fixes.first?.madeUnixMilliseconds, let last = fixes.last?.madeUnixMilliseconds, last - first >= 3_600_000
        else { return nil }
        let fixes = fixes.enumerated().filter { $0.offset == 0 || $0.element.madeUnixMilliseconds > fixes[$0.offset - 1].madeUnixMilliseconds }
            .map(\.element)
        // The clocks of collar and receiver may differ, so the shortest delay counts as none.
        let least = fixes.map { $0.receivedUnixMilliseconds - $0.madeUnixMilliseconds }.min() ?? 0
        let pauses = zip(fixes, fixes.dropFirst()).map { $1.madeUnixMilliseconds - $0.madeUnixMilliseconds }
        let usual = pauses.sorted()[pauses.count / 2]
        var changes: [Change] = []
        func add(_ kind: Change.Kind, from start: Int64, to end: Int64) {
            guard min(end, last) > start else { return }
            changes.append(Change(time: start - first, kind: kind, step: 1))
            changes.append(Change(time: min(end, last) - first, kind: kind, step: -1))
        }
        var (inReach, repeated) = (0, 0)
        for (index, fix) in fixes.enumerated() {
            let next = index + 1 < fixes.count ? fixes[index + 1].madeUnixMilliseconds : last
            let delay = fix.receivedUnixMilliseconds - fix.madeUnixMilliseconds - least
            let isWeak = fix.signalToNoiseTenthsDB.map { $0 < Self.leastSignal(spreadingFactor: spreadingFactor) } ?? false
            if delay > Self.longDelay {
                add(.outOfReach, from: fix.madeUnixMilliseconds, to: fix.madeUnixMilliseconds + delay)
            } else if isWeak {
                add(.outOfReach, from: fix.madeUnixMilliseconds, to: next)
            } else {
                inReach += 1
                if delay > Self.repeatDelay { repeated += 1 }
            }
            if next - fix.madeUnixMilliseconds >= max(3 * usual, Self.shortestRoof) {
                add(.roof, from: fix.madeUnixMilliseconds + usual, to: next)
            }
            if index + 1 < fixes.count, let meters = fixes[index + 1].metersFromLast, meters < Self.restMeters {
                add(.rest, from: fix.madeUnixMilliseconds, to: next)
            }
        }
        microseconds = (last - first) * 1000
        plan = DayPlan(Self.spells(changes), periodMicroseconds: microseconds)
        let isRepeated = inReach > 0 ? Double(repeated) / Double(inReach) : 0
        // An exchange needs the frame and its answer.
        lossProbability = 1 - (1 - isRepeated).squareRoot()
    }

    /// The beginning or the end of something.
    private struct Change {
        enum Kind: Int { case roof, outOfReach, rest }

        let time: Int64
        let kind: Kind
        let step: Int
    }

    private static func spells(_ changes: [Change]) -> [DayPlan.Spell] {
        var counts = [0, 0, 0]
        var spells = [DayPlan.Spell(startMicroseconds: 0, Surroundings())]
        for change in changes.sorted(by: { $0.time < $1.time }) where spells.count < spellLimit {
            counts[change.kind.rawValue] += change.step
            let surroundings = Surroundings(
                sky: counts[Change.Kind.roof.rawValue] > 0 ? .roof : .open, isInReach: counts[Change.Kind.outOfReach.rawValue] == 0,
                isMoving: counts[Change.Kind.rest.rawValue] == 0)
            let start = change.time * 1000
            if spells.last?.startMicroseconds == start { spells.removeLast() }
            if spells.last?.surroundings != surroundings { spells.append(.init(startMicroseconds: start, surroundings)) }
        }
        return spells
    }
}
