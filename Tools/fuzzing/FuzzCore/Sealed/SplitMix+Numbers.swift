extension SplitMix {
    /// Any 32 bits; more often than by chance a small or a large number, or one near a power of two.
    mutating func anyNumber() -> UInt32 {
        let value = UInt32(truncatingIfNeeded: next() &>> 32)
        switch below(8) {
        case 0: return value % 4
        case 1: return .max - value % 4
        case 2: return 1 &<< (value % 32) &- (value &>> 5) % 2
        default: return value
        }
    }

    /// An index of a collection with `count` elements, other than `index`.
    mutating func index(below count: Int, otherThan index: Int) -> Int {
        let other = below(count - 1)
        return other < index ? other : other + 1
    }

    /// A byte other than 0.
    mutating func nonzeroByte() -> UInt8 { UInt8(1 + below(255)) }
}
