#if arch(x86_64) && !hasFeature(Embedded)
    internal import CCarrylessMultiply
#endif

/// The check of every frame: a 24-bit CRC with the polynomial x^24 + 0x7B01BD, most significant bit first.
///
/// Hamming distance 6 up to 253 bytes with the check itself (P. Koopman, "Best CRC polynomials", 24 bits;
/// recomputed exhaustively for this protocol). Initial value and final inversion are not zero, so that neither
/// leading zeros nor an appended zero byte go unnoticed.
public struct CRC24: Equatable, Sendable {
    /// Polynomial without its leading term, normal form.
    public static let polynomial: UInt32 = 0x7B01BD
    /// Value of the register before the first byte.
    public static let initialValue: UInt32 = 0xB704CE
    /// What the register is xored with to give ``checksum``.
    public static let finalXOR: UInt32 = 0xFFFFFF
    /// Bytes of the check in a frame.
    public static let byteCount = 3

    /// The register, kept in the upper 24 bits so that a table step needs no masking.
    var register: UInt32

    /// A check over no bytes yet.
    public init() { register = CRC24.initialValue &<< 8 }

    /// The check of all bytes so far, 24 bits.
    public var checksum: UInt32 { (register &>> 8) ^ CRC24.finalXOR }

    #if hasFeature(Embedded)
    /// Adds one byte.
    @inline(never)
    public mutating func update(_ byte: UInt8) {
        register ^= UInt32(byte) &<< 24
        register = (register &<< 4) ^ CRC24Table.entries[Int(truncatingIfNeeded: register &>> 28)]
        register = (register &<< 4) ^ CRC24Table.entries[Int(truncatingIfNeeded: register &>> 28)]
    }
    #else
    /// Adds one byte.
    @inline(__always)
    public mutating func update(_ byte: UInt8) {
        let index = Int(truncatingIfNeeded: register &>> 24) ^ Int(byte)
        register = (register &<< 8) ^ CRC24Table.entry(index)
    }
    #endif

    /// Adds bytes of `bytes` from `start` up to but not including `end`.
    ///
    /// Complexity: linear; 24 and eight bytes a step on a host, one in an embedded build.
    public mutating func update(_ bytes: Span<UInt8>, from start: Int, to end: Int) {
        precondition(start >= 0 && end <= bytes.count, "the range lies in the bytes")
        var index = start
        #if !hasFeature(Embedded)
        while index <= end &- 24 {
            update(
                words: bytes.bigEndianWord(at: index), bytes.bigEndianWord(at: index &+ 8),
                bytes.bigEndianWord(at: index &+ 16))
            index &+= 24
        }
        while index <= end &- 8 {
            update(word: bytes.bigEndianWord(at: index))
            index &+= 8
        }
        #endif
        while index < end {
            update(bytes[index])
            index &+= 1
        }
    }

    #if !hasFeature(Embedded)
    /// Adds eight bytes, most significant first.
    @inline(__always)
    mutating func update(word: UInt64) {
        let high = UInt32(truncatingIfNeeded: word &>> 32) ^ register
        let low = UInt32(truncatingIfNeeded: word)
        let first = CRC24Table.entry(Int(high &>> 24), following: 7) ^ CRC24Table.entry(Int(high &>> 16), following: 6)
        let second = CRC24Table.entry(Int(high &>> 8), following: 5) ^ CRC24Table.entry(Int(high), following: 4)
        let third = CRC24Table.entry(Int(low &>> 24), following: 3) ^ CRC24Table.entry(Int(low &>> 16), following: 2)
        let fourth = CRC24Table.entry(Int(low &>> 8), following: 1) ^ CRC24Table.entry(Int(low))
        register = first ^ second ^ third ^ fourth
    }

    /// Adds 24 bytes, most significant first.
    @inline(__always)
    mutating func update(words first: UInt64, _ second: UInt64, _ third: UInt64) {
        #if arch(x86_64)
        if carryless_multiply_is_supported() {
            register = carryless_remainder(first ^ UInt64(register) &<< 32, second, third)
            return
        }
        #endif
        self = updatedByTable(words: first, second, third)
    }

    /// The same on a processor without a carry-less multiplication.
    @inline(never)
    func updatedByTable(words first: UInt64, _ second: UInt64, _ third: UInt64) -> CRC24 {
        var check = self
        check.update(word: first)
        check.update(word: second)
        check.update(word: third)
        return check
    }
    #endif

    /// Adds a 32-bit integer, most significant byte first.
    public mutating func update(bigEndian integer: UInt32) {
        update(UInt8(truncatingIfNeeded: integer &>> 24))
        update(UInt8(truncatingIfNeeded: integer &>> 16))
        update(UInt8(truncatingIfNeeded: integer &>> 8))
        update(UInt8(truncatingIfNeeded: integer))
    }

    /// Adds a 64-bit integer, most significant byte first.
    public mutating func update(bigEndian integer: UInt64) {
        update(bigEndian: UInt32(truncatingIfNeeded: integer &>> 32))
        update(bigEndian: UInt32(truncatingIfNeeded: integer))
    }
}
