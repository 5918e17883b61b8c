/// SplitMix64: the same numbers for the same seed, so that a failure can be repeated.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed &>> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed &>> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed &>> 31)
    }

    /// 0 … `bound` − 1.
    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    /// True once in `bound` times.
    mutating func oneIn(_ bound: Int) -> Bool { below(bound) == 0 }

    mutating func byte() -> UInt8 { UInt8(truncatingIfNeeded: next() &>> 40) }

    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in byte() } }

    /// A number of which every length in bits is equally likely, so that small ones and large ones occur.
    mutating func anyLength() -> UInt32 {
        let bitCount = below(33)
        return bitCount == 0 ? 0 : UInt32(truncatingIfNeeded: next() &>> 32) &>> UInt32(32 - bitCount)
    }
}
