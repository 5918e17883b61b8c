import CollarARQ

/// How long a GNSS receiver searches for a fix of a collar's schedule.
package struct SimulatedSearch: Sendable {
    /// The times from switching a receiver on to its position, in microseconds. A receiver that kept its orbits takes 8 s as a rule
    /// (SAM-M8Q every ten minutes in a garden: 11 s on average; data sheets of the M10 say 1 to 2 s).
    private let microseconds: ClosedRange<Int64>
    /// The part of the searches that end without a position, 0 … 1.
    private let failureProbability: Double
    private var random: SeededRandom
    private var isSearching = false
    /// When the receiver has a position; nil if it does not search, or finds none.
    private(set) var positionDue: Instant?

    package init(microseconds: ClosedRange<Int64> = 8_000_000...8_000_000, failureProbability: Double = 0, seed: UInt64 = 0) {
        self.microseconds = microseconds
        self.failureProbability = failureProbability
        random = SeededRandom(seed: seed)
    }

    /// Notes whether the receiver searches. A search that begins gets its end.
    mutating func note(isSearching: Bool, now: Instant) {
        guard isSearching != self.isSearching else { return }
        self.isSearching = isSearching
        positionDue = nil
        guard isSearching, !random.chance(failureProbability) else { return }
        positionDue = now.advanced(byMicroseconds: random.between(microseconds.lowerBound, microseconds.upperBound))
    }

    /// Whether the receiver has a position now. It has one for each search.
    mutating func takePosition(now: Instant) -> Bool {
        guard let positionDue, now >= positionDue else { return false }
        self.positionDue = nil
        return true
    }
}
