// Conversions to 64 bits that also compile for a 32-bit microcontroller without a heap. The standard library's
// generic conversions depend on code that allocates (Swift 6.3), so the compiler rejects them there.

extension UInt64 {
    /// The same number in 64 bits.
    public init(widening value: UInt32) { self.init(_truncatingBits: UInt(value)) }

    /// The same number in 64 bits.
    public init(widening value: UInt8) { self.init(_truncatingBits: UInt(value)) }
}

extension Int64 {
    /// The same number in 64 bits.
    public init(widening value: UInt32) { self.init(bitPattern: UInt64(widening: value)) }

    /// The same number in 64 bits.
    public init(widening value: UInt8) { self.init(bitPattern: UInt64(widening: value)) }

    /// The same number in 64 bits, with its sign.
    public init(widening value: Int32) {
        self = Int64(bitPattern: UInt64(widening: UInt32(bitPattern: value)) &<< 32) &>> 32
    }
}

/// A shift count for a 64-bit value, 0 … 63.
func shiftCount(_ count: Int) -> UInt64 { UInt64(widening: UInt32(truncatingIfNeeded: count)) }
