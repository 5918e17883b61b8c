/// Random delays, so that collars which make their fixes at the same moment do not send at the same moment.
///
/// A xorshift generator (G. Marsaglia, "Xorshift RNGs", 2003). Predictable numbers suffice here.
struct Jitter: Equatable, Sendable {
    private var state: UInt32

    init(seed: UInt32) { state = seed == 0 ? 1 : seed }

    /// A number 0 … 65,535.
    mutating func next() -> UInt32 {
        state ^= state &<< 13
        state ^= state &>> 17
        state ^= state &<< 5
        return state &>> 16
    }
}
