#if arch(x86_64) && !hasFeature(Embedded)
    internal import CCarrylessMultiply
#endif

/// The CRC at the end of every frame (section 3 of PROTOCOL.md): 24 bits, polynomial x^24 + 0x7B01BD, most significant
/// bit first.
///
/// Its Hamming distance is 6 for up to 253 bytes, the CRC included (P. Koopman, "Best CRC polynomials", 24 bits; recomputed
/// exhaustively for this protocol). The initial value and the final xor are not zero, so that leading zeros and an appended
/// zero byte are detected.
public struct CRC24: Equatable, Sendable {
    /// Value of the register before the first byte.
    public static let initialValue: UInt32 = 0xB704CE
    /// The value that is xored with the register to give ``checksum``.
    public static let finalXOR: UInt32 = 0xFFFFFF
    /// Bytes of the CRC in a frame.
    public static let byteCount = 3

    /// The register, kept in the upper 24 bits so that a table step needs no masking.
    var register: UInt32

    /// Creates the CRC over no bytes.
    public init() { register = CRC24.initialValue &<< 8 }

    /// The CRC of all bytes so far, 24 bits.
    public var checksum: UInt32 { (register &>> 8) ^ CRC24.finalXOR }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Adds one byte.
    public mutating func update(_ byte: UInt8) {
        register ^= UInt32(byte) &<< 24
        #if hasFeature(Embedded)
        // Bit by bit, because a collar's flash has better uses than a table.
        for _ in 0..<8 { register = (register &<< 1) ^ (register &>> 31 != 0 ? 0x7B01_BD00 : 0) }
        #else
        register = (register &<< 4) ^ CRC24.effects[Int(truncatingIfNeeded: register &>> 28)]
        register = (register &<< 4) ^ CRC24.effects[Int(truncatingIfNeeded: register &>> 28)]
        #endif
    }

    #if !hasFeature(Embedded)
    /// The effect of four bits on the register.
    private static let effects: InlineArray<16, UInt32> = [
        0x00000000, 0x7B01BD00, 0xF6037A00, 0x8D02C700, 0x97074900, 0xEC06F400, 0x61043300, 0x1A058E00,
        0x550F2F00, 0x2E0E9200, 0xA30C5500, 0xD80DE800, 0xC2086600, 0xB909DB00, 0x340B1C00, 0x4F0AA100,
    ]
    #endif

    /// Adds bytes of `bytes` from `start` up to but not including `end`.
    ///
    /// Complexity: linear. A step covers 24 or eight bytes on a processor with a carry-less multiplication, four bits on any other
    /// host, and one bit on a microcontroller.
    public mutating func update(_ bytes: Span<UInt8>, from start: Int, to end: Int) {
        precondition(start >= 0 && end <= bytes.count, "the range lies in the bytes")
        var index = start
        #if arch(x86_64) && !hasFeature(Embedded)
        while index <= end &- 24 {
            update(
                words: bytes.bigEndianWord(at: index), bytes.bigEndianWord(at: index &+ 8),
                bytes.bigEndianWord(at: index &+ 16))
            index &+= 24
        }
        while index <= end &- 8 {
            update(bigEndian: bytes.bigEndianWord(at: index))
            index &+= 8
        }
        #endif
        while index < end {
            update(bytes[index])
            index &+= 1
        }
    }

    #if !hasFeature(Embedded)
    /// Adds three 64-bit integers, each with its most significant byte first.
    @inline(__always)
    mutating func update(words first: UInt64, _ second: UInt64, _ third: UInt64) {
        #if arch(x86_64)
        if carryless_multiply_is_supported() {
            register = carryless_remainder(first ^ UInt64(register) &<< 32, second, third)
            return
        }
        #endif
        self = updatedByTable(first).updatedByTable(second).updatedByTable(third)
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
        #if arch(x86_64) && !hasFeature(Embedded)
        if carryless_multiply_is_supported() {
            register = carryless_remainder(0, 0, integer ^ UInt64(register) &<< 32)
            return
        }
        #endif
        #if hasFeature(Embedded)
        update(bigEndian: UInt32(truncatingIfNeeded: integer &>> 32))
        update(bigEndian: UInt32(truncatingIfNeeded: integer))
        #else
        self = updatedByTable(integer)
        #endif
    }

    #if !hasFeature(Embedded)
    /// This CRC with a 64-bit integer added, computed without a carry-less multiplication.
    @inline(never)
    func updatedByTable(_ integer: UInt64) -> CRC24 {
        var crc = self
        crc.update(bigEndian: UInt32(truncatingIfNeeded: integer &>> 32))
        crc.update(bigEndian: UInt32(truncatingIfNeeded: integer))
        return crc
    }
    #endif
}
