import CollarSimulator
import Testing

@testable import CollarWorld

/// The statistics of nonces that hosts with one receiver id use.
@Suite struct NonceTests {
    @Test func theProbabilityOfACountIsThatOfPoisson() {
        // e^-1; 5 e^-2; 1 - e^-0.5 (1 + 1/2 + 1/8 + 1/48).
        #expect(abs(EventCount.probability(of: 0...0, expected: 1) - 0.367_879) < 1e-6)
        #expect(abs(EventCount.probability(of: 0...2, expected: 2) - 0.676_676) < 1e-6)
        #expect(abs(1 - EventCount.probability(of: 0...3, expected: 0.5) - 0.001_752) < 1e-6)
        #expect(EventCount.probability(of: 0...0, expected: 0) == 1)
        #expect(EventCount.probability(of: 1...5, expected: 0) == 0)
    }

    @Test func aCountIsPlausibleWithinThreeStandardDeviations() {
        for (expected, plausible, tooFar) in [
            (0, [0], [1, 2]), (0.01, [0, 1], [2]), (6, [0, 6, 14], [16]), (32, [17, 32, 50], [14, 53]),
            (5000, [4800, 5000, 5200], [4750, 5250]),
        ] {
            for count in plausible { #expect(EventCount.isPlausible(count, expected: expected), "\(count) of \(expected)") }
            for count in tooFar { #expect(!EventCount.isPlausible(count, expected: expected), "\(count) of \(expected)") }
        }
    }

    /// The statistics of 3000 pairs of salts.
    /// - Parameter change: makes a salt from a random number.
    private func statistics(_ change: (UInt32) -> UInt32) -> NonceStatistics {
        var random = SeededRandom(seed: 24)
        var statistics = NonceStatistics()
        func salt() -> [UInt8] {
            let value = change(UInt32(truncatingIfNeeded: random.next()))
            return [16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
        }
        for _ in 0..<3000 { statistics.add(salt(), salt()) }
        return statistics
    }

    @Test func saltsThatChanceMakesAreNoDeviation() {
        let statistics = statistics { $0 }
        #expect(statistics.pairs == 3000)
        #expect(statistics.deviation == nil)
    }

    @Test func saltsWithFewerBitsAreADeviation() {
        #expect(statistics { _ in 0 }.deviation != nil)
        #expect(statistics { $0 & 0xFF }.deviation != nil)
        // Three times the same byte: equal bytes are as frequent as they should be.
        #expect(statistics { ($0 & 0xFF) &* 0x01_0101 }.deviation?.contains("equal salts") == true)
        // A byte with 16 values.
        #expect(statistics { $0 & 0xFF_FF0F }.deviation != nil)
    }
}
