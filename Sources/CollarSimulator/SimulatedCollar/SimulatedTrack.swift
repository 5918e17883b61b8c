import CollarARQ
import CollarWire

/// The fixes that a simulated collar makes, and the times at which it makes them.
package struct SimulatedTrack: Sendable {
    /// How the times of the track are converted to times of the simulation.
    package enum Pace: Equatable, Sendable {
        /// The track's own intervals, divided by this factor.
        case speed(Double)
        /// The same interval between all fixes, in microseconds, whatever the times of the track are.
        case interval(microseconds: Int64)
    }

    /// The fixes in their order.
    package let fixes: [Fix]
    private let dueMicroseconds: [Int64]

    /// The longest time of the simulation, in microseconds: 285 years. Fixes that are due later are made then.
    private static let longest: Int64 = 1 << 53

    /// Creates a track. With ``Pace/speed(_:)``, a fix whose time is before that of its predecessor is made at the same
    /// time as the predecessor.
    package init(fixes: [Fix], pace: Pace) {
        self.fixes = fixes
        var due: [Int64] = []
        due.reserveCapacity(fixes.count)
        var now: Int64 = 0
        for (index, fix) in fixes.enumerated() {
            if index > 0 {
                switch pace {
                case .speed(let factor):
                    let step = max(0, fix.unixMilliseconds - fixes[index - 1].unixMilliseconds)
                    now += Int64(min(Double(step) * 1000 / factor, Double(SimulatedTrack.longest)))
                case .interval(let microseconds):
                    now += microseconds
                }
            }
            now = min(now, SimulatedTrack.longest)
            due.append(now)
        }
        dueMicroseconds = due
    }

    /// The index of the fix that follows the newest one of a log; 0 for an empty log.
    ///
    /// A collar makes fewer fixes than its track has if it is stopped or its battery is low, so the fix is found by its time,
    /// among those that can have its sequence.
    /// - Parameters:
    ///   - newest: the newest fix of the log, whose sequence is the number of fixes before it.
    package func index(after newest: Fix?) -> Int {
        guard let newest else { return 0 }
        let first = min(Int(newest.sequence), fixes.count)
        let found = fixes[first...].firstIndex { $0.unixMilliseconds == newest.unixMilliseconds }
        return min((found ?? first) + 1, fixes.count)
    }

    /// When the fix at `index` is made, if the fix at `start` is made at `origin`.
    package func due(at index: Int, startingWith start: Int, at origin: Instant) -> Instant {
        origin.advanced(byMicroseconds: dueMicroseconds[index] - dueMicroseconds[start])
    }

    /// Time from the first fix to the second, in microseconds; 0 if there is only one.
    package var firstIntervalMicroseconds: Int64 { dueMicroseconds.count > 1 ? dueMicroseconds[1] : 0 }
}
