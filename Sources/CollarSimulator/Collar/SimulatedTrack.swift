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
                    now += Int64(Double(step) * 1000 / factor)
                case .interval(let microseconds):
                    now += microseconds
                }
            }
            due.append(now)
        }
        dueMicroseconds = due
    }

    /// When the fix at `index` is made, if the fix at `start` is made at `origin`.
    package func due(at index: Int, startingWith start: Int, at origin: Instant) -> Instant {
        origin.advanced(byMicroseconds: dueMicroseconds[index] - dueMicroseconds[start])
    }

    /// Time from the first fix to the second, in microseconds; 0 if there is only one.
    package var firstIntervalMicroseconds: Int64 { dueMicroseconds.count > 1 ? dueMicroseconds[1] : 0 }
}
