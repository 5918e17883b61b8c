extension Span<UInt8> {
    /// The eight bytes from `start` on, the first one most significant.
    @inline(__always)
    func bigEndianWord(at start: Int) -> UInt64 { UInt64(bigEndian: word(at: start)) }

    /// The eight bytes from `start` on, the first one least significant.
    @inline(__always)
    func littleEndianWord(at start: Int) -> UInt64 { UInt64(littleEndian: word(at: start)) }

    /// The four bytes from `start` on, the first one least significant.
    @inline(__always)
    func littleEndianHalfWord(at start: Int) -> UInt32 {
        unsafe UInt32(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt32.self))
    }

    /// The four bytes from `start` on, the first one most significant.
    @inline(__always)
    func bigEndianHalfWord(at start: Int) -> UInt32 { littleEndianHalfWord(at: start).byteSwapped }

    /// The `byteCount` bytes from `start` on, at most 4, the first one most significant.
    func bigEndian(at start: Int, byteCount: Int) -> UInt32 {
        var value: UInt32 = 0
        for index in start..<(start &+ byteCount) { value = value &<< 8 | UInt32(self[index]) }
        return value
    }

    /// Loads eight bytes. The load is safe: the range is checked, alignment does not matter, and any eight bytes are a valid
    /// integer. The standard library marks it unsafe because other types have invalid bit patterns.
    @inline(__always)
    private func word(at start: Int) -> UInt64 { unsafe bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self) }
}

extension MutableSpan<UInt8> {
    /// Stores an integer from byte `start` on. This is safe: an integer consists of plain bytes, and the range is checked.
    @inline(__always)
    @_lifetime(self: copy self)
    mutating func store<Word: FixedWidthInteger & BitwiseCopyable>(_ word: Word, at start: Int) {
        var bytes = unsafe mutableBytes
        bytes.storeBytes(of: word, toByteOffset: start, as: Word.self)
    }
}

extension UInt64 {
    /// Has the top bit of each zero byte set. In a byte above the lowest zero byte, that bit may be set although the byte is not
    /// zero.
    @inline(__always)
    var zeroByteMask: UInt64 { (self &- 0x0101_0101_0101_0101) & ~self & 0x8080_8080_8080_8080 }
}

extension UInt32 {
    /// Has the top bit of each zero byte set. In a byte above the lowest zero byte, that bit may be set although the byte is not
    /// zero.
    @inline(__always)
    var zeroByteMask: UInt32 { (self &- 0x0101_0101) & ~self & 0x8080_8080 }
}

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
    public init(widening value: Int32) { self = Int64(bitPattern: UInt64(widening: UInt32(bitPattern: value)) &<< 32) &>> 32 }
}

/// A shift count for a 64-bit value, 0 … 63.
func shiftCount(_ count: Int) -> UInt64 { UInt64(widening: UInt32(truncatingIfNeeded: count)) }
