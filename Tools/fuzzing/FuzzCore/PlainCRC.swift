import CollarWire

/// The CRC of section 3 of PROTOCOL.md, computed independently of the codec.
struct PlainCRC {
    private var register: UInt32 = 0xB704CE

    /// For each byte, the register after that byte if the register was 0 before.
    private static let table: [UInt32] = (0..<256 as Range<UInt32>).map { byte in
        (0..<8).reduce(byte &<< 16) { register, _ in
            register & 0x80_0000 != 0 ? (register &<< 1 ^ 0x7B01BD) & 0xFF_FFFF : register &<< 1
        }
    }

    /// The CRC of all bytes so far, 24 bits.
    var checksum: UInt32 { register ^ 0xFF_FFFF }

    mutating func add(_ byte: UInt8) {
        let index = Int(register &>> 16) ^ Int(byte)
        register = (register &<< 8 & 0xFF_FFFF) ^ PlainCRC.table[index]
    }

    mutating func add(_ integer: UInt64, byteCount: Int) {
        for index in (0..<byteCount).reversed() { add(UInt8(truncatingIfNeeded: integer &>> UInt64(8 * index))) }
    }

    /// The start of every CRC that is bound to ``CollarWire/LogIdentity/fuzzed``.
    static let bound: PlainCRC = {
        var crc = PlainCRC()
        crc.add(LogIdentity.fuzzed.deviceID.rawValue, byteCount: 8)
        crc.add(UInt64(LogIdentity.fuzzed.logID.rawValue), byteCount: 4)
        return crc
    }()
}

extension LogIdentity {
    /// The log to which all frames here are bound. It is also the log of most vectors.
    public static let fuzzed = LogIdentity(deviceID: 0x0123_4567_89AB_CDEF, logID: 44_813_807)
}
