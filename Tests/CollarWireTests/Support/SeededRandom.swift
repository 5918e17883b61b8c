import CollarSimulator

/// The simulator's generator of random numbers. The extension adds the kinds of values that these tests need.
typealias SeededRandom = CollarSimulator.SeededRandom

extension SeededRandom {
    /// 0 … `bound` − 1.
    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    /// True with the probability 1 / `bound`.
    mutating func oneIn(_ bound: Int) -> Bool { below(bound) == 0 }

    mutating func byte() -> UInt8 { UInt8(truncatingIfNeeded: next() &>> 40) }

    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in byte() } }

    /// A number of at most n bits, where n is a random number of 0 … 32, so that small and large numbers occur.
    mutating func anyLength() -> UInt32 {
        let bitCount = below(33)
        return bitCount == 0 ? 0 : UInt32(truncatingIfNeeded: next() &>> 32) &>> UInt32(32 - bitCount)
    }
}
