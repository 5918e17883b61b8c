import CollarARQ

/// The surroundings of a collar at a moment.
package struct Surroundings: Equatable, Sendable {
    /// The sky above the GNSS receiver.
    package enum Sky: String, CaseIterable, Sendable {
        /// Nothing.
        case open
        /// Trees, which make the search for a position longer.
        case trees
        /// A roof, under which there is no position.
        case roof
    }

    /// The sky above the GNSS receiver.
    package var sky = Sky.open
    /// Whether the radio of a base hears the collar, and the collar the base.
    package var isInReach = true
    /// Whether the animal moves.
    package var isMoving = true

    package init(sky: Sky = .open, isInReach: Bool = true, isMoving: Bool = true) {
        self.sky = sky
        self.isInReach = isInReach
        self.isMoving = isMoving
    }
}

/// The surroundings of a collar over time, in spells that repeat.
package struct DayPlan: Equatable, Sendable {
    /// A time in which the surroundings stay the same.
    package struct Spell: Equatable, Sendable {
        /// When the spell begins, in microseconds after the beginning of the period.
        package let startMicroseconds: Int64
        package let surroundings: Surroundings

        package init(startMicroseconds: Int64, _ surroundings: Surroundings) {
            self.startMicroseconds = startMicroseconds
            self.surroundings = surroundings
        }
    }

    /// A day, in microseconds.
    package static let dayMicroseconds: Int64 = 86_400_000_000

    /// In the order of their times. The last spell of a period goes on until the first one of the next period.
    let spells: [Spell]
    let periodMicroseconds: Int64

    /// Creates a plan. Without spells it is an animal that moves under an open sky, within reach.
    /// - Parameters:
    ///   - spells: in the order of their times, which differ and lie in 0 ..< `periodMicroseconds`.
    ///   - periodMicroseconds: the time after which the spells repeat, above 0.
    package init(_ spells: [Spell] = [], periodMicroseconds: Int64 = DayPlan.dayMicroseconds) {
        self.spells = spells.isEmpty ? [Spell(startMicroseconds: 0, Surroundings())] : spells
        self.periodMicroseconds = periodMicroseconds
    }

    /// The surroundings at a time after the beginning of the first period.
    package func surroundings(at now: Instant) -> Surroundings {
        let next = indexOfSpell(after: now.microseconds % periodMicroseconds)
        return spells[next > 0 ? next - 1 : spells.count - 1].surroundings
    }

    /// The index of the first spell that begins after a time of the period; the number of spells if none does.
    private func indexOfSpell(after time: Int64) -> Int {
        var (low, high) = (0, spells.count)
        while low < high {
            let middle = (low + high) / 2
            if spells[middle].startMicroseconds <= time { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// When the next spell begins; nil if there is only one.
    func nextChange(after now: Instant) -> Instant? {
        guard spells.count > 1 else { return nil }
        let time = now.microseconds % periodMicroseconds
        let next = indexOfSpell(after: time)
        let start = next < spells.count ? spells[next].startMicroseconds : periodMicroseconds + spells[0].startMicroseconds
        return now.advanced(byMicroseconds: start - time)
    }
}
