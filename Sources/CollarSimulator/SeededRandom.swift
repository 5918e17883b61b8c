/// A generator of pseudo-random numbers that gives the same numbers for the same seed: SplitMix64 (G. Steele, D. Lea, C.
/// Flood, 2014).
package struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator; equal seeds give equal sequences.
    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// `low` … `high`; `low` if that is not below `high`.
    package mutating func between(_ low: Int64, _ high: Int64) -> Int64 {
        high <= low ? low : low + Int64(next() >> 1) % (high - low + 1)
    }

    /// True with the given probability, 0 … 1.
    package mutating func chance(_ probability: Double) -> Bool { Double(next() >> 11) * 0x1p-53 < probability }
}
