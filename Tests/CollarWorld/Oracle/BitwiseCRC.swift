import CollarWire

/// The CRC of frames and records, computed bit by bit from its definition, to judge damage without any code of the programs
/// under test.
enum BitwiseCRC {
    /// The upper 16 bits of the sequences that occur in a world.
    private static let upperBits: ClosedRange<UInt16> = 0...3

    /// Whether the last three bytes of `frame` are its CRC, bound to `log`, or to nothing if `log` is nil. If the frame is an
    /// absolute fix with a short sequence, the CRC may be that of any upper bits.
    static func isValid(_ frame: [UInt8], log: LogIdentity?) -> Bool {
        guard frame.count >= 7 else { return false }
        var register: UInt32 = 0xB7_04CE
        if let log {
            add(log.deviceID.rawValue, &register)
            add(log.logID.rawValue, &register)
        }
        add(UInt8(truncatingIfNeeded: frame.count), &register)
        for byte in frame.dropLast(3) { add(byte, &register) }
        let sent = frame.suffix(3).reduce(UInt32(0)) { $0 << 8 | UInt32($1) } ^ 0xFF_FFFF
        guard log != nil, frame[0] & 0x1F == MessageType.absoluteFix.rawValue, frame[5] < 0x80 else { return register == sent }
        return upperBits.contains { upper in
            var completed = register
            if upper > 0 { add(upper, &completed) }
            return completed == sent
        }
    }

    /// The CRC of a record of a journal: over the letters CLJ1, the collar and the number of the segment if the record is bound
    /// to them, and the record.
    static func ofRecord(_ record: some Sequence<UInt8>, _ binding: (deviceID: DeviceID, segment: UInt32)?) -> UInt32 {
        var register: UInt32 = 0xB7_04CE
        for byte in "CLJ1".utf8 { add(byte, &register) }
        if let binding {
            add(binding.deviceID.rawValue, &register)
            add(binding.segment, &register)
        }
        for byte in record { add(byte, &register) }
        return register ^ 0xFF_FFFF
    }

    /// Adds the bytes of a number, the most significant byte first.
    private static func add(_ number: some FixedWidthInteger & UnsignedInteger, _ register: inout UInt32) {
        for shift in stride(from: number.bitWidth - 8, through: 0, by: -8) {
            register ^= UInt32(UInt8(truncatingIfNeeded: number >> shift)) << 16
            for _ in 0..<8 {
                register = register & 0x80_0000 == 0 ? register << 1 : (register << 1) ^ 0x7B_01BD
                register &= 0xFF_FFFF
            }
        }
    }
}
