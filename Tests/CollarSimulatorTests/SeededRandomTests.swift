import CollarSimulator
import Testing

/// The random number generator of all simulations.
@Suite struct SeededRandomTests {
    /// The first numbers for seed 1234567, as the reference implementation of SplitMix64 prints them.
    @Test func agreesWithTheReferenceImplementation() {
        var random = SeededRandom(seed: 1_234_567)
        #expect(random.next() == 6_457_827_717_110_365_317)
        #expect(random.next() == 3_203_168_211_198_807_973)
        #expect(random.next() == 9_817_491_932_198_370_423)
    }

    @Test func chancesAreExactAtTheEnds() {
        var random = SeededRandom(seed: 1)
        #expect((0..<1000).allSatisfy { _ in !random.chance(0) })
        #expect((0..<1000).allSatisfy { _ in random.chance(1) })
    }
}
