/// A 64-bit digest (FNV-1a), which tells inputs and sequences of events apart.
public struct Digest: Equatable {
    /// The digest of all bytes so far.
    public private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    /// The digest of nothing.
    public init() {}

    /// Adds a byte.
    @inline(__always)
    public mutating func add(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }

    /// Adds an integer.
    public mutating func add(_ integer: Int) {
        value = (value ^ UInt64(truncatingIfNeeded: integer)) &* 0x0000_0100_0000_01B3
    }
}
