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

    /// Reads 16 bytes.
    /// - Precondition: `bytes` has 16 bytes.
    public init(_ bytes: Span<UInt8>) {
        precondition(bytes.count == 16, "a key, a nonce or a tag has 16 bytes")
        low = AsconBlock(bytes, from: 0, count: 8).word
        high = AsconBlock(bytes, from: 8, count: 8).word
    }

    /// Whether the first `byteCount` bytes, at most 8, are those of `other`. The time does not depend on the bytes.
    public func isEqual(to other: Words128, byteCount: Int) -> Bool {
        var difference = low ^ other.low
        for _ in byteCount..<8 { difference = difference &<< 8 }
        return difference == 0
    }
}
