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

    /// Safe: the range is checked, alignment does not matter, and every eight bytes are an integer. What the standard
    /// library calls unsafe here is that other types have invalid bit patterns.
    @inline(__always)
    private func word(at start: Int) -> UInt64 {
        unsafe bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self)
    }
}

extension UInt64 {
    /// The top bit of each byte that is zero; of bytes above the first zero byte it may be set as well.
    @inline(__always)
    var zeroByteMask: UInt64 { (self &- 0x0101_0101_0101_0101) & ~self & 0x8080_8080_8080_8080 }
}

extension UInt32 {
    /// The top bit of each byte that is zero; of bytes above the first zero byte it may be set as well.
    @inline(__always)
    var zeroByteMask: UInt32 { (self &- 0x0101_0101) & ~self & 0x8080_8080 }
}
