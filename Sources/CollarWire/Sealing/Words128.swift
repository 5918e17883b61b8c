/// 128 bits: a key, a nonce or a tag of Ascon. The first byte is the lowest one of ``low``.
public struct Words128: Sendable {
    /// The first eight bytes.
    public var low: UInt64
    /// The last eight bytes.
    public var high: UInt64

    /// Creates a value from its words.
    public init(low: UInt64, high: UInt64) {
        self.low = low
        self.high = high
    }

    /// Creates a value from four numbers of four bytes each, the most significant byte first.
    init(_ first: UInt32, _ second: UInt32, _ third: UInt32, _ fourth: UInt32) {
        low = UInt64(widening: second.byteSwapped) &<< 32 | UInt64(widening: first.byteSwapped)
        high = UInt64(widening: fourth.byteSwapped) &<< 32 | UInt64(widening: third.byteSwapped)
    }

    /// Reads at most 16 bytes of a span, from `start` on; the others are 0.
    public init(_ bytes: Span<UInt8>, from start: Int = 0, byteCount: Int = 16) {
        precondition(byteCount <= 16, "a key, a nonce or a tag has at most 16 bytes")
        self.init(low: 0, high: 0)
        var rest = byteCount
        while rest > 0 {
            rest &-= 1
            if rest == 7 { (low, high) = (0, low) }
            low = low &<< 8 | UInt64(widening: bytes[start &+ rest])
        }
    }

    /// A byte; `index` is 0 … 15.
    func byte(at index: Int) -> UInt8 {
        // Without shifts of 64 bits by a variable count, which are calls on a microcontroller.
        let half: UInt32
        switch index &>> 2 {
        case 0: half = UInt32(truncatingIfNeeded: low)
        case 1: half = UInt32(truncatingIfNeeded: low &>> 32)
        case 2: half = UInt32(truncatingIfNeeded: high)
        default: half = UInt32(truncatingIfNeeded: high &>> 32)
        }
        return UInt8(truncatingIfNeeded: half &>> UInt32(truncatingIfNeeded: 8 &* (index & 3)))
    }

    /// Whether the first `byteCount` bytes, at most 8, are those of `other`. The time does not depend on the bytes.
    public func isEqual(to other: Words128, byteCount: Int) -> Bool {
        var difference = low ^ other.low
        for _ in byteCount..<8 { difference = difference &<< 8 }
        return difference == 0
    }
}
