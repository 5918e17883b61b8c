import CollarARQ
import CollarWire
import Glibc

/// The fixes that a simulated collar makes, and the times at which it makes them.
package struct SimulatedTrack: Sendable {
    /// How the times of the track are converted to times of the simulation.
    package enum Pace: Equatable, Sendable {
        /// The track's own intervals, divided by this factor.
        case speed(Double)
        /// The same interval between all fixes, in microseconds, whatever the times of the track are.
        case interval(microseconds: Int64)

        /// The same with intervals that are longer by a factor.
        package func stretched(by factor: Double) -> Pace {
            switch self {
            case .speed(let speed): .speed(speed / factor)
            case .interval(let microseconds): .interval(microseconds: Int64(Double(microseconds) * factor))
            }
        }
    }

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
                case .interval(let microseconds): now += microseconds
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

/// The fixes, one a second, of an animal that alternates between walking and resting.
package enum SimulatedOuting {
    private static let metersPerE7 = 0.011_119_5

    /// Makes the fixes. Equal seeds give equal fixes.
    /// - Parameters:
    ///   - walkSeconds: how long the animal walks each time, at 1.4 m/s, in a direction that changes slowly.
    ///   - restSeconds: how long it rests each time.
    ///   - seconds: the whole time.
    package static func fixes(walkSeconds: Int, restSeconds: Int, seconds: Int, seed: UInt64) -> [Fix] {
        var random = SeededRandom(seed: seed)
        var (latitude, longitude, course) = (473_769_000.0, 85_417_000.0, 40.0)
        return (0..<seconds).map { second in
            let isWalking = second % max(1, walkSeconds + restSeconds) < walkSeconds
            if isWalking {
                course += Double(random.next() % 21) - 10
                latitude += 1.4 * cos(course * .pi / 180) / metersPerE7
                longitude += 1.4 * sin(course * .pi / 180) / (metersPerE7 * cos(latitude / 1e7 * .pi / 180))
            }
            let degrees = Int((course.truncatingRemainder(dividingBy: 360) + 360).rounded()) % 360
            return Fix(
                sequence: UInt32(second), unixMilliseconds: 1_700_000_000_000 + Int64(second) * 1000, positionStep: .e5,
                latitudeSteps: Int32((latitude / 100).rounded()), longitudeSteps: Int32((longitude / 100).rounded()),
                altitudeSteps: 408, horizontalAccuracy: AccuracyCode(nearestToMillimeters: 2900),
                verticalAccuracy: AccuracyCode(nearestToMillimeters: 4800),
                speedDecimetersPerSecond: isWalking ? 14 : 0,
                course: isWalking ? AngleCode(nearestToCentidegrees: degrees * 100) : nil)
        }
    }
}

/// When the collars of a simulation make their fixes, compared with one another.
package enum CollarPhases: String, CaseIterable, Sendable {
    /// At random times.
    case random
    /// At the same moment, as receivers of GNSS time do.
    case same
    /// At equal distances.
    case even

    /// When a collar makes its first fix, in microseconds after the first collar.
    /// - Parameters:
    ///   - index: the number of the collar, below `count`.
    ///   - intervalMicroseconds: the time between two fixes.
    package func start(of index: Int, count: Int, intervalMicroseconds: Int64, random: inout SeededRandom) -> Int64 {
        guard index > 0 else { return 0 }
        // The chance is always drawn, so that nothing else about the collars depends on their phases.
        let chance = Int64(random.next() % UInt64(1 + max(0, intervalMicroseconds)))
        return switch self {
        case .random: chance
        case .same: 0
        case .even: intervalMicroseconds / Int64(count) * Int64(index)
        }
    }
}
