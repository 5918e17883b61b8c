import CollarWire

/// The check of a frame, computed apart from the codec, bit by bit as section 3 of PROTOCOL.md has it.
struct PlainCheck {
    private var register: UInt32 = 0xB704CE

    /// What one byte does to an empty register.
    private static let table: [UInt32] = (0..<256 as Range<UInt32>).map { byte in
        (0..<8).reduce(byte &<< 16) { register, _ in
            register & 0x80_0000 != 0 ? (register &<< 1 ^ 0x7B01BD) & 0xFF_FFFF : register &<< 1
        }
    }

    /// The check of all bytes so far, 24 bits.
    var checksum: UInt32 { register ^ 0xFF_FFFF }

    mutating func add(_ byte: UInt8) {
        let index = Int(register &>> 16) ^ Int(byte)
        register = (register &<< 8 & 0xFF_FFFF) ^ PlainCheck.table[index]
    }

    mutating func add(_ integer: UInt64, byteCount: Int) {
        for index in (0..<byteCount).reversed() { add(UInt8(truncatingIfNeeded: integer &>> UInt64(8 * index))) }
    }

    /// The start of every check that is bound to ``CollarWire/LogIdentity/fuzzed``.
    static let bound: PlainCheck = {
        var check = PlainCheck()
        check.add(LogIdentity.fuzzed.deviceID, byteCount: 8)
        check.add(UInt64(LogIdentity.fuzzed.logID), byteCount: 4)
        return check
    }()
}

extension LogIdentity {
    /// The log that all frames here are bound to, the one of most vectors.
    public static let fuzzed: LogIdentity = {
        guard let log = LogIdentity(deviceID: 0x0123_4567_89AB_CDEF, logID: 44_813_807) else {
            preconditionFailure("26 bits are a log id")
        }
        return log
    }()
}
