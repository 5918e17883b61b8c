import CollarARQ

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
