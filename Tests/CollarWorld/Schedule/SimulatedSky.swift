import CollarSimulator

/// What a GNSS receiver hears: spells under an open sky, under trees and under a roof. Times are in microseconds.
struct SimulatedSky {
    enum Kind: CaseIterable {
        case open, trees, roof
    }

    private(set) var kind = Kind.open
    private var end: Int64 = 0
    private var random: SeededRandom
    /// When the receiver makes its first position since it was switched on.
    private var firstPosition: Int64 = 0
    /// Whether spells are short.
    private let isRestless: Bool

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        isRestless = random.below(2) == 0
    }

    /// The receiver is switched on.
    mutating func begin(at now: Int64, isCold: Bool) {
        look(at: now)
        let usual = isCold ? random.between(26_000, 40_000) : random.between(1000, 12_000)
        firstPosition = now + 1000 * (kind == .open ? usual : usual + random.between(5000, 50_000))
    }

    private mutating func look(at now: Int64) {
        guard now >= end else { return }
        kind = [.open, .open, .trees, .roof][random.below(4)]
        end = now + 1_000_000 * (isRestless ? random.between(20, 600) : random.between(600, 20_000))
    }

    /// The accuracy of the position that the receiver makes, in millimetres; nil if it makes none.
    mutating func accuracy(at now: Int64) -> UInt32? {
        look(at: now)
        guard kind != .roof, now >= firstPosition else { return nil }
        return (kind == .open ? [2000, 5000, 9000, 15_000] : [9000, 15_000, 25_000, 40_000, 70_000])[random.below(4)]
    }

    /// How many satellites the receiver hears.
    mutating func satellites(at now: Int64) -> UInt8 {
        look(at: now)
        return UInt8(random.below(3) + (kind == .open ? 6 : kind == .trees ? 3 : 0))
    }
}
