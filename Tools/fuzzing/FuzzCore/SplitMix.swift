/// The random numbers of SplitMix64, which are the same for the same seed.
public struct SplitMix: Sendable {
    private var state: UInt64

    /// Starts at a seed.
    public init(seed: UInt64) { state = seed }

    /// 64 random bits.
    @inline(__always)
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed &>> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed &>> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed &>> 31)
    }

    /// 0 … `bound` − 1; `bound` is at least 1.
    @inline(__always)
    public mutating func below(_ bound: Int) -> Int {
        Int(truncatingIfNeeded: ((next() &>> 32) &* UInt64(bound)) &>> 32)
    }

    /// True with a probability of 1 in `bound`.
    public mutating func oneIn(_ bound: Int) -> Bool { below(bound) == 0 }

    /// Any byte.
    public mutating func byte() -> UInt8 { UInt8(truncatingIfNeeded: next() &>> 40) }
}
